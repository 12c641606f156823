// Is there shift, and what to do about it.
#include "covshift/diagnose/diagnose.hpp"

#include <nlohmann/json.hpp>

#include "covshift/base/threads.hpp"
#include "python/bind/bind.hpp"
#include "python/bind/data.hpp"
#include "python/bind/options.hpp"

namespace covshift::python {
namespace {

Matrix copy_of(const MatrixView& x) { return Scaler::fit(ScaleKind::none, x).scaled(x); }

/// The diagnosis as JSON: every number of it.
std::string diagnose_data(const Data& train, const Data& target,
                          const std::vector<std::string>& names, const nb::dict& options,
                          const nb::object& progress) {
  DiagnoseOptions own;
  Views::Groups groups;
  Options table = without_objects(diagnose_options(own), options, groups, own.ratio);
  table.push_back(threads_option(own.threads));
  set_options(table, options);
  if (!groups.empty()) own.views = "FILE";
  return interruptible(progress, [&](const Control& control) {
    const StopScope scope(control.cancelled);
    own.progress = control.progress;
    const Numbers from(train, names);
    const Numbers to(target, from.encoder);
    const Views grouped = groups.empty() ? Views::parse(own.views, from.encoder)
                                         : Views::from_groups(groups, from.encoder);
    const Diagnosis d = diagnose(train.is_table() ? from.encoded : copy_of(from.view),
                                 target.is_table() ? to.encoded : copy_of(to.view),
                                 features_of(from.encoder), grouped, own);
    return to_json(d).dump();
  });
}

}  // namespace

void bind_diagnose(nb::module_& m) {
  m.def("diagnose", &diagnose_data, nb::arg("train"), nb::arg("target"), nb::arg("names"),
        nb::arg("options"), nb::arg("progress").none());
}

}  // namespace covshift::python
