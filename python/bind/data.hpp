// What Python's data look like from here: a matrix in the caller's memory, or a table of columns.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <cstdint>
#include <initializer_list>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "covshift/data/encoder.hpp"
#include "covshift/data/matrix.hpp"
#include "covshift/data/rows.hpp"
#include "covshift/data/table.hpp"

namespace covshift::python {

namespace nb = nanobind;

/// A one-dimensional array, contiguous, looked at where it is.
template <typename T>
using Vector = nb::ndarray<const T, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
template <typename T>
using Dense = nb::ndarray<const T, nb::ndim<2>, nb::c_contig, nb::device::cpu>;

/// Data of a call. Holds on to the arrays it looks at; never copies a matrix.
class Data {
 public:
  template <typename T>
  static Data dense(const Dense<T>& x) {
    return Data({x.shape(0), x.shape(1), DenseRows<T>{x.data(), x.shape(1)}}, {nb::cast(x)});
  }
  template <typename T>
  static Data sparse(const Vector<std::int64_t>& offsets, const Vector<std::int32_t>& columns,
                     const Vector<T>& values, std::size_t cols) {
    check_places({offsets.data(), offsets.size()}, {columns.data(), columns.size()}, cols);
    return Data(
        {offsets.size() - 1, cols, SparseRows<T>{offsets.data(), columns.data(), values.data()}},
        {nb::cast(offsets), nb::cast(columns), nb::cast(values)});
  }
  /// Columns: (name, numbers) or (name, codes, levels).
  static Data table(const std::string& source, const nb::list& columns);

  [[nodiscard]] bool is_table() const { return table_ != nullptr; }
  [[nodiscard]] const Table& as_table() const { return *table_; }
  [[nodiscard]] const MatrixView& view() const { return view_; }
  [[nodiscard]] std::size_t rows() const { return is_table() ? table_->rows : view_.rows; }
  [[nodiscard]] bool is_sparse() const { return !is_table() && view_.storage.index() >= 2; }

 private:
  Data(MatrixView view, std::vector<nb::object> owners) : view_(view), owners_(std::move(owners)) {}

  MatrixView view_;
  std::vector<nb::object> owners_;
  std::shared_ptr<Table> table_;
};

/// Data as numbers: the matrix itself, or a table encoded.
struct Numbers {
  /// Of training data: learns the encoding. `names`: of a matrix' columns; empty: numbered.
  Numbers(const Data& data, const std::vector<std::string>& names);
  Numbers(const Data& data, const Encoder& encoder);

  Encoder encoder;
  Matrix encoded;  ///< of a table
  MatrixView view;
};

/// (column, first category, how many rows) for categories that the training data of a model lack.
template <typename Fitted>
std::vector<nb::tuple> unseen(const Fitted& model, const Data& data) {
  std::vector<nb::tuple> list;
  if (!data.is_table()) return list;
  for (const EncodedTable::Unseen& u : model.encoder().encode(data.as_table()).unseen) {
    list.push_back(nb::make_tuple(u.column, u.text, u.count));
  }
  return list;
}

/// Numbers that become NumPy's.
template <typename T>
nb::ndarray<nb::numpy, T> to_numpy(std::vector<T>&& values,
                                   std::initializer_list<std::size_t> shape) {
  auto owner = std::make_unique<std::vector<T>>(std::move(values));
  T* const data = owner->data();
  const nb::capsule free(owner.release(),
                         [](void* p) noexcept { delete static_cast<std::vector<T>*>(p); });
  return nb::ndarray<nb::numpy, T>(data, shape, free);
}

/// An optional array as a span: empty for None.
template <typename T>
std::span<const T> span_of(const std::optional<Vector<T>>& x) {
  return x ? std::span<const T>(x->data(), x->size()) : std::span<const T>();
}

}  // namespace covshift::python
