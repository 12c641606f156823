// Fits density ratios to samples of any size; private to diagnose/.
#pragma once

#include <memory>

#include "covshift/diagnose/diagnose.hpp"

namespace covshift {

/// With up to `DiagnoseOptions::subsample` rows, the ratios are those of a fit with the same
/// options. With more, lambda of a logistic ratio is chosen on a subsample and the ratio is then
/// fitted to all rows; kernel ratios are fitted to the subsample.
class RatioFitter {
 public:
  /// The data must outlive it.
  RatioFitter(const DiagnoseData& data, const DiagnoseOptions& options);

  /// The rows as a fit sees them, with values cut where its scaling cuts.
  [[nodiscard]] const MatrixView& train() const { return rows_.train; }
  [[nodiscard]] const MatrixView& target() const { return rows_.target; }
  /// The ratio of all columns, not smoothed by RatioLambda::Rule::stable, which would hide how bad
  /// the shift is.
  [[nodiscard]] std::unique_ptr<DensityRatio> joint() const;
  /// The ratio of all columns as a fit estimates it.
  [[nodiscard]] std::unique_ptr<DensityRatio> fitted() const;
  /// Symmetric KL of the samples in these columns, as a fit estimates it; of columns that a fit's
  /// ratios do not look at, from a ratio of their own.
  [[nodiscard]] double kl(const std::vector<std::int32_t>& columns) const;
  /// True if the options give the same ratio of all columns as joint(), whose log weights these
  /// are.
  [[nodiscard]] bool agrees(std::span<const double> joint_log_weight) const;

 private:
  struct Pair {
    MatrixView train, target;            // all rows
    MatrixView some_train, some_target;  // the subsample
  };
  [[nodiscard]] std::unique_ptr<DensityRatio> fit(const Pair& rows, RatioOptions options) const;

  RatioOptions options_;
  std::vector<std::int32_t> left_out_;
  RatioOptions of_all_;  // columns but those left out
  Matrix cut_train_, cut_target_;
  Matrix some_train_, some_target_;
  Pair rows_;
  bool sampled_ = false;
};

}  // namespace covshift
