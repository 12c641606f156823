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
#include "covshift/options/options.hpp"

namespace covshift::cli {
namespace {

using Json = nlohmann::ordered_json;

struct Flags {
  std::string train, target, output;
  ModelOptions options;
};

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

/// The options as given, with what only the program knows.
ModelOptions understand(const Flags& flags, const Common& common) {
  ModelOptions options = flags.options;
  const std::string cost = "cost:";
  if (options.fit.loss.starts_with(cost)) {
    options.fit.costs = read_costs(options.fit.loss.substr(cost.size()));
    options.fit.loss.clear();
  }
  options.fit.solve.threads = common.threads;
  options.fit.cancelled = interrupted;
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

/// Usage errors that show before any file is read.
void check_call(const Flags& flags) {
  const ModelOptions& options = flags.options;
  const FitOptions& fit = options.fit;
  refuse_overwriting(flags.output, {flags.train, flags.target});
  if (!options.weight.empty() && options.weight == options.label) {
    throw CLI::ValidationError("--weight", "the column of the class cannot be the weight as well");
  }
  if (!flags.target.empty()) return;
  const bool none = fit.generalize
                        ? fit.generalize->kind == Assumption::Kind::none
                        : !fit.choose_temper && fit.method != "auto" &&
                              find_method(fit.method).generalize == Assumption::Kind::none;
  if (!none) {
    throw CLI::ValidationError(
        "--target",
        "this method needs unlabelled data from where the model will be used; without "
        "them use lr, adv01 or svm");
  }
  if (fit.lambda.kind == LambdaChoice::Kind::iwcv) {
    throw CLI::ValidationError("--target", "iwcv needs the density ratio of a target; use cv");
  }
}

void run(const Flags& flags, const Common& common) {
  check_call(flags);
  catch_interrupt();
  ProgressBar bar(common.quiet || common.json);
  bar.show("reading", 0);
  const TrainingFile train = read_labelled(flags.train, flags.options.label, common.threads);
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

}  // namespace

void add_fit(CLI::App& app, Common& common) {
  auto flags = std::make_shared<Flags>();
  Option target = target_file(flags->target);
  target.flag = "--target";
  std::string list = "Methods:\n";
  for (const Method& m : methods()) list += fmt::format("  {:<14} {}\n", m.name, m.summary);
  add_command(app, common, "fit", "Learn a model from labelled data and unlabelled target data",
              Options{train_file(flags->train), target, label_column(flags->options.label),
                      required(output_file(flags->output, "Model file to write"))} +
                  model_options(flags->options))
      .footer(list)
      ->callback([flags, &common] { run(*flags, common); });
}

}  // namespace covshift::cli
