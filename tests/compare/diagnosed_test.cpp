// What a comparison says about trust, and which columns it draws.
#include "covshift/compare/diagnosed.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <set>

#include "covshift/base/random.hpp"
#include "covshift/compare/judge.hpp"

namespace covshift {
namespace {

TEST(Judge, AChangeOfWeightsByHand) {
  const std::vector<double> error = {1, 0, 0, 1, 1, 0};
  const Estimate none = weighted_change(error, {}, std::vector<double>(6, 2.0));
  EXPECT_NEAR(none.value, 0, 1e-15);
  EXPECT_NEAR(none.standard_error, 0, 1e-15);  // the same rows: nothing is left to chance
  // On other rows the errors of both means add up.
  const std::vector<double> first = {1, 1, 1, 0, 0, 0};
  const std::vector<double> last = {0, 0, 0, 1, 1, 1};
  const Estimate apart = weighted_change(error, first, last);
  EXPECT_NEAR(apart.value, 1.0 / 3, 1e-15);
  EXPECT_NEAR(apart.standard_error,
              std::hypot(weighted_mean(error, first).standard_error,
                         weighted_mean(error, last).standard_error),
              1e-15);
}

TEST(Judge, SharesOfClassesAsPredictions) {
  const std::vector<double> shares = {0.2, 0.5, 0.3};
  const std::vector<double> brier = brier_of_shares(shares, std::vector<int>{1, 0, -1});
  EXPECT_NEAR(brier[0], 0.04 + 0.25 + 0.09, 1e-15);
  EXPECT_NEAR(brier[1], 0.64 + 0.25 + 0.09, 1e-15);
  EXPECT_NEAR(brier[2], 1 + 0.04 + 0.25 + 0.09, 1e-15);  // a class that training never saw
}

/// Columns: noise moves most, then a and b, which tell the classes apart; c stays.
Matrix rows(Random& random, std::size_t n, double shift, std::vector<int>& labels) {
  Matrix x;
  x.rows = n;
  x.cols = 4;
  for (std::size_t i = 0; i < n; ++i) {
    const double noise = 3 * shift + random.normal();
    const double a = shift + random.normal();
    const double b = shift + random.normal();
    labels.push_back(a + b + 0.3 * random.normal() > shift ? 1 : 0);
    x.values.insert(x.values.end(), {noise, a, b, random.normal()});
  }
  return x;
}

TEST(Diagnosed, DrawsTheColumnsThatMatterAndAnswersForTheMethodToUse) {
  Random random(3);
  std::vector<int> labels;
  std::vector<int> target_labels;
  const Matrix train = rows(random, 200, 0, labels);
  const Matrix target = rows(random, 150, 0.7, target_labels);
  Input labelled(train.view(), {"noise", "a", "b", "c"});
  labelled.labels = labels;
  PreparationOptions inputs;
  inputs.classes = {"no", "yes"};
  inputs.views = "each";
  Preparation preparation(labelled, inputs);
  PreparedRows train_rows = preparation.encode_training(labelled);
  PreparedRows target_rows = preparation.encode(Input(target.view()));
  preparation.fit(train_rows, &target_rows);
  CompareOptions options;
  options.methods = {"robust", "lr", "iw"};
  options.fit.lambdas = {0x1p-6};
  const Truth truth{target_rows.features, target_labels};
  const DiagnosedComparison found =
      diagnose_and_compare(preparation, train_rows, target_rows, &truth, options);
  const Comparison& c = found.comparison;
  ASSERT_TRUE(c.map);
  EXPECT_EQ((std::set<std::string>{c.map->x.name, c.map->y.name}),
            (std::set<std::string>{"a", "b"}));
  EXPECT_EQ(c.map->layers.size(), 3U);
  EXPECT_EQ(c.more_maps.size(), 5U);  // of four columns, six planes
  for (const DecisionMap& map : c.more_maps) {
    for (const DecisionMap::Layer& layer : map.layers) {
      EXPECT_TRUE(layer.method == "lr" || layer.method == c.recommended) << layer.method;
    }
  }
  const TrustAnswer& trust = found.diagnosis.recommendation.trust;
  ASSERT_TRUE(trust.from.expected);
  EXPECT_EQ(trust.from.expected->model, c.recommended);
  EXPECT_EQ(trust.from.expected->labels, 150U);
  for (const Compared& m : c.methods) {
    if (m.name != c.recommended) continue;
    EXPECT_DOUBLE_EQ(trust.from.expected->accuracy, 1 - m.truth->error.value);
    EXPECT_DOUBLE_EQ(trust.from.expected->training, 1 - m.training_error.value);
    EXPECT_NEAR(m.drop.value, m.truth->error.value - m.training_error.value, 1e-15);
    EXPECT_GT(m.gain.value, 0);
  }
}

TEST(Diagnosed, TheColumnsOfTheMapCanBeGiven) {
  Random random(4);
  std::vector<int> labels;
  std::vector<int> unused;
  const Matrix train = rows(random, 60, 0, labels);
  const Matrix target = rows(random, 60, 0.5, unused);
  Input labelled(train.view(), {"noise", "a", "b", "c"});
  labelled.labels = labels;
  PreparationOptions inputs;
  inputs.classes = {"no", "yes"};
  Preparation preparation(labelled, inputs);
  PreparedRows train_rows = preparation.encode_training(labelled);
  PreparedRows target_rows = preparation.encode(Input(target.view()));
  preparation.fit(train_rows, &target_rows);
  CompareOptions options;
  options.methods = {"lr"};
  options.fit.lambdas = {0x1p-6};
  const auto map = [&](const std::vector<std::string>& axes) {
    return *diagnose_and_compare(preparation, train_rows, target_rows, nullptr, options, axes)
                .comparison.map;
  };
  EXPECT_EQ(map({"c", "noise"}).x.name, "c");
  EXPECT_EQ(map({"c", "noise"}).y.name, "noise");
  EXPECT_ANY_THROW(map({"c", "c"}));
  EXPECT_ANY_THROW(map({"c", "nowhere"}));
}

}  // namespace
}  // namespace covshift
