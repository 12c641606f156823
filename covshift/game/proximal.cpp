// The proximal step of games without a closed form, by the interior point method of barrier.hpp.
#include <Eigen/QR>
#include <algorithm>
#include <limits>
#include <numeric>
#include <vector>

#include "covshift/base/row_matrix.hpp"
#include "covshift/game/barrier.hpp"
#include "covshift/game/matrix_game.hpp"
#include "covshift/game/scratch.hpp"

namespace covshift {
namespace {

/// The proximal problem, scaled: costs c = (C - least) / range, potentials b / range (largest 0),
/// beta / range.
struct Scaled {
  std::vector<double> c;  // actions x labels
  std::vector<double> b;
  double beta;
};

/// The players, restricted to the labels and actions played.
struct Played {
  Eigen::VectorXd q, p;
  double v = 0;
  double nu = 0;
};

/// Solves the equations of polish() for the labels and actions played, from a nearby point.
void solve_played(const Eigen::MatrixXd& c, const Eigen::VectorXd& b, double beta, Played& x) {
  const Eigen::Index n = c.cols();
  const Eigen::Index m = c.rows();
  // Unknowns: q, p / beta, v / beta, nu; with these units the matrix does not depend on beta.
  Eigen::MatrixXd matrix = Eigen::MatrixXd::Zero(n + m + 2, n + m + 2);
  matrix.topLeftCorner(n, n).setIdentity();
  matrix.block(0, n, n, m) = -c.transpose();
  matrix.block(n, 0, m, n) = -c;
  matrix.block(0, n + m, n, 1).setOnes();
  matrix.block(n + m, 0, 1, n).setOnes();
  matrix.block(n, n + m + 1, m, 1).setOnes();
  matrix.block(n + m + 1, n, 1, m).setOnes();
  const Eigen::CompleteOrthogonalDecomposition<Eigen::MatrixXd> solver(matrix);
  for (int pass = 0; pass < 3; ++pass) {  // the first solves, the others refine
    Eigen::VectorXd right(n + m + 2);
    right.head(n) =
        (b + c.transpose() * x.p - Eigen::VectorXd::Constant(n, x.v) - beta * x.q) / beta;
    right.segment(n, m) = c * x.q - Eigen::VectorXd::Constant(m, x.nu);
    right[n + m] = 1 - x.q.sum();
    right[n + m + 1] = (1 - x.p.sum()) / beta;
    const Eigen::VectorXd by = solver.solve(right);
    x.q += by.head(n);
    x.p += beta * by.segment(n, m);
    x.v += beta * by[n + m];
    x.nu += by[n + m + 1];
  }
}

/// Turns a point near the optimum into the optimum: guesses which labels and actions are played,
/// solves the optimality conditions as equations,
///     beta q_y = b_y + c_y'p - v  (labels played),   c_a q = nu  (actions played),   1'q = 1'p =
///     1,
/// and corrects the guess where an inequality fails. Without it, interior points reach only the
/// square root of the rounding error at ties between played and unplayed labels or actions, which
/// are common. The minimum-norm correction is used: q is unique, p need not be.
bool polish(const Scaled& problem, const BarrierState& x, double range, std::span<double> q) {
  const auto labels = static_cast<Eigen::Index>(x.q.size());
  const auto actions = static_cast<Eigen::Index>(x.p.size());
  const double beta = problem.beta;
  const double scale = std::max(1.0, beta);
  const Eigen::Map<const RowMatrix> c(problem.c.data(), actions, labels);
  const Eigen::Map<const Eigen::VectorXd> b(problem.b.data(), labels);
  std::vector<char> label_in(x.q.size());
  std::vector<char> action_in(x.p.size());
  for (std::size_t y = 0; y < x.q.size(); ++y) label_in[y] = x.q[y] * scale > x.s[y] / range;
  for (std::size_t a = 0; a < x.p.size(); ++a) action_in[a] = x.p[a] > x.pi[a] / range;
  constexpr double tolerance = 2e-14;
  for (int round = 0; round < 6; ++round) {
    std::vector<Eigen::Index> ys;
    std::vector<Eigen::Index> as;
    for (Eigen::Index y = 0; y < labels; ++y) {
      if (label_in[y]) ys.push_back(y);
    }
    for (Eigen::Index a = 0; a < actions; ++a) {
      if (action_in[a]) as.push_back(a);
    }
    if (ys.empty() || as.empty()) return false;
    const auto n = static_cast<Eigen::Index>(ys.size());
    const auto m = static_cast<Eigen::Index>(as.size());
    Played played{Eigen::Map<const Eigen::VectorXd>(x.q.data(), labels)(ys),
                  Eigen::Map<const Eigen::VectorXd>(x.p.data(), actions)(as)};
    solve_played(c(as, ys), b(ys), beta, played);
    const auto& [qs, ps, v, nu] = played;
    // The conditions of all labels and actions, also of those not played.
    const Eigen::VectorXd slack =
        Eigen::VectorXd::Constant(labels, v) - b - c(as, Eigen::all).transpose() * ps;
    const Eigen::VectorXd excess = c(Eigen::all, ys) * qs - Eigen::VectorXd::Constant(actions, nu);
    bool solved = std::abs(qs.sum() - 1) < 1e-12 && std::abs(ps.sum() - 1) < 1e-12;
    bool optimal = true;
    const auto change = [&](char& in, bool to) {
      in = to ? 1 : 0;
      optimal = false;
    };
    for (Eigen::Index i = 0; i < n; ++i) {
      solved = solved && std::abs(slack[ys[i]] + beta * qs[i]) < tolerance * scale;
      if (qs[i] < -tolerance) change(label_in[ys[i]], false);
    }
    for (Eigen::Index i = 0; i < m; ++i) {
      solved = solved && std::abs(excess[as[i]]) < tolerance;
      if (ps[i] < -tolerance) change(action_in[as[i]], false);
    }
    for (Eigen::Index y = 0; y < labels; ++y) {
      if (!label_in[y] && slack[y] < -tolerance * scale) change(label_in[y], true);
    }
    for (Eigen::Index a = 0; a < actions; ++a) {
      if (!action_in[a] && excess[a] < -tolerance) change(action_in[a], true);
    }
    if (optimal) {
      if (!solved) return false;
      std::fill(q.begin(), q.end(), 0.0);
      double total = 0;
      for (Eigen::Index i = 0; i < n; ++i) total += q[ys[i]] = std::max(0.0, qs[i]);
      for (double& share : q) share /= total;
      return true;
    }
  }
  return false;
}

/// The smallest of the products whose mean is tau; if far below, the next step will be short.
double least_product(const BarrierState& x) {
  double least = std::numeric_limits<double>::infinity();
  for (std::size_t y = 0; y < x.q.size(); ++y) least = std::min(least, x.q[y] * x.s[y]);
  for (std::size_t a = 0; a < x.p.size(); ++a) least = std::min(least, x.p[a] * x.pi[a]);
  return least;
}

/// With a single action H is linear, and the step is a projection.
void linear_proximal(const Game& game, std::span<const double> b, double beta, int label,
                     std::span<double> q) {
  const double top = b[arg_max(b)];
  for (std::size_t y = 0; y < q.size(); ++y) {
    const double cost = game.label_costs() ? (static_cast<int>(y) == label ? 0 : 1)
                                           : (*game.costs())(0, static_cast<int>(y));
    q[y] = b[y] - top + cost;
  }
  const double best = q[arg_max(q)];
  // beta 0 (an example without features) has many solutions; take the limit beta -> 0.
  for (double& x : q) x = (x - best) / std::max(beta, std::numeric_limits<double>::min());
  project_to_simplex(q);
}

}  // namespace

void barrier_proximal(const Game& game, std::span<const double> b, double beta, int label,
                      std::span<double> q) {
  if (game.label_costs() || game.actions() == 1) return linear_proximal(game, b, beta, label, q);
  const double top = b[arg_max(b)];
  const CostMatrix& costs = *game.costs();
  const auto [least, most] = std::minmax_element(costs.cost.begin(), costs.cost.end());
  const double range = *most > *least ? *most - *least : 1;
  Scaled problem{costs.cost, {b.begin(), b.end()}, std::max(beta / range, 1e-13)};
  for (double& x : problem.c) x = (x - *least) / range;
  // Labels further below the top are never played.
  for (double& x : problem.b) x = std::max((x - top) / range, -2 - 2 * problem.beta);
  beta = problem.beta * range;
  const double scale = std::max(range, beta);

  BarrierBlock block(game);
  Scratch<double> factors(block.factor_size());
  Scratch<double> memory(block.state_size());
  Scratch<double> memory_d(block.state_size());
  Scratch<double> memory_a(block.state_size());
  Scratch<double> psi(b.size());
  block.start(label, block.range(), memory.data());
  std::fill(memory_d.begin(), memory_d.end(), 0.0);
  std::fill(memory_a.begin(), memory_a.end(), 0.0);
  BarrierState x = block.map(memory.data());
  BarrierState d = block.map(memory_d.data());
  BarrierState affine = block.map(memory_a.data());
  // start() is for psi = 0; adjust the slacks to these potentials.
  x.v += beta;
  for (std::size_t y = 0; y < b.size(); ++y) {
    x.s[y] += beta - (problem.b[y] * range - beta * x.q[y]);
  }
  const auto pairs = static_cast<double>(x.q.size() + x.p.size());
  double best = std::numeric_limits<double>::infinity();
  int since_best = 0;
  bool cautious = false;
  for (int iteration = 0; iteration < 100 && since_best < 10; ++iteration) {
    const double tau = complementarity(x) / pairs;
    ++since_best;
    if (tau < best) {  // kept in case polish() never succeeds
      if (tau < 0.9 * best) since_best = 0;
      best = tau;
      const double total = std::accumulate(x.q.begin(), x.q.end(), 0.0);
      for (std::size_t y = 0; y < q.size(); ++y) q[y] = x.q[y] / total;
    }
    if (tau < 1e-16 * scale) break;
    if (tau < 1e-4 * scale && polish(problem, x, range, q)) return;
    for (std::size_t y = 0; y < b.size(); ++y) psi[y] = problem.b[y] * range - beta * x.q[y];
    block.factor(x, label, beta, factors.data());
    block.aim(x, {psi.data(), b.size()}, 0, nullptr);
    block.step(x, {}, affine);
    // Mehrotra's predictor-corrector: the affine step determines the centring.
    const double reach = std::min(1.0, longest_step(x, affine));
    double after = 0;
    for (std::size_t y = 0; y < x.q.size(); ++y) {
      after += (x.q[y] + reach * affine.q[y]) * (x.s[y] + reach * affine.s[y]);
    }
    for (std::size_t a = 0; a < x.p.size(); ++a) {
      after += (x.p[a] + reach * affine.p[a]) * (x.pi[a] + reach * affine.pi[a]);
    }
    const double ratio = std::min(1.0, after / pairs / tau);  // above 1: rounding
    cautious = cautious || since_best > 0;
    if (cautious) {  // the second-order term can cycle; plain centring does not
      const double centring = least_product(x) < 0.01 * tau ? 0.9 : 0.1;
      block.aim(x, {psi.data(), b.size()}, tau * centring, nullptr);
    } else {
      block.aim(x, {psi.data(), b.size()}, tau * ratio * ratio * ratio, &affine);
    }
    block.step(x, {}, d);
    advance(x, d, std::min(1.0, (cautious ? 0.9 : 0.995) * longest_step(x, d)));
  }
}

}  // namespace covshift
