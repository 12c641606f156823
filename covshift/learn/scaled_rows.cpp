#include "covshift/learn/scaled_rows.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <type_traits>
#include <utility>

#include "covshift/base/threads.hpp"

namespace covshift {
namespace {

/// A label-major block to rows of `labels` numbers.
void from_block(const double* block, std::size_t n, std::size_t labels, double* rows) {
  for (std::size_t b = 0; b < n; ++b) {
    for (std::size_t y = 0; y < labels; ++y) rows[b * labels + y] = block[y * block_rows + b];
  }
}

/// body(row) for every row of the weights, in parallel if there are many.
template <typename Body>
void each_row(int threads, const RowMatrix& t, const Body& body) {
  const auto rows = static_cast<std::size_t>(t.rows());
  const std::size_t tasks = std::clamp<std::size_t>(t.size() >> 15U, 1, 64);
  parallel_tasks(threads, tasks, [&](std::size_t task) {
    for (std::size_t j = rows * task / tasks; j < rows * (task + 1) / tasks; ++j) body(j);
  });
}

/// Whether kernels may read rows where they are, up to padded(columns) numbers of each: these are
/// multiplied by 0 and must be finite. Behind a row there is the next one, or its padding.
bool readable_in_place(const MatrixView& x) {
  const auto* rows = std::get_if<DenseRows<double>>(&x.storage);
  if (rows == nullptr || rows->stride < x.cols) return false;
  if (rows->stride == x.cols) return true;
  if (rows->stride < padded(x.cols)) return false;
  for (std::size_t i = 0; i + 1 < x.rows; ++i) {
    const double* row = rows->data + i * rows->stride;
    for (std::size_t j = x.cols; j < padded(x.cols); ++j) {
      if (!std::isfinite(row[j])) return false;
    }
  }
  return true;
}

/// The number of values that the rows store.
std::size_t entries_of(const ScaledFeatures& features) {
  const PooledRows* const pooled = features.pooled;
  const bool sparse = is_sparse(features.features);
  if (pooled == nullptr || !sparse) return entries(features.features);
  std::size_t count = 0;
  for (std::size_t i = 0; i < pooled->size(); ++i) {
    const auto [rows, row] = pooled->at(i);
    count += entries(slice(rows->matrix(), row, 1));
  }
  return count;
}

}  // namespace

BlockBody keep_rows(int labels, double* psi, double* q) {
  const auto k = static_cast<std::size_t>(labels);
  return [k, psi, q](const ExampleBlock& block) {
    if (psi != nullptr) from_block(block.psi, block.rows, k, psi + block.first * k);
    if (q != nullptr) from_block(block.back, block.rows, k, q + block.first * k);
  };
}

double log_largest_scale(const ScaledFeatures& features, std::size_t row) {
  if (features.log_scale.empty()) return 0;
  const auto scales = static_cast<std::size_t>(features.scales);
  const auto own = features.log_scale.subspan(row * scales, scales);
  return *std::max_element(own.begin(), own.end());
}

double limited_scale(double log_scale) {
  return std::exp(std::clamp(log_scale, -log_scale_limit, log_scale_limit));
}

void copy_row(const ScaledFeatures& features, std::size_t row, double* to) {
  if (features.pooled != nullptr) return features.pooled->copy(row, to);
  std::visit(
      [&](const auto& x) {
        if constexpr (!requires { x.offsets; }) {
          const auto* from = x.data + row * x.stride;
          if constexpr (std::is_same_v<decltype(from), const float*>) {
            kernels().widen(from, features.features.cols, to);
          } else {
            std::copy_n(from, features.features.cols, to);
          }
        }
      },
      features.features.storage);
}

ScaledRows::ScaledRows(const ScaledFeatures& features, int labels, int threads,
                       std::optional<std::vector<std::size_t>> rows)
    : features_(features),
      labels_(labels),
      threads_(thread_count(threads)),
      cols_(features.features.cols),
      size_(rows ? rows->size() : features.features.rows),
      row_(std::move(rows)),
      in_place_(features.pooled == nullptr && features.scales == 1 &&
                readable_in_place(features.features)) {
  const bool scaled = !features.log_scale.empty();
  const auto scales = static_cast<std::size_t>(features.scales);
  if (scaled) r_.reserve(size_);
  for (std::size_t i = 0; i < size_ && (scaled || scales > 1); ++i) {
    const double log_r = log_largest_scale(features, row(i));
    if (scaled) r_.push_back(limited_scale(log_r));
    for (std::size_t v = 0; scales > 1 && v < scales; ++v) {
      rho_.push_back(scaled ? std::exp(features.log_scale[row(i) * scales + v] - log_r) : 1.0);
    }
  }
  // Lanes depend on the problem alone, so that sums do not depend on the number of threads: enough
  // for many threads, but with partial sums small compared to the data; one if the problem is
  // small.
  const std::size_t parameters = static_cast<std::size_t>(dims()) * labels_;
  const std::size_t numbers = entries_of(features);
  if (numbers * labels_ > 200'000) {
    lanes_ = std::clamp<std::size_t>(numbers / (4 * parameters + 1), 4, 64);
    lanes_ = std::min(lanes_, size() / block_rows + 1);
  }
  // A block is read twice, the second time from the cache.
  constexpr std::size_t cache = 1U << 15U;  // numbers
  block_ = std::clamp<std::size_t>(cache / (cols_ + 1) / 4 * 4, 4, block_rows);
}

void ScaledRows::in_turn(std::size_t lanes, const std::function<void(std::size_t)>& body) const {
  const bool backwards = backwards_;
  backwards_ = !backwards;
  parallel_tasks(threads_, lanes,
                 [&](std::size_t task) { body(backwards ? lanes - 1 - task : task); });
}

void ScaledRows::each_lane(
    const std::function<void(std::size_t, std::size_t, std::size_t)>& body) const {
  in_turn(lanes_, [&](std::size_t lane) {
    body(size() * lane / lanes_, size() * (lane + 1) / lanes_, lane);
  });
}

void ScaledRows::prefetch(std::size_t i) const {
  const auto lines = [](const void* from, std::size_t bytes) {
    for (std::size_t b = 0; b < bytes; b += 64) {
      __builtin_prefetch(static_cast<const char*>(from) + b);
    }
  };
  const auto [matrix, at] = place(i);
  std::visit(
      [&, at = at](const auto& x) {
        if constexpr (requires { x.offsets; }) {
          const std::int64_t begin = x.offsets[at];
          const auto n = static_cast<std::size_t>(x.offsets[at + 1] - begin);
          lines(x.columns + begin, n * sizeof *x.columns);
          lines(x.values + begin, n * sizeof *x.values);
        } else {
          lines(x.data + at * x.stride, cols_ * sizeof *x.data);
        }
      },
      matrix->storage);
}

double ScaledRows::norm2(std::size_t i) const {
  double sum = 0;
  each_entry(i, [&](std::size_t /*j*/, double z) { sum += z * z; });
  return sum;
}

DenseBlock ScaledRows::dense_block(std::size_t first, std::size_t n, Workspace& work) const {
  // Where none of the rows between them is left out.
  if (in_place_ && row(first + n - 1) - row(first) == n - 1) {
    const auto& x = std::get<DenseRows<double>>(features_.features.storage);
    // The last row may be the end of the memory.
    const std::size_t end = (features_.features.rows - 1) * x.stride + cols_;
    if (row(first + n - 1) * x.stride + padded(cols_) <= end) {
      return {x.data + row(first) * x.stride, x.stride, n, cols_};
    }
  }
  if (work.rows.rows == n && work.first == first) return work.rows;
  const std::size_t stride = padded(cols_);
  work.memory.resize(block_rows * stride);
  work.first = first;
  work.rows = {work.memory.data(), stride, n, cols_};
  for (std::size_t b = 0; b < n; ++b) {
    double* to = work.memory.data() + b * stride;
    copy_row(features_, row(first + b), to);
    std::fill(to + cols_, to + stride, 0.0);
  }
  const std::span<const int> scale_of = features_.scale_of_column;
  for (std::size_t b = 0; b < n && !rho_.empty(); ++b) {
    const double* rho = rho_of(first + b);
    double* row = work.memory.data() + b * stride;
    for (std::size_t j = 0; j < cols_; ++j) row[j] *= rho[scale_of.empty() ? 0 : scale_of[j]];
  }
  return work.rows;
}

SparseRow ScaledRows::sparse_row(std::size_t i, Workspace& work) const {
  SparseRow out;
  const auto [matrix, at] = place(i);
  std::visit(
      [&, at = at](const auto& x) {
        if constexpr (requires { x.offsets; }) {
          const std::int64_t begin = x.offsets[at];
          out.columns = x.columns + begin;
          out.entries = static_cast<std::size_t>(x.offsets[at + 1] - begin);
          if constexpr (std::is_same_v<decltype(x.values), const double*>) {
            if (rho_.empty()) out.values = x.values + begin;
          }
        }
      },
      matrix->storage);
  if (out.values == nullptr) {
    work.memory.resize(out.entries + 1);  // each_entry visits the bias, too
    double* to = work.memory.data();
    each_entry(i, [&](std::size_t /*j*/, double z) { *to++ = z; });
    out.values = work.memory.data();
  }
  return out;
}

void ScaledRows::zero(Packed& packed, bool contrasts) const {
  packed.labels = static_cast<std::size_t>(labels_) - (contrasts ? 1 : 0);
  packed.features.assign(
      sparse() ? cols_ * sparse_pitch(packed.labels) : packed.labels * padded(cols_), 0.0);
  packed.bias.assign(packed.labels, 0.0);
}

Packed ScaledRows::pack(const RowMatrix& t, bool contrasts) const {
  Packed packed;
  zero(packed, contrasts);
  const std::size_t pitch = sparse() ? sparse_pitch(packed.labels) : padded(cols_);
  const auto k = static_cast<std::size_t>(labels_);
  const std::size_t skip = k - packed.labels;
  each_row(threads_, t, [&](std::size_t j) {
    const double* row = t.data() + j * k;
    const double base = contrasts ? row[0] : 0;
    for (std::size_t y = 0; y < packed.labels; ++y) {
      double& to =
          j == cols_ ? packed.bias[y] : packed.features[sparse() ? j * pitch + y : y * pitch + j];
      to = row[y + skip] - base;
    }
  });
  return packed;
}

RowMatrix ScaledRows::unpack(const Packed& packed) const {
  const std::size_t pitch = sparse() ? sparse_pitch(packed.labels) : padded(cols_);
  const auto k = static_cast<std::size_t>(labels_);
  const std::size_t skip = k - packed.labels;
  RowMatrix out(dims(), labels_);
  each_row(threads_, out, [&](std::size_t j) {
    double* row = out.data() + j * k;
    double rest = 0;
    for (std::size_t y = 0; y < packed.labels; ++y) {
      row[y + skip] =
          j == cols_ ? packed.bias[y] : packed.features[sparse() ? j * pitch + y : y * pitch + j];
      rest -= row[y + skip];
    }
    if (skip == 1) row[0] = rest;
  });
  return out;
}

void ScaledRows::times(std::size_t first, std::size_t n, const Packed& t, double* psi,
                       Workspace& work) const {
  if (sparse()) {
    for (std::size_t b = 0; b < n; ++b) {
      kernels().sparse_times(sparse_row(first + b, work), t.features.data(), t.labels, psi + b);
    }
  } else {
    kernels().times(dense_block(first, n, work), t.features.data(), t.labels, psi);
  }
  if (features_.bias && rho_.empty()) kernels().add_bias(n, t.labels, t.bias.data(), psi);
  if (rho_.empty() && r_.empty()) return;
  for (std::size_t y = 0; y < t.labels; ++y) {
    double* row = psi + y * block_rows;
    if (features_.bias && !rho_.empty()) {
      for (std::size_t b = 0; b < n; ++b) row[b] += bias_of(first + b) * t.bias[y];
    }
    if (r_.empty()) continue;
    for (std::size_t b = 0; b < n; ++b) row[b] *= r_[first + b];
  }
}

void ScaledRows::times_transposed(std::size_t first, std::size_t n, const double* rows, Packed& out,
                                  Workspace& work) const {
  if (sparse()) {
    for (std::size_t b = 0; b < n; ++b) {
      kernels().sparse_times_transposed(sparse_row(first + b, work), rows + b, out.labels,
                                        out.features.data());
    }
  } else {
    kernels().times_transposed(dense_block(first, n, work), rows, out.labels, out.features.data());
  }
  if (!features_.bias) return;
  static constexpr auto ones = [] {
    std::array<double, block_rows> x{};
    x.fill(1);
    return x;
  }();
  std::array<double, block_rows> own;  // NOLINT(cppcoreguidelines-pro-type-member-init): n of them
  for (std::size_t b = 0; b < n && !rho_.empty(); ++b) own[b] = bias_of(first + b);
  kernels().columns_sums(n, out.labels, block_rows, rows, (rho_.empty() ? ones : own).data(),
                         out.bias.data());
}

void ScaledRows::add(std::size_t i, const double* delta, Packed& t, Workspace& work) const {
  times_transposed(i, 1, delta, t, work);
  if (sparse()) return;
  // The padding of sums is arbitrary, that of weights is 0.
  const std::size_t pitch = padded(cols_);
  for (std::size_t y = 0; y < t.labels; ++y) {
    std::fill_n(t.features.data() + y * pitch + cols_, pitch - cols_, 0.0);
  }
}

void ScaledRows::potentials(const RowMatrix& t, const BlockBody& body) const {
  const Packed weights = pack(t, false);
  each_lane([&](std::size_t begin, std::size_t end, std::size_t lane) {
    Workspace work;
    std::vector<double> psi(weights.labels * block_rows);
    for (std::size_t first = begin; first < end; first += block_) {
      const std::size_t n = std::min(block_, end - first);
      times(first, n, weights, psi.data(), work);
      body({first, n, lane, psi.data(), nullptr});
    }
  });
}

void ScaledRows::potentials(const RowMatrix& t, double* psi) const {
  potentials(t, keep_rows(labels_, psi, nullptr));
}

}  // namespace covshift
