// The proximal step: max_q H(q) + b'q - beta/2 ||q||^2.
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "covshift/game/barrier.hpp"
#include "covshift/game/matrix_game.hpp"
#include "tests/game/support.hpp"

namespace covshift {
namespace {

using namespace covshift::testing;

struct Step {
  std::unique_ptr<Game> game;
  std::vector<double> b;
  double beta = 1;
  int label = 0;
};

/// Potentials up to 1e4, many of them tied where the optimality conditions are degenerate.
std::vector<double> pick_b(int k, double unit, double beta) {
  std::vector<double> b(k);
  const double magnitude = unit * std::pow(10.0, pick(-4, 4));
  for (double& x : b) x = magnitude * pick_unit();
  switch (pick(0, 6)) {
    case 1:
      for (double& x : b) x = unit * std::round(x / magnitude * 2) / 2;
      break;
    case 2:
      std::fill(b.begin(), b.end(), b[0]);
      break;
    case 3:
      for (double& x : b) x = b[0] + unit * 1e-9 * pick(0, 3);
      break;
    case 4:  // potentials as far apart as the quadratic term reaches
      for (double& x : b) x = x / magnitude * beta;
      break;
    case 5:
      b[pick(0, k - 1)] += 2 * magnitude;
      break;
    case 6:
      for (double& x : b) x = beta * std::round(x / magnitude * 2) / 2;
      break;
    default:
      break;
  }
  for (double& x : b) x = std::clamp(x, -1e4 * unit, 1e4 * unit);
  return b;
}

double pick_beta() { return std::pow(10.0, pick(-60, 60) / 10.0); }

std::unique_ptr<Game> pick_game(int most) {
  const int which = pick(0, 9);
  if (which == 0) return cost_game(pick_costs());
  const int k = pick(2, most);
  return which == 1 ? hinge_game(k) : make_game(pick_loss(k), k);
}

Step pick_step(int most) {
  Step s;
  s.game = pick_game(most);
  const double unit = cost_range(*s.game);
  s.beta = unit * pick_beta();
  s.b = pick_b(s.game->labels(), unit, s.beta);
  s.label = pick(0, s.game->labels() - 1);
  return s;
}

double objective(const Step& s, const std::vector<double>& q) {
  const double top = *std::max_element(s.b.begin(), s.b.end());
  double sum = s.game->bayes_risk(q, s.label);
  for (std::size_t y = 0; y < q.size(); ++y)
    sum += q[y] * (s.b[y] - top) - s.beta / 2 * q[y] * q[y];
  return sum;
}

double scale_of_step(const Step& s) {
  const double costs = s.game->costs() ? max_abs(s.game->costs()->cost) : 1;
  return std::max({cost_range(*s.game), costs, s.beta, max_abs(s.b)});
}

/// q is optimal if and only if it is an adversary's best answer at the potentials b - beta q, that
/// is if V there equals what q attains.
void require_optimal(const Step& s, const std::vector<double>& q) {
  require_distribution(q, "the step");
  std::vector<double> psi = s.b;
  for (std::size_t y = 0; y < q.size(); ++y) psi[y] -= s.beta * q[y];
  const double top = *std::max_element(psi.begin(), psi.end());
  double gap = value_of(*s.game, psi, s.label) - top - s.game->bayes_risk(q, s.label);
  for (std::size_t y = 0; y < q.size(); ++y) gap -= q[y] * (psi[y] - top);
  const double tolerance =
      (is_program(*s.game) ? 1e-9 * cost_range(*s.game) : 0) + 1e-13 * scale_of_step(s);
  require(gap <= tolerance, "{}, beta {}, b = {}: q = {} is {} from optimal; costs {}",
          s.game->name(), s.beta, s.b, q, gap,
          s.game->costs() ? s.game->costs()->cost : std::vector<double>());
}

RC_GTEST_PROP(Proximal, IsOptimal, ()) {
  const Step s = pick_step(12);
  std::vector<double> q(s.b.size());
  s.game->proximal(s.b, s.beta, s.label, q);
  require_optimal(s, q);
  barrier_proximal(*s.game, s.b, s.beta, s.label, q);
  require_optimal(s, q);
}

RC_GTEST_PROP(Proximal, BeatsOtherDistributions, ()) {
  const Step s = pick_step(8);
  std::vector<double> q(s.b.size());
  s.game->proximal(s.b, s.beta, s.label, q);
  const double best = objective(s, q);
  for (int i = 0; i < 10; ++i) {
    auto other = pick_distribution(s.game->labels());
    const double closeness = std::pow(10.0, -pick(0, 6));  // also near q
    double distance = 0;
    for (std::size_t y = 0; y < q.size(); ++y) {
      other[y] = q[y] + closeness * (other[y] - q[y]);
      distance += (other[y] - q[y]) * (other[y] - q[y]);
    }
    const double lead = best - objective(s, other) - s.beta / 2 * distance;  // strongly concave
    require(lead >= -1e-13 * scale_of_step(s), "{}, beta {}, b = {}: q = {} loses to {} by {}",
            s.game->name(), s.beta, s.b, q, other, -lead);
  }
}

RC_GTEST_PROP(Proximal, ZeroOneClosedFormAgreesWithBarrier, ()) {
  Step s;
  const int k = pick(2, 20);
  s.game = zero_one_game(k);
  s.beta = pick_beta();
  s.b = pick_b(k, 1, s.beta);
  std::vector<double> closed(k);
  std::vector<double> barrier(k);
  s.game->proximal(s.b, s.beta, 0, closed);
  barrier_proximal(*s.game, s.b, s.beta, 0, barrier);
  for (int y = 0; y < k; ++y) {
    // An input rounded at its last digit moves q by 1e-16 / beta.
    require(std::abs(closed[y] - barrier[y]) <= 1e-12 + 1e-14 / s.beta,
            "beta {}, b = {}: closed {}, barrier {}", s.beta, s.b, closed, barrier);
  }
}

RC_GTEST_PROP(Proximal, IsOptimalForManyLabels, ()) {
  if (pick(0, 9) > 0) return;  // slow
  const Step s = pick_step(40);
  std::vector<double> q(s.b.size());
  barrier_proximal(*s.game, s.b, s.beta, s.label, q);
  require_optimal(s, q);
}

RC_GTEST_PROP(Proximal, HingeIsAProjection, ()) {
  const int k = pick(2, 20);
  const auto game = hinge_game(k);
  const double beta = pick_beta();
  const auto b = pick_b(k, 1, beta);
  const int label = pick(0, k - 1);
  std::vector<double> q(k);
  game->proximal(b, beta, label, q);
  require_distribution(q, "the step");
  // q_y = max(0, (b_y + [y != label]) / beta - t): the threshold by bisection.
  std::vector<long double> x(k);
  for (int y = 0; y < k; ++y) x[y] = (static_cast<long double>(b[y]) + (y == label ? 0 : 1)) / beta;
  long double high = *std::max_element(x.begin(), x.end());
  long double low = high - 1;
  for (int i = 0; i < 200; ++i) {
    const long double t = (low + high) / 2;
    long double sum = 0;
    for (const long double v : x) sum += std::max(0.0L, v - t);
    (sum > 1 ? low : high) = t;
  }
  for (int y = 0; y < k; ++y) {
    const auto expected = static_cast<double>(std::max(0.0L, x[y] - low));
    require(std::abs(q[y] - expected) <= 1e-12 + 1e-15 * max_abs(b) / beta + 1e-15 / beta,
            "beta {}, b = {}, label {}: {}, not {} for label {}", beta, b, label, q[y], expected,
            y);
  }
}

RC_GTEST_PROP(Proximal, WithoutQuadraticTermIsABestAnswer, ()) {
  // An example without features: any best answer is correct.
  Step s = pick_step(8);
  s.beta = pick(0, 1) == 0 ? 0 : 1e-310;
  std::vector<double> q(s.b.size());
  s.game->proximal(s.b, s.beta, s.label, q);
  require_distribution(q, "the step");
  const double top = *std::max_element(s.b.begin(), s.b.end());
  double reached = s.game->bayes_risk(q, s.label) + top;
  for (std::size_t y = 0; y < q.size(); ++y) reached += q[y] * (s.b[y] - top);
  const double value = value_of(*s.game, s.b, s.label);
  require(reached >= value - 2e-9 * cost_range(*s.game) - 1e-13 * scale_of_step(s),
          "{} at {}: q = {} reaches {} of {}", s.game->name(), s.b, q, reached, value);
}

TEST(Proximal, SumsToOneForALargeOffset) {
  // Projections that subtract a threshold near 1e9 would lose nine digits.
  for (const char* loss : {"hinge", "zero-one"}) {
    const auto game = make_game(loss, 5);
    std::vector<double> q(5);
    game->proximal(std::vector<double>{0.3, 0.3 + 1e-9, 0.3, -2, 0.3 - 1e-10}, 1e-9, 3, q);
    EXPECT_NEAR(std::accumulate(q.begin(), q.end(), 0.0), 1, 1e-14) << loss;
  }
}

TEST(Projection, IsAccurateForALargeOffset) {
  std::vector<double> x{1e15, 1e15 + 0.25, 1e15 - 3};
  project_to_simplex(x);
  EXPECT_EQ(x, (std::vector<double>{0.375, 0.625, 0}));
}

TEST(Proximal, IsAnErrorForLogLoss) {
  std::vector<double> q(3);
  EXPECT_THROW(log_game(3)->proximal(std::vector<double>{0, 0, 0}, 1, 0, q), Error);
}

}  // namespace
}  // namespace covshift
