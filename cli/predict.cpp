#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <nlohmann/json.hpp>
#include <optional>

#include "cli/commands.hpp"
#include "cli/output.hpp"
#include "cli/parts.hpp"
#include "cli/streaming.hpp"
#include "cli/training.hpp"
#include "covshift/base/error.hpp"
#include "covshift/base/large_vector.hpp"
#include "covshift/base/number.hpp"
#include "covshift/data/table_blocks.hpp"
#include "covshift/engine/agree.hpp"
#include "covshift/model/model.hpp"
#include "covshift/model/scores.hpp"
#include "covshift/options/options.hpp"

namespace covshift::cli {
namespace {

using Json = nlohmann::ordered_json;

/// Calls use(table) for the rows of a file: for all at once, or a block at a time.
template <typename Use>
void each_table(const Model& model, const std::string& path, const Common& common,
                const MemoryOptions& memory, const std::vector<std::string>& as_text,
                const Use& use) {
  ReadOptions read = common.read;
  read.threads = common.threads;
  read.text_columns = as_text;
  read = model.preparation().read_options(read);
  if (common.reducer != nullptr) {
    const Part part(path, read, *common.reducer);
    agree(*common.reducer, [&] { part.each(read, use); });
    return;
  }
  if (!memory.limited()) return use(read_data(path, read));
  start_cache(memory);
  TableBlocks blocks(path, read, memory.block());
  while (const std::optional<Table> block = blocks.next()) {
    for (const std::string& note : block->notes) warn(note);
    use(*block);
  }
}

/// Columns of the data to copy beside the predictions: those asked for, or those of the model that
/// the file has. `tell`: warn of the others.
std::vector<const Column*> kept_columns(const Model& model, const Table& table,
                                        const std::vector<std::string>& asked, bool tell) {
  std::vector<const Column*> columns;
  columns.reserve(asked.size());
  for (const std::string& name : asked) columns.push_back(&table.at(name));
  if (!asked.empty()) return columns;
  for (const std::string& name : model.preparation().keep()) {
    if (const Column* column = table.find(name)) {
      columns.push_back(column);
    } else if (tell) {
      warn(
          fmt::format("{}: there is no column {}, which the model copies beside the predictions; "
                      "it is left out",
                      table.source, quoted_excerpt(name)));
    }
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

std::string csv_header(const Model& model, bool sets, const std::vector<const Column*>& kept,
                       bool safe) {
  std::vector<std::string> own = {"predicted"};
  for (const std::string& name : model.action_names()) own.push_back("p:" + name);
  own.emplace_back("log_ratio");
  for (const std::string& name : model.action_names()) {
    if (sets) own.push_back("set:" + name);
  }
  std::string text;
  for (const Column* column : kept) {
    if (std::find(own.begin(), own.end(), column->name) != own.end()) {
      fail_input(
          "the column {} cannot be copied beside the predictions (--keep): they have one of "
          "that name; rename it",
          quoted_excerpt(column->name));
    }
    text += csv_field(column->name, safe) + ',';
  }
  for (const std::string& name : own) text += csv_field(name, safe) + ',';
  text.back() = '\n';
  return text;
}

/// `sets`: of classes, a column for each; empty: none.
std::string csv_rows(const Model& model, const Predictions& predictions,
                     const std::vector<std::uint8_t>& sets, const std::vector<const Column*>& kept,
                     bool safe) {
  const std::vector<std::string> names = model.action_names();
  std::string text;
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
  MemoryOptions memory;
};

/// What predict makes of the rows of all blocks.
struct Predicted {
  std::vector<char, LargeAllocator<char>> csv;  ///< on disk if memory is limited
  Json rows = Json::array();                    ///< only where they are printed
  std::vector<std::size_t> counts;              ///< by action
  std::size_t n = 0;
  std::size_t in_sets = 0;
  std::size_t header = 0;  ///< bytes of csv
  Strange strange;

  void write(std::string_view text) { csv.insert(csv.end(), text.begin(), text.end()); }
  [[nodiscard]] std::string_view text() const { return {csv.data(), csv.size()}; }
};

void predict_block(const Model& model, const Table& table, const PredictFlags& flags,
                   const Common& common, Predicted& all) {
  const bool tell = all.n == 0 && is_first(common);
  const std::vector<const Column*> kept = kept_columns(model, table, flags.keep, tell);
  const PreparedRows rows = model.preparation().encode(table, common.threads);
  all.strange.append(rows.strange);
  const Predictions predictions = model.predict(rows, common.threads);
  std::vector<std::uint8_t> sets;
  if (flags.sets) sets = model.classifier().sets(predictions, *flags.sets);
  all.in_sets += static_cast<std::size_t>(std::count(sets.begin(), sets.end(), 1));
  for (const int action : predictions.action) ++all.counts[static_cast<std::size_t>(action)];
  if (common.json && flags.output.empty()) {
    for (Json& row : rows_json(model, predictions, sets, kept)) all.rows.push_back(std::move(row));
  } else {
    if (all.n == 0) {
      all.write(csv_header(model, flags.sets.has_value(), kept, flags.safe_csv));
      all.header = all.csv.size();
    }
    all.write(csv_rows(model, predictions, sets, kept, flags.safe_csv));
  }
  all.n += predictions.rows;
}

/// What all processes have predicted, at the first.
void gather_predicted(const Reducer& reducer, Predicted& all) {
  std::vector<double> sums = {static_cast<double>(all.n), static_cast<double>(all.in_sets)};
  sums.insert(sums.end(), all.counts.begin(), all.counts.end());
  reducer.sum(sums);
  all.n = static_cast<std::size_t>(sums[0]);
  all.in_sets = static_cast<std::size_t>(sums[1]);
  for (std::size_t j = 0; j < all.counts.size(); ++j) {
    all.counts[j] = static_cast<std::size_t>(sums[2 + j]);
  }
  Predicted together;
  in_turn(all.text(), all.header, reducer, [&](std::string_view text) { together.write(text); });
  all.csv = std::move(together.csv);
  Json rows = Json::array();
  std::string own = all.rows.dump();
  for (const std::string& piece : reducer.gather(std::move(own))) {
    for (Json& row : Json::parse(piece)) rows.push_back(std::move(row));
  }
  all.rows = std::move(rows);
}

void run_predict(const PredictFlags& flags, const Common& common) {
  const std::string& output = flags.output;
  check_model(flags.model);
  refuse_overwriting(output, {flags.model, flags.data});
  check_output(output, common);
  const Model model = Model::load(flags.model);
  if (flags.sets && is_first(common)) {
    const std::string doubt = doubt_about_sets(model.classifier().certificate(), *flags.sets);
    if (!doubt.empty()) warn(doubt);
  }
  const std::vector<std::string> names = model.action_names();
  Predicted all;
  all.counts.assign(names.size(), 0);
  // As text, so that they are copied as they are written: 007.
  each_table(model, flags.data, common, flags.memory,
             flags.keep.empty() ? model.preparation().keep() : flags.keep,
             [&](const Table& table) { predict_block(model, table, flags, common, all); });
  if (common.reducer != nullptr) {
    warn_together(all.strange.warnings(), *common.reducer);
    gather_predicted(*common.reducer, all);
    if (!is_first(common)) return;
  } else {
    for (const std::string& warning : all.strange.warnings()) warn(warning);
  }
  if (!output.empty()) write_output(output, all.text());
  if (is_stdout(output)) return;
  if (common.json) {
    Json by_name;
    for (std::size_t j = 0; j < names.size(); ++j) by_name[names[j]] = all.counts[j];
    Json result = {{"n", all.n}, {"predicted", by_name}};
    if (flags.sets) {
      result["alpha"] = *flags.sets;
      result["mean_set_size"] =
          static_cast<double>(all.in_sets) / static_cast<double>(std::max<std::size_t>(1, all.n));
    }
    if (output.empty()) {
      result["rows"] = std::move(all.rows);
    } else {
      result["output"] = output;
    }
    print_json(result);
  } else if (output.empty()) {
    fmt::print("{}", all.text());
  } else if (!common.quiet) {
    fmt::print("{} predictions written to {}\n", all.n, printable(output));
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
          {"accuracy", s.abstained < 1 ? Json(s.accuracy) : Json(nullptr)},
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

struct EvaluateFlags {
  std::string model, data, label;
  MemoryOptions memory;
};

/// Labels that training never saw, over all blocks.
void note_unknown(const LabelCodes& codes, const std::string& data,
                  std::vector<LabelCodes::Unknown>& all) {
  for (const LabelCodes::Unknown& u : codes.unknown) {
    if (u.text.empty()) {
      fail_input("{}:{}: the label is missing; evaluation needs a label in every row", data,
                 u.line);
    }
    const auto same = std::find_if(all.begin(), all.end(),
                                   [&](const auto& known) { return known.text == u.text; });
    if (same == all.end()) {
      all.push_back(u);
    } else {
      same->count += u.count;
    }
  }
}

void run_evaluate(const EvaluateFlags& flags, const Common& common) {
  check_model(flags.model);
  const Model model = Model::load(flags.model);
  const Preparation& preparation = model.preparation();
  const std::string& label = flags.label.empty() ? preparation.label() : flags.label;
  Scorer scorer(model.classifier().game());
  Strange strange;
  std::vector<LabelCodes::Unknown> unknown;
  each_table(model, flags.data, common, flags.memory, {}, [&](const Table& table) {
    const PreparedRows rows = preparation.encode(table, common.threads);
    strange.append(rows.strange);
    const LabelCodes codes = preparation.classes().codes(table, label);
    note_unknown(codes, flags.data, unknown);
    scorer.add(model.predict(rows, common.threads), codes.codes);
  });
  std::vector<std::string> warnings = strange.warnings();
  for (const LabelCodes::Unknown& u : unknown) {
    warnings.push_back(
        fmt::format("{}:{}: training never saw the class '{}' ({} rows); they count as errors and "
                    "are left out of the losses",
                    flags.data, u.line, u.text, u.count));
  }
  if (common.reducer != nullptr) {
    warn_together(warnings, *common.reducer);
    scorer.add_up(*common.reducer);
  } else {
    for (const std::string& warning : warnings) warn(warning);
  }
  const Scores s = scorer.scores();
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
      Options{
          required(text({"MODEL"}, flags->model, "FILE", "Model file written by fit")),
          required(text({"DATA"}, flags->data, "FILE", "Rows to predict (-: stdin)")),
          output_file(flags->output, "CSV file to write (default: stdout)"),
          list({"--keep"}, flags->keep, "a,b",
               "Columns to copy beside the predictions (default: those of fit)"),
          parsed({"--sets"}, OptionType::number, "ALPHA", "",
                 "Add prediction sets (0/1 columns set:<class>) that contain the true class "
                 "with probability 1 - ALPHA on the target; between 0 and 1",
                 [flags](const std::string& text) { flags->sets = parse_in(set_alphas, text); }),
          flag({"--safe-csv"}, flags->safe_csv,
               "Put an apostrophe before text that a spreadsheet would run")} +
          file_options(common.read) + memory_options(flags->memory))
      .callback([flags, &common] { run_predict(*flags, common); });
}

void add_evaluate(CLI::App& app, Common& common) {
  auto flags = std::make_shared<EvaluateFlags>();
  add_command(app, common, "evaluate", "Compare a model's predictions with the labels of a file",
              Options{required(text({"MODEL"}, flags->model, "FILE", "Model file written by fit")),
                      required(text({"DATA"}, flags->data, "FILE", "Labelled rows (-: stdin)")),
                      text({"--label"}, flags->label, "COLUMN",
                           "Column of the class (default: as in training)")} +
                  file_options(common.read) + memory_options(flags->memory))
      .callback([flags, &common] { run_evaluate(*flags, common); });
}

}  // namespace covshift::cli
