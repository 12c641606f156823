// Options as the Python package hands them over: a dictionary with every key present.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "covshift/model/model.hpp"
#include "python/bind/work.hpp"

namespace covshift::python {

template <typename T>
T option(const nb::dict& options, const char* key) {
  return nb::cast<T>(options[key]);
}

RatioOptions ratio_options(const nb::dict& options);
ModelOptions model_options(const nb::dict& options);

}  // namespace covshift::python
