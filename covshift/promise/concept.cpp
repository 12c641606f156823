#include "covshift/promise/concept.hpp"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "covshift/base/error.hpp"
#include "covshift/promise/inference.hpp"
#include "covshift/promise/losses.hpp"

namespace covshift {
namespace {

using Vector = Eigen::VectorXd;

/// Values of a function of x and y in both samples, and a guess at its mean given x.
struct Quantity {
  Vector train, target;
  Vector guess, target_guess;
};

ConceptCheck compare(const Judged& judged, const Quantity& q) {
  const Regression expected =
      regression_mean(judged.samples, q.train, q.guess, judged.near(q.target_guess));
  const Vector target = judged.near(q.target);
  ConceptCheck check;
  check.observed = target.mean();
  check.expected = expected.value;
  // observed - expected: the target's rows enter by what the regression does not explain.
  const Vector residual = target - expected.fitted;
  const auto m = static_cast<double>(residual.size());
  const Vector influence = (residual.array() - residual.mean()) / std::sqrt(m * (m - 1));
  const Variance v = variance_of(expected.train, influence);
  check.error = std::sqrt(v.variance);
  const double difference = check.observed - check.expected;
  check.p_value = v.variance > 0                 ? t_two_sided(difference / check.error, v.freedom)
                  : std::abs(difference) < 1e-12 ? 1
                                                 : 0;
  return check;
}

Quantity share_of_class(const EstimateData& data, std::span<const int> truth, int k) {
  const auto indicator = [&](std::span<const int> y) {
    Vector v(static_cast<Eigen::Index>(y.size()));
    for (Eigen::Index i = 0; i < v.size(); ++i) v[i] = y[static_cast<std::size_t>(i)] == k ? 1 : 0;
    return v;
  };
  const auto probability = [&](std::span<const double> p) {
    Vector v(static_cast<Eigen::Index>(p.size()) / data.classes);
    for (Eigen::Index i = 0; i < v.size(); ++i) {
      v[i] = row_of(p, data.classes, i)[static_cast<std::size_t>(k)];
    }
    return v;
  };
  return {indicator(data.labels), indicator(truth), probability(data.p),
          probability(data.target_p)};
}

}  // namespace

ConceptTest test_concept(const EstimateData& data, std::span<const int> truth,
                         const RatioOptions& ratio, double level) {
  check_estimate_data(data);
  check_labels(truth, data.target.rows, data.classes, "the labelled target rows");
  const Judged judged = judge(rows_of(data, ratio), ratios_of(data, ratio));
  ConceptTest test;
  test.evidence = judged.evidence;
  test.ratio_p_value = judged.ratio_p_value;

  constexpr Performance metric = Performance::log_loss;
  const Quantity loss{losses(metric, data.p, data.labels, data.classes),
                      losses(metric, data.target_p, truth, data.classes),
                      expectations(metric, data.p, data.classes),
                      expectations(metric, data.target_p, data.classes)};
  test.checks.push_back(compare(judged, loss));
  for (int k = 0; k < data.classes; ++k) {
    test.checks.push_back(compare(judged, share_of_class(data, truth, k)));
    test.checks.back().of_class = k;
  }
  test.train_loss = loss.train.mean();
  test.target_loss = test.checks[0].observed;
  test.explained = test.checks[0].expected - test.train_loss;
  test.unexplained = test.target_loss - test.checks[0].expected;
  double least = 1;
  for (const ConceptCheck& check : test.checks) least = std::min(least, check.p_value);
  test.p_value = std::min(1.0, least * static_cast<double>(test.checks.size()));
  test.differs = test.evidence.cannot_tell.empty() && test.p_value <= level;
  test.changed = test.differs && test.ratio_p_value >= ratio_level;
  return test;
}

std::string describe(const ConceptTest& test) {
  constexpr std::size_t enough_rows = 100;
  if (!test.evidence.cannot_tell.empty()) {
    return "Whether P(y|x) has changed cannot be determined: " + test.evidence.cannot_tell + ".";
  }
  if (test.changed) {
    return fmt::format(
        "P(y|x) has changed (p = {:.2g}): the same inputs have other classes in the target than in "
        "training. No method for covariate shift can promise anything here, and no estimate that "
        "assumes it holds. Label more of the target and train on it.",
        test.p_value);
  }
  if (test.differs) {
    return fmt::format(
        "The labelled target rows differ from what their inputs predict (p = {:.2g}): either "
        "P(y|x) has changed, or the density ratio misses a part of the shift, as its own test says "
        "(p = {:.2g}). Try another ratio (--ratio auto); until one fits, this cannot be told.",
        test.p_value, test.ratio_p_value);
  }
  const std::string visible =
      fmt::format("No change of P(y|x) is visible (p = {:.2g})", test.p_value);
  if (test.evidence.target_rows < enough_rows) {
    return fmt::format(
        "{}, but {} labelled target rows would show only a large one: a change of the log loss by "
        "less than {:.2g} goes unnoticed. Label at least {}.",
        visible, test.evidence.target_rows, 2 * test.checks.front().error, enough_rows);
  }
  return visible + ": the labelled target rows agree with what their inputs predict.";
}

nlohmann::ordered_json to_json(const ConceptTest& test, const std::vector<std::string>& classes) {
  nlohmann::ordered_json json = {{"changed", test.changed},
                                 {"p_value", test.p_value},
                                 {"ratio_p_value", test.ratio_p_value},
                                 {"train_loss", test.train_loss},
                                 {"target_loss", test.target_loss},
                                 {"explained", test.explained},
                                 {"unexplained", test.unexplained},
                                 {"unexplained_error", test.checks.front().error},
                                 {"evidence", to_json(test.evidence)},
                                 {"statement", describe(test)}};
  json["checks"] = nlohmann::ordered_json::array();
  for (const ConceptCheck& check : test.checks) {
    const bool loss = check.of_class < 0;
    json["checks"].push_back(
        {{"quantity", loss ? "log_loss" : "share of " + classes.at(check.of_class)},
         {"observed", check.observed},
         {"expected", check.expected},
         {"error", check.error},
         {"p_value", check.p_value}});
  }
  return json;
}

}  // namespace covshift
