#include "covshift/diagnose/diagnose.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "covshift/base/error.hpp"
#include "covshift/base/threads.hpp"
#include "covshift/diagnose/distributions.hpp"
#include "covshift/diagnose/domain_test.hpp"
#include "covshift/diagnose/illustrate.hpp"
#include "covshift/diagnose/ratio_fitter.hpp"
#include "covshift/diagnose/recommend.hpp"
#include "covshift/diagnose/row_space.hpp"
#include "covshift/diagnose/support.hpp"

namespace covshift {
namespace {

constexpr std::size_t most_features = 200;  // and views: a fit of their own is not for thousands

using Columns = std::vector<std::int32_t>;

void check(const Matrix& train, const Matrix& target, const std::vector<Feature>& features,
           const Views& views, const DiagnoseOptions& options) {
  if (train.rows == 0) fail_input("there are no training rows");
  if (target.rows == 0) fail_input("there are no target rows");
  if (train.cols != target.cols) {
    fail_input("the training data have {} columns, the target {}; use the same columns", train.cols,
               target.cols);
  }
  if (train.cols == 0) fail_input("there are no inputs to compare");
  std::size_t columns = 0;
  for (const Feature& f : features) {
    columns += f.columns.size();
    const bool category = f.levels.size() == f.columns.size();
    if (f.columns.empty() || (!category && !(f.levels.empty() && f.columns.size() == 1))) {
      fail_input("feature '{}' must have one column, or one for each of its levels", f.name);
    }
  }
  if (columns != train.cols || views.view_of.size() != train.cols) {
    fail_input("features and views are of {} and {} columns, but the data have {}", columns,
               views.view_of.size(), train.cols);
  }
  if (options.folds < 2) fail_input("the domain AUC needs at least 2 folds, not {}", options.folds);
  if (options.permutations < 1) fail_input("there must be at least one permutation");
  if (!(options.level > 0 && options.level < 1)) {
    fail_input("the level of the test must lie in (0, 1), not {}", options.level);
  }
  if (options.level * (options.permutations + 1) < 1) {
    fail_input("{} permutations cannot give a p-value of {}; use at least {:.0f}",
               options.permutations, options.level, std::ceil(1 / options.level) - 1);
  }
}

std::vector<double> shares(std::span<const double> log_weight) {
  const double largest = *std::max_element(log_weight.begin(), log_weight.end());
  std::vector<double> share;
  share.reserve(log_weight.size());
  double sum = 0;
  for (const double l : log_weight) sum += share.emplace_back(std::exp(l - largest));
  for (double& s : share) s /= sum;
  return share;
}

WeightHistogram histogram(std::span<const double> log_weight) {
  constexpr std::size_t bins = 40;
  const auto [low, high] = std::minmax_element(log_weight.begin(), log_weight.end());
  WeightHistogram out;
  const double first = *low < *high ? *low : *low - 0.5;
  const double last = *low < *high ? *high : *high + 0.5;
  for (std::size_t b = 0; b <= bins; ++b) {
    const double t = static_cast<double>(b) / bins;
    out.edges.push_back(first * (1 - t) + last * t);
  }
  out.counts.assign(bins, 0);
  for (const double l : log_weight) {
    const double position = (l - first) / (last - first) * bins;
    ++out.counts[std::min(bins - 1, static_cast<std::size_t>(position))];
  }
  return out;
}

/// By how many standard deviations (or what unit `before` has) the means of columns differ, squared
/// and added up: their symmetric KL if they were independent normals of one spread.
double means_apart(const Columns& columns, const std::vector<MeanShift>& means) {
  double sum = 0;
  for (const std::int32_t j : columns) {
    const double apart = means[static_cast<std::size_t>(j)].before;
    sum += apart * apart;
  }
  return sum;
}

/// Positions of the features or views to look at in detail: all, or those that moved most.
std::vector<std::size_t> detailed(const std::vector<double>& moved) {
  std::vector<std::size_t> order(moved.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  if (order.size() <= most_features) return order;
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return moved[a] > moved[b]; });
  order.resize(most_features);
  std::sort(order.begin(), order.end());
  return order;
}

/// Pooled moments, the same whichever row is of which sample: what the test needs.
RowSpace pooled_space(const ColumnMoments& a, const ColumnMoments& b, double n, double m,
                      std::uint64_t seed) {
  std::vector<double> mean;
  std::vector<double> deviation;
  for (std::size_t j = 0; j < a.mean.size(); ++j) {
    const double apart = a.mean[j] - b.mean[j];
    const double share = n / (n + m);
    const double variance =
        share * a.variance[j] + (1 - share) * b.variance[j] + share * (1 - share) * apart * apart;
    mean.push_back(share * a.mean[j] + (1 - share) * b.mean[j]);
    const double rounding = 1e-13 * std::max(std::abs(a.mean[j]), std::abs(b.mean[j]));
    deviation.push_back(std::sqrt(variance) > rounding ? std::sqrt(variance) : 0.0);
  }
  return {mean, deviation, seed};
}

/// Units of the training data, in which the strange looks strange; what is constant there is
/// measured as in both.
RowSpace training_space(const ColumnMoments& a, const ColumnMoments& b, std::uint64_t seed) {
  std::vector<double> deviation;
  for (std::size_t j = 0; j < a.mean.size(); ++j) {
    const double apart = a.mean[j] - b.mean[j];
    const double both = std::sqrt((a.variance[j] + b.variance[j]) / 2 + apart * apart / 4);
    const double rounding = 1e-13 * std::max(std::abs(a.mean[j]), std::abs(b.mean[j]));
    const double own = std::sqrt(a.variance[j]);
    deviation.push_back(own > rounding ? own : both > rounding ? both : 0.0);
  }
  return {a.mean, deviation, seed};
}

void measure_features(Diagnosis& d, const RatioFitter& ratios, const Matrix& train,
                      const Matrix& target, const std::vector<Feature>& features,
                      const std::vector<std::size_t>& detail, const Views& views,
                      std::span<const double> weight, double joint_kl, int threads) {
  std::vector<Columns> view_columns(views.names.size());
  for (std::size_t j = 0; j < views.view_of.size(); ++j) {
    view_columns[views.view_of[j]].push_back(static_cast<std::int32_t>(j));
  }
  std::vector<double> moved;
  moved.reserve(view_columns.size());
  for (const Columns& columns : view_columns) moved.push_back(means_apart(columns, d.means));
  const std::vector<std::size_t> looked_at = detailed(moved);
  d.features.resize(detail.size());
  d.views.resize(views.names.size());
  parallel_tasks(threads, detail.size(), [&](std::size_t f) {
    const Feature& feature = features[detail[f]];
    d.features[f] = compare_distributions(feature, train.view(), target.view(), weight);
    d.features[f].kl = feature.columns.size() == train.cols ? joint_kl : ratios.kl(feature.columns);
  });
  parallel_tasks(threads, d.views.size(), [&](std::size_t v) {
    ViewDivergence& view = d.views[v];
    view.name = views.names[v];
    const Columns& columns = view_columns[v];
    const FeatureShift* same = nullptr;
    double error = 0;
    for (std::size_t f = 0; f < detail.size(); ++f) {
      const Columns& own = features[detail[f]].columns;
      if (views.view_of[own[0]] != static_cast<std::int32_t>(v)) continue;
      if (d.features[f].kl_binned >= view.kl_binned) {
        view.kl_binned = d.features[f].kl_binned;
        error = d.features[f].kl_binned_error;
      }
      if (own == columns) same = &d.features[f];
    }
    if (same != nullptr) {
      view.kl = same->kl;
    } else {
      const bool detail_view = std::binary_search(looked_at.begin(), looked_at.end(), v);
      view.kl = !detail_view                   ? moved[v]
                : columns.size() == train.cols ? joint_kl
                                               : ratios.kl(columns);
    }
    view.generalized = view.kl < d.view_threshold;
    view.stable = view.generalized && view.kl_binned - 2 * error < d.view_threshold;
  });
}

}  // namespace

std::vector<Feature> features_of(const Encoder& encoder) {
  std::vector<Feature> features(encoder.source_count());
  for (std::size_t s = 0; s < features.size(); ++s) features[s].name = encoder.source_name(s);
  for (std::size_t j = 0; j < encoder.cols(); ++j) {
    Feature& feature = features[encoder.source_of()[j]];
    feature.columns.push_back(static_cast<std::int32_t>(j));
    const std::string name = encoder.name(j);
    if (name != feature.name) feature.levels.push_back(name.substr(feature.name.size() + 1));
  }
  return features;
}

std::vector<Feature> features_of(const std::vector<std::string>& names) {
  std::vector<Feature> features;
  features.reserve(names.size());
  for (const std::string& name : names) {
    features.push_back({name, {static_cast<std::int32_t>(features.size())}, {}});
  }
  return features;
}

Diagnosis diagnose(const Matrix& train, const Matrix& target, const std::vector<Feature>& features,
                   const Views& views, const DiagnoseOptions& options) {
  check(train, target, features, views, options);
  const auto announce = [&](std::string_view stage, double share) {
    if (options.progress) options.progress(stage, share);
  };
  Diagnosis d;
  d.train_rows = train.rows;
  d.target_rows = target.rows;
  d.level = options.level;
  d.view_threshold = options.view_threshold;
  d.ratio = to_string(options.ratio.method);
  d.columns.resize(train.cols);
  for (const Feature& f : features) {
    for (std::size_t k = 0; k < f.columns.size(); ++k) {
      d.columns[f.columns[k]] = f.levels.empty() ? f.name : f.name + "=" + f.levels[k];
    }
  }

  announce("test for shift", 0);
  // Means and bins are shown in the units of the file; all else is measured on scaled columns,
  // whose moments neither overflow nor drown in an origin that is far away.
  const Scaler scaler = Scaler::fit(options.scale, train);
  Matrix train_scaled = train;
  Matrix target_scaled = target;
  scaler.apply(train_scaled);
  scaler.apply(target_scaled);
  const ColumnMoments train_moments = column_moments(train_scaled.view(), options.threads);
  const ColumnMoments target_moments = column_moments(target_scaled.view(), options.threads);
  const Rows train_rows(train_scaled.view(), {});
  const Rows target_rows(target_scaled.view(), {});
  const RowSpace pooled =
      pooled_space(train_moments, target_moments, static_cast<double>(train.rows),
                   static_cast<double>(target.rows), options.seed);
  const DomainScores scores = domain_test(train_rows, target_rows, pooled, options);
  d.test = scores.test;

  announce("support", 0.2);
  const RowSpace own = training_space(train_moments, target_moments, options.seed);
  Unsupported unsupported = find_unsupported(train_rows, target_rows, own, scores, options);
  d.support = unsupported.support;

  announce("density ratio", 0.3);
  const RatioFitter ratios(train_scaled, target_scaled, options);
  const std::unique_ptr<DensityRatio> joint = ratios.fit({});
  const std::vector<double> log_weight = joint->log_ratio(train_scaled.view(), options.threads);
  const double joint_kl =
      symmetric_kl(log_weight, joint->log_ratio(target_scaled.view(), options.threads));
  d.effective_sample_size = effective_sample_size(log_weight);
  d.heaviest = largest_weights(log_weight, 5);
  d.weights = histogram(log_weight);
  d.means = mean_shifts(train.view(), target.view(), log_weight, {}, options.threads);

  announce("features", 0.5);
  std::vector<double> moved;
  moved.reserve(features.size());
  for (const Feature& f : features) moved.push_back(means_apart(f.columns, d.means));
  const std::vector<std::size_t> detail = detailed(moved);
  measure_features(d, ratios, train_scaled, target_scaled, features, detail, views,
                   shares(log_weight), joint_kl, options.threads);
  for (std::size_t f = 0; f < detail.size(); ++f) {
    const auto j = static_cast<std::size_t>(features[detail[f]].columns[0]);
    for (double& edge : d.features[f].edges) {
      edge = edge * scaler.scales()[j] + scaler.offsets()[j];
    }
  }

  announce("recommendation", 0.95);
  d.recommendation = recommend(d, options.views);
  if (d.shifted()) {
    d.recommendation.label_first =
        rows_to_label(target_rows, own, unsupported, scores.target, options);
  }
  illustrate(d, train, target, features, detail, unsupported.row, options.seed);
  return d;
}

}  // namespace covshift
