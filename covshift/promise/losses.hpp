// Losses of predicted probabilities; private to promise/.
#pragma once

#include <Eigen/Core>
#include <span>

#include "covshift/promise/estimate.hpp"
#include "covshift/promise/ratio_test.hpp"
#include "covshift/ratio/held_out.hpp"

namespace covshift {

/// Log ratios of both samples: given, or held out.
HeldOutRatio ratios_of(const EstimateData& data, const RatioOptions& options);
/// The rows that these ratios are judged by.
JudgedRows rows_of(const EstimateData& data, const RatioOptions& options);

/// Throws Error unless sizes fit, labels are classes and rows of p are probabilities.
void check_estimate_data(const EstimateData& data);
/// Throws Error unless there is a class in 0 .. classes-1 for each row.
void check_labels(std::span<const int> labels, std::size_t rows, int classes, const char* what);

/// Row i of rows x classes.
inline std::span<const double> row_of(std::span<const double> p, int classes, Eigen::Index i) {
  const auto k = static_cast<std::size_t>(classes);
  return p.subspan(static_cast<std::size_t>(i) * k, k);
}

/// The loss (accuracy: the gain) of each row.
Eigen::VectorXd losses(Performance metric, std::span<const double> p, std::span<const int> labels,
                       int classes);
/// What p itself expects it to be.
Eigen::VectorXd expectations(Performance metric, std::span<const double> p, int classes);

}  // namespace covshift
