// Comparison of methods: estimates against the truth, and the winner.
#include "covshift/compare/compare.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "covshift/base/error.hpp"
#include "covshift/base/random.hpp"
#include "covshift/compare/judge.hpp"

namespace covshift {
namespace {

struct Sample {
  std::vector<double> x;
  std::vector<int> y;
  [[nodiscard]] MatrixView view() const { return MatrixView::dense(x.data(), y.size(), 2); }
};

/// P(y = 1|x) = sigmoid(2 x2 + x1); x1 is around `mean`.
Sample draw(Random& random, std::size_t n, double mean) {
  Sample s;
  for (std::size_t i = 0; i < n; ++i) {
    s.x.push_back(mean + random.normal());
    s.x.push_back(random.normal());
    const double p = 1 / (1 + std::exp(-2 * s.x[2 * i + 1] - s.x[2 * i]));
    s.y.push_back(random.uniform() < p ? 1 : 0);
  }
  return s;
}

struct Data {
  Sample train, target;
  MatrixView target_view;
  TrainingData data;
  Truth truth;

  Data(std::uint64_t seed, std::size_t n, std::size_t m, double shift) {
    Random random(seed);
    train = draw(random, n, 0);
    target = draw(random, m, shift);
    target_view = target.view();
    data.features = train.view();
    data.labels = train.y;
    data.classes = 2;
    data.target = &target_view;
    data.views = {{"x1", "x2"}, {{0}, {1}}, {"", ""}};
    truth = {target_view, target.y};
  }
};

CompareOptions quick(std::vector<std::string> methods) {
  CompareOptions options;
  options.methods = std::move(methods);
  options.fit.lambdas = {0x1p-8, 0x1p-4};
  options.fit.shift.ratio.lambda = {RatioLambda::Rule::value, 1e-4};
  options.classes = {"no", "yes"};
  return options;
}

const Compared& of(const Comparison& c, const std::string& name) {
  return *std::find_if(c.methods.begin(), c.methods.end(),
                       [&](const Compared& m) { return m.name == name; });
}

TEST(Compare, EstimatesAreCloseToTheTruth) {
  const Data d(1, 1500, 4000, 0.7);
  const Comparison c = compare(d.data, &d.truth, quick({"lr", "iw"}));
  for (const Compared& m : c.methods) {
    const auto close = [](const Estimate& a, const Estimate& b) {
      return std::abs(a.value - b.value) <
             4 * std::hypot(a.standard_error, b.standard_error) + 0.01;
    };
    EXPECT_TRUE(close(m.estimated.error, m.truth->error)) << m.name;
    EXPECT_TRUE(close(m.estimated.brier, m.truth->brier)) << m.name;
    EXPECT_TRUE(close(m.estimated.log_loss, m.truth->log_loss)) << m.name;
    EXPECT_GT(m.estimated.brier.standard_error, m.truth->brier.standard_error);
  }
}

TEST(Compare, EqualMethodsTie) {
  // Without shift and with plenty of data, lr and iw are the same.
  const Data d(2, 400, 400, 0);
  const Comparison c = compare(d.data, &d.truth, quick({"lr", "iw"}));
  EXPECT_TRUE(c.winner.empty());
  EXPECT_TRUE(c.methods[0].tied);
  EXPECT_TRUE(c.methods[1].tied);
  EXPECT_NE(c.statement.find("A tie"), std::string::npos) << c.statement;
}

TEST(Compare, AClearlyBetterMethodWins) {
  // An SVM is always certain, so its Brier score is far worse than that of lr.
  const Data d(3, 400, 2000, 0.3);
  for (const Truth* truth : {static_cast<const Truth*>(nullptr), &d.truth}) {
    const Comparison c = compare(d.data, truth, quick({"svm", "lr"}));
    EXPECT_EQ(c.winner, "lr") << c.statement;
    EXPECT_EQ(c.best, "lr");
    EXPECT_FALSE(of(c, "svm").tied);
    EXPECT_GT(of(c, "svm").behind.value, 0);
    EXPECT_EQ(of(c, "lr").behind.value, 0);
  }
}

TEST(Compare, NoWinnerWithFewEffectiveRows) {
  const Data d(4, 60, 300, 3);
  const Comparison c = compare(d.data, nullptr, quick({"svm", "lr"}));
  EXPECT_LT(c.effective_sample_size, 30);
  EXPECT_TRUE(c.winner.empty());
  EXPECT_NE(c.statement.find("No winner can be named"), std::string::npos) << c.statement;
}

TEST(Compare, NoWinnerWithFewLabelledRows) {
  // One row has no spread: any difference would exceed any number of standard errors.
  const Data d(4, 60, 300, 0.3);
  for (const std::size_t n : {1, 29}) {
    const Truth some{MatrixView::dense(d.target.x.data(), n, 2), std::span(d.target.y).first(n)};
    const Comparison c = compare(d.data, &some, quick({"svm", "lr"}));
    EXPECT_TRUE(c.winner.empty()) << c.statement;
    EXPECT_NE(c.statement.find("No winner can be named"), std::string::npos) << c.statement;
  }
}

TEST(Compare, NoWinnerWithOneMethod) {
  const Data d(4, 60, 300, 0.3);
  const Comparison c = compare(d.data, &d.truth, quick({"lr"}));
  EXPECT_EQ(c.best, "lr");
  EXPECT_TRUE(c.winner.empty());
  EXPECT_NE(c.statement.find("the only method"), std::string::npos) << c.statement;
}

TEST(Compare, RecommendsTheDefaultUnlessSomethingMeasuredSaysOtherwise) {
  const Data d(3, 400, 2000, 0.3);
  // Tied with lr: the default it is, whichever has the smaller score.
  const Comparison tie = compare(d.data, &d.truth, quick({"lr", "auto"}));
  EXPECT_TRUE(tie.winner.empty()) << tie.statement;
  EXPECT_EQ(tie.recommended, "auto");
  EXPECT_NE(tie.statement.find("Use auto"), std::string::npos) << tie.statement;
  // Without it, the best; a winner, whatever it is.
  EXPECT_EQ(compare(d.data, &d.truth, quick({"svm", "lr"})).recommended, "lr");
  // auto with a poor lambda is measurably worse than lr.
  Comparison worse = tie;
  std::vector<std::vector<double>> scores(2);
  for (int i = 0; i < 100; ++i) {
    scores[0].push_back(0.1 + 0.001 * (i % 7));
    scores[1].push_back(0.2 + 0.001 * (i % 5));
  }
  name_winner(worse, scores, {});
  EXPECT_EQ(worse.winner, "lr");
  EXPECT_EQ(worse.recommended, "lr");
  // Measured on too few rows, that means nothing.
  worse.truth_rows = 29;
  name_winner(worse, scores, {});
  EXPECT_TRUE(worse.winner.empty());
  EXPECT_EQ(worse.recommended, "auto");
}

TEST(Compare, EstimatesNeedEffectiveRowsAndATargetThatTrainingReaches) {
  const Data d(3, 400, 2000, 0.3);
  CompareOptions options = quick({"svm", "lr"});
  EXPECT_TRUE(compare(d.data, nullptr, options).methods[0].estimated.reliable);
  options.unsupported = 0.6;
  const Comparison far = compare(d.data, nullptr, options);
  EXPECT_FALSE(far.methods[0].estimated.reliable);
  EXPECT_TRUE(far.winner.empty());
  EXPECT_NE(far.statement.find("60% of the target"), std::string::npos) << far.statement;
  // Labels settle it.
  const Comparison labelled = compare(d.data, &d.truth, options);
  EXPECT_TRUE(labelled.methods[0].truth->reliable);
  EXPECT_EQ(labelled.winner, "lr");
  options.unsupported = 0;
  options.effective_sample_size = 29;
  EXPECT_FALSE(compare(d.data, nullptr, options).methods[0].estimated.reliable);
}

TEST(Compare, ViewsByMethodAreThoseOfAFit) {
  const Data d(5, 150, 200, 1);
  CompareOptions options = quick({"auto", "robust-view"});
  options.views_by_method = true;
  const Comparison c = compare(d.data, &d.truth, options);
  TrainingData whole = d.data;
  whole.views = Views::all(2);
  FitOptions fit = options.fit;
  EXPECT_EQ(of(c, "auto").certificate.game_value,
            Classifier::fit(whole, fit).certificate().game_value);
  EXPECT_EQ(of(c, "auto").choice, Classifier::fit(whole, fit).report().choice);
  fit.method = "robust-view";
  EXPECT_EQ(of(c, "robust-view").certificate.game_value,
            Classifier::fit(d.data, fit).certificate().game_value);
}

TEST(Compare, SmoothingDoesNotRaiseTheEffectiveSampleSize) {
  const Data d(4, 200, 300, 3);
  CompareOptions options = quick({"svm", "lr"});
  options.fit.shift.ratio.lambda = {RatioLambda::Rule::cv, 0};
  const double worth = compare(d.data, nullptr, options).effective_sample_size;
  EXPECT_LT(worth, 30);
  options.fit.shift.ratio.lambda = {RatioLambda::Rule::stable, 0};
  const Comparison c = compare(d.data, nullptr, options);
  EXPECT_NEAR(c.effective_sample_size, worth, 1e-9);
  EXPECT_TRUE(c.winner.empty()) << c.statement;
}

TEST(Compare, RunsTheWholeTableAndTempered) {
  const Data d(5, 80, 100, 1);
  CompareOptions options = quick({});
  options.map = {0, 1, "x1", "x2"};
  const Comparison c = compare(d.data, &d.truth, options);
  ASSERT_EQ(c.methods.size(), methods().size() + 2);  // auto and tempered
  EXPECT_EQ(of(c, "tempered").generalize.substr(0, 7), "temper:");
  EXPECT_EQ(of(c, "robust-view").generalize, "views");
  for (const Compared& m : c.methods) {
    EXPECT_EQ(m.status, Status::converged) << m.name;
    double share = 0;
    for (const auto& t : m.truth->calibration) share += t.share;
    EXPECT_NEAR(share, 1, 1e-12);
  }
  EXPECT_TRUE(std::isinf(of(c, "svm").truth->log_loss.value));
  ASSERT_TRUE(c.map.has_value());
  ASSERT_EQ(c.map->layers.size(), c.methods.size());
  double train = 0;
  for (const auto& cell : c.map->train) train += cell.share;
  EXPECT_GT(train, 0.9);
  EXPECT_LE(train, 1 + 1e-12);
  const auto json = to_json(c);
  EXPECT_EQ(json["methods"].size(), c.methods.size());
  EXPECT_TRUE(json["methods"][8]["truth"]["log_loss"]["value"].is_null() ||
              json["methods"][9]["truth"]["log_loss"]["value"].is_null());
}

TEST(Compare, TheMapShowsThePredictions) {
  const Data d(6, 200, 200, 0.5);
  CompareOptions options = quick({"lr"});
  options.map = {0, 1, "x1", "x2", 2.0, 10.0, 1.0, 0.0};  // x1 of the file is 2 x + 10
  const Comparison c = compare(d.data, nullptr, options);
  FitOptions fit = options.fit;
  fit.method = "lr";
  const Classifier model = Classifier::fit(d.data, fit);
  const DecisionMap& map = *c.map;
  const std::size_t a = 3;
  const std::size_t b = 20;
  const auto at = [&](const DecisionMap::Axis& axis, std::size_t k) {
    return axis.low +
           (axis.high - axis.low) * static_cast<double>(k) / static_cast<double>(map.cells - 1);
  };
  const std::vector<double> row = {(at(map.x, a) - 10) / 2, at(map.y, b)};
  const Predictions p = model.predict(MatrixView::dense(row.data(), 1, 2));
  EXPECT_EQ(map.layers[0].label[b * map.cells + a], p.action[0]);
  EXPECT_NEAR(map.layers[0].p[b * map.cells + a], p.p[p.action[0]], 1e-9);
}

TEST(Compare, MethodsWithAnInfiniteMetricDoNotCompete) {
  const Data d(7, 100, 100, 0.3);
  CompareOptions options = quick({"svm", "lr"});
  options.metric = Metric::log_loss;
  EXPECT_EQ(compare(d.data, &d.truth, options).winner, "lr");
  options.methods = {"svm"};
  EXPECT_THROW(compare(d.data, &d.truth, options), Error);
  EXPECT_THROW(parse_name<Metric>("accuracy"), Error);
}

TEST(Compare, IsTheSameForAnyNumberOfThreadsParallel) {
  const Data d(8, 100, 100, 0.5);
  CompareOptions options = quick({"lr", "robust"});
  std::string text[2];
  for (int k = 0; k < 2; ++k) {
    options.fit.solve.threads = 1 + 2 * k;
    Comparison c = compare(d.data, &d.truth, options);
    for (Compared& m : c.methods) m.seconds = 0;
    text[k] = to_json(c).dump();
  }
  EXPECT_EQ(text[0], text[1]);
}

TEST(Judge, WeightedMeanAndItsErrorByHand) {
  const std::vector<double> loss = {1, 0, 4};
  const std::vector<double> weight = {1, 1, 2};
  const Estimate e = weighted_mean(loss, weight);
  EXPECT_DOUBLE_EQ(e.value, 9.0 / 4);
  EXPECT_NEAR(e.standard_error, std::sqrt(1.25 * 1.25 + 2.25 * 2.25 + 4 * 1.75 * 1.75) / 4, 1e-12);
  // With equal weights it is the standard error of a mean, up to n/(n - 1).
  EXPECT_NEAR(weighted_mean(loss, {}).standard_error, std::sqrt((4 + 25 + 49) / 9.0) / 3, 1e-12);
  // The scale of weights does not matter.
  EXPECT_DOUBLE_EQ(weighted_mean(loss, std::vector<double>{10, 10, 20}).value, e.value);
}

TEST(Judge, CriticalValues) {
  EXPECT_NEAR(critical_value(0.05, 1), 1.959964, 1e-5);
  EXPECT_NEAR(critical_value(0.05, 9), 2.772921, 1e-5);
}

TEST(Judge, CalibrationByHand) {
  RowScores s;
  s.error = {0, 1, 0, 0};
  s.log_loss = {0, 0, 0, 0};
  s.brier = {0, 0, 0, 0};
  s.confidence = {0.95, 0.95, 0.55, 1.0};
  const Judgement j = judge(s, {});
  ASSERT_EQ(j.calibration.size(), 2U);
  EXPECT_NEAR(j.calibration[0].confidence, 0.55, 1e-12);
  EXPECT_NEAR(j.calibration[0].accuracy, 1, 1e-12);
  EXPECT_NEAR(j.calibration[1].confidence, 2.9 / 3, 1e-12);
  EXPECT_NEAR(j.calibration[1].accuracy, 2.0 / 3, 1e-12);
  EXPECT_NEAR(j.calibration_error, 0.25 * 0.45 + 0.75 * 0.3, 1e-12);
}

TEST(Judge, UnknownLabelsAreErrors) {
  const auto game = make_game("log", 2);
  const std::vector<double> psi = {0, 1, 0, 1};
  const RowScores s = score_rows(*game, psi, std::vector<int>{1, -1});
  EXPECT_EQ(s.error, (std::vector<double>{0, 1}));
  EXPECT_NEAR(s.log_loss[0], std::log1p(std::exp(-1)), 1e-12);
  EXPECT_TRUE(std::isinf(s.log_loss[1]));
  EXPECT_GT(s.brier[1], 1);
}

}  // namespace
}  // namespace covshift
