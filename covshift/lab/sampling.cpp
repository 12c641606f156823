#include "covshift/lab/sampling.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "covshift/base/error.hpp"
#include "covshift/base/random.hpp"
#include "covshift/data/pca.hpp"

namespace covshift {
namespace {

double at(const MatrixView& x, std::size_t row, std::size_t col) {
  return std::visit(
      [&](const auto& rows) {
        if constexpr (requires { rows.offsets; }) {
          double sum = 0;
          for (std::int64_t e = rows.offsets[row]; e < rows.offsets[row + 1]; ++e) {
            if (static_cast<std::size_t>(rows.columns[e]) == col) {
              sum += static_cast<double>(rows.values[e]);
            }
          }
          return sum;
        } else {
          return static_cast<double>(rows.data[row * rows.stride + col]);
        }
      },
      x.storage);
}

Matrix gather(const MatrixView& x, const std::vector<std::size_t>& rows) {
  Matrix out;
  out.rows = rows.size();
  out.cols = x.cols;
  out.values.reserve(rows.size() * x.cols);
  for (const std::size_t row : rows) {
    for (std::size_t j = 0; j < x.cols; ++j) out.values.push_back(at(x, row, j));
  }
  return out;
}

/// n rows of a portion, in proportion to the normal density of one principal component.
std::vector<std::size_t> draw(const MatrixView& x, const std::vector<std::size_t>& portion,
                              std::size_t n, const BiasedSampling& options, Random& random,
                              const char* what, BiasedSample::Draw& draw) {
  const Matrix rows = gather(x, portion);
  const std::size_t components = std::min(rows.rows, rows.cols);
  draw.component = random.below(components);
  draw.a = random.uniform(options.a_low, options.a_high);
  draw.b = random.uniform(options.b_low, options.b_high);
  const Matrix projected = Pca::fit(rows.view(), draw.component + 1).transform(rows.view());
  std::vector<double> m(portion.size());
  for (std::size_t i = 0; i < m.size(); ++i)
    m[i] = projected.values[i * projected.cols + draw.component];
  const auto [low, high] = std::minmax_element(m.begin(), m.end());
  const double count = static_cast<double>(m.size());
  const double mean = std::accumulate(m.begin(), m.end(), 0.0) / count;
  double variance = 0;
  for (const double v : m) variance += (v - mean) * (v - mean) / count;
  draw.mu = *low + (*high - *low) / draw.a;
  draw.sigma = std::sqrt(variance) / draw.b;
  std::vector<double> weight(m.size(), 1.0);  // of a component without spread every row is alike
  for (std::size_t i = 0; i < m.size() && draw.sigma > 0; ++i) {
    const double z = (m[i] - draw.mu) / draw.sigma;
    weight[i] = std::exp(-z * z / 2);
  }
  std::vector<std::size_t> drawn;
  for (std::size_t k = 0; k < n; ++k) {
    const double total = std::accumulate(weight.begin(), weight.end(), 0.0);
    if (!(total > 0)) {
      fail_input("the {} portion has only {} rows to draw without replacement, not {}", what, k, n);
    }
    double left = random.uniform() * total;
    std::size_t i = 0;
    while (i + 1 < weight.size() && (left >= weight[i] || weight[i] == 0)) left -= weight[i++];
    while (weight[i] == 0) --i;  // rounding at the far end
    drawn.push_back(portion[i]);
    if (!options.replacement) weight[i] = 0;
  }
  return drawn;
}

}  // namespace

BiasedSample biased_sample(const MatrixView& x, const BiasedSampling& options) {
  if (x.rows < 2 || x.cols == 0)
    fail_input("biased sampling needs at least two rows and a feature");
  if (options.feature >= static_cast<int>(x.cols)) {
    fail_input("there is no feature {}: the data have {}", options.feature + 1, x.cols);
  }
  if (!(options.quantile > 0 && options.quantile < 1)) {
    fail_input("the quantile to split at must lie in (0, 1), not {}", options.quantile);
  }
  if (!(options.a_low > 0 && options.a_high >= options.a_low) ||
      !(options.b_low > 0 && options.b_high >= options.b_low)) {
    fail_input("the intervals of a and b must be positive and in order");
  }
  if (!(options.crossing >= 0 && options.crossing < 1)) {
    fail_input("the probability of crossing the split must lie in [0, 1), not {}",
               options.crossing);
  }
  Random random(options.seed);
  BiasedSample sample;
  sample.feature = options.feature >= 0 ? options.feature : static_cast<int>(random.below(x.cols));
  std::vector<double> values(x.rows);
  for (std::size_t i = 0; i < x.rows; ++i) {
    values[i] = at(x, i, static_cast<std::size_t>(sample.feature));
  }
  std::vector<double> sorted = values;
  std::sort(sorted.begin(), sorted.end());
  const auto position =
      static_cast<std::size_t>(std::ceil(options.quantile * static_cast<double>(x.rows)) - 1);
  sample.threshold = sorted[std::min(position, x.rows - 1)];
  // A value shared by many rows must not swallow a whole portion: split just below it then.
  if (sample.threshold == sorted.back()) {
    const auto below = std::lower_bound(sorted.begin(), sorted.end(), sample.threshold);
    if (below == sorted.begin()) {
      fail_input("feature {} is constant: the data cannot be split by it", sample.feature + 1);
    }
    sample.threshold = *(below - 1);
  }
  std::vector<std::size_t> train;
  std::vector<std::size_t> target;
  for (std::size_t i = 0; i < x.rows; ++i) {
    const bool crosses = options.crossing > 0 && random.uniform() < options.crossing;
    ((values[i] <= sample.threshold) != crosses ? train : target).push_back(i);
  }
  sample.train = draw(x, train, options.train, options, random, "training", sample.train_draw);
  sample.target = draw(x, target, options.target, options, random, "target", sample.target_draw);
  return sample;
}

}  // namespace covshift
