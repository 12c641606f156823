// Games solved by linear programs: any cost matrix, repeated solves, several threads.
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <thread>

#include "covshift/game/linear_program.hpp"
#include "tests/game/support.hpp"

namespace covshift {
namespace {

using namespace covshift::testing;

double tolerance_of(const Game& game, const std::vector<double>& psi) {
  return 1e-9 * cost_range(game) + 1e-14 * scale_of(game, psi);
}

RC_GTEST_PROP(CostMatrix, AnyShapeAndScaleReachesAnEquilibrium, ()) {
  const CostMatrix costs = pick_costs();
  const auto game = cost_game(costs);
  const auto psi = pick(0, 1) == 0 ? pick_potentials(costs.labels, spread(costs))
                                   : pick_potentials(costs.labels);
  require_equilibrium(*game, psi, moves(*game, psi), 2 * tolerance_of(*game, psi));
}

RC_GTEST_PROP(CostMatrix, ZeroOneCostsAgreeWithTheClosedForm, ()) {
  const int k = pick(2, 50);
  const auto closed = zero_one_game(k);
  CostMatrix costs{k, k, std::vector<double>(static_cast<std::size_t>(k) * k, 1.0)};
  for (int y = 0; y < k; ++y) costs.cost[static_cast<std::size_t>(y) * (k + 1)] = 0;
  const auto game = cost_game(costs);
  const auto psi = pick_potentials(k);
  const double value = value_of(*game, psi);
  const double expected = value_of(*closed, psi);
  require(std::abs(value - expected) <= 1e-9 * std::max(1.0, std::abs(expected)),
          "1 - I of {}: {}, not {}", psi, value, expected);
  const auto q = pick_distribution(k);
  RC_ASSERT(std::abs(game->bayes_risk(q, 0) - closed->bayes_risk(q, 0)) <= 1e-14);
}

RC_GTEST_PROP(CostMatrix, WithOneActionPaysTheBestLabel, ()) {
  const int k = pick(2, 12);
  CostMatrix costs{1, k, {}};
  for (int y = 0; y < k; ++y) costs.cost.push_back(pick_unit());
  const auto game = cost_game(costs);
  const auto psi = pick_potentials(k);
  double best = -1e300;
  for (int y = 0; y < k; ++y) best = std::max(best, costs(0, y) + psi[y]);
  const Moves m = moves(*game, psi);
  require(std::abs(m.value - best) <= tolerance_of(*game, psi), "{} of {}: {}, not {}", costs.cost,
          psi, m.value, best);
  RC_ASSERT(m.p == std::vector<double>{1});
}

RC_GTEST_PROP(CostMatrix, RepeatedRowsAndColumnsChangeNothing, ()) {
  const CostMatrix costs = pick_costs();
  auto psi = pick_potentials(costs.labels, spread(costs));
  const auto game = cost_game(costs);
  const double value = value_of(*game, psi);
  const double tolerance = 2 * tolerance_of(*game, psi);
  CostMatrix taller = costs;
  taller.actions += 1;
  const int row = pick(0, costs.actions - 1);
  for (int y = 0; y < costs.labels; ++y) taller.cost.push_back(costs(row, y));
  RC_ASSERT(std::abs(value_of(*cost_game(taller), psi) - value) <= tolerance);
  CostMatrix wider{costs.actions, costs.labels + 1, {}};
  const int column = pick(0, costs.labels - 1);
  for (int a = 0; a < costs.actions; ++a) {
    for (int y = 0; y < costs.labels; ++y) wider.cost.push_back(costs(a, y));
    wider.cost.push_back(costs(a, column));
  }
  psi.push_back(psi[column]);
  RC_ASSERT(std::abs(value_of(*cost_game(wider), psi) - value) <= tolerance);
}

RC_GTEST_PROP(CostMatrix, ValueScalesAndShiftsWithTheCosts, ()) {
  // V of u C + c at u psi is u V of C at psi, plus c.
  const CostMatrix costs = pick_costs();
  const double unit = spread(costs);
  const auto psi = pick_potentials(costs.labels, unit);
  const auto game = cost_game(costs);
  const double by = std::pow(10.0, pick(-3, 3));
  const double shift = unit * by * pick_unit() * 3;
  CostMatrix other = costs;
  for (double& c : other.cost) c = by * c + shift;
  auto scaled = psi;
  for (double& x : scaled) x *= by;
  const auto changed = cost_game(other);
  const double expected = by * value_of(*game, psi) + shift;
  const double value = value_of(*changed, scaled);
  require(std::abs(value - expected) <=
              2 * tolerance_of(*changed, scaled) + 2 * by * tolerance_of(*game, psi),
          "costs {} times {} plus {}: {}, not {}", costs.cost, by, shift, value, expected);
}

RC_GTEST_PROP(CostMatrix, MoreActionsDoNotRaiseTheValue, ()) {
  CostMatrix costs = pick_costs();
  const auto psi = pick_potentials(costs.labels, spread(costs));
  const auto game = cost_game(costs);
  const double before = value_of(*game, psi);
  for (int y = 0; y < costs.labels; ++y) costs.cost.push_back(spread(costs) * pick_unit());
  costs.actions += 1;
  const auto more = cost_game(costs);
  require(
      value_of(*more, psi) <= before + 2 * tolerance_of(*more, psi) + 2 * tolerance_of(*game, psi),
      "one more action raised the value from {}", before);
}

RC_GTEST_PROP(Program, ValueDoesNotDependOnEarlierSolves, ()) {
  const CostMatrix costs = pick_costs();
  GameProgram used(costs);
  std::vector<double> p(costs.actions);
  std::vector<double> q(costs.labels);
  for (int i = 0; i < 5; ++i) used.solve(pick_potentials(costs.labels, spread(costs)), p, q);
  const auto psi = pick_potentials(costs.labels, spread(costs));
  const double warm = used.solve(psi, p, q);
  GameProgram fresh(costs);
  const double cold = fresh.solve(psi, p, q);
  require(std::abs(warm - cold) <=
              2e-9 * spread(costs) + 1e-14 * std::max(max_abs(psi), max_abs(costs.cost)),
          "warm {}, cold {} for {}", warm, cold, psi);
}

TEST(Program, RecoversAfterNonFinitePotentials) {
  const auto game = zero_one_game(3);
  GameProgram program(*game->costs());
  std::vector<double> p(3);
  std::vector<double> q(3);
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const double inf = std::numeric_limits<double>::infinity();
  EXPECT_THROW(program.solve(std::vector<double>{0, nan, 0}, p, q), Error);
  EXPECT_THROW(program.solve(std::vector<double>{0, inf, 0}, p, q), Error);
  EXPECT_NEAR(program.solve(std::vector<double>{0, 0, 0}, p, q), 2.0 / 3, 1e-12);
  // Minus infinity excludes a label.
  EXPECT_NEAR(program.solve(std::vector<double>{0, -inf, 0}, p, q), 0.5, 1e-12);
  EXPECT_EQ(q[1], 0);
}

TEST(CostMatrix, GameIsThreadSafe) {
  std::mt19937_64 random(7);
  std::uniform_real_distribution<double> unit(-1, 1);
  constexpr int k = 6;
  constexpr int n = 200;
  constexpr int threads = 4;
  CostMatrix costs{8, k, {}};
  for (int i = 0; i < 8 * k; ++i) costs.cost.push_back(unit(random));
  const auto game = cost_game(costs);
  std::vector<double> psi(n * k);
  for (double& x : psi) x = unit(random);
  std::vector<double> expected(n);
  std::vector<double> q(n * k);
  cost_game(costs)->play(n, psi.data(), nullptr, expected.data(), q.data());
  std::vector<std::vector<double>> values(threads, std::vector<double>(n));
  std::vector<std::vector<double>> adversaries(threads, q);
  std::vector<std::vector<double>> predictors(threads, std::vector<double>(8));
  {
    std::vector<std::jthread> team;
    for (int t = 0; t < threads; ++t) {
      team.emplace_back([&, t] {
        for (int i = 0; i < n; i += 10) {  // in a different order per thread
          const int row = (i + t * 50) % n;
          game->play(10, psi.data() + row * k, nullptr, values[t].data() + row,
                     adversaries[t].data() + row * k);
          game->predict({psi.data() + row * k, k}, predictors[t]);
        }
      });
    }
  }
  for (int t = 0; t < threads; ++t) {
    for (int i = 0; i < n; ++i) {
      ASSERT_NEAR(values[t][i], expected[i], 1e-12) << "thread " << t << ", row " << i;
      for (int y = 0; y < k; ++y) {  // random costs: the adversary has one best answer
        ASSERT_NEAR(adversaries[t][i * k + y], q[i * k + y], 1e-9)
            << "thread " << t << ", row " << i;
      }
    }
  }
}

}  // namespace
}  // namespace covshift
