#include "covshift/data/csv_header.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <unordered_set>

#include "covshift/base/number.hpp"

namespace covshift {

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

bool HeaderJudge::counts(const std::vector<CsvField>& fields) const {
  constexpr std::size_t enough = 3;
  std::size_t next = 0;
  for (const CsvField& field : fields) {
    const Kind kind = kind_of(field);
    if (kind == Kind::number && field.text != std::to_string(next++)) return false;
    if (kind == Kind::missing && &field != fields.data()) return false;
  }
  return next >= enough;
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

HeaderGuess HeaderJudge::decide() const {
  if (!options_.expected.empty()) {
    std::unordered_set<std::string_view> fields;
    for (const CsvField& field : first_) fields.insert(field.text);
    const auto& names = options_.expected;
    if (std::all_of(names.begin(), names.end(),
                    [&](const std::string& name) { return fields.contains(name); })) {
      return {true, {}};
    }
    // Columns of a file without header are called c1, c2, ...
    if (std::all_of(names.begin(), names.end(), [](const std::string& name) {
          return name.starts_with('c') && parse_count(name.substr(1));
        })) {
      return {false, {}};
    }
  }
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
  if (counts(first_) &&
      std::none_of(below_.begin(), below_.end(), [&](const auto& row) { return counts(row); })) {
    return {true, "its numbers count the columns: 0, 1, 2, ..."};
  }
  // A label called 2021 may also be a number of the data, but hardly only once.
  for (const std::string& name : options_.text_columns) {
    if (named(name) && !occurs_below(name)) {
      return {true, fmt::format("it has the column {}", quoted_excerpt(name))};
    }
  }
  return {false, {}};
}

}  // namespace covshift
