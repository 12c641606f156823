// Closed forms against the linear program and the definition of an equilibrium.
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "covshift/game/linear_program.hpp"
#include "tests/game/support.hpp"

namespace covshift {
namespace {

using namespace covshift::testing;

void agree_with_program(const Game& game, const std::vector<double>& psi) {
  const Moves m = moves(game, psi);
  GameProgram program(*game.costs());
  Moves judge = m;
  judge.value = program.solve(psi, judge.p, judge.q);
  const double scale = std::max(std::abs(m.value), cost_range(game));
  require(std::abs(m.value - judge.value) <= 1e-9 * scale,
          "{} of {}: closed form {}, program {}, difference {}", game.name(), psi, m.value,
          judge.value, m.value - judge.value);
  require_equilibrium(game, psi, judge, 1e-9 * cost_range(game) + 1e-14 * scale_of(game, psi));
}

void be_an_equilibrium(const Game& game, const std::vector<double>& psi) {
  const double tolerance = is_program(game) ? 1e-9 : 1e-13;
  require_equilibrium(game, psi, moves(game, psi),
                      tolerance * cost_range(game) + 4e-15 * scale_of(game, psi));
}

void both(const std::string& loss) {
  const auto game = make_game(loss, pick(2, 50));
  const auto psi = pick_potentials(game->labels(), cost_range(*game));
  agree_with_program(*game, psi);
  be_an_equilibrium(*game, psi);
}

RC_GTEST_PROP(ClosedForm, ZeroOne, ()) { both("zero-one"); }
RC_GTEST_PROP(ClosedForm, Absolute, ()) { both("absolute"); }
RC_GTEST_PROP(ClosedForm, Squared, ()) { both("squared"); }
RC_GTEST_PROP(ClosedForm, AbstainAtNoCost, ()) { both("abstain:0"); }
RC_GTEST_PROP(ClosedForm, AbstainBelowOneHalf, ()) {
  both(fmt::format("abstain:{}", pick(1, 499) / 1000.0));
}
RC_GTEST_PROP(ClosedForm, AbstainAtOneHalf, ()) { both("abstain:0.5"); }
RC_GTEST_PROP(ClosedForm, AbstainTooExpensiveIsZeroOne, ()) {
  const int k = pick(3, 50);  // with two labels and a cost of 1/2 it is a tie
  const double never = 1 - 1.0 / k;
  const double cost = pick(0, 2) == 0 ? never : never + (1 - never) * pick(0, 1000) / 1000;
  const auto game = abstain_game(k, cost);
  const auto psi = pick_potentials(k);
  agree_with_program(*game, psi);
  be_an_equilibrium(*game, psi);
  const auto plain = zero_one_game(k);
  require(value_of(*game, psi) == value_of(*plain, psi),
          "abstain:{} with {} labels is not zero-one", cost, k);
  Moves m = moves(*game, psi);
  const Moves expected = moves(*plain, psi);
  require(m.p.back() == 0, "abstains although it never pays");
  m.p.pop_back();
  RC_ASSERT(m.p == expected.p);
  RC_ASSERT(m.q == expected.q);
}

/// Abstaining with probability 1 - s leaves s to be taken off the largest potentials, which lowers
/// them to the level L(s) at a slope of 1/(their number):  V = min_s a + (1 - a) s + L(s), and the
/// number may grow up to 1/(1 - a). Independent of the library's derivation; for every cost.
double abstain_by_level(std::vector<double> psi, double cost) {
  std::sort(psi.begin(), psi.end(), std::greater<>());
  const double top = psi[0];
  double left = 1;   // of s
  double level = 0;  // relative to the top
  for (std::size_t n = 1;; ++n) {
    if (static_cast<double>(n) * (1 - cost) > 1) break;
    const double next = n < psi.size() ? psi[n] - top : -1e300;
    const double room = (level - next) * static_cast<double>(n);
    if (room >= left) {
      level -= left / static_cast<double>(n);
      left = 0;
      break;
    }
    level = next;
    left -= room;
  }
  return top + (cost + (1 - cost) * (1 - left) + level);
}

RC_GTEST_PROP(ClosedForm, AbstainAtAnyCostByLevels, ()) {
  const int k = pick(2, 50);
  const double cost = pick(0, 1000) / 1000.0;
  const auto game = abstain_game(k, cost);
  const auto psi = pick_potentials(k);
  const double expected = abstain_by_level(psi, cost);
  const double value = value_of(*game, psi);
  require(std::abs(value - expected) <= 1e-9 * std::max(1.0, std::abs(value)),
          "abstain:{} of {}: {} but by levels {}", cost, psi, value, expected);
}

RC_GTEST_PROP(ClosedForm, AbstainAboveOneHalf, ()) {
  const int k = pick(3, 50);
  const double cost = 0.5 + (0.5 - 1.0 / k) * pick(1, 99) / 100.0;
  const auto game = abstain_game(k, cost);
  const auto psi = pick_potentials(k);
  agree_with_program(*game, psi);
  be_an_equilibrium(*game, psi);
  // More actions only help the predictor; abstaining always is one of them.
  const double top = *std::max_element(psi.begin(), psi.end());
  const double slack = 1e-9 + 1e-14 * std::abs(top);
  require(value_of(*game, psi) <= value_of(*zero_one_game(k), psi) + slack, "worse than zero-one");
  require(value_of(*game, psi) <= top + cost + slack, "worse than always abstaining");
}

RC_GTEST_PROP(ClosedForm, ZeroOneOfTwoLabels, ()) {
  const auto psi = pick_potentials(2);
  // Pure labels, or both evenly where the predictor errs half the time.
  const double expected = std::max({psi[0], psi[1], (psi[0] + psi[1] + 1) / 2});
  const double value = value_of(*zero_one_game(2), psi);
  require(std::abs(value - expected) <= 2e-15 * std::max(1.0, max_abs(psi)),
          "zero-one of {}: {}, not {}", psi, value, expected);
}

RC_GTEST_PROP(ClosedForm, ZeroOneIsTheBestPrefix, ()) {
  // The formula, evaluated literally.
  const int k = pick(2, 50);
  auto psi = pick_potentials(k);
  const double value = value_of(*zero_one_game(k), psi);
  std::sort(psi.begin(), psi.end(), std::greater<>());
  long double sum = 0;
  long double best = -1e300L;
  for (int n = 1; n <= k; ++n) {
    sum += static_cast<long double>(psi[n - 1]);
    best = std::max(best, (sum + n - 1) / n);
  }
  require(std::abs(value - static_cast<double>(best)) <= 2e-15 * std::max(1.0, max_abs(psi)),
          "zero-one of {}: {}, not {}", psi, value, static_cast<double>(best));
}

TEST(ClosedForm, ValuesComputedByHand) {
  // Three equal labels: the predictor guesses, right once in three.
  EXPECT_NEAR(value_of(*zero_one_game(3), {0, 0, 0}), 2.0 / 3, 1e-15);
  // A lead of 1 is enough to be named.
  EXPECT_EQ(value_of(*zero_one_game(3), {1, 0, 0}), 1);
  EXPECT_EQ(moves(*zero_one_game(3), {1, 0, 0}).p, (std::vector<double>{1, 0, 0}));
  // Just short of that lead the second label joins.
  EXPECT_NEAR(value_of(*zero_one_game(2), {0, -1 + 1e-8}) / 5e-9, 1, 1e-7);
  EXPECT_EQ(moves(*zero_one_game(2), {0, -1 + 1e-8}).q, (std::vector<double>{0.5, 0.5}));
  // The adversary mixes the ends, the predictor sits in the middle.
  EXPECT_EQ(value_of(*absolute_game(5), {0, 0, 0, 0, 0}), 2);
  EXPECT_EQ(moves(*absolute_game(5), {0, 0, 0, 0, 0}).p, (std::vector<double>{0, 0, 1, 0, 0}));
  EXPECT_EQ(value_of(*squared_game(5), {0, 0, 0, 0, 0}), 4);
  // An even number of labels: the middle is between two actions.
  EXPECT_EQ(value_of(*absolute_game(4), {0, 0, 0, 0}), 1.5);
  EXPECT_EQ(value_of(*squared_game(4), {0, 0, 0, 0}), 2.5);
  EXPECT_EQ(moves(*squared_game(4), {0, 0, 0, 0}).p, (std::vector<double>{0, 0.5, 0.5, 0}));
  // Nothing known: abstain.
  EXPECT_EQ(value_of(*abstain_game(3, 0.25), {0, 0, 0}), 0.25);
  EXPECT_EQ(moves(*abstain_game(3, 0.25), {0, 0, 0}).p, (std::vector<double>{0, 0, 0, 1}));
  EXPECT_EQ(moves(*abstain_game(3, 0.25), {0.5, 0, 0}).p, (std::vector<double>{0.5, 0, 0, 0.5}));
  // Crammer-Singer: margin met, margin missed.
  EXPECT_EQ(value_of(*hinge_game(3), {2, 0, 1}, 0), 2);
  EXPECT_EQ(value_of(*hinge_game(3), {2, 0, 1.5}, 0), 2.5);
  EXPECT_EQ(value_of(*hinge_game(3), {2, 0, 1.5}, 1), 3);
}

}  // namespace
}  // namespace covshift
