#include "covshift/data/smooth_order.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "covshift/base/random.hpp"
#include "covshift/kernel/kernels.hpp"

namespace covshift {

std::vector<double> smooth_places(const Rows& rows, std::uint64_t seed) {
  Random random(seed);
  const double a = 1 + random.uniform();
  const double b = 6 * random.uniform();
  const double at_zero = std::sin(b);
  std::vector<double> place(rows.size(), 0.0);
  RowBuffer buffer;
  std::vector<double> wave(padded(rows.dims()));
  for (std::size_t i = 0; i < rows.size(); ++i) {
    std::size_t count = 0;
    double largest = 0;
    rows.each_once(i, buffer, [&](std::size_t /*column*/, double x) {
      if (x == 0) return;
      wave[count] = a * x + b;
      largest = std::max(largest, std::abs(wave[count++]));
    });
    const std::size_t whole = padded(count);
    std::fill(wave.begin() + static_cast<std::ptrdiff_t>(count),
              wave.begin() + static_cast<std::ptrdiff_t>(whole), 0.0);
    if (largest <= sine_limit) {
      kernels().sines(whole, wave.data());
    } else {
      for (std::size_t j = 0; j < count; ++j) wave[j] = std::sin(wave[j]);
    }
    std::array<double, 4> sum{};  // independent, to hide the latency of additions
    for (std::size_t j = 0; j < whole; ++j) sum[j % 4] += wave[j];
    place[i] = (sum[0] + sum[1]) + (sum[2] + sum[3]) - static_cast<double>(count) * at_zero;
  }
  // Sums of the same numbers in another order differ by rounding.
  for (double& p : place) p = std::round(p * 1e10) * 1e-10;
  return place;
}

std::vector<std::size_t> drawing_order(const Rows& rows, std::span<const double> weight,
                                       std::uint64_t seed) {
  // What is left of a place after whole turns is as good as random, and still moves little.
  constexpr double turns = 29;
  std::vector<double> key = smooth_places(rows, seed);
  for (double& k : key) {
    const double turned = turns * k + 0.5;  // a row of zeros is not where turns begin
    k = turned - std::floor(turned);
  }
  std::vector<std::size_t> order = row_order(rows, weight, seed);
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t i, std::size_t j) { return key[i] < key[j]; });
  return order;
}

namespace {

/// The square of how far copies may be apart: 1e-6 of the diagonal of the box that holds the rows,
/// or 1e-5. A column of rare entries ranges over many of its deviations, so that digits of many
/// such columns add up to more than those of a few others.
double squared_reach(const Rows& rows) {
  std::vector<double> low(rows.dims(), INFINITY);
  std::vector<double> high(rows.dims(), -INFINITY);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    rows.each(i, [&](std::size_t j, double x) {
      low[j] = std::min(low[j], x);
      high[j] = std::max(high[j], x);
    });
  }
  double squares = 0;
  for (std::size_t j = 0; j < low.size(); ++j) squares += (high[j] - low[j]) * (high[j] - low[j]);
  return std::isfinite(squares) ? std::max(1e-12 * squares, 1e-10) : 1e-10;
}

}  // namespace

Copies near_copies(const Rows& rows, std::span<const double> weight, std::span<const int> label) {
  // Sparse rows have few digits to differ in, and many places are the same: only equal ones count.
  if (rows.sparse()) return copies(rows, weight, label);
  constexpr std::size_t window = 64;
  const std::vector<double> place = smooth_places(rows, 0);
  const auto label_of = [&](std::size_t i) { return label.empty() ? 0 : label[i]; };
  std::vector<std::size_t> order = row_order(rows, weight, 0);
  const double nearly = squared_reach(rows);
  // The sines of a place change by at most twice what their entries do.
  const double near = std::max(1e-4, 2 * std::sqrt(nearly * static_cast<double>(rows.dims())));
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t i, std::size_t j) { return place[i] < place[j]; });
  std::vector<double> own(rows.dims());
  std::vector<double> other(rows.dims());
  const auto alike = [&](std::size_t i) {
    rows.gather(i, other.data());
    double sum = 0;
    for (std::size_t j = 0; j < own.size() && sum <= nearly; ++j) {
      sum += (own[j] - other[j]) * (own[j] - other[j]);
    }
    return sum <= nearly;
  };
  std::vector<std::size_t> originals;
  std::vector<std::size_t> input;     // of each original, the first original that is alike
  std::vector<bool> repeated, mixed;  // of each original that is `input` of itself
  Copies found;
  Repeats repeats;
  for (const std::size_t i : order) {
    repeats.total += weight.empty() ? 1 : weight[i];
    std::size_t k = originals.size();
    std::size_t same_input = k;
    bool copy = false;
    const auto within = [&] {
      return k > 0 && originals.size() - k < window && place[i] - place[originals[k - 1]] < near;
    };
    if (within()) rows.gather(i, own.data());
    for (; !copy && within(); --k) {
      if (!alike(originals[k - 1])) continue;
      same_input = input[k - 1];
      copy = label_of(originals[k - 1]) == label_of(i);
    }
    const bool alone = same_input == originals.size();
    if (copy) {
      found.copies.push_back({i, originals[k]});
    } else {
      originals.push_back(i);
      input.push_back(same_input);
      repeated.push_back(false);
      mixed.push_back(false);
    }
    if (!alone) repeated[same_input] = true;
    if (!alone && !copy) mixed[same_input] = true;
  }
  repeats.different = originals.size();
  repeats.repeated = static_cast<std::size_t>(std::count(repeated.begin(), repeated.end(), true));
  repeats.mixed = static_cast<std::size_t>(std::count(mixed.begin(), mixed.end(), true));
  found.cells = repeats.cells();
  if (found.cells) found.copies.clear();
  return found;
}

std::vector<double> merge_near_copies(const Rows& rows, std::span<const double> weight,
                                      std::span<const int> label) {
  constexpr std::size_t most_numbers = 2'000'000;
  if (rows.size() * rows.dims() > most_numbers) return merge_copies(rows, weight, label);
  const Copies near = near_copies(rows, weight, label);
  std::vector<double> merged(weight.begin(), weight.end());
  if (near.copies.empty()) return merged;
  merged.resize(rows.size(), 1.0);
  for (const Copy& copy : near.copies) merged[copy.of] += std::exchange(merged[copy.row], 0.0);
  return merged;
}

}  // namespace covshift
