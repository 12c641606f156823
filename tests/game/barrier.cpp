// One example's part of an interior-point step solves its equations.
#include "covshift/game/barrier.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "tests/game/support.hpp"

namespace covshift {
namespace {

using namespace covshift::testing;

std::unique_ptr<Game> pick_game() {
  const int which = pick(0, 9);
  if (which == 0) {
    CostMatrix costs = pick_costs();
    const double unit = spread(costs);
    for (double& c : costs.cost) c /= unit;
    return cost_game(costs);
  }
  const int k = pick(2, 8);
  return which == 1 ? hinge_game(k) : which == 2 ? log_game(k) : make_game(pick_loss(k), k);
}

/// A Newton step solves all linearised conditions.
RC_GTEST_PROP(Barrier, StepSolvesItsEquations, ()) {
  const auto game = pick_game();
  const int k = game->labels();
  const int label = pick(0, k - 1);
  const double unit = cost_range(*game);
  BarrierBlock block(*game);
  std::vector<double> memory(block.state_size(), 1.0);
  std::vector<double> memory_d(block.state_size(), 0.0);
  for (double& x : memory) x = std::exp(3 * pick_unit());
  BarrierState x = block.map(memory.data());
  BarrierState d = block.map(memory_d.data());
  for (double& s : x.s) s *= unit;
  for (double& s : x.pi) s *= unit;
  const double beta = pick(0, 1) == 0 ? 0 : unit * std::pow(10.0, pick(-2, 2));
  const double tau = unit * pick(0, 3);
  std::vector<double> psi(k);
  std::vector<double> dpsi(k);
  for (double& v : psi) v = unit * pick_unit();
  for (double& v : dpsi) v = unit * pick_unit();
  std::vector<double> factors(block.factor_size());
  block.factor(x, label, beta, factors.data());
  block.aim(x, psi, tau, nullptr);
  block.step(x, dpsi, d);
  const int actions = static_cast<int>(x.p.size());
  const auto cost = [&](int a, int y) {
    return game->label_costs() ? (y == label ? 0.0 : 1.0) : (*game->costs())(a, y);
  };
  double largest = max_abs(memory_d) + max_abs(memory) + unit;
  if (game->costs()) largest = std::max(largest, largest * max_abs(game->costs()->cost));
  const double tolerance = 1e-10 * std::max(largest, largest * beta);
  const auto zero = [&](double residual, const char* what) {
    require(std::abs(residual) <= tolerance, "{}, beta {}: {} is off by {}", game->name(), beta,
            what, residual);
  };
  double sum_q = -1;
  double sum_p = actions > 0 ? -1 : 0;
  for (int y = 0; y < k; ++y) {
    double paid = 0;
    if (game->smooth()) {
      paid = -std::log(x.q[y]) - d.q[y] / x.q[y];
    } else if (actions == 0) {
      paid = cost(0, y);
    }
    for (int a = 0; a < actions; ++a) paid += (x.p[a] + d.p[a]) * cost(a, y);
    zero(x.v + d.v - paid - psi[y] - dpsi[y] + beta * d.q[y] - x.s[y] - d.s[y], "a label's slack");
    zero(x.q[y] * x.s[y] + x.q[y] * d.s[y] + d.q[y] * x.s[y] - tau, "a label's product");
    sum_q += x.q[y] + d.q[y];
  }
  for (int a = 0; a < actions; ++a) {
    double risk = 0;
    for (int y = 0; y < k; ++y) risk += (x.q[y] + d.q[y]) * cost(a, y);
    zero(risk - x.nu - d.nu - x.pi[a] - d.pi[a], "an action's slack");
    zero(x.p[a] * x.pi[a] + x.p[a] * d.pi[a] + d.p[a] * x.pi[a] - tau, "an action's product");
    sum_p += x.p[a] + d.p[a];
  }
  zero(sum_q, "the sum of q");
  zero(sum_p, "the sum of p");
  // response(): the same step without dpsi, plus B dpsi; B symmetric with rows that sum to 0.
  std::vector<double> response(static_cast<std::size_t>(k) * k);
  block.response(response);
  const double most = max_abs(response);
  std::vector<double> still(k);
  block.answer({}, still);
  for (int y = 0; y < k; ++y) {
    double row = 0;
    double moved = still[y];
    for (int z = 0; z < k; ++z) {
      row += response[y * k + z];
      moved += response[y * k + z] * dpsi[z];
      zero((response[y * k + z] - response[z * k + y]) / most, "B's symmetry");
    }
    zero(row / most, "a row sum of B");
    zero((moved - d.q[y]) / (1 + most * unit), "B dpsi");
  }
}

}  // namespace
}  // namespace covshift
