// The penalty epsilon ||T||: against the ellipsoid method, a general method for convex functions
// that shares nothing with the library's solvers, and against the path of the squared penalty.
#include <Eigen/Dense>

#include "support.hpp"

namespace covshift {
namespace {

using namespace testing;
using RealMatrix = Eigen::Matrix<Real, Eigen::Dynamic, Eigen::Dynamic>;
using RealVector = Eigen::Matrix<Real, Eigen::Dynamic, 1>;

Real norm_of(const std::vector<double>& t) {
  Real sum = 0;
  for (const double w : t) sum += static_cast<Real>(w) * w;
  return std::sqrt(sum);
}

/// The loss alone, with a subgradient: the squared penalty of `naive` taken off again.
Real loss_at(const Data& data, const std::vector<double>& t, RealVector& slope) {
  const Naive at = naive(data, t);
  for (Eigen::Index j = 0; j < slope.size(); ++j)
    slope[j] = at.gradient[j] - 2 * data.lambda * t[j];
  return at.objective - data.lambda * norm_of(t) * norm_of(t);
}

/// The least loss + epsilon ||T||, by central cuts of an ellipsoid that holds the optimum.
Real ellipsoid_optimum(const Data& data, double epsilon) {
  const auto n = static_cast<Eigen::Index>(data.parameters());
  const Real size = static_cast<Real>(n);
  RealVector centre = RealVector::Zero(n);
  RealVector slope(n);
  Real best = loss_at(data, std::vector<double>(data.parameters(), 0.0), slope);
  const Real radius = best / epsilon;  // epsilon ||T|| is at most the loss of T = 0
  // The ellipsoid is centre + B (unit ball).
  RealMatrix b = RealMatrix::Identity(n, n) * radius;
  const Real wider = size / std::sqrt(size * size - 1);
  for (int cut = 0; cut < 200 * n * n; ++cut) {
    std::vector<double> t(data.parameters());
    for (Eigen::Index j = 0; j < n; ++j) t[j] = static_cast<double>(centre[j]);
    const Real norm = norm_of(t);
    best = std::min(best, loss_at(data, t, slope) + epsilon * norm);
    if (norm > 0) slope += epsilon / norm * centre;
    RealVector along = b.transpose() * slope;
    const Real width = along.norm();
    if (!(width > 1e-12L)) break;  // no point of the ellipsoid is better by more
    along /= width;
    const RealVector step = b * along;
    centre -= step / (size + 1);
    b = wider * b + (size / (size + 1) - wider) * step * along.transpose();
  }
  return best;
}

Problem with_norm(const Data& data, double epsilon) {
  Problem problem = data.problem();
  problem.penalty = Penalty::norm;
  problem.lambda = epsilon;
  return problem;
}

TEST(NormPenalty, agrees_with_the_ellipsoid_method_for_every_loss) {
  for (const std::string& loss : losses()) {
    for (const double epsilon : {0.2, 0.03, 0.004}) {
      Data data = make_data(loss, 12, 2, 2, 1, Weights::none, 4);
      add_views(data, 2, 1);
      const std::string what = fmt::format("{} epsilon={}", loss, epsilon);
      const auto optimum = static_cast<double>(ellipsoid_optimum(data, epsilon));
      const double scale = std::max(1.0, std::abs(optimum));
      const Solution s = solve(with_norm(data, epsilon), with(Solver::automatic, 1e-8));
      expect_solved(s, what, 1e-8);
      EXPECT_NEAR(s.objective, optimum, 2e-8 * scale) << what;
      EXPECT_LE(s.dual, optimum + 1e-10 * scale) << what << ": the bound is a lower bound";
      // The objective is that of the weights.
      RealVector slope(static_cast<Eigen::Index>(data.parameters()));
      const Real value = loss_at(data, s.weights, slope) + epsilon * norm_of(s.weights);
      EXPECT_NEAR(s.objective, static_cast<double>(value), 1e-9 * scale) << what;
    }
  }
}

TEST(NormPenalty, has_the_path_of_the_squared_penalty) {
  int with_weights = 0;
  for (const std::string& loss : losses()) {
    for (const double epsilon : {0.1, 0.01}) {
      Data data = make_data(loss, 60, 4, 3, 1);
      const std::string what = fmt::format("{} epsilon={}", loss, epsilon);
      const Solution s = solve(with_norm(data, epsilon), with(Solver::automatic, 1e-10));
      expect_solved(s, what, 1e-10);
      if (s.squared_lambda == 0) {  // T = 0: with the abstaining game, where guessing is best
        EXPECT_EQ(norm_of(s.weights), 0) << what;
        continue;
      }
      ++with_weights;
      // The squared penalty at that lambda, epsilon / (2 ||T||), has the same weights.
      data.lambda = s.squared_lambda;
      const Solution squared = solve(data.problem(), with(Solver::automatic, 1e-12));
      expect_same_weights(s.weights, squared.weights, 1e-3, what);
      // And back: the epsilon of any lambda has the solution of that lambda.
      data.lambda = 0.02;
      const Solution there = solve(data.problem(), with(Solver::automatic, 1e-12));
      const double own = 2 * data.lambda * static_cast<double>(norm_of(there.weights));
      const Solution back = solve(with_norm(data, own), with(Solver::automatic, 1e-11));
      expect_solved(back, what, 1e-11);
      expect_same_weights(back.weights, there.weights, 1e-3, what + " back");
    }
  }
  EXPECT_GE(with_weights, 12);
}

// ||A(q)|| of T = 0 is where the weights become 0: at once, not gradually as with the square.
TEST(NormPenalty, is_zero_from_the_gradient_at_zero_on) {
  const Data data = make_data("log", 40, 3, 3, 1);
  RealVector slope(static_cast<Eigen::Index>(data.parameters()));
  loss_at(data, std::vector<double>(data.parameters(), 0.0), slope);
  const auto limit = static_cast<double>(slope.norm());
  const Solution zero = solve(with_norm(data, limit * 1.0001), with(Solver::automatic, 1e-12));
  expect_solved(zero, "zero", 1e-12);
  EXPECT_EQ(norm_of(zero.weights), 0);
  EXPECT_EQ(zero.squared_lambda, 0);
  EXPECT_NEAR(zero.objective, std::log(3.0), 1e-12);
  const Solution some = solve(with_norm(data, limit * 0.99), with(Solver::automatic, 1e-12));
  expect_solved(some, "some", 1e-12);
  EXPECT_GT(norm_of(some.weights), 1e-3L);
}

TEST(NormPenalty, every_solver_and_start_finds_the_same_optimum) {
  for (const auto& [loss, solvers] : std::vector<std::pair<std::string, std::vector<Solver>>>{
           {"log", {Solver::newton, Solver::interior}},
           {"zero-one", {Solver::interior, Solver::dual_ascent}}}) {
    const Data data = make_data(loss, 80, 5, 3, 1);
    const Problem problem = with_norm(data, 0.02);
    const Solution one = solve(problem, with(solvers[0], 1e-7));
    const Solution other = solve(problem, with(solvers[1], 1e-7));
    expect_solved(one, loss, 1e-7);
    expect_solved(other, loss, 1e-7);
    expect_same_optimum(one, other, loss);
    SolveOptions again = with(solvers[0], 1e-7);
    again.start = one.weights;
    const Solution warm = solve(problem, again);
    expect_solved(warm, loss + " warm", 1e-7);
    expect_same_optimum(one, warm, loss);
    EXPECT_LE(warm.iterations, one.iterations) << loss;
  }
}

TEST(NormPenalty, stops_when_told_to) {
  const Data data = make_data("log", 60, 4, 3, 1);
  SolveOptions options = with(Solver::automatic, 1e-12);
  options.observer = [](const Progress&) { return false; };
  EXPECT_EQ(solve(with_norm(data, 0.01), options).status, Status::stopped);
  options.observer = nullptr;
  options.max_iterations = 2;
  const Solution few = solve(with_norm(data, 0.01), options);
  EXPECT_EQ(few.status, Status::iteration_limit);
  EXPECT_LE(few.iterations, 2);
  Data free_bias = make_data("log", 20, 2, 2, 1);
  free_bias.penalise_bias = false;
  EXPECT_NE(message_of(with_norm(free_bias, 0.1)).find("needs a bias that is penalised"),
            std::string::npos);
}

}  // namespace
}  // namespace covshift
