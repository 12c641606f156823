#include "python/bind/options.hpp"

#include "python/bind/data.hpp"

namespace covshift::python {
namespace {

void set_loss(const nb::dict& options, FitOptions& fit) {
  const nb::object loss = options["loss"];
  if (nb::isinstance<nb::str>(loss)) {
    fit.loss = nb::cast<std::string>(loss);
    return;
  }
  const auto costs = nb::cast<Dense<double>>(loss);
  fit.costs = CostMatrix{static_cast<int>(costs.shape(0)), static_cast<int>(costs.shape(1)),
                         std::vector<double>(costs.data(), costs.data() + costs.size())};
}

}  // namespace

RatioOptions ratio_options(const nb::dict& options) {
  RatioOptions ratio;
  ratio.lambda = RatioLambda::parse(option<std::string>(options, "ratio_lam"));
  ratio.kernel_width = option<std::optional<double>>(options, "kernel_width");
  ratio.kernel_lambda = option<std::optional<double>>(options, "kernel_lam");
  ratio.centres = option<std::size_t>(options, "centres");
  ratio.alpha = option<double>(options, "alpha");
  ratio.kmm_bound = option<double>(options, "bound");
  ratio.kmm_slack = option<std::optional<double>>(options, "slack");
  ratio.folds = option<int>(options, "ratio_folds");
  ratio.seed = option<std::uint64_t>(options, "seed");
  ratio.threads = option<int>(options, "threads");
  return ratio;
}

PreparationOptions preparation_options(const nb::dict& options) {
  PreparationOptions inputs;
  const nb::object views = options["views"];
  if (nb::isinstance<nb::str>(views)) {
    inputs.views = nb::cast<std::string>(views);
  } else {
    inputs.view_groups = nb::cast<Views::Groups>(views);
  }
  inputs.scale = parse_scale_kind(option<std::string>(options, "scale"));
  return inputs;
}

ModelOptions model_options(const nb::dict& options) {
  ModelOptions model{preparation_options(options), {}};
  model.label = option<std::string>(options, "label");
  model.classes = option<std::vector<std::string>>(options, "classes");
  FitOptions& fit = model.fit;
  fit.shift.ratio = ratio_options(options);
  model.set_ratio(option<std::string>(options, "ratio"));
  model.set_bias(option<std::string>(options, "bias"));
  set_loss(options, fit);
  const auto generalize = option<std::string>(options, "generalize");
  if (generalize == "auto") {
    fit.method = "auto";
  } else {
    model.set_generalize(generalize);
    const Assumption assumption = fit.generalize.value_or(Assumption{Assumption::Kind::temper, 0});
    fit.method = method_of(fit.costs ? "cost" : fit.loss, assumption.kind).name;
  }
  fit.shift.automatic = option<bool>(options, "automatic_views");
  fit.shift.generalized_views = option<std::vector<std::string>>(options, "generalized_views");
  fit.shift.view_threshold = option<double>(options, "view_threshold");
  fit.lambda = LambdaChoice::parse(option<std::string>(options, "lam"));
  fit.lambdas = option<std::vector<double>>(options, "lams");
  if (fit.lambdas.empty()) fit.lambdas = paper_lambdas();
  fit.folds = option<int>(options, "folds");
  fit.delta = option<double>(options, "delta");
  fit.solve.tolerance = option<double>(options, "tol");
  fit.solve.max_iterations = option<int>(options, "max_iter");
  fit.solve.time_limit = option<double>(options, "time_limit");
  fit.solve.seed = option<std::uint64_t>(options, "seed");
  fit.solve.threads = option<int>(options, "threads");
  return model;
}

}  // namespace covshift::python
