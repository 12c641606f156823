#include "covshift/promise/losses.hpp"

#include <algorithm>
#include <cmath>

#include "covshift/base/error.hpp"

namespace covshift {
namespace {

void check_probabilities(std::span<const double> p, std::size_t rows, int classes,
                         const char* what) {
  const auto k = static_cast<std::size_t>(classes);
  if (p.size() != rows * k) {
    fail_input("the predictions for {} have {} numbers; {} rows of {} classes need {}", what,
               p.size(), rows, classes, rows * k);
  }
  for (std::size_t i = 0; i < rows; ++i) {
    double sum = 0;
    for (std::size_t y = 0; y < k; ++y) {
      const double v = p[i * k + y];
      if (!(v >= 0 && v <= 1 + 1e-6)) {
        fail_input("row {} of {}: probability {} of class {} is not in [0, 1]", i + 1, what, v,
                   y + 1);
      }
      sum += v;
    }
    // Each may be rounded to three digits.
    if (std::abs(sum - 1) > 1e-3 * static_cast<double>(k)) {
      fail_input("row {} of {}: the probabilities of the classes add up to {}, not to 1", i + 1,
                 what, sum);
    }
  }
}

/// The loss (accuracy: the gain) of predicting p where the class is y.
double loss_of(Performance metric, std::span<const double> p, int y) {
  switch (metric) {
    case Performance::accuracy:
      return std::max_element(p.begin(), p.end()) - p.begin() == y ? 1 : 0;
    case Performance::log_loss:
      return -std::log(std::max(p[static_cast<std::size_t>(y)], 0x1p-52));
    case Performance::brier: {
      double sum = 0;
      for (std::size_t k = 0; k < p.size(); ++k) {
        const double error = p[k] - (static_cast<int>(k) == y ? 1 : 0);
        sum += error * error;
      }
      return sum;
    }
  }
  return 0;
}

/// What p itself expects.
double own_expectation(Performance metric, std::span<const double> p) {
  double sum = 0;
  for (std::size_t k = 0; k < p.size(); ++k) {
    if (p[k] > 0) sum += p[k] * loss_of(metric, p, static_cast<int>(k));
  }
  return sum;
}

}  // namespace

HeldOutRatio ratios_of(const EstimateData& data, const RatioOptions& options) {
  if (data.log_ratio.empty()) return held_out_ratio(options, data.features, data.target);
  if (data.log_ratio.size() != data.features.rows ||
      data.target_log_ratio.size() != data.target.rows) {
    fail_input("{} and {} log ratios for {} labelled and {} target rows", data.log_ratio.size(),
               data.target_log_ratio.size(), data.features.rows, data.target.rows);
  }
  return {{data.log_ratio.begin(), data.log_ratio.end()},
          {data.target_log_ratio.begin(), data.target_log_ratio.end()}};
}

JudgedRows rows_of(const EstimateData& data, const RatioOptions& options) {
  const bool estimated = data.log_ratio.empty();
  const bool linear = estimated && options.method == RatioMethod::logistic;
  return {data.features,
          data.target,
          {},
          data.unlike,
          estimated,
          options.seed,
          linear ? &options : nullptr};
}

void check_labels(std::span<const int> labels, std::size_t rows, int classes, const char* what) {
  if (labels.size() != rows) fail_input("{} labels for {} rows of {}", labels.size(), rows, what);
  for (std::size_t i = 0; i < labels.size(); ++i) {
    if (labels[i] < 0 || labels[i] >= classes) {
      fail_input("row {} of {} has a label that is not one of the classifier's {} classes", i + 1,
                 what, classes);
    }
  }
}

void check_estimate_data(const EstimateData& data) {
  if (data.classes < 2) fail_input("a classifier has at least two classes, not {}", data.classes);
  if (data.features.rows < 2 || data.target.rows < 2) {
    fail_input("an estimate needs at least two labelled and two target rows; there are {} and {}",
               data.features.rows, data.target.rows);
  }
  check_labels(data.labels, data.features.rows, data.classes, "the labelled data");
  check_probabilities(data.p, data.features.rows, data.classes, "the labelled data");
  check_probabilities(data.target_p, data.target.rows, data.classes, "the target");
}

Eigen::VectorXd losses(Performance metric, std::span<const double> p, std::span<const int> labels,
                       int classes) {
  Eigen::VectorXd l(static_cast<Eigen::Index>(labels.size()));
  for (Eigen::Index i = 0; i < l.size(); ++i) {
    l[i] = loss_of(metric, row_of(p, classes, i), labels[static_cast<std::size_t>(i)]);
  }
  return l;
}

Eigen::VectorXd expectations(Performance metric, std::span<const double> p, int classes) {
  Eigen::VectorXd e(static_cast<Eigen::Index>(p.size()) / classes);
  for (Eigen::Index i = 0; i < e.size(); ++i) {
    e[i] = own_expectation(metric, row_of(p, classes, i));
  }
  return e;
}

}  // namespace covshift
