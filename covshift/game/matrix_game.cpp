#include "covshift/game/matrix_game.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "covshift/base/error.hpp"
#include "covshift/game/barrier.hpp"
#include "covshift/game/scratch.hpp"

namespace covshift {
namespace {

const CostMatrix& checked(const CostMatrix& c) {
  check_labels(c.labels);
  if (c.actions < 1) {
    fail_input("a cost matrix needs at least one row (an action of the predictor), not {}",
               c.actions);
  }
  const auto expected = static_cast<std::size_t>(c.actions) * c.labels;
  if (c.cost.size() != expected) {
    fail_input("cost matrix: {} rows and {} columns need {} numbers, not {}", c.actions, c.labels,
               expected, c.cost.size());
  }
  for (int a = 0; a < c.actions; ++a) {
    for (int y = 0; y < c.labels; ++y) {
      if (!std::isfinite(c(a, y))) {
        fail_input("cost matrix: row {}, column {} is {}; every cost must be a finite number",
                   a + 1, y + 1, c(a, y));
      }
    }
  }
  return c;
}

BarrierForm form_of(const CostMatrix& c) {
  if (c.actions != c.labels) return BarrierForm::costs;
  for (int a = 0; a < c.actions; ++a) {
    for (int y = 0; y < c.labels; ++y) {
      if (c(a, y) != (a == y ? 0 : 1)) return BarrierForm::costs;
    }
  }
  return BarrierForm::zero_one;
}

}  // namespace

MatrixGame::MatrixGame(CostMatrix costs)
    : Game(checked(costs).labels, costs.actions, form_of(costs)), costs_(std::move(costs)) {}

double MatrixGame::bayes_risk(std::span<const double> q, int /*label*/) const {
  double least = std::numeric_limits<double>::infinity();
  const double* row = costs_.cost.data();
  for (int a = 0; a < actions(); ++a, row += labels()) {
    double risk = 0;
    for (int y = 0; y < labels(); ++y) risk += row[y] * q[y];
    least = std::min(least, risk);
  }
  return least;
}

double MatrixGame::loss(std::span<const double> /*psi*/, std::span<const double> p,
                        int label) const {
  double total = 0;
  for (int a = 0; a < actions(); ++a) total += p[a] * costs_(a, label);
  return total;
}

void Game::proximal(std::span<const double> b, double beta, int label, std::span<double> q) const {
  barrier_proximal(*this, b, beta, label, q);
}

void check_labels(int labels) {
  if (labels < 2) fail_input("a game needs at least two labels, not {}", labels);
}

int arg_max(std::span<const double> x) {
  return static_cast<int>(std::max_element(x.begin(), x.end()) - x.begin());
}

void project_to_simplex(std::span<double> x) {
  // The threshold tau is (sum - 1) / n of the entries above it. Starting from all candidates, drop
  // those below tau, which raises it, until none is (Michelot 1986). Relative to the top, since a
  // large common offset would cost digits of the sum.
  const double top = x[arg_max(x)];
  Scratch<double> members(x.size());
  std::size_t n = 0;
  // Branch-free, since branches would be unpredictable.
  const auto keep = [&](double v, double tau) {
    members[n] = v;
    n += v > tau ? 1 : 0;
  };
  for (const double v : x) keep(v - top, -1);
  double tau = -1;
  for (std::size_t before = n + 1; n < before && n > 0;) {  // n = 0: NaN
    double sum = -1;
    for (std::size_t m = 0; m < n; ++m) sum += members[m];
    tau = sum / static_cast<double>(n);
    before = std::exchange(n, 0);
    for (std::size_t m = 0; m < before; ++m) keep(members[m], tau);
  }
  for (double& v : x) v = std::max(0.0, (v - top) - tau);
}

}  // namespace covshift
