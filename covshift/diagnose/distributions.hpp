// Both distributions of one feature; private to diagnose/.
#pragma once

#include <span>

#include "covshift/diagnose/diagnose.hpp"

namespace covshift {

/// The shares of the samples in bins that fit both: a bin for each value or category where there
/// are few, else equal widths between the 0.1% and 99.9% quantiles of both samples together, with
/// whatever lies outside in the outer bins. Edges are in the units of the file. `weight` sums to 1
/// over the training rows. Sets all but `kl`.
FeatureShift compare_distributions(const Feature& feature, const DiagnoseData& data,
                                   std::span<const double> weight);

/// Symmetric KL sum_b (p_b - q_b) log(p_b/q_b) of the shares of n and m rows in bins, each bin
/// counting half a row more so that empty ones stay finite, less (bins - 1)(1/n + 1/m), what it
/// would be on average (to first order) if both samples were of one distribution. At least 0.
/// `error`, sqrt(2 (bins - 1)) (1/n + 1/m), is its standard deviation then.
struct BinnedKl {
  double kl = 0;
  double error = 0;
};
BinnedKl binned_kl(std::span<const double> train_counts, std::span<const double> target_counts);

}  // namespace covshift
