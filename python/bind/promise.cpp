// Estimates, prediction sets and the test for a changed P(y|x), for any classifier.
#include <algorithm>
#include <nlohmann/json.hpp>

#include "covshift/base/threads.hpp"
#include "covshift/compare/estimated.hpp"
#include "covshift/promise/concept.hpp"
#include "covshift/promise/conformal.hpp"
#include "covshift/promise/estimate.hpp"
#include "covshift/ratio/held_out.hpp"
#include "python/bind/bind.hpp"
#include "python/bind/data.hpp"
#include "python/bind/options.hpp"

namespace covshift::python {
namespace {

EstimateOptions options_from(const nb::dict& given) {
  EstimateOptions own;
  Views::Groups no_views;
  Options table = without_objects(estimate_options(own), given, no_views, own.ratio);
  table.push_back(threads_option(own.ratio.threads));
  set_options(table, given);
  return own;
}

std::span<const double> numbers(const Dense<double>& x) { return {x.data(), x.size()}; }

/// Rows, predictions and classes as the library takes them.
EstimateData data_of(const PreparedPair& pair, const Dense<double>& p,
                     const Vector<std::int32_t>& labels, const Dense<double>& target_p) {
  EstimateData data;
  data.classes = static_cast<int>(p.shape(1));
  data.p = numbers(p);
  data.labels = {labels.data(), labels.size()};
  data.target_p = numbers(target_p);
  data.features = pair.train.features;
  data.target = pair.target.features;
  data.unlike = static_cast<double>(pair.target.strange.unlike) /
                static_cast<double>(std::max<std::size_t>(1, data.target.rows));
  return data;
}

/// Identifiers say nothing about a shift.
EstimateOptions without_ids(EstimateOptions options, const PreparedPair& pair) {
  options.ratio = options_of_columns(options.ratio, {}, pair.preparation.id_columns(),
                                     pair.train.features.cols);
  return options;
}

/// The estimates as JSON, and the log weights of the labelled rows.
nb::tuple estimate(Data& labelled, Data& target, const std::vector<std::string>& names,
                   const Dense<double>& p, const Vector<std::int32_t>& labels,
                   const Dense<double>& target_p, const nb::dict& options) {
  EstimateOptions own = options_from(options);
  TargetPerformance found = interruptible(nb::none(), [&](const Control& control) {
    const StopScope scope(control.cancelled);
    const PreparedPair pair(labelled, labelled.input(names), &target, {}, own.ratio.threads);
    return estimate_performance(data_of(pair, p, labels, target_p), without_ids(own, pair));
  });
  const std::size_t rows = found.log_weight.size();
  const std::string json = to_json(found).dump();
  return nb::make_tuple(json, to_numpy(std::move(found.log_weight), {rows}));
}

/// The shift between the rows of an estimate, as JSON, with what it means for the classifier.
std::string diagnose_estimated(Data& labelled, Data& target, const std::vector<std::string>& names,
                               const Dense<double>& p, const Vector<std::int32_t>& labels,
                               const Dense<double>& target_p, const nb::dict& options) {
  const EstimateOptions own = options_from(options);
  return interruptible(nb::none(), [&](const Control& control) {
    const StopScope scope(control.cancelled);
    const int threads = own.ratio.threads;
    const PreparedPair pair(labelled, labelled.input(names), &target, {}, threads);
    const PreparedPair each(labelled, labelled.input(names), &target, for_diagnosis(), threads);
    const EstimateData data = data_of(pair, p, labels, target_p);
    const EstimateOptions options_used = without_ids(own, pair);
    return to_json(diagnose_estimate(each.preparation, each.train, each.target, data,
                                     estimate_performance(data, options_used), options_used))
        .dump();
  });
}

/// The test for a changed P(y|x), as JSON; `truth` has the classes of the target rows.
std::string changed_concept(Data& labelled, Data& target, const std::vector<std::string>& names,
                            const Dense<double>& p, const Vector<std::int32_t>& labels,
                            const Dense<double>& target_p, const Vector<std::int32_t>& truth,
                            const std::vector<std::string>& classes, const nb::dict& options) {
  EstimateOptions own = options_from(options);
  return interruptible(nb::none(), [&](const Control& control) {
    const StopScope scope(control.cancelled);
    const PreparedPair pair(labelled, labelled.input(names), &target, {}, own.ratio.threads);
    const ConceptTest test =
        test_concept(data_of(pair, p, labels, target_p), {truth.data(), truth.size()},
                     without_ids(own, pair).ratio, 1 - own.level);
    return to_json(test, classes).dump();
  });
}

/// Held-out log weights of the training rows.
auto held_out_log_weights(Data& data, Data& target, const std::vector<std::string>& names,
                          const nb::dict& options) {
  EstimateOptions own = options_from(options);
  std::vector<double> log_weight = interruptible(nb::none(), [&](const Control& control) {
    const StopScope scope(control.cancelled);
    const PreparedPair pair(data, data.input(names), &target, {}, own.ratio.threads);
    HeldOutRatio ratio =
        held_out_ratio(without_ids(own, pair).ratio, pair.train.features, pair.target.features);
    for (double& v : ratio.train) v = std::min(v, ratio.bound);
    return std::move(ratio.train);
  });
  const std::size_t rows = log_weight.size();
  return to_numpy(std::move(log_weight), {rows});
}

auto sets(const Vector<double>& score, const Vector<double>& log_weight, double alpha,
          const Dense<double>& p, const Vector<double>& row_log_weight) {
  const Calibration calibration({score.data(), score.size()},
                                {log_weight.data(), log_weight.size()});
  return to_numpy(prediction_sets(calibration, alpha, numbers(p), static_cast<int>(p.shape(1)),
                                  {row_log_weight.data(), row_log_weight.size()}),
                  {p.shape(0), p.shape(1)});
}

}  // namespace

void bind_promise(nb::module_& m) {
  m.def("estimate", &estimate, nb::arg("labelled"), nb::arg("target"), nb::arg("names"),
        nb::arg("p"), nb::arg("labels"), nb::arg("target_p"), nb::arg("options"));
  m.def("diagnose_estimate", &diagnose_estimated, nb::arg("labelled"), nb::arg("target"),
        nb::arg("names"), nb::arg("p"), nb::arg("labels"), nb::arg("target_p"), nb::arg("options"));
  m.def("changed_concept", &changed_concept, nb::arg("labelled"), nb::arg("target"),
        nb::arg("names"), nb::arg("p"), nb::arg("labels"), nb::arg("target_p"), nb::arg("truth"),
        nb::arg("classes"), nb::arg("options"));
  m.def("held_out_log_weights", &held_out_log_weights, nb::arg("data"), nb::arg("target"),
        nb::arg("names"), nb::arg("options"));
  m.def("prediction_sets", &sets, nb::arg("score"), nb::arg("log_weight"), nb::arg("alpha"),
        nb::arg("p"), nb::arg("row_log_weight"));
}

}  // namespace covshift::python
