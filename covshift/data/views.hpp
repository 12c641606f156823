// Named views: disjoint groups of features that share a generalization assumption.
#pragma once

#include <cstddef>
#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <utility>
#include <vector>

#include "covshift/data/encoder.hpp"

namespace covshift {

struct Views {
  std::vector<std::string> names;
  std::vector<std::int32_t> view_of;  ///< for each encoded column, a position in `names`

  /// A single view, named all.
  static Views all(const Encoder& encoder);
  /// A view for each column of the file, with the same name.
  static Views each(const Encoder& encoder);
  /// Lines of `name = column, column*, ...`. * stands for any text and ? for one character; a name
  /// with commas or surrounding blanks needs double quotes; # starts a comment. All encoded columns
  /// of a categorical column belong together. Columns in no view form the view `rest`. Throws Error
  /// if a column is in two views or a pattern matches nothing.
  static Views from_file(const std::string& path, const Encoder& encoder);
  /// The same from lists of names and patterns.
  using Groups = std::vector<std::pair<std::string, std::vector<std::string>>>;
  static Views from_groups(const Groups& groups, const Encoder& encoder);
  /// "all", "each" or the path of a file.
  static Views parse(const std::string& spec, const Encoder& encoder);

  /// The encoded columns of a view, ascending.
  [[nodiscard]] std::vector<std::int32_t> columns_of(std::size_t view) const;

  [[nodiscard]] nlohmann::json to_json() const;
  static Views from_json(const nlohmann::json& json);

  bool operator==(const Views&) const = default;
};

}  // namespace covshift
