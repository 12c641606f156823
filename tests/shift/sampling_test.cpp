#include "covshift/shift/sampling.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <set>

#include "covshift/base/error.hpp"
#include "covshift/base/random.hpp"

namespace covshift {
namespace {

std::vector<double> cloud(std::size_t rows) {
  Random random(9);
  std::vector<double> x;
  for (std::size_t i = 0; i < rows; ++i) {
    x.push_back(random.normal());
    x.push_back(3 * random.normal());
    x.push_back(0.5 * random.normal());
  }
  return x;
}

TEST(BiasedSampling, SplitsByTheFeature) {
  const std::vector<double> x = cloud(300);
  BiasedSampling options;
  options.feature = 1;
  options.quantile = 0.3;
  const BiasedSample s = biased_sample(MatrixView::dense(x.data(), 300, 3), options);
  for (const std::size_t row : s.train) EXPECT_LE(x[3 * row + 1], s.threshold);
  for (const std::size_t row : s.target) EXPECT_GT(x[3 * row + 1], s.threshold);
  std::size_t below = 0;
  for (std::size_t i = 0; i < 300; ++i) below += x[3 * i + 1] <= s.threshold ? 1 : 0;
  EXPECT_EQ(below, 90U);
}

TEST(BiasedSampling, CrossingMixesThePortions) {
  const std::vector<double> x = cloud(2000);
  const MatrixView view = MatrixView::dense(x.data(), 2000, 3);
  BiasedSampling options;
  options.feature = 0;
  options.crossing = 0.25;
  options.train = options.target = 4000;
  const BiasedSample s = biased_sample(view, options);
  const std::set<std::size_t> train(s.train.begin(), s.train.end());
  double crossed = 0;
  for (const std::size_t i : train) {
    crossed += x[3 * i] > s.threshold ? 1 / static_cast<double>(train.size()) : 0;
  }
  EXPECT_NEAR(crossed, 0.25, 0.05);
  for (const std::size_t i : s.target) EXPECT_FALSE(train.contains(i)) << "a row is in one portion";
  options.crossing = 1;
  EXPECT_THROW(biased_sample(view, options), Error);
}

TEST(BiasedSampling, DrawsInProportionToTheNormalDensity) {
  // One feature: the portion's only component is the feature itself, centred.
  std::vector<double> x;
  for (int i = 0; i < 2000; ++i) x.push_back(i / 1000.0);
  BiasedSampling options;
  options.feature = 0;
  options.a = {4, 4};
  options.b = {2, 2};
  options.train = 40000;
  options.target = 1;
  const BiasedSample s = biased_sample(MatrixView::dense(x.data(), 2000, 1), options);
  // Training portion 0 .. 0.999: mu at a quarter of the range, sigma half the deviation.
  const double deviation = std::sqrt((1000.0 * 1000 - 1) / 12) / 1000;
  EXPECT_NEAR(s.train_draw.sigma, deviation / 2, 1e-9);
  double weight = 0;
  double expected = 0;
  for (int i = 0; i < 1000; ++i) {
    const double z = (i / 1000.0 - 0.999 / 4) / s.train_draw.sigma;
    weight += std::exp(-z * z / 2);
    expected += std::exp(-z * z / 2) * i / 1000.0;
  }
  expected /= weight;
  double mean = 0;
  for (const std::size_t row : s.train) mean += x[row] / 40000;
  EXPECT_NEAR(mean, expected, 0.003);
}

TEST(BiasedSampling, TheTargetMayHaveItsOwnIntervals) {
  const std::vector<double> x = cloud(100);
  const MatrixView view = MatrixView::dense(x.data(), 100, 3);
  BiasedSampling options;
  const BiasedSample same = biased_sample(view, options);
  options.target_a = {6, 8};
  options.target_b = {3, 5};
  const BiasedSample s = biased_sample(view, options);
  EXPECT_EQ(s.train, same.train) << "the training portion keeps its own";
  EXPECT_NE(s.target, same.target);
  EXPECT_TRUE(s.train_draw.a >= 2 && s.train_draw.a <= 4) << s.train_draw.a;
  EXPECT_TRUE(s.target_draw.a >= 6 && s.target_draw.a <= 8) << s.target_draw.a;
  EXPECT_TRUE(s.target_draw.b >= 3 && s.target_draw.b <= 5) << s.target_draw.b;
  options.target_b = {0, 1};
  EXPECT_THROW(biased_sample(view, options), Error);
}

TEST(BiasedSampling, WithoutReplacementNoRowIsDrawnTwice) {
  const std::vector<double> x = cloud(100);
  BiasedSampling options;
  options.replacement = false;
  options.train = options.target = 40;
  const BiasedSample s = biased_sample(MatrixView::dense(x.data(), 100, 3), options);
  EXPECT_EQ(std::set<std::size_t>(s.train.begin(), s.train.end()).size(), 40U);
  options.train = 51;
  EXPECT_THROW(biased_sample(MatrixView::dense(x.data(), 100, 3), options), Error);
}

TEST(BiasedSampling, IsReproducible) {
  const std::vector<double> x = cloud(100);
  BiasedSampling options;
  options.seed = 4;
  const MatrixView view = MatrixView::dense(x.data(), 100, 3);
  const BiasedSample s = biased_sample(view, options);
  EXPECT_EQ(s.train, biased_sample(view, options).train);
  options.seed = 5;
  EXPECT_NE(s.train, biased_sample(view, options).train);
}

TEST(BiasedSampling, RejectsInvalidOptions) {
  const std::vector<double> x(30, 1.0);
  BiasedSampling options;
  const MatrixView view = MatrixView::dense(x.data(), 10, 3);
  EXPECT_THROW(biased_sample(view, options), Error);  // constant
  options.feature = 3;
  EXPECT_THROW(biased_sample(view, options), Error);
  options.feature = 0;
  options.quantile = 1;
  EXPECT_THROW(biased_sample(view, options), Error);
  options.quantile = 0.5;
  options.a.low = 0;
  EXPECT_THROW(biased_sample(view, options), Error);
}

}  // namespace
}  // namespace covshift
