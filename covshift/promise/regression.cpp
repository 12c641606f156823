#include "covshift/promise/regression.hpp"

#include <Eigen/Cholesky>
#include <algorithm>
#include <cmath>

#include "covshift/data/pca.hpp"
#include "covshift/data/rows.hpp"
#include "covshift/promise/inference.hpp"

namespace covshift {
namespace {

using Vector = Eigen::VectorXd;
using Columns = Eigen::MatrixXd;

constexpr std::size_t most_components = 30;
constexpr double rows_for_a_component = 15;

/// Both samples on at most `count` principal components of the training rows, of variance 1 there.
void set_components(const MatrixView& train, const MatrixView& target, std::size_t count,
                    std::uint64_t seed, WeightedSamples& samples) {
  constexpr std::size_t enough = 1000;  // rows that tell the directions
  std::vector<std::size_t> order = row_order(Rows(train, {}), {}, seed);
  order.resize(std::min(order.size(), enough));
  const Matrix some = take_rows(train, order);
  const Pca pca = Pca::fit(some.view(), std::min({count, train.cols, some.rows}));
  const auto project = [&](const MatrixView& x) {
    const Matrix z = pca.transform(x);
    Columns out(static_cast<Eigen::Index>(z.rows), static_cast<Eigen::Index>(z.cols));
    for (std::size_t i = 0; i < z.rows; ++i) {
      for (std::size_t j = 0; j < z.cols; ++j) {
        const double spread = std::sqrt(std::max(pca.variances()[j], 1e-12));
        // A row far outside the labelled ones must not decide the regression.
        out(static_cast<Eigen::Index>(i), static_cast<Eigen::Index>(j)) =
            std::clamp(z.values[i * z.cols + j] / spread, -5.0, 5.0);
      }
    }
    return out;
  };
  samples.train = project(train);
  samples.target = project(target);
}

/// What the estimated coefficients u of a logistic ratio add: c'H^-1 (score of a row), with H the
/// curvature of the domain likelihood and c the derivative of the estimate along u; `slope`: its
/// derivative by the log weight of each row.
struct RatioInfluence {
  Vector train, target;
};
RatioInfluence ratio_influence(const WeightedSamples& s, const Vector& slope) {
  const Eigen::Index n = s.train.rows();
  const Eigen::Index m = s.target.rows();
  const Eigen::Index q = s.train.cols() + 1;
  const auto with_one = [&](const Columns& x) {
    Columns z(x.rows(), q);
    z.col(0).setOnes();
    z.rightCols(q - 1) = x;
    return z;
  };
  const Columns a = with_one(s.train);
  const Columns b = with_one(s.target);
  const double offset = std::log(static_cast<double>(m) / s.count.sum());
  const auto from_target = [&](const std::vector<double>& log_ratio, Eigen::Index i) {
    return 1 / (1 + std::exp(-(log_ratio[static_cast<std::size_t>(i)] + offset)));
  };
  Vector pa(n);
  Vector pb(m);
  for (Eigen::Index i = 0; i < n; ++i) pa[i] = from_target(s.log_weight, i);
  for (Eigen::Index j = 0; j < m; ++j) pb[j] = from_target(s.target_log_weight, j);
  const Vector curvature = s.count.array() * pa.array() * (1 - pa.array());
  Columns h = a.transpose() * curvature.asDiagonal() * a +
              b.transpose() * (pb.array() * (1 - pb.array())).matrix().asDiagonal() * b;
  h.diagonal().array() += 1e-6 * h.trace() / static_cast<double>(q);
  const Vector u = h.ldlt().solve(a.transpose() * slope);
  RatioInfluence r{-(pa.array() * (a * u).array()), (1 - pb.array()) * (b * u).array()};
  r.train.array() -= r.train.dot(s.count) / s.count.sum();
  r.train.array() *= s.count.array();
  r.target.array() -= r.target.mean();
  return r;
}

/// h of labelled and target rows, standardised so that one ridge suits all columns.
struct Auxiliary {
  Columns train, target;
};
Auxiliary auxiliary(const WeightedSamples& s, const Columns& guess, const Columns& target_guess) {
  const auto fill = [&](const Columns& x, const Columns& own,
                        const std::vector<double>& log_weight) {
    Columns h(x.rows(), x.cols() + own.cols() + 2);
    h.col(0).setOnes();
    h.col(1) = Eigen::Map<const Vector>(log_weight.data(), x.rows());
    h.middleCols(2, own.cols()) = own;
    h.rightCols(x.cols()) = x;
    return h;
  };
  Auxiliary h{fill(s.train, guess, s.log_weight),
              fill(s.target, target_guess, s.target_log_weight)};
  for (Eigen::Index j = 1; j < h.train.cols(); ++j) {
    const double mean = s.share.dot(h.train.col(j));
    const double spread = std::sqrt(s.share.dot((h.train.col(j).array() - mean).square().matrix()));
    const double unit = spread > 1e-9 ? 1 / spread : 0;
    h.train.col(j) = (h.train.col(j).array() - mean) * unit;
    h.target.col(j) = (h.target.col(j).array() - mean) * unit;
  }
  return h;
}

}  // namespace

WeightedSamples weighted_samples(const MatrixView& train, const MatrixView& target,
                                 HeldOutRatio ratio, std::uint64_t seed,
                                 std::span<const double> count) {
  WeightedSamples s;
  s.count = Vector::Ones(static_cast<Eigen::Index>(train.rows));
  if (!count.empty()) s.count = Eigen::Map<const Vector>(count.data(), s.count.size());
  s.log_weight = std::move(ratio.train);
  s.target_log_weight = std::move(ratio.target);
  for (double& v : s.log_weight) v = std::min(v, ratio.bound);
  for (double& v : s.target_log_weight) v = std::min(v, ratio.bound);
  const double top = *std::max_element(s.log_weight.begin(), s.log_weight.end());
  s.share.resize(static_cast<Eigen::Index>(s.log_weight.size()));
  for (Eigen::Index i = 0; i < s.share.size(); ++i) {
    s.share[i] = s.count[i] * std::exp(s.log_weight[static_cast<std::size_t>(i)] - top);
  }
  s.share /= s.share.sum();
  s.effective = 1 / (s.share.array().square() / s.count.array()).sum();
  const auto affordable =
      static_cast<std::size_t>(std::max(1.0, s.effective / rows_for_a_component));
  set_components(train, target, std::min(affordable, most_components), seed, s);
  return s;
}

/// A row that counts c times is c rows with a c-th of its influence each.
Variance variance_of(const Vector& train, const Vector& target, const Vector& count) {
  const auto power = [&](int k) {
    const auto own = train.array().pow(k);
    const double rows = count.size() == 0 ? own.sum() : (own / count.array().pow(k - 1)).sum();
    return rows + target.array().pow(k).sum();
  };
  const double variance = power(2);
  const double fourth = power(4);
  if (!(fourth > 0)) return {variance, 1, 0};
  return {variance, std::max(1.0, variance * variance / fourth),
          power(3) / std::pow(variance, 1.5)};
}

Influenced weighted_mean(const WeightedSamples& s, const Vector& l, bool estimated) {
  Influenced result;
  result.value = s.share.dot(l);
  const Vector centred = l.array() - result.value;
  const auto own = s.share.array() / s.count.array();  // of one copy
  result.train = s.share.array() * centred.array() / (1 - own).max(0.5);
  if (!estimated) return result;
  RatioInfluence ratio = ratio_influence(s, s.share.array() * centred.array());
  result.train += ratio.train;
  result.target = std::move(ratio.target);
  return result;
}

Regression regression_mean(const WeightedSamples& s, const Vector& l, const Columns& guess,
                           const Columns& target_guess) {
  const Auxiliary h = auxiliary(s, guess, target_guess);
  const Columns weighted = s.share.asDiagonal() * h.train;
  Columns gram = h.train.transpose() * weighted;
  // As if 2 rows had been seen that say nothing: no matter for many rows, much for few.
  gram.diagonal().tail(gram.cols() - 1).array() += 2 / s.effective;
  const Eigen::LDLT<Columns> solver(gram);
  const Vector b = solver.solve(weighted.transpose() * l);
  Regression r;
  r.fitted = h.target * b;
  const Vector residual = l - h.train * b;
  r.value = r.fitted.mean() + s.share.dot(residual);
  // The estimate as weights of the rows: a_i g_i, g = 1 + (mean_target h - mean_a h)' G^-1 h; and
  // the leverage of a row taken out of its residual.
  const Vector gap = h.target.colwise().mean().transpose() - weighted.colwise().sum().transpose();
  const Vector g = (h.train * solver.solve(gap)).array() + 1;
  const Columns inverse = solver.solve(Columns::Identity(gram.rows(), gram.cols()));
  const Vector leverage = s.share.array() / s.count.array() *
                          ((h.train * inverse).array() * h.train.array()).rowwise().sum();
  r.train = s.share.array() * g.array() * residual.array() / (1 - leverage.array()).max(0.25);
  const auto m = static_cast<double>(r.fitted.size());
  r.target = (r.fitted.array() - r.fitted.mean()) / std::sqrt(m * (m - 1));
  return r;
}

namespace {

/// P(|t| > |difference / error|), the larger of two estimates of the training rows' variance.
double p_value(double difference, const Influenced& found, const Vector& count, double by_target) {
  Variance v = variance_of(found.train, found.target, count);
  const double own = variance_of(found.train, Vector(), count).variance;
  v.variance += std::max(0.0, by_target - own);
  if (!(v.variance > 0)) return std::abs(difference) < 1e-9 ? 1 : 0;
  return t_two_sided(difference / std::sqrt(v.variance), v.freedom);
}

/// Of: the weights average 1.
double mean_weight_p_value(const WeightedSamples& s, const Vector& w, const Vector& target_w,
                           bool estimated) {
  const double n = s.count.sum();
  const double mean = w.dot(s.count) / n;
  Influenced found;
  found.train = s.count.array() * (w.array() - mean) / std::sqrt(n * (n - 1));
  if (estimated) {
    RatioInfluence ratio = ratio_influence(s, s.count.array() * w.array() / n);
    found.train += ratio.train;
    found.target = std::move(ratio.target);
  }
  return p_value(mean - 1, found, s.count, (target_w.mean() - 1) / n);
}

/// Of: the weighted training mean of f is its mean on the target.
double balance_p_value(const WeightedSamples& s, const Vector& f, const Vector& target_f,
                       const Vector& target_w, bool estimated) {
  Influenced found = weighted_mean(s, f, estimated);
  const double mean = target_f.mean();
  const auto m = static_cast<double>(target_f.size());
  const Vector own = -(target_f.array() - mean) / std::sqrt(m * (m - 1));
  found.target = found.target.size() == 0 ? own : Vector(found.target + own);
  const double by_target =
      (target_w.array() * (target_f.array() - mean).square()).mean() / s.count.sum();
  return p_value(found.value - mean, found, s.count, by_target);
}

}  // namespace

double test_ratio(const WeightedSamples& s, bool estimated) {
  const auto weights = [](const std::vector<double>& log_weight) {
    return Vector(
        Eigen::Map<const Vector>(log_weight.data(), static_cast<Eigen::Index>(log_weight.size()))
            .array()
            .exp());
  };
  const Vector w = weights(s.log_weight);
  const Vector target_w = weights(s.target_log_weight);
  if (w.size() < 2 || target_w.size() < 2) return 1;
  double least = mean_weight_p_value(s, w, target_w, estimated);
  const auto balance = [&](const Vector& f, const Vector& target_f) {
    least = std::min(least, balance_p_value(s, f, target_f, target_w, estimated));
  };
  balance(w.array().log(), target_w.array().log());
  for (Eigen::Index j = 0; j < s.train.cols(); ++j) balance(s.train.col(j), s.target.col(j));
  return std::min(1.0, least * static_cast<double>(s.train.cols() + 2));
}

}  // namespace covshift
