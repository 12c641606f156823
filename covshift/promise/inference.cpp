#include "covshift/promise/inference.hpp"

#include <boost/math/distributions/students_t.hpp>
#include <cmath>
#include <limits>

namespace covshift {

double t_quantile(double probability, double freedom) {
  return boost::math::quantile(boost::math::students_t(freedom), probability);
}

double t_two_sided(double x, double freedom) {
  if (std::isinf(x)) return 0;
  return 2 *
         boost::math::cdf(boost::math::complement(boost::math::students_t(freedom), std::abs(x)));
}

MeanError mean_error(std::span<const double> x) {
  const auto n = static_cast<double>(x.size());
  double sum = 0;
  for (const double v : x) sum += v;
  MeanError result{x.empty() ? 0 : sum / n, std::numeric_limits<double>::infinity()};
  if (x.size() < 2) return result;
  double squares = 0;
  for (const double v : x) squares += (v - result.mean) * (v - result.mean);
  result.error = std::sqrt(squares / (n - 1) / n);
  return result;
}

}  // namespace covshift
