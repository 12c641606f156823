// What to look at before trusting weights. All from log weights, log w_i = log P_test/P_train at
// the training rows, which may be of any size; only their differences matter.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "covshift/base/reduce.hpp"
#include "covshift/ratio/ratio.hpp"

namespace covshift {

/// Kish's (sum w)^2 / sum w^2, between 1 and the number of rows: that many equally weighted rows
/// are as informative. `sample_weight` (empty: 1): how often each row counts. `reducer`, here and
/// below: these rows are one holder's; null: all.
double effective_sample_size(std::span<const double> log_weight,
                             std::span<const double> sample_weight = {},
                             const Reducer* reducer = nullptr);

/// The share of the largest weight in the total.
double largest_share(std::span<const double> log_weight, std::span<const double> sample_weight = {},
                     const Reducer* reducer = nullptr);

struct LargeWeight {
  std::size_t row = 0;
  double share = 0;  ///< of the total
};
/// The `count` largest, descending; of equal ones the first.
std::vector<LargeWeight> largest_weights(std::span<const double> log_weight, std::size_t count,
                                         std::span<const double> sample_weight = {});

/// Mean and (population) variance of each column.
struct ColumnMoments {
  std::vector<double> mean;
  std::vector<double> variance;
};
ColumnMoments column_moments(const MatrixView& x, int threads = 0);

/// One column's means: weighting should bring the training mean to the target's.
struct MeanShift {
  double train = 0;
  double weighted = 0;
  double target = 0;
  double deviation = 0;  ///< root of the mean of both samples' variances
  /// (train - target)/deviation and (weighted - target)/deviation; 0 for a constant column, and
  /// where a constant differs between the samples, the difference itself.
  double before = 0;
  double after = 0;
};
std::vector<MeanShift> mean_shifts(const MatrixView& train, const MatrixView& target,
                                   std::span<const double> log_weight,
                                   std::span<const double> sample_weight = {}, int threads = 0);

/// The area under the ROC curve by ranks: P(positive > negative) + P(equal)/2.
double area_under_curve(std::span<const double> negative, std::span<const double> positive);

/// The criterion for views (paper, supplement "Generalization Criterion"): the symmetric KL
/// divergence of training and target from the estimated ratio. The paper writes sums over the
/// samples of density times log ratio; read, as any estimate of a divergence must be, as
/// expectations: E_train log(P_train/P_test) + E_test log(P_test/P_train), the means over the rows
///     mean_train(-log_ratio) + mean_target(log_ratio).
double symmetric_kl(std::span<const double> train_log_ratio,
                    std::span<const double> target_log_ratio,
                    std::span<const double> sample_weight = {}, const Reducer* reducer = nullptr);
double symmetric_kl(const DensityRatio& ratio, const MatrixView& train, const MatrixView& target,
                    std::span<const double> sample_weight = {}, int threads = 0);
/// Views with a smaller symmetric KL generalize.
inline constexpr double default_view_threshold = 0.1;

}  // namespace covshift
