#include "python/bind/data.hpp"

#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "covshift/base/error.hpp"

namespace covshift::python {
namespace {

template <typename T>
std::vector<T> copy(const Vector<T>& x) {
  return std::vector<T>(x.data(), x.data() + x.size());
}

}  // namespace

Data Data::table(const std::string& source, const nb::list& columns) {
  Table table;
  table.source = source;
  for (const nb::handle item : columns) {
    const nb::tuple part = nb::cast<nb::tuple>(item);
    Column column;
    column.name = nb::cast<std::string>(part[0]);
    column.categorical = part.size() == 3;
    if (column.categorical) {
      column.codes = copy(nb::cast<Vector<std::int32_t>>(part[1]));
      column.levels = nb::cast<std::vector<std::string>>(part[2]);
      for (const std::int32_t code : column.codes) {
        if (code >= static_cast<std::int32_t>(column.levels.size())) {
          fail_input("column '{}': a code without a category", column.name);
        }
      }
      table.rows = column.codes.size();
    } else {
      column.numbers = copy(nb::cast<Vector<double>>(part[1]));
      table.rows = column.numbers.size();
    }
    table.columns.push_back(std::move(column));
  }
  return Data(std::move(table));
}

}  // namespace covshift::python
