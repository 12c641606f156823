// Weights and scales that differ by hundreds of orders of magnitude, with w r = 1: every example
// teaches as much as the others.
#include "covshift/learn/examples.hpp"
#include "covshift/learn/moderate.hpp"
#include "tests/learn/support.hpp"

namespace covshift::testing {
namespace {

/// Every other example has weight e^s and scale e^-s, the others the reverse.
Data with_span(const std::string& loss, double s) {
  Data data = make_data(loss, 23, 2, 3, 0.01, Weights::shift);
  for (std::size_t i = 0; i < data.m; ++i) {
    data.log_w[i] = i % 2 == 0 ? s : -s;
    data.log_r[i] = -data.log_w[i];
  }
  return data;
}

/// 1/m sum_i w_i r_i z_i (e_y - q_i)' at T = 0 gives the most that training can gain.
double most_gain(const Data& data) {
  const Examples examples(data.problem());
  const auto moderate = covshift::moderate(examples);
  return moderate ? moderate->gain : 0;
}

}  // namespace

TEST(ExtremeScales, spans_up_to_e700_have_the_optimum_of_moderate_ones) {
  for (const std::string& loss : losses()) {
    const Data moderate = with_span(loss, 12);
    SolveOptions options;
    options.tolerance = 1e-9;
    const Solution expected = solve(moderate.problem(), options);
    ASSERT_EQ(expected.status, Status::converged) << loss << ": gap " << expected.gap;
    for (const double s : {18.0, 60.0, 350.0}) {
      const std::string what = fmt::format("{}, span e^{}", loss, 2 * s);
      const Data data = with_span(loss, s);
      const Solution found = solve(data.problem(), with(Solver::automatic));
      EXPECT_EQ(to_string(found.status), "converged") << what << ": gap " << found.gap;
      EXPECT_GT(found.iterations, 0) << what;
      EXPECT_GE(found.gap, 0) << what;
      EXPECT_LE(found.gap, 1e-6 * std::max(1.0, most_gain(data))) << what;
      // lambda ||T - T*||^2 <= gap
      expect_same_weights(found.weights, expected.weights, 0.02, what);
    }
  }
}

TEST(ExtremeScales, a_few_tiny_weights_change_nothing) {
  for (const std::string& loss : losses()) {
    Data data = make_data(loss, 40, 2, 3, 0.01, Weights::none);
    data.log_r.assign(data.m, 0.0);
    const auto with_weight = [&](double log_w) {
      data.log_w.assign(data.m, 0.0);
      for (const std::size_t i : {1, 7, 20, 33}) data.log_w[i] = log_w;
      return solve(data.problem(), with(Solver::automatic));
    };
    const Solution expected = with_weight(-40);
    for (const double log_w : {-46.0, -104.0, -230.0, -690.0}) {
      const std::string what = fmt::format("{}, weight e^{}", loss, log_w);
      const Solution found = with_weight(log_w);
      EXPECT_EQ(to_string(found.status), "converged") << what << ": gap " << found.gap;
      EXPECT_LE(found.iterations, 30) << what;
      expect_same_weights(found.weights, expected.weights, 0.02, what);
    }
  }
}

TEST(ExtremeScales, the_gap_is_relative_to_what_can_be_gained) {
  // The objective is 1e7; a gap of 1e-6 of that would be no training at all.
  const Data data = with_span("zero-one", 18);
  const double gain = most_gain(data);
  EXPECT_GT(gain, 0.01);
  EXPECT_LT(gain, 1e3);
  const Solution found = solve(data.problem(), with(Solver::automatic));
  EXPECT_GT(found.objective, 1e6);
  EXPECT_LT(found.gap, 1e-3);
}

TEST(ExtremeScales, the_objective_is_that_of_the_problem_as_given) {
  for (const std::string& loss : losses()) {
    const Data data = with_span(loss, 18);
    const Solution found = solve(data.problem(), with(Solver::automatic));
    const auto expected = static_cast<double>(naive(data, found.weights).objective);
    EXPECT_NEAR(found.objective, expected, 1e-9 * expected) << loss;
    EXPECT_NEAR(found.dual, found.objective - found.gap, 1e-12 * expected) << loss;
  }
}

TEST(ExtremeScales, dual_ascent_agrees) {
  for (const std::string loss : {"zero-one", "absolute", "hinge"}) {
    const Data data = with_span(loss, 350);
    const Solution a = solve(data.problem(), with(Solver::interior));
    const Solution b = solve(data.problem(), with(Solver::dual_ascent, 1e-5));
    EXPECT_EQ(to_string(a.status), "converged") << loss;
    EXPECT_EQ(to_string(b.status), "converged") << loss;
    expect_same_weights(a.weights, b.weights, 0.05, loss);
  }
}

TEST(ExtremeScales, ordinary_scales_are_left_alone) {
  const Data data = with_span("zero-one", 4.9);
  EXPECT_FALSE(moderate(Examples(data.problem())).has_value());
}

}  // namespace covshift::testing
