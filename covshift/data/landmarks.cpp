// Landmarks by bisection along principal directions (Su and Dy 2007, "PCA-Part"), a start for
// k-means that needs no luck.
#include <algorithm>
#include <cmath>
#include <numeric>

#include "covshift/data/gaussian_map.hpp"
#include "covshift/data/smooth_order.hpp"

namespace covshift {
namespace {

/// Standardised rows of both samples, each of which weighs 1 in all.
struct Pool {
  explicit Pool(std::size_t columns) : rows(columns) {}

  void add(const Rows& from, std::span<const double> weight, std::uint64_t seed, std::size_t most,
           const Standardised& scale) {
    std::vector<std::size_t> order = drawing_order(from, weight, seed);
    if (order.size() > most) order.resize(most);
    double total = 0;
    const auto weight_of = [&](std::size_t i) { return weight.empty() ? 1 : weight[i]; };
    for (const std::size_t i : order) total += weight_of(i);
    DenseReader reader(from);
    std::vector<double> standardised(block_rows * padded(scale.columns()));
    for (std::size_t first = 0; first < order.size(); first += block_rows) {
      const std::size_t n = std::min(block_rows, order.size() - first);
      scale.apply(reader.read(std::span(order).subspan(first, n)), standardised.data());
      for (std::size_t b = 0; b < n; ++b) {
        rows.add(standardised.data() + b * padded(scale.columns()));
        share.push_back(weight_of(order[first + b]) / total);
      }
    }
  }

  PaddedRows rows;
  std::vector<double> share;
};

/// Some rows of the pool around their mean.
class Cluster {
 public:
  Cluster(const Pool& pool, std::vector<std::size_t> members)
      : pool_(&pool), members_(std::move(members)), mean_(pool.rows.columns) {
    for (const std::size_t i : members_) {
      total_ += pool.share[i];
      for (std::size_t j = 0; j < mean_.size(); ++j)
        mean_[j] += pool.share[i] * pool.rows.row(i)[j];
    }
    for (double& m : mean_) m /= total_;
    for (const std::size_t i : members_) scatter_ += pool.share[i] * squared_distance(i);
  }

  [[nodiscard]] const std::vector<double>& mean() const { return mean_; }
  [[nodiscard]] double total() const { return total_; }
  [[nodiscard]] double variance() const { return scatter_ / total_; }
  /// The sum of squared distances from the mean; 0 if rounding may be all of it.
  [[nodiscard]] double scatter() const {
    constexpr double nearly_equal = 1e-8;  // in squared standard deviations
    return variance() > nearly_equal ? scatter_ : 0;
  }

  /// Cuts at the mean, across the direction of the largest spread. A few steps of the power method
  /// from the third moment, so that the direction is a smooth function of the rows.
  [[nodiscard]] std::pair<Cluster, Cluster> halves() const {
    constexpr int steps = 8;
    std::vector<double> direction = start();
    for (int step = 0; step < steps; ++step) {
      direction = unit(sum_of([&](std::size_t i) { return along(i, direction); }));
    }
    std::vector<std::size_t> below;
    std::vector<std::size_t> above;
    for (const std::size_t i : members_) {
      constexpr double rounding = 1e-9;
      (along(i, direction) > rounding ? above : below).push_back(i);
    }
    for (auto [from, to] : {std::pair(&below, &above), std::pair(&above, &below)}) {
      if (!to->empty()) continue;  // but for rounding never
      to->push_back(from->back());
      from->pop_back();
    }
    return {Cluster(*pool_, std::move(below)), Cluster(*pool_, std::move(above))};
  }

 private:
  [[nodiscard]] double squared_distance(std::size_t i) const {
    double sum = 0;
    const double* row = pool_->rows.row(i);
    for (std::size_t j = 0; j < mean_.size(); ++j) sum += (row[j] - mean_[j]) * (row[j] - mean_[j]);
    return sum;
  }
  [[nodiscard]] double along(std::size_t i, const std::vector<double>& direction) const {
    double sum = 0;
    const double* row = pool_->rows.row(i);
    for (std::size_t j = 0; j < mean_.size(); ++j) sum += (row[j] - mean_[j]) * direction[j];
    return sum;
  }
  /// sum_i share_i f(i) (x_i - mean)
  template <typename F>
  [[nodiscard]] std::vector<double> sum_of(F&& f) const {
    std::vector<double> sum(mean_.size(), 0.0);
    for (const std::size_t i : members_) {
      const double factor = pool_->share[i] * f(i);
      const double* row = pool_->rows.row(i);
      for (std::size_t j = 0; j < sum.size(); ++j) sum[j] += factor * (row[j] - mean_[j]);
    }
    return sum;
  }
  static std::vector<double> unit(std::vector<double> x) {
    const double length = std::sqrt(std::inner_product(x.begin(), x.end(), x.begin(), 0.0));
    for (double& v : x) v /= length;
    return x;
  }
  /// The third moment or, of symmetric rows, the row that is farthest from the mean.
  [[nodiscard]] std::vector<double> start() const {
    std::vector<double> third = sum_of([&](std::size_t i) { return squared_distance(i); });
    const double length =
        std::sqrt(std::inner_product(third.begin(), third.end(), third.begin(), 0.0));
    constexpr double symmetric = 1e-9;
    if (length > symmetric * scatter_ * std::sqrt(variance())) return unit(third);
    const auto farthest = *std::max_element(
        members_.begin(), members_.end(),
        [&](std::size_t a, std::size_t b) { return squared_distance(a) < squared_distance(b); });
    return unit(sum_of([&](std::size_t i) { return i == farthest ? 1 : 0; }));
  }

  const Pool* pool_;
  std::vector<std::size_t> members_;
  std::vector<double> mean_;
  double total_ = 0;
  double scatter_ = 0;
};

}  // namespace

Landmarks::Landmarks(const MapData& data, const Standardised& scale, std::size_t count)
    : centres(scale.columns()) {
  constexpr std::size_t most_numbers = 4'000'000;
  constexpr std::size_t enough = 4096;
  Pool pool(scale.columns());
  const std::size_t most =
      std::max(count, std::min(enough, most_numbers / std::max<std::size_t>(1, scale.columns())));
  pool.add(data.train, data.weight, data.seed, most, scale);
  if (data.target) pool.add(*data.target, {}, data.seed, most, scale);
  std::vector<std::size_t> all(pool.share.size());
  std::iota(all.begin(), all.end(), std::size_t{0});
  std::vector<Cluster> clusters;
  clusters.emplace_back(pool, std::move(all));
  while (clusters.size() < count) {
    const auto widest = std::max_element(
        clusters.begin(), clusters.end(),
        [](const Cluster& a, const Cluster& b) { return a.scatter() < b.scatter(); });
    if (widest->scatter() == 0) break;  // all different rows are centres
    auto [below, above] = widest->halves();
    *widest = std::move(below);
    clusters.push_back(std::move(above));
  }
  for (const Cluster& cluster : clusters) {
    centres.add(cluster.mean().data());
    share.push_back(cluster.total());
    variance.push_back(cluster.variance());
  }
}

double Landmarks::median_distance() const {
  // |x - z|^2 of rows x and z of two clusters is, on average, that of the means and both variances.
  std::vector<std::pair<double, double>> squared;  // and the share of such pairs
  double total = 0;
  for (std::size_t k = 0; k < share.size(); ++k) {
    for (std::size_t l = 0; l < k; ++l) {
      double sum = variance[k] + variance[l];
      for (std::size_t j = 0; j < centres.columns; ++j) {
        const double difference = centres.row(k)[j] - centres.row(l)[j];
        sum += difference * difference;
      }
      squared.emplace_back(sum, share[k] * share[l]);
      total += share[k] * share[l];
    }
  }
  std::sort(squared.begin(), squared.end());
  double below = 0;
  for (const auto& [value, weight] : squared) {
    below += weight;
    if (below >= total / 2) return value > 0 ? std::sqrt(value) : 1;
  }
  return 1;
}

}  // namespace covshift
