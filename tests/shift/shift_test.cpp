#include "covshift/shift/shift.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "covshift/base/error.hpp"
#include "covshift/base/random.hpp"

namespace covshift {
namespace {

using Kind = Assumption::Kind;

/// Two inputs, one view each; the first shifts.
class ShiftTest : public ::testing::Test {
 protected:
  void SetUp() override {
    Random random(2);
    for (int i = 0; i < 200; ++i) {
      train_.push_back(random.normal());
      train_.push_back(random.normal());
      target_.push_back(1 + random.normal());
      target_.push_back(random.normal());
    }
    options_.ratio.lambda = RatioLambda::parse("0.01");
  }
  [[nodiscard]] MatrixView train() const { return MatrixView::dense(train_.data(), 200, 2); }
  [[nodiscard]] MatrixView target() const { return MatrixView::dense(target_.data(), 200, 2); }
  [[nodiscard]] Shift fit(const char* assumption) const {
    return Shift::fit(parse_assumption(assumption), options_, views_, train(), target(), {}, {},
                      {});
  }

  std::vector<double> train_, target_;
  const double bound_ = sample_bound(200, 200).scale;
  Views views_{{"one", "two"}, {{0}, {1}}, {"", ""}};
  ShiftOptions options_;
};

TEST_F(ShiftTest, ScalesFollowTheDefinition) {
  const Shift::Ratios none = fit("none").at(train());
  EXPECT_TRUE(none.log_scale.empty());
  const Shift::Ratios robust = fit("train").at(train());
  const Shift::Ratios test = fit("test").at(train());
  const Shift::Ratios half = fit("temper:0.5").at(train());
  for (std::size_t i = 0; i < 200; ++i) {
    EXPECT_EQ(robust.log_scale[i], std::min(-robust.log_ratio[i], bound_));
    EXPECT_EQ(test.log_scale[i], 0);
    EXPECT_EQ(half.log_scale[i], -0.5 * half.log_ratio[i]);
    EXPECT_EQ(robust.log_ratio[i], test.log_ratio[i]);
  }
}

/// Estimates are believed up to the cube root of the rows they are from, in weights and scales
/// alike.
TEST_F(ShiftTest, WeightsAndScalesAreBounded) {
  options_.ratio.lambda = RatioLambda::parse("1e-9");
  for (double& v : target_) v = 3 * v;
  for (const char* assumption : {"train", "views", "overlap:inf", "temper:0.1"}) {
    const Shift shift = fit(assumption);
    const Shift again = Shift::from_json(nlohmann::json::parse(shift.to_json().dump()), views_);
    for (const MatrixView& x : {train(), target()}) {
      const Shift::Ratios rows = shift.at(x);
      const auto [low, high] = std::minmax_element(rows.log_ratio.begin(), rows.log_ratio.end());
      EXPECT_EQ(*std::max_element(rows.log_weight.begin(), rows.log_weight.end()),
                std::min(*high, bound_));
      if (assumption != std::string("temper:0.1")) {
        EXPECT_GT(std::max(-*low, *high), bound_);
      }
      EXPECT_LE(*std::max_element(rows.log_scale.begin(), rows.log_scale.end()), bound_);
      EXPECT_EQ(again.at(x).log_weight, rows.log_weight);
      EXPECT_EQ(again.at(x).log_scale, rows.log_scale);
    }
  }
}

TEST_F(ShiftTest, AViewThatGeneralizesHasTheRatioOfItsOwnInputs) {
  const Shift shift = fit("views");
  ASSERT_EQ(shift.scales(), 2);
  EXPECT_FALSE(shift.views()[0].generalized);
  EXPECT_TRUE(shift.views()[1].generalized);
  EXPECT_GT(shift.views()[0].kl, 0.5);  // N(1,1) against N(0,1): 1
  EXPECT_LT(shift.views()[1].kl, 0.1);
  EXPECT_EQ(shift.scales_of(std::vector<std::int32_t>{0, 1, 1, 0}), (std::vector<int>{0, 1, 1, 0}));
  EXPECT_EQ(shift.scale_of_bias(), 0);
  RatioOptions own = options_.ratio;
  own.columns = {1};
  const std::vector<double> ratio = fit_ratio(own, train(), target())->log_ratio(train());
  const Shift::Ratios rows = shift.at(train());
  for (std::size_t i = 0; i < 200; ++i) {
    EXPECT_EQ(rows.log_scale[2 * i], std::min(-rows.log_ratio[i], bound_));
    EXPECT_EQ(rows.log_scale[2 * i + 1], std::min(-ratio[i], bound_));
  }
}

TEST_F(ShiftTest, TheCallerMayNameTheViews) {
  options_.automatic = false;
  options_.generalized_views = {"one"};
  const Shift shift = fit("views");
  EXPECT_TRUE(shift.views()[0].generalized);
  EXPECT_FALSE(shift.views()[1].generalized);
  options_.generalized_views = {"three"};
  EXPECT_THROW(fit("views"), Error);
}

TEST_F(ShiftTest, TheBiasMayGeneralizeFully) {
  options_.bias = BiasAssumption::test;
  const Shift shift = fit("train");
  EXPECT_EQ(shift.scales(), 2);
  EXPECT_EQ(shift.scale_of_bias(), 1);
  const Shift::Ratios rows = shift.at(train());
  for (std::size_t i = 0; i < 200; ++i) EXPECT_EQ(rows.log_scale[2 * i + 1], 0);
}

TEST_F(ShiftTest, DensitiesMayBeTheCallers) {
  options_.given_ratio = true;
  std::vector<double> ratio(200);
  std::vector<double> generalization(200);
  for (std::size_t i = 0; i < 200; ++i) {
    ratio[i] = train_[2 * i] - 0.5;
    generalization[i] = -0.1 * ratio[i];
  }
  const GivenDensities given{ratio, generalization};
  const Shift shift =
      Shift::fit({Kind::given}, options_, views_, train(), target(), {}, given, given);
  const Shift::Ratios rows = shift.at(train(), given);
  EXPECT_EQ(rows.log_ratio, ratio);
  EXPECT_EQ(rows.log_scale, generalization);
  EXPECT_THROW(static_cast<void>(shift.at(train())), Error);  // they must come with every row
}

TEST_F(ShiftTest, JsonGivesBackTheSameNumbers) {
  for (const char* assumption :
       {"none", "train", "test", "views", "views:1.5", "overlap", "temper:0.3"}) {
    const Shift shift = fit(assumption);
    const Shift again = Shift::from_json(nlohmann::json::parse(shift.to_json().dump()), views_);
    EXPECT_EQ(shift.at(target()).log_ratio, again.at(target()).log_ratio);
    EXPECT_EQ(shift.at(target()).log_scale, again.at(target()).log_scale);
    EXPECT_EQ(shift.scales(), again.scales());
  }
}

TEST(Methods, AreTheTableOfTheDesign) {
  const auto row = [](const char* name) { return find_method(name); };
  EXPECT_EQ(row("lr").loss, "log");
  EXPECT_EQ(row("lr").generalize, Kind::none);
  EXPECT_EQ(row("iw").generalize, Kind::test);
  EXPECT_EQ(row("robust").generalize, Kind::train);
  EXPECT_EQ(row("robust-view").generalize, Kind::views);
  EXPECT_EQ(row("adv01").loss, "zero-one");
  EXPECT_EQ(row("robust01-view").generalize, Kind::views);
  EXPECT_EQ(row("overlap").generalize, Kind::overlap);
  EXPECT_EQ(row("overlap01").loss, "zero-one");
  EXPECT_EQ(row("iw-svm").loss, "hinge");
  EXPECT_THROW(find_method("rubost"), Error);
}

TEST(Methods, AssumptionsReadBackAsWritten) {
  for (const char* text :
       {"none", "train", "test", "views", "views:2", "overlap:0.5", "overlap:inf", "temper:0.25"}) {
    EXPECT_EQ(to_string(parse_assumption(text)), text);
  }
  for (const char* text :
       {"temper", "temper:", "temper:1.5", "temper:-1", "temper:x", "trian", "", "train:1",
        "overlap:", "overlap:0", "overlap:-1", "overlap:nan", "overlap:x", "views:"}) {
    EXPECT_THROW(parse_assumption(text), Error) << text;
  }
}

}  // namespace
}  // namespace covshift
