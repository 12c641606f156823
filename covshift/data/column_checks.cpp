#include "covshift/data/column_checks.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <span>
#include <unordered_map>

#include "covshift/base/lists.hpp"
#include "covshift/base/number.hpp"
#include "covshift/base/words.hpp"
#include "covshift/data/csv_header.hpp"
#include "covshift/data/readers.hpp"
#include "covshift/data/rows.hpp"

namespace covshift {
namespace {

constexpr std::size_t few_rows = 20;

constexpr std::size_t shown_names = 5;

/// Names for a message: the first few.
std::string some(const std::vector<std::string>& names) {
  std::string text;
  for (std::size_t k = 0; k < std::min(names.size(), shown_names); ++k) {
    if (k > 0) text += ", ";
    text += quoted_excerpt(names[k]);
  }
  return text + (names.size() > shown_names ? ", ..." : "");
}

/// The same for an option.
std::string some_words(const std::vector<std::string>& names) {
  const std::span<const std::string> all(names);
  return list_word(all.first(std::min(names.size(), shown_names))) +
         (names.size() > shown_names ? ",..." : "");
}

/// A few strings in a column of numbers are probably typos, and turn each value into a feature.
bool check_typos(const Summary& train, const ColumnSummary& column, std::vector<std::string>& out) {
  std::size_t numbers = 0;
  for (const ColumnSummary::Level& level : column.levels) {
    if (parse_number(level.text)) numbers += level.count;
  }
  if (!column.not_number || 2 * numbers <= train.rows) return false;
  out.push_back(fmt::format(
      "{}: column '{}' holds numbers, but '{}' is not one; all of its {} values are taken as "
      "categories; correct it, or write NA if it means a missing value",
      column.not_number->where, column.name, column.not_number->text, column.levels.size()));
  return true;
}

std::vector<std::string> texts_of(const ColumnSummary& column) {
  std::vector<std::string> texts;
  for (const ColumnSummary::Level& level : column.levels) texts.push_back(level.text);
  return texts;
}

/// Columns that share a warning, and a value of the first.
struct Alike {
  std::vector<std::string> names;
  std::string example;
};

/// Text that is really dates or numbers.
bool check_text(const Summary& train, const ColumnSummary& column, std::vector<std::string>& out,
                std::array<Alike, 2>& commas) {
  const std::string where = fmt::format("{}: column '{}'", train.source, column.name);
  const std::vector<std::string> levels = texts_of(column);
  if (order_of(levels)) {
    out.push_back(fmt::format(
        "{} holds dates such as {}, each taken as a category; expand them to numbers (--dates {}) "
        "or leave the column out (--drop {}); density ratios ignore it",
        where, quoted_excerpt(levels[0]), list_word(column.name), list_word(column.name)));
    return true;
  }
  if (const std::string_view sign = sign_of(levels); !sign.empty()) {
    out.push_back(fmt::format(
        "{} holds numbers with a {} such as {}, each taken as a category; write the numbers alone",
        where, sign, quoted_excerpt(levels[0])));
    return true;
  }
  const auto style = style_of(levels);
  if (!style || *style == NumberStyle::plain) return false;
  const auto example = std::find_if(levels.begin(), levels.end(),
                                    [](const std::string& text) { return !parse_number(text); });
  Alike& own = commas[*style == NumberStyle::decimal_comma ? 0 : 1];
  if (own.names.empty()) own.example = *example;
  own.names.push_back(column.name);
  return true;
}

void warn_of_commas(const Summary& train, const std::array<Alike, 2>& commas,
                    std::vector<std::string>& out) {
  for (const Alike& alike : commas) {
    if (alike.names.empty()) continue;
    const bool one = alike.names.size() == 1;
    out.push_back(fmt::format(
        "{}: {} {} numbers with {} such as {}, each taken as a category; read them as numbers "
        "(--numeric {})",
        train.source,
        one ? fmt::format("column '{}'", alike.names[0])
            : fmt::format("{} columns ({})", alike.names.size(), some(alike.names)),
        one ? "holds" : "hold",
        &alike == commas.data() ? "decimal commas" : "commas between thousands",
        quoted_excerpt(alike.example), some_words(alike.names)));
  }
}

/// Dates of which none has a day beyond 12.
bool check_dates(const Summary& train, const ColumnSummary& column, std::vector<std::string>& out) {
  const auto reads = [&](DateOrder order) {
    const auto place = std::find(Encoder::orders.begin(), Encoder::orders.end(), order);
    return (column.ways >> (place - Encoder::orders.begin()) & 1U) != 0;
  };
  if (column.role != ColumnSummary::Role::date || !column.unreadable ||
      !(reads(DateOrder::dmy) && reads(DateOrder::mdy))) {
    return false;
  }
  out.push_back(fmt::format(
      "{}: the dates of column '{}', such as {}, may have the day or the month first, and no row "
      "tells which; the day is taken to be first; write them as 2020-01-31 if it is not",
      train.source, column.name, quoted_excerpt(column.unreadable->text)));
  return true;
}

/// Whole numbers that are all different, in a column named as those of identifiers are.
bool named_numbers(const ColumnSummary& column, std::size_t rows) {
  return rows >= few_rows && column.repeated && column.whole && !column.repeated->repeats();
}

/// yes and Yes are probably one class.
void check_spelling(const Summary& train, const std::string& label,
                    const std::vector<std::string>& classes, std::vector<std::string>& out) {
  std::unordered_map<std::string, std::string_view> seen;
  for (const std::string& name : classes) {
    const auto [place, fresh] = seen.emplace(to_lower(trim(name)), name);
    if (fresh) continue;
    out.push_back(fmt::format(
        "{}: the label '{}' has the classes {} and {}, which differ only in capitals or blanks; "
        "write them alike if they are the same",
        train.source, label, quoted_excerpt(place->second), quoted_excerpt(name)));
    return;
  }
}

/// Every category is a column of numbers.
void check_size(const Summary& train, const Encoder& encoder, std::vector<std::string>& out) {
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
      train.source, name, *widest, train.rows, bytes / 1e9, list_word(name)));
}

/// "one column has" or "3 columns have".
std::string columns_have(std::size_t count) {
  return count == 1 ? "one column has" : fmt::format("{} columns have", count);
}

const char* pronoun(const std::vector<std::string>& columns) {
  return columns.size() == 1 ? "it" : "them";
}

std::string useless(const std::string& source, const std::vector<std::string>& columns,
                    std::string_view what) {
  return fmt::format("{}: {} {} ({}) and cannot help; leave {} out (--drop {})", source,
                     columns_have(columns.size()), what, some(columns), pronoun(columns),
                     some_words(columns));
}

/// A matrix whose columns have names that the library made up.
bool is_unnamed(const Summary& train) {
  return train.matrix && std::all_of(train.columns.begin(), train.columns.end(),
                                     [](const ColumnSummary& c) { return is_place(c.name); });
}

bool is_feature(const ColumnSummary& column) {
  return column.role != ColumnSummary::Role::none && column.role != ColumnSummary::Role::label;
}

bool is_constant(const Summary& train, const ColumnSummary& column) {
  return is_feature(column) && column.missing < train.rows && train.rows > 1 && column.same;
}

/// Marks the rows in which a column has another value than all training rows; false: none has.
bool mark_others(const ConstantColumns::Column& train, const Column& column,
                 std::vector<char>& rows) {
  bool any = false;
  for (std::size_t row = 0; row < rows.size(); ++row) {
    if (column.missing(row)) continue;
    const bool same = train.is_text        ? column.text(row) == train.text
                      : column.categorical ? parse_number(column.text(row)) == train.number
                                           : column.numbers[row] == train.number;
    if (same) continue;
    rows[row] = 1;
    any = true;
  }
  return any;
}

}  // namespace

ConstantColumns::ConstantColumns(const Summary& train) : source(train.source) {
  if (train.svmlight || is_unnamed(train)) return;
  for (std::size_t c = 0; c < train.columns.size(); ++c) {
    const ColumnSummary& column = train.columns[c];
    if (!is_constant(train, column)) continue;
    columns.push_back({column.name, c, column.text, column.first, column.first_text});
  }
}

ConstantColumns::Varying ConstantColumns::varying_in(const Table& table) const {
  Varying varying;
  std::vector<char> rows(columns.empty() ? 0 : table.rows, 0);
  for (const Column& constant : columns) {
    const covshift::Column* const column = table.find(constant.name);
    if (column != nullptr && mark_others(constant, *column, rows)) {
      varying.columns.push_back(constant.name);
    }
  }
  varying.rows = static_cast<std::size_t>(std::count(rows.begin(), rows.end(), 1));
  return varying;
}

ConstantColumns::Varying ConstantColumns::varying_in(const MatrixView& x) const {
  Varying varying;
  if (columns.empty() || is_sparse(x)) return varying;
  std::vector<char> differs(x.cols, 0);
  std::vector<double> row(x.cols);
  const Rows rows(x, {});
  for (std::size_t i = 0; i < rows.size(); ++i) {
    rows.gather(i, row.data());
    bool any = false;
    for (const Column& constant : columns) {
      const double value = row[constant.place];
      if (value != value || value == constant.number) continue;
      differs[constant.place] = 1;
      any = true;
    }
    if (any) ++varying.rows;
  }
  for (const Column& constant : columns) {
    if (differs[constant.place] != 0) varying.columns.push_back(constant.name);
  }
  return varying;
}

void ConstantColumns::Varying::append(const Varying& next) {
  for (const std::string& name : next.columns) {
    if (std::find(columns.begin(), columns.end(), name) == columns.end()) columns.push_back(name);
  }
  rows += next.rows;
}

std::string ConstantColumns::Varying::warning(const std::string& file, std::size_t all) const {
  return fmt::format(
      "{}: {} one value in training and others in {} of {} rows here ({}): nothing can be learnt "
      "about {}, and these rows are unlike the training rows",
      file, columns_have(columns.size()), rows, all, some(columns), pronoun(columns));
}

std::string ConstantColumns::warning(const Varying* target, const Reducer& reducer) const {
  std::vector<double> varies(columns.size());
  for (std::size_t k = 0; target != nullptr && k < columns.size(); ++k) {
    const auto& own = target->columns;
    varies[k] = std::find(own.begin(), own.end(), columns[k].name) == own.end() ? 0 : 1;
  }
  reducer.max(varies);
  std::vector<std::string> same;
  for (std::size_t k = 0; k < columns.size(); ++k) {
    if (varies[k] == 0) same.push_back(columns[k].name);
  }
  if (same.empty()) return {};
  if (target != nullptr)
    return useless(source, same, "the same value in every row, also of the target");
  return fmt::format(
      "{}: {} the same value in every row ({}): nothing can be learnt about {}; leave {} out "
      "(--drop {}) unless new data have other values",
      source, columns_have(same.size()), some(same), pronoun(same), pronoun(same),
      some_words(same));
}

std::vector<std::string> column_warnings(const Summary& train, const Encoder& encoder) {
  std::vector<std::string> out;
  if (train.svmlight || is_unnamed(train)) return out;
  std::vector<std::string> empty;
  std::array<Alike, 2> commas;
  std::size_t source = 0;
  for (const ColumnSummary& column : train.columns) {
    if (!is_feature(column)) continue;
    const std::size_t s = source++;  // features are the encoder's, in this order
    if (column.missing == train.rows) {
      empty.push_back(column.name);
    } else if (check_dates(train, column, out) || is_constant(train, column)) {
      continue;  // of constants ConstantColumns tells
    } else if (!column.text && train.rows >= few_rows && column.counts_up) {
      out.push_back(fmt::format("{}: column '{}' numbers the rows; leave it out (--drop {})",
                                train.source, column.name, list_word(column.name)));
    } else if (named_numbers(column, train.rows)) {
      out.push_back(fmt::format(
          "{}: column '{}' holds a different whole number in each row, as identifiers do; leave it "
          "out (--drop {}), or copy it beside the predictions (--keep {})",
          train.source, column.name, list_word(column.name), list_word(column.name)));
    } else if (column.text && column.has_levels() && !column.levels.empty() &&
               !check_text(train, column, out, commas) && !check_typos(train, column, out) &&
               encoder.ids(s)) {
      out.push_back(fmt::format(
          "{}: column '{}' has {} categories in {} rows, as identifiers do; leave it out (--drop "
          "{}), or copy it beside the predictions (--keep {}); density ratios ignore it",
          train.source, column.name, column.levels.size(), train.rows - column.missing,
          list_word(column.name), list_word(column.name)));
    }
  }
  warn_of_commas(train, commas, out);
  if (!empty.empty()) out.push_back(useless(train.source, empty, "no value in any row"));
  check_size(train, encoder, out);
  if (const ColumnSummary* const label = train.label()) {
    add_to(out, class_warnings(train, label->name, texts_of(*label)));
  }
  return out;
}

std::vector<std::string> class_warnings(const Summary& train, const std::string& label,
                                        const std::vector<std::string>& classes) {
  constexpr std::size_t many = 100;
  std::vector<std::string> out;
  check_spelling(train, label, classes, out);
  const bool quantity = classes.size() >= few_rows &&
                        (classes.size() > many || 2 * classes.size() > train.rows) &&
                        std::all_of(classes.begin(), classes.end(),
                                    [](const std::string& name) { return parse_number(name); });
  if (quantity) {
    out.push_back(fmt::format(
        "{}: the label '{}' has {} different numbers: that is a quantity, and each value is taken "
        "as a class; this program classifies, so cut it into a few ranges",
        train.source, label, classes.size()));
  }
  return out;
}

}  // namespace covshift
