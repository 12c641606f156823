#include "covshift/data/labels.hpp"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <unordered_set>
#include <utility>

#include "covshift/base/error.hpp"
#include "covshift/base/number.hpp"

namespace covshift {

namespace {

/// The same key for all spellings of a number, different keys for different labels.
std::string class_key(std::string_view label) {
  const std::string_view text = trim(label);
  const auto number = parse_number(text);
  if (!number || !std::isfinite(*number)) return "text " + std::string(label);
  // Identifiers with more digits than a double holds must stay distinct.
  constexpr std::size_t exact_digits = 15;
  const bool whole = text.find_first_not_of("0123456789") == std::string_view::npos;
  const auto first = text.find_first_not_of('0');
  if (whole && first != std::string_view::npos && text.size() - first > exact_digits) {
    return "number " + std::string(text.substr(first));
  }
  return "number " + number_text(*number == 0.0 ? 0.0 : *number);
}

}  // namespace

void sort_levels(std::vector<std::string>& levels) {
  const bool numeric = std::all_of(levels.begin(), levels.end(), [](const std::string& level) {
    const auto number = parse_number(level);
    return number && !std::isnan(*number);
  });
  if (!numeric) {
    std::sort(levels.begin(), levels.end());
    return;
  }
  std::vector<std::pair<double, std::string>> keyed;
  keyed.reserve(levels.size());
  for (std::string& level : levels) keyed.emplace_back(*parse_number(level), std::move(level));
  std::sort(keyed.begin(), keyed.end());
  for (std::size_t k = 0; k < levels.size(); ++k) levels[k] = std::move(keyed[k].second);
}

Classes Classes::fit(const std::vector<std::string>& labels) {
  std::unordered_set<std::string> seen;
  std::vector<std::string> names;
  for (const std::string& label : labels) {
    if (seen.insert(class_key(label)).second) names.push_back(label);
  }
  sort_levels(names);
  return from_names(std::move(names));
}

Classes Classes::from_names(std::vector<std::string> names) {
  Classes classes;
  classes.names_ = std::move(names);
  for (std::size_t k = 0; k < classes.names_.size(); ++k) {
    const bool fresh =
        classes.index_.emplace(class_key(classes.names_[k]), static_cast<std::int32_t>(k)).second;
    if (!fresh) fail_input("the class {} is named twice", quoted_excerpt(classes.names_[k]));
  }
  return classes;
}

std::int32_t Classes::index_of(std::string_view label) const {
  const auto found = index_.find(class_key(label));
  return found == index_.end() ? -1 : found->second;
}

LabelCodes Classes::codes(const Table& table, std::string_view label_column) const {
  const Column& column = table.at(label_column);
  LabelCodes result;
  result.codes.resize(table.rows);
  std::vector<std::int32_t> level_class(column.levels.size());
  for (std::size_t k = 0; k < column.levels.size(); ++k)
    level_class[k] = index_of(column.levels[k]);
  std::unordered_map<std::string, std::size_t> unknown;
  for (std::size_t row = 0; row < table.rows; ++row) {
    std::int32_t code = -1;
    if (!column.missing(row)) {
      code = column.categorical ? level_class[static_cast<std::size_t>(column.codes[row])]
                                : index_of(column.text(row));
    }
    result.codes[row] = code;
    if (code >= 0) continue;
    const auto [place, fresh] = unknown.emplace(column.text(row), result.unknown.size());
    if (fresh) result.unknown.push_back({place->first, row, table.lines.line_of(row), 0});
    ++result.unknown[place->second].count;
  }
  return result;
}

nlohmann::json Classes::to_json() const { return names_; }

Classes Classes::from_json(const nlohmann::json& json) {
  if (!json.is_array() || json.empty() ||
      !std::all_of(json.begin(), json.end(), [](const auto& name) { return name.is_string(); })) {
    fail_input("classes: not a list of names; the file is damaged or was edited");
  }
  return from_names(json.get<std::vector<std::string>>());
}

}  // namespace covshift
