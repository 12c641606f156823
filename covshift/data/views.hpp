// Named views: groups of features that share a generalization assumption and a map.
#pragma once

#include <cstddef>
#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "covshift/data/encoder.hpp"

namespace covshift {

struct Views {
  std::vector<std::string> names;
  /// The encoded columns of each view, ascending. Every column is in some view, perhaps in several.
  std::vector<std::vector<std::int32_t>> columns;
  /// The feature maps of each view as the user wrote them; empty: what the fit says.
  std::vector<std::string> maps;

  /// A single view, named all.
  static Views all(std::size_t columns);
  /// A view for each column of the file, with the same name.
  static Views each(const Encoder& encoder);
  /// Lines of `name = column, column*, ...`, perhaps followed by ` : maps`. * stands for any text
  /// and ? for one character; a name with commas or blanks around or before a colon needs double
  /// quotes; # starts a comment. All encoded columns of a categorical column belong together.
  /// Columns in no view form the view `rest`. Throws Error if a pattern matches nothing or a map is
  /// unknown.
  static Views from_file(const std::string& path, const Encoder& encoder);
  /// The same from lists of names and patterns.
  struct Group {
    std::string name;
    std::vector<std::string> columns;
    std::string maps = {};
  };
  using Groups = std::vector<Group>;
  static Views from_groups(const Groups& groups, const Encoder& encoder);
  /// "all", "each" or the path of a file.
  static Views parse(const std::string& spec, const Encoder& encoder);

  /// The number of encoded columns.
  [[nodiscard]] std::size_t cols() const;
  /// The position of the view of this name; throws Error that lists the names.
  [[nodiscard]] std::size_t find(const std::string& name) const;

  [[nodiscard]] nlohmann::json to_json() const;
  static Views from_json(const nlohmann::json& json);

  bool operator==(const Views&) const = default;
};

}  // namespace covshift
