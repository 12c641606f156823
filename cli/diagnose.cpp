#include "covshift/diagnose/diagnose.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <numeric>
#include <optional>

#include "cli/commands.hpp"
#include "cli/next.hpp"
#include "cli/output.hpp"
#include "cli/parts.hpp"
#include "cli/report.hpp"
#include "cli/training.hpp"
#include "covshift/base/error.hpp"
#include "covshift/engine/fit_parts.hpp"
#include "covshift/options/options.hpp"

namespace covshift::cli {
namespace {

using Json = nlohmann::ordered_json;

struct DiagnoseFlags {
  std::string train, target, label, report;
  DiagnoseOptions options;
  PreparationOptions inputs = for_diagnosis();
};

/// With the command that does what it recommends. Sets the kept columns of the target. Of several
/// processes only the first has a diagnosis, of a sample of all rows.
std::optional<Diagnosis> diagnose_files(const DiagnoseFlags& flags, const Common& common,
                                        const CLI::App& command, std::vector<KeptColumn>& kept) {
  ProgressBar bar(common.quiet || common.json);
  bar.show("reading", 0);
  const auto read = common.reducer != nullptr ? read_parts : read_files;
  PreparedFiles files = read(flags.train, flags.target, flags.label, false, flags.inputs, common);
  if (common.reducer != nullptr) {
    const RowCounts all = gather_sample(files.preparation, files.train, files.target,
                                        *common.reducer, flags.options.seed);
    const std::size_t train = files.train.features.rows;
    const std::size_t target = files.target.features.rows;
    if (train < all.train || target < all.target) {
      message(fmt::format("diagnosed on a sample: {} of {} training rows, {} of {} target rows",
                          train, all.train, target, all.target));
    }
    if (!is_first(common)) return {};
  }
  DiagnoseOptions options = flags.options;
  options.threads = common.threads;
  options.progress = [&](std::string_view stage, double share) { bar.show(stage, share); };
  Diagnosis d = diagnose(files.preparation, files.train, files.target, options);
  if (d.test.folds > 0) {
    const std::string label = files.preparation.label().empty() ? "COLUMN" : flags.label;
    d.recommendation.command =
        next_fit(command, {flags.train, flags.target, label}, d.recommendation.method);
  }
  kept = std::move(files.kept);
  return d;
}

constexpr std::size_t most_shown = 20;

void print_more(std::size_t count) {
  if (count > most_shown) fmt::print("  ... and {} more (--json lists all)\n", count - most_shown);
}

void print_views(const Diagnosis& d) {
  std::vector<ViewDivergence> views = d.views;
  std::stable_sort(views.begin(), views.end(), [](const auto& a, const auto& b) {
    return std::max(a.kl, a.kl_binned) > std::max(b.kl, b.kl_binned);
  });
  std::vector<std::vector<std::string>> rows = {
      {"view", "symmetric KL", "binned KL", "hardly moved"}};
  for (std::size_t v = 0; v < std::min(most_shown, views.size()); ++v) {
    rows.push_back({views[v].name, fmt::format("{:.4f}", std::max(views[v].kl, 0.0)),
                    fmt::format("{:.4f}", views[v].kl_binned), views[v].stable ? "yes" : "no"});
  }
  print_table(rows);
  print_more(views.size());
}

void print_means(const Diagnosis& d) {
  std::vector<std::size_t> order(d.means.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return std::abs(d.means[a].before) > std::abs(d.means[b].before);
  });
  std::vector<std::vector<std::string>> rows = {
      {"feature", "train mean", "weighted", "target mean", "apart (std)", "after weighting"}};
  for (std::size_t k = 0; k < std::min(most_shown, order.size()); ++k) {
    const MeanShift& m = d.means[order[k]];
    rows.push_back({d.columns[order[k]], fmt::format("{:.4g}", m.train),
                    fmt::format("{:.4g}", m.weighted), fmt::format("{:.4g}", m.target),
                    fmt::format("{:.2f}", m.before), fmt::format("{:.2f}", m.after)});
  }
  print_table(rows);
  print_more(order.size());
}

/// Rows of the target with the values that shifted most.
void print_rows(const Diagnosis& d, const std::vector<std::size_t>& row,
                const std::vector<std::vector<std::string>>& values) {
  constexpr std::size_t columns = 5;
  std::vector<std::vector<std::string>> table = {{"target row"}};
  for (std::size_t k = 0; k < std::min(columns, d.shown.size()); ++k) {
    table[0].push_back(d.features[d.shown[k]].name);
  }
  for (std::size_t i = 0; i < row.size(); ++i) {
    table.push_back({fmt::format("{}", row[i] + 1)});
    for (std::size_t k = 0; k < std::min(columns, d.shown.size()); ++k) {
      table.back().push_back(values[i][k]);
    }
  }
  print_table(table);
}

void print_text(const Diagnosis& d) {
  print_trust(d.recommendation.trust);
  fmt::print("{} training rows, {} target rows\n", d.train_rows, d.target_rows);
  fmt::print(
      "domain AUC {:.3f} +- {:.3f} (0.5: no shift, 1: no overlap), p = {:.3g} ({} "
      "permutations)\n",
      d.test.auc, d.test.standard_error, d.test.p_value, d.test.permutations);
  fmt::print(
      "effective sample size {:.1f} of {} ({:.1f} by the smoothed, bounded weights of a fit); "
      "heaviest row {} with {:.1f}% of the weight\n",
      d.effective_sample_size, d.train_rows, d.fitted_sample_size, d.heaviest.front().row + 1,
      100 * d.heaviest.front().share);
  fmt::print("without training support: {:.1f}% of the target ({:.1f}% if there were no shift)\n\n",
             100 * d.support.share, 100 * d.support.expected);
  print_views(d);
  fmt::print("\n");
  print_means(d);
  const Recommendation& r = d.recommendation;
  fmt::print("\n{}\n", printable(r.summary));
  for (const Reason& reason : r.reasons) fmt::print("  - {}\n", printable(reason.text));
  if (!d.support.examples.empty() && d.shifted()) {
    fmt::print("\nThe target rows farthest from the training data:\n");
    std::vector<std::size_t> rows;
    for (const UnsupportedRow& row : d.support.examples) rows.push_back(row.row);
    print_rows(d, rows, d.unsupported_values);
  }
  if (r.collect_labels) {
    fmt::print("\nRows to label first (they stand for the most others):\n");
    std::vector<std::size_t> rows;
    for (const RowToLabel& row : r.label_first) rows.push_back(row.row);
    print_rows(d, rows, d.label_values);
  }
  if (!r.command.empty()) fmt::print("\n{}\nNext: {}\n", r.why, printable(r.command));
}

}  // namespace

void add_diagnose(CLI::App& app, Common& common) {
  auto flags = std::make_shared<DiagnoseFlags>();
  CLI::App& command =
      add_command(app, common, "diagnose", "Test for shift, locate it, and recommend what to do",
                  Options{train_file(flags->train), required(target_file(flags->target)),
                          label_column(flags->label), report_file(flags->report)} +
                      diagnose_options(flags->options, flags->inputs) + file_options(common.read));
  command.callback([flags, &common, &command] {
    refuse_overwriting(flags->report,
                       {flags->train, flags->target, views_file(flags->inputs.views)}, "--report");
    check_columns(flags->inputs.columns, flags->label);
    check_report(flags->report);
    std::vector<KeptColumn> kept;
    const std::optional<Diagnosis> found = diagnose_files(*flags, common, command, kept);
    if (!found) return;
    const Diagnosis& d = *found;
    Json json = to_json(d);
    add_ids(kept, json);
    if (!flags->report.empty()) {
      write_report(flags->report,
                   {"diagnose", {flags->train, flags->target}, flags->label, flags->options.seed},
                   json);
    }
    if (is_stdout(flags->report)) return;
    if (common.json) {
      print_json(json);
    } else if (!common.quiet) {
      print_text(d);
      if (!flags->report.empty()) fmt::print("Report: {}\n", printable(flags->report));
    }
  });
}

}  // namespace covshift::cli
