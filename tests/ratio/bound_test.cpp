// What is claimed of a ratio is bounded by what its rows can show.
#include "tests/ratio/support.hpp"

namespace covshift::testing {
namespace {

class Bound : public ::testing::TestWithParam<RatioMethod> {};

TEST_P(Bound, HoldsOnTheSamplesAndBeyond) {
  const Matrix train = normals(64, 1, 0, 1, 1);
  const Matrix target = normals(27, 1, 6, 1, 2);  // hardly any overlap
  RatioOptions options = with(GetParam());
  if (GetParam() == RatioMethod::logistic) options = logistic_with(1e-9);
  const auto ratio = fit_ratio(options, train.view(), target.view());
  EXPECT_GE(ratio->bound().low, -std::log(3.0) - 1e-12);
  EXPECT_LE(ratio->bound().high, std::log(4.0) + 1e-12);
  const Matrix far = dense(4, 1, {-1e6, -20, 30, 1e6});
  for (const Matrix* x : {&train, &target, &far}) {
    for (const double l : ratio->log_ratio(x->view())) {
      EXPECT_GE(l, ratio->bound().low);
      EXPECT_LE(l, ratio->bound().high);
    }
  }
  const auto again = ratio_from_json(nlohmann::json::parse(ratio->to_json().dump()));
  EXPECT_EQ(again->log_ratio(far.view()), ratio->log_ratio(far.view()));
  EXPECT_EQ(again->bound().low, ratio->bound().low);
}
INSTANTIATE_TEST_SUITE_P(Estimates, Bound,
                         ::testing::Values(RatioMethod::logistic, RatioMethod::gaussian,
                                           RatioMethod::ulsif, RatioMethod::rulsif,
                                           RatioMethod::kliep, RatioMethod::kmm));

TEST(RatioBound, GrowsWithTheRows) {
  EXPECT_NEAR(sample_bound(1000, 8).high, std::log(10.0), 1e-12);
  EXPECT_NEAR(sample_bound(1000, 8).low, -std::log(2.0), 1e-12);
  EXPECT_EQ(sample_bound(0.5, 1).high, 0);  // a row alone shows nothing
}

TEST(RatioBound, RowsBeyondBothSamplesAreNotExtrapolatedTo) {
  const Matrix train = normals(200, 1, 0, 1, 3);
  const Matrix target = normals(200, 1, 0.2, 1, 4);
  const auto ratio = fit_ratio(logistic_with(1e-3), train.view(), target.view());
  double largest = -1e9;
  for (const Matrix* x : {&train, &target}) {
    for (const double l : ratio->log_ratio(x->view())) largest = std::max(largest, l);
  }
  ASSERT_LT(largest, std::log(200.0) / 3);
  EXPECT_EQ(ratio->log_ratio(dense(1, 1, {50}).view())[0], largest);
}

TEST(RatioBound, FilesWithoutAreUnbounded) {
  nlohmann::json json =
      fit_ratio(logistic_with(1e-3), normals(50, 1, 0, 1, 5).view(), normals(50, 1, 2, 1, 6).view())
          ->to_json();
  json.erase("bound");
  EXPECT_GT(ratio_from_json(json)->log_ratio(dense(1, 1, {100}).view())[0], 50);
  json["bound"] = {1, -1};
  EXPECT_THAT(message_of([&] { (void)ratio_from_json(json); }), ::testing::HasSubstr("bound"));
}

}  // namespace
}  // namespace covshift::testing
