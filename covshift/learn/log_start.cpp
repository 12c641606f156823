#include <algorithm>
#include <array>
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

/// Where weights or scales differ by orders of magnitude, the optimum of log loss hangs on other
/// examples than the game's, and to start from it takes more steps than to start from nothing.
bool even(const Examples& e) {
  std::array<double, 3> sums{0, 0, static_cast<double>(e.size())};
  std::array<double, 2> largest{};
  for (std::size_t i = 0; i < e.size(); ++i) {
    const std::array<double, 2> own{e.c()[i], e.r(i)};
    for (std::size_t j = 0; j < own.size(); ++j) {
      sums[j] += own[j];
      largest[j] = std::max(largest[j], own[j]);
    }
  }
  e.reducer().sum(sums);
  e.reducer().max(largest);
  return largest[0] * sums[2] <= 10 * sums[0] && largest[1] * sums[2] <= 10 * sums[1];
}

}  // namespace

std::optional<RowMatrix> log_start(const Examples& e, const SolveOptions& options,
                                   std::span<double> q) {
  if (e.game().smooth() || !even(e)) return {};
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
