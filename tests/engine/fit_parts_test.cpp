#include "covshift/engine/fit_parts.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <mutex>
#include <nlohmann/json.hpp>

#include "covshift/base/error.hpp"
#include "covshift/base/random.hpp"
#include "covshift/data/rows.hpp"
#include "tests/engine/support.hpp"

namespace covshift {
namespace {

using test::Meeting;

/// Two samples under a shift of the first columns; `levels`: columns of few values, so that rows
/// repeat, as categories do.
struct Made {
  Made(std::size_t rows, std::size_t target_rows, std::size_t cols, int k, bool as_sparse,
       bool levels, bool weighted, unsigned long long seed)
      : classes(k) {
    Random random(seed);
    const auto fill = [&](Matrix& x, std::size_t n, double mean, bool labelled) {
      x.rows = n;
      x.cols = cols;
      x.sparse = as_sparse;
      if (as_sparse) x.offsets.push_back(0);
      for (std::size_t i = 0; i < n; ++i) {
        double score = 0;
        for (std::size_t j = 0; j < cols; ++j) {
          double v = random.normal() + (j < 2 ? mean : 0);
          if (levels) v = static_cast<double>(std::lround(std::clamp(v, -1.0, 1.0)));
          if (as_sparse && random.uniform() < 0.5) v = 0;
          score += j % 2 == 0 ? v : -0.5 * v;
          if (!as_sparse) {
            x.values.push_back(v);
          } else if (v != 0) {
            x.values.push_back(v);
            x.columns.push_back(static_cast<std::int32_t>(j));
          }
        }
        if (as_sparse) x.offsets.push_back(static_cast<std::int64_t>(x.values.size()));
        if (!labelled) continue;
        score += random.normal();
        labels.push_back(std::clamp(static_cast<int>(std::floor(score + k / 2.0)), 0, k - 1));
        if (weighted) weight.push_back(static_cast<double>(random.below(3)));
      }
    };
    fill(train, rows, 0, true);
    fill(target, target_rows, 0.7, false);
    views.names = {"a", "b"};
    views.columns.resize(2);
    views.maps.resize(2);
    for (std::size_t j = 0; j < cols; ++j) {
      views.columns[j < 2 ? 0 : 1].push_back(static_cast<std::int32_t>(j));
    }
  }

  /// Rows [first, last) and target rows [target_first, target_last).
  struct Part {
    TrainingData data;
    MatrixView target;
  };
  void part(std::size_t first, std::size_t last, std::size_t target_first, std::size_t target_last,
            bool with_target, Part& out) const {
    out.data.features = slice(train.view(), first, last - first);
    out.data.labels = std::span(labels).subspan(first, last - first);
    out.data.classes = classes;
    if (!weight.empty()) out.data.sample_weight = std::span(weight).subspan(first, last - first);
    out.data.given_train = given(train_density, first, last - first);
    out.data.given_target = given(target_density, target_first, target_last - target_first);
    out.data.views = views;
    out.target = slice(target.view(), target_first, target_last - target_first);
    if (with_target) out.data.target = &out.target;
  }

  /// Densities of the target, up to noise: of all columns (or none), and of the first view or of
  /// both.
  void give_densities(bool joint, std::size_t views_given) {
    const auto make = [&](const Matrix& x, Density& density) {
      Random random(x.rows);
      density.views.resize(views_given);
      for (std::size_t i = 0; i < x.rows; ++i) {
        const double* row = x.values.data() + i * x.cols;
        const double shifted = 0.7 * (row[0] + row[1]) - 0.49 + 0.1 * random.normal();
        if (joint) density.joint.push_back(shifted);
        if (views_given > 0) density.views[0].push_back(shifted);
        if (views_given > 1) density.views[1].push_back(0.05 * random.normal());
      }
    };
    make(train, train_density);
    make(target, target_density);
  }

  struct Density {
    std::vector<double> joint;
    std::vector<std::vector<double>> views;
  };
  /// As the rows of a file are: without rows nothing is known of densities.
  [[nodiscard]] GivenDensities given(const Density& density, std::size_t first,
                                     std::size_t n) const {
    GivenDensities own;
    if (n == 0) return own;
    if (!density.joint.empty()) own.log_ratio = std::span(density.joint).subspan(first, n);
    if (density.views.empty()) return own;
    own.views.resize(views.names.size());
    for (std::size_t v = 0; v < density.views.size(); ++v) {
      own.views[v].log_ratio = std::span(density.views[v]).subspan(first, n);
    }
    return own;
  }

  Matrix train, target;
  Density train_density, target_density;
  std::vector<int> labels;
  std::vector<double> weight;
  int classes;
  Views views;
};

/// Places to cut n rows at: uneven, with empty parts among 4 or more.
std::vector<std::size_t> cuts(std::size_t n, std::size_t parts) {
  std::vector<std::size_t> at = {0};
  for (std::size_t p = 1; p < parts; ++p) {
    at.push_back(parts >= 4 && p == 2 ? at.back() : n * p * p / (parts * parts));
  }
  at.push_back(n);
  return at;
}

std::vector<Classifier> apart(const Made& made, const FitOptions& options, std::size_t parts,
                              const PartsOptions& how, bool with_target = true) {
  const std::vector<std::size_t> at = cuts(made.train.rows, parts);
  std::vector<std::size_t> target_at = cuts(made.target.rows, parts);
  if (parts == 7) target_at[1] = 0;  // rows to learn from, and none of the target
  Meeting meeting(parts);
  std::vector<std::optional<Classifier>> found(parts);
  meeting.run([&](const Reducer& reducer) {
    const std::size_t h = reducer.holder();
    Made::Part part;
    made.part(at[h], at[h + 1], target_at[h], target_at[h + 1], with_target, part);
    found[h] = fit_parts(part.data, options, reducer, how);
  });
  std::vector<Classifier> models;
  for (auto& model : found) models.push_back(std::move(*model));
  return models;
}

Classifier together(const Made& made, const FitOptions& options, bool with_target = true) {
  Made::Part part;
  made.part(0, made.train.rows, 0, made.target.rows, with_target, part);
  return Classifier::fit(part.data, options);
}

constexpr std::array every_loss = {"log",      "zero-one", "hinge",
                                   "absolute", "squared",  "abstain:0.3"};
constexpr std::array every_assumption = {"none", "train", "test", "views", "overlap", "temper:0.5"};

FitOptions tight(const std::string& loss, const std::string& generalize) {
  FitOptions options;
  options.method = loss != "hinge" ? "auto" : generalize == "none" ? "svm" : "iw-svm";
  options.loss = loss;
  options.generalize = parse_assumption(generalize);
  options.features = "linear";
  // A gap of e leaves probabilities open by about the root of e.
  options.solve.tolerance = 1e-13;
  options.solve.threads = 1;
  options.folds = 3;
  return options;
}

double largest_difference(const std::vector<double>& a, const std::vector<double>& b) {
  EXPECT_EQ(a.size(), b.size());
  double largest = 0;
  for (std::size_t i = 0; i < a.size(); ++i) largest = std::max(largest, std::abs(a[i] - b[i]));
  return largest;
}

void expect_same(const Classifier& one, const Classifier& other, const MatrixView& x,
                 const std::string& what) {
  const Solution& a = one.report().solution;
  const Solution& b = other.report().solution;
  EXPECT_NEAR(a.objective, b.objective, 1e-9 * std::max(1.0, std::abs(a.objective))) << what;
  EXPECT_EQ(b.status, Status::converged) << what;
  EXPECT_LE(b.gap, 1e-13 * std::max(1.0, std::abs(b.objective))) << what;
  const Predictions p = one.predict(x);
  const Predictions q = other.predict(x);
  if (one.game().label_costs()) {  // the hinge predicts 0 or 1, which ties of potentials decide
    EXPECT_LT(largest_difference(p.psi, q.psi), 1e-5) << what;
  } else {
    EXPECT_LT(largest_difference(p.p, q.p), 1e-6) << what;
  }
}

TEST(FitParts, IsTheFitToAllRowsForEveryAssumptionAndLoss) {
  const Made made(260, 140, 4, 3, false, false, true, 1);
  for (const char* loss : every_loss) {
    for (const char* generalize : every_assumption) {
      const FitOptions options = tight(loss, generalize);
      const Classifier whole = together(made, options);
      for (const std::size_t parts : {1, 2, 4, 7}) {
        const std::string what = fmt::format("{} {} {}", loss, generalize, parts);
        const std::vector<Classifier> models = apart(made, options, parts, {});
        expect_same(whole, models[0], made.target.view(), what);
        for (const Classifier& other : models) {
          EXPECT_EQ(other.to_json(), models[0].to_json()) << what;
        }
        const Certificate& a = whole.certificate();
        const Certificate& b = models[0].certificate();
        ASSERT_EQ(a.bound.has_value(), b.bound.has_value()) << what;
        if (a.bound) {
          EXPECT_NEAR(*a.bound, *b.bound, 1e-6) << what;
        }
        if (a.target_value) {
          EXPECT_NEAR(*a.target_value, *b.target_value, 1e-6) << what;
        }
        EXPECT_NEAR(a.finite_sample, b.finite_sample, 1e-9 * a.finite_sample) << what;
      }
    }
  }
}

TEST(FitParts, SparseRowsAndRowsThatRepeat) {
  for (const bool sparse : {false, true}) {
    const Made made(300, 200, 6, 2, sparse, true, false, 2);
    for (const char* loss : every_loss) {
      for (const char* generalize : every_assumption) {
        const FitOptions options = tight(loss, generalize);
        const Classifier whole = together(made, options);
        const bool everywhere =
            std::string_view(generalize) == "views" && std::string_view(loss) != "squared";
        std::vector<std::size_t> counts;
        if (everywhere) counts = {1, 2, 4, 7};
        if (sparse && !everywhere) counts = {4};  // the dense test has all; sanitizers are slow
        for (const std::size_t parts : counts) {
          const std::string what = fmt::format("{} {} {} {}", sparse, loss, generalize, parts);
          expect_same(whole, apart(made, options, parts, {})[0], made.target.view(), what);
        }
      }
    }
  }
}

TEST(FitParts, TheDefaultAndItsMaps) {
  const Made made(220, 160, 3, 2, false, false, false, 3);
  FitOptions options;
  options.solve.tolerance = 1e-13;
  const Classifier whole = together(made, options);
  const std::vector<Classifier> models = apart(made, options, 4, {});
  expect_same(whole, models[0], made.target.view(), "auto");
  ASSERT_EQ(whole.components().size(), models[0].components().size());
  EXPECT_EQ(whole.report().choice, models[0].report().choice);
  EXPECT_EQ(models[0].report().parts->parts, 4U);
  EXPECT_EQ(models[0].report().parts->sample_rows, 220U);
  EXPECT_GT(models[0].report().parts->passes, 5U);
  // Without a target, too.
  expect_same(together(made, options, false), apart(made, options, 4, {}, false)[0],
              made.target.view(), "no target");
}

TEST(FitParts, EveryRatio) {
  const Made made(240, 180, 3, 2, false, false, true, 4);
  for (const RatioMethod method :
       {RatioMethod::gaussian, RatioMethod::quadratic, RatioMethod::ulsif, RatioMethod::none}) {
    for (const char* rule : {"stable", "cv", "paper", "0.02"}) {
      FitOptions options = tight("log", "train");
      options.promise = false;
      options.shift.ratio.method = method == RatioMethod::none ? RatioMethod::logistic : method;
      if (method != RatioMethod::none && std::string(rule) != "cv") continue;
      options.shift.ratio.lambda = RatioLambda::parse(rule);
      const Classifier whole = together(made, options);
      const std::vector<Classifier> models = apart(made, options, 4, {});
      expect_same(whole, models[0], made.target.view(),
                  to_string(method).data() + std::string(rule));
      const nlohmann::json& a = whole.shift().joint()->report();
      const nlohmann::json& b = models[0].shift().joint()->report();
      for (const char* number : {"mean_weight", "effective_sample_size"}) {
        EXPECT_NEAR(a[number].get<double>(), b[number].get<double>(),
                    1e-6 * a[number].get<double>());
      }
      EXPECT_EQ(b.contains("of_sample"),
                method == RatioMethod::quadratic || method == RatioMethod::ulsif);
    }
  }
}

/// The fit to all rows, by 2 and 7 holders, with all rows in the sample and with more.
void expect_same_apart(const Made& made, const FitOptions& options, const std::string& what) {
  const auto predicted = [&](const Classifier& model) {
    return model.predict(made.target.view(), made.given(made.target_density, 0, made.target.rows))
        .p;
  };
  const Classifier whole = together(made, options);
  for (const std::size_t sample : {20000, 100}) {
    for (const std::size_t parts : {2, 7}) {
      const std::string which = fmt::format("{} {} {}", what, sample, parts);
      const Classifier found = apart(made, options, parts, {"test", sample, 50})[0];
      const double a = whole.report().solution.objective;
      EXPECT_NEAR(a, found.report().solution.objective, 1e-9 * std::max(1.0, a)) << which;
      EXPECT_EQ(found.report().solution.status, Status::converged) << which;
      EXPECT_LT(largest_difference(predicted(whole), predicted(found)), 1e-6) << which;
    }
  }
}

FitOptions all_fixed(const std::string& loss, const std::string& generalize) {
  FitOptions options = tight(loss, generalize);
  options.promise = false;
  options.lambda = {LambdaChoice::Kind::fixed, 0.01};
  options.shift.ratio.lambda = RatioLambda::parse("0.003");
  return options;
}

TEST(FitParts, DensitiesThatAreGiven) {
  for (const bool joint : {true, false}) {
    for (const std::size_t views : {0, 1, 2}) {
      if (!joint && views == 0) continue;
      Made made(400, 200, 4, 2, false, false, false, 8);
      made.give_densities(joint, views);
      for (const char* generalize : {"train", "views"}) {
        FitOptions options = all_fixed("log", generalize);
        options.shift.given_ratio = joint;
        expect_same_apart(made, options, fmt::format("{} {} {}", joint, views, generalize));
      }
    }
  }
}

TEST(FitParts, ThePenaltyNorm) {
  const Made made(400, 200, 4, 3, false, false, true, 9);
  for (const char* loss : {"log", "zero-one"}) {
    FitOptions options = all_fixed(loss, "train");
    options.penalty = Penalty::norm;
    options.solve.tolerance = 1e-12;
    expect_same_apart(made, options, loss);
  }
}

TEST(FitParts, CostMatrices) {
  const Made made(400, 200, 4, 3, false, false, true, 10);
  for (const char* generalize : {"train", "views"}) {
    FitOptions options = all_fixed("", generalize);
    options.costs = CostMatrix{4, 3, {0, 1, 4, 2, 0, 1, 1, 3, 0, 0.7, 0.7, 0.7}};
    expect_same_apart(made, options, generalize);
  }
}

// What the sample decides is fixed here, so that sums over all rows must give the ordinary fit.
TEST(FitParts, MoreRowsThanTheSample) {
  const Made made(900, 500, 4, 3, false, false, true, 5);
  for (const char* loss : {"log", "zero-one"}) {
    for (const char* generalize : {"train", "views", "overlap"}) {
      FitOptions options = tight(loss, generalize);
      options.promise = false;
      options.lambda = {LambdaChoice::Kind::fixed, 0.01};
      options.shift.ratio.lambda = RatioLambda::parse("0.003");
      const Classifier whole = together(made, options);
      for (const std::size_t parts : {1, 2, 4, 7}) {
        const std::vector<Classifier> models = apart(made, options, parts, {"test", 100, 50});
        const std::string what = fmt::format("{} {} {}", loss, generalize, parts);
        expect_same(whole, models[0], made.target.view(), what);
        EXPECT_LE(models[0].report().parts->sample_rows, 110U);
        for (std::size_t v = 0; v < 2; ++v) {
          EXPECT_NEAR(whole.shift().views()[v].kl, models[0].shift().views()[v].kl, 1e-9) << what;
        }
      }
    }
  }
}

// Ratios of views are fitted in the passes of that of all columns.
TEST(FitParts, RatiosOfViewsShareTheirPasses) {
  Made one(3000, 2000, 6, 2, false, false, true, 11);
  Made three = one;
  one.views = Views::all(6);
  three.views = {{"a", "b", "c"}, {{0, 1}, {2, 3}, {4, 5}}, {"", "", ""}};
  FitOptions options = all_fixed("log", "train");
  const auto passes = [&](const Made& made) {
    return apart(made, options, 2, {"test", 100, 50})[0].report().parts->passes;
  };
  const std::size_t all_columns = passes(one);
  // One pass more for each view, for its KL.
  EXPECT_LE(passes(three), all_columns + 8);
}

TEST(FitParts, WhatTheSampleDecidesDoesNotDependOnTheParts) {
  const Made made(900, 500, 4, 3, false, false, false, 6);
  FitOptions options;
  options.solve.tolerance = 1e-13;
  const PartsOptions how{"test", 200, 100};
  const Classifier one = apart(made, options, 1, how)[0];
  EXPECT_EQ(one.report().parts->held_out_rows, 100U);
  EXPECT_EQ(one.report().parts->held_out_target_rows, 100U);
  for (const std::size_t parts : {2, 4, 7}) {
    const Classifier other = apart(made, options, parts, how)[0];
    expect_same(one, other, made.target.view(), fmt::format("{} parts", parts));
    ASSERT_EQ(one.certificate().bound.has_value(), other.certificate().bound.has_value());
    if (one.certificate().bound) {
      EXPECT_NEAR(*one.certificate().bound, *other.certificate().bound, 1e-6);
    }
    EXPECT_EQ(one.certificate().held_out, 100U);
  }
}

// The map is learned from the sample, at one holder, and all rows are mapped by it.
TEST(FitParts, ANamedMapOfMoreRowsThanTheSample) {
  const Made made(900, 500, 4, 2, false, false, true, 11);
  for (const char* generalize : {"train", "views"}) {
    FitOptions options = all_fixed("log", generalize);
    options.features = "nystroem:20";
    const PartsOptions how{"test", 200, 50};
    const Classifier one = apart(made, options, 1, how)[0];
    const std::vector<Classifier> models = apart(made, options, 2, how);
    expect_same(one, models[0], made.target.view(), generalize);
    EXPECT_EQ(models[1].to_json(), models[0].to_json()) << generalize;
    EXPECT_THAT(models[0].to_json().dump(), testing::HasSubstr("nystroem")) << generalize;
    EXPECT_EQ(models[0].report().parts->rows, 900U);
    EXPECT_LE(models[0].report().parts->sample_rows, 220U);
  }
}

// Rows that the promise rests on have no influence on the model.
TEST(FitParts, HeldOutRowsAreNotSeen) {
  Made made(900, 500, 4, 2, false, false, false, 7);
  FitOptions options = tight("log", "train");
  const PartsOptions how{"test", 200, 100};
  const Classifier before = apart(made, options, 2, how)[0];
  // A row that changes the model is one that it has seen; about a ninth must not.
  std::size_t unseen = 0;
  for (std::size_t i = 0; i < 45; ++i) {
    const std::size_t row = 20 * i + i % 20;
    int& label = made.labels[row];
    label = 1 - label;
    const Classifier after = apart(made, options, 2, how)[0];
    label = 1 - label;
    const bool same = after.components()[0].weights == before.components()[0].weights;
    unseen += same ? 1 : 0;
    if (same) {
      EXPECT_NE(after.certificate().estimate, before.certificate().estimate);
    }
  }
  EXPECT_GT(unseen, 0U);
  EXPECT_LT(unseen, 20U);
}

TEST(FitParts, ARareClassIsInTheSample) {
  Made made(4000, 200, 3, 2, false, false, false, 8);
  for (int& y : made.labels) y = 0;
  for (const std::size_t i : {17, 1200, 3999}) made.labels[i] = 1;
  FitOptions options = tight("log", "train");
  options.promise = false;
  options.lambda = {LambdaChoice::Kind::fixed, 0.01};
  options.shift.ratio.lambda = RatioLambda::parse("0.01");
  const Classifier model = apart(made, options, 4, {"test", 100, 0})[0];
  expect_same(together(made, options), model, made.target.view(), "rare");
}

std::string message_of(const std::function<void()>& f) {
  try {
    f();
  } catch (const Error& e) {
    return e.what();
  }
  return "no error";
}

TEST(FitParts, AnErrorOfOnePartIsThrownByAll) {
  Made made(100, 50, 3, 2, false, false, false, 9);
  const FitOptions options = tight("log", "train");
  made.train.values[3 * 60 + 1] = NAN;
  EXPECT_THAT(message_of([&] { apart(made, options, 2, {}); }),
              testing::HasSubstr("part 2 of 2: feature 2 of example"));
  made.train.values[3 * 60 + 1] = 0;
  for (int& y : made.labels) y = 0;
  EXPECT_THAT(message_of([&] { apart(made, options, 2, {}); }),
              testing::HasSubstr("only one class"));
  FitOptions all_rows = options;
  all_rows.held_out = true;
  EXPECT_THAT(message_of([&] { apart(made, all_rows, 2, {}); }),
              testing::HasSubstr("in one place"));
}

TEST(FitParts, PartsMustBeAlike) {
  const Made dense(100, 50, 3, 2, false, false, false, 10);
  const Made wide(100, 50, 4, 2, false, false, false, 10);
  const Made sparse(100, 50, 3, 2, true, false, false, 10);
  for (const Made* other : {&wide, &sparse}) {
    Meeting meeting(2);
    EXPECT_THAT(message_of([&] {
                  meeting.run([&](const Reducer& reducer) {
                    const Made& made = reducer.holder() == 0 ? dense : *other;
                    Made::Part part;
                    made.part(0, 100, 0, 50, true, part);
                    fit_parts(part.data, tight("log", "train"), reducer);
                  });
                }),
                testing::AnyOf(testing::HasSubstr("part 2 has 4 columns"),
                               testing::HasSubstr("part 2 is sparse, but part 1 is dense")));
  }
}

}  // namespace
}  // namespace covshift
