// How far an estimate is believed is bounded by what its rows can show.
#include "covshift/ratio/diagnostics.hpp"
#include "tests/ratio/support.hpp"

namespace covshift::testing {
namespace {

TEST(RatioBound, GrowsWithTheRows) {
  EXPECT_NEAR(sample_bound(1000, 8).weight, std::log(10.0), 1e-12);
  EXPECT_NEAR(sample_bound(1000, 8).scale, std::log(2.0), 1e-12);
  EXPECT_EQ(sample_bound(0.5, 1).weight, 0);  // a row alone shows nothing
}

TEST(RatioBound, IsThatOfTheSamplesAndIsStored) {
  const Matrix train = normals(64, 1, 0, 1, 1);
  const Matrix target = normals(27, 1, 1, 1, 2);
  for (const char* name : {"logistic", "gaussian", "ulsif", "rulsif", "kliep", "kmm"}) {
    const auto ratio = fit_ratio(with(parse_ratio_method(name)), train.view(), target.view());
    EXPECT_NEAR(ratio->bound().weight, std::log(4.0), 1e-12) << name;
    EXPECT_NEAR(ratio->bound().scale, std::log(3.0), 1e-12) << name;
    nlohmann::json json = nlohmann::json::parse(ratio->to_json().dump());
    EXPECT_EQ(ratio_from_json(json)->bound().weight, ratio->bound().weight);
    EXPECT_EQ(ratio_from_json(json)->bound().scale, ratio->bound().scale);
    EXPECT_LE(json["report"]["largest_share"].get<double>(), 1);
    EXPECT_GT(json["report"]["mean_weight"].get<double>(), 0.3);
    json.erase("bound");  // a file of an earlier version
    EXPECT_EQ(ratio_from_json(json)->bound().weight, RatioBound{}.weight);
    json["bound"] = {1, -1};
    EXPECT_THAT(message_of([&] { (void)ratio_from_json(json); }), ::testing::HasSubstr("bound"));
  }
}

TEST(RatioBound, WeightsCountSumsOfRows) {
  const std::vector<double> twice(64, 2.0);
  const auto ratio = fit_ratio(logistic_with(0.1), normals(64, 1, 0, 1, 1).view(),
                               normals(27, 1, 1, 1, 2).view(), twice);
  EXPECT_NEAR(ratio->bound().weight, std::log(128.0) / 3, 1e-12);
}

TEST(RatioBound, OneRowFarOutsideDoesNotDecideTheDivergence) {
  const std::vector<double> train(999, 0.0);
  std::vector<double> target(1000, 0.0);
  target[7] = 1e9;
  EXPECT_NEAR(symmetric_kl(train, target), std::log(1000.0) / 1000, 1e-12);
}

}  // namespace
}  // namespace covshift::testing
