// Data from Python: a matrix in the caller's memory, or a table of columns.
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

#include "covshift/data/preparation.hpp"
#include "covshift/data/rows.hpp"

namespace covshift::python {

namespace nb = nanobind;

/// A one-dimensional array, contiguous, not copied.
template <typename T>
using Vector = nb::ndarray<const T, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
template <typename T>
using Dense = nb::ndarray<const T, nb::ndim<2>, nb::c_contig, nb::device::cpu>;

/// Data of a call. Keeps the arrays it refers to alive; never copies a matrix.
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
  explicit Data(Table table) : table_(std::make_shared<Table>(std::move(table))) {}
  /// Columns: (name, numbers) or (name, codes, levels).
  static Data table(const std::string& source, const nb::list& columns);

  /// `names`: of a matrix's columns; empty: numbered.
  [[nodiscard]] Input input(std::vector<std::string> names = {}) const {
    return table_ ? Input(*table_) : Input(view_, std::move(names));
  }
  /// Rows for a fitted model; stores the warnings.
  [[nodiscard]] PreparedRows encode(const Preparation& preparation, int threads) {
    PreparedRows rows = preparation.encode(input(), threads);
    warnings_ = rows.warnings;
    return rows;
  }
  [[nodiscard]] std::size_t rows() const { return table_ ? table_->rows : view_.rows; }
  [[nodiscard]] const std::vector<std::string>& warnings() const { return warnings_; }

 private:
  Data(MatrixView view, std::vector<nb::object> owners) : view_(view), owners_(std::move(owners)) {}

  friend struct PreparedPair;

  MatrixView view_;
  std::vector<nb::object> owners_;
  std::shared_ptr<Table> table_;
  std::vector<std::string> warnings_;
};

/// Training and target rows (null: none), prepared.
struct PreparedPair {
  /// `labelled` is `data` with labels and weights. Both keep their warnings.
  PreparedPair(Data& data, const Input& labelled, Data* other, const PreparationOptions& options,
               int threads)
      : preparation(labelled, options), train(preparation.encode_training(labelled, threads)) {
    if (other != nullptr) target = other->encode(preparation, threads);
    preparation.fit(train, other != nullptr ? &target : nullptr, threads);
    data.warnings_ = train.warnings;
  }
  Preparation preparation;
  PreparedRows train, target;
};

/// Moves numbers into a NumPy array.
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
