#include "support.hpp"

#include <Eigen/Dense>
#include <utility>

namespace covshift::testing {
namespace {

using RealMatrix = Eigen::Matrix<Real, Eigen::Dynamic, Eigen::Dynamic>;
using RealVector = Eigen::Matrix<Real, Eigen::Dynamic, 1>;

/// V(psi) = max_q psi'q + H(q) by all vertices of H: every set of played labels with every set of
/// as many actions among which the predictor is indifferent. No linear program, no closed form.
class NaiveGame {
 public:
  explicit NaiveGame(const Game& game) : game_(game), k_(game.labels()) {
    if (game.costs() == nullptr || game.label_costs()) return;
    const CostMatrix& c = *game.costs();
    for (unsigned labels = 1; labels < (1U << k_); ++labels) {
      for (unsigned actions = 1; actions < (1U << c.actions); ++actions) {
        if (__builtin_popcount(labels) == __builtin_popcount(actions)) vertex(labels, actions);
      }
    }
  }

  [[nodiscard]] Real risk(const std::vector<Real>& q, int label) const {
    Real least = std::numeric_limits<Real>::infinity();
    if (game_.smooth()) {
      least = 0;
      for (const Real v : q) least -= v > 0 ? v * std::log(v) : 0;
    } else if (game_.label_costs()) {
      least = 1 - q[label];
    } else {
      const CostMatrix& c = *game_.costs();
      for (int a = 0; a < c.actions; ++a) {
        Real sum = 0;
        for (int y = 0; y < k_; ++y) sum += q[y] * c(a, y);
        least = std::min(least, sum);
      }
    }
    return least;
  }

  /// The value, the adversary and by how much its best move beats the second best (smoothness).
  Real value(const std::vector<Real>& psi, int label, std::vector<Real>& q, Real& margin) const {
    margin = std::numeric_limits<Real>::infinity();
    q.assign(k_, 0);
    if (game_.smooth()) {
      const Real top = *std::max_element(psi.begin(), psi.end());
      Real sum = 0;
      for (int y = 0; y < k_; ++y) sum += q[y] = std::exp(psi[y] - top);
      for (Real& v : q) v /= sum;
      return top + std::log(sum);
    }
    Real best = -std::numeric_limits<Real>::infinity();
    const auto consider = [&](const std::vector<Real>& move, Real pay) {
      for (int y = 0; y < k_; ++y) pay += move[y] > 0 ? psi[y] * move[y] : 0;
      Real apart = 0;
      for (int y = 0; y < k_; ++y) apart = std::max(apart, std::abs(move[y] - q[y]));
      if (pay > best) {
        if (apart > 1e-9) margin = pay - best;
        best = pay;
        q = move;
      } else if (apart > 1e-9) {
        margin = std::min(margin, best - pay);
      }
    };
    if (game_.label_costs()) {
      for (int y = 0; y < k_; ++y) {
        std::vector<Real> corner(k_, 0);
        corner[y] = 1;
        consider(corner, y == label ? 0 : 1);
      }
    }
    for (const auto& [move, h] : vertices_) consider(move, h);
    return best;
  }

 private:
  void vertex(unsigned labels, unsigned actions) {
    const CostMatrix& c = *game_.costs();
    std::vector<int> ys;
    std::vector<int> as;
    for (int y = 0; y < k_; ++y) {
      if (labels >> y & 1U) ys.push_back(y);
    }
    for (int a = 0; a < c.actions; ++a) {
      if (actions >> a & 1U) as.push_back(a);
    }
    const auto n = static_cast<Eigen::Index>(ys.size());
    RealMatrix system = RealMatrix::Zero(n + 1, n + 1);
    for (Eigen::Index a = 0; a < n; ++a) {
      for (Eigen::Index y = 0; y < n; ++y) system(a, y) = c(as[a], ys[y]);
      system(a, n) = -1;
      system(n, a) = 1;
    }
    RealVector right = RealVector::Zero(n + 1);
    right[n] = 1;
    const Eigen::FullPivLU<RealMatrix> lu(system);
    if (!lu.isInvertible()) return;
    const RealVector by = lu.solve(right);
    std::vector<Real> q(k_, 0);
    for (Eigen::Index y = 0; y < n; ++y) {
      if (by[y] < -1e-15L) return;
      q[ys[y]] = std::max<Real>(0, by[y]);
    }
    if (risk(q, 0) < by[n] - 1e-12L) return;  // another action would be cheaper
    vertices_.emplace_back(q, risk(q, 0));
  }

  const Game& game_;
  int k_;
  std::vector<std::pair<std::vector<Real>, Real>> vertices_;
};

}  // namespace

namespace {

Real weight_of(const Data& s, std::size_t i) {
  Real m = 0;
  for (std::size_t j = 0; j < s.m; ++j) m += s.weight.empty() ? 1 : s.weight[j];
  return (s.weight.empty() ? 1 : s.weight[i]) / m *
         (s.log_w.empty() ? 1 : std::exp(static_cast<Real>(s.log_w[i])));
}

std::vector<Real> features_of(const Data& s, std::size_t i) {
  std::vector<Real> z;
  const auto r = [&](int v) {
    return s.log_r.empty() ? 1 : std::exp(static_cast<Real>(s.log_r[i * s.scales + v]));
  };
  for (std::size_t j = 0; j < s.d; ++j) {
    z.push_back(r(s.scale_of.empty() ? 0 : s.scale_of[j]) * s.x[i * s.d + j]);
  }
  if (s.bias) z.push_back(r(s.scale_of_bias));
  return z;
}

}  // namespace

Real naive_dual(const Data& s, const std::vector<double>& q) {
  const NaiveGame game(*s.game);
  const auto k = static_cast<std::size_t>(s.k);
  Real dual = 0;
  std::vector<Real> a(s.parameters(), 0);
  for (std::size_t i = 0; i < s.m; ++i) {
    const Real w = weight_of(s, i);
    const std::vector<Real> z = features_of(s, i);
    const std::vector<Real> answer(&q[i * k], &q[i * k] + k);
    dual += w * game.risk(answer, s.y[i]);
    for (std::size_t j = 0; j < a.size(); ++j) {
      a[j] += w * z[j / k] * ((static_cast<int>(j % k) == s.y[i] ? 1 : 0) - answer[j % k]);
    }
  }
  for (const Real v : a) dual -= v * v / (4 * static_cast<Real>(s.lambda));
  return dual;
}

Naive naive(const Data& s, const std::vector<double>& t) {
  const NaiveGame game(*s.game);
  const auto k = static_cast<std::size_t>(s.k);
  Naive out;
  out.margin = std::numeric_limits<Real>::infinity();
  out.gradient.assign(s.parameters(), 0);
  std::vector<Real> a(s.parameters(), 0);
  for (std::size_t i = 0; i < s.m; ++i) {
    const Real w = weight_of(s, i);
    const std::vector<Real> z = features_of(s, i);
    std::vector<Real> psi(k, 0);
    for (std::size_t j = 0; j < z.size(); ++j) {
      for (std::size_t y = 0; y < k; ++y) psi[y] += z[j] * t[j * k + y];
    }
    std::vector<Real> q;
    Real margin = 0;
    const Real value = game.value(psi, s.y[i], q, margin);
    if (w > 0) out.margin = std::min(out.margin, margin);
    out.objective += w * (value - psi[s.y[i]]);
    out.dual += w * game.risk(q, s.y[i]);
    for (std::size_t j = 0; j < z.size(); ++j) {
      for (std::size_t y = 0; y < k; ++y) {
        a[j * k + y] += w * z[j] * ((static_cast<int>(y) == s.y[i] ? 1 : 0) - q[y]);
      }
    }
  }
  for (std::size_t j = 0; j < a.size(); ++j) {
    const Real lambda = s.penalised(j) ? s.lambda : 0;
    out.objective += lambda * t[j] * t[j];
    out.dual -= a[j] * a[j] / (4 * s.lambda);
    out.gradient[j] = 2 * lambda * t[j] - a[j];
  }
  return out;
}

}  // namespace covshift::testing
