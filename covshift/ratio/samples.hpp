// The rows that a density ratio is fitted to: two samples.
#pragma once

#include <numeric>
#include <span>

#include "covshift/base/reduce.hpp"
#include "covshift/data/rows.hpp"

namespace covshift {

/// What a fit sees: both samples through the same columns, and how often each training row counts.
struct Samples {
  Rows train;
  Rows target;
  std::span<const double> weight;         ///< of the training rows; empty: 1
  std::span<const double> target_weight;  ///< likewise; copies of a row may count as one
  /// Other holders have more rows; null: these are all. Totals are of all holders.
  const Reducer* reducer = nullptr;

  [[nodiscard]] double weight_of(std::size_t i) const { return weight.empty() ? 1.0 : weight[i]; }
  [[nodiscard]] double train_total() const { return total(train, weight); }
  [[nodiscard]] double target_total() const { return total(target, target_weight); }

 private:
  [[nodiscard]] double total(const Rows& rows, std::span<const double> times) const {
    return sum_over(reducer, times.empty() ? static_cast<double>(rows.size())
                                           : std::accumulate(times.begin(), times.end(), 0.0));
  }
};

}  // namespace covshift
