// The passes over the examples: blocks that stay in cache go through the kernels.
#include <algorithm>
#include <array>
#include <type_traits>

#include "covshift/base/threads.hpp"
#include "covshift/learn/examples.hpp"

namespace covshift {
namespace {

/// Rows of `labels` numbers to label-major blocks and back.
void to_block(const double* rows, std::size_t n, std::size_t labels, double* block) {
  for (std::size_t b = 0; b < n; ++b) {
    for (std::size_t y = 0; y < labels; ++y) block[y * block_rows + b] = rows[b * labels + y];
  }
}

void from_block(const double* block, std::size_t n, std::size_t labels, double* rows) {
  for (std::size_t b = 0; b < n; ++b) {
    for (std::size_t y = 0; y < labels; ++y) rows[b * labels + y] = block[y * block_rows + b];
  }
}

/// body(row) for every row of weights, on all threads where there are many.
template <typename Body>
void each_row(int threads, const RowMatrix& t, const Body& body) {
  const auto rows = static_cast<std::size_t>(t.rows());
  const std::size_t tasks = std::clamp<std::size_t>(t.size() >> 15U, 1, 64);
  parallel_tasks(threads, tasks, [&](std::size_t task) {
    for (std::size_t j = rows * task / tasks; j < rows * (task + 1) / tasks; ++j) body(j);
  });
}

}  // namespace

BlockBody keep_rows(int labels, double* psi, double* q) {
  const auto k = static_cast<std::size_t>(labels);
  return [k, psi, q](const BlockOf& block) {
    if (psi != nullptr) from_block(block.psi, block.rows, k, psi + block.first * k);
    if (q != nullptr) from_block(block.back, block.rows, k, q + block.first * k);
  };
}

DenseBlock Examples::dense_block(std::size_t first, std::size_t n, Workspace& work) const {
  if (const auto* x = std::get_if<DenseRows<double>>(&problem_.features.storage);
      x != nullptr && row_.empty() && rho_.empty() && x->stride == cols_ &&
      (first + n - 1) * cols_ + padded(cols_) <= problem_.features.rows * cols_) {
    return {x->data + first * cols_, cols_, n, cols_};
  }
  if (work.rows.rows == n && work.first == first) return work.rows;
  const std::size_t stride = padded(cols_);
  work.memory.resize(block_rows * stride);
  work.first = first;
  work.rows = {work.memory.data(), stride, n, cols_};
  std::visit(
      [&](const auto& x) {
        if constexpr (!requires { x.offsets; }) {
          for (std::size_t b = 0; b < n; ++b) {
            const auto* from = x.data + row(first + b) * x.stride;
            double* to = work.memory.data() + b * stride;
            if constexpr (std::is_same_v<decltype(from), const float*>) {
              kernels().widen(from, cols_, to);
            } else {
              std::copy_n(from, cols_, to);
            }
            std::fill(to + cols_, to + stride, 0.0);
          }
        }
      },
      problem_.features.storage);
  if (!rho_.empty() && !problem_.scale_of_column.empty()) {
    for (std::size_t b = 0; b < n; ++b) {
      const double* rho = rho_of(first + b);
      double* row = work.memory.data() + b * stride;
      for (std::size_t j = 0; j < cols_; ++j) row[j] *= rho[problem_.scale_of_column[j]];
    }
  } else if (!rho_.empty()) {
    for (std::size_t b = 0; b < n; ++b) {
      double* row = work.memory.data() + b * stride;
      for (std::size_t j = 0; j < cols_; ++j) row[j] *= rho_of(first + b)[0];
    }
  }
  return work.rows;
}

SparseRow Examples::sparse_row(std::size_t i, Workspace& work) const {
  SparseRow out;
  std::visit(
      [&](const auto& x) {
        if constexpr (requires { x.offsets; }) {
          const std::int64_t begin = x.offsets[row(i)];
          out.columns = x.columns + begin;
          out.entries = static_cast<std::size_t>(x.offsets[row(i) + 1] - begin);
          if constexpr (std::is_same_v<decltype(x.values), const double*>) {
            if (rho_.empty()) out.values = x.values + begin;
          }
        }
      },
      problem_.features.storage);
  if (out.values == nullptr) {
    work.memory.resize(out.entries + 1);  // each_entry gives the bias, too
    double* to = work.memory.data();
    each_entry(i, [&](std::size_t /*j*/, double z) { *to++ = z; });
    out.values = work.memory.data();
  }
  return out;
}

void Examples::zero(Packed& packed, bool contrasts) const {
  packed.labels = static_cast<std::size_t>(labels_) - (contrasts ? 1 : 0);
  packed.features.assign(
      sparse() ? cols_ * sparse_pitch(packed.labels) : packed.labels * padded(cols_), 0.0);
  packed.bias.assign(packed.labels, 0.0);
}

Packed Examples::pack(const RowMatrix& t, bool contrasts) const {
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

RowMatrix Examples::unpack(const Packed& packed) const {
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

void Examples::sum_lanes(RowMatrix& out) const {
  Packed& sum = sums_[0];
  parallel_tasks(threads_, lanes_, [&](std::size_t part) {
    const std::size_t begin = sum.features.size() * part / lanes_;
    const std::size_t end = sum.features.size() * (part + 1) / lanes_;
    for (std::size_t lane = 1; lane < lanes_; ++lane) {
      for (std::size_t j = begin; j < end; ++j) sum.features[j] += sums_[lane].features[j];
    }
  });
  for (std::size_t lane = 1; lane < lanes_; ++lane) {
    for (std::size_t y = 0; y < sum.labels; ++y) sum.bias[y] += sums_[lane].bias[y];
  }
  out = unpack(sum);
  reducer_->sum({out.data(), static_cast<std::size_t>(out.size())});
}

void Examples::times(std::size_t first, std::size_t n, const Packed& t, double* psi,
                     Workspace& work) const {
  if (sparse()) {
    for (std::size_t b = 0; b < n; ++b) {
      kernels().sparse_times(sparse_row(first + b, work), t.features.data(), t.labels, psi + b);
    }
  } else {
    kernels().times(dense_block(first, n, work), t.features.data(), t.labels, psi);
  }
  finish_times(first, n, t, psi);
}

void Examples::finish_times(std::size_t first, std::size_t n, const Packed& t, double* psi) const {
  if (problem_.bias && rho_.empty()) kernels().add_bias(n, t.labels, t.bias.data(), psi);
  if (rho_.empty() && r_.empty()) return;
  for (std::size_t y = 0; y < t.labels; ++y) {
    double* row = psi + y * block_rows;
    if (problem_.bias && !rho_.empty()) {
      for (std::size_t b = 0; b < n; ++b) row[b] += bias_of(first + b) * t.bias[y];
    }
    if (r_.empty()) continue;
    for (std::size_t b = 0; b < n; ++b) row[b] *= r_[first + b];
  }
}

void Examples::times_transposed(std::size_t first, std::size_t n, const double* rows, Packed& out,
                                Workspace& work) const {
  if (sparse()) {
    for (std::size_t b = 0; b < n; ++b) {
      kernels().sparse_times_transposed(sparse_row(first + b, work), rows + b, out.labels,
                                        out.features.data());
    }
  } else {
    kernels().times_transposed(dense_block(first, n, work), rows, out.labels, out.features.data());
  }
  add_bias(first, n, rows, out);
}

void Examples::add_bias(std::size_t first, std::size_t n, const double* rows, Packed& out) const {
  if (!problem_.bias) return;
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

void Examples::add(std::size_t i, const double* delta, Packed& t, Workspace& work) const {
  times_transposed(i, 1, delta, t, work);
  if (sparse()) return;
  // Beyond the columns a sum may hold anything, but weights are 0.
  const std::size_t pitch = padded(cols_);
  for (std::size_t y = 0; y < t.labels; ++y) {
    std::fill_n(t.features.data() + y * pitch + cols_, pitch - cols_, 0.0);
  }
}

void Examples::fused(const RowMatrix& t, RowMatrix& out, const BlockBody& body) const {
  const auto k = static_cast<std::size_t>(labels_);
  const Packed weights = pack(t, true);
  sums_.resize(lanes_);
  each_lane([&](std::size_t begin, std::size_t end, std::size_t lane) {
    zero(sums_[lane], true);
    Workspace work;
    std::vector<double> psi(k * block_rows);
    std::vector<double> back(k * block_rows);
    for (std::size_t first = begin; first < end; first += block_) {
      const std::size_t n = std::min(block_, end - first);
      std::fill_n(psi.data(), block_rows, 0.0);
      times(first, n, weights, psi.data() + block_rows, work);
      body({first, n, lane, psi.data(), back.data()});
      times_transposed(first, n, back.data() + block_rows, sums_[lane], work);
    }
  });
  sum_lanes(out);
}

PassTotals Examples::pass(const RowMatrix& t, RowMatrix& a, const double* q_given,
                          const BlockBody& see) const {
  const auto k = static_cast<std::size_t>(labels_);
  struct alignas(128) OnLinesOfItsOwn : PassTotals {};
  std::vector<OnLinesOfItsOwn> totals(lanes_);
  fused(t, a, [&](const BlockOf& block) {
    const std::size_t n = block.rows;
    const std::size_t first = block.first;
    double* psi = block.psi;
    double* q = block.back;
    const int* label = label_.data() + first;
    const double* weight = c().data() + first;
    std::array<double, block_rows> value{};
    const auto add = [&](const std::array<double, block_rows>& of, double& sum) {
      kernels().columns_sums(n, 1, block_rows, of.data(), weight, &sum);
    };
    // Relative to the true label: V(psi) - psi[y] = V(psi - psi[y]) without cancellation.
    kernels().from_truth(n, k, label, psi);
    game().play_block(n, psi, label, value.data(), q);
    PassTotals& total = totals[block.lane];
    add(value, total.loss);
    if (q_given != nullptr) {
      to_block(q_given + first * k, n, k, q);
      std::array<double, block_rows> risk{};
      for (std::size_t b = 0; b < n; ++b) {
        risk[b] = game().bayes_risk({q_given + (first + b) * k, k}, label[b]);
        value[b] -= risk[b];
      }
      add(risk, total.risk);
    }
    if (see) see(block);
    // What the potentials leave of V: H(q) for the best answers, the slack for given ones.
    kernels().settle(n, k, label, a_.data() + first, psi, value.data(), q);
    if (q_given != nullptr) {
      for (std::size_t b = 0; b < n; ++b) value[b] = std::max(0.0, value[b]);
    }
    add(value, q_given != nullptr ? total.slack : total.risk);
  });
  std::array<double, 3> sums{};
  for (const PassTotals& lane : totals) {
    sums[0] += lane.loss;
    sums[1] += lane.slack;
    sums[2] += lane.risk;
  }
  reducer_->sum(sums);
  return {sums[0], sums[1], sums[2]};
}

void Examples::potentials(const RowMatrix& t, const BlockBody& see) const {
  const Packed weights = pack(t, false);
  each_lane([&](std::size_t begin, std::size_t end, std::size_t lane) {
    Workspace work;
    std::vector<double> psi(weights.labels * block_rows);
    for (std::size_t first = begin; first < end; first += block_) {
      const std::size_t n = std::min(block_, end - first);
      times(first, n, weights, psi.data(), work);
      see({first, n, lane, psi.data(), nullptr});
    }
  });
}

void Examples::potentials(const RowMatrix& t, double* psi) const {
  potentials(t, keep_rows(labels_, psi, nullptr));
}

void Examples::collect(const BlockBody& fill, RowMatrix& out) const {
  sums_.resize(lanes_);
  each_lane([&](std::size_t begin, std::size_t end, std::size_t lane) {
    zero(sums_[lane], false);
    Workspace work;
    std::vector<double> back(sums_[lane].labels * block_rows);
    for (std::size_t first = begin; first < end; first += block_) {
      const std::size_t n = std::min(block_, end - first);
      fill({first, n, lane, nullptr, back.data()});
      times_transposed(first, n, back.data(), sums_[lane], work);
    }
  });
  sum_lanes(out);
}

void Examples::collect(const double* rows, RowMatrix& out) const {
  const auto k = static_cast<std::size_t>(labels_);
  collect(
      [&](const BlockOf& block) { to_block(rows + block.first * k, block.rows, k, block.back); },
      out);
}

}  // namespace covshift
