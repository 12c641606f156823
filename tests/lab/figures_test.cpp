#include "covshift/lab/figures.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "covshift/base/error.hpp"
#include "covshift/lab/statistics.hpp"
#include "tests/draw/support.hpp"

namespace covshift {
namespace {

using testing::HasSubstr;

ExperimentOptions few_draws(int draws, int threads = 0) {
  ExperimentOptions options;
  options.draws = draws;
  options.threads = threads;
  options.seed = 3;
  return options;
}

TEST(PlaneDraw, HasTheMomentsOfItsGaussians) {
  PlaneExample example = figure3_setting().panels[0].example;
  example.train_rows = 20000;
  example.target_rows = 20000;
  const PlaneDraw draw = draw_plane(example, 1);
  const auto check = [](const PlanePoints& points, const Gaussian& density) {
    const auto n = static_cast<double>(points.y.size());
    for (int a = 0; a < 2; ++a) {
      double mean = 0;
      for (std::size_t i = 0; i < points.y.size(); ++i) mean += points.x[2 * i + a] / n;
      const double variance = density.covariance[3 * a];
      EXPECT_NEAR(mean, density.mean[a], 4 * std::sqrt(variance / n));
      for (int b = 0; b < 2; ++b) {
        double moment = 0;
        for (std::size_t i = 0; i < points.y.size(); ++i) {
          moment +=
              (points.x[2 * i + a] - density.mean[a]) * (points.x[2 * i + b] - density.mean[b]) / n;
        }
        const double other = density.covariance[3 * b];
        EXPECT_NEAR(moment, density.covariance[2 * a + b], 4 * std::sqrt(2 * variance * other / n));
      }
    }
  };
  check(draw.train, example.train);
  check(draw.target, example.target);
}

TEST(PlaneDraw, FlipsExactlyTheNoise) {
  PlaneExample example = figure3_setting().panels[0].example;
  const auto wrong = [&](const PlanePoints& points) {
    std::size_t count = 0;
    for (std::size_t i = 0; i < points.y.size(); ++i) {
      const double side = example.boundary[0] + example.boundary[1] * points.x[2 * i] +
                          example.boundary[2] * points.x[2 * i + 1];
      count += (side > 0) != (points.y[i] == 1) ? 1 : 0;
    }
    return count;
  };
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    const PlaneDraw draw = draw_plane(example, seed);
    EXPECT_EQ(draw.train.y.size(), 50U);
    EXPECT_EQ(draw.target.y.size(), 100U);
    EXPECT_EQ(wrong(draw.train), 5U);
    EXPECT_EQ(wrong(draw.target), 10U);
  }
  EXPECT_NE(draw_plane(example, 1).train.x, draw_plane(example, 2).train.x);
}

TEST(PlaneDraw, RejectsABoundaryOutOfReach) {
  PlaneExample example = figure3_setting().panels[0].example;
  example.boundary = {1e6, 1, 1};
  example.noise = 0;
  EXPECT_THROW(draw_plane(example, 1), Error);
}

TEST(FigureSettings, ShareOneExampleWhereMethodsAreCompared) {
  // Figure 2: training inside the target, P_gen between the two and growing.
  const FigureSetting two = figure2_setting();
  double last = 0;
  for (const PanelSetting& panel : two.panels) {
    EXPECT_EQ(panel.example.train.covariance, two.panels[0].example.train.covariance);
    const std::vector<double>& c = panel.generalization.value().covariance;
    const double area = c[0] * c[3] - c[1] * c[2];
    EXPECT_GT(area, last);
    last = area;
  }
  for (int i = 0; i < 4; ++i) {
    EXPECT_NEAR(two.panels[0].generalization->covariance[i],
                two.panels[0].example.train.covariance[i], 1e-12);
    EXPECT_NEAR(two.panels[3].generalization->covariance[i],
                two.panels[3].example.target.covariance[i], 1e-12);
  }
  // Figure 3: the second view has one marginal, the first has not.
  const PlaneExample three = figure3_setting().panels[0].example;
  EXPECT_EQ(three.train.mean[1], three.target.mean[1]);
  EXPECT_EQ(three.train.covariance[3], three.target.covariance[3]);
  EXPECT_NE(three.train.mean[0], three.target.mean[0]);
}

TEST(Figure2, ItsEndsAreRobustAndImportanceWeighting) {
  const FigureSetting figure = figure2_setting();
  const PlaneDraw draw = draw_plane(figure.panels[0].example, 5);
  const auto predictions = [&](const PanelSetting& panel) {
    return predict_panel(panel, fit_panel(panel, draw, 1), draw.target.view(), 1).p;
  };
  PanelSetting plain = figure.panels[0];
  plain.generalization.reset();
  for (const auto& [method, panel] : {std::pair{"robust", 0}, std::pair{"iw", 3}}) {
    plain.fit.method = method;
    const std::vector<double> ours = predictions(figure.panels[panel]);
    const std::vector<double> theirs = predictions(plain);
    for (std::size_t i = 0; i < ours.size(); ++i) EXPECT_NEAR(ours[i], theirs[i], 1e-5) << method;
  }
  plain.fit.method = "robust";
  double apart = 0;  // and what lies between is neither
  const std::vector<double> between = predictions(figure.panels[1]);
  const std::vector<double> robust = predictions(plain);
  for (std::size_t i = 0; i < between.size(); ++i) {
    apart = std::max(apart, std::abs(between[i] - robust[i]));
  }
  EXPECT_GT(apart, 0.1);
}

TEST(Figures, SpreadOfKnownNumbers) {
  const Spread spread = spread_of({4, 1, 3, 2, 5});
  EXPECT_DOUBLE_EQ(spread.mean, 3);
  EXPECT_DOUBLE_EQ(spread.deviation, std::sqrt(2.5));
  EXPECT_DOUBLE_EQ(spread.standard_error, std::sqrt(0.5));
  EXPECT_DOUBLE_EQ(spread.quantiles[0], 1.2);
  EXPECT_DOUBLE_EQ(spread.quantiles[2], 3);
  EXPECT_DOUBLE_EQ(spread.quantiles[4], 4.8);
}

TEST(Figures, SameForAnyNumberOfThreads) {
  const LabResult one = report_figure(figure3_setting(), few_draws(4, 1));
  const LabResult three = report_figure(figure3_setting(), few_draws(4, 3));
  EXPECT_EQ(one.csv, three.csv);
  EXPECT_EQ(one.svg, three.svg);
  EXPECT_EQ(one.json.dump(), three.json.dump());
  ExperimentOptions other = few_draws(4, 1);
  other.seed = 4;
  EXPECT_NE(report_figure(figure3_setting(), other).csv, one.csv);
}

TEST(Figures, FirstDrawsDoNotDependOnTheirNumber) {
  // The first draws are the same: a longer run adds to a shorter one.
  const FigureRun two = run_figure(figure2_setting(), few_draws(2));
  const FigureRun three = run_figure(figure2_setting(), few_draws(3));
  for (std::size_t p = 0; p < two.scores.size(); ++p) {
    for (std::size_t i = 0; i < 2; ++i) EXPECT_EQ(two.scores[p][i], three.scores[p][i]);
  }
}

TEST(Figures, AreCompleteAndWellFormed) {
  for (const auto& setting : {figure1_setting, figure2_setting, figure3_setting}) {
    const LabResult result = report_figure(setting(), few_draws(3));
    EXPECT_EQ(xml_fault(result.svg), "") << result.name;
    EXPECT_EQ(std::count(result.csv.begin(), result.csv.end(), '\n'), 1 + 3 * 4) << result.name;
    EXPECT_EQ(result.json["panels"].size(), 4U);
    const std::string measure = result.json["measure"];
    for (const auto& panel : result.json["panels"]) {
      const double mean = panel[measure]["mean"];
      EXPECT_TRUE(mean > 0 && mean < 20) << result.name << mean;
      EXPECT_THAT(result.markdown, HasSubstr(fmt::format("{:.3f} ± ", mean)));
      EXPECT_THAT(result.svg, HasSubstr(fmt::format("{:.3f} ± ", mean)));
    }
  }
}

TEST(Figures, TheZeroOneLossIsCertainInsideAndUniformOutside) {
  const FigureRun run = run_figure(figure1_setting(), few_draws(5));
  for (std::size_t i = 0; i < 5; ++i) {
    for (const std::size_t panel : {0, 2}) {
      EXPECT_GT(run.scores[panel][i].certain_inside, run.scores[panel + 1][i].certain_inside);
      EXPECT_GT(run.scores[panel][i].certain_inside, 0.6);
      EXPECT_LT(run.scores[panel][i].certain_outside, 0.2);
    }
  }
}

TEST(Figures, AViewThatGeneralizesHelpsRobust) {
  const FigureRun run = run_figure(figure3_setting(), few_draws(20));
  std::vector<double> loss(4, 0.0);
  std::vector<double> certain(4, 0.0);
  for (std::size_t p = 0; p < 4; ++p) {
    for (const PanelScores& s : run.scores[p]) {
      loss[p] += s.log_loss / 20;
      certain[p] += s.certain_outside / 20;
    }
  }
  EXPECT_LT(loss[3], loss[2] - 0.05) << "robust-view, robust";
  EXPECT_LT(certain[2], 0.05) << "robust alone is undecided where training data are scarce";
  EXPECT_GT(certain[0], 0.3)
      << "lr, which has no ratio, is not: inside and outside are by the true one";
  EXPECT_GT(certain[3], 0.3) << "the view that generalizes decides there too";
}

TEST(Figures, BiasAndLambdaReachEveryPanel) {
  const auto run = [](const auto& change) {
    FigureSetting setting = figure3_setting();
    for (PanelSetting& panel : setting.panels) change(panel.fit);
    return report_figure(setting, few_draws(2));
  };
  const LabResult plain = run([](FitOptions&) {});
  const LabResult bias = run([](FitOptions& fit) { fit.shift.bias = BiasAssumption::test; });
  const auto mean_loss = [](const LabResult& r, int panel) -> double {
    return r.json["panels"][panel]["log_loss_bits"]["mean"];
  };
  EXPECT_EQ(mean_loss(plain, 0), mean_loss(bias, 0)) << "lr has no shift";
  EXPECT_EQ(mean_loss(plain, 1), mean_loss(bias, 1)) << "iw generalizes fully already";
  EXPECT_NE(mean_loss(plain, 2), mean_loss(bias, 2));
  EXPECT_NE(mean_loss(plain, 3), mean_loss(bias, 3));
  const LabResult lambda = run([](FitOptions& fit) {
    fit.lambda = {LambdaChoice::Kind::fixed, 0.0625};
  });
  EXPECT_EQ(lambda.json["panels"][0]["lambda"], "0.0625");
  for (int p = 0; p < 4; ++p) EXPECT_NE(mean_loss(plain, p), mean_loss(lambda, p));
}

TEST(Figures, StopWhenCancelledAndReportProgress) {
  ExperimentOptions options = few_draws(3, 1);
  double last = 0;
  options.progress = [&](double share) {
    EXPECT_GT(share, last);
    last = share;
  };
  run_figure(figure1_setting(), options);
  EXPECT_DOUBLE_EQ(last, 1);
  options.cancelled = [] { return true; };
  EXPECT_THROW(report_figure(figure1_setting(), options), Error);
  EXPECT_THROW(report_figure(figure1_setting(), few_draws(1)), Error);
}

}  // namespace
}  // namespace covshift
