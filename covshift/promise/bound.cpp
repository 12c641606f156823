#include "covshift/promise/bound.hpp"

#include <algorithm>
#include <cmath>

#include "covshift/base/error.hpp"
#include "covshift/promise/inference.hpp"

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

/// What far rows add to the mean loss `near` of the others: the worst, as far as they are more than
/// by chance. Their share is taken as it is: their few large numbers would make up all of the
/// variance.
double loss_of_far_rows(double near, const Judged& judged, const Vector& worst) {
  const auto m = static_cast<double>(worst.size());
  double far = 0;
  double lost = 0;
  for (Eigen::Index i = 0; i < worst.size(); ++i) {
    if (judged.far[static_cast<std::size_t>(i)] == 0) continue;
    far += 1 / m;
    lost += (worst[i] - near) / m;
  }
  const double strange = far > 0 ? std::max(0.0, 1 - judged.far_by_chance / far) : 0;
  return strange * std::max(0.0, lost);
}

}  // namespace

LossBound bound_loss(const BoundData& data, double delta) {
  const Judged judged = judge(data.rows, data.ratio);
  LossBound result{judged.evidence, 0, 0, judged.ratio_p_value, judged.quadratic};
  if (!result.evidence.cannot_tell.empty()) return result;
  const WeightedSamples& samples = judged.samples;
  const Vector worst = vector_of(data.worst);
  Regression found = regression_mean(samples, vector_of(data.loss), vector_of(data.guess),
                                     judged.near(vector_of(data.target_guess)));
  found.value += loss_of_far_rows(found.value, judged, worst);
  result.value = std::max(0.0, found.value);
  const double missed = 1 - std::pow(delta / 2, 1 / samples.effective);
  result.bound =
      std::max({result.value, upper_end(found, samples.count, delta / 2), missed * worst.mean()});
  return result;
}

}  // namespace covshift
