#include "covshift/diagnose/diagnose.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "covshift/base/error.hpp"
#include "covshift/base/lists.hpp"
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

constexpr std::size_t most_features = 200;  // and views: each costs a fit

using Columns = std::vector<std::int32_t>;

void check(const DiagnoseData& data, const DiagnoseOptions& options) {
  const auto& [train, target, units, features, views, left_out] = data;
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
  if (columns != train.cols || views.cols() != train.cols) {
    fail_input("features and views have {} and {} columns, but the data have {}", columns,
               views.cols(), train.cols);
  }
  allowed::fold_counts.check("the number of folds", options.folds);
  DiagnoseOptions::permutation_counts.check("the number of permutations", options.permutations);
  DiagnoseOptions::levels.check("the level of the test", options.level);
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

/// Positions of the features or views to measure in detail: all, or those that moved most.
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

/// In units of the training data, so unusual rows are far away; columns that are constant in it are
/// in units of both samples.
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

std::vector<std::string> column_names(const DiagnoseData& data) {
  std::vector<std::string> names(data.train.cols);
  for (const Feature& f : data.features) {
    for (std::size_t k = 0; k < f.columns.size(); ++k) {
      names[f.columns[k]] = f.levels.empty() ? f.name : f.name + "=" + f.levels[k];
    }
  }
  return names;
}

/// Means in the units of the file.
std::vector<MeanShift> original_means(const DiagnoseData& data, std::span<const double> log_weight,
                                      int threads) {
  std::vector<MeanShift> means = mean_shifts(data.train, data.target, log_weight, {}, threads);
  for (std::size_t j = 0; j < means.size(); ++j) {
    for (double* mean : {&means[j].train, &means[j].weighted, &means[j].target}) {
      *mean = data.units.original(j, *mean);
    }
    means[j].deviation *= data.units.scales()[j];
  }
  return means;
}

/// Derives a view's numbers from its features; `kl(columns)` estimates a KL.
void measure_view(ViewDivergence& view, const Diagnosis& d, const DiagnoseData& data,
                  const std::vector<std::size_t>& detail, const Columns& columns,
                  const std::function<double(const Columns&)>& kl) {
  const FeatureShift* same = nullptr;
  double error = 0;
  for (std::size_t f = 0; f < detail.size(); ++f) {
    const Columns& own = data.features[detail[f]].columns;
    if (!std::binary_search(columns.begin(), columns.end(), own[0])) continue;
    if (d.features[f].kl_binned >= view.kl_binned) {
      view.kl_binned = d.features[f].kl_binned;
      error = d.features[f].kl_binned_error;
    }
    if (own == columns) same = &d.features[f];
  }
  view.kl = same != nullptr ? same->kl : kl(columns);
  view.generalized = !share_entries(columns, data.left_out) && view.kl < d.view_threshold;
  view.stable = view.generalized && view.kl_binned - 2 * error < d.view_threshold;
}

/// Measures every view and the features in `detail`. `all_kl`: KL of all columns together.
void measure_features(Diagnosis& d, const DiagnoseData& data, const RatioFitter& ratios,
                      const std::vector<std::size_t>& detail, std::span<const double> weight,
                      double all_kl, int threads) {
  const auto kl = [&](const Columns& columns) {
    return columns.size() == data.train.cols ? all_kl : ratios.kl(columns);
  };
  d.features.resize(detail.size());
  parallel_tasks(threads, detail.size(), [&](std::size_t f) {
    const Feature& feature = data.features[detail[f]];
    d.features[f] = compare_distributions(feature, data, weight);
    d.features[f].kl = kl(feature.columns);
  });
  const std::vector<Columns>& columns = data.views.columns;
  std::vector<double> moved;
  moved.reserve(columns.size());
  for (const Columns& own : columns) moved.push_back(means_apart(own, d.means));
  const std::vector<std::size_t> measured = detailed(moved);
  d.views.resize(columns.size());
  parallel_tasks(threads, d.views.size(), [&](std::size_t v) {
    d.views[v].name = data.views.names[v];
    const bool by_ratio = std::binary_search(measured.begin(), measured.end(), v);
    measure_view(d.views[v], d, data, detail, columns[v],
                 [&](const Columns& own) { return by_ratio ? kl(own) : moved[v]; });
  });
}

/// Computes the weights from the joint ratio and their effect; returns the log weights. Sets
/// `all_kl`, the KL of all columns as a fit estimates it.
std::vector<double> weigh(Diagnosis& d, const DiagnoseData& data, const RatioFitter& ratios,
                          int threads, double& all_kl) {
  const std::unique_ptr<DensityRatio> joint = ratios.joint();
  std::vector<double> log_weight = joint->log_ratio(ratios.train(), threads);
  d.effective_sample_size = effective_sample_size(log_weight);
  d.heaviest = largest_weights(log_weight, 5);
  d.weights = histogram(log_weight);
  d.means = original_means(data, log_weight, threads);
  const bool agree = ratios.agrees(log_weight);
  const std::unique_ptr<DensityRatio> other = agree ? nullptr : ratios.fitted();
  const DensityRatio& fitted = agree ? *joint : *other;
  std::vector<double> used = fitted.log_ratio(ratios.train(), threads);
  all_kl = symmetric_kl(used, fitted.log_ratio(ratios.target(), threads));
  for (double& l : used) l = std::min(l, fitted.bound().weight);
  d.fitted_sample_size = effective_sample_size(used);
  return log_weight;
}

}  // namespace

std::vector<Feature> features_of(const Encoder& encoder) {
  std::vector<Feature> features;
  for (std::size_t j = 0; j < encoder.cols(); ++j) {
    const std::int32_t source = encoder.source_of()[j];
    const std::optional<std::string> category = encoder.category(j);
    // The categories of a column are one feature; its numbers, such as the parts of a date,
    // several.
    if (!category || j == 0 || encoder.source_of()[j - 1] != source) {
      features.emplace_back();
      features.back().name =
          category ? encoder.source_name(static_cast<std::size_t>(source)) : encoder.name(j);
    }
    features.back().columns.push_back(static_cast<std::int32_t>(j));
    if (category) features.back().levels.push_back(*category);
  }
  return features;
}

Diagnosis diagnose(const Preparation& preparation, const PreparedRows& train,
                   const PreparedRows& target, const DiagnoseOptions& options) {
  return diagnose(
      {train.features, target.features, preparation.scaler(), features_of(preparation.encoder()),
       preparation.views(), preparation.id_columns()},
      options);
}

Diagnosis diagnose(const DiagnoseData& data, const DiagnoseOptions& options) {
  check(data, options);
  const auto announce = [&](std::string_view stage, double share) {
    if (options.progress) options.progress(stage, share);
  };
  Diagnosis d;
  d.train_rows = data.train.rows;
  d.target_rows = data.target.rows;
  d.level = options.level;
  d.view_threshold = options.view_threshold;
  d.ratio = to_string(options.ratio.method);
  d.columns = column_names(data);

  announce("test for shift", 0);
  // As a fit sees them: one value far off would hide all others, from the test as from a ratio.
  const RatioFitter ratios(data, options);
  const ColumnMoments train_moments = column_moments(ratios.train(), options.threads);
  const ColumnMoments target_moments = column_moments(ratios.target(), options.threads);
  const Rows train_rows(ratios.train(), {});
  const Rows target_rows(ratios.target(), {});
  const RowSpace pooled =
      pooled_space(train_moments, target_moments, static_cast<double>(d.train_rows),
                   static_cast<double>(d.target_rows), options.seed);
  const DomainScores scores = domain_test(train_rows, target_rows, pooled, options);
  d.test = scores.test;

  announce("support", 0.2);
  const RowSpace own = training_space(train_moments, target_moments, options.seed);
  const Unsupported unsupported = find_unsupported(train_rows, target_rows, own, scores, options);
  d.support = unsupported.support;

  announce("density ratio", 0.3);
  double all_kl = 0;
  const std::vector<double> log_weight = weigh(d, data, ratios, options.threads, all_kl);

  announce("features", 0.5);
  std::vector<double> moved;
  moved.reserve(data.features.size());
  for (const Feature& f : data.features) moved.push_back(means_apart(f.columns, d.means));
  const std::vector<std::size_t> detail = detailed(moved);
  measure_features(d, data, ratios, detail, shares(log_weight), all_kl, options.threads);

  announce("recommendation", 0.95);
  d.recommendation = recommend(d);
  if (d.shifted()) {
    d.recommendation.label_first =
        rows_to_label(target_rows, own, unsupported, scores.target, options);
  }
  illustrate(d, data, detail, unsupported.row, options.seed);
  return d;
}

}  // namespace covshift
