// The distributions of one feature in both samples; private to diagnose/.
#pragma once

#include <span>

#include "covshift/data/rows.hpp"
#include "covshift/diagnose/diagnose.hpp"

namespace covshift {

/// The position in feature.levels of a row's category (`rows` has the feature's columns), or their
/// number if the category is none of them.
std::size_t category_of(const Feature& feature, const Rows& rows, std::size_t row,
                        const Scaler& units);

/// The shares of both samples in common bins: one per value or category if there are few, else
/// equal widths between the 0.1% and 99.9% quantiles of the pooled samples, with values outside in
/// the outer bins. Edges are in the units of the file. `weight` sums to 1 over the training rows.
/// Sets all members except `kl`.
FeatureShift compare_distributions(const Feature& feature, const DiagnoseData& data,
                                   std::span<const double> weight);

/// Symmetric KL sum_b (p_b - q_b) log(p_b/q_b) of the shares of n and m rows in bins, with half a
/// row added to each bin so empty bins stay finite, minus (bins - 1)(1/n + 1/m), its mean (to first
/// order) if both samples have the same distribution. At least 0. `error`, sqrt(2 (bins - 1))
/// (1/n + 1/m), is its standard deviation in that case.
struct BinnedKl {
  double kl = 0;
  double error = 0;
};
BinnedKl binned_kl(std::span<const double> train_counts, std::span<const double> target_counts);

}  // namespace covshift
