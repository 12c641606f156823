// The extension module covshift._core: the library for the Python package, which is its only user.
#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "covshift/base/error.hpp"
#include "covshift/base/large_vector.hpp"
#include "covshift/base/number.hpp"
#include "covshift/base/version.hpp"
#include "python/bind/bind.hpp"
#include "python/bind/data.hpp"

namespace covshift::python {
namespace {

PyObject* exception_type(Error::Kind kind) {
  switch (kind) {
    case Error::Kind::file:
      return PyExc_OSError;
    case Error::Kind::numeric:
      return PyExc_ArithmeticError;
    case Error::Kind::stopped:
      return PyExc_KeyboardInterrupt;
    case Error::Kind::input:
      break;
  }
  return PyExc_ValueError;
}

void translate(const std::exception_ptr& p, void* /*payload*/) {
  try {
    std::rethrow_exception(p);
  } catch (const Error& e) {
    PyErr_SetString(exception_type(e.kind()), e.what());
  }
}

}  // namespace

void bind_data(nb::module_& m) {
  nb::class_<Data>(m, "Data", "Data of a call: a matrix in the caller's memory, or a table.")
      .def_prop_ro("rows", &Data::rows)
      .def_prop_ro("warnings", &Data::warnings);
  m.def("dense", &Data::dense<double>, nb::arg("x").noconvert());
  m.def("dense", &Data::dense<float>, nb::arg("x").noconvert());
  m.def("sparse", &Data::sparse<double>, nb::arg("offsets").noconvert(),
        nb::arg("columns").noconvert(), nb::arg("values").noconvert(), nb::arg("cols"));
  m.def("sparse", &Data::sparse<float>, nb::arg("offsets").noconvert(),
        nb::arg("columns").noconvert(), nb::arg("values").noconvert(), nb::arg("cols"));
  m.def(
      "is_missing", [](const std::string& text) { return is_missing(text); }, nb::arg("text"));
  m.def("table", &Data::table, nb::arg("source"), nb::arg("columns"));
  m.def("keep_large_vectors_in", &keep_large_vectors_in, nb::arg("folder"));
}

}  // namespace covshift::python

NB_MODULE(_core, m) {
  using namespace covshift::python;
  nb::register_exception_translator(translate);
  m.attr("__version__") = std::string(covshift::version());
  bind_options(m);
  bind_data(m);
  bind_arrow(m);
  bind_model(m);
  bind_ratio(m);
  bind_diagnose(m);
  bind_compare(m);
  bind_promise(m);
  bind_report(m);
  bind_parts(m);
}
