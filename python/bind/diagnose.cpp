// Is there shift, and what to do about it.
#include "covshift/diagnose/diagnose.hpp"

#include <nlohmann/json.hpp>

#include "covshift/base/threads.hpp"
#include "python/bind/bind.hpp"
#include "python/bind/data.hpp"
#include "python/bind/options.hpp"

namespace covshift::python {
namespace {

/// The diagnosis as JSON: every number of it.
std::string diagnose_data(const Data& train, Data& target, const std::vector<std::string>& names,
                          const nb::dict& options, const nb::object& progress) {
  DiagnoseOptions own;
  own.ratio = ratio_options(options);
  own.ratio.method = parse_ratio_method(option<std::string>(options, "ratio"));
  own.view_threshold = option<double>(options, "view_threshold");
  own.level = option<double>(options, "level");
  own.permutations = option<int>(options, "permutations");
  own.seed = option<std::uint64_t>(options, "seed");
  own.threads = option<int>(options, "threads");
  const PreparationOptions inputs = preparation_options(options);
  own.views = inputs.view_groups.empty() ? inputs.views : "FILE";
  return interruptible(progress, [&](const Control& control) {
    const StopScope scope(control.cancelled);
    own.progress = control.progress;
    const PreparedPair pair(train.input(names), &target, inputs, own.threads);
    return to_json(diagnose(pair.preparation, pair.train, pair.target, own)).dump();
  });
}

}  // namespace

void bind_diagnose(nb::module_& m) {
  m.def("diagnose", &diagnose_data, nb::arg("train"), nb::arg("target"), nb::arg("names"),
        nb::arg("options"), nb::arg("progress").none());
}

}  // namespace covshift::python
