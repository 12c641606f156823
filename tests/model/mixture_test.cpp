// Classifiers of several components.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <set>

#include "covshift/base/error.hpp"
#include "covshift/base/random.hpp"
#include "covshift/model/choose.hpp"
#include "covshift/model/classifier.hpp"
#include "covshift/model/setting.hpp"
#include "covshift/model/unseen.hpp"

namespace covshift {
namespace {

/// Two inputs of three classes, shifted by `mean`.
struct Sample {
  Sample(std::size_t rows, double mean, unsigned long long seed) {
    Random random(seed);
    for (std::size_t i = 0; i < rows; ++i) {
      const double a = mean + random.normal();
      const double b = random.normal();
      x.insert(x.end(), {a, b});
      const double noisy = a + 0.5 * b + 0.7 * random.normal();
      y.push_back(noisy < -0.5 ? 0 : noisy < 0.7 ? 1 : 2);
    }
    view = MatrixView::dense(x.data(), rows, 2);
  }
  std::vector<double> x;
  std::vector<int> y;
  MatrixView view;
};

TrainingData data_of(const Sample& train, const Sample& target) {
  TrainingData data;
  data.features = train.view;
  data.labels = train.y;
  data.classes = 3;
  data.target = &target.view;
  data.views = Views::all(2);
  return data;
}

Classifier fitted(const TrainingData& data, const char* method, const char* loss = "") {
  FitOptions options;
  options.method = method;
  options.loss = loss;
  options.lambda = {LambdaChoice::Kind::fixed, 0.01};
  return Classifier::fit(data, options);
}

/// The components of two classifiers with the same shift, with shares s and 1 - s.
nlohmann::json mixed(const Classifier& a, const Classifier& b, double s) {
  nlohmann::json json = a.to_json();
  nlohmann::json other = b.to_json()["components"][0];
  json["components"][0]["share"] = s;
  other["share"] = 1 - s;
  json["components"].push_back(other);
  return json;
}

TEST(Mixture, SharesTheProbabilitiesOfItsComponents) {
  const Sample train(120, 0, 1);
  const Sample target(90, 1.5, 2);
  const TrainingData data = data_of(train, target);
  const Classifier robust = fitted(data, "robust");
  const Classifier iw = fitted(data, "iw");
  const nlohmann::json json = mixed(robust, iw, 0.75);
  const Classifier both = Classifier::from_json(json, data.views, 3);
  EXPECT_EQ(both.to_json(), json);
  const Predictions p = both.predict(target.view);
  const Predictions pr = robust.predict(target.view);
  const Predictions pi = iw.predict(target.view);
  EXPECT_EQ(p.log_ratio, pr.log_ratio);
  for (std::size_t i = 0; i < p.p.size(); ++i) {
    EXPECT_NEAR(p.p[i], 0.75 * pr.p[i] + 0.25 * pi.p[i], 1e-14);
    EXPECT_NEAR(std::exp(p.psi[i]), p.p[i], 1e-14);
  }
}

TEST(Mixture, NeedsSharesOfOneAndLogLoss) {
  const Sample train(60, 0, 1);
  const Sample target(50, 1, 2);
  const TrainingData data = data_of(train, target);
  const Classifier robust = fitted(data, "robust");
  nlohmann::json json = mixed(robust, robust, 0.5);
  json["components"][0]["share"] = 0.6;
  EXPECT_THROW(static_cast<void>(Classifier::from_json(json, data.views, 3)), Error);
  json["components"] = nlohmann::json::array();
  EXPECT_THROW(static_cast<void>(Classifier::from_json(json, data.views, 3)), Error);
  const Classifier zero_one = fitted(data, "robust01");
  json = mixed(zero_one, zero_one, 0.5);
  EXPECT_THROW(static_cast<void>(Classifier::from_json(json, data.views, 3)), Error);
}

/// -log p of the label of every row.
std::vector<double> losses(const Classifier& model, const Sample& sample) {
  const Predictions p = model.predict(sample.view);
  std::vector<double> loss;
  for (std::size_t i = 0; i < sample.y.size(); ++i)
    loss.push_back(-std::log(p.p[i * 3 + sample.y[i]]));
  return loss;
}

/// The default fit: everything is chosen.
Classifier chosen(const TrainingData& data, const char* loss = "", int threads = 0) {
  FitOptions options;
  options.loss = loss;
  options.solve.threads = threads;
  return Classifier::fit(data, options);
}

TEST(Choice, NoRowLosesMuchMoreThanWithTheBaseline) {
  const Sample train(150, 0, 3);
  const Sample target(120, 2, 4);
  const TrainingData data = data_of(train, target);
  const Classifier model = chosen(data);
  const FitReport& report = model.report();
  EXPECT_EQ(model.method(), "auto");
  EXPECT_FALSE(report.choice.empty());
  const Candidate& baseline = report.candidates.at(0);
  EXPECT_EQ(baseline.lambda_choice, "cv");
  double total = 0;
  for (const Candidate& c : report.candidates) total += c.share;
  EXPECT_NEAR(total, 1, 1e-12);
  FitOptions lr;
  lr.method = "lr";
  lr.lambda = {LambdaChoice::Kind::fixed, baseline.lambda};
  const std::vector<double> alone = losses(Classifier::fit(data, lr), target);
  const std::vector<double> mixed = losses(model, target);
  ASSERT_GT(baseline.share, 0);
  for (std::size_t i = 0; i < mixed.size(); ++i) {
    EXPECT_LE(mixed[i], alone[i] - std::log(baseline.share) + 1e-6);
  }
}

TEST(Choice, WithoutShiftIsTheBaselinesEqual) {
  const Sample train(400, 0, 5);
  const Sample target(300, 0, 6);
  const TrainingData data = data_of(train, target);
  FitOptions lr;
  lr.method = "lr";
  lr.lambda = {LambdaChoice::Kind::cv, 0};
  const std::vector<double> alone = losses(Classifier::fit(data, lr), target);
  const std::vector<double> mixed = losses(chosen(data), target);
  double more = 0;
  for (std::size_t i = 0; i < mixed.size(); ++i) more += mixed[i] - alone[i];
  EXPECT_LT(more / static_cast<double>(mixed.size()), 0.01);
}

TEST(Choice, OfACostLossIsOneComponentWithinTwoErrorsOfTheBest) {
  const Sample train(150, 0, 3);
  const Sample target(120, 1.5, 4);
  const TrainingData data = data_of(train, target);
  const Classifier model = chosen(data, "zero-one");
  EXPECT_EQ(model.components().size(), 1U);
  EXPECT_EQ(model.game().name(), "zero-one");
  int used = 0;
  for (const Candidate& c : model.report().candidates) {
    used += c.share > 0 ? 1 : 0;
    EXPECT_TRUE(c.share == 0 || c.share == 1);
  }
  EXPECT_EQ(used, 1);
}

TEST(Choice, DoesNotDependOnThreads) {
  const Sample train(150, 0, 3);
  const Sample target(120, 1.5, 4);
  const TrainingData data = data_of(train, target);
  const Predictions one = chosen(data, "", 1).predict(target.view);
  EXPECT_EQ(one.p, chosen(data, "", 3).predict(target.view).p);
}

TEST(Choice, AWeightOfTwoIsTheRowTwice) {
  const Sample train(120, 0, 3);
  const Sample target(90, 1, 4);
  Sample doubled = train;
  std::vector<double> weight(120, 1.0);
  for (std::size_t i = 0; i < 120; i += 3) {
    weight[i] = 2;
    doubled.x.insert(doubled.x.end(), {train.x[2 * i], train.x[2 * i + 1]});
    doubled.y.push_back(train.y[i]);
  }
  doubled.view = MatrixView::dense(doubled.x.data(), doubled.y.size(), 2);
  TrainingData weighted = data_of(train, target);
  weighted.sample_weight = weight;
  const Predictions a = chosen(weighted).predict(target.view);
  const Predictions b = chosen(data_of(doubled, target)).predict(target.view);
  for (std::size_t i = 0; i < a.p.size(); ++i) EXPECT_NEAR(a.p[i], b.p[i], 1e-6);
}

TEST(Choice, WithoutATargetIgnoresTheShift) {
  const Sample train(120, 0, 3);
  const Sample target(90, 1, 4);
  TrainingData data = data_of(train, target);
  data.target = nullptr;
  const Classifier model = chosen(data);
  for (const Component& c : model.components()) EXPECT_FALSE(c.shift.weighted());
  for (const Candidate& c : model.report().candidates) EXPECT_EQ(c.generalize, "none");
}

TEST(Choice, WithoutWeightsTheBaselineIsNoComponentOfItsOwn) {
  const Sample train(120, 0, 3);
  TrainingData data = data_of(train, train);
  data.target = nullptr;
  const Classifier model = chosen(data);
  std::set<std::pair<std::size_t, double>> different;  // the maps differ in the number of features
  double total = 0;
  for (const Component& c : model.components()) {
    different.emplace(c.features.outputs(), c.lambda);
    total += c.share;
  }
  EXPECT_EQ(different.size(), model.components().size());
  EXPECT_NEAR(total, 1, 1e-12);
  // With map and lambda given nothing is left to choose.
  FitOptions options;
  options.features = "quadratic";
  options.lambda = {LambdaChoice::Kind::fixed, 0.01};
  const Classifier given = Classifier::fit(data, options);
  options.method = "lr";
  EXPECT_EQ(given.components().size(), 1U);
  EXPECT_EQ(given.predict(train.view).p, Classifier::fit(data, options).predict(train.view).p);
}

TEST(Unseen, AMixtureLeavesTheSameRowsOutOfAllItsFits) {
  const Sample train(6500, 0, 3);  // more than are left out
  const Sample target(200, 0, 4);
  const TrainingData data = data_of(train, target);
  FitOptions options;
  options.method = "lr";
  options.lambda = {LambdaChoice::Kind::fixed, 0.01};
  options.promise = false;
  const Classifier linear = Classifier::fit(data, options);
  options.features = "quadratic";
  const Classifier quadratic = Classifier::fit(data, options);
  Unseen unseen(data, linear.game(), cross_validation(options), false);
  std::vector<std::size_t> first;
  for (const auto& [maps, model] : {std::pair("linear", &linear), {"quadratic", &quadratic}}) {
    Component half = model->components()[0];
    half.share = 0.5;
    const Mapped mapped(data, maps, maps, options);
    Setting setting(data, options, mapped, half.shift, linear.game());
    setting.problem.lambda = half.lambda;
    unseen.add(half, setting.problem);
    if (first.empty()) first = unseen.train();
  }
  EXPECT_LT(first.size(), 6000U);
  EXPECT_EQ(unseen.train(), first);
}

TEST(Choice, TriesToTrustTheViewsThatItIsGiven) {
  const Sample train(200, 0, 7);
  const Sample target(150, 1.5, 8);  // x1 moves, x2 does not
  TrainingData data = data_of(train, target);
  const auto tried = [](const Classifier& model) {
    std::set<std::string> names;
    for (const Candidate& c : model.report().candidates) names.insert(c.generalize);
    return names;
  };
  EXPECT_EQ(tried(Classifier::fit(data, {})), (std::set<std::string>{"none", "overlap:1"}));
  data.views = {{"x1", "x2"}, {{0}, {1}}, {"", ""}};
  const Classifier model = Classifier::fit(data, {});
  EXPECT_EQ(tried(model), (std::set<std::string>{"none", "overlap:1", "views:1"}));
  // The model file keeps the ratios of the views for the component that needs them.
  EXPECT_TRUE(std::any_of(
      model.components().begin(), model.components().end(),
      [](const Component& c) { return c.shift.assumption().kind == Assumption::Kind::views; }));
  const Classifier again = Classifier::from_json(model.to_json(), data.views, 3);
  EXPECT_EQ(again.predict(target.view).p, model.predict(target.view).p);
}

/// Three classes, and losses other than log loss, choose by folds: of the data alone.
TEST(Choice, DoesNotDependOnTheSeed) {
  const Sample train(120, 0, 3);
  const Sample target(90, 1, 4);
  const TrainingData data = data_of(train, target);
  for (const char* loss : {"log", "zero-one"}) {
    const auto chosen_with = [&](unsigned long long seed) {
      FitOptions options;
      options.loss = loss;
      options.features = "linear";
      options.solve.seed = seed;
      options.promise = false;
      return Classifier::fit(data, options).to_json()["components"];
    };
    EXPECT_EQ(chosen_with(1), chosen_with(2)) << loss;
  }
}

TEST(Choice, NamingTheAssumptionEndsIt) {
  const Sample train(120, 0, 3);
  const Sample target(90, 1, 4);
  const TrainingData data = data_of(train, target);
  FitOptions options;
  options.generalize = Assumption{Assumption::Kind::test};
  options.lambda = {LambdaChoice::Kind::fixed, 0.01};
  const Classifier model = Classifier::fit(data, options);
  EXPECT_EQ(model.method(), "iw");
  EXPECT_EQ(model.predict(target.view).p, fitted(data, "iw").predict(target.view).p);
}

TEST(Choice, ThousandsOfRowsChooseForAll) {
  const Sample train(12000, 0, 3);
  const Sample target(500, 1, 4);
  const TrainingData data = data_of(train, target);
  const Classifier model = chosen(data);
  // lambda is that of the sample, times its share of the rows.
  const Candidate* first = nullptr;
  for (const Candidate& c : model.report().candidates) {
    if (first == nullptr || c.share > first->share) first = &c;
  }
  EXPECT_NEAR(model.components()[0].lambda, first->lambda * 5000 / 12000, 1e-12);
}

TEST(Caution, FadesEvidenceBeyondTheTrainingRowsOnly) {
  const Sample train(150, 0, 3);
  const Sample target(120, 2.5, 4);
  const TrainingData data = data_of(train, target);
  const auto at = [&](std::optional<double> caution) {
    FitOptions options;
    options.method = "robust";
    options.lambda = {LambdaChoice::Kind::fixed, 0.01};
    options.caution = caution;
    return Classifier::fit(data, options);
  };
  const Classifier full = at({});
  const Classifier half = at(0.5);
  const Classifier none = at(0.0);
  EXPECT_EQ(at(1.0).predict(target.view).psi, full.predict(target.view).psi);
  EXPECT_EQ(none.predict(train.view).psi, full.predict(train.view).psi);
  double reach = -1e9;
  for (const double l : full.predict(train.view).log_ratio) reach = std::max(reach, l);
  const Predictions f = full.predict(target.view);
  const Predictions h = half.predict(target.view);
  const Predictions n = none.predict(target.view);
  int beyond = 0;
  for (std::size_t i = 0; i < f.rows; ++i) {
    const double more = std::max(0.0, f.log_ratio[i] - reach);
    beyond += more > 0 ? 1 : 0;
    for (std::size_t j = i * 3; j < i * 3 + 3; ++j) {
      EXPECT_NEAR(h.psi[j], f.psi[j] * std::exp(0.5 * more), 1e-9 * (1 + std::abs(h.psi[j])));
      EXPECT_NEAR(n.psi[j], f.psi[j] * std::exp(more), 1e-9 * (1 + std::abs(n.psi[j])));
    }
  }
  EXPECT_GT(beyond, 5);
  const Classifier again = Classifier::from_json(half.to_json(), data.views, 3);
  EXPECT_EQ(again.predict(target.view).p, h.p);
}

}  // namespace
}  // namespace covshift
