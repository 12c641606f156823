#include "covshift/learn/problem.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <exception>

#include "covshift/base/error.hpp"
#include "covshift/base/threads.hpp"

namespace covshift {
namespace {

template <typename T>
void check_rows(const DenseRows<T>& x, std::size_t first, std::size_t last, std::size_t cols) {
  for (std::size_t i = first; i < last; ++i) {
    const T* row = x.data + i * x.stride;
    // Non-finite numbers times 0 are not 0, so sums test the whole row; several independent ones
    // hide the latency of additions.
    std::array<T, 8> probe{};
    std::size_t j = 0;
    for (; j + probe.size() <= cols; j += probe.size()) {
      for (std::size_t l = 0; l < probe.size(); ++l) probe[l] += row[j + l] * T{0};
    }
    for (; j < cols; ++j) probe[0] += row[j] * T{0};
    if (std::all_of(probe.begin(), probe.end(), [](T sum) { return sum == T{0}; })) continue;
    for (j = 0; j < cols; ++j) {
      if (!std::isfinite(row[j])) {
        fail_input("feature {} of example {} is {}; remove or impute such rows", j + 1, i + 1,
                   row[j]);
      }
    }
  }
}

template <typename T>
void check_rows(const SparseRows<T>& x, std::size_t first, std::size_t last, std::size_t cols) {
  for (std::size_t i = first; i < last; ++i) {
    if (x.offsets[i] < 0 || x.offsets[i + 1] < x.offsets[i]) {
      fail_input(
          "the entries of example {} begin at offset {} and end at {}; offsets must not decrease",
          i + 1, x.offsets[i], x.offsets[i + 1]);
    }
    for (std::int64_t e = x.offsets[i]; e < x.offsets[i + 1]; ++e) {
      if (x.columns[e] < 0 || static_cast<std::size_t>(x.columns[e]) >= cols) {
        fail_input("example {} has an entry in column {}, but there are {} columns", i + 1,
                   x.columns[e] + 1, cols);
      }
      if (!std::isfinite(x.values[e])) {
        fail_input("feature {} of example {} is {}; remove or impute such rows", x.columns[e] + 1,
                   i + 1, x.values[e]);
      }
    }
  }
}

void check_length(const char* what, std::size_t length, std::size_t expected) {
  if (length != 0 && length != expected) {
    fail_input("{}: {} numbers for {} examples", what, length, expected);
  }
}

}  // namespace

void check_features(const MatrixView& features, int threads) {
  if (features.finite) return;
  const std::size_t tasks = tasks_for(features);
  std::vector<std::exception_ptr> wrong(tasks);
  parallel_tasks(threads, tasks, [&](std::size_t task) {
    try {
      std::visit(
          [&](const auto& x) {
            check_rows(x, features.rows * task / tasks, features.rows * (task + 1) / tasks,
                       features.cols);
          },
          features.storage);
    } catch (const Error&) {
      wrong[task] = std::current_exception();
    }
  });
  for (const std::exception_ptr& error : wrong) {
    if (error) std::rethrow_exception(error);
  }
}

void check_examples(const MatrixView& features, bool bias, std::span<const int> labels, int classes,
                    std::span<const double> sample_weight) {
  const std::size_t m = features.rows;
  if (m == 0) fail_input("there are no examples to learn from");
  if (features.cols == 0 && !bias) {
    fail_input("there are no features and no bias, so there is nothing to learn");
  }
  if (labels.size() != m) fail_input("{} labels for {} examples", labels.size(), m);
  for (std::size_t i = 0; i < m; ++i) {
    if (labels[i] < 0 || labels[i] >= classes) {
      fail_input("label {} of example {} is not in 0..{}", labels[i], i + 1, classes - 1);
    }
  }
  check_length("sample weights", sample_weight.size(), m);
  bool any = sample_weight.empty();
  for (std::size_t i = 0; i < sample_weight.size(); ++i) {
    const double w = sample_weight[i];
    if (!(w >= 0) || !std::isfinite(w)) {
      fail_input("the weight of example {} is {}; weights must be finite and not negative", i + 1,
                 w);
    }
    any = any || w > 0;
  }
  if (!any) fail_input("no example has a positive weight");
}

void check_settings(const Problem& p) {
  if (p.game == nullptr) fail_input("a problem needs a game (a loss)");
  check_examples(p.features, p.bias, p.labels, p.game->labels(), p.sample_weight);
  if (p.penalty == Penalty::norm && p.bias && !p.penalise_bias) {
    fail_input("the penalty 'norm' needs a bias that is penalised; use 'squared'");
  }
  check_length("log weights", p.log_weight.size(), p.features.rows);
  for (std::size_t i = 0; i < p.log_weight.size(); ++i) {
    if (!std::isfinite(p.log_weight[i])) {
      fail_input("the log weight of example {} is {}; it must be finite", i + 1, p.log_weight[i]);
    }
  }
  check_scales(p);
}

void check(const Problem& problem, int threads) {
  check_settings(problem);
  if (!(problem.lambda > 0) || !std::isfinite(problem.lambda)) {
    fail_input("lambda must be a positive number, not {}", problem.lambda);
  }
  check_features(problem.features, threads);
}

void check_scales(const ScaledFeatures& p) {
  const std::size_t m = p.features.rows;
  if (p.scales < 1) fail_input("a problem needs at least one scale, not {}", p.scales);
  if (!p.log_scale.empty() && p.log_scale.size() != m * p.scales) {
    fail_input("log scales: {} numbers for {} examples of {} scales", p.log_scale.size(), m,
               p.scales);
  }
  for (std::size_t j = 0; j < p.log_scale.size(); ++j) {
    if (!std::isfinite(p.log_scale[j])) {
      fail_input("log scale {} of example {} is {}; it must be finite", j % p.scales + 1,
                 j / p.scales + 1, p.log_scale[j]);
    }
  }
  if (!p.scale_of_column.empty() && p.scale_of_column.size() != p.features.cols) {
    fail_input("scale_of_column has {1} numbers for {0} columns", p.features.cols,
               p.scale_of_column.size());
  }
  const auto known = [&](int scale) { return scale >= 0 && scale < p.scales; };
  if (!std::all_of(p.scale_of_column.begin(), p.scale_of_column.end(), known) ||
      !known(p.scale_of_bias)) {
    fail_input("a column or the bias has a scale outside 0..{}", p.scales - 1);
  }
}

}  // namespace covshift
