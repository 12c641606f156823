#include "covshift/data/rows.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <map>
#include <numeric>
#include <utility>

#include "covshift/base/error.hpp"
#include "covshift/base/threads.hpp"

namespace covshift {

namespace {

/// The finalizer of splitmix64: every bit of the input changes every bit of the output.
std::uint64_t mix(std::uint64_t z) {
  z += 0x9e3779b97f4a7c15;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
  z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
  return z ^ (z >> 31);
}

std::vector<std::uint64_t> hashes(const Rows& rows, std::uint64_t seed, int threads) {
  std::vector<std::uint64_t> key(rows.size());
  const std::uint64_t salt = mix(seed);
  std::vector<std::uint64_t> column(rows.dims());
  for (std::size_t j = 0; j < column.size(); ++j) column[j] = mix(salt ^ j);
  Lanes(rows.size()).each(threads, [&](std::size_t first, std::size_t last, std::size_t) {
    RowBuffer buffer;
    for (std::size_t i = first; i < last; ++i) {
      std::uint64_t sum = 0;  // a sum: the order of a sparse row's entries must not matter
      rows.each_once(i, buffer, [&](std::size_t j, double value) {
        if (value != 0) sum += mix(column[j] ^ std::bit_cast<std::uint64_t>(value));
      });
      key[i] = mix(sum);
    }
  });
  return key;
}

/// Rows by their keys.
std::vector<std::size_t> sorted(std::vector<std::size_t> list,
                                const std::vector<std::uint64_t>& key) {
  std::stable_sort(list.begin(), list.end(),
                   [&](std::size_t a, std::size_t b) { return key[a] < key[b]; });
  return list;
}

/// Rows of positive weight whose key may be another's, too: those that share a bit of a large field
/// with another. With few copies that is one row in thirty, and the others need not be sorted.
std::vector<std::size_t> perhaps_copies(const std::vector<std::uint64_t>& key,
                                        std::span<const double> weight) {
  const std::size_t bits = std::bit_ceil(32 * key.size() + 64);
  std::vector<bool> once(bits);
  std::vector<bool> again(bits);
  const auto counts = [&](std::size_t i) { return weight.empty() || weight[i] > 0; };
  for (std::size_t i = 0; i < key.size(); ++i) {
    if (!counts(i)) continue;
    const std::size_t bit = key[i] & (bits - 1);
    if (once[bit]) again[bit] = true;
    once[bit] = true;
  }
  std::vector<std::size_t> list;
  for (std::size_t i = 0; i < key.size(); ++i) {
    if (counts(i) && again[key[i] & (bits - 1)]) list.push_back(i);
  }
  return list;
}

using Entries = std::vector<std::pair<std::size_t, double>>;

/// The non-zero entries of a row by column.
Entries entries(const Rows& rows, std::size_t i, RowBuffer& buffer) {
  Entries list;
  rows.each_once(i, buffer, [&](std::size_t j, double value) {
    if (value != 0) list.emplace_back(j, value);
  });
  std::sort(list.begin(), list.end());
  return list;
}

}  // namespace

std::ptrdiff_t Rows::position(std::int32_t column) const {
  if (columns_.empty()) return column;
  const auto found = std::lower_bound(columns_.begin(), columns_.end(), column);
  return found != columns_.end() && *found == column ? found - columns_.begin() : -1;
}

void Rows::gather(std::size_t i, double* out) const {
  std::fill(out, out + dims(), 0.0);
  add(i, 1.0, out);
}

void Rows::check(std::string_view what, int threads) const {
  const auto finite = [&](std::size_t i, std::size_t column, double value) {
    if (!std::isfinite(value)) {
      fail_input("{}: feature {} of row {} is {}; remove or impute such rows", what, column + 1,
                 i + 1, value);
    }
  };
  Lanes(size()).each(threads, [&](std::size_t first, std::size_t last, std::size_t) {
    std::visit(
        [&](const auto& x) {
          for (std::size_t i = first; i < last; ++i) {
            if constexpr (requires { x.offsets; }) {
              for (std::int64_t e = x.offsets[i]; e < x.offsets[i + 1]; ++e) {
                const std::int64_t column = x.columns[e];
                if (column < 0 || static_cast<std::size_t>(column) >= matrix_.cols) {
                  fail_input("{}: row {} has an entry in column {}, but there are {} columns", what,
                             i + 1, column + 1, matrix_.cols);
                }
                if (position(x.columns[e]) >= 0) finite(i, x.columns[e], x.values[e]);
              }
            } else {
              each(i, [&](std::size_t j, double value) {
                finite(i, columns_.empty() ? j : columns_[j], value);
              });
            }
          }
        },
        matrix_.storage);
  });
}

std::vector<std::size_t> row_order(const Rows& rows, std::span<const double> weight,
                                   std::uint64_t seed) {
  std::vector<std::size_t> order;
  order.reserve(rows.size());
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (weight.empty() || weight[i] > 0) order.push_back(i);
  }
  return sorted(std::move(order), hashes(rows, seed, 1));
}

std::vector<std::size_t> originals(const Rows& rows, std::span<const double> weight,
                                   std::span<const int> label, int threads) {
  constexpr std::size_t few_rows = 8;
  constexpr double many_copies = 20;
  const std::vector<std::uint64_t> key = hashes(rows, 0, threads);
  const std::vector<std::size_t> order = sorted(perhaps_copies(key, weight), key);
  std::vector<std::size_t> own(rows.size());
  std::iota(own.begin(), own.end(), 0);
  std::vector<std::size_t> original = own;
  double total = 0;
  std::size_t different = 0;  // first of the rows that are left out here: no copies
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const double w = weight.empty() ? 1 : weight[i];
    total += w;
    different += w > 0 ? 1 : 0;
  }
  different -= order.size();
  RowBuffer buffer;
  for (std::size_t begin = 0, end = 0; begin < order.size(); begin = end) {
    while (end < order.size() && key[order[end]] == key[order[begin]]) ++end;
    // Rows of the same hash are equal, as good as always; but that is not to be trusted blindly.
    std::map<std::pair<int, Entries>, std::size_t> seen;
    for (std::size_t k = begin; k < end; ++k) {
      const std::size_t i = order[k];
      if (end - begin == 1) break;
      const int y = label.empty() ? 0 : label[i];
      original[i] = seen.try_emplace({y, entries(rows, i, buffer)}, i).first->second;
    }
    different += std::max<std::size_t>(1, seen.size());
  }
  if (different < few_rows || total > many_copies * static_cast<double>(different)) return own;
  return original;
}

std::vector<double> merge_copies(const Rows& rows, std::span<const double> weight,
                                 std::span<const int> label, int threads) {
  const std::vector<std::size_t> original = originals(rows, weight, label, threads);
  std::vector<double> merged(rows.size(), 0.0);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    merged[original[i]] += weight.empty() ? 1 : weight[i];
  }
  if (std::all_of(merged.begin(), merged.end(), [](double w) { return w == 1; })) merged.clear();
  return merged;
}

std::vector<int> deal_folds(const std::vector<std::size_t>& order, std::size_t rows, int folds) {
  std::vector<int> fold(rows, -1);
  for (std::size_t i = 0; i < order.size(); ++i) {
    fold[order[i]] = static_cast<int>(i % static_cast<std::size_t>(folds));
  }
  return fold;
}

Lanes::Lanes(std::size_t n) : items(n), count(std::clamp<std::size_t>(n / 512, 1, 16)) {}

void Lanes::each(int threads,
                 const std::function<void(std::size_t, std::size_t, std::size_t)>& body) const {
  parallel_tasks(threads, count, [&](std::size_t lane) {
    body(lane * items / count, (lane + 1) * items / count, lane);
  });
}

}  // namespace covshift
