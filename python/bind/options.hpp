// Options from Python: a dictionary with the names of the table of options.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include "covshift/options/options.hpp"
#include "python/bind/work.hpp"

namespace covshift::python {

/// Sets the given options. A value of the wrong type is a TypeError, an invalid value an Error;
/// both start with the option's name.
void set_options(const Options& table, const nb::dict& given);
/// The estimator given.method with its options.
void set_ratio(const nb::dict& given, RatioOptions& ratio);
/// Sets options that Python gives as objects (views as groups of columns, the ratio as an
/// estimator) and returns the table without them.
Options without_objects(Options table, const nb::dict& given, Views::Groups& groups,
                        RatioOptions& ratio);
ModelOptions model_options(const nb::dict& given);

}  // namespace covshift::python
