// The parts of the extension module.
#pragma once

#include <nanobind/nanobind.h>

namespace covshift::python {

void bind_options(nanobind::module_& m);
void bind_data(nanobind::module_& m);
void bind_arrow(nanobind::module_& m);
void bind_model(nanobind::module_& m);
void bind_ratio(nanobind::module_& m);
void bind_diagnose(nanobind::module_& m);
void bind_compare(nanobind::module_& m);
void bind_promise(nanobind::module_& m);
void bind_report(nanobind::module_& m);
void bind_parts(nanobind::module_& m);

}  // namespace covshift::python
