// P_gen ~ min(P_train, D P_test): what it must equal, and its optimum by another solver.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "covshift/base/random.hpp"
#include "covshift/learn/solve.hpp"
#include "covshift/shift/shift.hpp"

namespace covshift {
namespace {

constexpr std::size_t n = 80;
constexpr std::size_t d = 2;
constexpr std::size_t k = 3;
constexpr double lambda = 0.02;

class Overlap : public ::testing::Test {
 protected:
  void SetUp() override {
    Random random(5);
    for (std::size_t i = 0; i < n; ++i) {
      for (std::size_t j = 0; j < d; ++j) {
        train_.push_back(random.normal());
        target_.push_back(random.normal() + (j == 0 ? 1.5 : 0.0));
      }
      const double score = train_[d * i] + 0.5 * random.normal();
      labels_.push_back(score < -0.5 ? 0 : score < 0.5 ? 1 : 2);
    }
    options_.ratio.lambda = RatioLambda::parse("0.01");
  }

  [[nodiscard]] static MatrixView view(const std::vector<double>& x) {
    return MatrixView::dense(x.data(), n, d);
  }
  [[nodiscard]] Shift shift(const char* assumption) const {
    return Shift::fit(parse_assumption(assumption), options_, views_, view(train_), view(target_),
                      {}, {}, {});
  }
  /// T of the log or zero-one loss under an assumption.
  [[nodiscard]] std::vector<double> fit(const char* assumption, const char* loss = "log") const {
    const Shift under = shift(assumption);
    const Shift::Ratios rows = under.at(view(train_));
    const std::unique_ptr<Game> game = make_game(loss, k);
    const std::vector<int> scale_of_column = under.scales_of(std::vector<std::int32_t>{0, 1});
    Problem problem;
    problem.game = game.get();
    problem.features = view(train_);
    problem.labels = labels_;
    problem.lambda = lambda;
    if (under.weighted()) {
      problem.log_weight = rows.log_weight;
      problem.log_scale = rows.log_scale;
      problem.scales = under.scales();
      problem.scale_of_column = scale_of_column;
    }
    SolveOptions solve_options;
    solve_options.tolerance = 1e-14;
    return solve(problem, solve_options).weights;
  }
  static void expect_near(std::span<const double> a, std::span<const double> b, double tolerance) {
    ASSERT_EQ(a.size(), b.size());
    for (std::size_t j = 0; j < a.size(); ++j) EXPECT_NEAR(a[j], b[j], tolerance) << j;
  }

  std::vector<double> train_, target_;
  std::vector<int> labels_;
  Views views_{{"one", "two"}, {{0}, {1}}, {"", ""}};
  ShiftOptions options_;
};

TEST_F(Overlap, ScalesAreLimitedAndWeightedScalesToo) {
  for (const double limit : {0.5, 1.0, 3.0}) {
    const Shift::Ratios rows = shift(fmt::format("overlap:{}", limit).c_str()).at(view(train_));
    for (std::size_t i = 0; i < n; ++i) {
      const double w = std::exp(rows.log_ratio[i]);
      EXPECT_NEAR(std::exp(rows.log_scale[i]), std::min(1 / w, limit), 1e-12);
      EXPECT_NEAR(w * std::exp(rows.log_scale[i]), std::min(1.0, limit * w), 1e-12);
    }
  }
}

TEST_F(Overlap, ViewsAreLimitedEach) {
  options_.automatic = false;
  options_.generalized_views = {"two"};
  const Shift::Ratios free = shift("views").at(view(train_));
  const Shift::Ratios limited = shift("views:1.01").at(view(train_));
  ASSERT_EQ(free.log_scale.size(), 2 * n);
  bool changed[2] = {false, false};
  for (std::size_t e = 0; e < 2 * n; ++e) {
    EXPECT_EQ(limited.log_scale[e], std::min(free.log_scale[e], std::log(1.01)));
    changed[e % 2] = changed[e % 2] || limited.log_scale[e] != free.log_scale[e];
  }
  EXPECT_TRUE(changed[0] && changed[1]);
}

TEST_F(Overlap, WithoutALimitIsRobust) {
  for (const char* loss : {"log", "zero-one"}) {
    EXPECT_EQ(fit("overlap:inf", loss), fit("train", loss)) << loss;
    EXPECT_NE(fit("overlap:1", loss), fit("train", loss)) << loss;
  }
}

TEST_F(Overlap, WithoutShiftIsLogisticRegression) {
  target_ = train_;
  expect_near(fit("overlap"), fit("none"), 1e-6);
}

/// Accelerated gradient descent on the definition, written down once more.
TEST_F(Overlap, OptimumEqualsAnotherSolver) {
  const Shift::Ratios rows = shift("test").at(view(train_));
  for (const double limit : {0.7, 1.0, 2.0}) {
    constexpr std::size_t size = (d + 1) * k;
    std::vector<double> t(size);
    std::vector<double> ahead(size);
    for (int step = 0; step < 20000; ++step) {
      std::vector<double> gradient(size);
      for (std::size_t i = 0; i < n; ++i) {
        const double w = std::exp(rows.log_weight[i]);
        const double r = std::min(std::exp(-rows.log_ratio[i]), limit);
        const double z[d + 1] = {r * train_[d * i], r * train_[d * i + 1], r};
        double psi[k] = {};
        double total = 0;
        for (std::size_t y = 0; y < k; ++y) {
          for (std::size_t j = 0; j <= d; ++j) psi[y] += z[j] * ahead[j * k + y];
          total += std::exp(psi[y]);
        }
        for (std::size_t y = 0; y < k; ++y) {
          const double residual = std::exp(psi[y]) / total - (labels_[i] == static_cast<int>(y));
          for (std::size_t j = 0; j <= d; ++j) gradient[j * k + y] += w * z[j] * residual / n;
        }
      }
      for (std::size_t j = 0; j < size; ++j) {
        const double next = ahead[j] - 0.1 * (gradient[j] + 2 * lambda * ahead[j]);
        ahead[j] = next + 0.8 * (next - t[j]);
        t[j] = next;
      }
    }
    expect_near(fit(fmt::format("overlap:{}", limit).c_str()), t, 1e-6);
  }
}

}  // namespace
}  // namespace covshift
