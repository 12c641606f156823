// Statistics of repeated draws.
#pragma once

#include <array>
#include <span>
#include <vector>

namespace covshift {

double mean(std::span<const double> x);
/// Of the mean: the sample's standard deviation (division by n - 1) over sqrt n. 0 for one value.
double standard_error(std::span<const double> x);

/// The spread of a sample.
struct Spread {
  double mean = 0, deviation = 0, standard_error = 0;
  static constexpr std::array<double, 5> at = {0.05, 0.25, 0.5, 0.75, 0.95};
  std::array<double, 5> quantiles{};  ///< `at` these shares, interpolated linearly
};
Spread spread_of(std::vector<double> values);

struct PairedTest {
  double difference = 0;  ///< mean of a - b
  double t = 0;           ///< difference / its standard error
  double p = 1;           ///< two-sided, Student's t with n - 1 degrees of freedom
};
/// The two-sided p-value of t with this many degrees of freedom.
double p_of_t(double t, double degrees);
/// The paired t-test of the paper's tables. Equal samples have p = 1; a constant difference other
/// than 0 has p = 0.
PairedTest paired_t_test(std::span<const double> a, std::span<const double> b);

}  // namespace covshift
