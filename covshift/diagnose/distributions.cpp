#include "covshift/diagnose/distributions.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "covshift/ratio/rows.hpp"

namespace covshift {
namespace {

/// As many as the smaller sample can fill without looking ragged.
std::size_t picture_bins(std::size_t n, std::size_t m) {
  return std::clamp<std::size_t>(
      static_cast<std::size_t>(1.5 * std::sqrt(static_cast<double>(std::min(n, m)))), 8, 40);
}
constexpr std::size_t few_values = 20;

/// Bins of equal shares of both samples, which binned_kl compares: ten rows of the smaller sample
/// to a bin, if that makes a reasonable number.
std::size_t bins_for(std::size_t n, std::size_t m) {
  return std::clamp<std::size_t>(std::min(n, m) / 10, 4, 20);
}

/// One column as numbers; entries of a sparse row add up.
std::vector<double> column_of(const MatrixView& x, std::int32_t column) {
  const std::vector<std::int32_t> columns = {column};
  const Rows rows(x, columns);
  std::vector<double> values(x.rows, 0.0);
  for (std::size_t i = 0; i < x.rows; ++i) {
    rows.each(i, [&](std::size_t, double value) { values[i] += value; });
  }
  return values;
}

/// The position of the category of each row; the number of categories where it has none of them.
std::vector<std::size_t> categories_of(const Feature& feature, const MatrixView& x) {
  const Rows rows(x, feature.columns);
  std::vector<std::size_t> category(x.rows, feature.levels.size());
  for (std::size_t i = 0; i < x.rows; ++i) {
    rows.each(i, [&](std::size_t j, double value) {
      if (value != 0) category[i] = j;
    });
  }
  return category;
}

std::vector<double> shares(std::vector<double> counts) {
  const double total = std::accumulate(counts.begin(), counts.end(), 0.0);
  for (double& c : counts) c /= total;
  return counts;
}

void set_binned(FeatureShift& out, std::span<const double> train, std::span<const double> target) {
  const BinnedKl binned = binned_kl(train, target);
  out.kl_binned = binned.kl;
  out.kl_binned_error = binned.error;
}

void compare_categories(const Feature& feature, const MatrixView& train, const MatrixView& target,
                        std::span<const double> weight, FeatureShift& out) {
  out.levels = feature.levels;
  std::vector<double> counts[2];  // NOLINT(*-c-arrays)
  std::vector<double> weighted(feature.levels.size() + 1, 0.0);
  const MatrixView* sample[2] = {&train, &target};  // NOLINT(*-c-arrays)
  for (int s = 0; s < 2; ++s) {
    counts[s].assign(feature.levels.size() + 1, 0.0);
    const std::vector<std::size_t> category = categories_of(feature, *sample[s]);
    for (std::size_t i = 0; i < category.size(); ++i) {
      counts[s][category[i]] += 1;
      if (s == 0) weighted[category[i]] += weight[i];
    }
  }
  if (counts[0].back() == 0 && counts[1].back() == 0) {
    counts[0].pop_back();
    counts[1].pop_back();
    weighted.pop_back();
  } else {
    out.levels.emplace_back("(other)");  // categories that training never saw
  }
  set_binned(out, counts[0], counts[1]);
  out.train = shares(counts[0]);
  out.target = shares(counts[1]);
  out.weighted = shares(weighted);
}

/// Counts of values in the bins [edge_b, edge_b+1), outer ones open.
template <typename Weight>
std::vector<double> count(std::span<const double> values, std::span<const double> inner,
                          Weight&& weight) {
  std::vector<double> counts(inner.size() + 1, 0.0);
  for (std::size_t i = 0; i < values.size(); ++i) {
    const auto bin = std::upper_bound(inner.begin(), inner.end(), values[i]) - inner.begin();
    counts[static_cast<std::size_t>(bin)] += weight(i);
  }
  return counts;
}

void compare_numbers(const Feature& feature, const MatrixView& train, const MatrixView& target,
                     std::span<const double> weight, FeatureShift& out) {
  const std::vector<double> a = column_of(train, feature.columns[0]);
  const std::vector<double> b = column_of(target, feature.columns[0]);
  std::vector<double> all = a;
  all.insert(all.end(), b.begin(), b.end());
  std::sort(all.begin(), all.end());
  const auto one = [](std::size_t) { return 1.0; };
  const auto quantile = [&](double share) {
    return all[static_cast<std::size_t>(share * static_cast<double>(all.size() - 1))];
  };
  // Few values: a bin for each, both for the number and for the picture.
  std::vector<double> values;
  for (const double v : all) {
    if (values.empty() || v != values.back()) values.push_back(v);
    if (values.size() > few_values) break;
  }
  const bool few = values.size() <= few_values;
  std::vector<double> inner;
  if (few) {
    for (std::size_t k = 1; k < values.size(); ++k) {
      inner.push_back(values[k - 1] + (values[k] - values[k - 1]) / 2);
    }
  } else {
    const std::size_t bins = bins_for(a.size(), b.size());
    for (std::size_t k = 1; k < bins; ++k) {
      const double q = quantile(static_cast<double>(k) / static_cast<double>(bins));
      if (inner.empty() || q > inner.back()) inner.push_back(q);
    }
  }
  set_binned(out, count(a, inner, one), count(b, inner, one));
  if (few) {
    const double margin = values.size() > 1 ? (values[1] - values[0]) / 2 : 0.5;
    const double end = values.size() > 1 ? (values.back() - values[values.size() - 2]) / 2 : 0.5;
    out.edges.push_back(values.front() - margin);
    out.edges.insert(out.edges.end(), inner.begin(), inner.end());
    out.edges.push_back(values.back() + end);
  } else {
    double low = quantile(0.001);
    double high = quantile(0.999);
    if (!(low < high)) {
      low = all.front();
      high = all.back();
    }
    inner.clear();
    const std::size_t bins = picture_bins(a.size(), b.size());
    for (std::size_t k = 0; k <= bins; ++k) {
      const double t = static_cast<double>(k) / static_cast<double>(bins);
      out.edges.push_back(low * (1 - t) + high * t);
    }
    inner.assign(out.edges.begin() + 1, out.edges.end() - 1);
  }
  out.train = shares(count(a, inner, one));
  out.target = shares(count(b, inner, one));
  out.weighted = shares(count(a, inner, [&](std::size_t i) { return weight[i]; }));
}

}  // namespace

BinnedKl binned_kl(std::span<const double> train_counts, std::span<const double> target_counts) {
  const auto bins = static_cast<double>(train_counts.size());
  const double n = std::accumulate(train_counts.begin(), train_counts.end(), 0.0);
  const double m = std::accumulate(target_counts.begin(), target_counts.end(), 0.0);
  double kl = 0;
  for (std::size_t b = 0; b < train_counts.size(); ++b) {
    const double p = (train_counts[b] + 0.5) / (n + bins / 2);
    const double q = (target_counts[b] + 0.5) / (m + bins / 2);
    kl += (p - q) * std::log(p / q);
  }
  const double noise = 1 / n + 1 / m;
  return {std::max(0.0, kl - (bins - 1) * noise), std::sqrt(2 * (bins - 1)) * noise};
}

FeatureShift compare_distributions(const Feature& feature, const MatrixView& train,
                                   const MatrixView& target, std::span<const double> weight) {
  FeatureShift out;
  out.name = feature.name;
  out.categorical = !feature.levels.empty();
  if (out.categorical) {
    compare_categories(feature, train, target, weight, out);
  } else {
    compare_numbers(feature, train, target, weight, out);
  }
  return out;
}

}  // namespace covshift
