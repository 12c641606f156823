// Approximate leave-one-out against fits without each example.
#include "covshift/learn/leave_one_out.hpp"

#include "support.hpp"

namespace covshift::testing {
namespace {

std::vector<double> odds_of(const Examples& examples, const std::vector<double>& weights) {
  std::vector<double> psi(examples.size() * 2);
  examples.potentials(Eigen::Map<const RowMatrix>(weights.data(), examples.dims(), 2), psi.data());
  std::vector<double> odds;
  for (std::size_t i = 0; i < examples.size(); ++i) odds.push_back(psi[2 * i + 1] - psi[2 * i]);
  return odds;
}

SolveOptions tight() {
  SolveOptions options;
  options.tolerance = 1e-13;
  return options;
}

/// The log odds of each example by the fit without it. The examples' share of all stays as it is.
std::vector<double> refitted(const Data& data) {
  std::vector<double> out;
  const Examples all(data.problem());
  for (std::size_t i = 0; i < data.m; ++i) {
    Problem without = data.problem();
    std::vector<double> weight = data.weight;
    if (weight.empty()) weight.assign(data.m, 1.0);
    double total = 0;
    for (const double w : weight) total += w;
    const double left = total - weight[i];
    weight[i] = 0;
    without.sample_weight = weight;
    without.lambda *= total / left;
    out.push_back(odds_of(all, solve(Examples(without), tight()).weights)[i]);
  }
  return out;
}

class LeaveOneOut : public ::testing::TestWithParam<const char*> {};

/// Of what leaving an example out changes, one Newton step finds all but a few percent.
TEST_P(LeaveOneOut, IsCloseToFittingAgain) {
  const std::string kind = GetParam();
  Data data = make_data("log", 60, 3, 2, 0.01);
  if (kind == "weights") {
    for (std::size_t i = 0; i < data.m; ++i) data.weight.push_back(1 + static_cast<double>(i % 3));
  }
  if (kind == "scales") add_views(data, 2, 0.7);
  if (kind == "free bias") data.penalise_bias = false;
  Examples examples(data.problem());
  const std::vector<double> fitted = odds_of(examples, solve(examples, tight()).weights);
  const std::vector<double> found = leave_one_out(examples, fitted);
  const std::vector<double> exact = refitted(data);
  double error = 0;
  double change = 0;
  for (std::size_t i = 0; i < data.m; ++i) {
    error += std::pow(found[i] - exact[i], 2);
    change += std::pow(fitted[i] - exact[i], 2);
  }
  EXPECT_GT(change, 0.01);  // there is something to find
  EXPECT_LT(std::sqrt(error / change), 0.1);
}

/// A fit with another lambda is preconditioned by the curvature of this one, and is the same.
TEST_P(LeaveOneOut, LeavesACurvatureForOtherLambdas) {
  const std::string kind = GetParam();
  Data data = make_data("log", 60, 3, 2, 0.01);
  if (kind == "scales") add_views(data, 2, 0.7);
  if (kind == "free bias") data.penalise_bias = false;
  Examples examples(data.problem());
  leave_one_out(examples, odds_of(examples, solve(examples, tight()).weights));
  ASSERT_TRUE(examples.curvature_known());
  examples.set_lambda(0.001);
  const std::vector<double> found = odds_of(examples, solve(examples, tight()).weights);
  Problem other = data.problem();
  other.lambda = 0.001;
  const Examples fresh(other);
  const std::vector<double> expected = odds_of(fresh, solve(fresh, tight()).weights);
  for (std::size_t i = 0; i < data.m; ++i) EXPECT_NEAR(found[i], expected[i], 1e-4);
}

INSTANTIATE_TEST_SUITE_P(Problems, LeaveOneOut,
                         ::testing::Values("plain", "weights", "scales", "free bias"),
                         [](const auto& test) {
                           std::string name = test.param;
                           std::erase(name, ' ');
                           return name;
                         });

}  // namespace
}  // namespace covshift::testing
