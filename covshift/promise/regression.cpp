#include "covshift/promise/regression.hpp"

#include <algorithm>
#include <cmath>

#include "covshift/data/pca.hpp"
#include "covshift/data/rows.hpp"
#include "covshift/data/smooth_order.hpp"

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
  std::vector<std::size_t> order = drawing_order(Rows(train, {}), {}, seed);
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

RatioCurvature::RatioCurvature(const WeightedSamples& s) : samples_(s) {
  const auto with_one = [](const Columns& x) {
    Columns z(x.rows(), x.cols() + 1);
    z.col(0).setOnes();
    z.rightCols(x.cols()) = x;
    return z;
  };
  train_ = with_one(s.train);
  target_ = with_one(s.target);
  const double offset = std::log(static_cast<double>(s.target.rows()) / s.count.sum());
  const auto from_target = [&](const std::vector<double>& log_ratio) {
    Vector p(static_cast<Eigen::Index>(log_ratio.size()));
    for (Eigen::Index i = 0; i < p.size(); ++i) {
      p[i] = 1 / (1 + std::exp(-(log_ratio[static_cast<std::size_t>(i)] + offset)));
    }
    return p;
  };
  p_train_ = from_target(s.log_weight);
  p_target_ = from_target(s.target_log_weight);
  const Vector own = s.count.array() * p_train_.array() * (1 - p_train_.array());
  const Vector other = p_target_.array() * (1 - p_target_.array());
  Columns h = train_.transpose() * own.asDiagonal() * train_ +
              target_.transpose() * other.asDiagonal() * target_;
  h.diagonal().array() += 1e-6 * h.trace() / static_cast<double>(h.cols());
  factored_.compute(h);
}

Influenced RatioCurvature::influence(const Vector& slope) const {
  const Vector u = factored_.solve(train_.transpose() * slope);
  const Vector& count = samples_.count;
  Influenced r;
  r.train = -(p_train_.array() * (train_ * u).array());
  r.target = (1 - p_target_.array()) * (target_ * u).array();
  r.train.array() -= r.train.dot(count) / count.sum();
  r.train.array() *= count.array();
  r.target.array() -= r.target.mean();
  return r;
}

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

Influenced weighted_mean(const WeightedSamples& s, const Vector& l,
                         const RatioCurvature* estimated) {
  Influenced result;
  result.value = s.share.dot(l);
  const Vector centred = l.array() - result.value;
  const auto own = s.share.array() / s.count.array();  // of one copy
  result.train = s.share.array() * centred.array() / (1 - own).max(0.5);
  if (estimated == nullptr) return result;
  Influenced ratio = estimated->influence(s.share.array() * centred.array());
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

}  // namespace covshift
