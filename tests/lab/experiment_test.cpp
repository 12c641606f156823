#include "covshift/lab/experiment.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <set>

#include "covshift/base/error.hpp"
#include "covshift/base/random.hpp"
#include "covshift/lab/result.hpp"
#include "covshift/lab/statistics.hpp"
#include "covshift/lab/tables.hpp"
#include "tests/draw/support.hpp"

namespace covshift {
namespace {

using ::testing::HasSubstr;
using Kind = LambdaChoice::Kind;

/// Two classes along the first of three features.
Dataset made_up(std::size_t rows) {
  Dataset data;
  data.name = data.title = "made up";
  data.classes = 2;
  data.features.rows = rows;
  data.features.cols = 3;
  Random random(3);
  for (std::size_t i = 0; i < rows; ++i) {
    for (int j = 0; j < 3; ++j) data.features.values.push_back(random.uniform());
    const double x = data.features.values[3 * i];
    data.labels.push_back(random.uniform() < 1 / (1 + std::exp(-10 * (x - 0.5))) ? 1 : 0);
  }
  return data;
}

ExperimentOptions few(int draws, int threads = 2) {
  ExperimentOptions options;
  options.draws = draws;
  options.seed = 5;
  options.threads = threads;
  return options;
}

TEST(Experiment, IsTheSameForAnyThreadsAndNumberOfDraws) {
  const Dataset data = made_up(400);
  const std::vector<Contestant> two = {{"robust-view", {Kind::iwcv}}, {"lr", {Kind::cv}}};
  const auto one = run_draws(data, two, default_reading(), few(4, 1));
  const auto other = run_draws(data, two, default_reading(), few(6, 3));
  for (std::size_t draw = 0; draw < 4; ++draw) {
    for (std::size_t c = 0; c < 2; ++c) {
      EXPECT_EQ(one[draw][c].log_loss, other[draw][c].log_loss);
      EXPECT_EQ(one[draw][c].lambda, other[draw][c].lambda);
      EXPECT_TRUE(one[draw][c].converged);
    }
  }
  EXPECT_NE(one[0][0].log_loss, one[1][0].log_loss) << "draws differ";
  // Several seeds: the draws of each, one after the other.
  ExperimentOptions seeds = few(2, 2);
  seeds.seeds = 2;
  const auto both = run_draws(data, two, default_reading(), seeds);
  ExperimentOptions second = few(2, 2);
  ++second.seed;
  const auto last = run_draws(data, two, default_reading(), second);
  ASSERT_EQ(both.size(), 4U);
  for (std::size_t draw = 0; draw < 2; ++draw) {
    EXPECT_EQ(both[draw][0].log_loss, one[draw][0].log_loss);
    EXPECT_EQ(both[draw + 2][0].log_loss, last[draw][0].log_loss);
  }
}

// What the paper states, whatever the defaults of FitOptions become.
TEST(Experiment, FitsAsThePaperDoes) {
  const FitOptions fit = paper_fit();
  EXPECT_EQ(fit.lambdas, (std::vector<double>{0x1p-16, 0x1p-12, 0x1p-8, 0x1p-4, 1}));
  EXPECT_EQ(fit.folds, 5);
  EXPECT_EQ(fit.shift.view_threshold, 0.1);
  EXPECT_EQ(fit.shift.ratio.method, RatioMethod::logistic);
  EXPECT_FALSE(fit.limit_certainty);
  EXPECT_EQ(ExperimentOptions{}.draws, 30);
  EXPECT_EQ(default_reading().sampling.train, 100U);
  EXPECT_EQ(default_reading().sampling.target, 100U);
  for (const Contestant& c : log_loss_contestants()) {
    EXPECT_EQ(c.lambda.kind, c.method == "lr" ? Kind::cv : Kind::iwcv) << c.method;
  }
}

// The shift estimated once for all methods is the one that each would have estimated.
TEST(Experiment, EqualsASeparateFit) {
  const Dataset data = made_up(300);
  const Split split = draw_split(data, default_reading().sampling, 5, 0);
  const std::vector<Contestant> contestants = {{"robust", {Kind::fixed, 0.01}},
                                               {"robust-view", {Kind::iwcv}}};
  const std::vector<Outcome> outcomes = run_split(split, contestants, paper_fit(), 7);
  for (std::size_t c = 0; c < contestants.size(); ++c) {
    FitOptions options = paper_fit();
    options.method = contestants[c].method;
    options.lambda = contestants[c].lambda;
    options.solve.seed = 7;
    const Classifier model =
        Classifier::fit(TrainingData(split.preparation, split.train, &split.target), options);
    const Predictions p = model.predict(split.target.features);
    double bits = 0;
    for (std::size_t i = 0; i < p.rows; ++i) {
      bits -= std::log2(p.p[2 * i + static_cast<std::size_t>(split.target_labels[i])]);
    }
    EXPECT_NEAR(outcomes[c].log_loss, bits / static_cast<double>(p.rows), 1e-12);
    EXPECT_EQ(outcomes[c].lambda, model.report().lambda);
  }
}

TEST(Experiment, StopsWhenCancelled) {
  ExperimentOptions options = few(4);
  options.cancelled = [] { return true; };
  const std::vector<Contestant> lr = {{"lr", {Kind::cv}}};
  EXPECT_THROW(run_draws(made_up(100), lr, default_reading(), options), Error);
}

/// A table of made-up outcomes with known answers.
TableRun made_table() {
  TableRun run;
  run.name = "table2";
  run.title = "Made <up> & so on";
  run.measure = "log loss (bits)";
  run.accuracy = false;
  run.level = 0.05;
  run.contestants = log_loss_contestants();
  run.reading = default_reading();
  run.options.draws = 4;
  TableRow row{"Data", {}, {1, 2, 3, 4}};
  for (int draw = 0; draw < 4; ++draw) {
    std::vector<Outcome> outcomes(4);
    for (std::size_t c = 0; c < 4; ++c) {
      outcomes[c].log_loss = static_cast<double>(c) + 0.1 * draw;
      outcomes[c].lambda = 0.25;
      outcomes[c].converged = true;
    }
    outcomes[1].log_loss = draw % 2 == 0 ? -0.5 : 0.9;  // hardly better or worse than the first
    row.outcomes.push_back(outcomes);
  }
  run.rows.push_back(row);
  return run;
}

TEST(Tables, MarkTheBestAndStatisticalTies) {
  const TableRun run = made_table();
  EXPECT_EQ(run.best(0), (std::vector<bool>{true, true, false, false}));
  const LabResult result = report(run);
  EXPECT_THAT(result.markdown, HasSubstr("| Data | **0.150** ± 0.065 (1) | **0.200** ± 0.404 (2) | "
                                         "2.150 ± 0.065 (3) | 3.150 ± 0.065 (4) |"));
  EXPECT_EQ(xml_fault(result.svg), "");
  EXPECT_THAT(result.svg, HasSubstr("Made &lt;up&gt; &amp; so on"));
  EXPECT_EQ(std::count(result.csv.begin(), result.csv.end(), '\n'), 1 + 4 * 4);
  const auto& lr = result.json["rows"][0]["methods"][2];
  EXPECT_EQ(lr["method"], "lr");
  EXPECT_NEAR(lr["against"]["iw"]["difference"].get<double>(), -1, 1e-12);
  EXPECT_EQ(lr["mean_log2_lambda"], -2);
}

TEST(Tables, TheCommandSaysWhatDiffers) {
  TableRun run = made_table();
  EXPECT_EQ(report(run).json["command"],
            "covshift reproduce table2 --data DIR -o OUT --draws 4 --seed 0 --seeds 1");
  run.reading.sampling.crossing = 0;
  run.reading.sampling.a.high = 3;
  run.reading.sampling.target_b = {3, 4};
  run.reading.sampling.replacement = false;
  run.reading.fit.shift.ratio.lambda = RatioLambda::parse("0.01");
  run.reading.fit.lambdas = {0.5, 2};
  EXPECT_EQ(report(run).json["command"],
            "covshift reproduce table2 --data DIR -o OUT --draws 4 --seed 0 --seeds 1 --crossing "
            "0.0 --a 2.0 "
            "3.0 --without-replacement --target-b 3.0 4.0 --ratio-lambda 0.01 --lambdas 0.5,2");
}

// A claim is judged against the best rival, and only by differences that are significant.
TEST(Results, JudgeAgainstTheBestRival) {
  TableRun run = made_table();
  const auto two = report(run).json;
  const std::array<const char*, 4> names = {"robust01", "adv01", "svm", "iw-svm"};
  for (std::size_t c = 0; c < 4; ++c) run.contestants[c].method = names[c];
  run.accuracy = true;
  run.measure = "accuracy";
  for (std::vector<Outcome>& draw : run.rows[0].outcomes) {
    for (Outcome& o : draw) o.accuracy = 1 - o.log_loss / 10;
    draw[1].accuracy = draw[0].accuracy + 0.01;  // a little better than the first, always
  }
  const std::string text = claims_table(report(run).json, two, two);
  EXPECT_THAT(text,
              HasSubstr("Robust 0-1 improves on Adv 0-1 | holds on 0 of 1; contradicted: Data "
                        "| Data 0.985 against adv01 0.995 (p = "));
  EXPECT_THAT(text,
              HasSubstr("or not distinguishable from it | holds on 0 of 1; contradicted: Data "
                        "| Data 0.985 against adv01"));
  EXPECT_THAT(text, HasSubstr("Table 2: Robust-View has the lowest log loss | holds on 0 of 1; not "
                              "decided: Data | Data 0.150 against robust 0.200 (p = "));
  EXPECT_THAT(text,
              HasSubstr("Robust has a lower log loss than LR and IW | holds on 1 of 1: Data | "
                        "Data 0.200 against lr 2.150 (p = "));
  EXPECT_THAT(text, HasSubstr("LR is worse than guessing (log2 6 = 2.585 bits) | holds on 0 of 1; "
                              "contradicted: Data | Data 2.150 against guessing 2.585 (p = "));
}

TEST(Results, NeedAllExperiments) {
  const std::vector<LabResult> one = {report(made_table())};
  EXPECT_THROW(results_page(one), Error);
}

/// shared/data lies beside the checkout, if at all.
std::string real_data() {
  const auto root = std::filesystem::path(__FILE__).parent_path().parent_path().parent_path();
  return (root.parent_path() / "shared" / "data").string();
}

TEST(Datasets, AreReadCompletely) {
  const std::string folder = real_data();
  if (!std::filesystem::exists(folder)) {
    GTEST_SKIP() << "there is no shared/data beside the checkout";
  }
  struct Expected {
    const char* name;
    std::size_t rows, cols;
    int classes;
  };
  for (const Expected& expected : std::vector<Expected>{{"seeds", 210, 7, 3},
                                                        {"vertebral", 310, 6, 3},
                                                        {"vehicle", 846, 18, 4},
                                                        {"spam", 4601, 57, 2}}) {
    const Dataset data = load_dataset(expected.name, folder);
    EXPECT_EQ(data.features.rows, expected.rows) << expected.name;
    EXPECT_EQ(data.features.cols, expected.cols) << expected.name;
    EXPECT_EQ(data.classes, expected.classes) << expected.name;
    const auto [low, high] =
        std::minmax_element(data.features.values.begin(), data.features.values.end());
    EXPECT_EQ(*low, 0);
    EXPECT_EQ(*high, 1);
  }
  const Documents documents = load_documents(folder);
  EXPECT_EQ(documents.languages, (std::vector<std::string>{"EN", "FR", "GR", "IT", "SP"}));
  EXPECT_EQ(documents.labels.size(), 600U);
  EXPECT_EQ(documents.classes, 6);
}

TEST(Datasets, ReportMissingAndDifferentFiles) {
  const auto folder = std::filesystem::temp_directory_path() / "covshift-datasets-test";
  std::filesystem::create_directories(folder / "seeds");
  std::ofstream(folder / "seeds" / "seeds_dataset.txt") << "1 2 3\n";
  const DatasetSource& seeds = dataset_sources()[0];
  EXPECT_EQ(check_file(folder.string(), seeds.files[0]), FileState::different);
  EXPECT_EQ(check_file(folder.string(), dataset_sources()[1].files[0]), FileState::missing);
  try {
    load_dataset("seeds", folder.string());
    FAIL();
  } catch (const Error& e) {
    EXPECT_EQ(e.kind(), Error::Kind::file);
    EXPECT_THAT(e.what(), HasSubstr("the content is different"));
    EXPECT_THAT(e.what(), HasSubstr("archive.ics.uci.edu"));
  }
  EXPECT_THROW(load_dataset("vertebral", folder.string()), Error);
  EXPECT_THROW(load_dataset("iris", folder.string()), Error);
  std::filesystem::remove_all(folder);
}

// Draws of the real data, few of them: every part of the tables runs, and where the shift is hard
// the robust method is far better than lr (by 8 bits; docs/results.md has the whole run).
TEST(Tables, OnRealData) {
  const std::string folder = real_data();
  if (!std::filesystem::exists(folder)) {
    GTEST_SKIP() << "there is no shared/data beside the checkout";
  }
  Reading hard = default_reading();
  hard.sampling.crossing = 0;
  const Dataset seeds = load_dataset("seeds", folder);
  const std::vector<Contestant> contestants = {{"robust", {Kind::iwcv}}, {"lr", {Kind::cv}}};
  double robust = 0;
  double lr = 0;
  for (const std::vector<Outcome>& draw : run_draws(seeds, contestants, hard, few(5))) {
    robust += draw[0].log_loss / 5;
    lr += draw[1].log_loss / 5;
  }
  EXPECT_LT(robust, lr);
}

}  // namespace
}  // namespace covshift
