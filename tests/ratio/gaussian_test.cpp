#include "covshift/ratio/gaussian.hpp"

#include <numbers>

#include "tests/ratio/support.hpp"

namespace covshift::testing {
namespace {

TEST(GaussianRatio, KnownInClosedForm) {
  const auto ratio = gaussian_ratio({{0.0}, {1.0}}, {{0.5}, {1.0}});
  const Matrix x = dense(4, 1, {-3, 0, 0.25, 10});
  const std::vector<double> at = ratio->log_ratio(x.view());
  for (std::size_t i = 0; i < 4; ++i) EXPECT_NEAR(at[i], 0.5 * x.values[i] - 0.125, 1e-13);
}

TEST(GaussianRatio, CorrelatedByTheFormula) {
  const Gaussian train{{1.0, -1.0}, {2.0, 0.5, 0.5, 1.0}};
  const Gaussian target{{0.0, 0.5}, {1.0, -0.3, -0.3, 0.5}};
  const auto log_density = [](const Gaussian& g, double x, double y) {
    const double a = g.covariance[0];
    const double b = g.covariance[1];
    const double c = g.covariance[3];
    const double determinant = a * c - b * b;
    const double dx = x - g.mean[0];
    const double dy = y - g.mean[1];
    return -std::log(2 * std::numbers::pi) - 0.5 * std::log(determinant) -
           0.5 * (c * dx * dx - 2 * b * dx * dy + a * dy * dy) / determinant;
  };
  const auto ratio = gaussian_ratio(train, target);
  const Matrix x = normals(20, 2, 0, 3, 1);
  const std::vector<double> at = ratio->log_ratio(x.view());
  for (std::size_t i = 0; i < x.rows; ++i) {
    const double a = x.values[2 * i];
    const double b = x.values[2 * i + 1];
    EXPECT_NEAR(at[i], log_density(target, a, b) - log_density(train, a, b), 1e-11);
  }
}

TEST(GaussianRatio, FittedRecoversKnown) {
  const Matrix train = normals(200000, 1, 0.0, 1.0, 2);
  const Matrix target = normals(100000, 1, 0.5, 1.0, 3);
  const auto ratio = fit_ratio(with(RatioMethod::gaussian), train.view(), target.view());
  for (const double x : {-2.0, 0.0, 1.0, 2.0}) {
    EXPECT_NEAR(ratio->log_ratio(dense(1, 1, {x}).view())[0], 0.5 * x - 0.125, 0.05);
  }
  EXPECT_EQ(ratio->report()["ridge"], 0.0);
}

TEST(GaussianRatio, MomentsAreThoseOfTheSamples) {
  const Matrix train = dense(2, 2, {0, 0, 2, 4});
  const Matrix target = dense(3, 2, {1, 0, 0, 1, 2, 2});
  const auto ratio = fit_ratio(with(RatioMethod::gaussian), train.view(), target.view());
  const auto& fitted = dynamic_cast<const GaussianRatio&>(*ratio);
  EXPECT_THAT(fitted.train().mean, ::testing::ElementsAre(1, 2));
  EXPECT_NEAR(fitted.train().covariance[1], 2, 1e-12);
  EXPECT_NEAR(fitted.target().covariance[3], 2.0 / 3, 1e-5);
  EXPECT_EQ(ratio->report()["ridge"], 1e-6);  // two points lie on a line
}

TEST(GaussianRatio, DirectionsWithoutVarianceCancel) {
  // The third column is the same constant in both, the fourth twice the first.
  const auto extend = [](const Matrix& m) {
    std::vector<double> values;
    for (std::size_t i = 0; i < m.rows; ++i) {
      const double* row = m.values.data() + 2 * i;
      values.insert(values.end(), {row[0], row[1], 7.0, 2 * row[0]});
    }
    return dense(m.rows, 4, values);
  };
  const Matrix train = normals(5000, 2, 0, 1, 4);
  const Matrix target = normals(5000, 2, 0.5, 1, 5);
  const auto plain = fit_ratio(with(RatioMethod::gaussian), train.view(), target.view());
  const auto wide =
      fit_ratio(with(RatioMethod::gaussian), extend(train).view(), extend(target).view());
  EXPECT_GT(wide->report()["ridge"].get<double>(), 0);
  const std::vector<double> a = plain->log_ratio(train.view());
  const std::vector<double> b = wide->log_ratio(extend(train).view());
  for (std::size_t i = 0; i < a.size(); ++i) ASSERT_NEAR(a[i], b[i], 0.01);
}

TEST(GaussianRatio, UnusableDensities) {
  EXPECT_THAT(message_of([] {
                (void)gaussian_ratio({{0.0}, {0.0}}, {{0.0}, {1.0}});
              }),
              ::testing::HasSubstr("not positive definite"));
  EXPECT_THAT(message_of([] {
                (void)gaussian_ratio({{0.0}, {1.0}}, {{0.0, 1.0}, {1.0}});
              }),
              ::testing::HasSubstr("2 means and 1 covariances for 1 columns"));
  EXPECT_THAT(message_of([] {
                (void)gaussian_ratio({{0, 0}, {1, 0.5, 0, 1}}, {{0, 0}, {1, 0, 0, 1}});
              }),
              ::testing::HasSubstr("not symmetric"));
  EXPECT_THAT(message_of([] {
                (void)gaussian_ratio({{NAN}, {1.0}}, {{0.0}, {1.0}});
              }),
              ::testing::HasSubstr("not finite"));
}

}  // namespace
}  // namespace covshift::testing
