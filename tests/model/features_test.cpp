// Classifiers on mapped features, overlapping views, and densities given for single views.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <nlohmann/json.hpp>

#include "covshift/base/error.hpp"
#include "covshift/base/random.hpp"
#include "covshift/model/model.hpp"

namespace covshift {
namespace {

constexpr std::size_t plane_rows = 160;

/// Two classes in three columns, the first two shifted between training and target; with `circle`
/// one class is inside the other.
struct PlaneSample {
  PlaneSample(double mean, std::uint64_t seed, bool circle) {
    Random random(seed);
    for (std::size_t i = 0; i < plane_rows; ++i) {
      const double a = mean + random.normal();
      const double b = 0.5 * mean + random.normal();
      const double c = random.normal();
      x.insert(x.end(), {a, b, c});
      const double score = circle ? 1.5 - a * a - b * b : a + b - c;
      y.push_back(score + 0.3 * random.normal() > 0 ? 1 : 0);
      log_ratio.push_back(0.5 * a + 0.2 * b);
    }
  }
  [[nodiscard]] MatrixView view() const {
    return MatrixView::dense(x.data(), plane_rows, x.size() / plane_rows);
  }
  /// With these columns instead.
  [[nodiscard]] PlaneSample with(
      const std::vector<std::function<double(const double*)>>& columns) const {
    PlaneSample other = *this;
    other.x.clear();
    for (std::size_t i = 0; i < plane_rows; ++i) {
      for (const auto& column : columns) other.x.push_back(column(x.data() + i * 3));
    }
    return other;
  }

  std::vector<double> x;
  std::vector<int> y;
  std::vector<double> log_ratio;
};

Views views_of(std::vector<std::vector<std::int32_t>> columns, const std::string& maps = "") {
  Views views;
  for (std::size_t v = 0; v < columns.size(); ++v) views.names.push_back(fmt::format("v{}", v));
  views.columns = std::move(columns);
  views.maps.assign(views.names.size(), maps);
  return views;
}

class Fitted {
 public:
  Fitted(const PlaneSample& train, const PlaneSample& target, const Views& views)
      : target_(target.view()) {
    data.features = train.view();
    data.labels = train.y;
    data.classes = 2;
    data.target = &target_;
    data.views = views;
    options.lambda = {LambdaChoice::Kind::fixed, 0.001};
    options.shift.ratio.lambda = RatioLambda::parse("0.01");
    options.shift.given_ratio = true;
    data.given_train.log_ratio = train.log_ratio;
    data.given_target.log_ratio = target.log_ratio;
  }
  Classifier fit(const char* method) {
    options.method = method;
    return Classifier::fit(data, options);
  }

  TrainingData data;
  FitOptions options;

 private:
  MatrixView target_;
};

const PlaneSample& train() {
  static const PlaneSample sample(0, 1, true);
  return sample;
}
const PlaneSample& target() {
  static const PlaneSample sample(1, 2, true);
  return sample;
}

auto column(std::size_t j) {
  return [j](const double* x) { return x[j]; };
}
auto product(std::size_t i, std::size_t j) {
  return [i, j](const double* x) { return x[i] * x[j]; };
}

TEST(FeaturesInAClassifier, QuadraticEqualsTheSameColumnsByHandBitForBit) {
  const std::vector<std::function<double(const double*)>> by_hand = {
      column(0),     column(1),     column(2),     product(0, 0), product(0, 1),
      product(0, 2), product(1, 1), product(1, 2), product(2, 2)};
  const PlaneSample wide_train = train().with(by_hand);
  const PlaneSample wide_target = target().with(by_hand);
  for (const char* method : {"lr", "iw", "robust", "robust01", "svm"}) {
    Fitted mapped(train(), target(), Views::all(3));
    mapped.options.features = "quadratic";
    Fitted hand(wide_train, wide_target, Views::all(9));
    const Classifier a = mapped.fit(method);
    const Classifier b = hand.fit(method);
    EXPECT_EQ(a.components()[0].weights, b.components()[0].weights) << method;
    EXPECT_EQ(a.potentials(target().view(), mapped.data.given_target),
              b.potentials(wide_target.view(), hand.data.given_target))
        << method;
    EXPECT_EQ(a.certificate().target_value, b.certificate().target_value) << method;
  }
}

TEST(FeaturesInAClassifier, OverlappingViewsEqualTheirColumnsRepeated) {
  const auto repeat = [](const PlaneSample& s) {
    return s.with({column(0), column(1), column(1), column(2)});
  };
  const PlaneSample wide_train = repeat(train());
  const PlaneSample wide_target = repeat(target());
  for (const char* method : {"robust", "robust-view"}) {
    Fitted shared(train(), target(), views_of({{0, 1}, {1, 2}}));
    Fitted repeated(wide_train, wide_target, views_of({{0, 1}, {2, 3}}));
    for (Fitted* one : {&shared, &repeated}) {
      one->options.shift.automatic = false;
      one->options.shift.generalized_views = {"v1"};
    }
    const Classifier a = shared.fit(method);
    const Classifier b = repeated.fit(method);
    EXPECT_EQ(a.shift().views()[1].kl, b.shift().views()[1].kl);
    EXPECT_EQ(a.components()[0].weights, b.components()[0].weights) << method;
    EXPECT_EQ(a.potentials(target().view(), shared.data.given_target),
              b.potentials(wide_target.view(), repeated.data.given_target))
        << method;
  }
}

/// Minus the log scale of a generalized view, with no bound in reach, is its log ratio.
std::vector<double> view_log_ratio(const Classifier& model, const PlaneSample& sample) {
  GivenDensities given;
  given.log_ratio = sample.log_ratio;
  const Shift::Ratios at = model.shift().at(sample.view(), given);
  std::vector<double> own;
  for (std::size_t i = 0; i < plane_rows; ++i) own.push_back(-at.log_scale[i * 2 + 1]);
  return own;
}

TEST(GivenDensitiesOfViews, EqualTheEstimateTheyWereTakenFrom) {
  const Views views = views_of({{0, 1}, {2}});
  Fitted estimated(train(), target(), views);
  estimated.options.shift.automatic = false;
  estimated.options.shift.generalized_views = {"v1"};
  const Classifier a = estimated.fit("robust-view");
  ASSERT_EQ(a.shift().scales(), 2);
  const std::vector<double> on_train = view_log_ratio(a, train());
  const std::vector<double> on_target = view_log_ratio(a, target());
  EXPECT_NE(on_train[0], train().log_ratio[0]);

  Fitted given = estimated;
  given.data.given_train.views = {{}, {on_train, {}}};
  given.data.given_target.views = {{}, {on_target, {}}};
  const Classifier b = given.fit("robust-view");
  EXPECT_EQ(a.shift().views()[1].kl, b.shift().views()[1].kl);
  EXPECT_EQ(a.components()[0].weights, b.components()[0].weights);

  // r_v = P_gen/P_test given directly: the same view under any assumption of the others.
  std::vector<double> log_r_train = on_train;
  std::vector<double> log_r_target = on_target;
  for (double& l : log_r_train) l = -l;
  for (double& l : log_r_target) l = -l;
  Fitted scales = estimated;
  scales.options.shift.generalized_views.clear();
  scales.data.given_train.views = {{}, {{}, log_r_train}};
  scales.data.given_target.views = {{}, {{}, log_r_target}};
  const Classifier c = scales.fit("robust");
  EXPECT_EQ(a.components()[0].weights, c.components()[0].weights);

  // Loaded, both still ask for the densities.
  for (const Classifier* model : {&b, &c}) {
    const Classifier loaded = Classifier::from_json(model->to_json(), views, 2);
    const GivenDensities& own = model == &b ? given.data.given_target : scales.data.given_target;
    EXPECT_EQ(loaded.potentials(target().view(), own), model->potentials(target().view(), own));
    EXPECT_THROW(static_cast<void>(loaded.potentials(target().view(), {target().log_ratio, {}})),
                 Error);
  }
  given.data.given_target.views[1].log_ratio = std::span(on_target).first(3);
  EXPECT_THROW(given.fit("robust-view"), Error);
}

TEST(FeaturesInAClassifier, PredictTheSameAfterARoundTripAndOneRowAtATime) {
  for (const char* maps : {"linear", "quadratic", "splines:4", "fourier:30", "nystroem:30",
                           "linear + nystroem:10 + splines:2"}) {
    Fitted one(train(), target(), views_of({{0, 1}, {1, 2}}, maps));
    one.options.shift.automatic = false;
    one.options.shift.generalized_views = {"v1"};
    const Classifier model = one.fit("robust-view");
    const std::vector<double> all = model.potentials(target().view(), one.data.given_target, 2);
    const Classifier loaded =
        Classifier::from_json(nlohmann::json::parse(model.to_json().dump()), one.data.views, 2);
    EXPECT_EQ(loaded.potentials(target().view(), one.data.given_target), all) << maps;
    for (std::size_t i = 0; i < plane_rows; i += 7) {
      const std::vector<double> alone =
          model.potentials(slice(target().view(), i, 1), one.data.given_target.part(i, 1));
      ASSERT_EQ(alone[0], all[2 * i]) << maps;
      ASSERT_EQ(alone[1], all[2 * i + 1]) << maps;
    }
  }
}

TEST(FeaturesInAClassifier, AutoTakesTheMapWithTheSmallerHeldOutLoss) {
  const PlaneSample line(0, 3, false);
  const PlaneSample line_target(0.5, 4, false);
  for (const bool circle : {false, true}) {
    Fitted one(circle ? train() : line, circle ? target() : line_target, Views::all(3));
    one.options.features = "auto";
    one.options.lambda = {};
    const Classifier model = one.fit("iw");
    const auto& tried = model.report().candidates;
    ASSERT_EQ(tried.size(), 2U);
    EXPECT_EQ(tried[0].features, "linear");
    EXPECT_EQ(tried[1].features, "nystroem:150");
    EXPECT_EQ(model.components()[0].features.identity(), !circle);
  }
}

TEST(FeaturesInAClassifier, TheMapOfAViewComesBeforeThatOfTheFit) {
  Views views = views_of({{0, 1}, {2}});
  views.maps[0] = "quadratic";
  Fitted one(train(), target(), views);
  one.options.features = "splines:2";
  EXPECT_THAT(one.fit("lr").components()[0].features.maps(),
              ::testing::ElementsAre("quadratic", "splines:2"));
}

TEST(GivenDensitiesOfViews, AreColumnsOfATableThatPredictionsNeedToo) {
  Table t;
  t.source = "made";
  t.rows = plane_rows;
  t.columns = {Column{"a", false, {}, {}, {}}, Column{"b", false, {}, {}, {}},
               Column{"r", false, {}, {}, {}}, Column{"y", true, {}, {}, {"no", "yes"}}};
  for (std::size_t i = 0; i < plane_rows; ++i) {
    t.columns[0].numbers.push_back(train().x[i * 3]);
    t.columns[1].numbers.push_back(train().x[i * 3 + 1]);
    t.columns[2].numbers.push_back(std::exp(0.1 * train().x[i * 3 + 1]));
    t.columns[3].codes.push_back(train().y[i]);
  }
  ModelOptions o;
  o.label = "y";
  o.views = "each";
  o.view_columns = {{"b", "r", ""}};
  o.fit.method = "robust-view";
  o.fit.shift.automatic = false;
  o.fit.shift.generalized_views = {"b"};
  o.fit.lambda = {LambdaChoice::Kind::fixed, 0.01};
  const Input other(t);
  const Model model = Model::fit(t, &other, o);
  EXPECT_EQ(model.preparation().encoder().cols(), 2U);
  const Model loaded = Model::from_text(model.to_text(), "memory");
  EXPECT_EQ(loaded.predict(t).p, model.predict(t).p);
  Table without = t;
  without.columns.erase(without.columns.begin() + 2);
  EXPECT_THROW(static_cast<void>(loaded.predict(without)), Error);
  o.view_columns = {{"c", "r", ""}};
  EXPECT_THROW(Model::fit(t, &other, o), Error);
}

}  // namespace
}  // namespace covshift
