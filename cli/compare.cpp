#include "covshift/compare/compare.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "cli/commands.hpp"
#include "cli/compare_table.hpp"
#include "cli/output.hpp"
#include "cli/report.hpp"
#include "cli/training.hpp"
#include "covshift/base/error.hpp"
#include "covshift/data/labels.hpp"
#include "covshift/data/read_table.hpp"
#include "covshift/diagnose/diagnose.hpp"
#include "covshift/options/options.hpp"

namespace covshift::cli {
namespace {

using Json = nlohmann::ordered_json;

struct Flags {
  std::string train, target, label, truth, report, map;
  CompareOptions options;
  DiagnoseOptions look;
};

/// Labelled rows to judge by.
struct TruthRows {
  Matrix features;
  std::vector<int> labels;
};

/// A file with the inputs is judged on its own rows; one with labels alone holds those of the
/// target's rows, in their order.
TruthRows read_truth(const Flags& flags, const ReadOptions& read, const Encoder& encoder,
                     const Classes& classes, const Scaler& scaler, const Matrix& target) {
  const Table table = read_table(flags.truth, encoder.read_options(read));
  TruthRows truth;
  bool inputs = encoder.from_svmlight();
  for (std::size_t s = 0; s < encoder.source_count() && !inputs; ++s) {
    inputs = table.find(encoder.source_name(s)) != nullptr;
  }
  if (inputs) {
    truth.features = encoder.encode(table).matrix;
    scaler.apply(truth.features);
  } else if (table.rows != target.rows) {
    fail_input(
        "{}: {} labels for {} target rows; give the labels of the target's rows in their order, or "
        "labelled rows with all inputs",
        flags.truth, table.rows, target.rows);
  } else {
    truth.features = target;
  }
  const LabelCodes codes = classes.codes(table, flags.label);
  for (const LabelCodes::Unknown& u : codes.unknown) {
    if (u.text.empty()) {
      fail_input("{}:{}: the label is missing; the truth needs a label in every row", flags.truth,
                 u.line);
    }
    warn(fmt::format("{}:{}: training never saw the class '{}' ({} rows); they count as errors",
                     flags.truth, u.line, u.text, u.count));
  }
  truth.labels.assign(codes.codes.begin(), codes.codes.end());
  return truth;
}

/// The plane of the map: the columns asked for, or the numbers that shifted most.
MapOptions map_axes(const Flags& flags, const Diagnosis& d, const std::vector<Feature>& features,
                    const Scaler& scaler) {
  std::vector<std::string> names = split(flags.map);
  if (names.empty() && !d.scatter.y.empty()) names = {d.scatter.x, d.scatter.y};
  if (names.empty()) return {};
  const auto column = [&](const std::string& name) {
    for (const Feature& f : features) {
      if (f.name == name && f.levels.empty()) return static_cast<int>(f.columns[0]);
    }
    fail_input("--map: there is no column of numbers named '{}' among the inputs", name);
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

CompareOptions understand(const Flags& flags, const Common& common, ProgressBar& bar) {
  CompareOptions options = flags.options;
  FitOptions& fit = options.fit;
  fit.solve.threads = common.threads;
  fit.cancelled = interrupted;
  fit.progress = [&bar](std::string_view stage, double share) { bar.show(stage, share); };
  return options;
}

void run(const Flags& given, const Common& common) {
  refuse_overwriting(given.report, {given.train, given.target, given.truth}, "--report");
  check_report(given.report);
  catch_interrupt();
  ProgressBar bar(common.quiet || common.json);
  bar.show("reading", 0);
  const TrainingFile training = read_labelled(given.train, given.label, common.threads);
  const Table& table = training.table;
  Flags flags = given;
  flags.label = training.label;
  const Classes classes = Classes::fit(table, flags.label);
  if (classes.size() < 2) {
    fail_input("{}: column '{}' has one class only ('{}'); a classifier needs at least two",
               flags.train, flags.label, classes.names()[0]);
  }
  const Encoder encoder = Encoder::fit(table, {flags.label});
  const Matrix raw_train = encoder.encode(table).matrix;
  const Matrix raw_target =
      encoder.encode(read_table(flags.target, encoder.read_options(training.read))).matrix;
  const std::vector<Feature> features = features_of(encoder);
  const Views views = Views::parse(flags.look.views, encoder);

  CompareOptions options = understand(flags, common, bar);
  options.classes = classes.names();
  DiagnoseOptions look = flags.look;
  look.ratio = options.fit.shift.ratio;
  // The models' ratio may be smoothed for their sake; how bad the shift is must not be.
  if (look.ratio.lambda.rule == RatioLambda::Rule::stable) {
    look.ratio.lambda.rule = RatioLambda::Rule::cv;
  }
  look.ratio.cancelled = interrupted;
  look.view_threshold = options.fit.shift.view_threshold;
  look.seed = options.fit.solve.seed;
  look.threads = common.threads;
  look.progress = options.fit.progress;
  const Diagnosis diagnosis = diagnose(raw_train, raw_target, features, views, look);
  options.effective_sample_size = diagnosis.effective_sample_size;

  const Scaler scaler = Scaler::fit(look.scale, raw_train);
  Matrix train = raw_train;
  Matrix target = raw_target;
  scaler.apply(train);
  scaler.apply(target);
  options.map = map_axes(flags, diagnosis, features, scaler);
  const LabelCodes codes = classes.codes(table, flags.label);
  const MatrixView target_view = target.view();
  TrainingData data;
  data.features = train.view();
  data.labels = codes.codes;
  data.classes = static_cast<int>(classes.size());
  data.target = &target_view;
  data.views = views;
  TruthRows truth_rows;
  Truth truth;
  if (!flags.truth.empty()) {
    truth_rows = read_truth(flags, training.read, encoder, classes, scaler, target);
    truth = {truth_rows.features.view(), truth_rows.labels};
  }
  const Comparison c = compare(data, flags.truth.empty() ? nullptr : &truth, options);
  bar.clear();
  Json json = to_json(c);
  json["diagnosis"] = to_json(diagnosis);
  if (!flags.report.empty()) {
    write_report(flags.report, "compare", fmt::format("{} → {}", flags.train, flags.target), json);
  }
  if (common.json) {
    print_json(json);
  } else if (!common.quiet) {
    fmt::print("{} training rows, {} target rows, {} classes; {}\n\n", c.train_rows, c.target_rows,
               classes.size(), diagnosis.recommendation.summary);
    print_comparison(c);
    if (!flags.report.empty()) fmt::print("Report: {}\n", flags.report);
  }
}

}  // namespace

void add_compare(CLI::App& app, Common& common) {
  auto flags = std::make_shared<Flags>();
  add_command(
      app, common, "compare", "Fit and judge every method alike: a winner or a tie",
      Options{train_file(flags->train), required(target_file(flags->target)),
              label_column(flags->label),
              text({"--truth"}, flags->truth, "FILE",
                   "Labels to judge by, never used for training: a file with the inputs and the "
                   "label, or with the target's labels alone in the order of its rows"),
              text({"--map"}, flags->map, "a,b",
                   "The two columns of the decision map (default: the most shifted)"),
              report_file(flags->report)} +
          compare_options(flags->options, flags->look))
      .callback([flags, &common] { run(*flags, common); });
}

}  // namespace covshift::cli
