// What must hold for every estimator.
#include <limits>

#include "covshift/ratio/diagnostics.hpp"
#include "tests/ratio/support.hpp"

namespace covshift::testing {
namespace {

class EveryMethod : public ::testing::TestWithParam<RatioMethod> {
 protected:
  [[nodiscard]] RatioOptions options() const {
    RatioOptions o = with(GetParam());
    o.centres = 50;
    o.threads = 1;
    return o;
  }
  [[nodiscard]] bool is_none() const { return GetParam() == RatioMethod::none; }
};

constexpr double infinity = std::numeric_limits<double>::infinity();

bool all_finite(const std::vector<double>& x) {
  return std::all_of(x.begin(), x.end(), [](double v) { return std::isfinite(v); });
}

double largest_difference(const std::vector<double>& a, const std::vector<double>& b) {
  double largest = a.size() == b.size() ? 0 : infinity;
  for (std::size_t i = 0; i < a.size(); ++i) largest = std::max(largest, std::abs(a[i] - b[i]));
  return largest;
}

TEST_P(EveryMethod, PointsFromTrainToTarget) {
  const Matrix train = normals(400, 2, 0.0, 1.0, 1);
  const Matrix target = normals(300, 2, 0.7, 0.8, 2);
  const auto ratio = fit_ratio(options(), train.view(), target.view());
  EXPECT_EQ(ratio->method(), GetParam());
  const std::vector<double> log_weight = ratio->log_ratio(train.view());
  if (is_none()) {  // the ratio is 1: it points nowhere
    EXPECT_EQ(log_weight, std::vector<double>(400, 0.0));
    return;
  }
  for (const MeanShift& shift : mean_shifts(train.view(), target.view(), log_weight)) {
    EXPECT_LT(std::abs(shift.after), 0.45 * std::abs(shift.before)) << ratio->name();
    EXPECT_GT(shift.weighted, shift.train);
  }
  const Matrix ends = dense(2, 2, {-1.5, -1.5, 1.0, 1.0});
  const std::vector<double> at = ratio->log_ratio(ends.view());
  EXPECT_LT(at[0], -0.5);
  EXPECT_GT(at[1], 0.3);
  // The other way round it is the inverse.
  const auto back = fit_ratio(options(), target.view(), train.view());
  EXPECT_GT(back->log_ratio(ends.view())[0], back->log_ratio(ends.view())[1]);
}

TEST_P(EveryMethod, NoShiftGivesRatiosNearOne) {
  const Matrix train = normals(400, 2, 0.0, 1.0, 3);
  const auto same = fit_ratio(options(), train.view(), train.view());
  const std::vector<double> at = same->log_ratio(train.view());
  double total = 0;
  for (const double l : at) total += std::exp(l) / 400;
  EXPECT_NEAR(total, 1, 0.1);
  EXPECT_NEAR(symmetric_kl(*same, train.view(), train.view()), 0, 1e-9);
  EXPECT_GT(effective_sample_size(at), 360);
  const Matrix other = normals(400, 2, 0.0, 1.0, 4);
  const auto fresh = fit_ratio(options(), train.view(), other.view());
  EXPECT_LT(std::abs(symmetric_kl(*fresh, train.view(), other.view())), 0.1);
}

TEST_P(EveryMethod, RowsAreIndependentOfTheirCompany) {
  const Matrix train = normals(150, 3, 0.0, 1.0, 5);
  const Matrix target = normals(120, 3, 0.5, 1.0, 6);
  const auto ratio = fit_ratio(options(), train.view(), target.view());
  const Matrix x = normals(1500, 3, 0.2, 1.2, 7);
  const std::vector<double> batch = ratio->log_ratio(x.view(), 2);
  for (std::size_t i = 0; i < x.rows; ++i) {
    double alone = 0;
    ratio->log_ratio(slice(x.view(), i, 1), std::span(&alone, 1));
    ASSERT_EQ(alone, batch[i]) << i;
  }
  EXPECT_TRUE(ratio->log_ratio(slice(x.view(), 0, 0)).empty());
}

TEST_P(EveryMethod, RoundTripIsBitIdentical) {
  const Matrix train = normals(150, 4, 0.0, 1.0, 8);
  const Matrix target = normals(120, 4, 0.5, 1.0, 9);
  const Matrix x = normals(200, 4, 0.2, 3.0, 10);
  for (const bool view : {false, true}) {
    RatioOptions o = options();
    if (view) o.columns = {3, 1};
    const auto ratio = fit_ratio(o, train.view(), target.view());
    const std::string text = ratio->to_json().dump();
    const auto back = ratio_from_json(nlohmann::json::parse(text));
    EXPECT_EQ(back->log_ratio(x.view()), ratio->log_ratio(x.view()));
    EXPECT_EQ(back->to_json().dump(), text);
    EXPECT_EQ(back->name(), ratio->name());
    EXPECT_EQ(back->columns(), ratio->columns());
  }
}

TEST_P(EveryMethod, OrderOfRowsAndThreadsDoNotMatter) {
  const Matrix train = normals(700, 2, 0.0, 1.0, 11);
  const Matrix target = normals(600, 2, 0.6, 1.0, 12);
  const Matrix x = normals(50, 2, 0.0, 2.0, 13);
  RatioOptions o = options();
  const std::vector<double> one = fit_ratio(o, train.view(), target.view())->log_ratio(x.view());
  const std::vector<double> other =
      fit_ratio(o, permuted(train, 1).view(), permuted(target, 2).view())->log_ratio(x.view());
  EXPECT_LT(largest_difference(one, other), 1e-10);
  o.threads = 3;
  EXPECT_EQ(fit_ratio(o, train.view(), target.view())->log_ratio(x.view(), 3), one);
}

TEST_P(EveryMethod, SparseEqualsDense) {
  Matrix train = normals(120, 12, 0.0, 1.0, 14);
  Matrix target = normals(100, 12, 0.5, 1.0, 15);
  Random random(16);
  for (Matrix* m : {&train, &target}) {
    for (double& v : m->values) v = random.uniform() < 0.85 ? 0.0 : v;
  }
  const Matrix sparse = to_sparse(train);
  const auto a = fit_ratio(options(), train.view(), target.view());
  const auto b = fit_ratio(options(), sparse.view(), to_sparse(target).view());
  const double tolerance = is_none() ? 0 : 1e-8;
  EXPECT_LE(largest_difference(a->log_ratio(train.view()), b->log_ratio(train.view())), tolerance);
  EXPECT_LE(largest_difference(a->log_ratio(train.view()), a->log_ratio(sparse.view())), tolerance);
  const auto back = ratio_from_json(nlohmann::json::parse(b->to_json().dump()));
  EXPECT_EQ(back->log_ratio(sparse.view()), b->log_ratio(sparse.view()));
  RatioOptions view = options();
  view.columns = {2, 3, 7};
  const auto c = fit_ratio(view, train.view(), target.view());
  const auto d = fit_ratio(view, sparse.view(), to_sparse(target).view());
  EXPECT_LE(largest_difference(c->log_ratio(train.view()), d->log_ratio(sparse.view())), tolerance);
}

TEST_P(EveryMethod, RepeatedSparseColumnsAddUp) {
  const Matrix train = normals(60, 2, 0.0, 1.0, 17);
  const Matrix target = normals(60, 2, 0.5, 1.0, 18);
  Matrix parts;
  parts.rows = train.rows;
  parts.cols = 2;
  parts.sparse = true;
  parts.offsets = {0};
  for (std::size_t i = 0; i < train.rows; ++i) {  // x1/2, x0, x1/2
    const double* row = train.values.data() + 2 * i;
    parts.columns.insert(parts.columns.end(), {1, 0, 1});
    parts.values.insert(parts.values.end(), {row[1] / 2, row[0], row[1] / 2});
    parts.offsets.push_back(static_cast<std::int64_t>(parts.values.size()));
  }
  const auto a = fit_ratio(options(), train.view(), target.view());
  const auto b = fit_ratio(options(), parts.view(), target.view());
  EXPECT_LT(largest_difference(a->log_ratio(train.view()), b->log_ratio(parts.view())), 1e-9);
}

TEST_P(EveryMethod, SinglePrecisionIsRead) {
  Matrix train = normals(80, 2, 0.0, 1.0, 19);
  Matrix target = normals(80, 2, 0.5, 1.0, 20);
  std::vector<float> a(train.values.begin(), train.values.end());
  std::vector<float> b(target.values.begin(), target.values.end());
  train.values.assign(a.begin(), a.end());
  target.values.assign(b.begin(), b.end());
  const MatrixView train32 = MatrixView::dense(a.data(), 80, 2);
  const MatrixView target32 = MatrixView::dense(b.data(), 80, 2);
  EXPECT_EQ(fit_ratio(options(), train.view(), target.view())->log_ratio(train.view()),
            fit_ratio(options(), train32, target32)->log_ratio(train32));
}

TEST_P(EveryMethod, AViewSeesItsColumnsOnly) {
  const Matrix train = normals(150, 3, 0.0, 1.0, 21);
  const Matrix target = normals(120, 3, 0.5, 1.0, 22);
  RatioOptions o = options();
  o.columns = {2, 0};
  const auto view = fit_ratio(o, train.view(), target.view());
  EXPECT_EQ(view->columns(), (std::vector<std::int32_t>{0, 2}));
  const auto only = [](const Matrix& m) {
    std::vector<double> values;
    for (std::size_t i = 0; i < m.rows; ++i) {
      values.insert(values.end(), {m.values[3 * i], m.values[3 * i + 2]});
    }
    return dense(m.rows, 2, values);
  };
  const auto alone = fit_ratio(options(), only(train).view(), only(target).view());
  EXPECT_EQ(view->log_ratio(train.view()), alone->log_ratio(only(train).view()));
  Matrix changed = train;
  for (std::size_t i = 0; i < changed.rows; ++i) {
    changed.values[3 * i + 1] = std::numeric_limits<double>::quiet_NaN();
  }
  EXPECT_EQ(view->log_ratio(changed.view()), view->log_ratio(train.view()));
  EXPECT_EQ(fit_ratio(o, changed.view(), target.view())->log_ratio(train.view()),
            view->log_ratio(train.view()));
}

TEST_P(EveryMethod, FarOutIsFinite) {
  const Matrix train = normals(100, 2, 0.0, 1.0, 23);
  const Matrix target = normals(100, 2, 1.0, 1.3, 24);
  const Matrix far = dense(8, 2,
                           {1e3, 1e3, -1e3, 1e3, 1e9, -1e9, 1e160, 1e160, 1e160, -1e160, 1e308,
                            1e308, -1e308, 1e308, -1e308, -1e308});
  for (const bool sparse : {false, true}) {
    const auto ratio =
        fit_ratio(options(), sparse ? to_sparse(train).view() : train.view(), target.view());
    EXPECT_TRUE(all_finite(ratio->log_ratio(far.view())));
    EXPECT_TRUE(all_finite(ratio->log_ratio(to_sparse(far).view())));
  }
}

TEST_P(EveryMethod, OddShapes) {
  const auto fits = [&](const Matrix& train, const Matrix& target, const char* what) {
    const auto ratio = fit_ratio(options(), train.view(), target.view());
    EXPECT_TRUE(all_finite(ratio->log_ratio(train.view()))) << what;
    EXPECT_TRUE(all_finite(ratio->log_ratio(target.view()))) << what;
  };
  fits(normals(50, 2, 0, 1, 25), normals(1, 2, 0, 1, 26), "one target row");
  fits(normals(1, 2, 0, 1, 27), normals(50, 2, 0, 1, 28), "one training row");
  fits(normals(1, 2, 0, 1, 29), normals(1, 2, 0, 1, 30), "one row each");
  fits(normals(20, 60, 0, 1, 31), normals(15, 60, 0.3, 1, 32), "more columns than rows");
  fits(dense(3, 2, {1, 2, 1, 2, 1, 2}), dense(2, 2, {1, 2, 1, 2}), "constant");
  fits(dense(3, 2, {0, 0, 0, 0, 0, 0}), dense(2, 2, {0, 0, 0, 0}), "zero");
  Matrix train = normals(60, 3, 0, 1, 33);
  Matrix target = normals(50, 3, 0.5, 1, 34);
  for (Matrix* m : {&train, &target}) {
    for (std::size_t i = 0; i < m->rows; ++i) m->values[3 * i + 1] = 7;
  }
  fits(train, target, "a constant column");
}

TEST_P(EveryMethod, AWeightOfTwoIsTheRowTwice) {
  const Matrix train = normals(60, 2, 0.0, 1.0, 35);
  const Matrix target = normals(50, 2, 0.5, 1.0, 36);
  std::vector<double> weight(60);
  Matrix repeated = dense(0, 2, {});
  for (std::size_t i = 0; i < 60; ++i) {
    weight[i] = static_cast<double>(i % 3);
    for (std::size_t k = 0; k < i % 3; ++k) {
      repeated.values.insert(repeated.values.end(), train.values.begin() + 2 * i,
                             train.values.begin() + 2 * i + 2);
      ++repeated.rows;
    }
  }
  RatioOptions given = options();
  given.lambda = {RatioLambda::Rule::value, 0.01};
  given.kernel_width = 1.0;
  given.kernel_lambda = 0.1;
  given.kmm_slack = 0.05;
  // With everything given, and with what the data choose.
  for (const RatioOptions& o : {given, options()}) {
    const auto a = fit_ratio(o, train.view(), target.view(), weight);
    const auto b = fit_ratio(o, repeated.view(), target.view());
    EXPECT_LT(largest_difference(a->log_ratio(train.view()), b->log_ratio(train.view())), 1e-7);
  }
}

INSTANTIATE_TEST_SUITE_P(Ratio, EveryMethod,
                         ::testing::Values(RatioMethod::none, RatioMethod::logistic,
                                           RatioMethod::quadratic, RatioMethod::gaussian,
                                           RatioMethod::ulsif, RatioMethod::rulsif,
                                           RatioMethod::kliep, RatioMethod::kmm),
                         [](const auto& test) { return std::string(to_string(test.param)); });

}  // namespace
}  // namespace covshift::testing
