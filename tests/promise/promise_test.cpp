#include <gtest/gtest.h>

#include <cmath>

#include "covshift/base/error.hpp"
#include "covshift/lab/simulated_fit.hpp"
#include "covshift/lab/simulation.hpp"
#include "covshift/promise/bound.hpp"
#include "covshift/promise/concept.hpp"
#include "covshift/promise/conformal.hpp"
#include "covshift/promise/estimate.hpp"
#include "covshift/promise/inference.hpp"
#include "covshift/ratio/held_out.hpp"

namespace covshift {
namespace {

std::vector<double> flawed(const SimulatedProblem& problem, const SimulatedRows& rows) {
  const auto k = static_cast<std::size_t>(problem.classes());
  std::vector<double> p(rows.rows * k);
  for (std::size_t i = 0; i < rows.rows; ++i) {
    problem.flawed_probabilities({rows.x.data() + i * rows.cols, rows.cols}, {&p[i * k], k});
  }
  return p;
}

/// A simulated problem with a flawed classifier's predictions.
struct Case {
  explicit Case(std::uint64_t seed) : problem(seed), random(seed + 1) {
    labelled = problem.draw(false, problem.train_rows(), random);
    target = problem.draw(true, problem.target_rows(), random);
    p = flawed(problem, labelled);
    target_p = flawed(problem, target);
  }
  EstimateData data(bool exact) const {
    EstimateData d;
    d.classes = problem.classes();
    d.p = p;
    d.labels = labelled.y;
    d.target_p = target_p;
    d.features = labelled.view();
    d.target = target.view();
    if (exact) {
      d.log_ratio = labelled.log_ratio;
      d.target_log_ratio = target.log_ratio;
    }
    return d;
  }
  /// The true accuracy on the target, over many rows.
  double accuracy() {
    const SimulatedRows many = problem.draw(true, 5000, random);
    const std::vector<double> own = flawed(problem, many);
    const auto k = static_cast<std::size_t>(problem.classes());
    std::vector<double> truth(k);
    double sum = 0;
    for (std::size_t i = 0; i < many.rows; ++i) {
      problem.probabilities({many.x.data() + i * many.cols, many.cols}, truth);
      const auto* row = &own[i * k];
      sum += truth[static_cast<std::size_t>(std::max_element(row, row + k) - row)];
    }
    return sum / static_cast<double>(many.rows);
  }
  SimulatedProblem problem;
  Random random;
  SimulatedRows labelled, target;
  std::vector<double> p, target_p;
};

const PerformanceEstimate& find(const TargetPerformance& found, Performance metric,
                                EstimateBy method) {
  for (const PerformanceEstimate& e : found.estimates) {
    if (e.metric == metric && e.method == method) return e;
  }
  throw std::logic_error("no such estimate");
}

std::string message_of(const std::function<void()>& call) {
  try {
    call();
  } catch (const Error& e) {
    return e.what();
  }
  return "";
}

TEST(Simulation, WeightsMakeTrainingMeansTargetMeans) {
  // E_train w = 1 and E_train w x = E_target x, for each kind of problem.
  for (std::uint64_t seed = 0; seed < 12; ++seed) {
    const SimulatedProblem problem(seed);
    Random random(seed);
    const SimulatedRows train = problem.draw(false, 20000, random);
    const SimulatedRows target = problem.draw(true, 20000, random);
    std::vector<double> w;
    std::vector<double> wx;
    std::vector<double> x;
    for (std::size_t i = 0; i < train.rows; ++i) {
      w.push_back(std::exp(train.log_ratio[i]));
      wx.push_back(w.back() * train.x[i * train.cols]);
      x.push_back(target.x[i * train.cols]);
    }
    const MeanError mean = mean_error(w);
    EXPECT_NEAR(mean.mean, 1, 5 * mean.error + 1e-9) << seed;
    EXPECT_NEAR(mean_error(wx).mean, mean_error(x).mean,
                5 * (mean_error(wx).error + mean_error(x).error))
        << seed;
  }
}

TEST(Estimate, IsTheWeightedMeanAndTheIntervalHoldsIt) {
  const Case c(3);
  const TargetPerformance found = estimate_performance(c.data(true), {});
  double sum = 0;
  double right = 0;
  const auto k = static_cast<std::size_t>(c.problem.classes());
  for (std::size_t i = 0; i < c.labelled.rows; ++i) {
    const double w = std::exp(c.labelled.log_ratio[i]);
    const auto* row = &c.p[i * k];
    sum += w;
    if (std::max_element(row, row + k) - row == c.labelled.y[i]) right += w;
  }
  const PerformanceEstimate& e = find(found, Performance::accuracy, EstimateBy::weighting);
  EXPECT_NEAR(e.value, right / sum, 1e-12);
  EXPECT_LT(e.low, e.value);
  EXPECT_GT(e.high, e.value);
  EXPECT_NEAR(found.evidence.mean_weight, sum / static_cast<double>(c.labelled.rows), 1e-12);
}

TEST(Estimate, WithoutShiftThePlainMean) {
  const Case c(3);
  EstimateData data = c.data(false);
  const std::vector<double> zero(c.labelled.rows, 0);
  const std::vector<double> zero_target(c.target.rows, 0);
  data.log_ratio = zero;
  data.target_log_ratio = zero_target;
  const TargetPerformance found = estimate_performance(data, {});
  double sum = 0;
  const auto k = static_cast<std::size_t>(c.problem.classes());
  for (std::size_t i = 0; i < c.labelled.rows; ++i) {
    sum -= std::log(c.p[i * k + static_cast<std::size_t>(c.labelled.y[i])]);
  }
  EXPECT_NEAR(find(found, Performance::log_loss, EstimateBy::weighting).value,
              sum / static_cast<double>(c.labelled.rows), 1e-9);
  EXPECT_NEAR(found.evidence.effective_sample_size, static_cast<double>(c.labelled.rows), 1e-6);
}

/// The small version of the study in docs/promise.md: the share of 95% intervals that hold.
double share_covered(EstimateBy method, bool exact, int problems) {
  int held = 0;
  int told = 0;
  for (int s = 0; s < problems; ++s) {
    Case c(static_cast<std::uint64_t>(100 + s));
    const TargetPerformance found = estimate_performance(c.data(exact), {});
    if (!found.evidence.cannot_tell.empty()) continue;
    ++told;
    const double truth = c.accuracy();
    const PerformanceEstimate& e = find(found, Performance::accuracy, method);
    held += truth >= e.low && truth <= e.high ? 1 : 0;
  }
  EXPECT_GT(told, problems / 2);
  return static_cast<double>(held) / told;
}
// 60 problems: a share of 95% has a standard deviation of 2.8%.
TEST(Estimate, IntervalsHoldWithExactRatios) {
  EXPECT_GE(share_covered(EstimateBy::weighting, true, 60), 0.87);
  EXPECT_GE(share_covered(EstimateBy::doubly_robust, true, 60), 0.87);
}
TEST(Estimate, IntervalsHoldWithEstimatedRatios) {
  EXPECT_GE(share_covered(EstimateBy::doubly_robust, false, 40), 0.84);
}

TEST(Estimate, SaysWhereNothingCanBeTold) {
  const std::vector<double> train = {0, 0.1, -0.2};
  const std::vector<double> same(100, 0.0);
  std::vector<double> beyond(100, 0.0);
  for (std::size_t i = 0; i < 11; ++i) beyond[i] = 1;
  EXPECT_NE(evidence_of({same, beyond}).cannot_tell.find("unlike any labelled row"),
            std::string::npos);
  EXPECT_NEAR(evidence_of({same, beyond}).beyond, 0.11, 1e-12);
  EXPECT_NE(evidence_of({train, train}).cannot_tell.find("equivalent to 3 target rows"),
            std::string::npos);
  EXPECT_EQ(evidence_of({same, same}).cannot_tell, "");
}

TEST(Estimate, RefusesBadInput) {
  const Case c(4);
  EstimateData data = c.data(false);
  EstimateOptions options;
  options.level = 1;
  EXPECT_NE(message_of([&] { estimate_performance(data, options); }).find("the level must be"),
            std::string::npos);
  std::vector<double> p = c.p;
  p[0] += 0.5;
  data.p = p;
  EXPECT_NE(message_of([&] { estimate_performance(data, {}); }).find("row 1"), std::string::npos);
  data.p = c.p;
  std::vector<int> labels = c.labelled.y;
  labels[2] = data.classes;
  data.labels = labels;
  EXPECT_NE(message_of([&] { estimate_performance(data, {}); }).find("row 3"), std::string::npos);
  data.labels = c.labelled.y;
  data.target.rows = 1;
  data.target_p = std::span(c.target_p).first(static_cast<std::size_t>(data.classes));
  EXPECT_NE(message_of([&] { estimate_performance(data, {}); }).find("two target rows"),
            std::string::npos);
}

TEST(HeldOutRatio, OwesNothingToItsOwnRow) {
  // A single row far out decides a ratio fitted with it, and not one fitted without it.
  Random random(1);
  std::vector<double> train(100);
  std::vector<double> target(100);
  for (double& v : train) v = random.normal();
  for (double& v : target) v = random.normal();
  target[0] = 200;
  RatioOptions options;
  options.lambda = RatioLambda::parse("1e-4");
  const MatrixView a = MatrixView::dense(train.data(), 100, 1);
  const MatrixView b = MatrixView::dense(target.data(), 100, 1);
  const HeldOutRatio held_out = held_out_ratio(options, a, b);
  const std::vector<double> seen = fit_ratio(options, a, b)->log_ratio(b);
  EXPECT_LT(held_out.target[0], seen[0] - 1);
  EXPECT_EQ(held_out.train.size(), 100U);
}

TEST(Concept, TellsAChangeFromAShift) {
  Case c(11);
  EstimateData data = c.data(true);
  const ConceptTest same = test_concept(data, c.target.y, {});
  EXPECT_FALSE(same.changed) << same.p_value;
  EXPECT_NEAR(same.explained + same.unexplained, same.target_loss - same.train_loss, 1e-12);
  std::vector<int> other = c.target.y;
  for (int& y : other) y = (y + 1) % data.classes;
  const ConceptTest changed = test_concept(data, other, {});
  EXPECT_TRUE(changed.changed);
  EXPECT_NE(describe(changed).find("P(y|x) has changed"), std::string::npos);
}

TEST(Concept, KeepsItsLevel) {
  int changed = 0;
  int told = 0;
  for (std::uint64_t s = 0; s < 60; ++s) {
    const Case c(300 + s);
    const ConceptTest test = test_concept(c.data(true), c.target.y, {});
    if (!test.evidence.cannot_tell.empty()) continue;
    ++told;
    changed += test.changed ? 1 : 0;
  }
  EXPECT_LE(changed, told * 0.13);  // 5% and 3 standard deviations
}

TEST(Conformal, ThresholdIsTheWeightedQuantile) {
  // Weights 1, 1, 2; a new row of weight 1: total 5.
  const std::vector<double> score = {0.3, 0.1, 0.2};
  const std::vector<double> log_weight = {std::log(2.0), 0, 0};
  const Calibration c(score, log_weight);
  EXPECT_EQ(c.threshold(0.79, 0), 0.2);            // needs 1.05
  EXPECT_EQ(c.threshold(0.81, 0), 0.1);            // needs 0.95
  EXPECT_EQ(c.threshold(0.21, 0), 0.3);            // needs 3.95
  EXPECT_TRUE(std::isinf(c.threshold(0.19, 0)));   // needs 4.05 of 4
  EXPECT_TRUE(std::isinf(c.threshold(0.5, 700)));  // a row without support
  EXPECT_NE(message_of([&] { (void)c.threshold(0, 0); }).find("(0, 1)"), std::string::npos);
}

TEST(Conformal, EqualWeightsAreSplitConformal) {
  // The ceil((n + 1)(1 - alpha))-th smallest of n = 9 scores, alpha 0.2: the 8th.
  std::vector<double> score;
  for (int i = 1; i <= 9; ++i) score.push_back(i / 10.0);
  const std::vector<double> even(9, 3.5);
  EXPECT_EQ(Calibration(score, even).threshold(0.2, 3.5), 0.8);
  EXPECT_EQ(Calibration(score, even).threshold(0.1, 3.5), 0.9);
  EXPECT_TRUE(std::isinf(Calibration(score, even).threshold(0.09, 3.5)));
}

TEST(Conformal, WhatIsNoNumberIsRefused) {
  const Calibration c(std::vector<double>{0.1, 0.2}, std::vector<double>{0, 0});
  const auto sets = [&](double p, double log_weight) {
    return message_of([&] {
      (void)prediction_sets(c, 0.5, std::vector<double>{0.4, 0.6, 1 - p, p}, 2,
                            std::vector<double>{0, log_weight});
    });
  };
  const char* const refused = "row 2: a probability or the log weight is not a number";
  EXPECT_EQ(sets(NAN, 0), refused);
  EXPECT_EQ(sets(0.5, NAN), refused);
  EXPECT_EQ(sets(0.5, INFINITY), "");
}

TEST(Conformal, SetsCoverTheTarget) {
  // Split conformal with exact weights: on average over problems at least 1 - alpha of the target.
  double covered = 0;
  double rows = 0;
  for (std::uint64_t s = 0; s < 40; ++s) {
    const Case c(500 + s);
    const int k = c.problem.classes();
    std::vector<double> score;
    for (std::size_t i = 0; i < c.labelled.rows; ++i) {
      score.push_back(
          1 - c.p[i * static_cast<std::size_t>(k) + static_cast<std::size_t>(c.labelled.y[i])]);
    }
    const Calibration calibration(score, c.labelled.log_ratio);
    const std::vector<std::uint8_t> sets =
        prediction_sets(calibration, 0.1, c.target_p, k, c.target.log_ratio);
    double hit = 0;
    for (std::size_t i = 0; i < c.target.rows; ++i) {
      hit += sets[i * static_cast<std::size_t>(k) + static_cast<std::size_t>(c.target.y[i])];
    }
    covered += hit / static_cast<double>(c.target.rows);
    rows += 1;
  }
  EXPECT_GE(covered / rows, 0.89);
  EXPECT_LE(covered / rows, 0.95);
}

TEST(Conformal, AFileKeepsTheThresholds) {
  Random random(2);
  std::vector<double> score(5000);
  std::vector<double> log_weight(5000);
  for (double& v : score) v = random.uniform();
  for (double& v : log_weight) v = random.normal();
  const Calibration c(score, log_weight);
  const Calibration back = Calibration::from_json(c.to_json());
  const std::span<const double> some(score.data(), 2000);
  const Calibration whole(some, std::span<const double>(log_weight.data(), 2000));
  for (const double alpha : {0.05, 0.1, 0.5}) {
    EXPECT_EQ(back.threshold(alpha, 1), c.threshold(alpha, 1));
    EXPECT_NEAR(c.threshold(alpha, 1), 1 - alpha, 0.03);  // uniform scores, independent weights
    EXPECT_NEAR(whole.threshold(alpha, 1), 1 - alpha, 0.05);
  }
  EXPECT_THROW(Calibration::from_json({{"score", {0.1}}, {"cumulative", {1, 2}}, {"log_unit", 0}}),
               Error);
}

/// The flawed classifier's log loss, as if of held-out rows.
struct BoundCase : Case {
  explicit BoundCase(std::uint64_t seed) : Case(seed) {
    const auto k = static_cast<std::size_t>(problem.classes());
    const auto entropy = [&](const std::vector<double>& all, std::size_t i) {
      double h = 0;
      for (std::size_t y = 0; y < k; ++y) h -= all[i * k + y] * std::log(all[i * k + y]);
      return h;
    };
    for (std::size_t i = 0; i < labelled.rows; ++i) {
      loss.push_back(-std::log(p[i * k + static_cast<std::size_t>(labelled.y[i])]));
      guess.push_back(entropy(p, i));
    }
    for (std::size_t i = 0; i < target.rows; ++i) {
      target_guess.push_back(entropy(target_p, i));
      const auto row = target_p.begin() + static_cast<std::ptrdiff_t>(i * k);
      worst.push_back(-std::log(*std::min_element(row, row + static_cast<std::ptrdiff_t>(k))));
    }
  }
  BoundData data() const {
    BoundData d;
    d.loss = loss;
    d.guess = guess;
    d.target_guess = target_guess;
    d.worst = worst;
    d.rows.features = labelled.view();
    d.rows.target = target.view();
    d.rows.estimated = false;
    d.ratio.train = labelled.log_ratio;
    d.ratio.target = target.log_ratio;
    return d;
  }
  double true_loss() {
    const SimulatedRows many = problem.draw(true, 5000, random);
    const std::vector<double> own = flawed(problem, many);
    const auto k = static_cast<std::size_t>(problem.classes());
    std::vector<double> q(k);
    double sum = 0;
    for (std::size_t i = 0; i < many.rows; ++i) {
      problem.probabilities({many.x.data() + i * many.cols, many.cols}, q);
      for (std::size_t y = 0; y < k; ++y) sum -= q[y] * std::log(own[i * k + y]);
    }
    return sum / static_cast<double>(many.rows);
  }
  std::vector<double> loss, guess, target_guess, worst;
};

TEST(Bounds, HoldAndTheFlagStaysDownWithExactRatios) {
  int stated = 0;
  int held = 0;
  int flagged = 0;
  constexpr int problems = 60;
  for (std::uint64_t s = 0; s < problems; ++s) {
    BoundCase c(7000 + s);
    const LossBound found = bound_loss(c.data(), 0.05);
    flagged += found.ratio_p_value < 0.05 ? 1 : 0;
    if (!found.evidence.cannot_tell.empty()) continue;
    ++stated;
    held += found.bound >= c.true_loss() ? 1 : 0;
    EXPECT_LT(found.bound, 2 * found.value + 1) << s;
  }
  EXPECT_GT(stated, problems * 3 / 4);
  // 95% +- 3%; 4% of flags +- 3%.
  EXPECT_GE(held, stated * 0.9);
  EXPECT_LE(flagged, problems * 0.12);
}

TEST(Bounds, OfFitsHoldAndTheirSetsCover) {
  for (const bool exact : {true, false}) {
    int stated = 0;
    int held = 0;
    int flagged = 0;
    double covered = 0;
    constexpr int problems = 24;
    for (std::uint64_t s = 0; s < problems; ++s) {
      const SimulatedFit fit =
          fit_simulated(SimulatedProblem(1000 + s), 5000 + s, s % 2 == 0 ? "robust" : "iw", exact);
      const Certificate& c = fit.model.certificate();
      covered += fit.covered / problems;
      flagged += c.ratio_p_value < 0.05 ? 1 : 0;
      if (!c.bound) continue;
      ++stated;
      held += *c.bound >= fit.truth ? 1 : 0;
      EXPECT_LT(*c.bound, 2 * fit.truth) << s;
    }
    EXPECT_GE(stated, problems / 2);
    EXPECT_GE(held, stated - 3);  // 96%
    EXPECT_LE(flagged, exact ? 4 : problems / 2);
    EXPECT_NEAR(covered, 0.9, 0.025);
  }
}

TEST(Bounds, NoMistakeSeenIsNotNoMistakeMade) {
  constexpr std::size_t rows = 100;
  constexpr double mistakes = 0.02;  // 13% of samples show none
  const std::vector<double> even(rows, 0.0);
  Random random(3);
  std::vector<double> x(2 * rows);
  BoundData d;
  d.guess = d.target_guess = even;
  d.ratio = {even, even};
  d.rows.estimated = false;
  const std::vector<double> one(rows, 1.0);
  d.worst = one;
  int held = 0;
  constexpr int samples = 300;
  for (int s = 0; s < samples; ++s) {
    for (double& v : x) v = random.normal();
    d.rows.features = MatrixView::dense(x.data(), rows, 1);
    // A row further out than all others would count with its worst loss.
    d.rows.target = d.rows.features;
    std::vector<double> loss(rows);
    for (double& l : loss) l = random.uniform() < mistakes ? 1 : 0;
    d.loss = loss;
    held += bound_loss(d, 0.05).bound >= mistakes ? 1 : 0;
  }
  EXPECT_GE(held, samples * 0.95);
  const std::vector<double> none(rows, 0.0);
  d.loss = none;
  EXPECT_NEAR(bound_loss(d, 0.05).bound, 1 - std::pow(0.025, 1.0 / rows), 1e-12);
}

/// Two samples of two columns, the classes by how far out the first is, and a classifier that does
/// not know.
struct Wide {
  static constexpr std::size_t rows = 800;
  explicit Wide(double spread, double far_share = 0) {
    Random random(17);
    for (std::size_t i = 0; i < 2 * rows; ++i) {
      const bool there = i >= rows;
      double x = random.normal() * (there ? spread : 1);
      if (there && random.uniform() < far_share) x = 8 + 0.3 * random.normal();
      values.push_back(x);
      values.push_back(random.normal());
      const bool outer = std::abs(x) > 1.2;
      if (!there) labels.push_back(outer ? 1 : 0);
      if (there) truth.push_back(outer ? 1 : 0);
      p.push_back(0.7);
      p.push_back(0.3);
    }
    data.classes = 2;
    data.p = std::span(p).first(2 * rows);
    data.target_p = std::span(p).last(2 * rows);
    data.labels = labels;
    data.features = MatrixView::dense(values.data(), rows, 2);
    data.target = MatrixView::dense(values.data() + 2 * rows, rows, 2);
  }
  std::vector<double> values, p;
  std::vector<int> labels, truth;
  EstimateData data;
};

TEST(Estimates, ASpreadThatALinearRatioMissesIsSeenAndMended) {
  const Wide wide(1.6);
  const TargetPerformance found = estimate_performance(wide.data, {});
  EXPECT_TRUE(found.quadratic);
  EXPECT_GE(found.ratio_p_value, ratio_level);
  const double accuracy =
      static_cast<double>(std::count(wide.truth.begin(), wide.truth.end(), 0)) / Wide::rows;
  EXPECT_LE(found.estimates[0].low, accuracy);
  EXPECT_GE(found.estimates[0].high, accuracy);
  // Given to the test as it is, the linear ratio, which sees no shift, is refused.
  EstimateData given = wide.data;
  const std::vector<double> none(Wide::rows, 0.0);
  given.log_ratio = none;
  given.target_log_ratio = none;
  EXPECT_LT(estimate_performance(given, {}).ratio_p_value, 1e-6);
  // Nor is that called a change of P(y|x).
  EXPECT_FALSE(test_concept(wide.data, wide.truth, EstimateOptions().ratio).changed);
  const ConceptTest wrong = test_concept(given, wide.truth, EstimateOptions().ratio);
  EXPECT_TRUE(wrong.differs);
  EXPECT_FALSE(wrong.changed);
  EXPECT_NE(describe(wrong).find("or the density ratio misses"), std::string::npos);
}

TEST(Estimates, RowsFarFromAllLabelledOnesArePointedOut) {
  const Wide wide(1, 0.06);
  const TargetPerformance found = estimate_performance(wide.data, {});
  EXPECT_NEAR(found.far, 0.06, 0.02);
  const std::vector<std::string> said = cautions(found);
  EXPECT_TRUE(std::any_of(said.begin(), said.end(), [](const std::string& text) {
    return text.find("far from every labelled row") != std::string::npos;
  }));
  EXPECT_LT(estimate_performance(Wide(1).data, {}).far, 0.02);
}

TEST(Estimates, WhereAllRowsAreFarNothingCanBeTold) {
  const Wide wide(1, 1);
  const TargetPerformance found = estimate_performance(wide.data, {});
  EXPECT_NE(found.evidence.cannot_tell.find("100% of the target rows are unlike"),
            std::string::npos);
  EXPECT_FALSE(test_concept(wide.data, wide.truth, EstimateOptions().ratio).changed);
}

TEST(Bounds, RowsFarFromAllLabelledOnesCountWithTheirWorstLoss) {
  const std::vector<double> none(Wide::rows, 0.0);
  const std::vector<double> one(Wide::rows, 1.0);
  const auto bound = [&](double far_share) {
    const Wide wide(1, far_share);
    BoundData d;
    d.loss = d.guess = d.target_guess = none;
    d.worst = one;
    d.ratio = {none, none};
    d.rows.features = wide.data.features;
    d.rows.target = wide.data.target;
    d.rows.estimated = false;
    return bound_loss(d, 0.05).bound;
  };
  EXPECT_LT(bound(0), 0.01);
  EXPECT_GT(bound(0.05), 0.035);
  EXPECT_LT(bound(0.05), 0.07);
}

TEST(Bounds, ASmallerDeltaGivesALargerBound) {
  const BoundCase c(7003);
  const double five = bound_loss(c.data(), 0.05).bound;
  const LossBound one = bound_loss(c.data(), 0.01);
  EXPECT_GT(one.bound, five);
  EXPECT_GT(five, one.value);
}

TEST(Bounds, ACountOfTwoEqualsTheRowTwice) {
  BoundCase c(7005);
  const std::size_t n = c.labelled.rows;
  std::vector<double> count(n, 1);
  BoundCase twice = c;
  for (std::size_t i = 0; i < n; i += 2) {
    count[i] = 2;
    const auto row = c.labelled.x.begin() + static_cast<std::ptrdiff_t>(i * c.labelled.cols);
    twice.labelled.x.insert(twice.labelled.x.end(), row,
                            row + static_cast<std::ptrdiff_t>(c.labelled.cols));
    twice.labelled.log_ratio.push_back(c.labelled.log_ratio[i]);
    twice.loss.push_back(c.loss[i]);
    twice.guess.push_back(c.guess[i]);
    ++twice.labelled.rows;
  }
  BoundData weighted = c.data();
  weighted.rows.count = count;
  // All columns are components here, so that a basis of other rows spans the same.
  const LossBound a = bound_loss(weighted, 0.05);
  const LossBound b = bound_loss(twice.data(), 0.05);
  EXPECT_NEAR(a.evidence.effective_sample_size, b.evidence.effective_sample_size, 1e-9);
  EXPECT_NEAR(a.value, b.value, 0.01 * b.value);
  EXPECT_NEAR(a.bound, b.bound, 0.02 * b.bound);
}

TEST(Bounds, TheFlagGoesUpForAWrongRatio) {
  int problems = 0;
  int wrong = 0;
  for (std::uint64_t s = 0; s < 60; ++s) {
    const BoundCase c(7000 + s);
    if (c.problem.strength() < 0.7 || std::min(c.labelled.rows, c.target.rows) < 500) continue;
    ++problems;
    BoundData d = c.data();
    for (double& l : d.ratio.train) l = -l;  // the samples swapped
    for (double& l : d.ratio.target) l = -l;
    wrong += bound_loss(d, 0.05).ratio_p_value < 0.05 ? 1 : 0;
  }
  ASSERT_GT(problems, 5);
  EXPECT_GE(wrong, problems * 0.8);
}

}  // namespace
}  // namespace covshift
