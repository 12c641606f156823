// data/: tables, dense and sparse matrices, readers, encoding, scaling, PCA, views, feature maps.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <variant>
#include <vector>

#include "covshift/base/large_vector.hpp"

namespace covshift {

/// Rows of features in the caller's memory, row-major: row i starts at data + i * stride.
template <typename T>
struct DenseRows {
  const T* data = nullptr;
  std::size_t stride = 0;
};

/// Rows of features in the caller's memory, compressed sparse rows: the entries of row i are
/// offsets[i] .. offsets[i+1]-1, in any order; repeated columns add up.
template <typename T>
struct SparseRows {
  const std::int64_t* offsets = nullptr;
  const std::int32_t* columns = nullptr;
  const T* values = nullptr;
};

/// A matrix of features in the caller's memory.
struct MatrixView {
  std::size_t rows = 0;
  std::size_t cols = 0;
  std::variant<DenseRows<double>, DenseRows<float>, SparseRows<double>, SparseRows<float>> storage;
  /// Already checked: every number is finite and in an existing column.
  bool finite = false;

  static MatrixView dense(const double* data, std::size_t rows, std::size_t cols) {
    return {rows, cols, DenseRows<double>{data, cols}};
  }
  static MatrixView dense(const float* data, std::size_t rows, std::size_t cols) {
    return {rows, cols, DenseRows<float>{data, cols}};
  }
};

inline bool is_sparse(const MatrixView& x) {
  return std::holds_alternative<SparseRows<double>>(x.storage) ||
         std::holds_alternative<SparseRows<float>>(x.storage);
}

/// The number of values a matrix stores.
inline std::size_t entries(const MatrixView& x) {
  return std::visit(
      [&](const auto& rows) -> std::size_t {
        if constexpr (requires { rows.offsets; }) {
          return static_cast<std::size_t>(rows.offsets[x.rows] - rows.offsets[0]);
        } else {
          return x.rows * x.cols;
        }
      },
      x.storage);
}

/// The number of tasks for a pass over the matrix, each long enough to be worth a thread.
inline std::size_t tasks_for(const MatrixView& x) {
  return std::max<std::size_t>(1, std::min(x.rows, entries(x) >> 17U));
}

/// Rows first .. first+n-1 of a matrix, in the same memory.
inline MatrixView slice(const MatrixView& x, std::size_t first, std::size_t n) {
  MatrixView part = x;
  part.rows = n;
  std::visit(
      [&](auto& rows) {
        if constexpr (requires { rows.offsets; }) {
          rows.offsets += first;
        } else {
          rows.data += first * rows.stride;
        }
      },
      part.storage);
  return part;
}

/// A matrix of features that owns its memory: dense row-major, or compressed sparse rows.
struct Matrix {
  std::size_t rows = 0;
  std::size_t cols = 0;
  bool sparse = false;
  LargeVector values;                 ///< dense: rows * cols; sparse: one for each entry
  std::vector<std::int64_t> offsets;  ///< sparse only: rows + 1
  std::vector<std::int32_t> columns;  ///< sparse only: one for each entry
  bool finite = false;                ///< MatrixView::finite

  [[nodiscard]] MatrixView view() const {
    if (sparse) {
      return {rows, cols, SparseRows<double>{offsets.data(), columns.data(), values.data()},
              finite};
    }
    return {rows, cols, DenseRows<double>{values.data(), cols}, finite};
  }
};

}  // namespace covshift
