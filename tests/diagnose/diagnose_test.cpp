// The whole diagnosis, of samples with a known shift.
#include "covshift/diagnose/diagnose.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <numeric>

#include "covshift/base/error.hpp"
#include "covshift/diagnose/distributions.hpp"
#include "tests/diagnose/support.hpp"

namespace covshift {
namespace {

using test::diagnosed;
using test::normal;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::UnorderedElementsAre;

Matrix moved(Matrix x, std::size_t column, double by, double times = 1) {
  for (std::size_t i = 0; i < x.rows; ++i) {
    double& v = x.values[i * x.cols + column];
    v = v * times + by;
  }
  return x;
}

TEST(Diagnose, ReportsNoShift) {
  Random random(1);
  const Diagnosis d = diagnosed(normal(random, 300, 4), normal(random, 250, 4));
  EXPECT_FALSE(d.shifted());
  EXPECT_EQ(d.recommendation.verdict, Verdict::none);
  EXPECT_EQ(d.recommendation.method, "auto");
  EXPECT_LT(d.support.share, 0.05);
  EXPECT_GT(d.effective_sample_size, 250);
  EXPECT_TRUE(d.recommendation.shifted_views.empty());
  EXPECT_TRUE(d.recommendation.label_first.empty());
}

TEST(Diagnose, NamesTheViewThatMoved) {
  Random random(2);
  const Matrix train = normal(random, 400, 5);
  DiagnoseOptions options;
  options.ratio.lambda.rule = RatioLambda::Rule::cv;  // unsmoothed, to compare with the true KL
  for (std::size_t view = 0; view < 5; ++view) {
    const Diagnosis d = diagnosed(train, moved(normal(random, 400, 5), view, 2), options);
    EXPECT_TRUE(d.shifted());
    EXPECT_EQ(d.recommendation.verdict, Verdict::views) << d.recommendation.summary;
    EXPECT_THAT(d.recommendation.shifted_views, ElementsAre(fmt::format("x{}", view)));
    EXPECT_EQ(d.recommendation.stable_views.size(), 4U);
    EXPECT_THAT(d.recommendation.summary, HasSubstr(fmt::format("x{}", view)));
    // Two normals of variance 1, two deviations apart: symmetric KL 4.
    EXPECT_NEAR(d.views[view].kl, 4, 1);
    EXPECT_NEAR(d.views[view].kl_binned, 4, 1.2);
  }
}

TEST(Diagnose, DetectsAChangeOfShapeThatTheLogisticRatioMisses) {
  Random random(3);
  const Diagnosis d = diagnosed(normal(random, 400, 3), moved(normal(random, 400, 3), 1, 0, 2));
  EXPECT_TRUE(d.shifted());
  EXPECT_LT(d.views[1].kl, 0.1);
  EXPECT_TRUE(d.views[1].generalized);
  // KL of N(0,1) and N(0,4), both ways: (1/4 + 4)/2 - 1 = 1.125.
  EXPECT_NEAR(d.views[1].kl_binned, 1.125, 0.35);
  EXPECT_FALSE(d.views[1].stable);
  EXPECT_THAT(d.recommendation.shifted_views, ElementsAre("x1"));
  EXPECT_NE(d.recommendation.verdict, Verdict::mild);
  EXPECT_TRUE(std::any_of(d.recommendation.reasons.begin(), d.recommendation.reasons.end(),
                          [](const Reason& r) { return r.code == "ratio-blind"; }));
}

TEST(Diagnose, ViewsThatChangedTheirShapesShareOneReason) {
  Random random(3);
  const Matrix train = normal(random, 400, 3);
  const Diagnosis d = diagnosed(train, moved(moved(normal(random, 400, 3), 1, 0, 2), 2, 0, 2));
  std::vector<std::string> said;
  for (const Reason& r : d.recommendation.reasons) {
    if (r.code == "ratio-blind") said.push_back(r.text);
  }
  ASSERT_EQ(said.size(), 1U);
  EXPECT_THAT(said[0], HasSubstr("x1, x2 changed their shapes rather than their means"));
}

TEST(Diagnose, MildShiftIsCalledMild) {
  Random random(4);
  const Diagnosis d = diagnosed(normal(random, 500, 3), moved(normal(random, 500, 3), 0, 0.5));
  EXPECT_TRUE(d.shifted());
  EXPECT_EQ(d.recommendation.verdict, Verdict::mild) << d.recommendation.summary;
}

TEST(Diagnose, WithoutOverlapNoMethodHelpsAndRowsAreShown) {
  Random random(5);
  const Matrix train = normal(random, 300, 4);
  const Matrix target = moved(normal(random, 200, 4), 2, 12);
  const Diagnosis d = diagnosed(train, target);
  EXPECT_EQ(d.recommendation.verdict, Verdict::no_overlap);
  EXPECT_THAT(d.recommendation.summary, HasSubstr("no method can know the labels there"));
  EXPECT_DOUBLE_EQ(d.support.share, 1);
  ASSERT_EQ(d.support.examples.size(), 10U);
  ASSERT_EQ(d.recommendation.label_first.size(), 10U);
  double stands_for = 0;
  for (std::size_t k = 0; k < 10; ++k) {
    const RowToLabel& row = d.recommendation.label_first[k];
    stands_for += row.represents;
    // The values shown are those of the row, the moved column first.
    EXPECT_EQ(d.label_values[k][0], fmt::format("{:.6g}", target.values[4 * row.row + 2]));
    EXPECT_GT(d.support.examples[k].distance, 1);
  }
  EXPECT_NEAR(stands_for, 1, 1e-9);
}

TEST(Diagnose, FindsTheRowsWithoutSupport) {
  // 30 of 300 target rows are far away in a direction that the means do not show.
  Random random(6);
  const Matrix train = normal(random, 400, 3);
  Matrix target = normal(random, 300, 3);
  for (std::size_t i = 0; i < 30; ++i) target.values[3 * (10 * i) + 1] = i % 2 == 0 ? 9 : -9;
  DiagnoseOptions options;
  options.examples = 30;
  const Diagnosis d = diagnosed(train, target, options);
  EXPECT_GE(d.support.rows, 30U);
  EXPECT_LE(d.support.rows, 45U);
  for (const UnsupportedRow& row : d.support.examples) EXPECT_EQ(row.row % 10, 0U) << row.row;
}

TEST(Diagnose, WithoutShiftTheUnsupportedShareIsAsExpected) {
  Random random(7);
  double share = 0;
  double expected = 0;
  constexpr int draws = 20;
  for (int k = 0; k < draws; ++k) {
    DiagnoseOptions options;
    options.permutations = 19;
    options.seed = static_cast<std::uint64_t>(k);
    const Diagnosis d = diagnosed(normal(random, 400, 3), normal(random, 400, 3), options);
    share += d.support.share / draws;
    expected += d.support.expected / draws;
  }
  EXPECT_LE(expected, 0.011);
  EXPECT_NEAR(share, expected, 0.006);
}

TEST(Diagnose, CategoriesAreOneFeature) {
  Random random(8);
  const auto draw = [&](std::size_t n, double share_of_a) {
    Matrix x;
    x.rows = n;
    x.cols = 4;
    for (std::size_t i = 0; i < n; ++i) {
      const double u = random.uniform();
      // The fourth level of the target was never seen: zeros.
      x.values.insert(x.values.end(),
                      {u < share_of_a ? 1.0 : 0.0, u >= share_of_a && u < 0.9 ? 1.0 : 0.0, 0.0,
                       random.normal()});
    }
    return x;
  };
  const std::vector<Feature> features = {{"site", {0, 1, 2}, {"a", "b", "c"}}, {"age", {3}, {}}};
  Views views;
  views.names = {"site", "age"};
  views.columns = {{0, 1, 2}, {3}};
  views.maps.resize(2);
  const Diagnosis d = diagnosed(draw(500, 0.7), draw(500, 0.2), features, views, {});
  ASSERT_EQ(d.features.size(), 2U);
  EXPECT_THAT(d.features[0].levels, ElementsAre("a", "b", "c", "(other)"));
  EXPECT_NEAR(d.features[0].train[0], 0.7, 0.06);
  EXPECT_NEAR(d.features[0].target[0], 0.2, 0.06);
  EXPECT_NEAR(d.features[0].weighted[0], 0.2, 0.06);
  EXPECT_THAT(d.columns, ElementsAre("site=a", "site=b", "site=c", "age"));
  EXPECT_THAT(d.recommendation.shifted_views, ElementsAre("site"));
}

TEST(Diagnose, SharesSumToOneAndBinsAreInTheUnitsOfTheFile) {
  Random random(9);
  const Matrix train = moved(normal(random, 300, 2), 1, 1000, 50);
  const Matrix target = moved(normal(random, 200, 2), 1, 1010, 50);
  const Diagnosis d = diagnosed(train, target);
  for (const FeatureShift& f : d.features) {
    ASSERT_EQ(f.edges.size(), f.train.size() + 1);
    for (const auto* shares : {&f.train, &f.weighted, &f.target}) {
      EXPECT_NEAR(std::accumulate(shares->begin(), shares->end(), 0.0), 1, 1e-12);
    }
    EXPECT_TRUE(std::is_sorted(f.edges.begin(), f.edges.end()));
  }
  EXPECT_NEAR(d.features[1].edges.front(), 1000 - 150, 60);
  EXPECT_NEAR(d.features[1].edges.back(), 1000 + 150, 60);
  std::size_t rows = 0;
  for (const std::size_t count : d.weights.counts) rows += count;
  EXPECT_EQ(rows, 300U);
}

TEST(Diagnose, SubsamplingALargeSampleChangesLittle) {
  Random random(10);
  const Matrix train = normal(random, 1500, 3);
  const Matrix target = moved(normal(random, 1500, 3), 1, 1);
  DiagnoseOptions options;
  const Diagnosis all = diagnosed(train, target, options);
  options.subsample = 500;
  const Diagnosis spared = diagnosed(train, target, options);
  EXPECT_NEAR(all.effective_sample_size, spared.effective_sample_size, 150);
  EXPECT_NEAR(all.views[1].kl, spared.views[1].kl, 0.1);
  EXPECT_EQ(all.test.auc, spared.test.auc);
  options.ratio.method = RatioMethod::kmm;
  options.subsample = 100;
  EXPECT_GT(diagnosed(train, target, options).effective_sample_size, 1);
}

TEST(Diagnose, OneRowIsUndetermined) {
  Random random(11);
  const Diagnosis d = diagnosed(normal(random, 40, 2), normal(random, 1, 2));
  EXPECT_EQ(d.recommendation.verdict, Verdict::undetermined);
  EXPECT_FALSE(d.shifted());
}

TEST(Diagnose, AcceptsConstantColumns) {
  Random random(12);
  Matrix train = moved(normal(random, 60, 3), 0, 5, 0);
  const Diagnosis same = diagnosed(train, moved(normal(random, 60, 3), 0, 5, 0));
  EXPECT_DOUBLE_EQ(same.features[0].kl_binned, 0);
  EXPECT_FALSE(same.shifted());
  // A constant that differs in the target has no support.
  const Diagnosis other = diagnosed(train, moved(normal(random, 60, 3), 0, 6, 0));
  EXPECT_TRUE(other.shifted());
  EXPECT_EQ(other.recommendation.verdict, Verdict::no_overlap);
}

TEST(Diagnose, UnitsDoNotHideAShift) {
  // Squares of 1e200 overflow, and adding 1e15 loses digits.
  Random random(18);
  const Matrix train = normal(random, 200, 2);
  const Matrix target = moved(normal(random, 200, 2), 0, 2);
  const double p = diagnosed(train, target).test.p_value;
  for (const auto& [by, times] : {std::pair{0.0, 1e200}, std::pair{1e15, 64.0}}) {
    const Diagnosis d = diagnosed(moved(train, 0, by, times), moved(target, 0, by, times));
    EXPECT_DOUBLE_EQ(d.test.p_value, p) << times;
    EXPECT_GT(d.support.share, 0.05) << times;
  }
}

TEST(Diagnose, MeasuresTheViewsThatMovedMostOfMany) {
  Random random(19);
  const Matrix train = normal(random, 60, 210);
  const Matrix target = moved(normal(random, 60, 210), 7, 3);
  DiagnoseOptions options;
  options.permutations = 19;
  options.ratio.lambda = {RatioLambda::Rule::value, 0.01};
  const Diagnosis d = diagnosed(train, target, options);
  ASSERT_EQ(d.views.size(), 210U);
  ASSERT_EQ(d.features.size(), 200U);
  EXPECT_EQ(d.recommendation.shifted_views.front(), "x7");
  std::size_t from_means = 0;
  for (std::size_t v = 0; v < d.views.size(); ++v) {
    const double apart = d.means[v].before;
    if (std::abs(d.views[v].kl - apart * apart) < 1e-12) ++from_means;
  }
  EXPECT_EQ(from_means, 10U);
}

TEST(Diagnose, LabelFirstHasNoCopies) {
  // A target of three different rows, each many times: labelling a copy is useless.
  Random random(21);
  Matrix target = normal(random, 90, 2);
  for (std::size_t i = 0; i < target.values.size(); ++i) {
    target.values[i] = i % 2 == 0 ? 20 + static_cast<double>(i / 2 % 3) : 0;
  }
  const Diagnosis d = diagnosed(normal(random, 100, 2), target);
  ASSERT_EQ(d.recommendation.label_first.size(), 3U);
  for (const RowToLabel& row : d.recommendation.label_first) {
    EXPECT_NEAR(row.represents, 1.0 / 3, 1e-9);
  }
}

TEST(Diagnose, ListsRowsToLabelIfTheSummaryAsksForLabels) {
  Random random(20);
  const Matrix train = normal(random, 300, 3);
  Matrix target = moved(normal(random, 300, 3), 0, 2);
  const Diagnosis some = diagnosed(train, target);
  EXPECT_EQ(some.recommendation.verdict, Verdict::views);
  EXPECT_THAT(some.recommendation.summary, HasSubstr("label rows there first"));
  EXPECT_TRUE(some.recommendation.collect_labels);
  const Diagnosis mild = diagnosed(train, moved(normal(random, 300, 3), 0, 0.5));
  EXPECT_EQ(mild.recommendation.verdict, Verdict::mild);
  EXPECT_FALSE(mild.recommendation.collect_labels) << mild.recommendation.summary;
}

TEST(Diagnose, IsTheSameForAnyNumberOfThreadsParallel) {
  Random random(13);
  const Matrix train = normal(random, 700, 3);
  const Matrix target = moved(normal(random, 900, 3), 0, 1);
  DiagnoseOptions options;
  options.permutations = 19;
  options.subsample = 300;
  options.threads = 1;
  const std::string one = to_json(diagnosed(train, target, options)).dump();
  options.threads = 3;
  EXPECT_EQ(one, to_json(diagnosed(train, target, options)).dump());
}

TEST(Diagnose, JsonCountsRowsFromOneAndKeepsTheOldKeys) {
  Random random(14);
  const Diagnosis d = diagnosed(normal(random, 80, 2), moved(normal(random, 70, 2), 0, 15));
  const auto json = to_json(d);
  for (const char* key : {"train", "target", "domain_auc", "domain_auc_standard_error",
                          "effective_sample_size", "views", "largest_weights", "features", "advice",
                          "p_value", "support", "recommendation", "distributions"}) {
    EXPECT_TRUE(json.contains(key)) << key;
  }
  EXPECT_EQ(json["support"]["examples"][0]["row"], d.support.examples[0].row + 1);
  EXPECT_EQ(json["recommendation"]["verdict"], "no-overlap");
  EXPECT_EQ(json["largest_weights"][0]["row"], d.heaviest[0].row + 1);
}

TEST(Diagnose, RecommendsTheDefaultWhateverTheShift) {
  // Nothing about methods is measured, so nothing speaks against it.
  Random random(15);
  const Matrix train = normal(random, 200, 2);
  for (const double by : {0.0, 0.5, 3.0, 15.0}) {
    const Recommendation r = diagnosed(train, moved(normal(random, 200, 2), 0, by)).recommendation;
    EXPECT_EQ(r.method, "auto") << by;
    EXPECT_THAT(r.why, HasSubstr("Use the default fit")) << by;
    EXPECT_EQ(r.command, "") << by;
  }
}

TEST(Diagnose, RejectsInvalidData) {
  Random random(16);
  const Matrix two = normal(random, 10, 2);
  const Matrix three = normal(random, 10, 3);
  const Matrix none{
      .rows = 0, .cols = 2, .sparse = false, .values = {}, .offsets = {}, .columns = {}};
  EXPECT_THROW(diagnosed(two, three), Error);
  EXPECT_THROW(diagnosed(two, none), Error);
  EXPECT_THROW(diagnosed(none, two), Error);
  EXPECT_THROW(
      diagnosed(two, two, features_of(Encoder::of_columns(test::names(1))), test::each(2), {}),
      Error);
  DiagnoseOptions options;
  options.permutations = 0;
  EXPECT_THROW(diagnosed(two, two, options), Error);
  options = {};
  options.level = 1;
  EXPECT_THROW(diagnosed(two, two, options), Error);
  options = {};
  options.permutations = 18;  // the least p-value is 1/19 > 0.05
  EXPECT_THROW(diagnosed(two, two, options), Error);
}

TEST(BinnedKl, IsTheJeffreysDivergenceMinusItsBias) {
  const std::vector<double> p = {40000, 60000};
  const std::vector<double> q = {70000, 30000};
  const double exact = (0.4 - 0.7) * std::log(0.4 / 0.7) + (0.6 - 0.3) * std::log(0.6 / 0.3);
  EXPECT_NEAR(binned_kl(p, q).kl, exact, 1e-4);
  EXPECT_DOUBLE_EQ(binned_kl(p, p).kl, 0);
  EXPECT_TRUE(std::isfinite(binned_kl(std::vector<double>{10, 0}, std::vector<double>{0, 10}).kl));
}

TEST(BinnedKl, IsAroundZeroWithoutShift) {
  Random random(17);
  double sum = 0;
  int above = 0;
  for (int draw = 0; draw < 200; ++draw) {
    std::vector<double> p(10, 0.0);
    std::vector<double> q(10, 0.0);
    for (int i = 0; i < 200; ++i) {
      p[random.below(10)] += 1;
      q[random.below(10)] += 1;
    }
    const BinnedKl binned = binned_kl(p, q);
    sum += binned.kl / 200;
    above += binned.kl > 2 * binned.error ? 1 : 0;
  }
  // The plain plug-in would average 9 (1/200 + 1/200) = 0.09.
  EXPECT_LT(sum, 0.03);
  EXPECT_LE(above, 20);
}

}  // namespace
}  // namespace covshift
