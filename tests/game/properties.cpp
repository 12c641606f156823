// Properties of every game: duality with the Bayes risk, shifts, convexity, subgradients,
// symmetries.
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "tests/game/support.hpp"

namespace covshift {
namespace {

using namespace covshift::testing;

struct Case {
  std::unique_ptr<Game> game;
  std::vector<double> psi;
  int label = 0;
  double tolerance = 0;  // rounding, or the tolerance of linear programs
};

std::string pick_any_loss(int k) {
  const int which = pick(0, 5);
  return which == 0 ? "log" : which == 1 ? "hinge" : pick_loss(k);
}

double rounding(const Game& game, const std::vector<double>& psi) {
  return (is_program(game) ? 2e-9 : 1e-14) * cost_range(game) + 1e-14 * scale_of(game, psi);
}

Case pick_case(int most_labels = 20) {
  const int k = pick(2, most_labels);
  Case c;
  c.game = make_game(pick_any_loss(k), k);
  c.psi = pick_potentials(k, cost_range(*c.game));
  c.label = pick(0, k - 1);
  c.tolerance = rounding(*c.game, c.psi);
  return c;
}

/// psi'q + H(q), relative to the largest potential.
double fenchel(const Game& game, const std::vector<double>& psi, const std::vector<double>& q,
               int label) {
  const double top = *std::max_element(psi.begin(), psi.end());
  double sum = game.bayes_risk(q, label);
  for (std::size_t y = 0; y < q.size(); ++y) sum += q[y] > 0 ? q[y] * (psi[y] - top) : 0;
  return sum;
}

RC_GTEST_PROP(Value, IsTheConjugateOfTheBayesRisk, ()) {
  const Case c = pick_case();
  const Moves m = moves(*c.game, c.psi, c.label);
  require_distribution(m.q, "the adversary");
  require_distribution(m.p, "the predictor");
  const double value = m.value - *std::max_element(c.psi.begin(), c.psi.end());
  const double reached = fenchel(*c.game, c.psi, m.q, c.label);
  require(std::abs(reached - value) <= c.tolerance, "{} of {}: psi'q + H(q) falls short of V by {}",
          c.game->name(), c.psi, value - reached);
  for (int i = 0; i < 10; ++i) {
    const auto q = pick_distribution(c.game->labels());
    const double other = fenchel(*c.game, c.psi, q, c.label);
    require(other <= value + c.tolerance, "{} of {}: q = {} beats the adversary by {}",
            c.game->name(), c.psi, q, other - value);
  }
}

RC_GTEST_PROP(Value, ShiftsWithThePotentials, ()) {
  const Case c = pick_case();
  const double shift = std::pow(10.0, pick(-6, 6)) * pick_unit();
  auto moved = c.psi;
  for (double& x : moved) x += shift;
  const double a = value_of(*c.game, c.psi, c.label) + shift;
  const double b = value_of(*c.game, moved, c.label);
  require(std::abs(a - b) <= c.tolerance + 1e-14 * std::abs(shift), "{} of {} + {}: {}, not {}",
          c.game->name(), c.psi, shift, b, a);
}

RC_GTEST_PROP(Value, IsConvex, ()) {
  const Case c = pick_case();
  auto other = pick_potentials(c.game->labels(), cost_range(*c.game));
  if (pick(0, 1) == 0) {
    for (std::size_t y = 0; y < other.size(); ++y)
      other[y] = c.psi[y] + cost_range(*c.game) * pick_unit();
  }
  const double t = pick(0, 100) / 100.0;
  auto between = other;
  for (std::size_t y = 0; y < other.size(); ++y) between[y] = t * c.psi[y] + (1 - t) * other[y];
  const double above =
      t * value_of(*c.game, c.psi, c.label) + (1 - t) * value_of(*c.game, other, c.label);
  const double value = value_of(*c.game, between, c.label);
  require(value <= above + c.tolerance + rounding(*c.game, other),
          "{} lies {} above its chord from {} to {}", c.game->name(), value - above, c.psi, other);
}

RC_GTEST_PROP(Adversary, IsASubgradient, ()) {
  const Case c = pick_case();
  const Moves m = moves(*c.game, c.psi, c.label);
  for (int i = 0; i < 5; ++i) {
    auto other = c.psi;
    double linear = 0;
    const double step = std::pow(10.0, pick(-4, 2)) * cost_range(*c.game);
    for (std::size_t y = 0; y < other.size(); ++y) {
      other[y] += step * pick_unit();
      linear += m.q[y] * (other[y] - c.psi[y]);
    }
    const double change = value_of(*c.game, other, c.label) - m.value;
    require(change >= linear - c.tolerance - rounding(*c.game, other),
            "{} at {}: towards {} the value changes by {}, q promised at least {}", c.game->name(),
            c.psi, other, change, linear);
  }
}

RC_GTEST_PROP(Adversary, IsTheGradientWhereTheValueIsSmooth, ()) {
  const int k = pick(2, 12);
  const auto game = make_game(pick_any_loss(k), k);
  const double range = cost_range(*game);
  std::vector<double> psi(k);
  for (double& x : psi) x = range * pick_unit();
  const int label = pick(0, k - 1);
  const Moves m = moves(*game, psi, label);
  const double h = 1e-5 * range;
  for (int y = 0; y < k; ++y) {
    auto up = psi;
    auto down = psi;
    up[y] += h;
    down[y] -= h;
    const double right = (value_of(*game, up, label) - m.value) / (up[y] - psi[y]);
    const double left = (m.value - value_of(*game, down, label)) / (psi[y] - down[y]);
    if (game->smooth()) {
      require(std::abs((left + right) / 2 - m.q[y]) <= 1e-9,
              "{} at {}: slope {} for label {}, q = {}", game->name(), psi, (left + right) / 2, y,
              m.q[y]);
    } else if (right - left < 1e-5) {  // no kink on the way
      const double error = std::max(std::abs(left - m.q[y]), std::abs(right - m.q[y]));
      require(error <= 1e-5, "{} at {}: slopes {} and {} for label {}, q = {}", game->name(), psi,
              left, right, y, m.q[y]);
    }
  }
}

RC_GTEST_PROP(Symmetry, LabelsMayBePermuted, ()) {
  const int k = pick(2, 20);
  const int which = pick(0, 3);
  const std::string loss = which == 0   ? "log"
                           : which == 1 ? "hinge"
                           : which == 2 ? "zero-one"
                                        : fmt::format("abstain:{}", pick(0, 100) / 100.0);
  const auto game = make_game(loss, k);
  const auto psi = pick_potentials(k);
  std::vector<int> order(k);
  std::iota(order.begin(), order.end(), 0);
  std::mt19937 random(static_cast<unsigned>(pick(0, 1000000)));
  std::shuffle(order.begin(), order.end(), random);
  std::vector<double> renamed(k);
  for (int y = 0; y < k; ++y) renamed[order[y]] = psi[y];
  const int label = pick(0, k - 1);
  const Moves a = moves(*game, psi, label);
  const Moves b = moves(*game, renamed, order[label]);
  const double tolerance = rounding(*game, psi);
  require(std::abs(a.value - b.value) <= tolerance, "{} of {}: {}, but {} for {}", loss, psi,
          a.value, b.value, renamed);
  auto sorted = psi;
  std::sort(sorted.begin(), sorted.end());
  bool clear = true;  // no ties: both players' moves are unique, except on borders of measure zero
  for (int y = 1; y < k; ++y)
    clear = clear && sorted[y] - sorted[y - 1] > 1e-9 * std::max(1.0, max_abs(psi));
  if (which == 1 && !clear) return;
  for (int y = 0; y < k; ++y) {
    if (!is_program(*game)) {  // a program's predictor may have several answers
      require(std::abs(a.p[y] - b.p[order[y]]) <= 1e-12, "{} of {}: p = {}, renamed {}", loss, psi,
              a.p, b.p);
    }
    if (clear && which < 2) {
      require(std::abs(a.q[y] - b.q[order[y]]) <= 1e-12, "{} of {}: q = {}, renamed {}", loss, psi,
              a.q, b.q);
    }
  }
}

RC_GTEST_PROP(Symmetry, OrderedLabelsMayBeReversed, ()) {
  const int k = pick(2, 30);
  const auto game = pick(0, 1) == 0 ? absolute_game(k) : squared_game(k);
  const auto psi = pick_potentials(k, cost_range(*game));
  const std::vector<double> reversed(psi.rbegin(), psi.rend());
  const Moves a = moves(*game, psi);
  const Moves b = moves(*game, reversed);
  require(std::abs(a.value - b.value) <= rounding(*game, psi), "{} of {}: {}, reversed {}",
          game->name(), psi, a.value, b.value);
  double mean_a = 0;
  double mean_b = 0;
  for (int y = 0; y < k; ++y) {
    mean_a += y * a.p[y];
    mean_b += (k - 1 - y) * b.p[y];
  }
  require(std::abs(mean_a - mean_b) <= 1e-12 * k, "{} of {}: acts at {}, reversed at {}",
          game->name(), psi, mean_a, mean_b);
}

RC_GTEST_PROP(Loss, OfTheEquilibriumIsTheValue, ()) {
  // The adversary's expected loss of the predictor, plus what the potentials pay, is V.
  const int k = pick(2, 20);
  const auto game = make_game(pick(0, 3) == 0 ? "log" : pick_loss(k), k);
  std::vector<double> psi(k);
  for (double& x : psi) x = cost_range(*game) * pick_unit();
  const Moves m = moves(*game, psi);
  double paid = 0;
  for (int y = 0; y < k; ++y) paid += m.q[y] * (game->loss(psi, m.p, y) + psi[y]);
  require(std::abs(paid - m.value) <= rounding(*game, psi), "{} of {}: expected {}, value {}",
          game->name(), psi, paid, m.value);
}

RC_GTEST_PROP(Play, RowsAreIndependent, ()) {
  const int k = pick(2, 10);
  const auto game = make_game(pick_any_loss(k), k);
  const int n = pick(0, 8);
  std::vector<double> psi;
  std::vector<int> label(n);
  for (int i = 0; i < n; ++i) {
    const auto row = pick_potentials(k);
    psi.insert(psi.end(), row.begin(), row.end());
    label[i] = pick(0, k - 1);
  }
  std::vector<double> value(n, -1e300);
  std::vector<double> q(psi.size());
  game->play(n, psi.data(), label.data(), value.data(), q.data());
  for (int i = 0; i < n; ++i) {
    const std::vector<double> row(psi.begin() + i * k, psi.begin() + (i + 1) * k);
    const Moves alone = moves(*game, row, label[i]);
    require(std::abs(alone.value - value[i]) <= rounding(*game, row),
            "{}: row {} is {} in a batch and {} alone", game->name(), i, value[i], alone.value);
    require_distribution({q.begin() + i * k, q.begin() + (i + 1) * k}, "the adversary");
  }
}

}  // namespace
}  // namespace covshift
