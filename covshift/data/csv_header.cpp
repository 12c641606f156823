#include "covshift/data/csv_header.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <unordered_set>

#include "covshift/base/number.hpp"
#include "covshift/data/readers.hpp"

namespace covshift {
namespace {

/// The logarithm of the number of ways to choose k of n.
double log_choices(std::size_t n, std::size_t k) {
  double sum = 0;
  for (std::size_t i = 0; i < k; ++i) {
    sum += std::log(static_cast<double>(n - i) / static_cast<double>(i + 1));
  }
  return sum;
}

}  // namespace

bool is_place(std::string_view name) {
  return name.starts_with('c') && parse_count(name.substr(1)).has_value();
}

HeaderJudge::HeaderJudge(const std::vector<CsvField>& first,
                         const std::vector<std::string_view>& below, const RecordSyntax& syntax,
                         const ReadOptions& options)
    : first_(first), options_(options) {
  for (const std::string_view record : below) {
    std::vector<CsvField> fields = split_record(record, syntax);
    if (fields.size() == first.size()) below_.push_back(std::move(fields));
  }
}

HeaderJudge::Kind HeaderJudge::kind_of(const CsvField& field) {
  if (field.quoted ? field.text.empty() : is_missing(field.text)) return Kind::missing;
  return parse_number(field.text) ? Kind::number : Kind::text;
}

bool HeaderJudge::plain_words() const {
  for (std::size_t c = 0; c < first_.size(); ++c) {
    // Tables with row names have an empty first field.
    if (c == 0 && first_[c].text.empty() && first_.size() > 1) continue;
    if (kind_of(first_[c]) != Kind::text) return false;
  }
  return true;
}

bool HeaderJudge::counts(const std::vector<CsvField>& fields, std::size_t from) {
  constexpr std::size_t enough = 3;
  std::size_t next = from;
  for (const CsvField& field : fields) {
    const Kind kind = kind_of(field);
    if (kind == Kind::number && field.text != std::to_string(next++)) return false;
    if (kind == Kind::missing && &field != fields.data()) return false;
  }
  return next - from >= enough;
}

HeaderJudge::Numbers HeaderJudge::whole_numbers() const {
  Numbers found;
  found.fresh = true;
  std::unordered_set<std::string_view> seen;
  std::vector<double> whole;
  std::size_t beyond = 0;
  double log_chance = 0;
  bool infinite = false;
  for (std::size_t c = 0; c < first_.size(); ++c) {
    const CsvField& field = first_[c];
    const Kind kind = kind_of(field);
    if (field.text.empty() ? c > 0 : !seen.insert(field.text).second) return {};
    const bool again = std::any_of(below_.begin(), below_.end(), [&](const auto& row) {
      return row[c].text == field.text || (kind == Kind::missing && kind_of(row[c]) == kind);
    });
    found.fresh = found.fresh && kind != Kind::text && !again;
    const double value = kind == Kind::number ? *parse_number(field.text) : INFINITY;
    if (std::isinf(value)) {  // a word, of which names are as well made
      if (again) return {};
      infinite = infinite || kind == Kind::number;
      continue;
    }
    if (!parse_count(field.text)) return {};
    whole.push_back(value);
    double low = std::numeric_limits<double>::infinity();
    double high = -low;
    double count = 0;
    for (const auto& row : below_) {
      if (kind_of(row[c]) != Kind::number) continue;
      const double other = *parse_number(row[c].text);
      low = std::min(low, other);
      high = std::max(high, other);
      ++count;
    }
    if (count == 0 || (value >= low && value <= high)) continue;
    ++beyond;
    log_chance += std::log(2 / (count + 1));
  }
  // No data may be infinite.
  constexpr std::size_t enough = 5;
  if (infinite && below_.size() >= enough) return {true, false, false};
  if (whole.empty()) return {};
  found.among = beyond < whole.size();
  // Of rows in no order any one is the least or greatest of a column with probability 2/(n+1). With
  // columns that know nothing of each other, so many would be beyond by a chance of less than 1 in
  // 500, while about one file in a hundred has numbers for names: names are the better guess. But
  // columns are often large together; so names are also in order, as years and wavelengths are and
  // as a row of data seldom is. Other lines are data, and the user is told.
  const bool ordered = std::is_sorted(whole.begin(), whole.end()) ||
                       std::is_sorted(whole.begin(), whole.end(), std::greater<>());
  found.names = ordered && log_choices(whole.size(), beyond) + log_chance < std::log(1.0 / 500);
  return found;
}

bool HeaderJudge::repeated() const {
  constexpr std::size_t enough = 5;
  if (below_.size() < enough) return false;
  for (std::size_t c = 0; c < first_.size(); ++c) {
    const bool again = std::any_of(below_.begin(), below_.end(),
                                   [&](const auto& row) { return row[c].text == first_[c].text; });
    if (!again) return false;
  }
  return true;
}

std::size_t HeaderJudge::unlike() const {
  for (std::size_t c = 0; c < first_.size(); ++c) {
    const Kind kind = kind_of(first_[c]);
    if (kind == Kind::missing) continue;
    std::size_t numbers = 0;
    std::size_t texts = 0;
    for (const auto& row : below_) {
      numbers += kind_of(row[c]) == Kind::number ? 1U : 0U;
      texts += kind_of(row[c]) == Kind::text ? 1U : 0U;
    }
    if (kind == Kind::text ? numbers > 0 && texts == 0 : texts > 1 && numbers == 0) return c;
  }
  return first_.size();
}

bool HeaderJudge::named(const std::string& name) const {
  return std::any_of(first_.begin(), first_.end(),
                     [&](const CsvField& field) { return field.text == name; });
}

bool HeaderJudge::occurs_below(const std::string& name) const {
  return std::any_of(below_.begin(), below_.end(), [&](const auto& row) {
    return std::any_of(row.begin(), row.end(),
                       [&](const CsvField& field) { return field.text == name; });
  });
}

bool HeaderJudge::has_expected() const {
  std::unordered_set<std::string> fields;
  for (const CsvField& field : first_) fields.insert(to_lower(field.text));
  return std::any_of(options_.expected.begin(), options_.expected.end(),
                     [&](const std::string& name) { return fields.contains(to_lower(name)); });
}

std::optional<bool> HeaderJudge::by_expected() const {
  const auto& names = options_.expected;
  if (names.empty()) return std::nullopt;
  std::unordered_set<std::string_view> fields;
  for (const CsvField& field : first_) fields.insert(field.text);
  if (std::all_of(names.begin(), names.end(),
                  [&](const std::string& name) { return fields.contains(name); })) {
    return true;
  }
  if (!std::all_of(names.begin(), names.end(), is_place)) return std::nullopt;
  // The training file had no header, or columns that are really called so. Then words above
  // numbers, or one of the names, are a header that lacks some columns.
  return plain_words() && (unlike() < first_.size() || has_expected());
}

HeaderGuess HeaderJudge::by_numbers() const {
  for (const std::size_t from : {std::size_t{0}, std::size_t{1}}) {
    if (!counts(first_, from)) continue;
    const bool again = std::any_of(below_.begin(), below_.end(),
                                   [&](const auto& row) { return counts(row, from); });
    if (again) return {false, "lines below it count as it does"};
    return {true, fmt::format("its numbers count the columns: {}, {}, {}, ...", from, from + 1,
                              from + 2)};
  }
  // A label called 2021 may also be a number of the data, but hardly only once.
  for (const std::string& name : options_.text_columns) {
    if (named(name) && !occurs_below(name)) {
      return {true, fmt::format("it has the column {}", quoted_excerpt(name))};
    }
  }
  const Numbers found = whole_numbers();
  if (found.names) return {true, "its numbers lie beyond those below them"};
  if (!found.fresh || below_.empty()) return {false, {}};
  return {false, found.among ? "some of its numbers lie among those below them"
                             : "too little shows that its numbers are names"};
}

HeaderGuess HeaderJudge::decide() const {
  if (const std::optional<bool> known = by_expected()) return {*known, {}};
  if (plain_words()) {
    const bool asked = std::any_of(options_.text_columns.begin(), options_.text_columns.end(),
                                   [&](const std::string& name) { return named(name); });
    if (asked || !repeated()) return {true, {}};
    return {false, "each of its values occurs again below"};
  }
  for (const std::string& name : options_.text_columns) {
    if (!parse_number(name) && named(name)) return {true, {}};
  }
  if (const std::size_t c = unlike(); c < first_.size()) {
    const bool text = kind_of(first_[c]) == Kind::text;
    return {true,
            fmt::format("its field {}, {}, is {} above {}", c + 1, quoted_excerpt(first_[c].text),
                        text ? "text" : "a number", text ? "numbers" : "text")};
  }
  HeaderGuess guess = by_numbers();
  const auto place = std::find_if(options_.text_columns.begin(), options_.text_columns.end(),
                                  [](const std::string& name) { return is_place(name); });
  if (guess.header && place != options_.text_columns.end()) {
    return {false, fmt::format("the column {} was asked for", quoted_excerpt(*place))};
  }
  return guess;
}

}  // namespace covshift
