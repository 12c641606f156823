// Density ratios of rows that the estimate has not seen, and how good they are.
#pragma once

#include <vector>

#include "covshift/ratio/ratio.hpp"

namespace covshift {

struct HeldOutRatio {
  std::vector<double> train;   ///< log P_target(x)/P_train(x) of training rows
  std::vector<double> target;  ///< of target rows
  double bound = 1e300;        ///< the largest log weight that the samples can show (RatioBound)
};

/// Cross-fitting: both samples are split into folds, and the ratio of a fold's rows is the one
/// fitted without them, so that weights do not depend on their own rows' noise. Tuning parameters
/// (lambda, width) are chosen once, with all rows; the logistic ratio's lambda is that of the best
/// held-out likelihood, whatever its rule. Ratios are not cut off at the bound. With fewer than two
/// rows for each fold in a sample, the ratio of all rows is used.
HeldOutRatio held_out_ratio(const RatioOptions& options, const MatrixView& train,
                            const MatrixView& target, std::span<const double> train_weight = {});
enum class Tuning { as_fitted, likeliest };
/// The same where a ratio fitted to these rows or more is known.
HeldOutRatio held_out_ratio(const RatioOptions& options, const DensityRatio& all, Tuning tuning,
                            const MatrixView& train, const MatrixView& target,
                            std::span<const double> train_weight);

/// The mean log-likelihood of held-out rows' domains under the ratios, cut off at the bounds as
/// where they are used, minus that under the domains' shares: 0 is no better than no ratio at all.
double held_out_gain(const HeldOutRatio& held_out, const RatioBound& bound,
                     std::span<const double> train_weight);

/// held_out_gain() of an estimate with its tuning, by folds of at most 1,000 rows of each sample:
/// every estimator is judged by the same rows.
double judge_ratio(const RatioOptions& options, const DensityRatio& fitted, const MatrixView& train,
                   const MatrixView& target, std::span<const double> train_weight);

}  // namespace covshift
