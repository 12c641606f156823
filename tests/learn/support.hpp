// What the tests of learn/ share: problems that own their memory, and the problem's formulas
// written down a second time, plainly and in long double.
#pragma once

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "covshift/base/error.hpp"
#include "covshift/base/random.hpp"
#include "covshift/learn/solve.hpp"

namespace covshift::testing {

/// Under a sanitizer, many times slower, the long loops over problems run on a few of them: what it
/// looks for does not depend on their numbers.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
inline constexpr bool sanitized = true;
#else
inline constexpr bool sanitized = false;
#endif

using Real = long double;

/// Five actions against three labels (or two more actions than labels), nothing symmetric.
inline CostMatrix rectangular(int labels) {
  CostMatrix c{labels + 2, labels, {}};
  Random random(99);
  for (int a = 0; a < c.actions; ++a) {
    for (int y = 0; y < labels; ++y) c.cost.push_back(a == y ? 0 : random.uniform(0.3, 2));
  }
  return c;
}

inline std::unique_ptr<Game> game_of(const std::string& loss, int labels) {
  return loss == "cost" ? cost_game(rectangular(labels)) : make_game(loss, labels);
}

inline const std::vector<std::string>& losses() {
  static const std::vector<std::string> all = {"log",         "zero-one",    "absolute", "squared",
                                               "abstain:0.3", "abstain:0.6", "cost",     "hinge"};
  return all;
}

/// A problem with its memory. Not copied: the problem looks into it.
struct Data {
  std::size_t m = 0;
  std::size_t d = 0;
  int k = 0;
  std::unique_ptr<Game> game;
  std::vector<double> x;
  std::vector<int> y;
  std::vector<double> weight, log_w, log_r;
  int scales = 1;
  std::vector<int> scale_of;
  int scale_of_bias = 0;
  double lambda = 0.01;
  bool bias = true;
  bool penalise_bias = true;

  [[nodiscard]] Problem problem() const {
    Problem p;
    p.game = game.get();
    p.features = MatrixView::dense(x.data(), m, d);
    p.labels = y;
    p.lambda = lambda;
    p.bias = bias;
    p.penalise_bias = penalise_bias;
    p.sample_weight = weight;
    p.log_weight = log_w;
    p.log_scale = log_r;
    p.scales = scales;
    p.scale_of_column = scale_of;
    p.scale_of_bias = scale_of_bias;
    return p;
  }
  [[nodiscard]] std::size_t dims() const { return d + (bias ? 1 : 0); }
  /// Whether parameter j, of feature j / k, is part of the penalty.
  [[nodiscard]] bool penalised(std::size_t j) const {
    return penalise_bias || j / static_cast<std::size_t>(k) < d;
  }
  [[nodiscard]] std::size_t parameters() const { return dims() * static_cast<std::size_t>(k); }
};

enum class Weights { none, w_only, shift };

/// Classes as noisy clouds in the unit cube, as the paper's data after scaling.
inline Data make_data(const std::string& loss, std::size_t m, std::size_t d, int k, double lambda,
                      Weights weights = Weights::none, std::uint64_t seed = 1) {
  Data data;
  data.m = m;
  data.d = d;
  data.k = k;
  data.game = game_of(loss, k);
  data.lambda = lambda;
  Random random(seed * 1000 + m + 7 * d + 31 * k);
  for (std::size_t i = 0; i < m; ++i) {
    data.y.push_back(static_cast<int>(random.below(k)));
    for (std::size_t j = 0; j < d; ++j) {
      const double centre = static_cast<double>(data.y[i] * (j + 1) % k) / k;
      data.x.push_back(centre + 0.5 * random.normal());
    }
  }
  for (std::size_t i = 0; i < m && weights != Weights::none; ++i) {
    const double log_w = random.uniform(-10, 10);
    data.log_w.push_back(log_w);
    if (weights == Weights::shift) data.log_r.push_back(-log_w);
  }
  return data;
}

/// Several views: a scale for each, every third column under each, the bias under the last.
inline void add_views(Data& data, int scales, double spread, std::uint64_t seed = 5) {
  Random random(seed);
  data.scales = scales;
  data.scale_of_bias = scales - 1;
  data.log_w.clear();
  data.log_r.clear();
  data.scale_of.clear();
  for (std::size_t i = 0; i < data.m; ++i) {
    data.log_w.push_back(random.uniform(-spread, spread));
    for (int v = 0; v < scales; ++v) data.log_r.push_back(random.uniform(-spread, spread));
  }
  for (std::size_t j = 0; j < data.d; ++j) {
    data.scale_of.push_back(static_cast<int>(j) % scales);
  }
}

inline std::vector<double> random_weights(const Data& data, double size, std::uint64_t seed) {
  Random random(seed);
  std::vector<double> t(data.parameters());
  for (double& v : t) v = size * random.normal();
  return t;
}

struct Naive {
  Real objective = 0;
  Real dual = 0;
  Real margin = 0;  // the smallest of all examples: how far V is from a kink
  std::vector<Real> gradient;
};

/// F(T), its gradient and D(q) straight from the formulas, with w and r as they are.
Naive naive(const Data& data, const std::vector<double>& t);
/// D(q) for any adversaries, m x K.
Real naive_dual(const Data& data, const std::vector<double>& q);

inline double relative_gap(const Solution& s) {
  return s.gap / std::max(1.0, std::abs(s.objective));
}

/// Converged to `tolerance`, with a certificate that holds water. (A macro would say the line.)
inline void expect_solved(const Solution& s, const std::string& what, double tolerance = 1e-6) {
  EXPECT_EQ(to_string(s.status), "converged")
      << what << ": gap " << s.gap << " of " << s.objective << " after " << s.iterations;
  EXPECT_LE(relative_gap(s), tolerance) << what;
  EXPECT_GE(s.gap, 0) << what;
  EXPECT_NEAR(s.dual, s.objective - s.gap, 1e-12 * std::max(1.0, std::abs(s.objective))) << what;
  for (const double w : s.weights) ASSERT_TRUE(std::isfinite(w)) << what;
}

/// Two certified answers to the same problem: their optimum lies within both gaps.
inline void expect_same_optimum(const Solution& a, const Solution& b, const std::string& what) {
  const double rounding = 1e-12 * std::max(1.0, std::abs(a.objective));
  EXPECT_LE(a.dual, b.objective + rounding) << what;
  EXPECT_LE(b.dual, a.objective + rounding) << what;
}

/// ||T - T*||^2 <= gap / lambda by strong convexity: how far two solutions may be apart.
inline void expect_same_weights(const std::vector<double>& a, const std::vector<double>& b,
                                double relative, const std::string& what) {
  ASSERT_EQ(a.size(), b.size()) << what;
  double norm = 0;
  double apart = 0;
  for (std::size_t j = 0; j < a.size(); ++j) {
    norm = std::max({norm, std::abs(a[j]), std::abs(b[j])});
    apart = std::max(apart, std::abs(a[j] - b[j]));
  }
  EXPECT_LE(apart, relative * std::max(norm, 1e-3)) << what << ": norm " << norm;
}

inline SolveOptions with(Solver solver, double tolerance = 1e-6) {
  SolveOptions o;
  o.solver = solver;
  o.tolerance = tolerance;
  return o;
}

inline std::string message_of(const Problem& p, const SolveOptions& o = {}) {
  try {
    solve(p, o);
  } catch (const Error& e) {
    return e.what();
  }
  return "";
}

}  // namespace covshift::testing
