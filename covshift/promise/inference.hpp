// promise/: what can be said about a classifier on data without labels: estimates with intervals,
// bounds, prediction sets, and whether P(y|x) has changed. Functions of plain numbers and ratios.
#pragma once

#include <span>

namespace covshift {

/// The quantile of Student's t with (positive, not necessarily whole) degrees of freedom.
double t_quantile(double probability, double freedom);
/// P(|t| > |x|) of Student's t.
double t_two_sided(double x, double freedom);

/// The mean and its standard error (division by n - 1); 0 and infinity for fewer than 2 values.
struct MeanError {
  double mean = 0;
  double error = 0;
};
MeanError mean_error(std::span<const double> x);

}  // namespace covshift
