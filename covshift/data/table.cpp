#include "covshift/data/table.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "covshift/base/error.hpp"
#include "covshift/base/names.hpp"
#include "covshift/base/number.hpp"
#include "covshift/data/csv_header.hpp"

namespace covshift {

std::int32_t Dictionary::code(std::string_view text) {
  const auto found = codes_.find(text);
  if (found != codes_.end()) return found->second;
  const auto next = static_cast<std::int32_t>(levels_.size());
  levels_.emplace_back(text);
  codes_.emplace(levels_.back(), next);
  return next;
}

std::vector<std::string> Dictionary::take_levels() {
  codes_.clear();
  return std::exchange(levels_, {});
}

std::size_t LineMap::line_of(std::size_t row) const {
  const auto after = std::upper_bound(breaks_.begin(), breaks_.end(), row,
                                      [](std::size_t r, const Break& b) { return r < b.row; });
  if (after == breaks_.begin()) return row + 1;
  const Break& before = *std::prev(after);
  return before.line + (row - before.row);
}

std::string Column::text(std::size_t row) const {
  if (missing(row)) return {};
  return categorical ? levels[static_cast<std::size_t>(codes[row])] : number_text(numbers[row]);
}

const Column* Table::find(std::string_view name) const {
  const auto found = std::find_if(columns.begin(), columns.end(),
                                  [&](const Column& column) { return column.name == name; });
  return found == columns.end() ? nullptr : &*found;
}

const Column& Table::at(std::string_view name) const {
  if (const Column* column = find(name)) return *column;
  constexpr std::size_t listed = 12;
  std::string names;
  for (std::size_t c = 0; c < std::min(columns.size(), listed); ++c) {
    names += (c == 0 ? "" : ", ") + columns[c].name;
  }
  if (columns.size() > listed) names += fmt::format(", ... ({} in all)", columns.size());
  std::vector<std::string_view> known;
  for (const Column& column : columns) known.push_back(column.name);
  const bool placed = std::all_of(known.begin(), known.end(), is_place);
  std::string hint = suggestion(name, known);
  // What was assumed of the first line may be why.
  const bool first_line =
      !lines.breaks().empty() && !sparse && (placed ? hint.empty() : is_place(name));
  if (first_line) {
    hint = placed ? "; if the first line holds their names, say --header yes"
                  : "; if the first line holds data, not names, say --header no";
  }
  fail_input("{}: there is no column {}; its columns are {}{}", source, quoted_excerpt(name), names,
             hint);
}

std::string Table::where(std::size_t row) const {
  return fmt::format("{}:{}", source, lines.line_of(row));
}

std::string Table::where(std::size_t row, const Column& column) const {
  return fmt::format("{}:{}", where(row), &column - columns.data() + 1);
}

const std::vector<double>& finite_numbers(const Table& table, const Column& column,
                                          std::string_view what) {
  constexpr double most = 1e299;  // sums and products of a few must be finite, too
  for (std::size_t row = 0; row < table.rows; ++row) {
    const double value = column.categorical ? parse_number(column.text(row)).value_or(std::nan(""))
                                            : column.numbers[row];
    if (!std::isfinite(value)) {
      fail_input("{}: the {} is '{}'; it must be a finite number", table.where(row, column), what,
                 column.text(row));
    }
    if (std::abs(value) > most) {
      fail_input("{}: the {} is {}, which is too large; divide or cap the column {}",
                 table.where(row, column), what, value, quoted_excerpt(column.name));
    }
  }
  if (column.categorical) {
    fail_input("{}: column '{}' was read as text and cannot be used as {}", table.source,
               column.name, what);
  }
  return column.numbers;
}

}  // namespace covshift
