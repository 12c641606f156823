#include "covshift/model/model.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <limits>
#include <nlohmann/json.hpp>

#include "covshift/base/error.hpp"
#include "covshift/base/file.hpp"
#include "covshift/base/random.hpp"
#include "covshift/data/read_table.hpp"
#include "covshift/model/ratio_model.hpp"
#include "covshift/model/scores.hpp"

namespace covshift {
namespace {

/// A table of a number, a category and a class, under a shift of the number.
Table table(std::size_t rows, double mean, unsigned long long seed) {
  Random random(seed);
  Table t;
  t.source = "made";
  t.rows = rows;
  Column x{"x", false, {}, {}, {}};
  Column colour{"colour", true, {}, {}, {"red", "blue"}};
  Column y{"y", true, {}, {}, {"no", "yes", "maybe"}};
  for (std::size_t i = 0; i < rows; ++i) {
    const double value = mean + random.normal();
    const auto code = static_cast<std::int32_t>(random.below(2));
    x.numbers.push_back(value);
    colour.codes.push_back(code);
    const double noisy = value + 0.8 * code + 0.7 * random.normal();
    y.codes.push_back(noisy < -0.3 ? 0 : noisy < 0.8 ? 2 : 1);
  }
  t.columns = {x, colour, y};
  return t;
}

ModelOptions options(const char* method) {
  ModelOptions o;
  o.label = "y";
  o.views = "each";
  o.fit.method = method;
  o.fit.lambda = {LambdaChoice::Kind::fixed, 0.01};
  o.fit.shift.ratio.lambda = RatioLambda::parse("0.01");
  return o;
}

Model fit(const Table& train, const Table& target, const ModelOptions& o) {
  const Input other(target);
  return Model::fit(train, &other, o);
}

std::string message_of(const std::function<void()>& f) {
  try {
    f();
  } catch (const Error& e) {
    return e.what();
  }
  return "no error";
}

TEST(ModelFile, ReadsBackBitIdentical) {
  const Table train = table(80, 0, 1);
  const Table target = table(60, 1, 2);
  for (const char* method : {"lr", "iw", "robust", "robust-view", "robust01-view", "iw-svm"}) {
    const Model model = fit(train, target, options(method));
    const Model again = Model::from_text(model.to_text(), "memory");
    const Predictions a = model.predict(target);
    const Predictions b = again.predict(target);
    EXPECT_EQ(a.p, b.p) << method;
    EXPECT_EQ(a.log_ratio, b.log_ratio) << method;
    EXPECT_EQ(model.to_text(), again.to_text()) << method;
    EXPECT_EQ(again.classifier().certificate().game_value,
              model.classifier().certificate().game_value);
  }
}

TEST(ModelFile, StoresCostMatrices) {
  const Table train = table(80, 0, 1);
  const Table target = table(60, 1, 2);
  ModelOptions o = options("robust01");
  o.fit.costs = CostMatrix{2, 3, {0, 1, 0.5, 2, 0, 0.25}};
  const Model model = fit(train, target, o);
  const Model again = Model::from_text(model.to_text(), "memory");
  EXPECT_EQ(model.predict(target).p, again.predict(target).p);
  EXPECT_EQ(again.action_names(), (std::vector<std::string>{"action 1", "action 2"}));
}

TEST(ModelFile, RejectsDamagedFiles) {
  const Table train = table(40, 0, 1);
  const std::string text = Model::fit(train, nullptr, options("lr")).to_text();
  const auto refuse = [](const std::string& bad) {
    return message_of([&] { static_cast<void>(Model::from_text(bad, "file.json")); });
  };
  EXPECT_NE(refuse(text.substr(0, text.size() / 3)).find("damaged"), std::string::npos);
  std::string newer = text;
  newer.replace(newer.find("\"version\": 2"), 12, "\"version\": 9");
  EXPECT_NE(refuse(newer).find("newer"), std::string::npos);
  for (std::size_t at = 0; at < text.size(); at += 17) {
    std::string corrupted = text;
    corrupted[at] = corrupted[at] == '7' ? '8' : '7';
    if (corrupted.substr(0, corrupted.find("\"checksum\"")) !=
        text.substr(0, text.find("\"checksum\""))) {
      continue;  // the program's version in the head may differ
    }
    EXPECT_NE(refuse(corrupted).find("file.json"), std::string::npos) << "byte " << at;
  }
}

TEST(ModelFile, GoldenFilesOfBothVersionsStayReadable) {
  const std::filesystem::path folder = std::filesystem::path(__FILE__).parent_path() / "golden";
  int files = 0;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    if (entry.path().extension() != ".json") continue;
    ++files;
    const Model model = Model::load(entry.path());
    const Table data = read_table(folder / "data.csv", model.preparation().read_options());
    const Predictions p = model.predict(data);
    const Table expected =
        read_table(std::filesystem::path(entry.path()).replace_extension(".csv"));
    ASSERT_EQ(expected.rows, p.rows);
    const std::vector<std::string> names = model.action_names();
    for (std::size_t a = 0; a < names.size(); ++a) {
      const Column& column = expected.at("p:" + names[a]);
      for (std::size_t i = 0; i < p.rows; ++i) {
        // Only exp and log may round differently in another C library.
        EXPECT_NEAR(column.numbers[i], p.p[i * names.size() + a], 1e-12) << entry.path();
      }
    }
  }
  EXPECT_GE(files, 13);  // eight of version 1; every map in version 2
}

TEST(Fitting, CanBeStopped) {
  const Table train = table(120, 0, 3);
  const Table target = table(120, 1, 4);
  ModelOptions o = options("robust");
  o.fit.lambda = {};
  int asked = 0;
  o.fit.cancelled = [&] { return ++asked > 3; };
  o.fit.solve.threads = 1;
  EXPECT_EQ(message_of([&] { static_cast<void>(fit(train, target, o)); }), "stopped");
}

TEST(Fitting, ReportsProgressInOrder) {
  const Table train = table(80, 0, 3);
  const Table target = table(80, 1, 4);
  ModelOptions o = options("robust");
  o.fit.lambda = {};
  std::vector<std::string> stages;
  o.fit.progress = [&](std::string_view stage, double share) {
    EXPECT_GE(share, 0);
    EXPECT_LE(share, 1);
    if (stages.empty() || stages.back() != stage) stages.emplace_back(stage);
  };
  static_cast<void>(fit(train, target, o));
  EXPECT_EQ(stages,
            (std::vector<std::string>{"density ratio", "selection", "training", "held-out rows"}));
}

TEST(Predicting, DoesNotDependOnThreads) {
  const Table train = table(80, 0, 7);
  const Table target = table(5000, 1, 8);
  const Model model = fit(train, target, options("robust-view"));
  const PreparedRows rows = model.preparation().encode(target);
  const Predictions one = model.predict(rows, 1);
  const Predictions three = model.predict(rows, 3);
  EXPECT_EQ(one.p, three.p);
  EXPECT_EQ(one.log_ratio, three.log_ratio);
}

TEST(Certificates, AreKeptInTheModelFileWithTheScoresOfSets) {
  const Table train = table(150, 0, 5);
  const Table target = table(150, 0.3, 6);
  const Model model = fit(train, target, options("robust"));
  const Model again = Model::from_text(model.to_text(), "text");
  const Certificate& a = model.classifier().certificate();
  const Certificate& b = again.classifier().certificate();
  ASSERT_TRUE(a.bound) << a.reason;
  EXPECT_GT(*a.bound, *a.estimate);
  EXPECT_EQ(a.bound, b.bound);
  EXPECT_EQ(a.estimate, b.estimate);
  EXPECT_EQ(a.held_out, b.held_out);
  const auto game = log_game(2);
  EXPECT_EQ(describe(a, *game), describe(b, *game));
  const Predictions p = model.predict(target);
  EXPECT_EQ(model.classifier().sets(p, 0.1), again.classifier().sets(p, 0.1));
  ModelOptions o = options("robust");
  o.fit.promise = false;
  const Model without = fit(train, target, o);
  EXPECT_FALSE(without.classifier().certificate().bound);
  EXPECT_THROW((void)without.classifier().sets(p, 0.1), Error);
  EXPECT_EQ(without.predict(target).p, p.p);  // what is promised changes no prediction
}

TEST(Certificates, BoundTheLossOfAMatchingAdversary) {
  const Table train = table(150, 0, 5);
  const Table target = table(150, 0.7, 6);
  for (const char* method : {"robust", "robust-view", "robust01"}) {
    const Model model = fit(train, target, options(method));
    const Certificate& c = model.classifier().certificate();
    EXPECT_GE(c.gap, 0);
    ASSERT_TRUE(c.target_value && c.target_risk);
    EXPECT_GT(c.finite_sample, 0);
    const std::string statement = describe(c, model.classifier().game());
    EXPECT_NE(statement.find("Not promised"), std::string::npos);
  }
  const Model plain = Model::fit(train, nullptr, options("lr"));
  const Certificate& lr = plain.classifier().certificate();
  EXPECT_FALSE(lr.target_value);
  // n = 4 columns (x, two colours, bias) times 3 classes, m = 150, M = 2 lambda.
  EXPECT_NEAR(lr.finite_sample, 12 * std::log(24 / 0.05) / (4 * 0.02 * 150), 1e-12);
  // The adversary's labels match the statistics up to lambda's slack. Under them the model's
  // expected loss is the mean entropy of q = p, and by duality that is the value and the slack.
  double entropy = 0;
  for (const double p : plain.predict(train).p) entropy -= p * std::log(p) / 150;
  double slack = 0;
  for (const double t : plain.classifier().components()[0].weights) slack += 0.01 * t * t;
  EXPECT_GT(slack, 1e-3);
  EXPECT_NEAR(entropy, lr.game_value + slack, 1e-4);
}

/// The numbers of a table as a matrix, and its labels.
struct Numbers {
  explicit Numbers(const Table& t) : x(t.columns[0].numbers), y(t.columns[2].codes) {
    view = MatrixView::dense(x.data(), x.size(), 1);
  }
  std::vector<double> x;
  std::vector<int> y;
  MatrixView view;
};

Model fit_matrix(const Numbers& train, const MatrixView& target, const ModelOptions& o,
                 std::span<const double> weight = {}) {
  Input labelled(train.view, {"x"});
  labelled.labels = train.y;
  labelled.weight = weight;
  const Input other(target);
  ModelOptions own = o;
  own.classes = {"no", "yes", "maybe"};
  return Model::fit(labelled, &other, own);
}

TEST(Matrices, GiveTheSameAsTables) {
  Table train = table(90, 0, 1);
  Table target = table(70, 1, 2);
  const Numbers numbers(train);
  const Numbers others(target);
  train.columns.erase(train.columns.begin() + 1);
  target.columns.erase(target.columns.begin() + 1);
  for (const char* scale : {"unit", "standard", "none"}) {
    ModelOptions o = options("robust-view");
    o.classes = {"no", "yes", "maybe"};
    o.scale = parse_scale_kind(scale);
    const Model a = fit(train, target, o);
    const Model b = fit_matrix(numbers, others.view, o);
    EXPECT_EQ(a.to_text(), b.to_text()) << scale;
    const Predictions p = a.predict(target);
    const Predictions q = b.predict(others.view);
    EXPECT_EQ(p.p, q.p);
    EXPECT_EQ(p.action, q.action);
    EXPECT_EQ(p.log_ratio, q.log_ratio);
    EXPECT_EQ(p.psi, q.psi);
  }
}

TEST(Matrices, WeightTwoEqualsTheRowTwice) {
  const Numbers train(table(60, 0, 1));
  const Numbers target(table(40, 1, 2));
  Numbers repeated = train;
  std::vector<double> weight(60);
  repeated.x.clear();
  repeated.y.clear();
  for (std::size_t i = 60; i-- > 0;) {
    weight[i] = static_cast<double>(i % 3);
    repeated.x.insert(repeated.x.end(), i % 3, train.x[i]);
    repeated.y.insert(repeated.y.end(), i % 3, train.y[i]);
  }
  repeated.view = MatrixView::dense(repeated.x.data(), repeated.x.size(), 1);
  for (const char* scale : {"unit", "standard"}) {
    ModelOptions o = options("robust");
    o.scale = parse_scale_kind(scale);
    o.fit.lambda = {};
    o.fit.shift.ratio.lambda = RatioLambda::parse("cv");
    const Predictions a = fit_matrix(train, target.view, o, weight).predict(target.view);
    const Predictions b = fit_matrix(repeated, target.view, o).predict(target.view);
    for (std::size_t i = 0; i < a.p.size(); ++i) EXPECT_NEAR(a.p[i], b.p[i], 1e-9) << scale;
    const auto finite_sample = [](const Model& model) {
      return model.classifier().certificate().finite_sample;
    };
    const double expected = finite_sample(fit_matrix(repeated, target.view, o));
    EXPECT_NEAR(finite_sample(fit_matrix(train, target.view, o, weight)), expected,
                1e-9 * expected);  // lambda is interpolated
  }
}

RatioModel fit_ratio_model(const MatrixView& train, const MatrixView* target,
                           const RatioOptions& options) {
  const Input input(train, {"x"});
  Preparation preparation(input, {});
  PreparedRows from = preparation.encode_training(input);
  PreparedRows to;
  if (target != nullptr) to = preparation.encode(*target);
  preparation.fit(from, target != nullptr ? &to : nullptr);
  return RatioModel::fit(std::move(preparation), from, target != nullptr ? &to : nullptr, options);
}

TEST(Preparations, WarnOncePerColumnOfUnseenCategories) {
  const Table train = table(40, 0, 1);
  Table target = table(50, 1, 2);
  target.columns[1].levels = {"red", "violet"};
  const auto violet = std::count(target.columns[1].codes.begin(), target.columns[1].codes.end(), 1);
  const Preparation preparation(train, options("robust"));
  EXPECT_TRUE(preparation.encode_training(train).warnings.empty());
  const PreparedRows rows = preparation.encode(target);
  ASSERT_EQ(rows.warnings.size(), 1U);
  const std::string expected = fmt::format(
      "column 'colour' has the category 'violet', which training never saw ({} of 50 "
      "rows, {:.2g}%",
      violet, 2.0 * static_cast<double>(violet));
  EXPECT_NE(rows.warnings[0].find(expected), std::string::npos) << rows.warnings[0];
}

TEST(Preparations, DoNotCopyAnUnscaledMatrix) {
  const Numbers train(table(40, 0, 1));
  PreparationOptions o;
  o.scale = ScaleKind::none;
  Preparation preparation(train.view, o);
  PreparedRows rows = preparation.encode(train.view);
  preparation.fit(rows, nullptr);
  EXPECT_EQ(std::get<DenseRows<double>>(rows.features.storage).data, train.x.data());
  EXPECT_TRUE(rows.features.finite);
}

TEST(Preparations, KeepScaledRowsAsFloatsIfAsked) {
  const Table train = table(3000, 0, 1);
  Preparation preparation(train, options("robust"));
  PreparedRows expected = preparation.encode_training(train);
  preparation.fit(expected, nullptr);
  PreparedRows rows = preparation.encode_training(train);
  rows.single_precision = true;
  preparation.fit(rows, nullptr);
  EXPECT_EQ(rows.own.rows, 0U);
  EXPECT_TRUE(rows.features.finite);
  const auto& own = std::get<DenseRows<float>>(rows.features.storage);
  ASSERT_EQ(rows.features.rows * rows.features.cols, expected.own.values.size());
  for (std::size_t k = 0; k < expected.own.values.size(); ++k) {
    EXPECT_EQ(own.data[k], static_cast<float>(expected.own.values[k])) << k;
  }

  // What floats cannot hold is cut; what no double can is still an error that names the row.
  const std::vector<double> x = {0, 1e-150, 0};
  PreparationOptions unit;
  unit.scale = ScaleKind::unit;
  Preparation narrow(MatrixView::dense(x.data(), 3, 1), unit);
  const auto scaled = [&](double value) {
    PreparedRows far;
    far.own = {2, 1, false, {0, value}, {}, {}};
    far.features = far.own.view();
    far.single_precision = true;
    PreparedRows near = narrow.encode(MatrixView::dense(x.data(), 3, 1));
    narrow.fit(near, &far);
    return far.floats[1];
  };
  EXPECT_EQ(scaled(1e-50), std::numeric_limits<float>::max());
  EXPECT_NE(message_of([&] { (void)scaled(1e200); }).find("feature 1 of row 2 is inf"),
            std::string::npos);
}

TEST(Preparations, NameTheRowWhereScalingOverflows) {
  const std::vector<double> train = {0, 1e-300, 0};
  const std::vector<double> target = {0, 1e300};
  const MatrixView x = MatrixView::dense(train.data(), 3, 1);
  PreparationOptions unit;
  unit.scale = ScaleKind::unit;
  Preparation preparation(x, unit);
  PreparedRows from = preparation.encode(x);
  PreparedRows to = preparation.encode(MatrixView::dense(target.data(), 2, 1));
  EXPECT_NE(message_of([&] { preparation.fit(from, &to); }).find("feature 1 of row 2 is inf"),
            std::string::npos);
}

/// A table with a column of density ratios.
Table with_ratio(Table t) {
  Column r{"r", false, {}, {}, {}};
  for (const double x : t.columns[0].numbers) r.numbers.push_back(std::exp(0.3 * x - 0.05));
  t.columns.push_back(r);
  return t;
}

TEST(GivenRatios, AreUsedForAViewOfAllColumns) {
  // The ratio of that view is the joint one, trusted or not.
  const Table train = with_ratio(table(90, 0, 1));
  const Table target = with_ratio(table(70, 0.3, 2));
  ModelOptions o = options("robust-view");
  o.views = "all";
  o.ratio_column = "r";
  o.fit.shift.view_threshold = 100;
  const Model views = fit(train, target, o);
  EXPECT_TRUE(views.classifier().shift().views()[0].generalized);
  o.fit.method = "robust";
  const Model robust = fit(train, target, o);
  EXPECT_EQ(views.predict(target).p, robust.predict(target).p);
  EXPECT_EQ(Model::from_text(views.to_text(), "memory").predict(target).p, views.predict(target).p);
}

TEST(GivenRatios, KeepTheOptionsOfEstimatedViewRatios) {
  const Table train = with_ratio(table(90, 0, 1));
  const Table target = with_ratio(table(70, 0.3, 2));
  ModelOptions o = options("robust-view");
  o.ratio_column = "r";
  const auto kl = [&](const char* lambda) {
    o.fit.shift.ratio.lambda = RatioLambda::parse(lambda);
    return fit(train, target, o).classifier().shift().views()[0].kl;
  };
  EXPECT_GT(kl("0.001"), 10 * kl("100"));
}

TEST(RatioModels, EqualAModelsJointRatioAndReadBackBitIdentical) {
  const Numbers train(table(60, 0, 1));
  const Numbers target(table(40, 1, 2));
  for (const char* method : {"logistic", "quadratic", "gaussian", "ulsif", "kliep", "kmm"}) {
    ModelOptions o = options("robust");
    o.fit.shift.ratio.method = parse_ratio_method(method);
    const Model model = fit_matrix(train, target.view, o);
    const RatioModel ratio = fit_ratio_model(train.view, &target.view, o.fit.shift.ratio);
    EXPECT_EQ(ratio.log_ratio(target.view), model.predict(target.view).log_ratio) << method;
    const RatioModel again = RatioModel::from_text(ratio.to_text(), "memory");
    EXPECT_EQ(again.log_ratio(train.view), ratio.log_ratio(train.view)) << method;
    EXPECT_NE(message_of([&] {
                Model::from_text(ratio.to_text(), "memory");
              }).find("this is not a covshift model"),
              std::string::npos);
  }
  const RatioModel none = fit_ratio_model(train.view, nullptr, RatioOptions{});
  EXPECT_EQ(none.log_ratio(train.view), std::vector<double>(60, 0.0));
}

TEST(Fitting, AMethodThatIgnoresTheShiftDoesNotEstimateIt) {
  const Table train = table(120, 0, 1);
  const Table target = table(80, 1, 2);
  for (const char* method : {"lr", "adv01", "svm"}) {
    ModelOptions o = options(method);
    o.fit.lambda = {};  // chosen
    const Model with = fit(train, target, o);
    const Model without = Model::fit(train, nullptr, o);
    EXPECT_EQ(with.to_text(), without.to_text()) << method;
    const nlohmann::ordered_json report = with.classifier().report_json();
    EXPECT_TRUE(report["ratio"].is_null());
    EXPECT_TRUE(nlohmann::json::parse(report.dump())["views"][0]["kl"].is_null());
    const Model again = Model::from_text(with.to_text(), "memory");
    EXPECT_TRUE(std::isnan(again.classifier().shift().views()[0].kl));
    for (const double l : with.predict(target).log_ratio) EXPECT_EQ(l, 0);
    // Importance-weighted cross validation needs the ratio even so.
    o.fit.lambda = {LambdaChoice::Kind::iwcv, 0};
    EXPECT_FALSE(fit(train, target, o).classifier().report_json()["ratio"].is_null());
  }
}

TEST(Fitting, IdentifiersAreNoEvidenceOfAShift) {
  // Names of rows, and dates that do not come back.
  const auto with_ids = [](Table t, const char* prefix) {
    Column id{"id", true, {}, {}, {}};
    Column when{"when", true, {}, {}, {}};
    for (std::size_t i = 0; i < t.rows; ++i) {
      id.levels.push_back(prefix + std::to_string(i));
      id.codes.push_back(static_cast<std::int32_t>(i));
      if (i % 4 == 0) when.levels.push_back(fmt::format("20{}0-01-{:02}", prefix[1], i / 4 + 1));
      when.codes.push_back(static_cast<std::int32_t>(i / 4));
    }
    t.columns.insert(t.columns.begin(), {id, when});
    return t;
  };
  const Table train = table(120, 0, 1);
  const Table target = table(80, 1, 2);
  const ModelOptions o = options("robust");
  const Model named = fit(with_ids(train, "a1"), with_ids(target, "b2"), o);
  const Model plain = fit(train, target, o);
  const std::vector<double> a = named.predict(with_ids(target, "b2")).log_ratio;
  const std::vector<double> b = plain.predict(target).log_ratio;
  for (std::size_t i = 0; i < a.size(); ++i) EXPECT_NEAR(a[i], b[i], 1e-9);
  // Of views without another column:
  EXPECT_EQ(named.classifier().shift().views()[0].kl, 0);
  EXPECT_EQ(named.classifier().shift().views()[1].kl, 0);

  // Of an expanded date the month and the weekday count, the year and the days do not.
  ModelOptions expanded = o;
  expanded.columns.dates = {"when"};
  const Model parts = fit(with_ids(train, "a1"), with_ids(target, "b2"), expanded);
  const std::vector<std::int32_t>& columns = parts.classifier().shift().joint()->columns();
  EXPECT_EQ(columns.size(), plain.classifier().cols() + 2);
  for (const double w : parts.predict(with_ids(train, "a1")).log_ratio) EXPECT_GT(w, -6);
}

/// However far a row lies, nothing is certain: not beyond what some training row is, or what the
/// number of rows can show.
TEST(Prediction, NoProbabilityIsZeroOrOne) {
  const Table train = table(120, 0, 1);
  Table far = table(80, 0, 2);
  for (double& v : far.columns[0].numbers) v *= 1e9;
  for (const char* method : {"lr", "iw", "robust", "overlap"}) {
    for (const double lambda : {0.01, 1e-9}) {
      ModelOptions o = options(method);
      o.scale = ScaleKind::none;
      o.fit.lambda = {LambdaChoice::Kind::fixed, lambda};
      const Model model = fit(train, table(100, 0.5, 3), o);
      const auto least = [&](const Table& x) {
        const std::vector<double> p = model.predict(x).p;
        return *std::min_element(p.begin(), p.end());
      };
      EXPECT_GT(least(far), 0) << method;
      const std::vector<double> p = model.predict(far).p;
      EXPECT_LT(*std::max_element(p.begin(), p.end()), 1) << method;
      const double certainty = model.classifier().components()[0].certainty;
      EXPECT_GE(certainty, std::log(121.0));
      EXPECT_GE(least(far), std::exp(-certainty) / 3 * 0.999) << method;
      // Training rows have the model's own potentials.
      Model loose = Model::from_text(model.to_text(), "memory");
      EXPECT_EQ(loose.predict(far).p, p);
    }
  }
}

/// The paper's fits have no such limit: their potentials go on along the line.
TEST(Prediction, TheLimitOfCertaintyCanBeLeftOut) {
  const Table train = table(120, 0, 1);
  Table far = table(80, 0, 2);
  for (double& v : far.columns[0].numbers) v *= 1e9;
  ModelOptions o = options("lr");
  o.scale = ScaleKind::none;
  o.fit.lambda = {LambdaChoice::Kind::fixed, 0.01};
  const Model limited = fit(train, table(100, 0.5, 3), o);
  o.fit.limit_certainty = false;
  const Model free = fit(train, table(100, 0.5, 3), o);
  const std::vector<double> own = limited.predict(train).psi;
  EXPECT_THAT(free.predict(train).psi, testing::Pointwise(testing::DoubleEq(), own))
      << "of training rows, nothing";
  const std::vector<double> psi = Model::from_text(free.to_text(), "memory").predict(far).psi;
  EXPECT_EQ(psi, free.predict(far).psi);
  EXPECT_GT(*std::max_element(psi.begin(), psi.end()) - *std::min_element(psi.begin(), psi.end()),
            1e6);
}

TEST(Fitting, CanBeStoppedInTheDensityRatio) {
  const Numbers train(table(300, 0, 1));
  const Numbers target(table(300, 1, 2));
  RatioOptions o;
  o.method = RatioMethod::kmm;
  o.threads = 1;
  int asked = 0;
  o.cancelled = [&] { return ++asked > 20; };
  EXPECT_EQ(message_of([&] { fit_ratio(o, train.view, target.view); }), "stopped");
}

TEST(Scoring, CountsUnknownLabelsAsErrors) {
  const auto game = zero_one_game(2);
  Predictions p;
  p.rows = 3;
  p.actions = 2;
  p.p = {0.75, 0.25, 0.5, 0.5, 0.2, 0.8};
  p.psi.assign(6, 0.0);
  p.log_ratio.assign(3, 0.0);
  p.action = {0, 0, 1};
  const std::vector<int> labels = {0, 1, -1};
  const Scores s = score(p, labels, *game);
  EXPECT_EQ(s.unknown, 1U);
  EXPECT_DOUBLE_EQ(s.accuracy, 1.0 / 3);
  EXPECT_DOUBLE_EQ(s.expected_loss, (0.25 + 0.5) / 2);
  EXPECT_DOUBLE_EQ(s.log_loss, -(std::log(0.75) + std::log(0.5)) / 2);
  EXPECT_DOUBLE_EQ(s.brier, (2 * 0.0625 + 2 * 0.25) / 2);
}

}  // namespace
}  // namespace covshift
