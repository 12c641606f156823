// Shared by the tests of game/: generators of difficult cases, and checks for any game.
#pragma once

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <rapidcheck.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <numeric>
#include <random>
#include <string>
#include <vector>

#include "covshift/base/error.hpp"
#include "covshift/game/game.hpp"

namespace covshift::testing {

/// From the whole range at once: by default rapidcheck begins with small numbers.
template <typename T>
T pick(T low, T high_inclusive) {
  return *rc::gen::resize(rc::kNominalSize,
                          rc::gen::inRange<T>(low, static_cast<T>(high_inclusive + 1)));
}

inline double pick_unit() { return pick(-1000000, 1000000) / 1e6; }

/// K numbers of a random magnitude (1e-6 .. 1e6), including difficult cases: exact and near ties,
/// constant vectors, a dominant class, differences of the size of the costs on a large offset.
inline std::vector<double> pick_potentials(int k, double range = 1) {
  const double magnitude = std::pow(10.0, pick(-6, 6));
  std::vector<double> x(k);
  for (double& v : x) v = magnitude * pick_unit();
  switch (pick(0, 8)) {
    case 1:  // few levels
      for (double& v : x) v = std::round(v / magnitude * 2) * magnitude / 2;
      break;
    case 2:  // neighbours in floating point
      for (double& v : x) v = x[0] * (1 + 2.3e-16 * pick(0, 4));
      break;
    case 3:  // closer than a solver's tolerance
      for (double& v : x) v = x[0] + 1e-11 * pick(0, 4);
      break;
    case 4:
      std::fill(x.begin(), x.end(), x[0]);
      break;
    case 5:
      x[pick(0, k - 1)] += 10 * magnitude + 2 * range;
      break;
    case 6:  // where the game is not trivial: differences like those of the costs
      for (double& v : x) v = magnitude + range * v / magnitude;
      break;
    case 7:  // degenerate: differences that are exactly halves of the costs
      for (double& v : x) v = std::round(4 * v / magnitude) / 2 * (range > 1 ? pick(1, 3) : 1);
      break;
    case 8:
      for (double& v : x) v = range * v / magnitude / 5;
      break;
    default:
      break;
  }
  return x;
}

struct Moves {
  double value = 0;
  std::vector<double> q, p;
};

inline Moves moves(const Game& game, const std::vector<double>& psi, int label = 0) {
  Moves m;
  m.q.assign(game.labels(), -1);
  m.p.assign(game.actions(), -1);
  game.play(1, psi.data(), &label, &m.value, m.q.data());
  game.predict(psi, m.p);
  return m;
}

inline double value_of(const Game& game, const std::vector<double>& psi, int label = 0) {
  std::vector<double> q(psi.size());
  double value = 0;
  game.play(1, psi.data(), &label, &value, q.data());
  return value;
}

inline double max_abs(const std::vector<double>& x) {
  double most = 0;
  for (const double v : x) most = std::max(most, std::abs(v));
  return most;
}

inline double cost_range(const Game& game) {
  if (!game.costs()) return 1;
  const auto [low, high] =
      std::minmax_element(game.costs()->cost.begin(), game.costs()->cost.end());
  return *high > *low ? *high - *low : 1;
}

/// Whether the library solves this game by a linear program (to 1e-9 of the range of its costs).
inline bool is_program(const Game& game) {
  if (!game.name().starts_with("abstain:")) return game.name() == "cost";
  const double cost = std::stod(game.name().substr(8));
  return cost > 0.5 && cost < 1 - 1.0 / game.labels();
}

/// The scale that rounding is measured by.
inline double scale_of(const Game& game, const std::vector<double>& psi) {
  const double costs = game.costs() ? max_abs(game.costs()->cost) : 1;
  return std::max({max_abs(psi), costs, cost_range(game)});
}

template <typename... Args>
void require(bool good, fmt::format_string<Args...> text, Args&&... args) {
  if (!good) RC_FAIL(fmt::format(text, std::forward<Args>(args)...));
}

inline void require_distribution(const std::vector<double>& x, const std::string& whose) {
  double sum = 0;
  for (const double v : x) {
    require(v >= 0, "{}'s distribution has a negative entry: {}", whose, x);
    sum += v;
  }
  require(std::abs(sum - 1) <= 1e-12, "{}'s distribution sums to 1 + {}: {}", whose, sum - 1, x);
}

/// Neither player can gain more than `tolerance` by another move.
inline void require_equilibrium(const Game& game, const std::vector<double>& psi, const Moves& m,
                                double tolerance) {
  require_distribution(m.q, "the adversary");
  require_distribution(m.p, "the predictor");
  const CostMatrix& c = *game.costs();
  const double top = *std::max_element(psi.begin(), psi.end());
  const double value = m.value - top;
  for (int y = 0; y < c.labels; ++y) {
    double paid = psi[y] - top;
    for (int a = 0; a < c.actions; ++a) paid += m.p[a] * c(a, y);
    require(paid <= value + tolerance,
            "{}: label {} pays the adversary {} more than the value {}; psi = {}", game.name(), y,
            paid - value, m.value, psi);
  }
  double gain = 0;
  for (int y = 0; y < c.labels; ++y) {
    if (m.q[y] > 0) gain += m.q[y] * (psi[y] - top);
  }
  for (int a = 0; a < c.actions; ++a) {
    double risk = gain;
    for (int y = 0; y < c.labels; ++y) risk += m.q[y] * c(a, y);
    require(risk >= value - tolerance,
            "{}: action {} costs the predictor {} less than the value {}; psi = {}", game.name(), a,
            value - risk, m.value, psi);
  }
}

/// A random distribution: anything between uniform and a corner.
inline std::vector<double> pick_distribution(int k) {
  std::vector<double> q(k);
  const int sharpness = pick(0, 30);
  for (double& v : q) v = std::exp(sharpness * pick_unit()) * (pick(0, 3) > 0 ? 1 : 0);
  q[pick(0, k - 1)] += 1e-3;
  const double sum = std::accumulate(q.begin(), q.end(), 0.0);
  for (double& v : q) v /= sum;
  return q;
}

/// A loss for make_game with K labels; abstention in all three ranges of its cost.
inline std::string pick_loss(int k) {
  switch (pick(0, 8)) {
    case 0:
      return "absolute";
    case 1:
      return "squared";
    case 2:
      return "abstain:0";
    case 3:
      return fmt::format("abstain:{}", pick(1, 499) / 1000.0);
    case 4:
      return "abstain:0.5";
    case 5:
      return k > 2 ? fmt::format("abstain:{}", 0.5 + (0.5 - 1.0 / k) * pick(1, 99) / 100.0)
                   : "abstain:0.5";
    case 6:
      return fmt::format("abstain:{}", std::min(1.0, 1 - 1.0 / k + pick(0, 100) / 100.0 / k));
    default:
      return "zero-one";
  }
}

/// Any cost matrix: square or not, of any scale and offset, with repeated rows and columns.
inline CostMatrix pick_costs() {
  CostMatrix c;
  c.labels = pick(2, 12);
  c.actions = pick(1, 15);
  const double scale = std::pow(10.0, pick(-6, 6));
  const double offset = pick(0, 2) == 0 ? 10 * pick_unit() : 0;
  const bool coarse = pick(0, 1) == 0;
  for (int i = 0; i < c.actions * c.labels; ++i) {
    const double u = coarse ? pick(-2, 2) : pick_unit();
    c.cost.push_back(scale * (u + offset));
  }
  const auto at = [&](int a, int y) -> double& {
    return c.cost[static_cast<std::size_t>(a) * c.labels + y];
  };
  if (pick(0, 3) == 0) {
    const int from = pick(0, c.actions - 1);
    const int to = pick(0, c.actions - 1);
    for (int y = 0; y < c.labels; ++y) at(to, y) = at(from, y);
  }
  if (pick(0, 3) == 0) {
    const int from = pick(0, c.labels - 1);
    const int to = pick(0, c.labels - 1);
    for (int a = 0; a < c.actions; ++a) at(a, to) = at(a, from);
  }
  return c;
}

inline double spread(const CostMatrix& c) {
  const auto [low, high] = std::minmax_element(c.cost.begin(), c.cost.end());
  return *high > *low ? *high - *low : 1;
}

}  // namespace covshift::testing
