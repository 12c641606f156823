#include "covshift/data/rows.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <limits>
#include <map>
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

std::vector<std::uint64_t> hashes(const Rows& rows, std::uint64_t seed) {
  std::vector<std::uint64_t> key(rows.size());
  const std::uint64_t salt = mix(seed);
  std::vector<std::uint64_t> column(rows.dims());
  for (std::size_t j = 0; j < column.size(); ++j) column[j] = mix(salt ^ j);
  RowBuffer buffer;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    std::uint64_t sum = 0;  // a sum: the order of a sparse row's entries must not matter
    rows.each_once(i, buffer, [&](std::size_t j, double value) {
      if (value != 0) sum += mix(column[j] ^ std::bit_cast<std::uint64_t>(value));
    });
    key[i] = mix(sum);
  }
  return key;
}

/// A hash that different rows almost never share: the sum over columns of the bits of each number
/// (high ones folded into low ones) times a random factor of the column. Several times as fast as
/// hashing every number. Writes key[i] for the rows i listed.
void fingerprints(const Rows& rows, std::span<const std::size_t> list, int threads,
                  std::vector<std::uint64_t>& key) {
  std::vector<std::uint64_t> factor(rows.dims());
  for (std::size_t j = 0; j < factor.size(); ++j) factor[j] = mix(j) | 1U;
  const auto part = [&](std::size_t j, double value) {
    const auto bits = std::bit_cast<std::uint64_t>(value + 0.0);  // -0 is 0
    return (bits ^ (bits >> 32U) ^ (bits >> 52U)) * factor[j];
  };
  const std::size_t tasks = tasks_for(rows.matrix());
  parallel_tasks(threads, tasks, [&](std::size_t task) {
    RowBuffer buffer;
    for (std::size_t k = list.size() * task / tasks; k < list.size() * (task + 1) / tasks; ++k) {
      std::uint64_t sum = 0;
      rows.each_once(list[k], buffer, [&](std::size_t j, double value) { sum += part(j, value); });
      key[list[k]] = mix(sum);
    }
  });
}

/// The rows sorted by their keys.
std::vector<std::size_t> sorted(std::vector<std::size_t> list,
                                const std::vector<std::uint64_t>& key) {
  std::stable_sort(list.begin(), list.end(),
                   [&](std::size_t a, std::size_t b) { return key[a] < key[b]; });
  return list;
}

/// The rows listed that may share their key with another, because they collide in a large bit
/// field. With few copies that is one row in thirty; the others need not be sorted. The field is
/// split by the first bits of the keys into parts for different threads that fit the cache. Rows
/// with equal keys keep their order.
std::vector<std::size_t> perhaps_copies(std::span<const std::size_t> list, int threads,
                                        const std::vector<std::uint64_t>& key) {
  const std::size_t parts = list.size() < 50'000 ? 1 : 4;
  const std::size_t bits = std::bit_ceil(32 * list.size() + 64) / parts;
  std::vector<std::vector<std::size_t>> perhaps(parts);
  parallel_tasks(threads, parts, [&](std::size_t part) {
    std::vector<bool> once(bits);
    std::vector<bool> again(bits);
    const auto mine = [&](std::uint64_t k) { return (k >> 62U) % parts == part; };
    for (const std::size_t i : list) {
      if (!mine(key[i])) continue;
      const std::size_t bit = key[i] & (bits - 1);
      if (once[bit]) again[bit] = true;
      once[bit] = true;
    }
    for (const std::size_t i : list) {
      if (mine(key[i]) && again[key[i] & (bits - 1)]) perhaps[part].push_back(i);
    }
  });
  for (std::size_t part = 1; part < parts; ++part) {
    perhaps[0].insert(perhaps[0].end(), perhaps[part].begin(), perhaps[part].end());
  }
  return std::move(perhaps[0]);
}

/// The rows of positive weight.
std::vector<std::size_t> positive_rows(const Rows& rows, std::span<const double> weight) {
  std::vector<std::size_t> list;
  list.reserve(rows.size());
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (weight.empty() || weight[i] > 0) list.push_back(i);
  }
  return list;
}

/// Infinity and NaN times 0 are NaN, so a sum of products with 0 checks the whole row. Several sums
/// let additions overlap.
template <typename T>
bool all_finite(const T* row, std::size_t cols) {
  std::array<T, 8> probe{};
  std::size_t j = 0;
  for (; j + probe.size() <= cols; j += probe.size()) {
    for (std::size_t l = 0; l < probe.size(); ++l) probe[l] += row[j + l] * T{0};
  }
  for (; j < cols; ++j) probe[0] += row[j] * T{0};
  return std::all_of(probe.begin(), probe.end(), [](T sum) { return sum == T{0}; });
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
  if (matrix_.finite) return;
  const auto refuse = [&](std::size_t i) {
    each(i, [&](std::size_t j, double value) {
      if (std::isfinite(value)) return;
      fail_input("{}: feature {} of row {} is {}; remove or impute such rows", what,
                 (columns_.empty() ? j : columns_[j]) + 1, i + 1, value);
    });
  };
  const auto check_columns = [&](const auto& x, std::size_t i) {
    for (std::int64_t e = x.offsets[i]; e < x.offsets[i + 1]; ++e) {
      const std::int64_t column = x.columns[e];
      if (column >= 0 && static_cast<std::size_t>(column) < matrix_.cols) continue;
      fail_input("{}: row {} has an entry in column {}, but there are {} columns", what, i + 1,
                 column + 1, matrix_.cols);
    }
  };
  Lanes(size()).each(threads, [&](std::size_t first, std::size_t last, std::size_t) {
    std::visit(
        [&](const auto& x) {
          for (std::size_t i = first; i < last; ++i) {
            if constexpr (requires { x.offsets; }) {
              check_columns(x, i);
            } else if (columns_.empty() && all_finite(x.data + i * x.stride, matrix_.cols)) {
              continue;
            }
            refuse(i);
          }
        },
        matrix_.storage);
  });
}

void check_places(std::span<const std::int64_t> offsets, std::span<const std::int32_t> columns,
                  std::size_t cols) {
  for (std::size_t i = 0; i + 1 < offsets.size(); ++i) {
    if (offsets[i + 1] < offsets[i]) {
      fail_input("row {} starts at entry {} but ends at entry {}", i + 1, offsets[i],
                 offsets[i + 1]);
    }
  }
  const auto entries = static_cast<std::int64_t>(columns.size());
  if (offsets.empty() || offsets.front() != 0 || offsets.back() > entries) {
    fail_input("the row offsets must start at 0 and end within the {} entries", entries);
  }
  if (cols > std::numeric_limits<std::int32_t>::max()) fail_input("{} columns are too many", cols);
  columns = columns.first(static_cast<std::size_t>(offsets.back()));  // the rest is in no row
  // For a valid column, neither its number nor its distance from the last has the sign bit set.
  const auto last = static_cast<std::uint32_t>(cols) - 1;
  std::uint32_t bits = 0;
  for (const std::int32_t column : columns) {
    const auto place = static_cast<std::uint32_t>(column);
    bits |= place | (last - place);
  }
  if (bits >> 31U == 0) return;
  for (const std::int32_t column : columns) {
    if (column < 0 || static_cast<std::size_t>(column) >= cols) {
      fail_input("an entry is in column {}, but columns are 0 to {}", column,
                 static_cast<std::int64_t>(cols) - 1);
    }
  }
}

std::vector<double> take_column(const MatrixView& x, std::int32_t column) {
  const Rows rows(x, std::span(&column, 1));
  std::vector<double> values(x.rows);
  for (std::size_t i = 0; i < x.rows; ++i) rows.gather(i, &values[i]);
  return values;
}

Matrix dense_copy(const Rows& rows) {
  Matrix out;
  out.rows = rows.size();
  out.cols = rows.dims();
  out.values.resize(out.rows * out.cols);
  for (std::size_t i = 0; i < out.rows; ++i) rows.gather(i, out.values.data() + i * out.cols);
  return out;
}

Matrix take_rows(const MatrixView& x, std::span<const std::size_t> which) {
  const Rows rows(x, {});
  Matrix out;
  out.rows = which.size();
  out.cols = x.cols;
  out.sparse = rows.sparse();
  out.finite = x.finite;
  if (!out.sparse) {
    out.values.resize(out.rows * out.cols);
    for (std::size_t k = 0; k < which.size(); ++k) {
      rows.gather(which[k], out.values.data() + k * out.cols);
    }
    return out;
  }
  out.offsets.push_back(0);
  for (const std::size_t i : which) {
    rows.each(i, [&](std::size_t j, double value) {
      out.columns.push_back(static_cast<std::int32_t>(j));
      out.values.push_back(value);
    });
    out.offsets.push_back(static_cast<std::int64_t>(out.values.size()));
  }
  return out;
}

std::vector<std::size_t> row_order(const Rows& rows, std::span<const double> weight,
                                   std::uint64_t seed) {
  return sorted(positive_rows(rows, weight), hashes(rows, seed));
}

bool Repeats::cells() const {
  constexpr std::size_t few_rows = 8;
  constexpr double many_copies = 20;
  return different < few_rows || total > many_copies * static_cast<double>(different) ||
         (mixed >= few_rows && 2 * mixed > repeated);
}

Copies copies(const Rows& rows, std::span<const double> weight, std::span<const int> label,
              int threads) {
  constexpr std::size_t opening = 8;  // columns: a cache line
  std::vector<std::size_t> order = positive_rows(rows, weight);
  Repeats repeats{.different = order.size()};
  for (const std::size_t i : order) repeats.total += weight.empty() ? 1 : weight[i];
  std::vector<std::uint64_t> key(rows.size());
  const auto narrow_down = [&](const Rows& by) {
    fingerprints(by, order, threads, key);
    order = perhaps_copies(order, threads, key);
  };
  // Long rows that differ in their first columns need not be read completely.
  if (rows.all_columns() && !rows.sparse() && rows.dims() > opening) {
    MatrixView beginning = rows.matrix();
    beginning.cols = opening;
    narrow_down(Rows(beginning, {}));
  }
  narrow_down(rows);
  order = sorted(std::move(order), key);
  Copies found;
  repeats.different -= order.size();  // rows without a copy
  RowBuffer buffer;
  for (std::size_t begin = 0, end = 0; begin < order.size(); begin = end) {
    while (end < order.size() && key[order[end]] == key[order[begin]]) ++end;
    if (end - begin == 1) {
      ++repeats.different;
      continue;
    }
    // Rows with the same hash are almost always equal; compare them to be sure.
    std::map<Entries, std::map<int, std::size_t>> seen;
    for (std::size_t k = begin; k < end; ++k) {
      const std::size_t i = order[k];
      const int y = label.empty() ? 0 : label[i];
      const std::size_t first = seen[entries(rows, i, buffer)].try_emplace(y, i).first->second;
      if (first != i) found.copies.push_back({i, first});
    }
    for (const auto& [input, originals] : seen) repeats.different += originals.size();
    repeats.repeated += 1;
    repeats.mixed += seen.begin()->second.size() > 1 ? 1 : 0;
  }
  found.cells = repeats.cells();
  if (found.cells) found.copies.clear();
  return found;
}

bool share_cells(const Rows& a, std::span<const double> weight_a, const Rows& b, int threads) {
  std::vector<std::pair<std::uint64_t, bool>> rows;
  const auto add = [&](const Rows& from, std::span<const double> weight, bool second) {
    std::vector<std::uint64_t> key(from.size());
    const std::vector<std::size_t> list = positive_rows(from, weight);
    fingerprints(from, list, threads, key);
    for (const std::size_t i : list) rows.emplace_back(key[i], second);
  };
  add(a, weight_a, false);
  add(b, {}, true);
  std::sort(rows.begin(), rows.end());
  Repeats repeats{.different = rows.size()};  // whether equal rows are the rule each sample tells
  for (std::size_t begin = 0, end = 0; begin < rows.size(); begin = end) {
    while (end < rows.size() && rows[end].first == rows[begin].first) ++end;
    repeats.repeated += end - begin > 1 ? 1 : 0;
    repeats.mixed += rows[begin].second != rows[end - 1].second ? 1 : 0;
  }
  return repeats.cells();
}

std::vector<double> merge_copies(const Rows& rows, std::span<const double> weight,
                                 std::span<const int> label, int threads) {
  const std::vector<Copy> found = copies(rows, weight, label, threads).copies;
  if (found.empty() && weight.empty()) return {};
  std::vector<double> merged(weight.begin(), weight.end());
  merged.resize(rows.size(), 1.0);
  for (const Copy& copy : found) merged[copy.of] += std::exchange(merged[copy.row], 0.0);
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
