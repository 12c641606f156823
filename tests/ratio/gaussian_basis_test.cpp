#include "covshift/ratio/gaussian_basis.hpp"

#include <Eigen/LU>

#include "tests/ratio/support.hpp"

namespace covshift::testing {
namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

class KnownGaussians : public ::testing::TestWithParam<RatioMethod> {};

double median_of(std::vector<double> x) {
  std::sort(x.begin(), x.end());
  return x[x.size() / 2];
}

// Over a dozen pairs of samples: one pair says little, as the ratio is largest where rows are
// fewest.
TEST_P(KnownGaussians, AreRecovered) {
  std::vector<double> correlations;
  std::vector<double> errors;
  std::vector<double> biases;
  RatioOptions options = with(GetParam());
  options.judge = false;  // the estimate does not depend on it, and it takes five fits more
  for (std::uint64_t seed = 50000; seed < 50036; seed += 3) {
    const Matrix train = normals(1000, 1, 0.0, 1.0, seed);
    const Matrix target = normals(800, 1, 0.5, 1.0, seed + 1);
    const auto ratio = fit_ratio(options, train.view(), target.view());
    // On fresh rows of the training distribution.
    const Matrix x = normals(1000, 1, 0.0, 1.0, seed + 2);
    std::vector<double> estimate = ratio->log_ratio(x.view());
    std::vector<double> truth;
    for (double& l : estimate) l = std::exp(l);
    for (const double v : x.values) {
      const double plain = std::exp(0.5 * v - 0.125);
      truth.push_back(GetParam() == RatioMethod::rulsif ? plain / (0.1 * plain + 0.9) : plain);
    }
    double error = 0;
    for (std::size_t i = 0; i < truth.size(); ++i) error += std::abs(estimate[i] - truth[i]) / 1000;
    correlations.push_back(correlation(estimate, truth));
    errors.push_back(error);
    biases.push_back(std::abs(mean_of(estimate) - mean_of(truth)));
  }
  // Bounds from thirty other pairs (seeds 9000 to 9089): median correlations 0.967 to 0.980, one to
  // five of thirty below 0.9, median errors 0.070 to 0.088, median biases 0.008 to 0.013.
  EXPECT_GT(median_of(correlations), 0.93);
  EXPECT_LE(
      std::count_if(correlations.begin(), correlations.end(), [](double c) { return c < 0.9; }), 4);
  EXPECT_LT(median_of(errors), 0.12);
  EXPECT_LT(median_of(biases), 0.04);
}

INSTANTIATE_TEST_SUITE_P(Kernel, KnownGaussians,
                         ::testing::Values(RatioMethod::ulsif, RatioMethod::rulsif,
                                           RatioMethod::kliep, RatioMethod::kmm),
                         [](const auto& test) { return std::string(to_string(test.param)); });

MatrixXd random_kernels(Index rows, Index cols, std::uint64_t seed) {
  Random random(seed);
  MatrixXd m(rows, cols);
  for (double& v : m.reshaped()) v = std::exp(-2 * std::abs(random.normal()));
  return m;
}

TEST(LeastSquares, NonnegativeIsOptimal) {
  for (std::uint64_t seed = 20; seed < 40; ++seed) {
    // Few rows for many overlapping kernels: the unconstrained answer is far from positive.
    const MatrixXd train = random_kernels(40, 60, seed);
    const MatrixXd second = train * train.transpose() / 60;
    const VectorXd first = random_kernels(40, 25, seed + 100).rowwise().mean();
    VectorXd start;
    for (const double lambda : {1e-4, 1e-2, 1.0, 1e-6}) {
      const VectorXd theta = nonnegative_ridge(second, first, lambda, start);
      const VectorXd gradient = second * theta + lambda * theta - first;
      int zero = 0;
      for (Index j = 0; j < 40; ++j) {
        EXPECT_GE(theta[j], 0);
        if (theta[j] > 0) {
          EXPECT_NEAR(gradient[j], 0, 1e-9);
        } else {
          EXPECT_GE(gradient[j], -1e-9);
          ++zero;
        }
      }
      if (lambda == 1e-4) {
        EXPECT_GT(zero, 5);
      }
      // Where it started does not matter: the problem is strictly convex.
      EXPECT_LT((nonnegative_ridge(second, first, lambda) - theta).cwiseAbs().maxCoeff(), 1e-6);
      start = theta;
    }
  }
}

TEST(LeastSquares, GivenWidthAndLambdaByTheFormula) {
  const Matrix train = dense(3, 1, {0, 1, 2});
  const Matrix target = dense(2, 1, {1, 3});
  RatioOptions options = with(RatioMethod::rulsif);
  options.kernel_width = 1.5;
  options.kernel_lambda = 0.2;
  options.alpha = 0.3;
  const auto ratio = fit_ratio(options, train.view(), target.view());
  const auto k = [](double x, double c) { return std::exp(-(x - c) * (x - c) / (2 * 1.5 * 1.5)); };
  const double centres[2] = {1, 3};
  Eigen::Matrix2d second = 0.2 * Eigen::Matrix2d::Identity();
  Eigen::Vector2d first = Eigen::Vector2d::Zero();
  const auto phi = [&](double x) { return Eigen::Vector2d(k(x, centres[0]), k(x, centres[1])); };
  for (const double x : train.values) second += 0.7 / 3 * phi(x) * phi(x).transpose();
  for (const double x : target.values) {
    second += 0.3 / 2 * phi(x) * phi(x).transpose();
    first += phi(x) / 2;
  }
  const Eigen::Vector2d theta = second.inverse() * first;
  ASSERT_GT(theta.minCoeff(), 0);
  for (const double x : {-1.0, 0.5, 2.5, 4.0}) {
    EXPECT_NEAR(ratio->log_ratio(dense(1, 1, {x}).view())[0], std::log(theta.dot(phi(x))), 1e-12);
  }
  // Out of reach of all kernels the documented floor.
  EXPECT_DOUBLE_EQ(ratio->log_ratio(dense(1, 1, {1e4}).view())[0], std::log(ratio_floor));
  // Without a relative part RuLSIF is uLSIF.
  options.alpha = 0;
  const auto plain = fit_ratio(options, train.view(), target.view());
  options.method = RatioMethod::ulsif;
  const auto ulsif = fit_ratio(options, train.view(), target.view());
  EXPECT_EQ(plain->log_ratio(train.view()), ulsif->log_ratio(train.view()));
}

TEST(LeastSquares, RelativeRatioIsBounded) {
  RatioOptions options = with(RatioMethod::rulsif);
  options.alpha = 0.5;
  const Matrix target = normals(200, 1, 3, 0.5, 6);
  const auto ratio = fit_ratio(options, normals(200, 1, 0, 1, 7).view(), target.view());
  for (const double l : ratio->log_ratio(target.view())) EXPECT_LE(l, std::log(2.0));
}

TEST(Kliep, MixtureIsOptimal) {
  const MatrixXd likelihood = random_kernels(15, 60, 8);
  const VectorXd beta = fit_mixture(likelihood, 1e-10);
  EXPECT_NEAR(beta.sum(), 1, 1e-14);
  EXPECT_GE(beta.minCoeff(), 0);
  const VectorXd density = likelihood.transpose() * beta;
  const VectorXd gain = likelihood * density.cwiseInverse() / 60;
  EXPECT_LE(gain.maxCoeff(), 1 + 1e-10);  // no proportion is worth raising
  // The optimum of a long run of the EM algorithm.
  VectorXd em = VectorXd::Constant(15, 1.0 / 15);
  for (int k = 0; k < 20000; ++k) {
    const VectorXd p = likelihood.transpose() * em;
    const VectorXd g = likelihood * p.cwiseInverse() / 60;
    em = em.cwiseProduct(g);
  }
  const VectorXd em_density = likelihood.transpose() * em;
  EXPECT_NEAR(density.array().log().mean(), em_density.array().log().mean(), 1e-8);
}

// More densities than are tried at first; from shares of another answer as well.
TEST(Kliep, MixtureOfManyDensitiesIsOptimal) {
  for (const double width : {0.05, 0.5, 3.0}) {
    Random random(17);
    MatrixXd likelihood(90, 200);
    std::vector<double> centre(90);
    for (double& c : centre) c = random.normal();
    for (Index i = 0; i < 200; ++i) {
      const double x = 1.5 * random.normal();
      for (Index l = 0; l < 90; ++l) likelihood(l, i) = -std::pow((x - centre[l]) / width, 2) / 2;
      const double most = likelihood.col(i).maxCoeff();
      likelihood.col(i) = (likelihood.col(i).array() - most).exp();
    }
    VectorXd start = VectorXd::Zero(90);
    start[3] = start[70] = 0.5;
    for (const VectorXd& from : {VectorXd(), start}) {
      const VectorXd beta = fit_mixture(likelihood, 1e-9, from);
      EXPECT_NEAR(beta.sum(), 1, 1e-12);
      EXPECT_GE(beta.minCoeff(), 0);
      const VectorXd density = likelihood.transpose() * beta;
      EXPECT_LE((likelihood * density.cwiseInverse() / 200).maxCoeff(), 1 + 1e-9) << width;
    }
  }
}

TEST(Kliep, MeanOverTrainingIsOne) {
  const Matrix train = normals(300, 2, 0, 1, 9);
  const Matrix target = normals(200, 2, 0.5, 1, 10);
  const auto ratio = fit_ratio(with(RatioMethod::kliep), train.view(), target.view());
  double mean = 0;
  for (const double l : ratio->log_ratio(train.view())) mean += std::exp(l) / 300;
  EXPECT_NEAR(mean, 1, 1e-5);
}

TEST(Kliep, SamplesApartAreRefused) {
  RatioOptions options = with(RatioMethod::kliep);
  options.kernel_width = 1;
  EXPECT_THAT(message_of(
                  [&] {
                    (void)fit_ratio(options, normals(50, 1, 0, 1, 11).view(),
                                    normals(50, 1, 1000, 1, 12).view());
                  },
                  Error::Kind::numeric),
              ::testing::HasSubstr("do not overlap"));
}

TEST(Kmm, SolutionIsOptimalAndDefinedEverywhere) {
  const Matrix train = normals(200, 1, 0, 1, 13);
  const Matrix target = normals(150, 1, 1.0, 0.7, 14);
  const double width = 0.8;
  const double rho = 0.01;
  const double slack = 0.02;
  MatrixXd kernel(200, 200);
  VectorXd kappa = VectorXd::Zero(200);
  const auto k = [&](double a, double b) {
    return std::exp(-(a - b) * (a - b) / (2 * width * width));
  };
  for (Index i = 0; i < 200; ++i) {
    for (Index j = 0; j < 200; ++j) kernel(i, j) = k(train.values[i], train.values[j]);
    for (const double t : target.values) kappa[i] += k(train.values[i], t) / 150;
  }
  const VectorXd share = VectorXd::Constant(200, 1.0 / 200);
  for (const double bound : {1000.0, 2.0}) {
    const KmmSolution s = solve_kmm(kernel, kappa, share, rho, bound, slack, 1e-11);
    EXPECT_GE(s.beta.minCoeff(), 0);
    EXPECT_LE(s.beta.maxCoeff(), bound);
    const double mean = s.beta.mean();
    EXPECT_LE(std::abs(mean - 1), slack + 1e-9);
    // KKT: one multiplier nu of the mean, with its sign, and the right sign at each bound.
    const VectorXd gradient = kernel * s.beta / 200 - kappa + rho * (s.beta.array() - 1).matrix();
    const double nu = -rho * s.shift;
    if (std::abs(mean - 1) < slack - 1e-6) {
      EXPECT_NEAR(nu, 0, 1e-9);
    }
    if (mean < 1) {
      EXPECT_GE(nu, -1e-9);
    }
    if (mean > 1) {
      EXPECT_LE(nu, 1e-9);
    }
    for (Index i = 0; i < 200; ++i) {
      const double reduced = gradient[i] - nu;
      if (s.beta[i] <= 0) {
        EXPECT_GE(reduced, -1e-8);
      } else if (s.beta[i] >= bound) {
        EXPECT_LE(reduced, 1e-8);
      } else {
        EXPECT_NEAR(reduced, 0, 1e-8);
      }
    }
    // The function agrees with the weights at the training rows.
    RatioOptions options = with(RatioMethod::kmm);
    options.kernel_width = width;
    options.kernel_lambda = rho;
    options.kmm_slack = slack;
    options.kmm_bound = bound;
    const auto ratio = fit_ratio(options, train.view(), target.view());
    const std::vector<double> at = ratio->log_ratio(train.view());
    for (Index i = 0; i < 200; ++i) {
      EXPECT_NEAR(std::exp(at[i]), std::max(s.beta[i], ratio_floor), 1e-6);
    }
  }
}

TEST(Kernel, DistancesAreThoseOfTheRows) {
  Matrix a = normals(30, 40, 0, 1, 15);
  Random random(16);
  for (double& v : a.values) v = random.uniform() < 0.9 ? 0.0 : v;
  const Matrix sparse = to_sparse(a);
  const Rows rows(sparse.view(), {});
  std::vector<Centres::Row> some;
  for (std::size_t i = 0; i < 10; ++i) some.emplace_back(&rows, i);
  const Centres centres(some, 40);
  std::vector<std::size_t> order(30);
  std::iota(order.begin(), order.end(), std::size_t{0});
  const MatrixXd squared = centres.squared_distances(rows, order, 1);
  for (std::size_t i = 0; i < 30; ++i) {
    for (std::size_t c = 0; c < 10; ++c) {
      double expected = 0;
      for (std::size_t j = 0; j < 40; ++j) {
        expected += std::pow(a.values[i * 40 + j] - a.values[c * 40 + j], 2);
      }
      EXPECT_NEAR(squared(static_cast<Index>(c), static_cast<Index>(i)), expected, 1e-12);
    }
  }
}

TEST(Kernel, ValuesAndMomentsAreTheFormulas) {
  Random random(18);
  for (const Index n : {1, 7, 8, 13, 64, 130}) {
    const MatrixXd squared = 30 * random_kernels(n, 3, 19).cwiseAbs2();
    const MatrixXd phi = gaussian_kernels(squared, 1.7);
    for (Index k = 0; k < squared.size(); ++k) {
      EXPECT_NEAR(phi(k), std::exp(-squared(k) / (2 * 1.7 * 1.7)), 1e-15);
    }
    const MatrixXd rows = random_kernels(n, 150, 20);
    VectorXd weight(150);
    for (double& w : weight) w = random.uniform();
    MatrixXd expected = MatrixXd::Zero(n, n);
    for (Index i = 2; i < 150; i += 4) {
      expected += weight[i] * rows.col(i) * rows.col(i).transpose();
    }
    EXPECT_LT((weighted_gram(rows, weight, 2, 4) - expected).cwiseAbs().maxCoeff(), 1e-13);
  }
  EXPECT_EQ(gaussian_kernels(MatrixXd::Constant(1, 1, INFINITY), 1)(0), 0);
}

TEST(Kernel, WalksEndBehindTheValley) {
  constexpr double none = std::numeric_limits<double>::infinity();
  RatioOptions options;
  options.threads = 2;
  const auto walk = [&](const std::vector<double>& losses, std::size_t middle) {
    return walk_losses(options, losses.size(), middle, [&](std::size_t k, std::size_t from) {
      EXPECT_LE(std::max(k, from) - std::min(k, from), 1U);
      return losses[k];
    });
  };
  using Losses = std::vector<double>;
  EXPECT_EQ(walk({9, 8, 7, 3, 4, 5, 6, 7}, 4), (Losses{none, 8, 7, 3, 4, 5, 6, none}));
  EXPECT_EQ(walk({1, 2, 3, 4}, 3), (Losses{1, 2, 3, 4}));
  EXPECT_EQ(walk({5, 4, 6, 2, 7, 8, 0}, 1), (Losses{5, 4, 6, 2, 7, 8, none}));
  EXPECT_EQ(walk({none, none, none, none, 3}, 1), (Losses{none, none, none, none, 3}));
  EXPECT_EQ(walk({3}, 0), (Losses{3}));
  EXPECT_EQ(least({none, 2, 1, 1}), 2U);
  options.time_limit = 1e-12;
  EXPECT_EQ(walk({1, 2, 3, 4}, 2), (Losses{none, none, 3, none}));
}

}  // namespace
}  // namespace covshift::testing
