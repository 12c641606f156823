#include "python/bind/arrow.hpp"

#include <fmt/format.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <unordered_set>

#include "covshift/base/error.hpp"
#include "python/bind/bind.hpp"
#include "python/bind/data.hpp"

namespace covshift::python {
namespace {

/// The structure in a capsule, which its protocol calls `name`.
template <typename T>
T& held_in(const nb::handle& capsule, const char* name) {
  void* const held = PyCapsule_GetPointer(capsule.ptr(), name);
  if (held == nullptr) throw nb::python_error();
  return *static_cast<T*>(held);
}

}  // namespace

ArrowFrame::ArrowFrame(const nb::object& source) {
  if (nb::hasattr(source, "__arrow_c_stream__")) {
    take_stream(nb::cast<nb::capsule>(source.attr("__arrow_c_stream__")()));
  } else {
    take_array(nb::cast<nb::tuple>(source.attr("__arrow_c_array__")()));
  }
}

void ArrowFrame::take_stream(const nb::capsule& capsule) {
  Released<ArrowArrayStream> stream(held_in<ArrowArrayStream>(capsule, "arrow_array_stream"));
  const auto check = [&](int code) {
    if (code == 0) return;
    const char* const said = stream->get_last_error(stream.get());
    fail_input("the table cannot be read: {}", said != nullptr ? said : "unknown error");
  };
  // A stream may run a query, whose threads may need the interpreter.
  const nb::gil_scoped_release release;
  check(stream->get_schema(stream.get(), schema_.get()));
  take_schema();
  for (;;) {
    Released<ArrowArray> chunk;
    check(stream->get_next(stream.get(), chunk.get()));
    if (chunk->release == nullptr) return;
    rows_ += static_cast<std::size_t>(chunk->length);
    if (chunk->length > 0) chunks_.push_back(std::move(chunk));
  }
}

void ArrowFrame::take_array(const nb::tuple& capsules) {
  schema_ = Released<ArrowSchema>(held_in<ArrowSchema>(capsules[0], "arrow_schema"));
  Released<ArrowArray> chunk(held_in<ArrowArray>(capsules[1], "arrow_array"));
  take_schema();
  rows_ = static_cast<std::size_t>(chunk->length);
  if (rows_ > 0) chunks_.push_back(std::move(chunk));
}

void ArrowFrame::take_schema() {
  if (std::string_view(schema_->format) != "+s") {
    fail_input("a table of named columns is needed, not a single column");
  }
  std::unordered_set<std::string> known;
  for (std::int64_t c = 0; c < schema_->n_children; ++c) {
    const ArrowSchema& column = *schema_->children[c];
    names_.emplace_back(column.name != nullptr ? column.name : "");
    types_.emplace_back(column);
    if (!known.insert(names_.back()).second) {
      fail_input("two columns are named '{}'; rename one", names_.back());
    }
  }
}

bool ArrowFrame::numeric() const {
  return std::all_of(types_.begin(), types_.end(), [](const ArrowType& type) {
    return !type.dictionary &&
           (type.kind == ArrowType::Kind::number || type.kind == ArrowType::Kind::decimal);
  });
}

template <typename T>
nb::object ArrowFrame::matrix_of() const {
  const std::size_t cols = types_.size();
  std::vector<T> values(rows_ * cols);
  T* to = values.data();
  constexpr std::int64_t block = 512;  // rows that stay in the cache while columns are visited
  for (const auto& chunk : chunks_) {
    for (std::int64_t first = 0; first < chunk->length; first += block) {
      const std::int64_t count = std::min(block, chunk->length - first);
      for (std::size_t c = 0; c < cols; ++c) {
        each_number(*chunk->children[c], types_[c], chunk->offset + first, count,
                    [&](std::int64_t row, double value) {
                      to[static_cast<std::size_t>(row) * cols + c] = static_cast<T>(value);
                    });
      }
      to += static_cast<std::size_t>(count) * cols;
    }
  }
  return nb::cast(to_numpy(std::move(values), {rows_, cols}));
}

nb::object ArrowFrame::matrix() const {
  const bool single =
      !types_.empty() && std::all_of(types_.begin(), types_.end(),
                                     [](const ArrowType& type) { return type.format == "f"; });
  return single ? matrix_of<float>() : matrix_of<double>();
}

Table ArrowFrame::table(const std::string& source) const {
  Table table;
  table.source = source;
  table.rows = rows_;
  for (std::size_t c = 0; c < types_.size(); ++c) {
    const ArrowType& type = types_[c];
    if (type.kind == ArrowType::Kind::other) {
      throw nb::type_error(
          fmt::format("column '{}' of {} is of type {}, neither numbers, categories nor dates; "
                      "convert it, or drop it",
                      names_[c], source, type.name())
              .c_str());
    }
    Column column;
    column.name = names_[c];
    column.categorical =
        type.dictionary || type.kind == ArrowType::Kind::text || type.kind == ArrowType::Kind::date;
    Dictionary levels;
    for (const auto& chunk : chunks_) {
      const ArrowArray& array = *chunk->children[c];
      if (column.categorical) {
        read_categories(array, *schema_->children[c], type, chunk->offset, chunk->length, levels,
                        column.codes);
      } else {
        each_number(array, type, chunk->offset, chunk->length,
                    [&](std::int64_t /*row*/, double value) { column.numbers.push_back(value); });
      }
    }
    column.levels = levels.take_levels();
    table.columns.push_back(std::move(column));
  }
  return table;
}

void bind_arrow(nb::module_& m) {
  nb::class_<ArrowFrame>(m, "ArrowFrame", "A table in another library's memory.")
      .def(nb::init<const nb::object&>(), nb::arg("source"))
      .def_prop_ro("names", &ArrowFrame::names)
      .def_prop_ro("rows", &ArrowFrame::rows)
      .def_prop_ro("numeric", &ArrowFrame::numeric)
      .def("matrix", &ArrowFrame::matrix)
      .def(
          "table",
          [](const ArrowFrame& frame, const std::string& source) {
            return Data(frame.table(source));
          },
          nb::arg("source"));
}

}  // namespace covshift::python
