// Scaling of features, fitted once on the training data and stored with the model.
#pragma once

#include <cstddef>
#include <limits>
#include <nlohmann/json_fwd.hpp>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "covshift/base/names.hpp"
#include "covshift/base/reduce.hpp"
#include "covshift/data/matrix.hpp"

namespace covshift {

enum class ScaleKind {
  none,
  unit,      ///< training values to [0, 1]
  standard,  ///< training values to mean 0 and (population) standard deviation 1, cut
};
/// Where standardised values are cut.
inline constexpr double most_deviations = 8;

template <>
inline constexpr auto names<ScaleKind> = std::to_array<Named<ScaleKind>>(
    {{ScaleKind::unit, "unit"}, {ScaleKind::standard, "standard"}, {ScaleKind::none, "none"}});
inline ScaleKind parse_scale_kind(std::string_view name) {
  return parse_name<ScaleKind>(name, "the scaling");
}

/// x becomes (x - offset) / scale, for each column. Subtracting an offset would fill a sparse
/// matrix, so a scaler fitted on sparse data only divides: unit by the largest absolute value,
/// standard by the standard deviation (around the mean, zeros included). It treats dense data the
/// same way. A column that is constant in training, but for the last digits of a float, is divided
/// by 1. Standard scaling cuts at most_deviations: one value must not outweigh the sample.
class Scaler {
 public:
  /// `weight`: how often each row counts (empty: once). Of rows on several holders the sums are
  /// added in twice the precision of a double: all get the scaling of all rows, but for rounding.
  static Scaler fit(ScaleKind kind, const MatrixView& train, std::span<const double> weight = {},
                    const Reducer& reducer = Reducer());
  static Scaler fit(ScaleKind kind, const Matrix& train, std::span<const double> weight = {}) {
    return fit(kind, train.view(), weight);
  }

  /// In place. Throws Error if the number of columns differs, or if the matrix is sparse and the
  /// scaler has offsets.
  void apply(Matrix& matrix) const;
  /// A scaled copy, dense if the scaler has offsets.
  [[nodiscard]] Matrix scaled(const MatrixView& matrix) const;

  /// Values far off stay as they are, but finite.
  void uncut() { limit_ = 1e300; }

  /// A scaled value in the units of the data.
  [[nodiscard]] double original(std::size_t col, double scaled) const {
    return scaled * scales_[col] + offsets_[col];
  }
  /// What 0 becomes.
  [[nodiscard]] double scaled_zero(std::size_t col) const { return -offsets_[col] / scales_[col]; }

  [[nodiscard]] ScaleKind kind() const { return kind_; }
  [[nodiscard]] std::size_t cols() const { return scales_.size(); }
  [[nodiscard]] const std::vector<double>& offsets() const { return offsets_; }
  [[nodiscard]] const std::vector<double>& scales() const { return scales_; }

  [[nodiscard]] nlohmann::json to_json() const;
  static Scaler from_json(const nlohmann::json& json);

 private:
  void check_cols(std::size_t cols) const;
  [[nodiscard]] bool has_offsets() const;

  ScaleKind kind_ = ScaleKind::none;
  std::vector<double> offsets_;                             ///< all zero if fitted on sparse data
  std::vector<double> scales_;                              ///< all positive
  double limit_ = std::numeric_limits<double>::infinity();  ///< scaled values are cut at +- this
};

}  // namespace covshift
