#include "covshift/shift/sampling.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "covshift/base/error.hpp"
#include "covshift/base/random.hpp"
#include "covshift/data/pca.hpp"
#include "covshift/data/rows.hpp"

namespace covshift {
namespace {

/// How to draw from one portion.
struct Portion {
  const char* name;
  std::size_t count;
  BiasedSampling::Interval a, b;
  bool replacement;
};

/// Rows of a portion, in proportion to the normal density along one principal component.
std::vector<std::size_t> draw(const MatrixView& x, const std::vector<std::size_t>& portion,
                              const Portion& options, Random& random, BiasedSample::Draw& draw) {
  if (portion.size() < 2) {
    fail_input(
        "the split leaves {} of {} rows for the {} sample, too few to draw from; split by another "
        "column (--feature)",
        portion.size(), x.rows, options.name);
  }
  const Matrix rows = take_rows(x, portion);
  draw.component = random.below(std::min(rows.rows, rows.cols));
  draw.a = random.uniform(options.a.low, options.a.high);
  draw.b = random.uniform(options.b.low, options.b.high);
  const Matrix projected = Pca::fit(rows.view(), draw.component + 1).transform(rows.view());
  const std::vector<double> m =
      take_column(projected.view(), static_cast<std::int32_t>(draw.component));
  const auto [low, high] = std::minmax_element(m.begin(), m.end());
  const double n = static_cast<double>(m.size());
  const double mean = std::accumulate(m.begin(), m.end(), 0.0) / n;
  double variance = 0;
  for (const double v : m) variance += (v - mean) * (v - mean) / n;
  draw.mu = *low + (*high - *low) / draw.a;
  draw.sigma = std::sqrt(variance) / draw.b;
  std::vector<double> weight(m.size(), 1.0);  // stays uniform if the component has no spread
  for (std::size_t i = 0; i < m.size() && draw.sigma > 0; ++i) {
    const double z = (m[i] - draw.mu) / draw.sigma;
    weight[i] = std::exp(-z * z / 2);
  }
  std::vector<std::size_t> drawn;
  while (drawn.size() < options.count) {
    const double total = std::accumulate(weight.begin(), weight.end(), 0.0);
    if (!(total > 0)) {
      fail_input("the {} portion has only {} rows to draw without replacement, not {}",
                 options.name, drawn.size(), options.count);
    }
    double left = random.uniform() * total;
    std::size_t i = 0;
    while (i + 1 < weight.size() && (left >= weight[i] || weight[i] == 0)) left -= weight[i++];
    while (weight[i] == 0) --i;  // rounding can end on a row that was already drawn
    drawn.push_back(portion[i]);
    if (!options.replacement) weight[i] = 0;
  }
  return drawn;
}

void check(const MatrixView& x, const BiasedSampling& options) {
  if (x.rows < 2 || x.cols == 0)
    fail_input("biased sampling needs at least two rows and one feature");
  if (options.feature >= static_cast<int>(x.cols)) {
    fail_input("there is no feature {}: the data have {}", options.feature + 1, x.cols);
  }
  BiasedSampling::quantiles.check("the split quantile", options.quantile);
  BiasedSampling::crossings.check("the crossing probability", options.crossing);
  for (const auto& range : {options.a, options.b, options.target_a.value_or(options.a),
                            options.target_b.value_or(options.b)}) {
    if (!(range.low > 0 && range.high >= range.low && std::isfinite(range.high))) {
      fail_input("the intervals of a and b must be positive and in order, not {} to {}", range.low,
                 range.high);
    }
  }
}

/// The value to split at. A value shared by many rows must not take up a whole portion: then the
/// next smaller one.
double split_threshold(std::vector<double> values, double quantile, int feature) {
  std::sort(values.begin(), values.end());
  const auto position =
      static_cast<std::size_t>(std::ceil(quantile * static_cast<double>(values.size())) - 1);
  const double threshold = values[std::min(position, values.size() - 1)];
  if (threshold < values.back()) return threshold;
  const auto below = std::lower_bound(values.begin(), values.end(), threshold);
  if (below == values.begin()) {
    fail_input("feature {} is constant: the data cannot be split by it", feature + 1);
  }
  return *(below - 1);
}

}  // namespace

BiasedSample biased_sample(const MatrixView& x, const BiasedSampling& options) {
  check(x, options);
  Random random(options.seed);
  BiasedSample sample;
  sample.feature = options.feature >= 0 ? options.feature : static_cast<int>(random.below(x.cols));
  const std::vector<double> values = take_column(x, sample.feature);
  sample.threshold = split_threshold(values, options.quantile, sample.feature);
  std::vector<std::size_t> train;
  std::vector<std::size_t> target;
  for (std::size_t i = 0; i < x.rows; ++i) {
    const bool crosses = options.crossing > 0 && random.uniform() < options.crossing;
    ((values[i] <= sample.threshold) != crosses ? train : target).push_back(i);
  }
  sample.train =
      draw(x, train, {"training", options.train, options.a, options.b, options.replacement}, random,
           sample.train_draw);
  sample.target = draw(x, target,
                       {"target", options.target, options.target_a.value_or(options.a),
                        options.target_b.value_or(options.b), options.replacement},
                       random, sample.target_draw);
  return sample;
}

}  // namespace covshift
