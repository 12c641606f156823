// Feature maps phi_v: functions of a view's columns, fitted without labels. docs/features.md has
// the formulas.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "covshift/data/rows.hpp"
#include "covshift/kernel/kernels.hpp"

namespace covshift {

/// A map as users write it: NAME, NAME:SIZE or NAME:SIZE:WIDTH.
struct MapSpec {
  std::string map = "linear";
  std::size_t size = 0;         ///< 0: the map's default
  std::optional<double> width;  ///< of a Gaussian kernel; empty: the median distance

  bool operator==(const MapSpec&) const = default;
};
/// Several maps of the same columns, side by side: `linear + nystroem:100`.
using MapSpecs = std::vector<MapSpec>;

/// Stands for a choice among maps, which is not made here: always alone in its list.
inline constexpr std::string_view automatic_map = "auto";
inline bool automatic(const MapSpecs& maps) { return maps.front().map == automatic_map; }

/// Throws Error that names what is wrong and what is known.
MapSpecs parse_maps(std::string_view text);
std::string to_string(const MapSpecs& maps);

/// What a map is fitted on: rows of one view's columns, encoded and scaled. Rows of weight 0 do not
/// count.
struct MapData {
  Rows train;
  std::span<const double> weight;  ///< of training rows; empty: 1
  std::optional<Rows> target;
  std::uint64_t seed = 0;
};

class FeatureMap {
 public:
  FeatureMap() = default;
  FeatureMap(const FeatureMap&) = delete;
  FeatureMap& operator=(const FeatureMap&) = delete;
  virtual ~FeatureMap() = default;

  /// True if the outputs are the columns themselves.
  [[nodiscard]] virtual bool linear() const { return false; }
  [[nodiscard]] virtual std::size_t outputs() const = 0;
  /// Writes the outputs of row b of the block to out + b * stride. They depend on no other row, to
  /// the last bit.
  virtual void apply(const DenseBlock& x, double* out, std::size_t stride) const = 0;
  /// Names of the outputs, given those of the columns.
  [[nodiscard]] virtual std::vector<std::string> names(
      std::span<const std::string> columns) const = 0;
  /// The fitted map as written in its specification, with its size.
  [[nodiscard]] virtual MapSpec spec() const = 0;
  /// What `load` of the map's row in the table reads.
  [[nodiscard]] virtual nlohmann::json store() const = 0;
};

/// "linear|quadratic|splines:K|...|auto", for help.
std::string map_values();

/// Fits a map that is not automatic.
std::unique_ptr<FeatureMap> fit_map(const MapSpec& spec, const MapData& data);
nlohmann::json to_json(const FeatureMap& map);
std::unique_ptr<FeatureMap> map_from_json(const nlohmann::json& json, std::size_t columns);

}  // namespace covshift
