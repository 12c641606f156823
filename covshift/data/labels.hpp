// Class labels: always strings.
#pragma once

#include <cstddef>
#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "covshift/data/table.hpp"

namespace covshift {

/// Orders strings numerically if all are numbers, else lexicographically.
void sort_levels(std::vector<std::string>& levels);

/// The classes that rows belong to. Unknown and missing labels have the class -1.
struct LabelCodes {
  struct Unknown {
    std::string text;     ///< empty: the label is missing
    std::size_t row = 0;  ///< its first row
    std::size_t line = 0;
    std::size_t count = 0;
  };
  std::vector<std::int32_t> codes;
  std::vector<Unknown> unknown;  ///< each label once, in the order of the file
};

/// The classes of a training file. Spellings of the same number (1, 1.0, +1) are the same class,
/// named by the first spelling in the file.
class Classes {
 public:
  /// Of labels in the order in which they first appear, each perhaps in several spellings; sorted.
  static Classes fit(const std::vector<std::string>& labels);
  /// From names in their final order. Throws Error if two are the same class.
  static Classes from_names(std::vector<std::string> names);

  [[nodiscard]] std::size_t size() const { return names_.size(); }
  [[nodiscard]] const std::vector<std::string>& names() const { return names_; }
  /// The class of a label; -1 if it is not one of these.
  [[nodiscard]] std::int32_t index_of(std::string_view label) const;
  [[nodiscard]] LabelCodes codes(const Table& table, std::string_view label_column) const;

  [[nodiscard]] nlohmann::json to_json() const;
  static Classes from_json(const nlohmann::json& json);

 private:
  std::vector<std::string> names_;
  std::unordered_map<std::string, std::int32_t> index_;  ///< by a key that ignores spelling
};

}  // namespace covshift
