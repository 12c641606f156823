#include "covshift/data/column_checks.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <unordered_map>
#include <unordered_set>

#include "covshift/base/number.hpp"
#include "covshift/data/readers.hpp"

namespace covshift {
namespace {

constexpr std::size_t few_rows = 20;

/// Names for a message and for a flag: the first few.
std::string some(const std::vector<std::string>& names, std::string_view separator) {
  constexpr std::size_t shown = 5;
  std::string text;
  for (std::size_t k = 0; k < std::min(names.size(), shown); ++k) {
    text += fmt::format("{}{}", k == 0 ? "" : separator,
                        separator == "," ? names[k] : quoted_excerpt(names[k]));
  }
  return text + (names.size() > shown ? fmt::format("{}...", separator) : "");
}

bool numbers_the_rows(const Column& column) {
  if (column.categorical || column.numbers.size() < few_rows) return false;
  for (std::size_t row = 0; row < column.numbers.size(); ++row) {
    if (column.numbers[row] != column.numbers[0] + static_cast<double>(row)) return false;
  }
  return true;
}

bool constant(const Column& column) {
  if (!column.categorical) {
    return std::all_of(column.numbers.begin(), column.numbers.end(),
                       [&](double value) { return value == column.numbers[0]; });
  }
  return std::all_of(column.codes.begin(), column.codes.end(),
                     [&](std::int32_t code) { return code >= 0 && code == column.codes[0]; });
}

/// A few strings in a column of numbers are probably typos, and turn each value into a feature.
bool check_typos(const Table& train, const Column& column, std::vector<std::string>& out) {
  std::size_t numbers = 0;
  std::size_t first_text = train.rows;
  std::vector<char> is_number;
  for (const std::string& level : column.levels) {
    is_number.push_back(static_cast<char>(parse_number(level).has_value()));
  }
  for (std::size_t row = 0; row < train.rows; ++row) {
    if (column.missing(row)) continue;
    if (is_number[static_cast<std::size_t>(column.codes[row])] != 0) {
      ++numbers;
    } else {
      first_text = std::min(first_text, row);
    }
  }
  if (first_text == train.rows || 2 * numbers <= train.rows) return false;
  out.push_back(fmt::format(
      "{}: column '{}' holds numbers, but '{}' is not one; all of its {} values are taken as "
      "categories; correct it, or write NA if it means a missing value",
      train.where(first_text, column), column.name, column.text(first_text), column.levels.size()));
  return true;
}

/// Columns that share a warning, and a value of the first.
struct Alike {
  std::vector<std::string> names;
  std::string example;
};

/// Text that is really dates or numbers.
bool check_text(const Table& train, const Column& column, std::vector<std::string>& out,
                std::array<Alike, 2>& commas) {
  const std::string where = fmt::format("{}: column '{}'", train.source, column.name);
  if (order_of(column.levels)) {
    out.push_back(fmt::format(
        "{} holds dates such as {}, each taken as a category; expand them to numbers (--dates {}) "
        "or leave the column out (--drop {}); density ratios ignore it",
        where, quoted_excerpt(column.levels[0]), column.name, column.name));
    return true;
  }
  if (const std::string_view sign = sign_of(column.levels); !sign.empty()) {
    out.push_back(fmt::format(
        "{} holds numbers with a {} such as {}, each taken as a category; write the numbers alone",
        where, sign, quoted_excerpt(column.levels[0])));
    return true;
  }
  const auto style = style_of(column.levels);
  if (!style || *style == NumberStyle::plain) return false;
  const auto example = std::find_if(column.levels.begin(), column.levels.end(),
                                    [](const std::string& text) { return !parse_number(text); });
  Alike& own = commas[*style == NumberStyle::decimal_comma ? 0 : 1];
  if (own.names.empty()) own.example = *example;
  own.names.push_back(column.name);
  return true;
}

void warn_of_commas(const Table& train, const std::array<Alike, 2>& commas,
                    std::vector<std::string>& out) {
  for (const Alike& alike : commas) {
    if (alike.names.empty()) continue;
    const bool one = alike.names.size() == 1;
    out.push_back(fmt::format(
        "{}: {} {} numbers with {} such as {}, each taken as a category; read them as numbers "
        "(--numeric {})",
        train.source,
        one ? fmt::format("column '{}'", alike.names[0])
            : fmt::format("{} columns ({})", alike.names.size(), some(alike.names, ", ")),
        one ? "holds" : "hold",
        &alike == commas.data() ? "decimal commas" : "commas between thousands",
        quoted_excerpt(alike.example), some(alike.names, ",")));
  }
}

/// A column called id, index, ..._id or nothing, of whole numbers that are all different.
bool named_numbers(const Column& column) {
  if (column.categorical || column.numbers.size() < few_rows) return false;
  const std::string name = to_lower(column.name);
  if (name != "id" && name != "index" && !name.ends_with("_id") && name != "unnamed: 0")
    return false;
  const std::unordered_set<double> distinct(column.numbers.begin(), column.numbers.end());
  return distinct.size() == column.numbers.size() &&
         std::all_of(column.numbers.begin(), column.numbers.end(),
                     [](double x) { return x == std::floor(x); });
}

/// yes and Yes are probably one class.
void check_spelling(const Table& train, const Column& label, std::vector<std::string>& out) {
  std::unordered_map<std::string, std::string_view> seen;
  for (const std::string& level : label.levels) {
    const auto [place, fresh] = seen.emplace(to_lower(trim(level)), level);
    if (fresh) continue;
    out.push_back(fmt::format(
        "{}: the label '{}' has the classes {} and {}, which differ only in capitals or blanks; "
        "write them alike if they are the same",
        train.source, label.name, quoted_excerpt(place->second), quoted_excerpt(level)));
    return;
  }
}

void check_label(const Table& train, const std::string& label, std::vector<std::string>& out) {
  constexpr std::size_t many = 100;
  const Column* const column = train.find(label);
  if (column == nullptr || !column->categorical) return;
  check_spelling(train, *column, out);
  if (column->levels.size() < few_rows) return;
  const bool quantity = column->levels.size() > many || 2 * column->levels.size() > train.rows;
  if (!quantity || !std::all_of(column->levels.begin(), column->levels.end(),
                                [](const std::string& text) { return parse_number(text); })) {
    return;
  }
  out.push_back(
      fmt::format("{}: the label '{}' has {} different numbers: that is a quantity, and each value "
                  "is taken as a "
                  "class; this program classifies, so cut it into a few ranges",
                  train.source, label, column->levels.size()));
}

/// Every category is a column of numbers.
void check_size(const Table& train, const Encoder& encoder, std::vector<std::string>& out) {
  constexpr double large = 512e6;
  const double bytes = 8.0 * static_cast<double>(train.rows) * static_cast<double>(encoder.cols());
  if (bytes < large) return;
  std::vector<std::size_t> width(encoder.source_count(), 0);
  for (std::size_t c = 0; c < encoder.cols(); ++c) {
    width[static_cast<std::size_t>(encoder.source_of()[c])] += encoder.category(c) ? 1 : 0;
  }
  const auto widest = std::max_element(width.begin(), width.end());
  if (2 * *widest < encoder.cols()) return;
  const std::string name = encoder.source_name(static_cast<std::size_t>(widest - width.begin()));
  out.push_back(fmt::format(
      "{}: column '{}' has {} categories, each of which becomes a column: the {} rows take {:.1f} "
      "GB; group the rare ones, or leave it out (--drop {})",
      train.source, name, *widest, train.rows, bytes / 1e9, name));
}

}  // namespace

std::vector<std::string> column_warnings(const Table& train, const Encoder& encoder,
                                         const std::string& label) {
  std::vector<std::string> out;
  if (train.sparse) return out;
  std::unordered_map<std::string_view, const Column*> columns;
  for (const Column& column : train.columns) columns.emplace(column.name, &column);
  std::vector<std::string> constants;
  std::array<Alike, 2> commas;
  std::size_t encoded = 0;
  for (std::size_t s = 0; s < encoder.source_count(); ++s) {
    const auto found = columns.find(encoder.source_name(s));
    const std::size_t first = encoded;
    while (encoded < encoder.cols() &&
           static_cast<std::size_t>(encoder.source_of()[encoded]) == s) {
      ++encoded;
    }
    if (found == columns.end()) continue;
    const Column& column = *found->second;
    const bool category = first < encoded && encoder.category(first).has_value();
    if (train.rows > 1 && constant(column)) {
      constants.push_back(column.name);
    } else if (numbers_the_rows(column)) {
      out.push_back(fmt::format("{}: column '{}' numbers the rows; leave it out (--drop {})",
                                train.source, column.name, column.name));
    } else if (named_numbers(column)) {
      out.push_back(fmt::format(
          "{}: column '{}' holds a different whole number in each row, as identifiers do; leave it "
          "out (--drop {}), or copy it beside the predictions (--keep {})",
          train.source, column.name, column.name, column.name));
    } else if (category && column.categorical && !check_text(train, column, out, commas) &&
               !check_typos(train, column, out) && encoder.ids(s)) {
      out.push_back(fmt::format(
          "{}: column '{}' has {} categories in {} rows, as identifiers do; leave it out (--drop "
          "{}), or copy it beside the predictions (--keep {}); density ratios ignore it",
          train.source, column.name, column.levels.size(), train.rows - encoder.missing_count(s),
          column.name, column.name));
    }
  }
  warn_of_commas(train, commas, out);
  if (!constants.empty()) {
    out.push_back(fmt::format(
        "{}: {} the same value in every row ({}) and cannot help; leave {} out "
        "(--drop {})",
        train.source,
        constants.size() == 1 ? "one column has" : fmt::format("{} columns have", constants.size()),
        some(constants, ", "), constants.size() == 1 ? "it" : "them", some(constants, ",")));
  }
  check_size(train, encoder, out);
  check_label(train, label, out);
  return out;
}

}  // namespace covshift
