// Diagnosis of shift.
#include "covshift/diagnose/diagnose.hpp"

#include <nlohmann/json.hpp>

#include "covshift/base/threads.hpp"
#include "python/bind/bind.hpp"
#include "python/bind/data.hpp"
#include "python/bind/options.hpp"

namespace covshift::python {
namespace {

/// The diagnosis as JSON: every number of it.
std::string diagnose_data(Data& train, Data& target, const std::vector<std::string>& names,
                          const nb::dict& options, const nb::object& progress) {
  DiagnoseOptions own;
  PreparationOptions inputs = for_diagnosis();
  Options table =
      without_objects(diagnose_options(own, inputs), options, inputs.view_groups, own.ratio);
  table.push_back(threads_option(own.threads));
  set_options(table, options);
  return interruptible(progress, [&](const Control& control) {
    const StopScope scope(control.cancelled);
    own.progress = control.progress;
    const PreparedPair pair(train, train.input(names), &target, inputs, own.threads);
    return to_json(diagnose(pair.preparation, pair.train, pair.target, own)).dump();
  });
}

}  // namespace

void bind_diagnose(nb::module_& m) {
  m.def("diagnose", &diagnose_data, nb::arg("train"), nb::arg("target"), nb::arg("names"),
        nb::arg("options"), nb::arg("progress").none());
}

}  // namespace covshift::python
