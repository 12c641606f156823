#include "covshift/compare/compare.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "cli/commands.hpp"
#include "cli/compare_table.hpp"
#include "cli/next.hpp"
#include "cli/output.hpp"
#include "cli/report.hpp"
#include "cli/training.hpp"
#include "covshift/base/error.hpp"
#include "covshift/data/read_table.hpp"
#include "covshift/diagnose/diagnose.hpp"
#include "covshift/options/options.hpp"

namespace covshift::cli {
namespace {

using Json = nlohmann::ordered_json;

struct Flags {
  std::string train, target, label, truth, report, map;
  CompareOptions options;
  PreparationOptions inputs = for_comparison();
};

/// Labelled rows to judge by: those of a file with inputs, or the target's rows with labels from a
/// file, in the same order.
struct TruthRows {
  PreparedRows own;  ///< where the file has the inputs
  Truth truth;
  std::vector<int> labels;
};

void read_truth(const Flags& flags, const PreparedFiles& files, int threads, TruthRows& out) {
  const Preparation& preparation = files.preparation;
  const Encoder& encoder = preparation.encoder();
  const Table table = read_data(flags.truth, preparation.read_options(files.read));
  bool inputs = encoder.from_svmlight();
  for (std::size_t s = 0; s < encoder.source_count() && !inputs; ++s) {
    inputs = table.find(encoder.source_name(s)) != nullptr;
  }
  if (inputs) {
    out.own = preparation.encode(table, threads);
    print_warnings(out.own);
    preparation.apply(out.own, "the truth", threads);
  } else if (table.rows != files.target.features.rows) {
    fail_input(
        "{}: {} labels for {} target rows; give the labels of the target's rows in their order, or "
        "labelled rows with all inputs",
        flags.truth, table.rows, files.target.features.rows);
  }
  const LabelCodes codes = preparation.classes().codes(table, preparation.label());
  for (const LabelCodes::Unknown& u : codes.unknown) {
    if (u.text.empty()) {
      fail_input("{}:{}: the label is missing; the truth needs a label in every row", flags.truth,
                 u.line);
    }
    warn(fmt::format("{}:{}: training never saw the class '{}' ({} rows); they count as errors",
                     flags.truth, u.line, u.text, u.count));
  }
  out.labels = codes.codes;
  out.truth = {inputs ? out.own.features : files.target.features, out.labels};
}

/// The plane of the map: the columns of --map, or the numeric ones that shifted most.
MapOptions map_axes(const Flags& flags, const Diagnosis& d, const std::vector<Feature>& features,
                    const Scaler& scaler) {
  std::vector<std::string> names = split(flags.map);
  if (names.empty() && !d.scatter.y.empty()) names = {d.scatter.x, d.scatter.y};
  if (names.empty()) return {};
  const auto column = [&](const std::string& name) {
    for (const Feature& f : features) {
      if (f.name == name && f.levels.empty()) return static_cast<int>(f.columns[0]);
    }
    fail_input("--map: there is no numeric input named '{}'", name);
  };
  if (names.size() != 2 || names[0] == names[1]) {
    fail_input("--map needs two different columns, a,b; not '{}'", flags.map);
  }
  MapOptions map;
  map.x = column(names[0]);
  map.y = column(names[1]);
  map.x_name = names[0];
  map.y_name = names[1];
  map.x_unit = scaler.scales()[static_cast<std::size_t>(map.x)];
  map.x_origin = scaler.offsets()[static_cast<std::size_t>(map.x)];
  map.y_unit = scaler.scales()[static_cast<std::size_t>(map.y)];
  map.y_origin = scaler.offsets()[static_cast<std::size_t>(map.y)];
  return map;
}

CompareOptions complete_options(const Flags& flags, const Common& common, ProgressBar& bar) {
  CompareOptions options = flags.options;
  FitOptions& fit = options.fit;
  fit.solve.threads = common.threads;
  fit.cancelled = interrupted;
  fit.progress = [&bar](std::string_view stage, double share) { bar.show(stage, share); };
  return options;
}

/// The shift is estimated with the options of the models.
DiagnoseOptions diagnose_as(const CompareOptions& options) {
  DiagnoseOptions own;
  own.ratio = options.fit.shift.ratio;
  own.ratio.cancelled = interrupted;
  own.view_threshold = options.fit.shift.view_threshold;
  own.seed = options.fit.solve.seed;
  own.threads = options.fit.solve.threads;
  own.progress = options.fit.progress;
  return own;
}

/// The score that the next model will have on the rows of --truth, as evaluate prints it.
std::string announced(const Comparison& c) {
  for (const Compared& m : c.methods) {
    if (m.name != c.recommended) continue;
    return fmt::format("Brier {:.6g}, log loss {:.6g} bits", m.truth->brier.value,
                       m.truth->log_loss.value / std::log(2.0));
  }
  return "";
}

void run(const Flags& flags, const Common& common, const CLI::App& command) {
  refuse_overwriting(flags.report,
                     {flags.train, flags.target, flags.truth, views_file(flags.inputs.views)},
                     "--report");
  check_report(flags.report);
  ProgressBar bar(common.quiet || common.json);
  bar.show("reading", 0);
  PreparationOptions inputs = flags.inputs;
  if (inputs.views.empty()) inputs.views = "each";
  const PreparedFiles files =
      read_files(flags.train, flags.target, flags.label, true, inputs, common);
  catch_interrupt();
  const Preparation& preparation = files.preparation;
  CompareOptions options = complete_options(flags, common, bar);
  options.classes = preparation.classes().names();
  options.views_by_method = flags.inputs.views.empty();
  Diagnosis diagnosis = diagnose(preparation, files.train, files.target, diagnose_as(options));
  options.effective_sample_size = diagnosis.effective_sample_size;
  options.unsupported = diagnosis.support.share;
  options.map =
      map_axes(flags, diagnosis, features_of(preparation.encoder()), preparation.scaler());
  TruthRows truth;
  if (!flags.truth.empty()) read_truth(flags, files, common.threads, truth);
  const Comparison c = compare(TrainingData(preparation, files.train, &files.target),
                               flags.truth.empty() ? nullptr : &truth.truth, options);
  bar.clear();
  const std::string next =
      next_fit(command, {flags.train, flags.target, flags.label}, c.recommended);
  answer(c, next, diagnosis.recommendation);
  Json json = to_json(c);
  json["command"] = next;
  json["diagnosis"] = to_json(diagnosis);
  if (!flags.report.empty()) {
    write_report(flags.report, "compare", fmt::format("{} → {}", flags.train, flags.target), json);
  }
  if (is_stdout(flags.report)) return;
  if (common.json) {
    print_json(json);
  } else if (!common.quiet) {
    fmt::print("{} training rows, {} target rows, {} classes; {}\n\n", c.train_rows, c.target_rows,
               options.classes.size(), printable(diagnosis.recommendation.summary));
    print_comparison(c);
    fmt::print("\nNext: {}\n", printable(next));
    if (truth.own.features.rows > 0) {
      fmt::print("      {}   ({})\n",
                 printable(next_command(command, "evaluate", {next_model, flags.truth})),
                 announced(c));
    }
    if (!flags.report.empty()) fmt::print("Report: {}\n", printable(flags.report));
  }
}

}  // namespace

void add_compare(CLI::App& app, Common& common) {
  auto flags = std::make_shared<Flags>();
  CLI::App& command = add_command(
      app, common, "compare", "Fit and evaluate every method the same way: a winner or a tie",
      Options{train_file(flags->train), required(target_file(flags->target)),
              label_column(flags->label),
              text({"--truth"}, flags->truth, "FILE",
                   "Labels to judge by, never used for training: a file with the inputs and the "
                   "label, or with the target's labels alone in the order of its rows"),
              text({"--map"}, flags->map, "a,b",
                   "The two columns of the decision map (default: the most shifted)"),
              report_file(flags->report)} +
          compare_options(flags->options, flags->inputs) + file_options(common.read));
  command.callback([flags, &common, &command] { run(*flags, common, command); });
}

}  // namespace covshift::cli
