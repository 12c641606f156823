// Density ratios of rows that the estimate has not seen.
#pragma once

#include <vector>

#include "covshift/ratio/ratio.hpp"

namespace covshift {

struct HeldOutRatio {
  std::vector<double> train;   ///< log P_target(x)/P_train(x) of training rows
  std::vector<double> target;  ///< of target rows
  double bound = 1e300;        ///< the largest log weight that the samples can show (RatioBound)
};

/// Cross-fitting: both samples are dealt to folds, and the ratio of a fold's rows is the one fitted
/// without them, so that their weights owe nothing to their own noise. Tuning (lambda, width) is
/// chosen once, with all rows, or is that of `tuning`, a ratio fitted to them or more: the logistic
/// one's lambda of the best held-out likelihood, whatever its rule. Ratios are not cut off at the
/// bound. With fewer than two rows for each fold in a sample, the ratio of all rows is used.
HeldOutRatio held_out_ratio(const RatioOptions& options, const MatrixView& train,
                            const MatrixView& target, std::span<const double> train_weight = {},
                            const DensityRatio* tuning = nullptr);

}  // namespace covshift
