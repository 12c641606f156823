// The preconditioner for long rows, and the products with second moments that it is made of.
#include "covshift/learn/low_rank.hpp"

#include <Eigen/Dense>

#include "covshift/learn/rules.hpp"
#include "tests/learn/support.hpp"

namespace covshift::testing {
namespace {

/// Rows of `factors` factors and some noise, of three classes.
Data correlated(std::size_t m, std::size_t d, int factors, double noise) {
  Random random(17);
  Data data;
  data.m = m;
  data.d = d;
  data.k = 3;
  data.game = make_game("log", data.k);
  data.bias = false;
  const RowMatrix loading = RowMatrix::NullaryExpr(factors, static_cast<Eigen::Index>(d),
                                                   [&] { return random.normal() / std::sqrt(d); });
  for (std::size_t i = 0; i < m; ++i) {
    Eigen::RowVectorXd x =
        Eigen::RowVectorXd::NullaryExpr(factors, [&] { return random.normal(); });
    data.y.push_back(x[0] > 0.5 ? 2 : x[1] > 0 ? 1 : 0);
    x = x * loading;
    for (const double v : x) data.x.push_back(v + noise * random.normal() / std::sqrt(d));
  }
  return data;
}

Eigen::MatrixXd second_moments(const Examples& e) {
  std::vector<Eigen::MatrixXd> gram;
  e.grams(
      1,
      [&](std::size_t first, std::size_t rows, std::size_t /*lane*/, double* weight) {
        for (std::size_t i = first; i < first + rows; ++i) *weight++ = e.a()[i] * e.r(i);
      },
      gram);
  return gram[0].selfadjointView<Eigen::Lower>();
}

TEST(LowRank, ProductsWithMomentsForAnyNumberOfThreads) {
  Random random(3);
  for (const auto& [m, d, count] :
       {std::array{70, 30, 5}, {5, 1, 1}, {40, 264, 3}, {150, 600, 48}}) {
    for (const bool views : {false, true}) {
      Data data = correlated(static_cast<std::size_t>(m), static_cast<std::size_t>(d), 2, 1);
      data.bias = views;
      if (views) {  // scales of their own, and examples that take no part
        data.scales = 2;
        for (int i = 0; i < m; ++i) {
          data.weight.push_back(i % 7 == 3 ? 0 : random.uniform(0.5, 2));
          data.log_r.push_back(random.normal());
          data.log_r.push_back(random.normal());
        }
        for (int j = 0; j < d; ++j) data.scale_of.push_back(j % 2);
        data.scale_of_bias = 1;
      }
      const Problem problem = data.problem();
      const Examples one(problem, 1, nullptr);
      const RowMatrix x =
          RowMatrix::NullaryExpr(one.dims(), count, [&] { return random.normal(); });
      RowMatrix out;
      const double trace = one.moments_times(x, out);
      const Eigen::MatrixXd moments = second_moments(one);
      EXPECT_NEAR(trace, moments.trace(), 1e-13 * trace);
      const RowMatrix expected = moments * x;
      EXPECT_LT((out - expected).norm(), 1e-13 * expected.norm()) << m << " x " << d << views;
      const Examples three(problem, 3, nullptr);
      RowMatrix again;
      three.moments_times(x, again);
      EXPECT_EQ(out, again);
    }
  }
}

TEST(LowRank, IsTheInverseWhereTheRankIsLow) {
  const Data data = correlated(500, 450, 12, 0);
  const Examples examples(data.problem(), 1, nullptr);
  ASSERT_EQ(choose_preconditioning(ProblemSize(examples)), Preconditioning::low_rank);
  const Eigen::MatrixXd moments = second_moments(examples);
  const LowRank low_rank(examples, 5);
  Random random(6);
  const RowMatrix right =
      RowMatrix::NullaryExpr(examples.dims(), 3, [&] { return random.normal(); });
  RowMatrix t;
  low_rank.solve(right, t);
  const RowMatrix back = 2 * data.lambda * t + moments * t / data.k;
  EXPECT_LT((back - right).norm(), 1e-8 * right.norm());
}

/// As good as the preconditioned matrix is near a multiple of the identity.
TEST(LowRank, BringsEigenvaluesTogether) {
  Data data = correlated(600, 450, 12, 0.1);
  data.lambda = 1e-6;
  const Examples examples(data.problem(), 1, nullptr);
  const Eigen::MatrixXd moments = second_moments(examples);
  const LowRank low_rank(examples, 5);
  const auto n = static_cast<Eigen::Index>(examples.dims());
  RowMatrix inverse;
  low_rank.solve(RowMatrix::Identity(n, n), inverse);
  EXPECT_LT((inverse - inverse.transpose()).norm(), 1e-9 * inverse.norm());
  const Eigen::MatrixXd hessian =
      moments / data.k + 2 * data.lambda * Eigen::MatrixXd::Identity(n, n);
  const auto spread = [](const Eigen::VectorXd& values) {
    return values.maxCoeff() / values.minCoeff();
  };
  const Eigen::LLT<Eigen::MatrixXd> root(inverse);
  ASSERT_EQ(root.info(), Eigen::Success);  // positive definite
  const Eigen::MatrixXd half = root.matrixL();
  const double before = spread(hessian.selfadjointView<Eigen::Lower>().eigenvalues());
  const Eigen::MatrixXd both = half.transpose() * hessian * half;
  const double after = spread(both.selfadjointView<Eigen::Lower>().eigenvalues());
  EXPECT_GT(before, 1e4);
  EXPECT_LT(after, before / 50);
}

TEST(LowRank, NewtonOnLongRows) {
  Data data = correlated(600, 700, 12, 0.3);
  data.bias = true;
  data.lambda = 1e-5;
  SolveOptions options;
  options.solver = Solver::newton;
  options.tolerance = 1e-9;
  const Solution solution = solve(data.problem(), options);
  EXPECT_EQ(solution.status, Status::converged);
  EXPECT_LE(solution.iterations, 20);
  // The same as sparse data, which go without.
  std::vector<std::int64_t> offsets;
  std::vector<std::int32_t> columns;
  for (std::size_t i = 0; i <= data.m; ++i) {
    offsets.push_back(static_cast<std::int64_t>(i * data.d));
    for (std::size_t j = 0; j < data.d && i < data.m; ++j) {
      columns.push_back(static_cast<std::int32_t>(j));
    }
  }
  Problem sparse = data.problem();
  sparse.features.storage = SparseRows<double>{offsets.data(), columns.data(), data.x.data()};
  EXPECT_EQ(choose_preconditioning(ProblemSize(Examples(sparse, 1))), Preconditioning::diagonal);
  const Solution other = solve(sparse, options);
  EXPECT_EQ(other.status, Status::converged);
  EXPECT_NEAR(solution.objective, other.objective, 1e-9);
}

/// Columns that are not centred: one eigenvalue is far above the others, and two or three digits
/// show little of the differences between large numbers.
TEST(LowRank, NewtonOnRowsFarFromZero) {
  for (const double offset : {0.0, 3.0, 30.0, 300.0, 3000.0}) {
    Data data = correlated(600, 700, 12, 0.3);
    data.lambda = 1e-5;
    for (double& x : data.x) x += offset / std::sqrt(700);
    SolveOptions options;
    options.solver = Solver::newton;
    options.tolerance = 1e-9;
    const Solution solution = solve(data.problem(), options);
    EXPECT_EQ(solution.status, Status::converged) << offset;
    EXPECT_LE(solution.iterations, 25) << offset;
  }
}

/// Weights then are beyond what floats hold, and numbers below.
TEST(LowRank, NewtonOnTinyNumbers) {
  double objective = 0;
  for (const double scale : {1.0, 1e-25, 1e-42, 1e-60}) {
    Data data = correlated(600, 700, 12, 0.3);
    data.lambda = 1e-5 * scale * scale;
    for (double& x : data.x) x *= scale;
    SolveOptions options;
    options.solver = Solver::newton;
    options.tolerance = 1e-9;
    const Solution solution = solve(data.problem(), options);
    EXPECT_EQ(solution.status, Status::converged) << scale;
    if (scale == 1) objective = solution.objective;
    EXPECT_NEAR(solution.objective, objective, 1e-8) << scale;
  }
}

TEST(LowRank, NotForShortOrFewRows) {
  const Data narrow = correlated(500, 50, 3, 1);
  EXPECT_NE(choose_preconditioning(ProblemSize(Examples(narrow.problem(), 1))),
            Preconditioning::low_rank);
  const Data few = correlated(50, 500, 3, 1);
  EXPECT_NE(choose_preconditioning(ProblemSize(Examples(few.problem(), 1))),
            Preconditioning::low_rank);
}

}  // namespace
}  // namespace covshift::testing
