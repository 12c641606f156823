// F, its gradient, D and the gap at given weights against the formulas and finite differences.
#include "support.hpp"

#include <rapidcheck/gtest.h>

#include "covshift/learn/objective.hpp"
#include "covshift/learn/solver_parts.hpp"

namespace covshift {
namespace {

using namespace testing;

Data any_data(const std::string& loss, int variant, std::uint64_t seed) {
  Data data = make_data(loss, 20, 5, 3 + static_cast<int>(seed % 2), 0.02,
                        variant == 1   ? Weights::w_only
                        : variant == 2 ? Weights::shift
                                       : Weights::none,
                        seed);
  if (variant == 3) add_views(data, 3, 2, seed);
  if (variant == 4) {  // without a bias, with sample weights
    data.bias = false;
    Random random(seed);
    for (std::size_t i = 0; i < data.m; ++i) data.weight.push_back(random.uniform(0, 3));
    data.weight[3] = 0;
  }
  return data;
}

TEST(Value, agrees_with_the_formula) {
  for (const std::string& loss : losses()) {
    for (int variant = 0; variant < 5; ++variant) {
      for (const double size : {0.0, 1e-3, 0.3, 30.0}) {
        const std::string what = fmt::format("{} variant {} size {}", loss, variant, size);
        const Data data = any_data(loss, variant, 11);
        const std::vector<double> t = random_weights(data, size, 3);
        const Naive expected = naive(data, t);
        const Evaluation got = evaluate(data.problem(), t);
        const double scale = std::max(1.0, std::abs(static_cast<double>(expected.objective)));
        EXPECT_NEAR(got.objective, static_cast<double>(expected.objective), 1e-9 * scale) << what;
        EXPECT_GE(got.gap, 0) << what;
        EXPECT_NEAR(got.dual, got.objective - got.gap, 1e-12 * scale + 1e-12 * got.gap) << what;
        if (expected.margin < 1e-6) continue;  // a kink: several adversaries are best
        EXPECT_NEAR(got.dual, static_cast<double>(expected.dual),
                    1e-9 * std::max<double>(scale, std::abs(static_cast<double>(expected.dual))))
            << what;
        for (std::size_t j = 0; j < t.size(); ++j) {
          EXPECT_NEAR(got.gradient[j], static_cast<double>(expected.gradient[j]), 1e-8 * scale)
              << what << " at " << j;
        }
      }
    }
  }
}

TEST(Value, gradient_agrees_with_central_differences) {
  int smooth_points = 0;
  for (const std::string& loss : losses()) {
    int of_this_loss = 0;
    for (int variant = 0; variant < 5; ++variant) {
      for (std::uint64_t seed = 1; seed <= (sanitized ? 1 : 4); ++seed) {
        const Data data = any_data(loss, variant, seed);
        std::vector<double> t = random_weights(data, 0.5, seed);
        const double step = 1e-6;
        // e^10 is the largest scale, features are below 4: V stays smooth over the step.
        if (naive(data, t).margin < 4 * step * 8 * (variant == 2 ? 22027 : variant == 3 ? 8 : 1)) {
          continue;
        }
        ++of_this_loss;
        const Evaluation at = evaluate(data.problem(), t);
        for (std::size_t j = 0; j < t.size(); ++j) {
          const double keep = t[j];
          t[j] = keep + step;
          const double up = evaluate(data.problem(), t).objective;
          t[j] = keep - step;
          const double down = evaluate(data.problem(), t).objective;
          t[j] = keep;
          const double rounding = 1e-10 + 1e-15 * std::abs(at.objective);
          EXPECT_NEAR(at.gradient[j], (up - down) / (2 * step), rounding / step)
              << loss << " variant " << variant << " at " << j;
        }
      }
    }
    EXPECT_GE(of_this_loss, sanitized ? 0 : 4) << loss << ": too few smooth points to say anything";
    smooth_points += of_this_loss;
  }
  EXPECT_GE(smooth_points, sanitized ? 8 : 8 * 8);
}

TEST(Value, certificate_of_any_adversary_agrees_with_the_formula) {
  for (const std::string& loss : losses()) {
    for (int variant = 0; variant < 4; ++variant) {
      const std::string what = fmt::format("{} variant {}", loss, variant);
      const Data data = any_data(loss, variant, 12);
      const std::vector<double> t = random_weights(data, 0.3, 4);
      Random random(8);
      std::vector<double> q(data.m * static_cast<std::size_t>(data.k));
      for (std::size_t i = 0; i < data.m; ++i) {
        double sum = 0;
        for (int y = 0; y < data.k; ++y) sum += q[i * data.k + y] = random.uniform();
        for (int y = 0; y < data.k; ++y) q[i * data.k + y] /= sum;
      }
      const Problem problem = data.problem();
      const Examples examples(problem, 1, nullptr);
      const RowMatrix weights =
          Eigen::Map<const RowMatrix>(t.data(), examples.dims(), examples.labels());
      RowMatrix a;
      const PassTotals totals = examples.pass(weights, a, q.data());
      const Bounds got = Certifier(examples)(totals, weights, a);
      const auto objective = static_cast<double>(naive(data, t).objective);
      const auto dual = static_cast<double>(naive_dual(data, q));
      const double scale = std::max({1.0, std::abs(objective), std::abs(dual)});
      EXPECT_NEAR(got.objective, objective, 1e-9 * scale) << what;
      EXPECT_NEAR(got.dual, dual, 1e-11 * scale) << what;
      EXPECT_NEAR(got.gap, objective - dual, 1e-9 * scale) << what;
      EXPECT_GT(got.gap, 1e-3) << what << ": these adversaries are far from the best";
    }
  }
}

RC_GTEST_PROP(Value, gap_is_never_negative, ()) {
  const std::string loss = losses()[*rc::gen::inRange<std::size_t>(0, losses().size())];
  const int variant = *rc::gen::inRange(0, 5);
  const auto seed = *rc::gen::inRange<std::uint64_t>(1, 1000);
  const double size = std::pow(10.0, *rc::gen::inRange(-12, 13));
  Data data = any_data(loss, variant, seed);
  data.lambda = std::pow(2.0, -*rc::gen::inRange(0, 17));
  const Evaluation at = evaluate(data.problem(), random_weights(data, size, seed));
  RC_ASSERT(at.gap >= 0);
  RC_ASSERT(std::isfinite(at.objective));
  RC_ASSERT(at.objective >= 0);  // V(psi) >= psi[y]: no loss here is negative
  // The dual value at any point is a lower bound of the optimum.
  const Solution best = solve(data.problem());
  RC_ASSERT(at.dual <= best.objective * (1 + 1e-12) + 1e-12);
  RC_ASSERT(best.dual <= at.objective * (1 + 1e-12) + 1e-12);
}

TEST(Value, gap_is_never_negative_during_a_solve) {
  for (const std::string& loss : losses()) {
    for (const Solver solver : {Solver::interior, Solver::newton, Solver::dual_ascent}) {
      if ((solver == Solver::newton) != (loss == "log") && solver != Solver::interior) continue;
      const Data data = any_data(loss, 2, 1);
      SolveOptions options = with(solver);
      options.max_iterations = 300;
      int calls = 0;
      double last = 1e300;
      options.observer = [&](const Progress& p) {
        ++calls;
        EXPECT_GE(p.gap, 0) << loss;
        EXPECT_TRUE(std::isfinite(p.objective)) << loss;
        EXPECT_LE(p.objective, last) << loss << ": the best so far is what is reported";
        EXPECT_GE(p.seconds, 0);
        last = p.objective;
        return true;
      };
      const Solution s = solve(data.problem(), options);
      EXPECT_GT(calls, 0) << loss;
      EXPECT_GE(s.gap, 0) << loss;
      // The reported objective is that of the returned weights.
      EXPECT_NEAR(s.objective, static_cast<double>(naive(data, s.weights).objective),
                  1e-9 * std::max(1.0, s.objective))
          << loss;
    }
  }
}

}  // namespace
}  // namespace covshift
