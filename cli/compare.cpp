#include "covshift/compare/diagnosed.hpp"

#include <fmt/format.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "cli/commands.hpp"
#include "cli/compare_table.hpp"
#include "cli/next.hpp"
#include "cli/output.hpp"
#include "cli/report.hpp"
#include "cli/training.hpp"
#include "covshift/base/error.hpp"
#include "covshift/base/words.hpp"
#include "covshift/options/options.hpp"

namespace covshift::cli {
namespace {

using Json = nlohmann::ordered_json;

struct CompareFlags {
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

void read_truth(const CompareFlags& flags, const PreparedFiles& files, int threads,
                TruthRows& out) {
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

CompareOptions complete_options(const CompareFlags& flags, const Common& common, ProgressBar& bar) {
  CompareOptions options = flags.options;
  FitOptions& fit = options.fit;
  fit.solve.threads = common.threads;
  fit.cancelled = interrupted;
  fit.progress = [&bar](std::string_view stage, double share) { bar.show(stage, share); };
  return options;
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

void run_compare(const CompareFlags& flags, const Common& common, const CLI::App& command) {
  refuse_overwriting(flags.report,
                     {flags.train, flags.target, flags.truth, views_file(flags.inputs.views)},
                     "--report");
  check_columns(flags.inputs.columns, flags.label);
  check_report(flags.report);
  ProgressBar bar(common.quiet || common.json);
  bar.show("reading", 0);
  PreparationOptions inputs = flags.inputs;
  if (inputs.views.empty()) inputs.views = "each";
  const PreparedFiles files =
      read_files(flags.train, flags.target, flags.label, true, inputs, common);
  catch_interrupt();
  CompareOptions options = complete_options(flags, common, bar);
  options.views_by_method = flags.inputs.views.empty();
  TruthRows truth;
  if (!flags.truth.empty()) read_truth(flags, files, common.threads, truth);
  const DiagnosedComparison found =
      diagnose_and_compare(files.preparation, files.train, files.target,
                           flags.truth.empty() ? nullptr : &truth.truth, options, split(flags.map));
  const Comparison& c = found.comparison;
  bar.clear();
  const std::string next =
      next_fit(command, {flags.train, flags.target, flags.label}, c.recommended);
  Json json = to_json(found, next);
  add_ids(files.kept, json["diagnosis"]);
  if (!flags.report.empty()) {
    Made made{"compare", {flags.train, flags.target}, flags.label, options.fit.solve.seed};
    if (!flags.truth.empty()) made.files.push_back(flags.truth);
    write_report(flags.report, made, json);
  }
  if (is_stdout(flags.report)) return;
  if (common.json) {
    print_json(json);
  } else if (!common.quiet) {
    print_trust(found.diagnosis.recommendation.trust);
    fmt::print("{} training rows, {} target rows, {} classes; {}\n\n", c.train_rows, c.target_rows,
               c.classes.size(), printable(found.diagnosis.recommendation.summary));
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
  auto flags = std::make_shared<CompareFlags>();
  CLI::App& command = add_command(
      app, common, "compare", "Fit and evaluate every method in the same way and name the best",
      Options{train_file(flags->train), required(target_file(flags->target)),
              label_column(flags->label),
              text({"--truth"}, flags->truth, "FILE",
                   "Labels to judge by, never used for training: a file with the inputs and the "
                   "label, or with the target's labels alone in the order of its rows"),
              text({"--map"}, flags->map, "a,b",
                   "The two columns of the decision map (default: those that matter most)"),
              report_file(flags->report)} +
          compare_options(flags->options, flags->inputs) + file_options(common.read));
  command.callback([flags, &common, &command] { run_compare(*flags, common, command); });
}

}  // namespace covshift::cli
