#include "covshift/diagnose/distributions.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "covshift/ratio/samples.hpp"

namespace covshift {
namespace {

/// As many bins as the smaller sample can fill smoothly.
std::size_t picture_bins(std::size_t n, std::size_t m) {
  return std::clamp<std::size_t>(
      static_cast<std::size_t>(1.5 * std::sqrt(static_cast<double>(std::min(n, m)))), 8, 40);
}
constexpr std::size_t few_values = 20;

/// Bins for binned_kl, with equal shares of the pooled samples: ten rows of the smaller sample per
/// bin, within limits.
std::size_t bins_for(std::size_t n, std::size_t m) {
  return std::clamp<std::size_t>(std::min(n, m) / 10, 4, 20);
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

void compare_categories(const Feature& feature, const DiagnoseData& data,
                        std::span<const double> weight, FeatureShift& out) {
  out.levels = feature.levels;
  std::vector<double> counts[2];  // NOLINT(*-c-arrays)
  std::vector<double> weighted(feature.levels.size() + 1, 0.0);
  const MatrixView* sample[2] = {&data.train, &data.target};  // NOLINT(*-c-arrays)
  for (int s = 0; s < 2; ++s) {
    counts[s].assign(feature.levels.size() + 1, 0.0);
    const Rows rows(*sample[s], feature.columns);
    for (std::size_t i = 0; i < rows.size(); ++i) {
      const std::size_t category = category_of(feature, rows, i, data.units);
      counts[s][category] += 1;
      if (s == 0) weighted[category] += weight[i];
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

/// Counts of values in the bins [edge_b, edge_b+1); the outer bins are unbounded.
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

/// Puts only the values of these ranks (strictly ascending) where sorting would: for a few ranks
/// much cheaper than sorting.
void select_ranks(std::span<double> values, std::span<const std::size_t> ranks,
                  std::size_t offset = 0) {
  if (ranks.empty()) return;
  const std::size_t half = ranks.size() / 2;
  const std::size_t rank = ranks[half] - offset;
  std::nth_element(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(rank),
                   values.end());
  select_ranks(values.first(rank), ranks.first(half), offset);
  select_ranks(values.subspan(rank + 1), ranks.subspan(half + 1), offset + rank + 1);
}

/// The different values, ascending, if there are few; else empty.
std::vector<double> few_of(std::span<const double> values) {
  std::vector<double> found;
  for (const double v : values) {
    const auto at = std::lower_bound(found.begin(), found.end(), v);
    if (at != found.end() && *at == v) continue;
    if (found.size() == few_values) return {};
    found.insert(at, v);
  }
  return found;
}

/// The inner edges of bins for binned_kl: one bin per value if there are few, else equal shares.
struct Edges {
  std::vector<double> values;  // the different values, if there are few
  std::vector<double> inner;
  double low, high;  // of the picture
};

Edges edges_of(std::vector<double> all, std::size_t bins) {
  Edges edges{few_of(all), {}, 0, 0};
  const std::vector<double>& values = edges.values;
  if (!values.empty()) {
    const auto half = [&](std::size_t k) { return (values[k] - values[k - 1]) / 2; };
    const std::size_t last = values.size() - 1;
    for (std::size_t k = 1; k <= last; ++k) edges.inner.push_back(values[k - 1] + half(k));
    edges.low = values.front() - (last > 0 ? half(1) : 0.5);
    edges.high = values.back() + (last > 0 ? half(last) : 0.5);
    return edges;
  }
  const auto rank = [&](double share) {
    return static_cast<std::size_t>(share * static_cast<double>(all.size() - 1));
  };
  std::vector<std::size_t> ranks = {rank(0), rank(0.001), rank(0.999), rank(1)};
  std::vector<std::size_t> quantiles;
  for (std::size_t k = 1; k < bins; ++k) {
    quantiles.push_back(rank(static_cast<double>(k) / static_cast<double>(bins)));
  }
  ranks.insert(ranks.end(), quantiles.begin(), quantiles.end());
  std::sort(ranks.begin(), ranks.end());
  ranks.erase(std::unique(ranks.begin(), ranks.end()), ranks.end());
  select_ranks(all, ranks);
  for (const std::size_t r : quantiles) {
    if (edges.inner.empty() || all[r] > edges.inner.back()) edges.inner.push_back(all[r]);
  }
  edges.low = all[rank(0.001)];
  edges.high = all[rank(0.999)];
  if (!(edges.low < edges.high)) {
    edges.low = all[rank(0)];
    edges.high = all[rank(1)];
  }
  return edges;
}

void compare_numbers(const Feature& feature, const DiagnoseData& data,
                     std::span<const double> weight, FeatureShift& out) {
  const std::int32_t column = feature.columns[0];
  const std::vector<double> a = take_column(data.train, column);
  const std::vector<double> b = take_column(data.target, column);
  std::vector<double> all = a;
  all.insert(all.end(), b.begin(), b.end());
  const Edges edges = edges_of(std::move(all), bins_for(a.size(), b.size()));
  const auto one = [](std::size_t) { return 1.0; };
  set_binned(out, count(a, edges.inner, one), count(b, edges.inner, one));
  out.edges = {edges.low};
  if (edges.values.empty()) {
    const std::size_t drawn = picture_bins(a.size(), b.size());
    for (std::size_t k = 1; k < drawn; ++k) {
      const double t = static_cast<double>(k) / static_cast<double>(drawn);
      out.edges.push_back(edges.low * (1 - t) + edges.high * t);
    }
  } else {
    out.edges.insert(out.edges.end(), edges.inner.begin(), edges.inner.end());
  }
  out.edges.push_back(edges.high);
  const std::span<const double> drawn(out.edges.data() + 1, out.edges.size() - 2);
  out.train = shares(count(a, drawn, one));
  out.target = shares(count(b, drawn, one));
  out.weighted = shares(count(a, drawn, [&](std::size_t i) { return weight[i]; }));
  for (double& edge : out.edges) edge = data.units.original(static_cast<std::size_t>(column), edge);
}

}  // namespace

std::size_t category_of(const Feature& feature, const Rows& rows, std::size_t row,
                        const Scaler& units) {
  std::size_t category = feature.levels.size();
  rows.each(row, [&](std::size_t j, double value) {
    if (value != units.scaled_zero(static_cast<std::size_t>(feature.columns[j]))) category = j;
  });
  return category;
}

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

FeatureShift compare_distributions(const Feature& feature, const DiagnoseData& data,
                                   std::span<const double> weight) {
  FeatureShift out;
  out.name = feature.name;
  out.categorical = !feature.levels.empty();
  (out.categorical ? compare_categories : compare_numbers)(feature, data, weight, out);
  return out;
}

}  // namespace covshift
