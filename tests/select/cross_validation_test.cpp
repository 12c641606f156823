#include "covshift/select/cross_validation.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "covshift/base/error.hpp"
#include "covshift/base/random.hpp"
#include "covshift/select/folds.hpp"
#include "covshift/select/mixture.hpp"

namespace covshift {
namespace {

struct Data {
  std::vector<double> x;
  std::vector<int> y;
  std::vector<double> log_weight;
  Problem problem;
};

/// Two noisy classes in one dimension, with weights that vary.
Data draw(const Game& game, std::size_t n) {
  Data d;
  Random random(5);
  for (std::size_t i = 0; i < n; ++i) {
    const double x = random.normal();
    d.x.push_back(x);
    d.y.push_back(random.uniform() < 1 / (1 + std::exp(-2 * x)) ? 1 : 0);
    d.log_weight.push_back(0.5 * x);
  }
  d.problem.game = &game;
  d.problem.features = MatrixView::dense(d.x.data(), n, 1);
  d.problem.labels = d.y;
  d.problem.lambda = 1;
  return d;
}

std::vector<CrossValidated> curve(const Problem& problem, const CrossValidation& options) {
  return held_out(problem, options).curve(options.importance);
}

TEST(Folds, AreBalancedWithinClasses) {
  std::vector<int> y(103);
  for (std::size_t i = 0; i < y.size(); ++i) y[i] = i % 10 == 0 ? 1 : 0;
  std::vector<double> x(y.size());
  std::iota(x.begin(), x.end(), 0.0);
  const MatrixView rows = MatrixView::dense(x.data(), x.size(), 1);
  const std::vector<int> fold = stratified_folds(rows, y, {}, 5, 7);
  for (int f = 0; f < 5; ++f) {
    int rare = 0;
    int all = 0;
    for (std::size_t i = 0; i < y.size(); ++i) {
      all += fold[i] == f ? 1 : 0;
      rare += fold[i] == f && y[i] == 1 ? 1 : 0;
    }
    EXPECT_NEAR(all, 103 / 5.0, 1);
    EXPECT_NEAR(rare, 11 / 5.0, 1);
  }
  EXPECT_EQ(fold, stratified_folds(rows, y, {}, 5, 7));
  EXPECT_NE(fold, stratified_folds(rows, y, {}, 5, 8));

  // In any order of the examples.
  std::reverse(x.begin(), x.end());
  std::reverse(y.begin(), y.end());
  std::vector<int> backwards = stratified_folds(rows, y, {}, 5, 7);
  std::reverse(backwards.begin(), backwards.end());
  EXPECT_EQ(fold, backwards);
}

TEST(Folds, KeepCopiesTogether) {
  const std::vector<double> x = {1, 2, 3, 4, 5, 6, 7, 8, 9, 3, 3, 8};
  const std::vector<int> y = {0, 1, 0, 1, 0, 1, 0, 1, 0, 0, 1, 1};
  const std::vector<int> fold =
      stratified_folds(MatrixView::dense(x.data(), x.size(), 1), y, {}, 4, 1);
  EXPECT_EQ(fold[9], fold[2]);
  EXPECT_EQ(fold[11], fold[7]);
  // 3 with the other label is another example: folds are those without the copies.
  std::vector<double> weight(x.size(), 1.0);
  weight[9] = weight[11] = 0;
  std::vector<int> without =
      stratified_folds(MatrixView::dense(x.data(), x.size(), 1), y, weight, 4, 1);
  EXPECT_EQ(without[9], -1);
  without[9] = without[2];
  without[11] = without[7];
  EXPECT_EQ(fold, without);
}

TEST(Folds, SpreadExamplesWithEqualFeatures) {
  std::vector<double> x(60);  // two values, neither of which may be held out completely
  std::vector<int> y(60);
  for (std::size_t i = 0; i < x.size(); ++i) {
    x[i] = static_cast<double>(i % 2);
    y[i] = i % 3 == 0 ? 1 : 0;
  }
  const std::vector<int> fold =
      stratified_folds(MatrixView::dense(x.data(), x.size(), 1), y, {}, 5, 0);
  for (int f = 0; f < 5; ++f) {
    int ones = 0;
    for (std::size_t i = 0; i < x.size(); ++i) ones += fold[i] == f && x[i] == 1 ? 1 : 0;
    EXPECT_NEAR(ones, 6, 1);
  }
}

TEST(Folds, LeaveOutExamplesOfWeightZero) {
  const std::vector<int> y = {0, 1, 0, 1, 0, 1};
  const std::vector<double> w = {1, 1, 0, 1, 1, 0};
  const std::vector<double> x = {1, 2, 3, 4, 5, 6};
  const std::vector<int> fold = stratified_folds(MatrixView::dense(x.data(), 6, 1), y, w, 2, 0);
  EXPECT_EQ(fold[2], -1);
  EXPECT_EQ(fold[5], -1);
  EXPECT_EQ(std::count(fold.begin(), fold.end(), -1), 2);
}

/// The definition, with the data of each fold copied, for log loss in one dimension.
double naive(const Data& d, double lambda, const std::vector<int>& fold, int folds,
             std::span<const double> importance) {
  double sum = 0;
  for (int f = 0; f < folds; ++f) {
    std::vector<double> x;
    std::vector<int> y;
    for (std::size_t i = 0; i < d.y.size(); ++i) {
      if (fold[i] == f) continue;
      x.push_back(d.x[i]);
      y.push_back(d.y[i]);
    }
    Problem p = d.problem;
    p.features = MatrixView::dense(x.data(), x.size(), 1);
    p.labels = y;
    p.lambda = lambda;
    SolveOptions tight;
    tight.tolerance = 1e-12;
    const std::vector<double> t = solve(p, tight).weights;
    for (std::size_t i = 0; i < d.y.size(); ++i) {
      if (fold[i] != f) continue;
      const double lead = (t[1] - t[0]) * d.x[i] + t[3] - t[2];
      const double loss = std::log1p(std::exp(d.y[i] == 1 ? -lead : lead));
      sum += loss * (importance.empty() ? 1 : importance[i]);
    }
  }
  return sum / static_cast<double>(d.y.size());
}

TEST(CrossValidation, IsTheMeanHeldOutLoss) {
  const auto game = log_game(2);
  const Data d = draw(*game, 61);
  CrossValidation cv;
  cv.lambdas = {0.001, 1, 0.05};
  cv.folds = 4;
  cv.seed = 3;
  cv.solve.tolerance = 1e-12;
  const std::vector<int> fold = stratified_folds(d.problem.features, d.y, {}, 4, 3);
  for (const bool importance : {false, true}) {
    std::vector<double> weight;
    for (const double l : d.log_weight) weight.push_back(std::exp(l));
    if (importance) cv.importance = weight;
    const std::vector<CrossValidated> points = curve(d.problem, cv);
    ASSERT_EQ(points.size(), 3U);
    EXPECT_EQ(points[0].lambda, 1);  // largest first
    for (const CrossValidated& point : points) {
      EXPECT_NEAR(point.loss, naive(d, point.lambda, fold, 4, cv.importance), 1e-6);
      EXPECT_GT(point.standard_error, 0);
    }
  }
}

TEST(CrossValidation, LeavesOutSingleRowsWhereThatIsCheap) {
  const auto game = log_game(2);
  const Data d = draw(*game, 41);
  CrossValidation cv;
  cv.lambdas = {0.01};
  cv.folds = 41;  // a row each
  cv.solve.tolerance = 1e-12;
  const double by_fits = curve(d.problem, cv)[0].loss;
  cv.folds = 5;
  const double by_folds = curve(d.problem, cv)[0].loss;
  cv.leave_one_out = true;
  const double approximate = curve(d.problem, cv)[0].loss;
  EXPECT_NEAR(approximate, by_fits, 4e-3);  // a step, and another share of the penalty
  EXPECT_NE(approximate, by_folds);
  cv.seed = 9;  // nothing is dealt
  EXPECT_EQ(curve(d.problem, cv)[0].loss, approximate);
}

TEST(CrossValidation, DoesNotDependOnThreads) {
  const auto game = zero_one_game(2);
  const Data d = draw(*game, 80);
  CrossValidation cv;
  cv.lambdas = {0.01, 1};
  std::vector<double> losses;
  for (const int threads : {1, 2, 3}) {
    cv.threads = threads;
    losses.push_back(curve(d.problem, cv)[1].loss);
  }
  EXPECT_EQ(losses[0], losses[1]);
  EXPECT_EQ(losses[0], losses[2]);
}

TEST(CrossValidation, UniformImportanceChangesNothing) {
  const auto game = log_game(2);
  const Data d = draw(*game, 50);
  CrossValidation cv;
  cv.lambdas = {0.01, 0.1};
  const auto plain = curve(d.problem, cv);
  const std::vector<double> one(50, 1.0);
  cv.importance = one;
  const auto weighted = curve(d.problem, cv);
  EXPECT_EQ(plain[0].loss, weighted[0].loss);
  EXPECT_EQ(plain[1].standard_error, weighted[1].standard_error);
}

TEST(Folds, ChangeLittleWithTheData) {
  Random random(3);
  const std::size_t rows = 400;
  const std::size_t cols = 6;
  std::vector<double> x(rows * cols);
  std::vector<double> jittered;
  std::vector<double> reordered(rows * cols);
  std::vector<int> y(rows);
  for (double& v : x) v = random.normal();
  for (const double v : x) jittered.push_back(v * (1 + 1e-7 * random.normal()));
  for (std::size_t i = 0; i < rows; ++i) {
    y[i] = static_cast<int>(random.below(2));
    for (std::size_t j = 0; j < cols; ++j) reordered[i * cols + cols - 1 - j] = x[i * cols + j];
  }
  const auto folds = [&](const std::vector<double>& of, unsigned long long seed) {
    return stratified_folds(MatrixView::dense(of.data(), rows, cols), y, {}, 5, seed);
  };
  const auto differ = [&](const std::vector<int>& a, const std::vector<int>& b) {
    int n = 0;
    for (std::size_t i = 0; i < rows; ++i) n += a[i] != b[i] ? 1 : 0;
    return n;
  };
  EXPECT_LE(differ(folds(x, 0), folds(jittered, 0)), 4);
  EXPECT_LE(differ(folds(x, 0), folds(reordered, 0)), 2);
  EXPECT_GT(differ(folds(x, 0), folds(x, 1)), 200);
}

TEST(Folds, OneRowMoreMovesFewOthers) {
  Random random(4);
  const std::size_t rows = 500;
  std::vector<double> x;
  std::vector<int> y;
  for (std::size_t i = 0; i < rows; ++i) {
    x.push_back(random.normal());
    x.push_back(random.normal());
    y.push_back(static_cast<int>(i % 2));
  }
  const std::vector<int> before =
      stratified_folds(MatrixView::dense(x.data(), rows - 1, 2), y, {}, 5, 0);
  const std::vector<int> after =
      stratified_folds(MatrixView::dense(x.data(), rows, 2), y, {}, 5, 0);
  int moved = 0;
  for (std::size_t i = 0; i + 1 < rows; ++i) moved += before[i] != after[i] ? 1 : 0;
  EXPECT_LE(moved, 4);  // one at the end of each fold but the last
}

TEST(Folds, KeepCopiesTogetherThatDifferInTheLastDigits) {
  Random random(5);
  const std::size_t rows = 300;
  std::vector<double> x;
  std::vector<int> y;
  for (std::size_t i = 0; i < rows; ++i) {  // three of each, as of ages and categories
    const double one = std::round(3 * std::sin(7.0 * static_cast<double>(i / 3))) / 3;
    const double other = static_cast<double>(i / 3 % 11);
    for (const double v : {one, other}) x.push_back(v + 1e-7 * random.normal());
    y.push_back(static_cast<int>(i / 3 % 2));
  }
  const std::vector<int> fold = stratified_folds(MatrixView::dense(x.data(), rows, 2), y, {}, 5, 0);
  for (std::size_t i = 0; i < rows; ++i) EXPECT_EQ(fold[i], fold[i / 3 * 3]) << i;
  std::vector<double> exact;
  for (const double v : x) exact.push_back(std::round(v * 3) / 3);
  const std::vector<int> other =
      stratified_folds(MatrixView::dense(exact.data(), rows, 2), y, {}, 5, 0);
  int moved = 0;
  for (std::size_t i = 0; i < rows; ++i) moved += fold[i] != other[i] ? 1 : 0;
  EXPECT_LE(moved, 15);  // a group at the end of each fold
}

TEST(CrossValidation, RefinesLambdaByAParabola) {
  // loss = (log lambda - log 0.02)^2 at uneven distances
  std::vector<CrossValidated> points;
  for (const double lambda : {4.0, 1.0, 0.05, 0.01, 0.001}) {
    points.push_back({lambda, std::pow(std::log(lambda / 0.02), 2), 0});
  }
  EXPECT_NEAR(refined_lambda(points), 0.02, 0.0002);         // in steps of 1%
  EXPECT_EQ(refined_lambda(std::span(points).first(2)), 1);  // an end
  points[3].loss = points[2].loss;
  EXPECT_EQ(refined_lambda(std::span(points).subspan(2, 1)), 0.05);
}

TEST(CrossValidation, DefensiveImportanceIsHalfOfOneAndHalfOfTheWeight) {
  const std::vector<double> log_weight = {std::log(1.0), std::log(3.0), std::log(8.0)};
  const std::vector<double> count = {2, 1, 0};
  const std::vector<double> v = defensive_importance(log_weight, count);
  EXPECT_NEAR(v[0], 0.5 + 0.5 * 1 / (5.0 / 3), 1e-14);
  EXPECT_NEAR(v[1], 0.5 + 0.5 * 3 / (5.0 / 3), 1e-14);
  EXPECT_TRUE(defensive_importance({}, {}).empty());
}

TEST(CrossValidation, StopsWhenLossesRise) {
  const auto game = log_game(2);
  const Data d = draw(*game, 60);
  CrossValidation cv;
  cv.lambdas = {0.05, 4, 30, 200, 1000};
  cv.patience = 2;
  EXPECT_EQ(held_out(d.problem, cv).lambdas.size(), 5U);  // falling towards small lambdas
  std::vector<int> noise = d.y;
  Problem problem = d.problem;
  problem.labels = noise;
  Random random(1);
  for (int& y : noise) y = static_cast<int>(random.below(2));
  cv.lambdas = {4, 1, 0.1, 0.01, 0.001, 1e-4, 1e-5};
  EXPECT_LT(held_out(problem, cv).lambdas.size(), 7U);
}

TEST(CrossValidation, InterpolatesPotentials) {
  HeldOut held;
  held.lambdas = {1, 0.01};
  held.count = {1, 1};
  held.potentials = {0, 1, 2, 3, 10, 11, 12, 13};
  EXPECT_EQ(held.potentials_at(1), (std::vector<double>{0, 1, 2, 3}));
  EXPECT_EQ(held.potentials_at(0.01), (std::vector<double>{10, 11, 12, 13}));
  EXPECT_NEAR(held.potentials_at(0.1)[1], 6, 1e-12);
}

TEST(Mixture, SharesMaximiseTheHeldOutLikelihood) {
  Random random(2);
  const std::size_t n = 80;
  std::vector<double> likelihood;
  std::vector<double> weight(n);
  for (std::size_t i = 0; i < 3 * n; ++i) likelihood.push_back(0.05 + 0.9 * random.uniform());
  for (double& w : weight) w = 0.5 + random.uniform();
  const std::vector<double> prior = {3.25, 0.25, 0.25};
  const auto objective = [&](const std::vector<double>& share) {
    double sum = 0;
    for (std::size_t i = 0; i < n; ++i) {
      double p = 0;
      for (std::size_t c = 0; c < 3; ++c) p += share[c] * likelihood[c * n + i];
      sum += weight[i] * std::log(p);
    }
    for (std::size_t c = 0; c < 3; ++c) sum += prior[c] * std::log(share[c]);
    return sum;
  };
  const std::vector<double> share = mixture_shares(likelihood, weight, prior);
  EXPECT_NEAR(share[0] + share[1] + share[2], 1, 1e-12);
  const double most = objective(share);
  for (int trial = 0; trial < 300; ++trial) {
    std::vector<double> other = share;
    const double step = 0.02 * random.uniform();
    const std::size_t from = random.below(3);
    other[from] -= std::min(step, 0.9 * other[from]);
    other[(from + 1) % 3] += share[from] - other[from];
    EXPECT_LE(objective(other), most + 1e-6);
  }
}

TEST(Mixture, ThePriorBoundsAShareFromBelow) {
  const std::vector<double> likelihood = {1e-300, 1e-300, 0,
                                          1,      1,      1};  // all rows speak for the second
  const std::vector<double> weight = {4, 5, 6};
  const std::vector<double> prior = {3.5, 0.5};
  const std::vector<double> share = mixture_shares(likelihood, weight, prior);
  EXPECT_NEAR(share[0], 3.5 / 19, 1e-9);
}

TEST(CrossValidation, PrefersMoreRegularisationOnTies) {
  const std::vector<CrossValidated> points = {{1, 0.5, 0}, {0.1, 0.4, 0}, {0.01, 0.4, 0}};
  EXPECT_EQ(best(points).lambda, 0.1);
}

TEST(CrossValidation, InvalidOptionsAndCancellationAreErrors) {
  const auto game = log_game(2);
  const Data d = draw(*game, 10);
  CrossValidation cv;
  EXPECT_THROW(curve(d.problem, cv), Error);  // no lambda
  cv.lambdas = {1};
  cv.folds = 11;
  EXPECT_THROW(curve(d.problem, cv), Error);
  cv.folds = 5;
  const std::vector<double> three(3, 0.0);
  cv.importance = three;
  EXPECT_THROW(curve(d.problem, cv), Error);
  cv.importance = {};
  cv.cancelled = [] { return true; };
  try {
    curve(d.problem, cv);
    FAIL() << "not stopped";
  } catch (const Error& e) {
    EXPECT_EQ(e.kind(), Error::Kind::stopped);
  }
}

}  // namespace
}  // namespace covshift
