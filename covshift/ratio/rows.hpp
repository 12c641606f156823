// The rows that a density ratio is fitted to: two samples.
#pragma once

#include <numeric>
#include <span>

#include "covshift/data/rows.hpp"

namespace covshift {

/// What a fit sees: both samples through the same columns, and how often each training row counts.
struct Samples {
  Rows train;
  Rows target;
  std::span<const double> weight;         ///< of the training rows; empty: 1
  std::span<const double> target_weight;  ///< likewise; copies of a row may count as one

  [[nodiscard]] double weight_of(std::size_t i) const { return weight.empty() ? 1.0 : weight[i]; }
  [[nodiscard]] double train_total() const {
    if (weight.empty()) return static_cast<double>(train.size());
    return std::accumulate(weight.begin(), weight.end(), 0.0);
  }
  [[nodiscard]] double target_total() const { return static_cast<double>(target.size()); }
};

}  // namespace covshift
