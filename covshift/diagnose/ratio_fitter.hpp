// Density ratios of samples of any size; private to diagnose/.
#pragma once

#include <memory>

#include "covshift/diagnose/diagnose.hpp"

namespace covshift {

/// Where there are more rows than `DiagnoseOptions::subsample`, the lambda of a logistic ratio is
/// chosen on a subsample and the ratio then fitted to every row; kernel ratios are fitted to the
/// subsample.
class RatioFitter {
 public:
  /// Looks at the matrices for as long as it lives.
  RatioFitter(const Matrix& train, const Matrix& target, const DiagnoseOptions& options);

  /// Of some columns (empty: all).
  [[nodiscard]] std::unique_ptr<DensityRatio> fit(const std::vector<std::int32_t>& columns) const;
  /// Symmetric KL of the samples in these columns.
  [[nodiscard]] double kl(const std::vector<std::int32_t>& columns) const;

 private:
  [[nodiscard]] std::unique_ptr<DensityRatio> fit(const std::vector<std::int32_t>& columns,
                                                  const Matrix& train, const Matrix& target,
                                                  const Matrix& some_train,
                                                  const Matrix& some_target) const;

  const Matrix& train_;
  const Matrix& target_;
  RatioOptions options_;
  Matrix some_train_, some_target_;  // without rows: all of them
  bool sampled_ = false;
};

}  // namespace covshift
