#include "covshift/promise/estimate.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>

#include "cli/commands.hpp"
#include "cli/output.hpp"
#include "cli/training.hpp"
#include "covshift/base/error.hpp"
#include "covshift/data/read_table.hpp"
#include "covshift/model/model.hpp"
#include "covshift/options/options.hpp"
#include "covshift/promise/concept.hpp"

namespace covshift::cli {
namespace {

using Json = nlohmann::ordered_json;

struct Flags {
  std::string source, labelled, target, truth, label;
  EstimateOptions options;
};

constexpr std::string_view probability_prefix = "p:";

/// Rows of a file with a classifier's predictions.
struct PredictedRows {
  PreparedRows rows;
  std::vector<double> p;
  std::vector<int> labels;  ///< empty if the file's labels are not asked for
};

/// A classifier: a model file, or the columns p:<class> of the files themselves.
class Judged {
 public:
  Judged(const Flags& flags, const Common& common);

  /// Rows of a file; `labelled`: with the class of each.
  [[nodiscard]] PredictedRows read(const std::string& path, bool labelled) const;
  [[nodiscard]] const std::vector<std::string>& classes() const { return classes_.names(); }
  [[nodiscard]] const std::string& first_file() const { return first_; }

 private:
  [[nodiscard]] std::vector<double> probabilities(const Table& table) const;
  static void drop_predictions(Table& table);

  const Common& common_;
  std::optional<Model> model_;
  std::optional<Preparation> preparation_;  ///< of the inputs, without a model
  Classes classes_;
  std::string label_, first_;
};

bool is_model_file(const std::string& path) {
  std::ifstream file(path);
  char first = 0;
  return file >> first && first == '{';
}

ReadOptions reading(const Common& common, const std::string& label) {
  ReadOptions read;
  read.threads = common.threads;
  if (!label.empty()) read.text_columns = {label};
  return read;
}

Judged::Judged(const Flags& flags, const Common& common) : common_(common), label_(flags.label) {
  if (is_model_file(flags.source)) {
    if (flags.labelled.empty()) {
      throw CLI::ValidationError("LABELLED",
                                 "name a file of labelled rows that the model was not fitted to");
    }
    first_ = flags.labelled;
    model_ = Model::load(flags.source);
    classes_ = model_->preparation().classes();
    if (label_.empty()) label_ = model_->preparation().label();
    if (static_cast<std::size_t>(model_->classifier().game().actions()) != classes_.size()) {
      fail_input(
          "{}: the actions of this model are not its classes, so it has no probabilities of them",
          flags.source);
    }
    return;
  }
  if (!flags.labelled.empty()) {
    fail_input("{}: this is not a model file; a file of predictions has the labels itself",
               flags.source);
  }
  if (label_.empty()) throw CLI::ValidationError("--label", "name the column that holds the class");
  first_ = flags.source;
  Table table = read_table(first_, reading(common, label_));
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
        first_);
  }
  classes_ = Classes::from_names(names);
  drop_predictions(table);
  PreparationOptions options;
  options.label = label_;
  options.scale = ScaleKind::unit;
  preparation_.emplace(table, options);
  PreparedRows rows = preparation_->encode(table, common.threads);
  preparation_->fit(rows, nullptr, common.threads);
}

/// Inputs are what is not a prediction.
void Judged::drop_predictions(Table& table) {
  std::erase_if(table.columns, [](const Column& column) {
    return column.name.starts_with(probability_prefix) || column.name == "predicted" ||
           column.name == "log_ratio";
  });
}

std::vector<double> Judged::probabilities(const Table& table) const {
  std::vector<const std::vector<double>*> columns;
  for (const std::string& name : classes_.names()) {
    const Column& column = table.at(fmt::format("{}{}", probability_prefix, name));
    columns.push_back(&finite_numbers(table, column, "probability"));
  }
  std::vector<double> p;
  for (std::size_t i = 0; i < table.rows; ++i) {
    for (const auto* column : columns) p.push_back((*column)[i]);
  }
  return p;
}

PredictedRows Judged::read(const std::string& path, bool labelled) const {
  const Preparation& preparation = model_ ? model_->preparation() : *preparation_;
  Table table = read_table(path, preparation.read_options(reading(common_, label_)));
  PredictedRows out;
  if (labelled) {
    const LabelCodes codes = classes_.codes(table, label_);
    for (const LabelCodes::Unknown& u : codes.unknown) {
      fail_input("{}:{}: {}", path, u.line,
                 u.text.empty() ? std::string("the label is missing")
                                : fmt::format("'{}' is not a class of the classifier; its classes "
                                              "are {}",
                                              u.text, fmt::join(classes_.names(), ", ")));
    }
    out.labels.assign(codes.codes.begin(), codes.codes.end());
  }
  if (!model_) {
    out.p = probabilities(table);
    drop_predictions(table);
  }
  out.rows = preparation.encode(table, common_.threads);
  print_warnings(out.rows);
  if (model_) out.p = model_->predict(out.rows, common_.threads).p;
  preparation.apply(out.rows, path.c_str(), common_.threads);
  return out;
}

std::string number(double x) { return fmt::format("{:.4f}", x); }

void print_estimates(const TargetPerformance& found, double level) {
  const Evidence& e = found.evidence;
  fmt::print("{} labelled rows, worth {:.0f} rows of the target; {} target rows\n", e.rows,
             e.effective_sample_size, e.target_rows);
  if (!e.cannot_tell.empty()) {
    fmt::print("How good the classifier is on the target cannot be told: {}.\n", e.cannot_tell);
    return;
  }
  std::vector<std::vector<std::string>> table = {
      {"on the target", "method", "estimate", fmt::format("{:.4g}% from", 100 * level), "to"}};
  for (const PerformanceEstimate& p : found.estimates) {
    table.push_back({std::string(to_string(p.metric)), std::string(to_string(p.method)),
                     number(p.value), number(p.low), number(p.high)});
  }
  print_table(table);
  fmt::print(
      "This holds if P(y|x) is the same in both samples and the classifier was not fitted to the "
      "labelled rows. Use doubly_robust; confidence is a heuristic whose interval is too short.\n");
}

void print_concept(const ConceptTest& test) {
  fmt::print(
      "\nLog loss {:.4f} on the labelled rows, {:.4f} on the labelled target rows: {:+.4f} is "
      "explained by the inputs, {:+.4f} (standard error {:.4f}) is not.\n{}\n",
      test.train_loss, test.target_loss, test.explained, test.unexplained,
      test.checks.front().error, describe(test));
}

EstimateData data_of(const PredictedRows& labelled, const PredictedRows& target,
                     std::size_t classes) {
  EstimateData data;
  data.classes = static_cast<int>(classes);
  data.p = labelled.p;
  data.labels = labelled.labels;
  data.target_p = target.p;
  data.features = labelled.rows.features;
  data.target = target.rows.features;
  return data;
}

void run(const Flags& flags, const Common& common) {
  const Judged judged(flags, common);
  const PredictedRows labelled = judged.read(judged.first_file(), true);
  const PredictedRows target = judged.read(flags.target, false);
  EstimateOptions options = flags.options;
  options.ratio.threads = common.threads;
  const std::size_t classes = judged.classes().size();
  const TargetPerformance found = estimate_performance(data_of(labelled, target, classes), options);
  std::optional<ConceptTest> concept_test;
  if (!flags.truth.empty()) {
    const PredictedRows truth = judged.read(flags.truth, true);
    concept_test = test_concept(data_of(labelled, truth, classes), truth.labels, options.ratio,
                                1 - options.level);
  }
  if (common.json) {
    Json json = to_json(found);
    json["level"] = options.level;
    json["classes"] = judged.classes();
    if (concept_test) json["concept"] = to_json(*concept_test, judged.classes());
    print_json(json);
  } else if (!common.quiet) {
    print_estimates(found, options.level);
    if (concept_test) print_concept(*concept_test);
  }
}

}  // namespace

void add_estimate(CLI::App& app, Common& common) {
  auto flags = std::make_shared<Flags>();
  Option target = required(target_file(flags->target));
  target.flag = "--target";
  add_command(
      app, common, "estimate", "How good is a classifier, any classifier, on data without labels",
      Options{required(text({"SOURCE"}, flags->source, "MODEL|PREDICTIONS",
                            "Model file, or labelled rows with a column p:<class> for each class; "
                            "the target then has these columns as well")),
              text({"LABELLED"}, flags->labelled, "FILE",
                   "With a model: labelled rows that it was not fitted to"),
              target, label_column(flags->label),
              text({"--truth"}, flags->truth, "FILE",
                   "Target rows with labels: tests whether P(y|x) has changed")} +
          estimate_options(flags->options))
      .callback([flags, &common] { run(*flags, common); });
}

}  // namespace covshift::cli
