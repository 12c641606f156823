// Optima computed independently of the library: the training problem as a dense quadratic program
// in long double, solved by a general method; for log loss by plain Newton.
#include <Eigen/Dense>

#include "support.hpp"

namespace covshift {
namespace {

using namespace testing;
using RealMatrix = Eigen::Matrix<Real, Eigen::Dynamic, Eigen::Dynamic>;
using RealVector = Eigen::Matrix<Real, Eigen::Dynamic, 1>;

/// min 1/2 x'Px + c'x  s.t.  G x <= h,  E x = f: a textbook primal-dual interior point method.
RealVector quadratic_program(const RealMatrix& p, const RealVector& c, const RealMatrix& g,
                             const RealVector& h, const RealMatrix& e, const RealVector& f) {
  const Eigen::Index n = c.size();
  const Eigen::Index m = h.size();
  const Eigen::Index k = f.size();
  RealVector x = RealVector::Zero(n);
  RealVector z = RealVector::Ones(m);
  RealVector s = RealVector::Ones(m);
  RealVector u = RealVector::Zero(k);
  for (int iteration = 0; iteration < 300; ++iteration) {
    const Real mu = s.dot(z) / static_cast<Real>(m);
    const RealVector dual = p * x + c + g.transpose() * z + e.transpose() * u;
    const RealVector primal = g * x + s - h;
    const RealVector equal = e * x - f;
    const Real residual = dual.norm() + primal.norm() + equal.norm();
    if (mu < 1e-12L && residual < 1e-10L) return x;
    if (!(mu < 1e30L)) break;
    RealMatrix kkt = RealMatrix::Zero(n + k, n + k);
    const RealVector d = z.cwiseQuotient(s);
    kkt.topLeftCorner(n, n) = p + g.transpose() * d.asDiagonal() * g;
    kkt.topRightCorner(n, k) = e.transpose();
    kkt.bottomLeftCorner(k, n) = e;
    const RealVector target =
        (RealVector::Constant(m, mu / 5) - s.cwiseProduct(z)).cwiseQuotient(s);
    RealVector right(n + k);
    right.head(n) = -dual - g.transpose() * (target + d.cwiseProduct(primal));
    right.tail(k) = -equal;
    const RealVector step = kkt.partialPivLu().solve(right);
    const RealVector dx = step.head(n);
    const RealVector ds = -primal - g * dx;
    const RealVector dz = target - d.cwiseProduct(ds);
    Real length = 1;
    for (Eigen::Index i = 0; i < m; ++i) {
      if (ds[i] < 0) length = std::min(length, -0.95L * s[i] / ds[i]);
      if (dz[i] < 0) length = std::min(length, -0.95L * z[i] / dz[i]);
    }
    x += length * dx;
    s += length * ds;
    z += length * dz;
    u += length * step.tail(k);
  }
  ADD_FAILURE() << "the judge did not converge";
  return x;
}

/// Variables T, p_i, v_i:  v_i >= (C'p_i)_y + psi_i[y],  p_i >= 0,  1'p_i = 1. The hinge has one
/// action that costs 1 against all labels but the true one.
std::vector<double> judge_game(const Data& s) {
  const auto k = static_cast<Eigen::Index>(s.k);
  const auto m = static_cast<Eigen::Index>(s.m);
  const auto dims = static_cast<Eigen::Index>(s.dims());
  const CostMatrix* c = s.game->label_costs() ? nullptr : s.game->costs();
  const Eigen::Index actions = c == nullptr ? 1 : c->actions;
  const Eigen::Index n = dims * k + m * actions + m;
  const auto at_p = [&](Eigen::Index i, Eigen::Index a) { return dims * k + i * actions + a; };
  const auto at_v = [&](Eigen::Index i) { return dims * k + m * actions + i; };
  RealMatrix p = RealMatrix::Zero(n, n);
  RealVector linear = RealVector::Zero(n);
  RealMatrix g = RealMatrix::Zero(m * (k + actions), n);
  RealMatrix e = RealMatrix::Zero(m, n);
  p.diagonal().head(dims * k).setConstant(2 * s.lambda);
  for (Eigen::Index i = 0; i < m; ++i) {
    const Real w =
        (s.log_w.empty() ? 1 : std::exp(static_cast<Real>(s.log_w[i]))) / static_cast<Real>(m);
    const auto z = [&](Eigen::Index j) -> Real {
      const bool is_bias = j == static_cast<Eigen::Index>(s.d);
      const int v = is_bias ? s.scale_of_bias : s.scale_of.empty() ? 0 : s.scale_of[j];
      const Real r = s.log_r.empty() ? 1 : std::exp(static_cast<Real>(s.log_r[i * s.scales + v]));
      return is_bias ? r : r * s.x[i * s.d + j];
    };
    linear[at_v(i)] = w;
    for (Eigen::Index j = 0; j < dims; ++j) linear[j * k + s.y[i]] -= w * z(j);
    for (Eigen::Index y = 0; y < k; ++y) {
      const Eigen::Index row = i * (k + actions) + y;
      for (Eigen::Index j = 0; j < dims; ++j) g(row, j * k + y) = z(j);
      for (Eigen::Index a = 0; a < actions; ++a) {
        g(row, at_p(i, a)) =
            c == nullptr ? (y == s.y[i] ? 0 : 1) : (*c)(static_cast<int>(a), static_cast<int>(y));
      }
      g(row, at_v(i)) = -1;
    }
    for (Eigen::Index a = 0; a < actions; ++a) {
      g(i * (k + actions) + k + a, at_p(i, a)) = -1;
      e(i, at_p(i, a)) = 1;
    }
  }
  const RealVector x =
      quadratic_program(p, linear, g, RealVector::Zero(g.rows()), e, RealVector::Ones(m));
  std::vector<double> t;
  for (Eigen::Index j = 0; j < dims * k; ++j) t.push_back(static_cast<double>(x[j]));
  return t;
}

/// Newton's method with a full dense Hessian and halved steps.
std::vector<double> judge_log(const Data& s) {
  const auto n = static_cast<Eigen::Index>(s.parameters());
  std::vector<double> t(s.parameters(), 0.0);
  for (int iteration = 0; iteration < 200; ++iteration) {
    const Naive at = naive(s, t);
    // The Hessian by differences of the gradient, which needs no further formula.
    RealMatrix h(n, n);
    for (Eigen::Index j = 0; j < n; ++j) {
      std::vector<double> moved = t;
      moved[j] += 1e-6;
      const Naive there = naive(s, moved);
      for (Eigen::Index i = 0; i < n; ++i) {
        h(i, j) = (there.gradient[i] - at.gradient[i]) / static_cast<Real>(moved[j] - t[j]);
      }
    }
    h = (h + h.transpose()).eval() / 2;
    const RealVector gradient = Eigen::Map<const RealVector>(at.gradient.data(), n);
    if (gradient.norm() < 1e-13L) break;
    const RealVector step = h.ldlt().solve(-gradient);
    Real length = 1;
    for (int halved = 0; halved < 60; ++halved, length /= 2) {
      std::vector<double> moved = t;
      for (Eigen::Index j = 0; j < n; ++j) moved[j] += static_cast<double>(length * step[j]);
      if (naive(s, moved).objective < at.objective || halved == 59) {
        t = moved;
        break;
      }
    }
    if (length * step.norm() < 1e-13L) break;
  }
  return t;
}

void expect_judged(const Data& data, const std::string& what) {
  const std::vector<double> judged = data.game->smooth() ? judge_log(data) : judge_game(data);
  const auto optimum = static_cast<double>(naive(data, judged).objective);
  const double scale = std::max(1.0, std::abs(optimum));
  const Solution s = solve(data.problem(), with(Solver::automatic, 1e-9));
  expect_solved(s, what, 1e-9);
  EXPECT_NEAR(s.objective, optimum, 2e-9 * scale) << what;
  EXPECT_LE(s.dual, optimum + 1e-11 * scale) << what << ": the certificate is a lower bound";
  // Strong convexity bounds the distance of the weights by the gap.
  const double apart = std::sqrt((s.gap + 1e-11 * scale) / data.lambda);
  for (std::size_t j = 0; j < judged.size(); ++j) {
    EXPECT_NEAR(s.weights[j], judged[j], 2 * apart) << what << " weight " << j;
  }
}

TEST(Judge, agrees_for_every_loss) {
  for (const std::string& loss : losses()) {
    for (const std::size_t d : {2, 3}) {
      for (const double lambda : {0.3, 0.01, 0.0005}) {
        const Data data = make_data(loss, 12, d, 3, lambda, Weights::none, 4);
        expect_judged(data, fmt::format("{} d={} lambda={}", loss, d, lambda));
      }
    }
  }
}

TEST(Judge, agrees_for_every_loss_under_shift_and_views) {
  for (const std::string& loss : losses()) {
    for (const double lambda : {0.3, 0.01}) {
      Data data = make_data(loss, 12, 3, 3, lambda, Weights::none, 6);
      add_views(data, 2, 1.5);
      expect_judged(data, fmt::format("{} views lambda={}", loss, lambda));
    }
  }
}

TEST(Judge, zero_one_of_two_classes_agrees_with_the_binary_program) {
  // By hand: u = T_1 - T_0 with T_0 = -T_1 = -u/2, f = r u'z, s = +-1 for the label: the game's
  // value less the label's potential is max(0, (1 - s f)/2, -s f), and lambda ||T||^2 = lambda/2
  // ||u||^2. As a program: min 1/m sum w t_i + lambda/2 ||u||^2, t_i >= each of the three.
  for (const double lambda : {0.2, 0.01}) {
    Data data = make_data("zero-one", 15, 3, 2, lambda, Weights::none, 8);
    add_views(data, 1, 1);
    const Eigen::Index n = 4;
    const auto m = static_cast<Eigen::Index>(data.m);
    RealMatrix p = RealMatrix::Zero(n + m, n + m);
    p.diagonal().head(n).setConstant(lambda);
    RealVector c = RealVector::Zero(n + m);
    RealMatrix g = RealMatrix::Zero(3 * m, n + m);
    RealVector h = RealVector::Zero(3 * m);
    for (Eigen::Index i = 0; i < m; ++i) {
      c[n + i] = std::exp(static_cast<Real>(data.log_w[i])) / static_cast<Real>(m);
      const Real r = std::exp(static_cast<Real>(data.log_r[i]));
      const Real sign = data.y[i] == 1 ? 1 : -1;
      for (Eigen::Index j = 0; j < n; ++j) {
        const Real z = r * (j < 3 ? data.x[i * 3 + j] : 1);
        g(3 * i + 1, j) = -sign * z / 2;
        g(3 * i + 2, j) = -sign * z;
      }
      for (Eigen::Index row = 0; row < 3; ++row) g(3 * i + row, n + i) = -1;
      h[3 * i + 1] = -0.5L;
    }
    const RealVector x = quadratic_program(p, c, g, h, RealMatrix(0, n + m), RealVector(0));
    const Real optimum = x.dot(p * x) / 2 + c.dot(x);
    const Solution s = solve(data.problem(), with(Solver::automatic, 1e-10));
    expect_solved(s, "binary", 1e-10);
    EXPECT_NEAR(s.objective, static_cast<double>(optimum), 1e-9);
    for (Eigen::Index j = 0; j < n; ++j) {
      EXPECT_NEAR(s.weights[2 * j + 1] - s.weights[2 * j], static_cast<double>(x[j]), 1e-4);
      EXPECT_NEAR(s.weights[2 * j + 1] + s.weights[2 * j], 0, 1e-9);
    }
  }
}

}  // namespace
}  // namespace covshift
