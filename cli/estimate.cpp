#include "covshift/promise/estimate.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>

#include "cli/commands.hpp"
#include "cli/output.hpp"
#include "cli/report.hpp"
#include "cli/training.hpp"
#include "covshift/base/error.hpp"
#include "covshift/base/lists.hpp"
#include "covshift/compare/estimated.hpp"
#include "covshift/data/byte_source.hpp"
#include "covshift/data/read_table.hpp"
#include "covshift/model/model.hpp"
#include "covshift/options/options.hpp"
#include "covshift/promise/concept.hpp"

namespace covshift::cli {
namespace {

using Json = nlohmann::ordered_json;

struct EstimateFlags {
  std::string source, labelled, target, truth, label, report;
  EstimateOptions options;
  ColumnOptions columns;  ///< of predictions; a model knows its own
};

constexpr std::string_view probability_prefix = "p:";

/// Rows of a file with a classifier's predictions.
struct PredictedRows {
  Table inputs;
  std::vector<double> p;
  std::vector<int> labels;  ///< empty if the file's labels are not asked for
};

/// A classifier: a model file, or the columns p:<class> of the files themselves.
class Judged {
 public:
  Judged(const EstimateFlags& flags, const Common& common);

  /// Rows of a file; `labelled`: with the class of each.
  [[nodiscard]] PredictedRows read(const std::string& path, bool labelled,
                                   const ReadOptions& options);
  [[nodiscard]] const std::vector<std::string>& classes() const { return classes_.names(); }
  [[nodiscard]] const std::string& first_file() const { return first_; }
  [[nodiscard]] const std::string& label() const { return label_; }
  [[nodiscard]] const ColumnOptions& columns() const { return columns_; }
  [[nodiscard]] bool is_model() const { return model_.has_value(); }

 private:
  void predict(const Table& table, PredictedRows& out) const;
  [[nodiscard]] bool is_input(const Column& column) const;

  const Common& common_;
  std::optional<Model> model_;
  Classes classes_;
  std::string label_, first_;
  ColumnOptions columns_;
};

bool is_model_file(const std::string& path) {
  std::ifstream file(path);
  std::string head(64, ' ');
  file.read(head.data(), static_cast<std::streamsize>(head.size()));
  return head.starts_with('{') && head.find("\"format\"") != std::string::npos;
}

Judged::Judged(const EstimateFlags& flags, const Common& common)
    : common_(common), label_(flags.label), columns_(flags.columns) {
  if (is_model_file(flags.source)) {
    if (flags.labelled.empty()) {
      throw CLI::ValidationError("LABELLED",
                                 "name a file of labelled rows that the model was not fitted to");
    }
    first_ = flags.labelled;
    model_ = Model::load(flags.source);
    classes_ = model_->preparation().classes();
    if (label_.empty()) label_ = model_->preparation().label();
    const ColumnOptions& c = flags.columns;
    if (!(c.drop.empty() && c.keep.empty() && c.numeric.empty() && c.categorical.empty() &&
          c.dates.empty())) {
      throw CLI::ValidationError(
          "--drop, --keep, --numeric, --categorical and --dates",
          "are for predictions; a model reads its columns as its training file's");
    }
    columns_ = model_->preparation().encoder().column_options();
    if (static_cast<std::size_t>(model_->classifier().game().actions()) != classes_.size()) {
      fail_input(
          "{}: the actions of this model are not its classes, so it has no probabilities of them",
          flags.source);
    }
    return;
  }
  if (!flags.labelled.empty()) {
    const ByteSource there(flags.source);  // a file that is missing is not a file of another kind
    fail_input("{}: this is not a model file; a file of predictions has the labels itself",
               flags.source);
  }
  if (label_.empty()) throw CLI::ValidationError("--label", "name the column that holds the class");
  first_ = flags.source;
}

/// The classes of the predictions in a table.
Classes predicted_classes(const Table& table) {
  std::vector<std::string> names;
  for (const Column& column : table.columns) {
    if (column.name.starts_with(probability_prefix)) {
      names.push_back(column.name.substr(probability_prefix.size()));
    }
  }
  if (names.size() < 2) {
    fail_input(
        "{}: neither a model file nor predictions: those have a column p:<class> of probabilities "
        "for each class, as `covshift predict` writes them",
        table.source);
  }
  return Classes::from_names(names);
}

void Judged::predict(const Table& table, PredictedRows& out) const {
  if (model_) {
    const PreparedRows rows = model_->preparation().encode(table, common_.threads);
    print_warnings(rows);
    out.p = model_->predict(rows, common_.threads).p;
    return;
  }
  std::vector<const std::vector<double>*> columns;
  for (const std::string& name : classes_.names()) {
    const Column& column = table.at(fmt::format("{}{}", probability_prefix, name));
    columns.push_back(&finite_numbers(table, column, "probability"));
  }
  for (std::size_t i = 0; i < table.rows; ++i) {
    for (std::size_t k = 0; k < columns.size(); ++k) {
      const double p = (*columns[k])[i];
      if (!(p >= 0 && p <= 1 + 1e-6)) {  // rounded sums, as the library allows
        const Column& column =
            table.at(fmt::format("{}{}", probability_prefix, classes_.names()[k]));
        fail_input("{}: '{}' is {}; probabilities lie between 0 and 1", table.where(i, column),
                   column.name, p);
      }
      out.p.push_back(p);
    }
  }
}

/// Inputs are those of the model, or what is neither the label nor a prediction.
bool Judged::is_input(const Column& column) const {
  if (model_) {
    const Encoder& encoder = model_->preparation().encoder();
    for (std::size_t s = 0; s < encoder.source_count(); ++s) {
      if (encoder.source_name(s) == column.name) return true;
    }
    return false;
  }
  return column.name != label_ && !column.name.starts_with(probability_prefix) &&
         !column.name.starts_with("set:") && column.name != "predicted" &&
         column.name != "log_ratio";
}

PredictedRows Judged::read(const std::string& path, bool labelled, const ReadOptions& options) {
  ReadOptions read = model_ ? model_->preparation().read_options(options) : options;
  if (!label_.empty()) read.text_columns.push_back(label_);
  add_to(read.text_columns, columns_.categorical);
  add_to(read.text_columns, columns_.dates);
  PredictedRows out;
  out.inputs = read_data(path, read);
  if (classes_.size() == 0) classes_ = predicted_classes(out.inputs);
  if (labelled) {
    const LabelCodes codes = classes_.codes(out.inputs, label_);
    for (const LabelCodes::Unknown& u : codes.unknown) {
      fail_input("{}:{}: {}", path, u.line,
                 u.text.empty() ? std::string("the label is missing")
                                : fmt::format("'{}' is not a class of the classifier; its classes "
                                              "are {}",
                                              u.text, fmt::join(classes_.names(), ", ")));
    }
    out.labels.assign(codes.codes.begin(), codes.codes.end());
  }
  predict(out.inputs, out);
  std::erase_if(out.inputs.columns, [&](const Column& column) { return !is_input(column); });
  return out;
}

/// The inputs of labelled and target rows as numbers.
struct Pair {
  Pair(Preparation learned, const Table& train, const Table& other, int threads)
      : preparation(std::move(learned)),
        labelled(preparation.encode_training(train, threads)),
        target(preparation.encode(other, threads)) {
    preparation.fit(labelled, &target, threads);
  }
  Preparation preparation;
  PreparedRows labelled, target;
};

std::string number(double x) { return fmt::format("{:.4f}", x); }

void print_estimates(const TargetPerformance& found, double level) {
  const Evidence& e = found.evidence;
  fmt::print("{} labelled rows, equivalent to {:.0f} target rows; {} target rows\n", e.rows,
             e.effective_sample_size, e.target_rows);
  if (!e.cannot_tell.empty()) {
    fmt::print("The loss on the target cannot be estimated: {}.\n", e.cannot_tell);
    return;
  }
  std::vector<std::vector<std::string>> table = {
      {"on the target", "method", "estimate", fmt::format("{:.4g}% from", 100 * level), "to"}};
  for (const PerformanceEstimate& p : found.estimates) {
    table.push_back({std::string(to_string(p.metric)), std::string(to_string(p.method)),
                     number(p.value), number(p.low), number(p.high)});
  }
  print_table(table);
  for (const std::string& text : cautions(found)) fmt::print("{}\n", text);
  fmt::print(
      "This holds if P(y|x) is the same in both samples and the classifier was not fitted to the "
      "labelled rows. Use doubly_robust; confidence is a heuristic whose interval is too short.\n");
}

void print_concept(const ConceptTest& test) {
  if (!test.evidence.cannot_tell.empty()) {
    fmt::print("\n{}\n", describe(test));
    return;
  }
  fmt::print(
      "\nLog loss {:.4f} on the labelled rows, {:.4f} on the labelled target rows: {:+.4f} is "
      "explained by the inputs, {:+.4f} (standard error {:.4f}) is not.\n{}\n",
      test.train_loss, test.target_loss, test.explained, test.unexplained,
      test.checks.front().error, describe(test));
}

EstimateData data_of(const PredictedRows& labelled, const MatrixView& features,
                     const PredictedRows& target, const PreparedRows& target_rows,
                     std::size_t classes) {
  EstimateData data;
  data.classes = static_cast<int>(classes);
  data.p = labelled.p;
  data.labels = labelled.labels;
  data.target_p = target.p;
  data.features = features;
  data.target = target_rows.features;
  data.unlike = static_cast<double>(target_rows.strange.unlike) /
                static_cast<double>(std::max<std::size_t>(1, target_rows.features.rows));
  return data;
}

/// Writes the page; adds what only it needs to the numbers.
void report(const EstimateFlags& flags, const Judged& judged, const PredictedRows& labelled,
            const PredictedRows& target, const EstimateData& data, const TargetPerformance& found,
            const EstimateOptions& options, Json& json) {
  PreparationOptions inputs = for_diagnosis();
  inputs.columns = judged.columns();
  const Pair each(Preparation(labelled.inputs, inputs), labelled.inputs, target.inputs,
                  options.ratio.threads);
  json["diagnosis"] = to_json(
      diagnose_estimate(each.preparation, each.labelled, each.target, data, found, options));
  Made made{"estimate", {judged.first_file(), flags.target}, judged.label(), options.ratio.seed};
  if (!flags.truth.empty()) made.files.push_back(flags.truth);
  write_report(flags.report, made, json);
}

void run_estimate(const EstimateFlags& flags, const Common& common) {
  refuse_overwriting(flags.report, {flags.source, flags.labelled, flags.target, flags.truth},
                     "--report");
  check_report(flags.report);
  Judged judged(flags, common);
  ReadOptions read = common.read;
  read.threads = common.threads;
  const PredictedRows labelled = judged.read(judged.first_file(), true, read);
  PreparationOptions columns;
  columns.columns = judged.columns();
  const Preparation inputs(labelled.inputs, columns);  // a number there may be text here
  const PredictedRows target = judged.read(flags.target, false, inputs.read_options(read));
  const Pair pair(inputs, labelled.inputs, target.inputs, common.threads);
  if (!judged.is_model()) {  // a model's own warnings have been printed
    print_warnings(pair.labelled);
    print_warnings(pair.target);
  }
  EstimateOptions options = flags.options;
  options.ratio.threads = common.threads;
  options.ratio = options_of_columns(options.ratio, {}, pair.preparation.id_columns(),
                                     pair.labelled.features.cols);
  const std::size_t classes = judged.classes().size();
  const EstimateData data = data_of(labelled, pair.labelled.features, target, pair.target, classes);
  const TargetPerformance found = estimate_performance(data, options);
  Json json = to_json(found);
  json["level"] = options.level;
  json["classes"] = judged.classes();
  std::optional<ConceptTest> concept_test;
  if (!flags.truth.empty()) {
    const PredictedRows truth = judged.read(flags.truth, true, inputs.read_options(read));
    PreparedRows rows = pair.preparation.encode(truth.inputs, common.threads);
    pair.preparation.apply(rows, flags.truth.c_str(), common.threads);
    concept_test = test_concept(data_of(labelled, pair.labelled.features, truth, rows, classes),
                                truth.labels, options.ratio, 1 - options.level);
    json["concept"] = to_json(*concept_test, judged.classes());
  }
  if (!flags.report.empty()) {
    report(flags, judged, labelled, target, data, found, options, json);
    if (is_stdout(flags.report)) return;
  }
  if (common.json) {
    print_json(json);
  } else if (!common.quiet) {
    print_estimates(found, options.level);
    if (concept_test) print_concept(*concept_test);
    if (!flags.report.empty()) fmt::print("Report: {}\n", printable(flags.report));
  }
}

}  // namespace

void add_estimate(CLI::App& app, Common& common) {
  auto flags = std::make_shared<EstimateFlags>();
  Option target = required(target_file(flags->target));
  target.flag = "--target";
  add_command(
      app, common, "estimate", "Estimate how well any classifier performs on unlabelled data",
      Options{required(text({"SOURCE"}, flags->source, "MODEL|PREDICTIONS",
                            "Model file, or labelled rows with a column p:<class> for each class; "
                            "the target then has these columns as well")),
              text({"LABELLED"}, flags->labelled, "FILE",
                   "With a model: labelled rows that it was not fitted to"),
              target, label_column(flags->label),
              text({"--truth"}, flags->truth, "FILE",
                   "Target rows with labels: tests whether P(y|x) has changed"),
              report_file(flags->report)} +
          estimate_options(flags->options) + column_options(flags->columns) +
          file_options(common.read))
      .callback([flags, &common] { run_estimate(*flags, common); });
}

}  // namespace covshift::cli
