// Scaled rows of features, and their products with weights.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "covshift/base/large_vector.hpp"
#include "covshift/base/row_matrix.hpp"
#include "covshift/data/pooled_rows.hpp"
#include "covshift/kernel/kernels.hpp"
#include "covshift/learn/problem.hpp"

namespace covshift {

/// Weights, or a sum of that shape, in the layout of the kernels.
struct Packed {
  std::size_t labels = 0;
  /// Label-major if the features are dense, column-major if sparse.
  LargeVector features;
  LargeVector bias;  ///< one for each label
};

/// Memory for rows that must be converted for the kernels; holds the last converted block.
struct Workspace {
  std::vector<double> memory;
  std::size_t first = 0;
  DenseBlock rows;
};

/// A block of examples during a pass, label-major (kernel/kernels.hpp).
struct ExampleBlock {
  std::size_t first = 0;  ///< the block's examples are first .. first + rows - 1
  std::size_t rows = 0;
  std::size_t lane = 0;
  double* psi = nullptr;   ///< in: potentials; may be overwritten
  double* back = nullptr;  ///< out: the factors of the examples in the sum
};
using BlockBody = std::function<void(const ExampleBlock&)>;
/// Copies potentials and answers to psi and q (examples x labels; null: not copied).
BlockBody keep_rows(int labels, double* psi, double* q);

/// log r_i, the largest log scale of row i, and r_i, clamped to e^+-230: beyond that V(r x)/r, less
/// V(0)/r, no longer changes.
inline constexpr double log_scale_limit = 230;  // e^230 = 1e100
double log_largest_scale(const ScaledFeatures& features, std::size_t row);
double limited_scale(double log_scale);
/// The numbers of a dense row.
void copy_row(const ScaledFeatures& features, std::size_t row, double* to);

/// Rows in a form that cannot overflow: with r_i the largest scale of row i and zhat_i its features
/// times the scales relative to r_i (at most 1), potentials are psi_i = r_i zhat_i T.
class ScaledRows {
 public:
  /// The given rows of the features (none: all), for weights of `labels` labels.
  ScaledRows(const ScaledFeatures& features, int labels, int threads,
             std::optional<std::vector<std::size_t>> rows = {});
  ScaledRows(const ScaledRows&) = delete;
  ScaledRows& operator=(const ScaledRows&) = delete;

  [[nodiscard]] int threads() const { return threads_; }
  [[nodiscard]] std::size_t size() const { return size_; }
  [[nodiscard]] int dims() const { return static_cast<int>(cols_) + (features_.bias ? 1 : 0); }
  [[nodiscard]] int labels() const { return labels_; }
  [[nodiscard]] bool sparse() const { return is_sparse(features_.features); }
  /// The row of example i in the matrix of features.
  [[nodiscard]] std::size_t row(std::size_t i) const { return row_ ? (*row_)[i] : i; }
  [[nodiscard]] double r(std::size_t i) const { return r_.empty() ? 1 : r_[i]; }
  /// ||zhat_i||^2
  [[nodiscard]] double norm2(std::size_t i) const;

  /// psi = r zhat T for all examples (size x K), or block by block for `body`.
  void potentials(const RowMatrix& t, double* psi) const;
  void potentials(const RowMatrix& t, const BlockBody& body) const;

  /// Weights in the layout of the kernels; with `contrasts` relative to label 0, which is left out.
  [[nodiscard]] Packed pack(const RowMatrix& t, bool contrasts) const;
  /// The inverse; with contrasts, the weights of label 0 make the rows sum to 0.
  [[nodiscard]] RowMatrix unpack(const Packed& packed) const;
  /// The potentials psi = r zhat T of n examples, and T += zhat delta' for one, both label-major
  /// (psi[y * block_rows + b]), with packed weights.
  void times(std::size_t first, std::size_t n, const Packed& t, double* psi, Workspace& work) const;
  void add(std::size_t i, const double* delta, Packed& t, Workspace& work) const;
  void prefetch(std::size_t i) const;

  /// Runs body(first, last, lane) for every lane: ranges that do not depend on the threads.
  void each_lane(const std::function<void(std::size_t, std::size_t, std::size_t)>& body) const;
  [[nodiscard]] std::size_t lanes() const { return lanes_; }

 protected:
  /// f(column, value) for every entry of zhat_i, the bias last.
  template <typename F>
  void each_entry(std::size_t i, F&& f) const;
  /// Rows of zhat without the bias: in the caller's memory if possible, otherwise in `work`.
  DenseBlock dense_block(std::size_t first, std::size_t n, Workspace& work) const;
  SparseRow sparse_row(std::size_t i, Workspace& work) const;
  /// body(lane) for every lane of a pass over the rows. Every other pass goes backwards: of rows on
  /// disk that do not fit in memory, the last ones that were read are still there
  /// (docs/large-data.md: a fifth to a third less time).
  void in_turn(std::size_t lanes, const std::function<void(std::size_t)>& body) const;
  /// Sets packed sums to 0.
  void zero(Packed& packed, bool contrasts) const;
  void times_transposed(std::size_t first, std::size_t n, const double* rows, Packed& out,
                        Workspace& work) const;
  [[nodiscard]] double bias_of(std::size_t i) const {
    return rho_.empty() ? 1.0 : rho_[i * features_.scales + features_.scale_of_bias];
  }
  /// The matrix that holds example i, and its row there.
  [[nodiscard]] std::pair<const MatrixView*, std::size_t> place(std::size_t i) const {
    if (features_.pooled == nullptr) return {&features_.features, row(i)};
    const auto [rows, at] = features_.pooled->at(row(i));
    return {&rows->matrix(), at};
  }
  [[nodiscard]] const double* rho_of(std::size_t i) const {
    return rho_.empty() ? nullptr : rho_.data() + i * features_.scales;
  }
  [[nodiscard]] std::size_t cols() const { return cols_; }
  [[nodiscard]] std::size_t block() const { return block_; }

 private:
  ScaledFeatures features_;
  int labels_;
  int threads_;
  std::size_t cols_;
  std::size_t size_;
  std::size_t lanes_ = 1;
  mutable std::atomic<bool> backwards_ = false;  // the next pass
  std::size_t block_ = block_rows;               // examples per block: fewer if rows are long
  std::optional<std::vector<std::size_t>> row_;  // none: example i is row i
  bool in_place_;                                // kernels read the caller's rows
  std::vector<double> r_;                        // empty: 1
  std::vector<double> rho_;  // size x scales, relative to r; empty: a single scale
};

template <typename F>
void ScaledRows::each_entry(std::size_t i, F&& f) const {
  const double* rho = rho_of(i);
  const auto scaled = [&](std::size_t j, double value) {
    if (rho == nullptr) return value;
    return value * rho[features_.scale_of_column.empty() ? 0 : features_.scale_of_column[j]];
  };
  if (features_.pooled != nullptr && !sparse()) {
    std::vector<double> own(cols_);
    features_.pooled->copy(row(i), own.data());
    for (std::size_t j = 0; j < cols_; ++j) f(j, scaled(j, own[j]));
  } else {
    const auto [matrix, at] = place(i);
    std::visit(
        [&, at = at](const auto& x) {
          if constexpr (requires { x.offsets; }) {
            for (std::int64_t e = x.offsets[at]; e < x.offsets[at + 1]; ++e) {
              const auto j = static_cast<std::size_t>(x.columns[e]);
              f(j, scaled(j, static_cast<double>(x.values[e])));
            }
          } else {
            const auto* from = x.data + at * x.stride;
            for (std::size_t j = 0; j < cols_; ++j) f(j, scaled(j, static_cast<double>(from[j])));
          }
        },
        matrix->storage);
  }
  if (features_.bias) f(cols_, bias_of(i));
}

}  // namespace covshift
