// A bias that is not penalised.
#include <Eigen/Dense>

#include "support.hpp"

namespace covshift::testing {
namespace {

Data free_data(const std::string& loss, std::size_t m, std::size_t d, int k, double lambda,
               double shift = 0) {
  Data data = make_data(loss, m, d, k, lambda);
  data.penalise_bias = false;
  for (double& x : data.x) x += shift;
  return data;
}

/// Two-class logistic regression in long double, features centred, the bias not penalised:
/// log odds u.x + b of class 1, mean loss + lambda_u ||u||^2.
std::vector<Real> reference_odds(const Data& s, Real lambda_u) {
  using Matrix = Eigen::Matrix<Real, Eigen::Dynamic, Eigen::Dynamic>;
  using Vector = Eigen::Matrix<Real, Eigen::Dynamic, 1>;
  const auto m = static_cast<Eigen::Index>(s.m);
  const auto d = static_cast<Eigen::Index>(s.d);
  Matrix z = Matrix::Ones(m, d + 1);
  for (Eigen::Index i = 0; i < m; ++i) {
    for (Eigen::Index j = 0; j < d; ++j) z(i, j) = s.x[static_cast<std::size_t>(i * d + j)];
  }
  const Eigen::Matrix<Real, 1, Eigen::Dynamic> mean = z.leftCols(d).colwise().mean();
  z.leftCols(d).rowwise() -= mean;
  Vector weight = Vector::Constant(m, Real{1} / m);
  if (!s.weight.empty()) {
    for (Eigen::Index i = 0; i < m; ++i) weight[i] = s.weight[static_cast<std::size_t>(i)];
    weight /= weight.sum();
  }
  Vector ridge = Vector::Constant(d + 1, 2 * lambda_u);
  ridge[d] = 0;
  Vector u = Vector::Zero(d + 1);
  for (int iteration = 0; iteration < 50; ++iteration) {
    const Vector odds = z * u;
    Vector residual(m);
    Vector curvature(m);
    for (Eigen::Index i = 0; i < m; ++i) {
      const Real p = 1 / (1 + std::exp(-odds[i]));
      residual[i] = weight[i] * (p - s.y[static_cast<std::size_t>(i)]);
      curvature[i] = weight[i] * p * (1 - p);
    }
    Matrix hessian = z.transpose() * curvature.asDiagonal() * z;
    hessian.diagonal() += ridge;
    const Vector step = hessian.ldlt().solve(z.transpose() * residual + ridge.cwiseProduct(u));
    u -= step;
    if (step.norm() < 1e-13L) break;
  }
  const Vector odds = z * u;
  return {odds.data(), odds.data() + odds.size()};
}

void expect_odds(const Data& s, const Solution& solution, const std::vector<Real>& odds,
                 double tolerance) {
  double worst = 0;
  for (std::size_t i = 0; i < s.m; ++i) {
    Real own = solution.weights[2 * s.d + 1] - solution.weights[2 * s.d];
    for (std::size_t j = 0; j < s.d; ++j) {
      own += s.x[i * s.d + j] * (solution.weights[2 * j + 1] - solution.weights[2 * j]);
    }
    worst = std::max(worst, static_cast<double>(std::abs(own - odds[i])));
  }
  EXPECT_LE(worst, tolerance);
}

TEST(FreeBias, value_and_gradient_are_the_formula) {
  for (const std::string& loss : losses()) {
    Data data = free_data(loss, 40, 3, 3, 0.02);
    if (loss == "log") add_views(data, 2, 2);
    const std::vector<double> t = random_weights(data, 0.7, 3);
    const Naive expected = naive(data, t);
    const Evaluation found = evaluate(data.problem(), t);
    EXPECT_NEAR(found.objective, static_cast<double>(expected.objective), 1e-12) << loss;
    for (std::size_t j = 0; j < t.size(); ++j) {
      EXPECT_NEAR(found.gradient[j], static_cast<double>(expected.gradient[j]), 1e-12) << loss;
    }
  }
}

TEST(FreeBias, gradient_agrees_with_central_differences) {
  const Data data = free_data("log", 60, 4, 3, 0.05);
  std::vector<double> t = random_weights(data, 0.5, 4);
  const Evaluation at = evaluate(data.problem(), t);
  for (std::size_t j = 0; j < t.size(); ++j) {
    const double kept = t[j];
    t[j] = kept + 1e-5;
    const double above = evaluate(data.problem(), t).objective;
    t[j] = kept - 1e-5;
    const double below = evaluate(data.problem(), t).objective;
    t[j] = kept;
    EXPECT_NEAR(at.gradient[j], (above - below) / 2e-5, 1e-8);
  }
}

TEST(FreeBias, the_gap_bounds_the_distance_from_the_optimum_anywhere) {
  for (const std::string loss : {"log", "zero-one", "hinge", "absolute"}) {
    const Data data = free_data(loss, 80, 3, 3, 0.01);
    const Solution best = solve(data.problem(), with(Solver::automatic, 1e-9));
    expect_solved(best, loss, 1e-9);
    for (std::uint64_t seed = 1; seed < 40; ++seed) {
      const std::vector<double> t = random_weights(data, 0.1 * static_cast<double>(seed), seed);
      const Evaluation at = evaluate(data.problem(), t);
      EXPECT_LE(at.dual, best.objective + 1e-12) << loss;
      EXPECT_GE(at.gap, at.objective - best.objective - 1e-12) << loss;
    }
  }
}

TEST(FreeBias, newton_equals_a_reference) {
  for (const double lambda : {1e-13, 1e-6, 1e-3, 0.1, 10.0}) {
    for (const double shift : {0.0, 1000.0}) {
      const Data data = free_data("log", 150, 4, 2, 2 * lambda, shift);
      const Solution found = solve(data.problem(), with(Solver::automatic, 1e-14));
      expect_solved(found, fmt::format("lambda {} shift {}", lambda, shift), 1e-14);
      expect_odds(data, found, reference_odds(data, lambda), 1e-8);
      // The gradient along the bias is the sum of the residuals.
      const Evaluation at = evaluate(data.problem(), found.weights);
      EXPECT_NEAR(at.gradient[2 * data.d], 0, 1e-10);
      EXPECT_NEAR(at.gradient[2 * data.d + 1], 0, 1e-10);
    }
  }
}

TEST(FreeBias, many_columns_far_from_zero) {
  for (const std::size_t d : {150, 300, 400}) {
    Data data = free_data("log", 500, d, 2, 2e-6, 30);
    Random random(d);
    for (std::size_t i = 0; i < data.m; ++i) data.weight.push_back(random.uniform(0.5, 2));
    for (int& y : data.y) y = random.uniform(0, 1) < 0.2 ? 1 - y : y;
    const Solution found = solve(data.problem(), with(Solver::newton, 1e-11));
    expect_solved(found, fmt::format("{} columns", d), 1e-11);
    expect_odds(data, found, reference_odds(data, 1e-6), 1e-5);
  }
}

TEST(FreeBias, sparse_equals_dense) {
  for (const std::size_t d : {20, 300}) {
    Data data = free_data("log", 900, d, 2, 2e-4);
    Random random(7);
    std::vector<std::int64_t> offsets{0};
    std::vector<std::int32_t> columns;
    std::vector<double> values;
    for (std::size_t i = 0; i < data.m; ++i) {
      for (std::size_t j = 0; j < d; ++j) {
        double& x = data.x[i * d + j];
        if (random.uniform(0, 1) < 0.8) x = 0;
        if (x == 0) continue;
        columns.push_back(static_cast<std::int32_t>(j));
        values.push_back(x);
      }
      offsets.push_back(static_cast<std::int64_t>(columns.size()));
    }
    const Solution dense = solve(data.problem(), with(Solver::automatic, 1e-12));
    Problem problem = data.problem();
    problem.features = {data.m, d,
                        SparseRows<double>{offsets.data(), columns.data(), values.data()}};
    const Solution sparse = solve(problem, with(Solver::automatic, 1e-12));
    expect_solved(sparse, "sparse", 1e-12);
    expect_same_weights(sparse.weights, dense.weights, 1e-7, "sparse");
    expect_odds(data, sparse, reference_odds(data, 1e-4), 1e-7);
  }
}

TEST(FreeBias, a_large_problem_by_a_sample) {
  Data data = free_data("log", 30000, 20, 2, 2e-3);
  data.y[0] = 1;
  const Solution found = solve(data.problem(), with(Solver::automatic, 1e-12));
  expect_solved(found, "by a sample", 1e-12);
  expect_odds(data, found, reference_odds(data, 1e-3), 1e-8);
  // A class that the sample may miss.
  for (int& y : data.y) y = 0;
  for (std::size_t i = 0; i < 5; ++i) data.y[i * 5000] = 1;
  expect_solved(solve(data.problem(), with(Solver::automatic)), "a rare class");
}

TEST(FreeBias, a_huge_lambda_leaves_the_shares_of_the_classes) {
  Data data = free_data("log", 90, 2, 3, 1e12);
  const Solution found = solve(data.problem(), with(Solver::automatic, 1e-12));
  std::vector<double> share(3);
  for (const int y : data.y) share[static_cast<std::size_t>(y)] += 1;
  for (std::size_t y = 1; y < 3; ++y) {
    EXPECT_NEAR(found.weights[6 + y] - found.weights[6], std::log(share[y] / share[0]), 1e-9);
  }
}

TEST(FreeBias, the_interior_point_method_agrees_with_newton) {
  const Data data = free_data("log", 120, 3, 3, 1e-3);
  const Solution a = solve(data.problem(), with(Solver::newton, 1e-10));
  const Solution b = solve(data.problem(), with(Solver::interior, 1e-10));
  expect_solved(a, "newton", 1e-10);
  expect_solved(b, "interior", 1e-10);
  expect_same_optimum(a, b, "log");
  for (const std::string& loss : losses()) {
    const Data other = free_data(loss, 120, 3, 3, 1e-2);
    expect_solved(solve(other.problem(), with(Solver::automatic, 1e-8)), loss, 1e-8);
  }
}

TEST(FreeBias, is_refused_in_words_where_it_cannot_be_solved) {
  const Data data = free_data("zero-one", 40, 3, 2, 0.01);
  EXPECT_EQ(message_of(data.problem(), with(Solver::dual_ascent)),
            "dual ascent, the solver for many parameters, needs a bias that is penalised");
  Data missing = free_data("log", 40, 3, 3, 0.01);
  for (int& y : missing.y) y = y == 1 ? 2 : y;
  EXPECT_EQ(message_of(missing.problem()),
            "class 1 has no examples, so a bias without penalty has no optimum");
}

}  // namespace
}  // namespace covshift::testing
