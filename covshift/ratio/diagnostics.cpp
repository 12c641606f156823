#include "covshift/ratio/diagnostics.hpp"

#include <Eigen/Core>
#include <algorithm>
#include <cmath>
#include <numeric>

#include "covshift/base/error.hpp"
#include "covshift/ratio/samples.hpp"

namespace covshift {

namespace {

/// s_i w_i / sum, with nothing overflowing.
std::vector<double> shares(std::span<const double> log_weight,
                           std::span<const double> sample_weight,
                           const Reducer* reducer = nullptr) {
  if (log_weight.empty() && reducer == nullptr) fail_input("there are no weights");
  if (!sample_weight.empty() && sample_weight.size() != log_weight.size()) {
    fail_input("{} sample weights for {} rows", sample_weight.size(), log_weight.size());
  }
  double largest = -HUGE_VAL;
  for (std::size_t i = 0; i < log_weight.size(); ++i) {
    if (!std::isfinite(log_weight[i])) {
      fail_input("the log weight of row {} is {}; it must be finite", i + 1, log_weight[i]);
    }
    if (sample_weight.empty() || sample_weight[i] > 0) largest = std::max(largest, log_weight[i]);
  }
  largest = max_over(reducer, largest);
  if (largest == -HUGE_VAL) fail_input("no row has a positive sample weight");
  std::vector<double> share(log_weight.size());
  double sum = 0;
  for (std::size_t i = 0; i < share.size(); ++i) {
    const double times = sample_weight.empty() ? 1.0 : sample_weight[i];
    share[i] = times == 0 ? 0.0 : times * std::exp(log_weight[i] - largest);
    sum += share[i];
  }
  sum = sum_over(reducer, sum);
  for (double& s : share) s /= sum;
  return share;
}

/// Mean and variance of each column, rows counting as `share` (adding up to 1) says.
struct Moments {
  Eigen::VectorXd mean;
  Eigen::VectorXd variance;
};

Eigen::VectorXd weighted_mean(const Rows& rows, std::span<const double> share, int threads) {
  const Lanes lanes(rows.size());
  std::vector<Eigen::VectorXd> sums(lanes.count);
  lanes.each(threads, [&](std::size_t first, std::size_t last, std::size_t lane) {
    sums[lane] = Eigen::VectorXd::Zero(static_cast<Eigen::Index>(rows.dims()));
    for (std::size_t i = first; i < last; ++i) rows.add(i, share[i], sums[lane].data());
  });
  for (std::size_t lane = 1; lane < lanes.count; ++lane) sums[0] += sums[lane];
  return sums[0];
}

Moments moments_of(const Rows& rows, std::span<const double> share, int threads) {
  Moments moments{weighted_mean(rows, share, threads), {}};
  const Lanes lanes(rows.size());
  // What a sparse row does not store is zero, (0 - mean)^2 from the mean: added for all at once.
  std::vector<Eigen::VectorXd> sums(lanes.count);
  std::vector<Eigen::VectorXd> stored(lanes.count);
  lanes.each(threads, [&](std::size_t first, std::size_t last, std::size_t lane) {
    sums[lane] = Eigen::VectorXd::Zero(moments.mean.size());
    stored[lane] = Eigen::VectorXd::Zero(moments.mean.size());
    RowBuffer buffer;
    for (std::size_t i = first; i < last; ++i) {
      rows.each_once(i, buffer, [&](std::size_t j, double value) {
        const auto k = static_cast<Eigen::Index>(j);
        const double distance = value - moments.mean[k];
        sums[lane][k] += share[i] * distance * distance;
        stored[lane][k] += share[i];
      });
    }
  });
  for (std::size_t lane = 1; lane < lanes.count; ++lane) {
    sums[0] += sums[lane];
    stored[0] += stored[lane];
  }
  moments.variance =
      sums[0] + (1 - stored[0].array()).max(0.0).matrix().cwiseProduct(moments.mean.cwiseAbs2());
  return moments;
}

std::vector<double> equal_shares(std::size_t rows, std::span<const double> sample_weight) {
  return shares(std::vector<double>(rows, 0.0), sample_weight);
}

void check_pair(const MatrixView& train, const MatrixView& target) {
  if (train.rows == 0) fail_input("there are no training rows");
  if (target.rows == 0) fail_input("there are no target rows");
  if (train.cols != target.cols) {
    fail_input("the training data have {} columns, the target {}; use the same columns", train.cols,
               target.cols);
  }
}

}  // namespace

double effective_sample_size(std::span<const double> log_weight,
                             std::span<const double> sample_weight, const Reducer* reducer) {
  const std::vector<double> share = shares(log_weight, sample_weight, reducer);
  double squares = 0;
  for (std::size_t i = 0; i < share.size(); ++i) {
    // A row that counts twice is two rows of half its share.
    if (share[i] > 0)
      squares += share[i] * share[i] / (sample_weight.empty() ? 1.0 : sample_weight[i]);
  }
  return 1 / sum_over(reducer, squares);
}

double largest_share(std::span<const double> log_weight, std::span<const double> sample_weight,
                     const Reducer* reducer) {
  const std::vector<double> share = shares(log_weight, sample_weight, reducer);
  return max_over(reducer, share.empty() ? 0 : *std::max_element(share.begin(), share.end()));
}

std::vector<LargeWeight> largest_weights(std::span<const double> log_weight, std::size_t count,
                                         std::span<const double> sample_weight) {
  const std::vector<double> share = shares(log_weight, sample_weight);
  std::vector<std::size_t> order(share.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  count = std::min(count, order.size());
  std::partial_sort(order.begin(), order.begin() + static_cast<std::ptrdiff_t>(count), order.end(),
                    [&](std::size_t a, std::size_t b) {
                      return share[a] != share[b] ? share[a] > share[b] : a < b;
                    });
  std::vector<LargeWeight> largest;
  for (std::size_t k = 0; k < count; ++k) largest.push_back({order[k], share[order[k]]});
  return largest;
}

ColumnMoments column_moments(const MatrixView& x, int threads) {
  if (x.rows == 0) fail_input("there are no rows");
  const Rows rows(x, {});
  rows.check("the data", threads);
  const Moments moments = moments_of(rows, equal_shares(x.rows, {}), threads);
  return {{moments.mean.begin(), moments.mean.end()},
          {moments.variance.begin(), moments.variance.end()}};
}

std::vector<MeanShift> mean_shifts(const MatrixView& train, const MatrixView& target,
                                   std::span<const double> log_weight,
                                   std::span<const double> sample_weight, int threads) {
  check_pair(train, target);
  if (log_weight.size() != train.rows) {
    fail_input("{} log weights for {} training rows", log_weight.size(), train.rows);
  }
  const Rows train_rows(train, {});
  const Rows target_rows(target, {});
  train_rows.check("the training data", threads);
  target_rows.check("the target data", threads);
  const Moments plain = moments_of(train_rows, equal_shares(train.rows, sample_weight), threads);
  const Moments goal = moments_of(target_rows, equal_shares(target.rows, {}), threads);
  const Eigen::VectorXd weighted =
      weighted_mean(train_rows, shares(log_weight, sample_weight), threads);
  std::vector<MeanShift> shifts(train.cols);
  for (std::size_t j = 0; j < shifts.size(); ++j) {
    const auto k = static_cast<Eigen::Index>(j);
    MeanShift& shift = shifts[j];
    shift.train = plain.mean[k];
    shift.weighted = weighted[k];
    shift.target = goal.mean[k];
    shift.deviation = std::sqrt((plain.variance[k] + goal.variance[k]) / 2);
    // Means of equal numbers differ from them by rounding, and so may their deviation from 0.
    const double rounding = 1e-13 * std::max(std::abs(shift.train), std::abs(shift.target));
    const double unit = shift.deviation > rounding ? shift.deviation : 1.0;
    shift.before = (shift.train - shift.target) / unit;
    shift.after = (shift.weighted - shift.target) / unit;
  }
  return shifts;
}

double area_under_curve(std::span<const double> negative, std::span<const double> positive) {
  std::vector<std::pair<double, bool>> all;
  for (const double v : negative) all.emplace_back(v, false);
  for (const double v : positive) all.emplace_back(v, true);
  std::sort(all.begin(), all.end());
  double wins = 0;   // pairs in which the positive is the larger one
  double below = 0;  // negatives so far
  for (std::size_t i = 0; i < all.size();) {
    double tied[2] = {0, 0};
    const double value = all[i].first;
    for (; i < all.size() && all[i].first == value; ++i) tied[all[i].second ? 1 : 0] += 1;
    wins += tied[1] * (below + tied[0] / 2);
    below += tied[0];
  }
  return wins / (static_cast<double>(negative.size()) * static_cast<double>(positive.size()));
}

double symmetric_kl(std::span<const double> train_log_ratio,
                    std::span<const double> target_log_ratio, std::span<const double> sample_weight,
                    const Reducer* reducer) {
  const double targets = sum_over(reducer, static_cast<double>(target_log_ratio.size()));
  if (targets == 0) fail_input("there are no target rows");
  const std::vector<double> share =
      shares(std::vector<double>(train_log_ratio.size(), 0.0), sample_weight, reducer);
  // n rows show no odds beyond n + 1 (Laplace's rule of succession): without a limit a single row
  // far outside would decide.
  const double rows =
      sum_over(reducer, sample_weight.empty()
                            ? static_cast<double>(train_log_ratio.size())
                            : std::accumulate(sample_weight.begin(), sample_weight.end(), 0.0));
  const auto shown = [&](double l) {
    return std::clamp(l, -std::log(targets + 1), std::log(rows + 1));
  };
  double kl = 0;
  for (std::size_t i = 0; i < share.size(); ++i) kl -= share[i] * shown(train_log_ratio[i]);
  for (const double l : target_log_ratio) kl += shown(l) / targets;
  return sum_over(reducer, kl);
}

double symmetric_kl(const DensityRatio& ratio, const MatrixView& train, const MatrixView& target,
                    std::span<const double> sample_weight, int threads) {
  return symmetric_kl(ratio.log_ratio(train, threads), ratio.log_ratio(target, threads),
                      sample_weight);
}

}  // namespace covshift
