#include <algorithm>
#include <cmath>

#include "covshift/learn/solvers.hpp"

namespace covshift {
namespace {

/// About the scale at which F(scale T) is least: where its derivative, which never falls, changes
/// sign, to a tenth or so.
double best_scale(const Examples& e, const RowMatrix& t) {
  RowMatrix a;
  const auto slope = [&](double scale) {
    e.pass(scale * t, a);
    return (scale * (e.ridge().asDiagonal() * t) - a).cwiseProduct(t).sum();
  };
  double scale = 0.5;
  const double factor = slope(scale) < 0 ? 2 : 0.5;
  for (int trial = 0; trial < 20; ++trial) {
    scale *= factor;
    if ((slope(scale) < 0) != (factor > 1)) break;
  }
  // Between the last two; halved on a logarithmic scale.
  double low = factor > 1 ? scale / 2 : scale;
  double high = 2 * low;
  while (high > 1.2 * low) {
    scale = std::sqrt(low * high);
    (slope(scale) < 0 ? low : high) = scale;
  }
  return std::sqrt(low * high);
}

}  // namespace

std::optional<RowMatrix> log_start(const Examples& e, const SolveOptions& options,
                                   std::span<double> q) {
  const auto game = log_game(e.labels());
  Problem problem = e.problem();
  problem.game = game.get();
  const Examples log(problem, e.threads(), options.reducer);
  SolveOptions rough = options;
  rough.tolerance = std::max(1e-2, options.tolerance);
  rough.max_iterations = 12;
  rough.time_limit /= 4;
  rough.observer = nullptr;
  const Solution found = solve_newton(log, rough);
  if (found.status != Status::converged) return {};
  RowMatrix t = Eigen::Map<const RowMatrix>(found.weights.data(), e.dims(), e.labels());
  if (t.isZero(0)) return {};
  RowMatrix a;
  log.pass(t, a, nullptr, keep_rows(e.labels(), nullptr, q.data()));
  t *= best_scale(e, t);
  return t;
}

}  // namespace covshift
