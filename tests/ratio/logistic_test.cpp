#include "covshift/ratio/logistic.hpp"

#include <atomic>

#include "covshift/ratio/diagnostics.hpp"

#include "covshift/ratio/samples.hpp"
#include "tests/ratio/support.hpp"

namespace covshift::testing {
namespace {

const LogisticRatio& as_logistic(const DensityRatio& ratio) {
  return dynamic_cast<const LogisticRatio&>(ratio);
}

/// The design's objective, written down once more in long double.
struct Reference {
  const Matrix& train;
  const Matrix& target;
  long double lambda;
  std::vector<long double> u;
  long double b = 0;

  Reference(const Matrix& tr, const Matrix& te, double l)
      : train(tr), target(te), lambda(l), u(tr.cols) {}

  /// Gradient and Hessian; the intercept last.
  void differentiate(std::vector<long double>& g, std::vector<long double>& h) const {
    const std::size_t d = train.cols + 1;
    g.assign(d, 0);
    h.assign(d * d, 0);
    const auto n = static_cast<long double>(train.rows + target.rows);
    for (const Matrix* part : {&train, &target}) {
      for (std::size_t i = 0; i < part->rows; ++i) {
        std::vector<long double> x(part->values.begin() + i * part->cols,
                                   part->values.begin() + (i + 1) * part->cols);
        x.push_back(1);
        long double odds = b;
        for (std::size_t j = 0; j + 1 < d; ++j) odds += u[j] * x[j];
        const long double p = 1 / (1 + std::exp(-odds));
        const long double r = p - (part == &target ? 1 : 0);
        for (std::size_t j = 0; j < d; ++j) {
          g[j] += r * x[j] / n;
          for (std::size_t k = 0; k < d; ++k) h[j * d + k] += p * (1 - p) * x[j] * x[k] / n;
        }
      }
    }
    for (std::size_t j = 0; j + 1 < d; ++j) {
      g[j] += 2 * lambda * u[j];
      h[j * d + j] += 2 * lambda;
    }
  }

  void newton() {
    std::vector<long double> g;
    std::vector<long double> h;
    const std::size_t d = train.cols + 1;
    for (int iteration = 0; iteration < 60; ++iteration) {
      differentiate(g, h);
      for (std::size_t p = 0; p < d; ++p) {  // elimination
        for (std::size_t i = p + 1; i < d; ++i) {
          const long double f = h[i * d + p] / h[p * d + p];
          for (std::size_t k = p; k < d; ++k) h[i * d + k] -= f * h[p * d + k];
          g[i] -= f * g[p];
        }
      }
      for (std::size_t p = d; p-- > 0;) {
        for (std::size_t k = p + 1; k < d; ++k) g[p] -= h[p * d + k] * g[k];
        g[p] /= h[p * d + p];
      }
      for (std::size_t j = 0; j + 1 < d; ++j) u[j] -= g[j];
      b -= g[d - 1];
    }
  }
};

TEST(Logistic, EqualsAnIndependentImplementation) {
  for (const double lambda : {1e-6, 1e-3, 0.1, 10.0}) {
    const Matrix train = normals(90, 4, 0.0, 1.0, 1);
    const Matrix target = normals(60, 4, 0.4, 1.2, 2);
    Reference reference(train, target, lambda);
    reference.newton();
    const auto ratio = fit_ratio(logistic_with(lambda), train.view(), target.view());
    const LogisticRatio& fitted = as_logistic(*ratio);
    for (std::size_t j = 0; j < 4; ++j) {
      EXPECT_NEAR(fitted.weights()[j], static_cast<double>(reference.u[j]), 1e-9) << lambda;
    }
    EXPECT_NEAR(fitted.intercept(), static_cast<double>(reference.b) + std::log(90.0 / 60.0), 1e-9);
    // The gradient of the definition vanishes at the answer.
    for (std::size_t j = 0; j < 4; ++j) reference.u[j] = fitted.weights()[j];
    reference.b = fitted.intercept() - std::log(90.0 / 60.0);
    std::vector<long double> g;
    std::vector<long double> h;
    reference.differentiate(g, h);
    for (const long double v : g) EXPECT_LT(std::abs(v), 1e-12);
  }
}

TEST(Logistic, TwoValuesInClosedForm) {
  // Training: 30 of 40 rows at 0; target: 5 of 20. Without a penalty the fitted probabilities are
  // the frequencies, the ratios those of the two distributions.
  std::vector<double> train(40);
  std::fill(train.begin() + 30, train.end(), 1.0);
  std::vector<double> target(20, 1.0);
  std::fill(target.begin(), target.begin() + 5, 0.0);
  const auto ratio =
      fit_ratio(logistic_with(1e-13), dense(40, 1, train).view(), dense(20, 1, target).view());
  const std::vector<double> at = ratio->log_ratio(dense(2, 1, {0, 1}).view());
  EXPECT_NEAR(at[0], std::log((5.0 / 20) / (30.0 / 40)), 1e-8);
  EXPECT_NEAR(at[1], std::log((15.0 / 20) / (10.0 / 40)), 1e-8);
}

TEST(Logistic, RecoversKnownGaussians) {
  const std::size_t n = 100000;
  const Matrix train = normals(n, 1, 0.0, 1.0, 3);
  const Matrix target = normals(n / 2, 1, 0.5, 1.0, 4);
  const auto ratio = fit_ratio(logistic_with(1e-9), train.view(), target.view());
  EXPECT_NEAR(as_logistic(*ratio).weights()[0], 0.5, 0.02);
  EXPECT_NEAR(as_logistic(*ratio).intercept(), -0.125, 0.01);
}

TEST(Logistic, InterceptIsNotPenalised) {
  // A huge lambda leaves the prior odds, which the ratio takes out: 1 everywhere, at any sizes.
  const auto ratio = fit_ratio(logistic_with(1e12), normals(900, 2, 0, 1, 5).view(),
                               normals(30, 2, 1, 1, 6).view());
  for (const double l : ratio->log_ratio(normals(20, 2, 0, 1, 7).view())) EXPECT_NEAR(l, 0, 1e-9);
  // And a shift of the features changes nothing.
  const Matrix train = normals(80, 2, 0, 1, 8);
  const Matrix target = normals(70, 2, 1, 1, 9);
  Matrix train_up = train;
  Matrix target_up = target;
  for (double& v : train_up.values) v += 1000;
  for (double& v : target_up.values) v += 1000;
  const auto here = fit_ratio(logistic_with(0.01), train.view(), target.view());
  const auto there = fit_ratio(logistic_with(0.01), train_up.view(), target_up.view());
  const std::vector<double> a = here->log_ratio(train.view());
  const std::vector<double> b = there->log_ratio(train_up.view());
  for (std::size_t i = 0; i < a.size(); ++i) EXPECT_NEAR(a[i], b[i], 1e-8);
}

TEST(Logistic, SeparableDataStayFinite) {
  const Matrix train = dense(4, 1, {-2, -1.5, -1.2, -1});
  const Matrix target = dense(3, 1, {1, 2, 3});
  double last = 0;
  for (const double lambda : {1e-3, 1e-6, 1e-9, 1e-12, 1e-20}) {
    const auto ratio = fit_ratio(logistic_with(lambda), train.view(), target.view());
    const double u = as_logistic(*ratio).weights()[0];
    EXPECT_TRUE(std::isfinite(u));
    EXPECT_GT(u, last) << lambda;
    last = u;
  }
  EXPECT_LT(last, 100);
}

/// Every row many times over changes no mean, but is too much to be kept centred.
TEST(Logistic, LargeSamplesEqualSmallOnes) {
  const auto repeated = [](const Matrix& m, std::size_t times) {
    std::vector<double> values;
    for (std::size_t t = 0; t < times; ++t) {
      values.insert(values.end(), m.values.begin(), m.values.end());
    }
    return dense(m.rows * times, m.cols, std::move(values));
  };
  const Matrix train = normals(400, 4, 0, 1, 31);
  const Matrix target = normals(300, 4, 0.7, 0.8, 32);
  const Matrix large_train = repeated(train, 60);
  const Matrix large_target = repeated(target, 60);
  ASSERT_GT((large_train.rows + large_target.rows) * 5, 1U << 17U);
  const auto small = fit_ratio(logistic_with(1e-3), train.view(), target.view());
  const auto large = fit_ratio(logistic_with(1e-3), large_train.view(), large_target.view());
  for (std::size_t j = 0; j < 4; ++j) {
    EXPECT_NEAR(as_logistic(*small).weights()[j], as_logistic(*large).weights()[j], 1e-11);
  }
}

TEST(Logistic, ManyColumnsEqualFewRotated) {
  // Beyond 500 columns another solver, for rows that are kept centred (150) and for those that are
  // not (250): columns of zeros change nothing.
  const auto widen = [](const Matrix& m) {
    Matrix wide = dense(m.rows, 700, std::vector<double>(m.rows * 700));
    for (std::size_t i = 0; i < m.rows; ++i) {
      for (std::size_t j = 0; j < m.cols; ++j) wide.values[i * 700 + 23 * j] = m.values[i * 30 + j];
    }
    return wide;
  };
  const auto compare = [&](std::size_t rows, double lambda) {
    const Matrix train = normals(rows, 30, 0.0, 1.0, 10);
    const Matrix target = normals(rows * 2 / 3, 30, 0.2, 1.0, 11);
    const auto few = fit_ratio(logistic_with(lambda), train.view(), target.view());
    const Matrix wide_train = widen(train);
    const auto many = fit_ratio(logistic_with(lambda), wide_train.view(), widen(target).view());
    const auto sparse = fit_ratio(logistic_with(lambda), to_sparse(wide_train).view(),
                                  to_sparse(widen(target)).view());
    const std::vector<double> a = few->log_ratio(train.view());
    const std::vector<double> b = many->log_ratio(wide_train.view());
    const std::vector<double> c = sparse->log_ratio(wide_train.view());
    for (std::size_t i = 0; i < a.size(); ++i) {
      EXPECT_NEAR(a[i], b[i], 1e-8) << lambda;
      EXPECT_NEAR(a[i], c[i], 1e-8) << lambda;
    }
  };
  for (const double lambda : {1e-6, 1e-2}) compare(150, lambda);
  for (const double lambda : {1e-4, 1e-2}) compare(90, lambda);
}

TEST(Logistic, PaperLambda) {
  // D2 = 3 (second column, over both samples), m = 8 training rows.
  const Matrix train = dense(8, 2, {0, 1, 0, 1, 0, 1, 1, 2, 0, 1, 0, 1, 0, 1, 1, 2});
  const Matrix target = dense(2, 2, {1, 4, 0, 3});
  const double expected =
      3 * (1 + (2 + std::sqrt(2.0)) * std::sqrt(std::log(1 / 0.05))) / std::sqrt(2 * 8.0);
  RatioOptions options;
  options.lambda = RatioLambda::parse("paper");
  const auto ratio = fit_ratio(options, train.view(), target.view());
  EXPECT_DOUBLE_EQ(as_logistic(*ratio).lambda(), expected);
  EXPECT_EQ(ratio->report()["rule"], "paper");
  const double excess =
      3 * (std::sqrt(2.0) + 2 * (1 + std::sqrt(2.0)) * std::sqrt(std::log(20.0))) / std::sqrt(8.0);
  EXPECT_DOUBLE_EQ(ratio->report()["excess_per_norm"].get<double>(), excess);
  // What a sparse matrix does not store counts as zero: column 1 ranges from 0 to 4.
  const Matrix holes = dense(2, 2, {0, 0, 1, 1});
  const auto sparse = fit_ratio(options, to_sparse(holes).view(), to_sparse(target).view());
  EXPECT_DOUBLE_EQ(as_logistic(*sparse).lambda(),
                   expected * 4 / 3 * std::sqrt(8.0) / std::sqrt(2.0));
}

TEST(Logistic, LambdaHasTheLikeliestHeldOutRows) {
  RatioOptions options;
  options.lambda = RatioLambda::parse("cv");
  // A strong shift wants little regularisation, none wants much.
  const Matrix train = normals(300, 5, 0.0, 1.0, 12);
  const auto shifted = fit_ratio(options, train.view(), normals(300, 5, 1.0, 1.0, 13).view());
  const auto same = fit_ratio(options, train.view(), normals(300, 5, 0.0, 1.0, 14).view());
  EXPECT_LT(as_logistic(*shifted).lambda(), 0.05);
  EXPECT_GT(as_logistic(*same).lambda(), 0.05);
  EXPECT_EQ(shifted->report()["rule"], "cv");
  double best = -1e9;
  double chosen = 0;
  for (const auto& score : shifted->report()["scores"]) {
    EXPECT_GT(score["standard_error"].get<double>(), 0);
    if (score["log_likelihood"].get<double>() > best) {
      best = score["log_likelihood"];
      chosen = score["lambda"];
    }
  }
  EXPECT_NEAR(std::log10(chosen), std::log10(as_logistic(*shifted).lambda()), 0.5);
  EXPECT_GT(best, -std::log(2.0));
  EXPECT_GT(shifted->report()["held_out_gain"].get<double>(), 0.2);
  EXPECT_LT(same->report()["held_out_gain"].get<double>(), 0.01);
}

/// Every row left out in turn, by a fit of the others under the same penalty in all.
TEST(Logistic, ScoresAreThoseOfLeavingOut) {
  const Matrix train = normals(40, 3, 0.0, 1.0, 41);
  const Matrix target = normals(30, 3, 0.8, 1.0, 42);
  RatioOptions options;
  options.lambda = RatioLambda::parse("cv");
  const auto ratio = fit_ratio(options, train.view(), target.view());
  const auto without = [](const Matrix& m, std::size_t i) {
    std::vector<double> values(m.values.begin(), m.values.end());
    const auto from = values.begin() + static_cast<std::ptrdiff_t>(i * m.cols);
    values.erase(from, from + static_cast<std::ptrdiff_t>(m.cols));
    return dense(m.rows - 1, m.cols, std::move(values));
  };
  for (const std::size_t point : {4U, 6U, 8U}) {  // lambda 0.1, 0.01, 0.001
    const auto& score = ratio->report()["scores"].at(point);
    const double lambda = score["lambda"].get<double>() * 70 / 69;
    double sum = 0;
    for (std::size_t i = 0; i < 70; ++i) {
      const bool is_target = i >= 40;
      const Matrix some_train = is_target ? train : without(train, i);
      const Matrix some_target = is_target ? without(target, i - 40) : target;
      const auto fit = fit_ratio(logistic_with(lambda), some_train.view(), some_target.view());
      const LogisticRatio& l = as_logistic(*fit);
      const double* x = (is_target ? target : train).values.data() + (is_target ? i - 40 : i) * 3;
      double odds = l.intercept() - std::log(static_cast<double>(some_train.rows) /
                                             static_cast<double>(some_target.rows));
      for (std::size_t j = 0; j < 3; ++j) odds += l.weights()[j] * x[j];
      sum -= std::log1p(std::exp(is_target ? -odds : odds)) / 70;
    }
    EXPECT_NEAR(score["log_likelihood"].get<double>(), sum, 4e-3) << lambda;
  }
}

TEST(Logistic, ChoiceIsSteady) {
  for (const std::size_t columns : {6U, 520U}) {  // by leaving out, and by folds
    const std::size_t rows = columns > 500 ? 60 : 150;
    const Matrix train = normals(rows, columns, 0.0, 0.3, 51);
    const Matrix target = normals(rows, columns, 0.1, 0.4, 52);
    const auto changed = [](Matrix m, const std::function<double(double, Random&)>& change) {
      Random random(53);
      for (double& v : m.values) v = change(v, random);
      return m;
    };
    const auto reversed = [](Matrix m) {
      for (std::size_t i = 0; i < m.rows; ++i) {
        std::reverse(m.values.data() + i * m.cols, m.values.data() + (i + 1) * m.cols);
      }
      return m;
    };
    const RatioOptions options;
    const auto plain = fit_ratio(options, train.view(), target.view());
    const std::vector<double> expected = plain->log_ratio(target.view());
    const auto expect_same = [&](const Matrix& a, const Matrix& b, const char* what) {
      const std::vector<double> log_ratio =
          fit_ratio(options, a.view(), b.view())->log_ratio(b.view());
      for (std::size_t i = 0; i < expected.size(); ++i) {
        EXPECT_NEAR(log_ratio[i], expected[i], 1e-3) << what << ' ' << columns;
      }
    };
    const auto jitter = [](double v, Random& random) { return v + 1e-7 * random.normal(); };
    const auto single = [](double v, Random&) {
      return static_cast<double>(static_cast<float>(v));
    };
    expect_same(changed(train, jitter), changed(target, jitter), "jitter");
    expect_same(changed(train, single), changed(target, single), "float");
    expect_same(reversed(train), reversed(target), "columns");
    EXPECT_EQ(plain->report()["held_out"], columns > 500 ? "folds" : "leave-one-out");
  }
}

TEST(Logistic, ManyRowsChooseOnASample) {
  const Matrix train = normals(30000, 2, 0.0, 1.0, 61);
  const Matrix target = normals(30000, 2, 0.3, 1.0, 62);
  RatioOptions options;
  options.lambda = RatioLambda::parse("cv");
  const auto ratio = fit_ratio(options, train.view(), target.view());
  EXPECT_LE(ratio->report()["rows"].get<std::size_t>(), 20000);
  EXPECT_NEAR(as_logistic(*ratio).weights()[0], 0.3, 0.03);
}

TEST(Logistic, TimeLimitEndsTheChoiceNotTheFit) {
  RatioOptions options;
  options.time_limit = 1e-9;
  const auto ratio =
      fit_ratio(options, normals(200, 3, 0, 1, 1).view(), normals(200, 3, 1, 1, 2).view());
  EXPECT_EQ(ratio->report()["scores"].size(), 1);
  EXPECT_THAT(ratio->report()["notes"].at(0).get<std::string>(),
              ::testing::HasSubstr("time limit"));
}

TEST(Logistic, CancellingEndsTheChoice) {
  const Matrix train = normals(200, 3, 0, 1, 1);
  const Matrix target = normals(200, 3, 1, 1, 2);
  RatioOptions options;
  std::atomic<int> asked = 0;
  options.cancelled = [&] {
    ++asked;
    return false;
  };
  (void)fit_ratio(options, train.view(), target.view());
  const int all = asked;
  ASSERT_GT(all, 20);  // on every point of the path
  asked = 0;
  options.cancelled = [&] { return ++asked > all / 2; };
  (void)message_of([&] { (void)fit_ratio(options, train.view(), target.view()); },
                   Error::Kind::stopped);
  EXPECT_LE(asked, all / 2 + 2);
}

// Samples that can be told apart: cross validation lets a few rows carry all the weight, the rule
// stable does not; where nothing is extreme the two agree.
TEST(Logistic, StableLeavesAnEffectiveSample) {
  for (const double apart : {3.0, 0.3}) {
    const Matrix train = normals(120, 2, 0, 1, 31);
    const Matrix target = normals(100, 2, apart, 1, 32);
    RatioOptions options;
    options.lambda.rule = RatioLambda::Rule::cv;
    const auto cv = fit_ratio(options, train.view(), target.view());
    options.lambda = RatioLambda::parse("stable");
    const auto stable = fit_ratio(options, train.view(), target.view());
    const double before = effective_sample_size(cv->log_ratio(train.view()));
    const double after = effective_sample_size(stable->log_ratio(train.view()));
    if (apart == 3.0) {
      EXPECT_LT(before, 20);
      EXPECT_GE(after, 60);
      EXPECT_LT(after, 100) << "no more regularisation than needed";
    } else {
      EXPECT_GE(before, 60);
      EXPECT_EQ(stable->log_ratio(train.view()), cv->log_ratio(train.view()));
    }
    EXPECT_EQ(stable->report()["rule"], "stable");
  }
  EXPECT_EQ(stable_floor(100), 50);
  EXPECT_EQ(stable_floor(1e6), 100);
}

TEST(Logistic, LargeSparse) {
  Random random(15);
  const auto sample = [&](std::size_t rows, std::size_t favourite) {
    Matrix m;
    m.rows = rows;
    m.cols = 20000;
    m.sparse = true;
    m.offsets = {0};
    for (std::size_t i = 0; i < rows; ++i) {
      for (int k = 0; k < 20; ++k) {
        m.columns.push_back(
            static_cast<std::int32_t>(k < 2 ? favourite + random.below(5) : random.below(m.cols)));
        m.values.push_back(1.0);
      }
      m.offsets.push_back(static_cast<std::int64_t>(m.values.size()));
    }
    return m;
  };
  const Matrix train = sample(3000, 0);
  const Matrix target = sample(2000, 3);
  const auto ratio = fit_ratio(logistic_with(1e-3), train.view(), target.view());
  const LogisticRatio& fitted = as_logistic(*ratio);
  EXPECT_LT(fitted.weights()[0], -0.3);
  EXPECT_GT(fitted.weights()[7], 0.3);
  EXPECT_LT(ratio->report()["gap"].get<double>(), 1e-9);
}

}  // namespace
}  // namespace covshift::testing
