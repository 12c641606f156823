#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <nlohmann/json.hpp>
#include <optional>

#include "cli/commands.hpp"
#include "cli/output.hpp"
#include "cli/training.hpp"
#include "covshift/base/error.hpp"
#include "covshift/base/file.hpp"
#include "covshift/data/read_table.hpp"
#include "covshift/model/model.hpp"
#include "covshift/model/scores.hpp"
#include "covshift/options/options.hpp"

namespace covshift::cli {
namespace {

using Json = nlohmann::ordered_json;

Table read_for(const Model& model, const std::string& path, const Common& common,
               const std::vector<std::string>& as_text = {}) {
  ReadOptions read = common.read;
  read.threads = common.threads;
  read.text_columns = as_text;
  return read_data(path, model.preparation().read_options(read));
}

/// Columns of the data to copy beside the predictions: those asked for, or those of the model that
/// the file has.
std::vector<const Column*> kept_columns(const Model& model, const Table& table,
                                        const std::vector<std::string>& asked) {
  std::vector<const Column*> columns;
  columns.reserve(asked.size());
  for (const std::string& name : asked) columns.push_back(&table.at(name));
  if (!asked.empty()) return columns;
  for (const std::string& name : model.preparation().keep()) {
    if (const Column* column = table.find(name)) columns.push_back(column);
  }
  return columns;
}

/// The classes in the set of a row.
std::vector<std::string> set_of(const std::vector<std::string>& names,
                                const std::vector<std::uint8_t>& sets, std::size_t row) {
  std::vector<std::string> own;
  for (std::size_t j = 0; j < names.size(); ++j) {
    if (sets[row * names.size() + j] != 0) own.push_back(names[j]);
  }
  return own;
}

/// `sets`: of classes, a column for each; empty: none.
std::string predictions_csv(const Model& model, const Predictions& predictions,
                            const std::vector<std::uint8_t>& sets,
                            const std::vector<const Column*>& kept, bool safe) {
  const std::vector<std::string> names = model.action_names();
  std::string text;
  for (const Column* column : kept) text += csv_field(column->name, safe) + ',';
  text += "predicted";
  for (const std::string& name : names) text += ',' + csv_field("p:" + name, safe);
  text += ",log_ratio";
  if (!sets.empty()) {
    for (const std::string& name : names) text += ',' + csv_field("set:" + name, safe);
  }
  text += '\n';
  const auto a = static_cast<std::size_t>(predictions.actions);
  auto out = std::back_inserter(text);
  for (std::size_t i = 0; i < predictions.rows; ++i) {
    for (const Column* column : kept) text += csv_field(column->text(i), safe) + ',';
    text += csv_field(names[predictions.action[i]], safe);
    // The shortest digits that read back as the same number.
    for (std::size_t j = 0; j < a; ++j) fmt::format_to(out, ",{}", predictions.p[i * a + j]);
    fmt::format_to(out, ",{}", predictions.log_ratio[i]);
    for (std::size_t j = 0; !sets.empty() && j < a; ++j) {
      fmt::format_to(out, ",{}", sets[i * a + j]);
    }
    text += '\n';
  }
  return text;
}

/// The same as JSON, where no file is written.
Json rows_json(const Model& model, const Predictions& predictions,
               const std::vector<std::uint8_t>& sets, const std::vector<const Column*>& kept) {
  const std::vector<std::string> names = model.action_names();
  Json rows = Json::array();
  for (std::size_t i = 0; i < predictions.rows; ++i) {
    Json p;
    for (std::size_t j = 0; j < names.size(); ++j)
      p[names[j]] = predictions.p[i * names.size() + j];
    Json row = {{"predicted", names[predictions.action[i]]},
                {"p", std::move(p)},
                {"log_ratio", predictions.log_ratio[i]}};
    if (!sets.empty()) row["set"] = set_of(names, sets, i);
    for (const Column* column : kept) row["kept"][column->name] = column->text(i);
    rows.push_back(std::move(row));
  }
  return rows;
}

struct PredictFlags {
  std::string model, data, output;
  std::vector<std::string> keep;
  bool safe_csv = false;
  std::optional<double> sets;  ///< alpha
};

void run_predict(const PredictFlags& flags, const Common& common) {
  const std::string& output = flags.output;
  refuse_overwriting(output, {flags.model, flags.data});
  const Model model = Model::load(flags.model);
  // As text, so that they are copied as they are written: 007.
  const Table table = read_for(model, flags.data, common,
                               flags.keep.empty() ? model.preparation().keep() : flags.keep);
  const std::vector<const Column*> kept = kept_columns(model, table, flags.keep);
  const PreparedRows rows = model.preparation().encode(table, common.threads);
  print_warnings(rows);
  const Predictions predictions = model.predict(rows, common.threads);
  std::vector<std::uint8_t> sets;
  if (flags.sets) sets = model.classifier().sets(predictions, *flags.sets);
  const std::string text = predictions_csv(model, predictions, sets, kept, flags.safe_csv);
  if (!output.empty()) write_output(output, text);
  if (is_stdout(output)) return;
  if (common.json) {
    std::vector<std::size_t> counts(model.action_names().size(), 0);
    for (const int action : predictions.action) ++counts[action];
    Json by_name;
    for (std::size_t j = 0; j < counts.size(); ++j) by_name[model.action_names()[j]] = counts[j];
    Json result = {{"n", predictions.rows}, {"predicted", by_name}};
    if (flags.sets) {
      result["alpha"] = *flags.sets;
      const auto in = static_cast<double>(std::count(sets.begin(), sets.end(), 1));
      result["mean_set_size"] =
          in / static_cast<double>(std::max<std::size_t>(1, predictions.rows));
    }
    if (output.empty()) {
      result["rows"] = rows_json(model, predictions, sets, kept);
    } else {
      result["output"] = output;
    }
    print_json(result);
  } else if (output.empty()) {
    fmt::print("{}", text);
  } else if (!common.quiet) {
    fmt::print("{} predictions written to {}\n", predictions.rows, printable(output));
  }
}

/// Counts of a label's predicted actions.
std::vector<std::size_t> confusion_row(const Scores& s, std::size_t label, std::size_t actions) {
  const auto first = s.confusion.begin() + static_cast<std::ptrdiff_t>(label * actions);
  return {first, first + static_cast<std::ptrdiff_t>(actions)};
}

Json scores_json(const Model& model, const Scores& s) {
  const std::vector<std::string> actions = model.action_names();
  const std::vector<std::string>& classes = model.preparation().classes().names();
  Json confusion = Json::array();
  for (std::size_t y = 0; y < classes.size(); ++y) {
    confusion.push_back(confusion_row(s, y, actions.size()));
  }
  return {{"n", s.n},
          {"accuracy", s.accuracy},
          {"accuracy_of_decided", s.accuracy_of_decided},
          {"log_loss", s.log_loss},
          {"log_loss_bits", s.log_loss / std::log(2.0)},
          {"expected_loss", s.expected_loss},
          {"loss", model.classifier().game().name()},
          {"brier", s.brier},
          {"abstained", s.abstained},
          {"coverage", 1 - s.abstained},
          {"unknown_labels", s.unknown},
          {"classes", classes},
          {"actions", actions},
          {"confusion", std::move(confusion)}};
}

void print_scores(const Model& model, const Scores& s) {
  const std::vector<std::string> actions = model.action_names();
  const std::vector<std::string>& classes = model.preparation().classes().names();
  if (std::isnan(s.accuracy)) {
    fmt::print(
        "{} rows; the actions of this cost matrix are not classes: no accuracy or log loss\n", s.n);
  } else if (actions.size() > classes.size()) {
    fmt::print("{} rows: decided on {:.1f}% of them (coverage), {}\n", s.n, 100 * (1 - s.abstained),
               s.abstained < 1 ? fmt::format("with accuracy {:.4f} there", s.accuracy_of_decided)
                               : "abstained on all: there is no accuracy");
  } else {
    fmt::print("{} rows: accuracy {:.4f}, log loss {:.4f} nats ({:.4f} bits), Brier {:.4f}\n", s.n,
               s.accuracy, s.log_loss, s.log_loss / std::log(2.0), s.brier);
    if (std::isinf(s.log_loss)) {
      fmt::print("the log loss is infinite because some label was given probability 0\n");
    }
  }
  fmt::print("expected {} loss {:.4f}\n", printable(model.classifier().game().name()),
             s.expected_loss);
  std::vector<std::vector<std::string>> lines = {{"label"}};
  lines[0].insert(lines[0].end(), actions.begin(), actions.end());
  for (std::size_t y = 0; y < classes.size(); ++y) {
    std::vector<std::string> line = {classes[y]};
    for (const std::size_t count : confusion_row(s, y, actions.size())) {
      line.push_back(std::to_string(count));
    }
    lines.push_back(std::move(line));
  }
  fmt::print("true label against predicted:\n");
  print_table(lines);
}

void run_evaluate(const std::string& model_path, const std::string& data, const std::string& label,
                  const Common& common) {
  const Model model = Model::load(model_path);
  const Table table = read_for(model, data, common);
  const PreparedRows rows = model.preparation().encode(table, common.threads);
  print_warnings(rows);
  const LabelCodes codes = model.preparation().classes().codes(
      table, label.empty() ? model.preparation().label() : label);
  for (const LabelCodes::Unknown& u : codes.unknown) {
    if (u.text.empty()) {
      fail_input("{}:{}: the label is missing; evaluation needs a label in every row", data,
                 u.line);
    }
    warn(
        fmt::format("{}:{}: training never saw the class '{}' ({} rows); they count as errors and "
                    "are left out of the losses",
                    data, u.line, u.text, u.count));
  }
  const Scores s =
      score(model.predict(rows, common.threads), codes.codes, model.classifier().game());
  if (common.json) {
    print_json(scores_json(model, s));
  } else if (!common.quiet) {
    print_scores(model, s);
  }
}

}  // namespace

void add_predict(CLI::App& app, Common& common) {
  auto flags = std::make_shared<PredictFlags>();
  add_command(
      app, common, "predict", "Predict the rows of a file: class, probabilities, log density ratio",
      Options{required(text({"MODEL"}, flags->model, "FILE", "Model file written by fit")),
              required(text({"DATA"}, flags->data, "FILE", "Rows to predict (-: stdin)")),
              output_file(flags->output, "CSV file to write (default: stdout)"),
              list({"--keep"}, flags->keep, "a,b",
                   "Columns to copy beside the predictions (default: those of fit)"),
              parsed({"--sets"}, OptionType::number, "ALPHA", "",
                     "Also sets of classes, columns set:<class> of 0 and 1, that hold the "
                     "true class with probability 1 - ALPHA on the target; between 0 and 1",
                     [flags](const std::string& text) {
                       constexpr Range range{
                           .low = 0, .high = 1, .low_excluded = true, .high_excluded = true};
                       flags->sets = parse_in(range, text);
                     }),
              flag({"--safe-csv"}, flags->safe_csv,
                   "Put an apostrophe before text that a spreadsheet would run")} +
          file_options(common.read))
      .callback([flags, &common] { run_predict(*flags, common); });
}

void add_evaluate(CLI::App& app, Common& common) {
  struct Flags {
    std::string model, data, label;
  };
  auto flags = std::make_shared<Flags>();
  add_command(app, common, "evaluate", "Compare a model's predictions with the labels of a file",
              Options{required(text({"MODEL"}, flags->model, "FILE", "Model file written by fit")),
                      required(text({"DATA"}, flags->data, "FILE", "Labelled rows (-: stdin)")),
                      text({"--label"}, flags->label, "COLUMN",
                           "Column of the class (default: as in training)")} +
                  file_options(common.read))
      .callback(
          [flags, &common] { run_evaluate(flags->model, flags->data, flags->label, common); });
}

}  // namespace covshift::cli
