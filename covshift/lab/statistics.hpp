// What the tables say about repeated draws.
#pragma once

#include <span>

namespace covshift {

double mean(std::span<const double> x);
/// Of the mean: the sample's standard deviation (division by n - 1) over sqrt n. 0 for one value.
double standard_error(std::span<const double> x);

struct PairedTest {
  double difference = 0;  ///< mean of a - b
  double t = 0;           ///< difference / its standard error
  double p = 1;           ///< two-sided, Student's t with n - 1 degrees of freedom
};
/// The paired t-test of the paper's tables. Equal samples have p = 1; a constant difference other
/// than 0 has p = 0.
PairedTest paired_t_test(std::span<const double> a, std::span<const double> b);

}  // namespace covshift
