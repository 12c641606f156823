// Cholesky against Eigen's.
#include "covshift/learn/cholesky.hpp"

#include <gtest/gtest.h>

#include <Eigen/Dense>
#include <limits>

#include "covshift/base/random.hpp"

namespace covshift {
namespace {

void fill(const Eigen::MatrixXd& h, Cholesky& cholesky) {
  for (Eigen::Index i = 0; i < h.rows(); ++i) {
    for (Eigen::Index j = i; j < h.cols(); ++j) {
      cholesky.row(static_cast<std::size_t>(i))[j] = h(i, j);
    }
  }
}

TEST(Cholesky, AgreesWithEigen) {
  Random random(8);
  for (const Eigen::Index n : {1, 2, 7, 8, 9, 31, 32, 33, 64, 100, 171, 345}) {
    Eigen::MatrixXd factor(n, n + 3);
    for (Eigen::Index i = 0; i < factor.size(); ++i) factor.data()[i] = random.normal();
    const Eigen::MatrixXd h = factor * factor.transpose() + 0.1 * Eigen::MatrixXd::Identity(n, n);
    Eigen::VectorXd right(n);
    for (double& x : right) x = random.normal();
    Cholesky cholesky(static_cast<std::size_t>(n));
    fill(h, cholesky);
    ASSERT_TRUE(cholesky.factor(1));
    Eigen::VectorXd x = right;
    cholesky.solve(x.data());
    EXPECT_LT((h * x - right).norm(), 1e-12 * h.norm() * x.norm()) << n;
    const Eigen::VectorXd expected = h.llt().solve(right);
    EXPECT_LT((x - expected).norm(), 1e-8 * expected.norm()) << n;
    const Eigen::MatrixXd u = h.llt().matrixU();
    for (Eigen::Index i = 0; i < n; ++i) {
      for (Eigen::Index j = i; j < n; ++j) {
        ASSERT_NEAR(cholesky.row(static_cast<std::size_t>(i))[j], u(i, j), 1e-9 * u(0, 0)) << n;
      }
    }
    // Reused, with threads: bit-identical.
    fill(h, cholesky);
    ASSERT_TRUE(cholesky.factor(3));
    Eigen::VectorXd again = right;
    cholesky.solve(again.data());
    EXPECT_EQ(again, x) << n;
  }
}

TEST(Cholesky, RejectsMatricesThatAreNotPositiveDefinite) {
  for (const Eigen::Index n : {1, 5, 40, 100}) {
    for (const double pivot : {-1.0, 0.0, std::numeric_limits<double>::quiet_NaN(),
                               std::numeric_limits<double>::infinity()}) {
      Eigen::MatrixXd h = Eigen::MatrixXd::Identity(n, n);
      h(n - 1, n - 1) = pivot;
      Cholesky cholesky(static_cast<std::size_t>(n));
      fill(h, cholesky);
      EXPECT_FALSE(cholesky.factor(1)) << n << ' ' << pivot;
    }
  }
  Cholesky singular(2);
  fill(Eigen::MatrixXd::Ones(2, 2), singular);
  EXPECT_FALSE(singular.factor(1));
}

}  // namespace
}  // namespace covshift
