#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "cli/commands.hpp"
#include "cli/output.hpp"
#include "cli/parts.hpp"
#include "cli/streaming.hpp"
#include "cli/training.hpp"
#include "covshift/base/error.hpp"
#include "covshift/base/number.hpp"
#include "covshift/data/read_table.hpp"
#include "covshift/engine/fit_parts.hpp"
#include "covshift/model/costs.hpp"
#include "covshift/model/model.hpp"
#include "covshift/options/options.hpp"

namespace covshift::cli {
namespace {

struct FitFlags {
  std::string train, target, output;
  bool accept_unconverged = false;
  MemoryOptions memory;
  ModelOptions options;
};

/// The given options, with costs, threads and cancellation.
ModelOptions complete_options(const FitFlags& flags, const Common& common) {
  ModelOptions options = flags.options;
  if (const std::string costs = cost_file(options.fit.loss); !costs.empty()) {
    options.fit.costs = read_costs(costs);
    options.fit.loss.clear();
  }
  options.fit.solve.threads = common.threads;
  options.fit.cancelled = interrupted;
  return options;
}

/// What was tried and what became of it; the lambda alone if nothing else was open.
void print_choice(const Classifier& c) {
  const FitReport& r = c.report();
  if (r.choice.empty()) {
    fmt::print("  lambda {:.6g} ({})\n", r.lambda, r.lambda_choice);
    return;
  }
  std::vector<std::vector<std::string>> rows = {
      {"features", "generalize", "lambda", "by", "held-out loss", "share"}};
  for (const Candidate& t : r.candidates) {
    rows.push_back({t.features, t.generalize, fmt::format("{:.3g}", t.lambda), t.lambda_choice,
                    fmt::format("{:.4f} +- {:.4f}", t.loss, t.standard_error),
                    t.share > 0 ? fmt::format("{:.1f}%", 100 * t.share) : "-"});
  }
  print_table(rows);
  fmt::print("  {}\n", printable(r.choice));
}

/// The ending of a counted noun.
std::string_view plural(auto count) { return count == 1 ? "" : "s"; }

void report_missing(const Preparation& preparation) {
  const nlohmann::ordered_json report = preparation.missing_report();
  if (report.is_null()) return;
  std::vector<std::string> columns;
  for (const auto& [name, count] : report["columns"].items()) {
    columns.push_back(fmt::format("{} ({})", printable(name), count.get<std::size_t>()));
  }
  constexpr std::size_t shown = 10;
  const std::size_t more = columns.size() > shown ? columns.size() - shown : 0;
  columns.resize(columns.size() - more);
  fmt::print("  missing values in {}{}: replaced by the median or most frequent value{}\n",
             fmt::join(columns, ", "), more > 0 ? fmt::format(" and {} more", more) : "",
             preparation.encoder().missing() == Missing::indicator
                 ? ", with an indicator (a category of their own)"
                 : "");
}

void report_text(const Model& model, const FitFlags& flags) {
  const Classifier& c = model.classifier();
  const FitReport& r = c.report();
  const Solution& s = r.solution;
  fmt::print("{} ({} loss, generalize {}), {} classes, {} feature{}\n", c.method(),
             printable(c.game().name()), c.generalize(), model.preparation().classes().size(),
             c.cols(), plural(c.cols()));
  const Features& features = c.components().front().features;
  if (c.components().size() == 1 && !features.identity()) {
    const std::vector<std::string> maps = features.maps();
    constexpr std::size_t shown_maps = 5;
    fmt::print("  mapped to {} features: {}{}\n", features.outputs(),
               fmt::join(maps.begin(), maps.begin() + std::min(maps.size(), shown_maps), ", "),
               maps.size() > shown_maps ? ", ..." : "");
  }
  print_choice(c);
  fmt::print("  {} after {} iteration{}: objective {:.8g}, duality gap {:.2g}\n",
             to_string(s.status), s.iterations, plural(s.iterations), s.objective, s.gap);
  report_missing(model.preparation());
  if (r.ratio) {
    fmt::print("  effective sample size {:.1f}; the heaviest example has {:.1f}% of the weight\n",
               r.ratio->effective_sample_size, 100 * r.ratio->largest_share);
    const DensityRatio* const joint = c.shift().joint();
    if (joint != nullptr && joint->report().contains("excess_per_norm")) {
      fmt::print(
          "  density ratio: lambda {:.4g}; with probability 0.95 its loss exceeds that of the best "
          "weights u by at most {:.3g} ||u||\n",
          joint->report()["lambda"].get<double>(),
          joint->report()["excess_per_norm"].get<double>());
    }
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
  } else if (!flags.target.empty()) {
    fmt::print("  the target is not used: {} ignores the shift (see `covshift diagnose`)\n",
               c.method());
  }
  fmt::print("{}\n", printable(describe(c.certificate(), c.game()), true));
  fmt::print("model written to {} in {:.2f} s\n", printable(flags.output), r.seconds);
}

/// Whether --ratio-lambda is for this ratio, or for one that it tries.
bool has_lambda(RatioMethod method) {
  return method == RatioMethod::logistic || method == RatioMethod::quadratic ||
         method == RatioMethod::automatic;
}

/// Whether the method that is given, or its assumption, takes no account of the target.
bool ignores_shift(const FitOptions& fit) {
  if (fit.generalize) return fit.generalize->kind == Assumption::Kind::none;
  return !fit.choose_temper && fit.method != "auto" &&
         find_method(fit.method).generalize == Assumption::Kind::none;
}

/// Usage errors that can be found before any file is read.
void check_call(const FitFlags& flags, const Common& common) {
  const ModelOptions& options = flags.options;
  const FitOptions& fit = options.fit;
  refuse_overwriting(flags.output,
                     {flags.train, flags.target, views_file(options.views), cost_file(fit.loss)});
  check_columns(options.columns, options.label);
  if (!options.weight.empty() && options.weight == options.label) {
    throw CLI::ValidationError("--weight", "the column of the class cannot be the weight as well");
  }
  if (common.reducer != nullptr && flags.memory.limited()) {
    throw CLI::ValidationError("--memory", "not under mpirun: start more processes instead");
  }
  if (!flags.target.empty()) return;
  const bool open = fit.method == "auto" && !fit.generalize && !fit.choose_temper;
  if (!open && !ignores_shift(fit)) {
    throw CLI::ValidationError(
        "--target",
        "this method needs unlabelled data from where the model will be used; without "
        "them use " +
            methods_without_target());
  }
  if (fit.lambda.kind == LambdaChoice::Kind::iwcv) {
    throw CLI::ValidationError("--target", "iwcv needs the density ratio of a target; use cv");
  }
}

/// Options that are given, but not used with the others.
void warn_ignored(const FitFlags& flags, const CLI::App& command, const Common& common) {
  const FitOptions& fit = flags.options.fit;
  const auto ignored = [&](const std::set<std::string>& names, const std::string& by) {
    for (const std::string& name : names) {
      if (command.count(name) > 0 && is_first(common)) {
        warn(fmt::format("{} has no effect {}", name, by));
      }
    }
  };
  if (fit.lambda.kind == LambdaChoice::Kind::fixed) {
    ignored({"--lambdas"}, fmt::format("with --lambda {}", number_text(fit.lambda.value)));
  }
  const bool weighted = fit.lambda.kind == LambdaChoice::Kind::iwcv;
  if (flags.target.empty()) {
    ignored(shift_flags(), "without --target");
  } else if (ignores_shift(fit) && !weighted) {
    ignored(shift_flags(),
            fit.generalize ? "with --generalize none" : "with --method " + fit.method);
  } else if (flags.options.ratio_column.empty() && !has_lambda(fit.shift.ratio.method)) {
    ignored({"--ratio-lambda"}, fmt::format("with --ratio {}", to_string(fit.shift.ratio.method)));
  }
}

void check_status(const Solution& solution, bool accept_unconverged) {
  if (solution.status == Status::stopped) {
    throw Error(Error::Kind::stopped, "stopped; no model was written");
  }
  if (solution.status == Status::non_finite) {
    throw Error(Error::Kind::numeric,
                "the numbers overflowed; scale the features (--scale unit) or regularise the "
                "density ratio more; no model was written");
  }
  if (solution.status != Status::converged && !accept_unconverged) {
    throw Error(Error::Kind::numeric,
                fmt::format("not converged ({}): the objective is within {:.2g} of the optimum; no "
                            "model was written. Allow more iterations or time, a larger "
                            "--tolerance, or say --accept-unconverged",
                            to_string(solution.status), solution.gap));
  }
}

void run_fit(const FitFlags& flags, const CLI::App& command, const Common& common) {
  check_call(flags, common);
  warn_ignored(flags, command, common);
  check_output(flags.output, common);
  ProgressBar bar(common.quiet || common.json);
  bar.show("reading", 0);
  ModelOptions options = complete_options(flags, common);
  options.fit.progress = [&](std::string_view stage, double share) { bar.show(stage, share); };
  const auto fit = [&](auto& files) {
    catch_interrupt();
    return Model::fit(std::move(files.preparation), files.train,
                      flags.target.empty() ? nullptr : &files.target, options.fit);
  };
  nlohmann::ordered_json memory;
  const Model model = [&] {
    const PreparationOptions inputs = inputs_of(options);
    if (common.reducer != nullptr) {
      PreparedFiles files =
          read_parts(flags.train, flags.target, inputs.label, true, inputs, common);
      return fit_parts(std::move(files.preparation), files.train,
                       flags.target.empty() ? nullptr : &files.target, options.fit, *common.reducer,
                       {.engine = "mpi"});
    }
    if (!flags.memory.limited()) {
      PreparedFiles files =
          read_files(flags.train, flags.target, inputs.label, true, inputs, common);
      return fit(files);
    }
    StreamedFiles files = stream_files(flags.train, flags.target, inputs, has_log_loss(options.fit),
                                       flags.memory, common);
    catch_interrupt();
    Model fitted = fit_parts(std::move(files.preparation), files.train,
                             flags.target.empty() ? nullptr : &files.target, options.fit, Reducer(),
                             {.engine = "disk"});
    files.verify(common.threads);
    memory = files.report();
    return fitted;
  }();
  const Solution& solution = model.classifier().report().solution;
  check_status(solution, flags.accept_unconverged);
  if (flags.target.empty() && options.fit.method == "auto") {
    message("no --target given: assuming the model will be used on data like the training data");
  }
  if (is_first(common)) write_output(flags.output, model.to_text());
  if (solution.status != Status::converged) {
    warn(fmt::format("not converged ({}): the objective is within {:.2g} of the optimum",
                     to_string(solution.status), solution.gap));
  }
  bar.clear();
  if (is_stdout(flags.output)) return;
  if (common.json) {
    nlohmann::ordered_json report = model.report_json();
    if (!memory.is_null()) report["memory"] = memory;
    print_json(report);
  } else if (!common.quiet) {
    report_text(model, flags);
    if (!memory.is_null()) {
      fmt::print("read {} times; {} passes over {} on disk for the fit, {} before and after it\n",
                 memory["file_passes"].get<std::size_t>(),
                 model.classifier().report().parts->passes,
                 size_text(memory["cache_bytes"].get<double>()),
                 memory["cache_passes"].get<std::size_t>());
    }
  }
}

}  // namespace

void add_fit(CLI::App& app, Common& common) {
  auto flags = std::make_shared<FitFlags>();
  Option target = target_file(flags->target);
  target.flag = "--target";
  std::string list = "Methods:\n";
  for (const Method& m : methods()) list += fmt::format("  {:<14} {}\n", m.name, m.summary);
  CLI::App& command =
      add_command(app, common, "fit", "Learn a model from labelled data and unlabelled target data",
                  Options{train_file(flags->train), target, label_column(flags->options.label),
                          required(output_file(flags->output, "Model file to write (-: stdout)")),
                          flag({"--accept-unconverged"}, flags->accept_unconverged,
                               "Write the model even if the solver stopped before the tolerance")} +
                      model_options(flags->options) + file_options(common.read) +
                      memory_options(flags->memory));
  command.footer(list)->callback([flags, &command, &common] { run_fit(*flags, command, common); });
}

}  // namespace covshift::cli
