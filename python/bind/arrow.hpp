// Tables of any library that speaks Arrow's C data interface (pyarrow, polars, duckdb, ...), read
// where they are: https://arrow.apache.org/docs/format/CDataInterface.html
#pragma once

#include <nanobind/nanobind.h>

#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "covshift/data/table.hpp"

namespace covshift::python {

namespace nb = nanobind;

// The structures of the interface, as its page defines them.
struct ArrowSchema {
  const char* format;
  const char* name;
  const char* metadata;
  std::int64_t flags;
  std::int64_t n_children;
  ArrowSchema** children;
  ArrowSchema* dictionary;
  void (*release)(ArrowSchema*);
  void* private_data;
};
struct ArrowArray {
  std::int64_t length;
  std::int64_t null_count;
  std::int64_t offset;
  std::int64_t n_buffers;
  std::int64_t n_children;
  const void** buffers;
  ArrowArray** children;
  ArrowArray* dictionary;
  void (*release)(ArrowArray*);
  void* private_data;
};
struct ArrowArrayStream {
  int (*get_schema)(ArrowArrayStream*, ArrowSchema*);
  int (*get_next)(ArrowArrayStream*, ArrowArray*);
  const char* (*get_last_error)(ArrowArrayStream*);
  void (*release)(ArrowArrayStream*);
  void* private_data;
};

/// One of them, released at the end. Moving it out of its source marks the source as released.
template <typename T>
class Released {
 public:
  Released() = default;
  explicit Released(T& source) : value_(source) { source.release = nullptr; }
  Released(Released&& other) noexcept : value_(std::exchange(other.value_, T{})) {}
  Released& operator=(Released&& other) noexcept {
    std::swap(value_, other.value_);
    return *this;
  }
  Released(const Released&) = delete;
  Released& operator=(const Released&) = delete;
  ~Released() {
    if (value_.release != nullptr) value_.release(&value_);
  }
  T* operator->() { return &value_; }
  const T* operator->() const { return &value_; }
  T* get() { return &value_; }
  [[nodiscard]] const T& operator*() const { return value_; }

 private:
  T value_{};
};

/// What the values of a column are.
struct ArrowType {
  enum class Kind { number, decimal, text, date, other };

  explicit ArrowType(const ArrowSchema& schema);
  /// For a message: "list", "duration[ns]", ...
  [[nodiscard]] std::string name() const;

  Kind kind = Kind::other;
  std::string format;
  double per_day = 1;       ///< units of a date in a day
  double unit = 1;          ///< of a decimal: its integers in 1
  int bits = 128;           ///< of a decimal
  bool dictionary = false;  ///< the values are numbers of categories, whose type is this one
};

/// Values [first, first + count) of a column, counted from the array's offset. `row`: from 0.
/// f(row, number), NaN where missing.
template <typename F>
void each_number(const ArrowArray& array, const ArrowType& type, std::int64_t first,
                 std::int64_t count, F&& f);

/// The rows of a table, in one or more chunks that stay in the memory of their library.
class ArrowFrame {
 public:
  /// `source`: an object with __arrow_c_stream__ or __arrow_c_array__.
  explicit ArrowFrame(const nb::object& source);

  [[nodiscard]] const std::vector<std::string>& names() const { return names_; }
  [[nodiscard]] std::size_t rows() const { return rows_; }
  /// True if all columns are numbers.
  [[nodiscard]] bool numeric() const;
  /// The numbers of all columns, row by row: the one copy they need. float32 if all columns are.
  [[nodiscard]] nb::object matrix() const;
  /// The columns as the library has them; `source` names the table in messages.
  [[nodiscard]] Table table(const std::string& source) const;

 private:
  void take_stream(const nb::capsule& capsule);
  void take_array(const nb::tuple& capsules);
  void take_schema();
  template <typename T>
  [[nodiscard]] nb::object matrix_of() const;

  Released<ArrowSchema> schema_;
  std::vector<Released<ArrowArray>> chunks_;
  std::vector<std::string> names_;
  std::vector<ArrowType> types_;
  std::size_t rows_ = 0;
};

/// Categories of a column: codes and levels of `column`, from all chunks.
void read_categories(const ArrowArray& array, const ArrowSchema& schema, const ArrowType& type,
                     std::int64_t first, std::int64_t count, Dictionary& levels,
                     std::vector<std::int32_t>& codes);

// --- how numbers are read ---

namespace arrow {

inline bool bit(const void* bits, std::int64_t i) {
  return ((static_cast<const std::uint8_t*>(bits)[i >> 3] >> (i & 7)) & 1U) != 0;
}
inline bool missing(const ArrowArray& array, std::int64_t at) {
  return array.null_count != 0 && array.n_buffers > 0 && array.buffers[0] != nullptr &&
         !bit(array.buffers[0], at);
}
double half(std::uint16_t bits);
double decimal(const ArrowArray& array, const ArrowType& type, std::int64_t at);

/// Calls g(value_at) with a function of a position for the numbers of this type.
template <typename G>
void with_numbers(const ArrowArray& array, const ArrowType& type, G&& g) {
  const void* values = array.n_buffers > 1 ? array.buffers[1] : nullptr;
  const auto plain = [&]<typename T>(T) {
    const T* x = static_cast<const T*>(values);
    g([x](std::int64_t at) { return static_cast<double>(x[at]); });
  };
  if (type.kind == ArrowType::Kind::decimal) {
    return g([&](std::int64_t at) { return decimal(array, type, at); });
  }
  switch (type.format[0]) {
    case 'b':
      return g([values](std::int64_t at) { return bit(values, at) ? 1.0 : 0.0; });
    case 'c':
      return plain(std::int8_t{});
    case 'C':
      return plain(std::uint8_t{});
    case 's':
      return plain(std::int16_t{});
    case 'S':
      return plain(std::uint16_t{});
    case 'i':
      return plain(std::int32_t{});
    case 'I':
      return plain(std::uint32_t{});
    case 'l':
      return plain(std::int64_t{});
    case 'L':
      return plain(std::uint64_t{});
    case 'e':
      return g([values](std::int64_t at) {
        return half(static_cast<const std::uint16_t*>(values)[at]);
      });
    case 'f':
      return plain(float{});
    case 'g':
      return plain(double{});
    case 't':  // days since 1970, or a smaller unit
      return type.format == "tdD" ? plain(std::int32_t{}) : plain(std::int64_t{});
    default:  // 'n': nothing but missing values
      return g([](std::int64_t) { return std::numeric_limits<double>::quiet_NaN(); });
  }
}

}  // namespace arrow

template <typename F>
void each_number(const ArrowArray& array, const ArrowType& type, std::int64_t first,
                 std::int64_t count, F&& f) {
  arrow::with_numbers(array, type, [&](const auto& value_at) {
    const std::int64_t begin = array.offset + first;
    for (std::int64_t row = 0; row < count; ++row) {
      const bool missing = arrow::missing(array, begin + row);
      f(row, missing ? std::numeric_limits<double>::quiet_NaN() : value_at(begin + row));
    }
  });
}

}  // namespace covshift::python
