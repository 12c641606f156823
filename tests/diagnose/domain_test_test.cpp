// The test for shift: false alarms and power.
#include "covshift/diagnose/domain_test.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <numeric>

#include "tests/diagnose/support.hpp"

namespace covshift {
namespace {

using test::diagnosed;
using test::normal;
using test::sample;
using test::sanitized;

constexpr int draws = sanitized ? 40 : 200;

/// The count that a binomial with this probability exceeds in one of 2000 cases.
int binomial_limit(int n, double chance) {
  double log_term = n * std::log1p(-chance);
  double below = 0;
  for (int k = 0;; ++k) {
    below += std::exp(log_term);
    if (below > 1 - 5e-4) return k;
    log_term += std::log((n - k) / (k + 1.0)) + std::log(chance / (1 - chance));
  }
}

struct Setting {
  const char* name;
  std::size_t n, m, cols;
  std::function<double(Random&, std::size_t)> entry;
};

void PrintTo(const Setting& setting, std::ostream* out) { *out << setting.name; }

class FalseAlarms : public testing::TestWithParam<Setting> {};

DomainTest test_only(const Matrix& train, const Matrix& target, std::uint64_t seed,
                     int permutations = 99) {
  const Rows a(train.view(), {});
  const Rows b(target.view(), {});
  // Pooled moments, as in diagnose.
  Matrix both = train;
  both.rows += target.rows;
  both.values.insert(both.values.end(), target.values.begin(), target.values.end());
  const ColumnMoments moments = column_moments(both.view());
  std::vector<double> deviation;
  for (const double v : moments.variance) deviation.push_back(std::sqrt(v));
  DiagnoseOptions options;
  options.permutations = permutations;
  options.seed = seed;
  options.threads = 1;
  return domain_test(a, b, RowSpace(moments.mean, deviation, seed), options).test;
}

TEST_P(FalseAlarms, AreAtTheNominalLevelWithoutShift) {
  const Setting& s = GetParam();
  Random random(7);
  int alarms = 0;
  int strong_alarms = 0;
  double sum = 0;
  for (int draw = 0; draw < draws; ++draw) {
    const Matrix train = sample(random, s.n, s.cols, s.entry);
    const Matrix target = sample(random, s.m, s.cols, s.entry);
    const double p = test_only(train, target, static_cast<std::uint64_t>(draw)).p_value;
    EXPECT_GT(p, 0);
    EXPECT_LE(p, 1);
    alarms += p <= 0.05 ? 1 : 0;
    strong_alarms += p <= 0.2 ? 1 : 0;
    sum += p;
  }
  RecordProperty("alarms", alarms);
  EXPECT_LE(alarms, binomial_limit(draws, 0.05));
  EXPECT_LE(strong_alarms, binomial_limit(draws, 0.2));
  // It is not too conservative either: uniform p-values (with ties, a little larger) average 1/2.
  EXPECT_NEAR(sum / draws, 0.52, sanitized ? 0.2 : 0.09);
}

INSTANTIATE_TEST_SUITE_P(
    Samples, FalseAlarms,
    testing::Values(
        Setting{"normal", 100, 100, 5, [](Random& r, std::size_t) { return r.normal(); }},
        Setting{"unequal", 30, 300, 4, [](Random& r, std::size_t) { return r.normal(); }},
        Setting{"small", 8, 12, 3, [](Random& r, std::size_t) { return r.normal(); }},
        Setting{"wide", 40, 40, 60, [](Random& r, std::size_t) { return r.normal(); }},
        Setting{"heavy", 80, 60, 3,
                [](Random& r, std::size_t) { return std::tan(3.14 * (r.uniform() - 0.5)); }},
        // Nearly all rows are duplicates of others: folds that spread equal rows evenly would agree
        // with each other more than by chance and give false alarms.
        Setting{"binary", 60, 90, 2,
                [](Random& r, std::size_t) { return r.uniform() < 0.3 ? 1.0 : 0.0; }},
        Setting{"discrete", 100, 50, 3,
                [](Random& r, std::size_t j) {
                  return j == 0 ? 0.0 : static_cast<double>(r.below(4));
                }}),
    [](const auto& setting) { return std::string(setting.param.name); });

struct Shifted {
  const char* name;
  std::size_t n, m;
  std::vector<double> shift;  ///< one for each column, in standard deviations
  std::function<void(Random&, const std::vector<double>& shift, double* row)> fill;
};

void PrintTo(const Shifted& setting, std::ostream* out) { *out << setting.name; }

class Power : public testing::TestWithParam<Shifted> {};

void independent(Random& random, const std::vector<double>& shift, double* row) {
  for (const double s : shift) *row++ = random.normal() + s;
}

/// Every column is the one before it and something new.
void walk(Random& random, const std::vector<double>& shift, double* row) {
  double sum = 0;
  for (const double s : shift) *row++ = sum += random.normal() + s;
}

void coins(Random& random, const std::vector<double>& shift, double* row) {
  for (const double s : shift) *row++ = random.uniform() < 0.5 + s / 2 ? 1 : 0;
}

std::vector<double> in_one(std::size_t cols) {
  std::vector<double> shift(cols, 0.0);
  shift[cols / 2] = DomainTest::planted_shift;
  return shift;
}

std::vector<double> in_all(std::size_t cols) {
  return std::vector<double>(cols,
                             DomainTest::planted_shift / std::sqrt(static_cast<double>(cols)));
}

TEST_P(Power, IsTheShareOfSuchShiftsThatAreFound) {
  const Shifted& s = GetParam();
  Random random(11);
  const std::vector<double> none(s.shift.size(), 0.0);
  const auto sample_of = [&](std::size_t rows, const std::vector<double>& shift) {
    Matrix x;
    x.rows = rows;
    x.cols = shift.size();
    x.values.resize(rows * x.cols);
    for (std::size_t i = 0; i < rows; ++i) s.fill(random, shift, x.values.data() + i * x.cols);
    return x;
  };
  constexpr int count = sanitized ? 10 : 60;
  double power = 0;
  int measured = 0;
  int found = 0;
  for (std::uint64_t draw = 0; draw < count; ++draw) {
    const Matrix train = sample_of(s.n, none);
    const DomainTest same = test_only(train, sample_of(s.m, none), draw);
    EXPECT_EQ(same.power.has_value(), same.p_value > 0.05);
    if (same.power) {
      power += *same.power;
      ++measured;
    }
    std::vector<double> shift = s.shift;  // up or down in each column: a random direction
    for (double& x : shift) x = random.below(2) == 0 ? x : -x;
    found += test_only(train, sample_of(s.m, shift), draw).p_value <= 0.05 ? 1 : 0;
  }
  RecordProperty("power", std::to_string(power / measured));
  RecordProperty("found", found);
  EXPECT_NEAR(power / measured, static_cast<double>(found) / count, sanitized ? 0.5 : 0.17);
}

INSTANTIATE_TEST_SUITE_P(Samples, Power,
                         testing::Values(Shifted{"tiny", 25, 25, in_one(2), independent},
                                         Shifted{"few", 100, 100, in_one(3), independent},
                                         Shifted{"unequal", 60, 400, in_all(10), independent},
                                         Shifted{"many", 200, 200, in_one(40), independent},
                                         Shifted{"more", 150, 150, in_all(70), independent},
                                         Shifted{"walk", 200, 150, in_all(30), walk},
                                         Shifted{"coins", 150, 150, in_all(20), coins},
                                         Shifted{"hashed", 300, 300, in_all(300), independent}),
                         [](const auto& setting) { return std::string(setting.param.name); });

TEST(Power, IsLittleWhereColumnsAreManyAndRowsFew) {
  Random random(12);
  double power = 0;
  for (std::uint64_t draw = 0; draw < 10; ++draw) {
    power += test_only(normal(random, 100, 500), normal(random, 100, 500), draw).power.value_or(0);
  }
  EXPECT_LT(power / 10, 0.2);
}

TEST(Power, IsThatOfTheLevelAsked) {
  Random random(13);
  const Matrix train = normal(random, 60, 4);
  const Matrix target = normal(random, 60, 4);
  DiagnoseOptions options;
  options.level = 0.01;
  const double strict = diagnosed(train, target, options).test.power.value_or(-1);
  options.level = 0.2;
  const double loose = diagnosed(train, target, options).test.power.value_or(-1);
  EXPECT_GE(strict, 0);
  EXPECT_LT(strict, loose);
}

TEST(DomainTest, DetectsAShiftOfTheMean) {
  Random random(3);
  int seen = 0;
  for (std::uint64_t draw = 0; draw < 20; ++draw) {
    const Matrix train = normal(random, 100, 5);
    Matrix target = normal(random, 100, 5);
    for (std::size_t i = 0; i < 100; ++i) target.values[5 * i + 2] += 0.8;
    seen += test_only(train, target, draw).p_value <= 0.05 ? 1 : 0;
  }
  EXPECT_GE(seen, 18);
}

TEST(DomainTest, DetectsAChangeOfSpread) {
  Random random(4);
  int seen = 0;
  for (std::uint64_t draw = 0; draw < 20; ++draw) {
    const Matrix train = normal(random, 150, 3);
    Matrix target = normal(random, 150, 3);
    for (std::size_t i = 0; i < 150; ++i) target.values[3 * i] *= 2;
    seen += test_only(train, target, draw).p_value <= 0.05 ? 1 : 0;
  }
  EXPECT_GE(seen, 18);
}

TEST(DomainTest, AucIsOneIfSamplesDoNotOverlap) {
  Random random(5);
  const Matrix train = normal(random, 60, 2);
  Matrix target = normal(random, 50, 2);
  for (double& v : target.values) v += 20;
  const DomainTest test = test_only(train, target, 0, 199);
  EXPECT_DOUBLE_EQ(test.auc, 1);
  EXPECT_DOUBLE_EQ(test.p_value, 1.0 / 200);
}

TEST(DomainTest, BatchesOfPermutationsGiveTheSame) {
  Random random(9);
  const Matrix train = normal(random, 40, 2);
  const Matrix target = normal(random, 40, 2);
  const DomainTest many = test_only(train, target, 1, 1300);
  EXPECT_EQ(many.permutations, 1300);
  // Areas of unfilled batches would be 0, smaller than that of the data.
  EXPECT_NEAR(many.p_value, test_only(train, target, 1, 499).p_value, 0.08);
  EXPECT_GT(many.p_value, 0.15);
}

TEST(DomainTest, EqualRowsAreNoShift) {
  const Matrix same{.rows = 20,
                    .cols = 2,
                    .sparse = false,
                    .values = LargeVector(40, 3.5),
                    .offsets = {},
                    .columns = {}};
  const DomainTest test = test_only(same, same, 0);
  EXPECT_DOUBLE_EQ(test.auc, 0.5);
  EXPECT_DOUBLE_EQ(test.p_value, 1);
}

TEST(DomainTest, PermutationsOfALargeSampleUseASubsample) {
  Random random(6);
  const Matrix train = normal(random, 700, 3);
  Matrix target = normal(random, 900, 3);
  for (std::size_t i = 0; i < 900; ++i) target.values[3 * i] += 1;
  DiagnoseOptions options;
  options.subsample = 200;
  const Diagnosis d = diagnosed(train, target, options);
  EXPECT_EQ(d.test.train_rows, 200U);
  EXPECT_EQ(d.test.target_rows, 200U);
  EXPECT_LE(d.test.p_value, 0.05);
  // The AUC is of all rows: that of two normals one deviation apart, Phi(1/sqrt 2).
  EXPECT_NEAR(d.test.auc, 0.760, 0.03);
}

TEST(DomainTest, WideSparseDataAreHashed) {
  // 5000 columns, three entries to a row; the target prefers the first half of the columns.
  Random random(8);
  const auto draw = [&](std::size_t rows, std::size_t reach) {
    Matrix x;
    x.rows = rows;
    x.cols = 5000;
    x.sparse = true;
    x.offsets.push_back(0);
    for (std::size_t i = 0; i < rows; ++i) {
      for (int e = 0; e < 3; ++e) {
        x.columns.push_back(static_cast<std::int32_t>(random.below(reach)));
        x.values.push_back(1);
      }
      x.offsets.push_back(static_cast<std::int64_t>(x.values.size()));
    }
    return x;
  };
  const Matrix train = draw(300, 5000);
  const Matrix same = draw(300, 5000);
  const Matrix target = draw(300, 40);
  Views all;
  all.names = {"all"};
  all.columns.emplace_back(5000);
  std::iota(all.columns[0].begin(), all.columns[0].end(), 0);
  all.maps.resize(1);
  const auto p = [&](const Matrix& to) {
    DiagnoseOptions options;
    options.ratio.lambda = {RatioLambda::Rule::value, 0.01};
    options.permutations = 49;
    return test::diagnosed(train, to, features_of(Encoder::of_columns(test::names(5000))), all,
                           options)
        .test.p_value;
  };
  EXPECT_LE(p(target), 0.05);
  EXPECT_GT(p(same), 0.02);
}

}  // namespace
}  // namespace covshift
