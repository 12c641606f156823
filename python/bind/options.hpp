// Options as the Python package hands them over: a dictionary by the names of the table of options.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "covshift/options/options.hpp"
#include "python/bind/work.hpp"

namespace covshift::python {

/// Sets the options that are given. A value of the wrong type is a TypeError, a wrong value an
/// Error; both begin with the option's name.
void set_options(const Options& table, const nb::dict& given);
/// The estimator given.method with its own options.
void set_ratio(const nb::dict& given, RatioOptions& ratio);
/// The table without what Python gave as objects, which are set here: views as groups of columns,
/// the ratio as an estimator.
Options without_objects(Options table, const nb::dict& given, Views::Groups& groups,
                        RatioOptions& ratio);
ModelOptions model_options(const nb::dict& given);

}  // namespace covshift::python
