// Options as the Python package hands them over: a dictionary with every key present.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "covshift/base/error.hpp"
#include "covshift/model/model.hpp"
#include "python/bind/work.hpp"

namespace covshift::python {

template <typename T>
T option(const nb::dict& options, const char* key) {
  T value{};
  const nb::object given = options[key];
  if (!nb::try_cast(given, value)) {
    fail_input("{} cannot be {}", key, nb::cast<std::string>(nb::repr(given)));
  }
  return value;
}

RatioOptions ratio_options(const nb::dict& options);
/// Views and scaling.
PreparationOptions preparation_options(const nb::dict& options);
ModelOptions model_options(const nb::dict& options);

}  // namespace covshift::python
