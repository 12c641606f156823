#include "covshift/lab/statistics.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "covshift/base/error.hpp"

namespace covshift {
namespace {

TEST(Statistics, MeanAndStandardError) {
  const std::vector<double> x = {2, 4, 4, 4, 5, 5, 7, 9};
  EXPECT_DOUBLE_EQ(mean(x), 5);
  EXPECT_DOUBLE_EQ(standard_error(x), std::sqrt(32.0 / 7 / 8));
  EXPECT_EQ(standard_error(std::vector<double>{3}), 0);
}

// Student's own data on two soporifics (Biometrika 1908): t = -4.0621, p = 0.002833 (as R's
// t.test(extra ~ group, paired = TRUE) prints them).
TEST(Statistics, PairedTestOfStudentsSleepData) {
  const std::vector<double> one = {0.7, -1.6, -0.2, -1.2, -0.1, 3.4, 3.7, 0.8, 0.0, 2.0};
  const std::vector<double> two = {1.9, 0.8, 1.1, 0.1, -0.1, 4.4, 5.5, 1.6, 4.6, 3.4};
  const PairedTest test = paired_t_test(one, two);
  EXPECT_NEAR(test.difference, -1.58, 1e-12);
  EXPECT_NEAR(test.t, -4.0621, 5e-5);
  EXPECT_NEAR(test.p, 0.002833, 5e-7);
  const PairedTest swapped = paired_t_test(two, one);
  EXPECT_DOUBLE_EQ(swapped.t, -test.t);
  EXPECT_DOUBLE_EQ(swapped.p, test.p);
}

// With two degrees of freedom the distribution has a closed form: P(T > t) = 1/2 - t / (2 sqrt(2 +
// t^2)).
TEST(Statistics, PairedTestInClosedForm) {
  const std::vector<double> a = {1, 2, 4};
  const std::vector<double> b = {0, 0, 0};
  const double t = (7.0 / 3) / std::sqrt((7.0 / 3) / 3);  // variance of 1, 2, 4 is 7/3
  const PairedTest test = paired_t_test(a, b);
  EXPECT_NEAR(test.t, t, 1e-12);
  EXPECT_NEAR(test.p, 1 - t / std::sqrt(2 + t * t), 1e-12);
}

TEST(Statistics, DifferencesWithoutSpread) {
  const std::vector<double> a = {1, 2, 3};
  EXPECT_EQ(paired_t_test(a, a).p, 1);
  EXPECT_EQ(paired_t_test(std::vector<double>{2, 3, 4}, a).p, 0);
  EXPECT_THROW(paired_t_test(a, std::vector<double>{1, 2}), Error);
  EXPECT_THROW(paired_t_test(std::vector<double>{1}, std::vector<double>{2}), Error);
}

}  // namespace
}  // namespace covshift
