#include "covshift/promise/bound.hpp"

#include <algorithm>
#include <cmath>

#include "covshift/base/error.hpp"
#include "covshift/promise/inference.hpp"
#include "covshift/promise/regression.hpp"

namespace covshift {
namespace {

using Vector = Eigen::VectorXd;

Vector vector_of(std::span<const double> x) {
  return Eigen::Map<const Vector>(x.data(), static_cast<Eigen::Index>(x.size()));
}

/// est + se (t + g (2 t^2 + 1) / 6): the quantile of a studentised mean whose terms have skewness g
/// (Hall 1983), for g > 0. Losses that lean the other way are given nothing back.
double upper_end(const Influenced& found, const Vector& count, double delta) {
  const Variance v = variance_of(found.train, found.target, count);
  const double t = t_quantile(1 - delta, v.freedom);
  return found.value +
         std::sqrt(v.variance) * (t + std::max(v.skewness, 0.0) * (2 * t * t + 1) / 6);
}

}  // namespace

LossBound bound_loss(const BoundData& data, double delta) {
  LossBound result;
  result.evidence = evidence_of(data.ratio, data.unlike, data.count);
  const WeightedSamples samples =
      weighted_samples(data.features, data.target, data.ratio, data.seed, data.count);
  result.ratio_p_value = test_ratio(samples, data.estimated);
  const Regression found = regression_mean(samples, vector_of(data.loss), vector_of(data.guess),
                                           vector_of(data.target_guess));
  result.value = std::max(0.0, found.value);
  const double missed = 1 - std::pow(delta / 2, 1 / samples.effective);
  result.bound =
      std::max({result.value, upper_end(found, samples.count, delta / 2), missed * data.worst});
  return result;
}

}  // namespace covshift
