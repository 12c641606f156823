// Rows of a matrix restricted to the columns of a view, and which of them are equal.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string_view>
#include <variant>
#include <vector>

#include "covshift/data/matrix.hpp"

namespace covshift {

/// Scratch memory for a row, one per thread.
struct RowBuffer {
  std::vector<double> value;
  std::vector<bool> open;
  std::vector<std::size_t> touched;
};

/// The rows of a matrix, restricted to some columns (ascending; empty: all), which are renumbered
/// from 0. Nothing is copied: matrix and columns stay in the caller's memory.
class Rows {
 public:
  Rows(const MatrixView& matrix, std::span<const std::int32_t> columns)
      : matrix_(matrix), columns_(columns) {}

  [[nodiscard]] const MatrixView& matrix() const { return matrix_; }
  [[nodiscard]] std::size_t size() const { return matrix_.rows; }
  [[nodiscard]] std::size_t dims() const {
    return columns_.empty() ? matrix_.cols : columns_.size();
  }
  [[nodiscard]] bool all_columns() const { return columns_.empty(); }
  [[nodiscard]] bool sparse() const { return is_sparse(matrix_); }

  /// Calls f(column, value) for all entries of a dense row i, or the stored ones of a sparse row
  /// (in their order; repeated columns add up).
  template <typename F>
  void each(std::size_t i, F&& f) const {
    std::visit([&](const auto& storage) { each_of(storage, i, f); }, matrix_.storage);
  }

  /// The same with the entries of a repeated column added up.
  template <typename F>
  void each_once(std::size_t i, RowBuffer& buffer, F&& f) const {
    if (!sparse() || ascending(i)) return each(i, f);
    buffer.value.resize(dims());
    buffer.open.resize(dims());
    buffer.touched.clear();
    each(i, [&](std::size_t j, double value) {
      if (!buffer.open[j]) {
        buffer.open[j] = true;
        buffer.value[j] = 0;
        buffer.touched.push_back(j);
      }
      buffer.value[j] += value;
    });
    for (const std::size_t j : buffer.touched) {
      buffer.open[j] = false;
      f(j, buffer.value[j]);
    }
  }

  [[nodiscard]] double dot(std::size_t i, const double* u) const {
    double sum = 0;
    each(i, [&](std::size_t j, double value) { sum += value * u[j]; });
    return sum;
  }
  /// out += scale * row
  void add(std::size_t i, double scale, double* out) const {
    each(i, [&](std::size_t j, double value) { out[j] += scale * value; });
  }
  /// The row as dims() numbers.
  void gather(std::size_t i, double* out) const;

  /// Throws Error, naming the first value that is not finite or column out of range. `what` names
  /// the data: "the training data".
  void check(std::string_view what, int threads) const;

 private:
  /// True if a sparse row's columns ascend strictly, so none is repeated.
  [[nodiscard]] bool ascending(std::size_t i) const {
    return std::visit(
        [&](const auto& x) {
          if constexpr (requires { x.offsets; }) {
            for (std::int64_t e = x.offsets[i] + 1; e < x.offsets[i + 1]; ++e) {
              if (x.columns[e - 1] >= x.columns[e]) return false;
            }
          }
          return true;
        },
        matrix_.storage);
  }
  template <typename T, typename F>
  void each_of(const DenseRows<T>& x, std::size_t i, F&& f) const {
    const T* row = x.data + i * x.stride;
    if (columns_.empty()) {
      for (std::size_t j = 0; j < matrix_.cols; ++j) f(j, static_cast<double>(row[j]));
    } else {
      for (std::size_t j = 0; j < columns_.size(); ++j) f(j, static_cast<double>(row[columns_[j]]));
    }
  }
  template <typename T, typename F>
  void each_of(const SparseRows<T>& x, std::size_t i, F&& f) const {
    for (std::int64_t e = x.offsets[i]; e < x.offsets[i + 1]; ++e) {
      const std::ptrdiff_t j = position(x.columns[e]);
      if (j >= 0) f(static_cast<std::size_t>(j), static_cast<double>(x.values[e]));
    }
  }
  /// The position of a column of the matrix in the view; -1: not in it.
  [[nodiscard]] std::ptrdiff_t position(std::int32_t column) const;

  MatrixView matrix_;
  std::span<const std::int32_t> columns_;
};

/// Checks offsets and columns of a CSR matrix from outside, before anything else reads it. Throws
/// Error if an entry is in no row or in a column that does not exist.
void check_places(std::span<const std::int64_t> offsets, std::span<const std::int32_t> columns,
                  std::size_t cols);

/// The values of one column.
std::vector<double> take_column(const MatrixView& x, std::int32_t column);
/// A dense copy.
Matrix dense_copy(const Rows& rows);
/// A copy of some rows, in the order given, sparse if x is.
Matrix take_rows(const MatrixView& x, std::span<const std::size_t> rows);

/// The rows ordered by a hash of their non-zero entries and the seed. Folds and centres chosen in
/// this order are random, but the same for any permutation of the rows and for sparse and dense
/// storage. Rows of weight 0 are left out; equal rows are adjacent.
std::vector<std::size_t> row_order(const Rows& rows, std::span<const double> weight,
                                   std::uint64_t seed);

/// A row that equals an earlier one (the first such) in all columns and, if there are labels, in
/// its label.
struct Copy {
  std::size_t row;
  std::size_t of;
};
/// How often rows are equal, and whether by chance: then they are cells of a table rather than
/// copies.
struct Repeats {
  std::size_t different = 0;  ///< rows, with their labels
  double total = 0;           ///< weight of all rows
  std::size_t repeated = 0;   ///< different inputs that occur several times
  std::size_t mixed = 0;      ///< those among them that have several labels

  /// Equal rows are the rule (fewer than 8 different rows, or more than 20 of each on average), or
  /// 8 inputs or more, and most of those that repeat, have several labels. A copy has the label of
  /// its original, so copies alone have one.
  [[nodiscard]] bool cells() const;
};
struct Copies {
  std::vector<Copy> copies;  ///< none if they are cells
  bool cells = false;
};
/// Rows of weight 0 are ignored.
Copies copies(const Rows& rows, std::span<const double> weight, std::span<const int> label,
              int threads = 1);
/// Whether rows of two samples are equal by chance: as `mixed`, with the sample as the label.
bool share_cells(const Rows& a, std::span<const double> weight_a, const Rows& b, int threads = 1);

/// The weights with copies merged: the original has the weight of all, its copies 0. A fit with
/// these weights gives the same result for a weight of 2 as for the row twice. Empty if all are 1.
std::vector<double> merge_copies(const Rows& rows, std::span<const double> weight,
                                 std::span<const int> label = {}, int threads = 1);

/// The fold of each row, dealt in the given order: sizes differ by at most one. -1 for rows that
/// are not in the order.
std::vector<int> deal_folds(const std::vector<std::size_t>& order, std::size_t rows, int folds);

/// Runs body(first, last, lane) over ranges of 0..n-1 that do not depend on the number of threads,
/// so sums per lane, added in order, are reproducible.
struct Lanes {
  explicit Lanes(std::size_t items);
  void each(int threads,
            const std::function<void(std::size_t, std::size_t, std::size_t)>& body) const;
  std::size_t items;
  std::size_t count;
};

}  // namespace covshift
