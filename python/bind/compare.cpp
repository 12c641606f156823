// Comparison of all methods.
#include <nlohmann/json.hpp>

#include "covshift/base/threads.hpp"
#include "covshift/compare/diagnosed.hpp"
#include "python/bind/bind.hpp"
#include "python/bind/data.hpp"
#include "python/bind/options.hpp"

namespace covshift::python {
namespace {

/// The comparison as JSON: every number of it, with the diagnosis, but without the command. `truth`
/// (null: none) are rows of the target, `truth_labels` their classes, -1 if training has no such.
std::string compare_data(Data& train, Data& target, const std::vector<std::string>& names,
                         const Vector<std::int32_t>& labels, Data* truth,
                         const Vector<std::int32_t>& truth_labels, const nb::dict& options,
                         const nb::object& progress) {
  CompareOptions own;
  PreparationOptions inputs = for_comparison();
  inputs.label = nb::cast<std::string>(options["label"]);
  inputs.classes = nb::cast<std::vector<std::string>>(options["classes"]);
  Options table = without_objects(compare_options(own, inputs), options, inputs.view_groups,
                                  own.fit.shift.ratio);
  const int& threads = own.fit.solve.threads;
  table.push_back(threads_option(own.fit.solve.threads));
  set_options(table, options);
  own.views_by_method = inputs.views.empty() && inputs.view_groups.empty();
  if (own.views_by_method) inputs.views = "each";
  return interruptible(progress, [&](const Control& control) {
    const StopScope scope(control.cancelled);
    own.fit.cancelled = control.cancelled;
    own.fit.progress = control.progress;
    Input input = train.input(names);
    input.labels = {labels.data(), labels.size()};
    const PreparedPair pair(train, input, &target, inputs, threads);
    PreparedRows rows;
    Truth judged;
    if (truth != nullptr) {
      rows = truth->encode(pair.preparation, threads);
      pair.preparation.apply(rows, "the truth", threads);
      judged = {rows.features, {truth_labels.data(), truth_labels.size()}};
    }
    return to_json(diagnose_and_compare(pair.preparation, pair.train, pair.target,
                                        truth != nullptr ? &judged : nullptr, own),
                   "")
        .dump();
  });
}

}  // namespace

void bind_compare(nb::module_& m) {
  m.def("compare", &compare_data, nb::arg("train"), nb::arg("target"), nb::arg("names"),
        nb::arg("labels"), nb::arg("truth").none(), nb::arg("truth_labels"), nb::arg("options"),
        nb::arg("progress").none());
}

}  // namespace covshift::python
