// Rows of a matrix seen through a view's columns, and which of them are equal.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string_view>
#include <type_traits>
#include <variant>
#include <vector>

#include "covshift/data/matrix.hpp"

namespace covshift {

/// Scratch memory for a row; one for each thread.
struct RowBuffer {
  std::vector<double> value;
  std::vector<bool> open;
  std::vector<std::size_t> touched;
};

/// The rows of a matrix, restricted to some columns (ascending; empty: all) that are counted from 0
/// again. Neither copied nor densified: matrix and columns stay with the caller.
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
  [[nodiscard]] bool sparse() const { return matrix_.storage.index() >= 2; }

  /// f(column, value) for the entries of row i: all of a dense row, the stored ones of a sparse one
  /// (in their order; a column may come again and adds up).
  template <typename F>
  void each(std::size_t i, F&& f) const {
    std::visit([&](const auto& storage) { each_of(storage, i, f); }, matrix_.storage);
  }

  /// The same with every column once at most, its entries added up.
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

  /// An Error that names the first value that is not finite, or column out of range; `what` says
  /// which data: "the training data".
  void check(std::string_view what, int threads) const;

 private:
  /// True if a sparse row's columns ascend, so that none is repeated.
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
  /// Where a column of the matrix stands in the view; -1: not in it.
  [[nodiscard]] std::ptrdiff_t position(std::int32_t column) const;

  MatrixView matrix_;
  std::span<const std::int32_t> columns_;
};

/// For offsets and columns of a CSR matrix from outside: an Error if an entry is in no row or in a
/// column that does not exist. To be called before anything else reads the matrix.
void check_places(std::span<const std::int64_t> offsets, std::span<const std::int32_t> columns,
                  std::size_t cols);

/// The values of one column.
std::vector<double> take_column(const MatrixView& x, std::int32_t column);
/// A copy of some rows, in the order given, sparse if x is.
Matrix take_rows(const MatrixView& x, std::span<const std::size_t> rows);

/// The rows in an order that depends on what they hold and on the seed, but not on how they are
/// arranged nor on sparse or dense: by a hash of their non-zero entries. Folds dealt and centres
/// taken along it are random, and the same for any permutation of the rows. Rows of weight 0 are
/// left out; equal rows follow one another.
std::vector<std::size_t> row_order(const Rows& rows, std::span<const double> weight,
                                   std::uint64_t seed);

/// A row that equals an earlier one, the first of its kind, in all columns and, where there are
/// labels, in its label.
struct Copy {
  std::size_t row;
  std::size_t of;
};
/// All copies. Rows of weight 0 are copies of nothing. Where few values make equal rows the rule
/// (fewer than 8 different ones, or more than 20 of each on average) they are cells of a table, not
/// copies, and there are none.
std::vector<Copy> copies(const Rows& rows, std::span<const double> weight,
                         std::span<const int> label, int threads = 1);

/// The weights with copies counted as one row: the original has the weight of all, its copies 0.
/// What is fitted with them cannot tell a weight of 2 from the row twice. Empty if all are 1.
std::vector<double> merge_copies(const Rows& rows, std::span<const double> weight,
                                 std::span<const int> label = {}, int threads = 1);

/// The fold of each of `rows` rows, of `folds`, dealt along the row order: sizes differ by at most
/// one. -1 for rows that are not in the order.
std::vector<int> deal_folds(const std::vector<std::size_t>& order, std::size_t rows, int folds);

/// Runs body(first, last, lane) over fixed ranges of 0..n-1, whatever the number of threads, so
/// that sums for each lane added up in order are always the same.
struct Lanes {
  explicit Lanes(std::size_t items);
  void each(int threads,
            const std::function<void(std::size_t, std::size_t, std::size_t)>& body) const;
  std::size_t items;
  std::size_t count;
};

}  // namespace covshift
