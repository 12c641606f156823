// Squares and products in the logistic ratio; held-out scores; the choice among estimators.
#include "covshift/ratio/quadratic.hpp"

#include "covshift/ratio/held_out.hpp"
#include "covshift/ratio/logistic.hpp"
#include "tests/ratio/support.hpp"

namespace covshift::testing {
namespace {

double share_of(const DensityRatio& ratio) {
  return ratio.report().at("quadratic_share").get<double>();
}

/// Rows whose two columns go together with `correlated` in one sample and not in the other.
Matrix pairs(std::size_t rows, double correlated, std::uint64_t seed) {
  Matrix m = normals(rows, 2, 0, 1, seed);
  for (std::size_t i = 0; i < rows; ++i) {
    double* row = m.values.data() + 2 * i;
    row[1] = correlated * row[0] + std::sqrt(1 - correlated * correlated) * row[1];
  }
  return m;
}

TEST(QuadraticRatio, SeesSpreadThatALinearOneCannot) {
  const Matrix train = normals(600, 3, 0, 1, 1);
  const Matrix target = normals(500, 3, 0, 0.6, 2);
  const Matrix fresh = normals(400, 3, 0, 1, 3);
  std::vector<double> exact;
  for (std::size_t i = 0; i < fresh.rows; ++i) {
    double sum = 0;
    for (std::size_t j = 0; j < 3; ++j) {
      const double x = fresh.values[3 * i + j];
      sum += x * x * (1 - 1 / 0.36) / 2 - std::log(0.6);
    }
    exact.push_back(sum);
  }
  const auto linear = fit_ratio(with(RatioMethod::logistic), train.view(), target.view());
  const auto ratio = fit_ratio(with(RatioMethod::quadratic), train.view(), target.view());
  EXPECT_GT(share_of(*ratio), 0.999);
  EXPECT_GT(correlation(ratio->log_ratio(fresh.view()), exact), 0.95);
  EXPECT_LT(correlation(linear->log_ratio(fresh.view()), exact), 0.5);
  EXPECT_GT(ratio->report().at("held_out_gain"), linear->report().at("held_out_gain"));
}

TEST(QuadraticRatio, SeesAnInteraction) {
  const Matrix train = pairs(600, 0, 4);
  const Matrix target = pairs(600, 0.8, 5);
  const auto ratio = fit_ratio(with(RatioMethod::quadratic), train.view(), target.view());
  EXPECT_GT(share_of(*ratio), 0.999);
  const Matrix ends = dense(2, 2, {1.5, 1.5, 1.5, -1.5});
  const std::vector<double> at = ratio->log_ratio(ends.view());
  EXPECT_GT(at[0], at[1] + 2);
}

TEST(QuadraticRatio, WithoutASecondOrderShiftItIsTheLinearOne) {
  const Matrix train = normals(500, 4, 0, 1, 6);
  const Matrix target = normals(500, 4, 0.5, 1, 7);
  const auto linear = fit_ratio(with(RatioMethod::logistic), train.view(), target.view());
  const auto ratio = fit_ratio(with(RatioMethod::quadratic), train.view(), target.view());
  EXPECT_LT(share_of(*ratio), 0.7);
  EXPECT_GT(correlation(ratio->log_ratio(train.view()), linear->log_ratio(train.view())), 0.97);
}

TEST(QuadraticRatio, TermsAreSquaresAndProductsOfColumnsThatVary) {
  // A number, an indicator and a constant: one square, one product.
  const Matrix x = dense(4, 3, {0.5, 0, 7, 1.5, 1, 7, 2.5, 0, 7, -1, 1, 7});
  const Rows rows(x.view(), {});
  const QuadraticTerms terms = QuadraticTerms::fit({rows, rows, {}, {}});
  using Pair = std::pair<std::int32_t, std::int32_t>;
  EXPECT_EQ(terms.pairs, (std::vector<Pair>{{0, 0}, {0, 1}}));
  std::vector<double> z;
  std::vector<double> out(2);
  const std::vector<double> far = {1e300, 1, 7};
  terms.at(far.data(), z, out.data());
  EXPECT_DOUBLE_EQ(out[0], 16 / std::sqrt(2.0));
  EXPECT_DOUBLE_EQ(out[1], 4);
}

TEST(QuadraticRatio, ManyColumnsAreLeftLinear) {
  const Matrix train = normals(60, 120, 0, 1, 8);
  const Matrix target = normals(50, 120, 0.1, 1, 9);
  const auto linear = fit_ratio(with(RatioMethod::logistic), train.view(), target.view());
  const auto ratio = fit_ratio(with(RatioMethod::quadratic), train.view(), target.view());
  EXPECT_EQ(share_of(*ratio), 0);
  EXPECT_EQ(ratio->log_ratio(train.view()), linear->log_ratio(train.view()));
}

TEST(QuadraticRatio, ADamagedFileIsRefused) {
  const Matrix train = normals(60, 2, 0, 1, 8);
  const Matrix target = normals(50, 2, 0, 0.5, 9);
  const auto ratio = fit_ratio(with(RatioMethod::quadratic), train.view(), target.view());
  nlohmann::json json = ratio->to_json();
  EXPECT_NO_THROW(ratio_from_json(json));
  json["pairs"][0][1] = 2;
  EXPECT_THROW(ratio_from_json(json), Error);
}

TEST(QuadraticRatio, IsSteady) {
  const Matrix train = normals(300, 5, 0, 1, 10);
  const Matrix target = normals(250, 5, 0.2, 0.9, 11);
  const auto jittered = [](Matrix m, std::uint64_t seed) {
    Random random(seed);
    for (double& v : m.values) v += 1e-7 * random.normal();
    return m;
  };
  const auto a = fit_ratio(with(RatioMethod::quadratic), train.view(), target.view());
  const auto b = fit_ratio(with(RatioMethod::quadratic), jittered(train, 1).view(),
                           jittered(target, 2).view());
  const std::vector<double> at = a->log_ratio(train.view());
  const std::vector<double> moved = b->log_ratio(train.view());
  for (std::size_t i = 0; i < at.size(); ++i) EXPECT_NEAR(at[i], moved[i], 1e-4);
}

TEST(HeldOutGain, OfTheTrueRatioIsTheTextbookNumber) {
  // Ratios 3 and 1/3 known exactly, as many rows of each sample: p = 3/4 for three rows of four.
  const double l = std::log(3.0);
  const HeldOutRatio held_out{{-l, -l, -l, l}, {l, l, l, -l}, 10};
  const double expected = 0.75 * std::log(0.75) + 0.25 * std::log(0.25) + std::log(2.0);
  EXPECT_NEAR(held_out_gain(held_out, {10, 10}, {}), expected, 1e-15);
  // Cut off at a bound of 0 nothing is claimed and nothing gained.
  EXPECT_NEAR(held_out_gain(held_out, {0, 0}, {}), 0, 1e-15);
  // A weight of 2 is the row twice.
  const HeldOutRatio twice{{-l, -l, -l, -l, l}, {l, l, l, -l}, 10};
  const std::vector<double> weight = {2, 1, 1, 1};
  EXPECT_NEAR(held_out_gain(held_out, {10, 10}, weight), held_out_gain(twice, {10, 10}, {}), 1e-15);
}

TEST(HeldOutGain, EveryEstimatorReportsIt) {
  const Matrix train = normals(200, 2, 0, 1, 12);
  const Matrix target = normals(150, 2, 0.8, 1, 13);
  for (const RatioMethod method :
       {RatioMethod::logistic, RatioMethod::quadratic, RatioMethod::gaussian, RatioMethod::ulsif,
        RatioMethod::rulsif, RatioMethod::kliep, RatioMethod::kmm}) {
    const auto ratio = fit_ratio(with(method), train.view(), target.view());
    const nlohmann::json& report = ratio->report();
    // The truth gains about 0.14 nats: mean log-likelihood of N(0.8, 1) against N(0, 1) twice.
    EXPECT_GT(report.at("held_out_gain").get<double>(), 0.05) << ratio->name();
    EXPECT_LT(report.at("held_out_gain").get<double>(), 0.30) << ratio->name();
    for (const char* name : {"mean_weight", "effective_sample_size", "largest_share"}) {
      EXPECT_TRUE(report.contains(name)) << ratio->name() << ' ' << name;
    }
  }
}

TEST(AutomaticRatio, PicksTheLargestHeldOutGain) {
  const Matrix train = normals(300, 2, 0, 1, 14);
  const Matrix target = normals(300, 2, 0, 0.4, 15);
  const auto ratio = fit_ratio(with(RatioMethod::automatic), train.view(), target.view());
  EXPECT_NE(ratio->method(), RatioMethod::logistic);  // which sees no spread
  double most = -1;
  std::string best;
  for (const nlohmann::json& tried : ratio->report().at("candidates")) {
    const double gain = tried.at("held_out_gain").get<double>();
    if (gain > most) {
      most = gain;
      best = tried.at("method").get<std::string>();
    }
  }
  EXPECT_EQ(ratio->report().at("candidates").size(), 6U);
  EXPECT_EQ(ratio->name(), best);
  EXPECT_EQ(ratio->report().at("held_out_gain").get<double>(), most);
  const auto again = ratio_from_json(nlohmann::json::parse(ratio->to_json().dump()));
  EXPECT_EQ(again->log_ratio(train.view()), ratio->log_ratio(train.view()));
}

}  // namespace
}  // namespace covshift::testing
