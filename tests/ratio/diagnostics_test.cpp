#include "covshift/ratio/diagnostics.hpp"

#include "covshift/ratio/gaussian.hpp"
#include "tests/ratio/support.hpp"

namespace covshift::testing {
namespace {

TEST(Diagnostics, EffectiveSampleSize) {
  EXPECT_DOUBLE_EQ(effective_sample_size(std::vector<double>(7, 3.0)), 7);
  const std::vector<double> w = {std::log(1.0), std::log(2.0), std::log(3.0)};
  EXPECT_NEAR(effective_sample_size(w), 36.0 / 14, 1e-12);
  // Only differences matter, and nothing overflows.
  for (const double up : {-1e6, 900.0, 1e15}) {
    std::vector<double> moved = {up, up, up - 1e4};
    EXPECT_NEAR(effective_sample_size(moved), 2, 1e-9);
  }
  EXPECT_DOUBLE_EQ(effective_sample_size(std::vector<double>{1e300, -1e300}), 1);
  // A row that counts twice is two rows.
  const std::vector<double> twice = {w[0], w[1], w[1], w[2]};
  EXPECT_NEAR(effective_sample_size(w, std::vector<double>{1, 2, 1}), effective_sample_size(twice),
              1e-12);
  EXPECT_NEAR(effective_sample_size(w, std::vector<double>{1, 0, 0}), 1, 1e-12);
}

TEST(Diagnostics, LargestWeights) {
  const std::vector<double> w = {0, std::log(5.0), std::log(2.0), std::log(2.0)};
  const std::vector<LargeWeight> top = largest_weights(w, 3);
  ASSERT_EQ(top.size(), 3);
  EXPECT_EQ(top[0].row, 1);
  EXPECT_NEAR(top[0].share, 0.5, 1e-12);
  EXPECT_EQ(top[1].row, 2);
  EXPECT_EQ(top[2].row, 3);
  EXPECT_EQ(largest_weights(w, 100).size(), 4);
}

TEST(Diagnostics, MeanShifts) {
  // Weights 1:3 move the mean of the first column from 1 to 1.5, the target's.
  const Matrix train = dense(2, 3, {0, 4, 0, 2, 4, 0});
  const Matrix target = dense(2, 3, {1, 4, 1, 2, 4, 1});
  const std::vector<double> w = {700, 700 + std::log(3.0)};
  for (const bool sparse : {false, true}) {
    const Matrix tr = sparse ? to_sparse(train) : train;
    const std::vector<MeanShift> shifts = mean_shifts(tr.view(), target.view(), w);
    ASSERT_EQ(shifts.size(), 3);
    EXPECT_NEAR(shifts[0].train, 1, 1e-12);
    EXPECT_NEAR(shifts[0].weighted, 1.5, 1e-12);
    EXPECT_NEAR(shifts[0].target, 1.5, 1e-12);
    EXPECT_NEAR(shifts[0].deviation, std::sqrt((1 + 0.25) / 2), 1e-12);
    EXPECT_NEAR(shifts[0].before, -0.5 / shifts[0].deviation, 1e-12);
    EXPECT_NEAR(shifts[0].after, 0, 1e-12);
    EXPECT_EQ(shifts[1].before, 0);
    EXPECT_EQ(shifts[1].after, 0);
    EXPECT_EQ(shifts[2].before, -1);
  }
}

TEST(Diagnostics, AreaUnderCurve) {
  EXPECT_EQ(area_under_curve(std::vector<double>{1, 2}, std::vector<double>{3, 4}), 1);
  EXPECT_EQ(area_under_curve(std::vector<double>{3, 4}, std::vector<double>{1, 2}), 0);
  EXPECT_EQ(area_under_curve(std::vector<double>{1, 1}, std::vector<double>{1, 1, 1}), 0.5);
  const std::vector<double> negative = {0, 1, 1, 2};
  const std::vector<double> positive = {1, 2, 3};
  double pairs = 0;
  for (const double n : negative) {
    for (const double p : positive) pairs += p > n ? 1 : (p == n ? 0.5 : 0);
  }
  EXPECT_DOUBLE_EQ(area_under_curve(negative, positive), pairs / 12);
}

TEST(Diagnostics, SymmetricKl) {
  // N(0,1) and N(m,1): m^2.
  const auto ratio = gaussian_ratio({{0.0}, {1.0}}, {{0.8}, {1.0}});
  const Matrix train = normals(100000, 1, 0, 1, 6);
  const Matrix target = normals(100000, 1, 0.8, 1, 7);
  EXPECT_NEAR(symmetric_kl(*ratio, train.view(), target.view()), 0.64, 0.02);
  EXPECT_DOUBLE_EQ(symmetric_kl(std::vector<double>{0.1, 0.3}, std::vector<double>{0.5},
                                std::vector<double>{3, 1}),
                   0.5 - 0.15);
  EXPECT_TRUE(std::isfinite(
      symmetric_kl(std::vector<double>(1000, -1e300), std::vector<double>(1000, 1e300))));
}

TEST(Diagnostics, BadInput) {
  EXPECT_THAT(message_of([] { (void)effective_sample_size(std::vector<double>{}); }),
              ::testing::HasSubstr("no weights"));
  EXPECT_THAT(message_of([] {
                (void)effective_sample_size(std::vector<double>{0, NAN});
              }),
              ::testing::HasSubstr("log weight of row 2 is nan"));
  EXPECT_THAT(message_of([] {
                (void)effective_sample_size(std::vector<double>{0, 1}, std::vector<double>{0, 0});
              }),
              ::testing::HasSubstr("positive sample weight"));
  const Matrix x = normals(4, 2, 0, 1, 8);
  EXPECT_THAT(message_of([&] { (void)mean_shifts(x.view(), x.view(), std::vector<double>(3)); }),
              ::testing::HasSubstr("3 log weights for 4 training rows"));
  EXPECT_THAT(message_of([&] {
                (void)mean_shifts(x.view(), normals(4, 3, 0, 1, 9).view(), std::vector<double>(4));
              }),
              ::testing::HasSubstr("2 columns, the target 3"));
}

}  // namespace
}  // namespace covshift::testing
