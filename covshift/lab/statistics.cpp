#include "covshift/lab/statistics.hpp"

#include <algorithm>
#include <boost/math/distributions/students_t.hpp>
#include <cmath>
#include <limits>
#include <numeric>
#include <vector>

#include "covshift/base/error.hpp"

namespace covshift {

double mean(std::span<const double> x) {
  return std::accumulate(x.begin(), x.end(), 0.0) / static_cast<double>(x.size());
}

double standard_error(std::span<const double> x) {
  if (x.size() < 2) return 0;
  const double centre = mean(x);
  double squares = 0;
  for (const double v : x) squares += (v - centre) * (v - centre);
  const auto n = static_cast<double>(x.size());
  return std::sqrt(squares / (n - 1) / n);
}

Spread spread_of(std::vector<double> values) {
  Spread spread;
  const auto n = static_cast<double>(values.size());
  spread.mean = mean(values);
  spread.standard_error = standard_error(values);
  spread.deviation = spread.standard_error * std::sqrt(n);
  std::sort(values.begin(), values.end());
  for (std::size_t q = 0; q < Spread::at.size(); ++q) {
    const double position = Spread::at[q] * (n - 1);
    const auto low = static_cast<std::size_t>(position);
    const std::size_t high = std::min(low + 1, values.size() - 1);
    const double share = position - static_cast<double>(low);
    spread.quantiles[q] = (1 - share) * values[low] + share * values[high];
  }
  return spread;
}

double p_of_t(double t, double degrees) {
  const boost::math::students_t student(degrees);
  return 2 * boost::math::cdf(boost::math::complement(student, std::abs(t)));
}

PairedTest paired_t_test(std::span<const double> a, std::span<const double> b) {
  if (a.size() != b.size() || a.size() < 2) {
    fail_input("a paired t-test needs two samples of the same size of at least 2, not {} and {}",
               a.size(), b.size());
  }
  std::vector<double> difference(a.size());
  for (std::size_t i = 0; i < a.size(); ++i) difference[i] = a[i] - b[i];
  PairedTest test;
  test.difference = mean(difference);
  const double error = standard_error(difference);
  if (error == 0) {
    if (test.difference != 0) {
      test.t = std::copysign(std::numeric_limits<double>::infinity(), test.difference);
      test.p = 0;
    }
    return test;
  }
  test.t = test.difference / error;
  test.p = p_of_t(test.t, static_cast<double>(a.size() - 1));
  return test;
}

}  // namespace covshift
