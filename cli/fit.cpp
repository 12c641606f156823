#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "cli/commands.hpp"
#include "cli/output.hpp"
#include "cli/training.hpp"
#include "covshift/base/error.hpp"
#include "covshift/data/read_table.hpp"
#include "covshift/model/model.hpp"

namespace covshift::cli {
namespace {

using Json = nlohmann::ordered_json;

/// The flags of `fit` as text, before they are understood.
struct Flags {
  std::string train, target, label, weight, output;
  std::string method = "robust";
  std::string loss, generalize, lambda;
  std::string generalized_views = "auto";
  std::string views = "all";
  std::string ratio = "logistic";
  std::string ratio_lambda = "stable";
  std::string scale = "unit";
  std::string bias = "joint";
  std::string lambdas, classes;
  double view_threshold = 0.1;
  int folds = 5;
  double delta = 0.05;
  double tolerance = 1e-6;
  int max_iterations = 0;
  double time_limit = 0;
  unsigned long long seed = 0;
};

bool prefixed(const std::string& text, const std::string& prefix, std::string& rest) {
  if (!text.starts_with(prefix)) return false;
  rest = text.substr(prefix.size());
  return true;
}

void check_method(const std::string& text) {
  if (text == "auto") return;
  try {
    find_method(text);
  } catch (const Error& e) {
    fail_input("{}, auto", e.what());
  }
}

void check_loss(const std::string& text) {
  std::string file;
  if (!prefixed(text, "cost:", file)) make_game(text, 3);
}

std::vector<double> parse_lambdas(const std::string& text) {
  std::vector<double> lambdas;
  for (const std::string& part : split(text)) {
    const LambdaChoice choice = LambdaChoice::parse(part);
    if (choice.kind != LambdaChoice::Kind::fixed) fail_input("'{}' is not a positive number", part);
    lambdas.push_back(choice.value);
  }
  return lambdas;
}

/// The rows of a headerless CSV file: one for each action, one column for each class.
CostMatrix read_costs(const std::string& path) {
  ReadOptions options;
  options.header = HeaderLine::absent;
  const Table table = read_table(path, options);
  CostMatrix costs;
  costs.actions = static_cast<int>(table.rows);
  costs.labels = static_cast<int>(table.columns.size());
  for (const Column& column : table.columns) finite_numbers(table, column, "cost");
  for (std::size_t a = 0; a < table.rows; ++a) {
    for (const Column& column : table.columns) costs.cost.push_back(column.numbers[a]);
  }
  return costs;
}

ModelOptions understand(const Flags& flags, const Common& common) {
  ModelOptions options;
  options.weight = flags.weight;
  options.classes = split(flags.classes);
  options.views = flags.views;
  options.scale = parse_scale_kind(flags.scale);
  FitOptions& fit = options.fit;
  fit.method = flags.method;
  std::string rest;
  if (prefixed(flags.loss, "cost:", rest)) {
    fit.costs = read_costs(rest);
  } else {
    fit.loss = flags.loss;
  }
  options.set_generalize(flags.generalize);
  fit.shift.automatic = flags.generalized_views == "auto";
  if (!fit.shift.automatic) fit.shift.generalized_views = split(flags.generalized_views);
  fit.shift.view_threshold = flags.view_threshold;
  options.set_bias(flags.bias);
  options.set_ratio(flags.ratio);
  fit.shift.ratio.lambda = RatioLambda::parse(flags.ratio_lambda);
  fit.lambda = LambdaChoice::parse(flags.lambda);
  if (!flags.lambdas.empty()) fit.lambdas = parse_lambdas(flags.lambdas);
  fit.folds = flags.folds;
  fit.delta = flags.delta;
  fit.solve.tolerance = flags.tolerance;
  fit.solve.max_iterations = flags.max_iterations;
  fit.solve.time_limit = flags.time_limit;
  fit.solve.seed = flags.seed;
  fit.solve.threads = common.threads;
  fit.cancelled = interrupted;
  return options;
}

void report_json(const Model& model) {
  const Classifier& c = model.classifier();
  const FitReport& r = c.report();
  Json views = Json::array();
  for (const ViewShift& v : c.shift().views()) {
    views.push_back({{"name", v.name}, {"kl", v.kl}, {"generalized", v.generalized}});
  }
  Json ratio = nullptr;
  if (r.ratio) {
    ratio = {{"method", c.shift().joint() != nullptr ? c.shift().joint()->name() : "column"},
             {"effective_sample_size", r.ratio->effective_sample_size},
             {"largest_share", r.ratio->largest_share}};
    if (c.shift().joint() != nullptr) ratio["fit"] = c.shift().joint()->report();
  }
  Json selection = Json::array();
  for (const Candidate& candidate : r.candidates) {
    Json path = Json::array();
    for (const CrossValidated& point : candidate.path) {
      path.push_back({{"lambda", point.lambda},
                      {"loss", point.loss},
                      {"standard_error", point.standard_error}});
    }
    selection.push_back({{"method", candidate.method},
                         {"generalize", candidate.generalize},
                         {"path", std::move(path)}});
  }
  const Certificate& certificate = c.certificate();
  const auto number = [](const std::optional<double>& x) { return x ? Json(*x) : Json(nullptr); };
  print_json({{"method", c.method()},
              {"loss", c.game().name()},
              {"generalize", to_string(c.shift().assumption())},
              {"classes", model.classes().names()},
              {"objective", r.solution.objective},
              {"dual", r.solution.dual},
              {"gap", r.solution.gap},
              {"iterations", r.solution.iterations},
              {"status", to_string(r.solution.status)},
              {"lambda", r.lambda},
              {"lambda_choice", r.lambda_choice},
              {"seconds", r.seconds},
              {"game_value", certificate.game_value},
              {"certificate",
               {{"game_value", certificate.game_value},
                {"gap", certificate.gap},
                {"target_value", number(certificate.target_value)},
                {"target_risk", number(certificate.target_risk)},
                {"mean_weight", certificate.mean_weight},
                {"reliable", certificate.reliable},
                {"finite_sample", certificate.finite_sample},
                {"delta", certificate.delta},
                {"statement", describe(certificate, c.game().name())}}},
              {"views", std::move(views)},
              {"ratio", std::move(ratio)},
              {"selection", std::move(selection)}});
}

void report_text(const Model& model, const std::string& output) {
  const Classifier& c = model.classifier();
  const FitReport& r = c.report();
  const Solution& s = r.solution;
  fmt::print("{} ({} loss, generalize {}), {} classes, {} features\n", c.method(), c.game().name(),
             to_string(c.shift().assumption()), model.classes().size(), c.cols());
  fmt::print("  lambda {:.6g} ({})\n", r.lambda, r.lambda_choice);
  fmt::print("  {} after {} iterations: objective {:.8g}, duality gap {:.2g}\n",
             to_string(s.status), s.iterations, s.objective, s.gap);
  if (r.ratio) {
    fmt::print("  effective sample size {:.1f}; the heaviest example has {:.1f}% of the weight\n",
               r.ratio->effective_sample_size, 100 * r.ratio->largest_share);
    std::vector<std::vector<std::string>> rows = {{"view", "symmetric KL", "generalized"}};
    for (const ViewShift& v : c.shift().views()) {
      rows.push_back(
          {v.name, fmt::format("{:.4f}", std::max(v.kl, 0.0)), v.generalized ? "yes" : "no"});
    }
    constexpr std::size_t shown = 20;
    const std::size_t more = rows.size() > shown + 1 ? rows.size() - shown - 1 : 0;
    rows.resize(rows.size() - more);
    print_table(rows);
    if (more > 0) fmt::print("  ... and {} more views (--json lists all)\n", more);
  }
  fmt::print("{}\n", describe(c.certificate(), c.game().name()));
  fmt::print("model written to {} in {:.2f} s\n", output, r.seconds);
}

/// What can be said of the flags before any file is read.
void check_call(const Flags& flags) {
  refuse_overwriting(flags.output, {flags.train, flags.target});
  if (!flags.weight.empty() && flags.weight == flags.label) {
    throw CLI::ValidationError("--weight", "the column of the class cannot be the weight as well");
  }
  if (!flags.target.empty()) return;
  const bool none =
      flags.generalize.empty()
          ? flags.method != "auto" && find_method(flags.method).generalize == Assumption::Kind::none
          : flags.generalize == "none";
  if (!none) {
    throw CLI::ValidationError(
        "--target",
        "this method needs the unlabelled data the model is for; without them use lr, "
        "adv01 or svm");
  }
  if (flags.lambda == "iwcv") {
    throw CLI::ValidationError("--target", "iwcv weighs by the density ratio of a target; use cv");
  }
}

void run(const Flags& flags, const Common& common) {
  check_call(flags);
  catch_interrupt();
  ProgressBar bar(common.quiet || common.json);
  bar.show("reading", 0);
  const TrainingFile train = read_labelled(flags.train, flags.label, common.threads);
  ModelOptions options = understand(flags, common);
  options.label = train.label;
  options.fit.progress = [&](std::string_view stage, double share) { bar.show(stage, share); };
  Table target;
  if (!flags.target.empty()) {
    // Categories are kept as the training file has them, whatever this file's look like.
    const Encoder encoder = Encoder::fit(train.table, {train.label});
    target = read_table(flags.target, encoder.read_options(train.read));
  }
  const Model model = Model::fit(train.table, flags.target.empty() ? nullptr : &target, options);
  const Solution& solution = model.classifier().report().solution;
  if (solution.status == Status::stopped)
    throw Error(Error::Kind::stopped, "stopped; no model was written");
  if (solution.status == Status::non_finite) {
    throw Error(Error::Kind::numeric,
                "the numbers overflowed; scale the features (--scale unit) or regularise the "
                "density ratio more; no model was written");
  }
  model.save(flags.output);
  if (solution.status != Status::converged) {
    warn(fmt::format("not converged ({}): the objective is within {:.2g} of the optimum",
                     to_string(solution.status), solution.gap));
  }
  bar.clear();
  if (common.json) {
    report_json(model);
  } else if (!common.quiet) {
    report_text(model, flags.output);
  }
}

std::string method_list() {
  std::string text;
  for (const Method& m : methods()) text += fmt::format("\n  {:<14} {}", m.name, m.summary);
  return text + "\n  auto           the one of the smallest importance-weighted held-out loss";
}

}  // namespace

void add_fit(CLI::App& app, Common& common) {
  auto flags = std::make_shared<Flags>();
  CLI::App* fit =
      app.add_subcommand("fit", "Learn a model from labelled data and unlabelled target");
  fit->add_option("TRAIN", flags->train, "Labelled data: CSV (.gz), svmlight, ARFF or NPY")
      ->required();
  fit->add_option("--target", flags->target,
                  "Unlabelled data of where the model will be used (labels in it are ignored)");
  fit->add_option("--label", flags->label,
                  "The column of the class (svmlight files have their own)");
  fit->add_option("--classes", flags->classes,
                  "The classes in their order, a,b,c, for ordinal losses and cost matrices "
                  "(default: numbers by size, texts by the alphabet)");
  fit->add_option("-o,--output", flags->output, "The model file to write")->required();
  fit->add_option("--method", flags->method, "What to fit:" + method_list())
      ->check(valid(check_method))
      ->capture_default_str();
  fit->add_option("--loss", flags->loss,
                  "Another loss than the method's: log|zero-one|absolute|squared|abstain:A|"
                  "cost:FILE|hinge (absolute and squared take the classes in order; the file holds "
                  "a row for each action, a column for each class)")
      ->check(valid(check_loss));
  fit->add_option("--generalize", flags->generalize,
                  "Where training evidence is trusted, if not as the method has it: train|test|"
                  "views[:D]|overlap[:D]|temper:G|temper:auto|none|column:NAME (a column of log "
                  "P_gen/P_target)")
      ->check(valid([](const std::string& text) { ModelOptions().set_generalize(text); }));
  fit->add_option("--views", flags->views,
                  "Groups of columns: all|each|FILE with lines 'name = column, column*'")
      ->capture_default_str();
  fit->add_option("--generalized-views", flags->generalized_views,
                  "With views: which of them to trust, a,b|auto")
      ->capture_default_str();
  fit->add_option("--view-threshold", flags->view_threshold,
                  "auto trusts views whose symmetric KL between train and target is below this")
      ->check(non_negative_number())
      ->capture_default_str();
  fit->add_option("--lambda", flags->lambda,
                  "Regularisation: a number|cv|iwcv (default: cv without shift, else iwcv)")
      ->check(valid([](const std::string& text) { LambdaChoice::parse(text); }));
  fit->add_option("--lambdas", flags->lambdas,
                  "The grid of cv and iwcv, a,b,c (default: the paper's)")
      ->check(valid([](const std::string& text) { parse_lambdas(text); }));
  fit->add_option("--folds", flags->folds, "Folds of cv and iwcv")
      ->check(CLI::Range(2, 1000000))
      ->capture_default_str();
  fit->add_option("--ratio", flags->ratio,
                  "Density ratio target/train: logistic|gaussian|ulsif|rulsif|kliep|kmm|none|"
                  "column:NAME (a column of P_target/P_train)")
      ->check(valid([](const std::string& text) { ModelOptions().set_ratio(text); }))
      ->capture_default_str();
  fit->add_option(
         "--ratio-lambda", flags->ratio_lambda,
         "Regularisation of the logistic ratio: a number|paper|cv|stable (cv, but enough to "
         "leave the weights an effective sample of half the rows, or 100)")
      ->check(valid([](const std::string& text) { RatioLambda::parse(text); }))
      ->capture_default_str();
  fit->add_option("--scale", flags->scale, "Features: unit|standard|none")
      ->check(CLI::IsMember({"unit", "standard", "none"}))
      ->capture_default_str();
  fit->add_option("--bias", flags->bias,
                  "The constant feature's assumption: joint|test|none (no bias)")
      ->check(CLI::IsMember({"joint", "test", "none"}))
      ->capture_default_str();
  fit->add_option("--weight", flags->weight,
                  "A column of sample weights: 2 counts as the row twice");
  fit->add_option("--delta", flags->delta, "Of the certificate's finite-sample term")
      ->check(CLI::Range(1e-300, 1 - 1e-12))
      ->capture_default_str();
  fit->add_option("--tolerance", flags->tolerance,
                  "Duality gap to reach, relative to the objective")
      ->check(positive_number())
      ->capture_default_str();
  fit->add_option("--max-iterations", flags->max_iterations, "0: the solver's own limit")
      ->check(CLI::Range(0, 1000000000))
      ->capture_default_str();
  fit->add_option("--time-limit", flags->time_limit, "Seconds for the last fit; 0: none")
      ->check(non_negative_number())
      ->capture_default_str();
  fit->add_option("--seed", flags->seed, "Of folds and whatever else is random")
      ->capture_default_str();
  add_common(*fit, common);
  fit->callback([flags, &common] { run(*flags, common); });
}

}  // namespace covshift::cli
