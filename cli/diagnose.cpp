#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <numeric>

#include "cli/commands.hpp"
#include "cli/output.hpp"
#include "covshift/base/error.hpp"
#include "covshift/data/encoder.hpp"
#include "covshift/data/read_table.hpp"
#include "covshift/data/scaling.hpp"
#include "covshift/data/views.hpp"
#include "covshift/ratio/diagnostics.hpp"
#include "covshift/shift/shift.hpp"

namespace covshift::cli {
namespace {

using Json = nlohmann::ordered_json;

struct Flags {
  std::string train, target, label;
  std::string views = "each";
  std::string ratio = "logistic";
  std::string ratio_lambda = "cv";
  std::string scale = "unit";
  unsigned long long seed = 0;
};

struct Diagnosis {
  std::size_t train_rows, target_rows;
  DomainAuc auc;
  std::vector<ViewShift> views;
  double effective_sample_size;
  std::vector<LargeWeight> heaviest;
  std::vector<MeanShift> means;
  std::vector<std::string> columns;
  std::string advice;
};

std::string advise(const Diagnosis& d) {
  if (d.auc.folds > 0 && d.auc.auc - 2 * d.auc.standard_error <= 0.5) {
    return "No shift is visible: training and target cannot be told apart. Use lr (or adv01, svm).";
  }
  if (d.auc.folds == 0) {
    return "A sample has one row only: whether there is shift cannot be told. Bring more rows.";
  }
  if (d.auc.auc > 0.95) {
    return "Training and target hardly overlap: weighting has nothing to weigh there and no method "
           "can "
           "know the labels. Collect labels from the target; until then robust says so honestly.";
  }
  const double share = d.effective_sample_size / static_cast<double>(d.train_rows);
  const auto stable = std::count_if(d.views.begin(), d.views.end(),
                                    [](const ViewShift& v) { return v.generalized; });
  if (share > 0.5) {
    return fmt::format(
        "Mild shift: {:.0f}% of the training sample remains after weighting. iw, or "
        "robust with --generalize temper:auto, will do.",
        100 * share);
  }
  if (stable > 0 && stable < static_cast<std::ptrdiff_t>(d.views.size())) {
    return fmt::format(
        "Strong shift, but {} of {} views hardly moved: use robust-view, which "
        "trusts those and is cautious about the rest.",
        stable, d.views.size());
  }
  return "Strong shift in everything: robust stays honest where there is no support, but labels "
         "from "
         "the target would help most.";
}

Diagnosis diagnose(const Flags& flags, const Common& common) {
  ReadOptions read;
  read.threads = common.threads;
  if (!flags.label.empty()) read.text_columns = {flags.label};
  const Table train = read_table(flags.train, read);
  const std::string label =
      flags.label.empty() && train.sparse ? std::string(unnamed_label) : flags.label;
  if (!label.empty()) static_cast<void>(train.at(label));  // an Error where there is none
  const Encoder encoder =
      Encoder::fit(train, label.empty() ? std::vector<std::string>{} : std::vector{label});
  const Table target = read_table(flags.target, encoder.read_options(read));
  Matrix train_matrix = encoder.encode(train).matrix;
  Matrix target_matrix = encoder.encode(target).matrix;
  // Means are shown in the units of the file; densities are compared on scaled features.
  Diagnosis d;
  const Scaler scaler = Scaler::fit(parse_scale_kind(flags.scale), train_matrix);
  Matrix train_scaled = train_matrix;
  Matrix target_scaled = target_matrix;
  scaler.apply(train_scaled);
  scaler.apply(target_scaled);
  ShiftOptions options;
  options.generalize = {Assumption::Kind::views};
  options.ratio.method = parse_ratio_method(flags.ratio);
  options.ratio.lambda = RatioLambda::parse(flags.ratio_lambda);
  options.ratio.seed = flags.seed;
  options.ratio.threads = common.threads;
  const Views views = Views::parse(flags.views, encoder);
  const Shift shift =
      Shift::fit(options, views, train_scaled.view(), target_scaled.view(), {}, {}, {});
  const std::vector<double> log_weight = shift.at(train_scaled.view()).log_ratio;
  d.train_rows = train_matrix.rows;
  d.target_rows = target_matrix.rows;
  DomainAucOptions auc;
  auc.seed = flags.seed;
  auc.threads = common.threads;
  d.auc = domain_auc(train_scaled.view(), target_scaled.view(), auc);
  d.views = shift.views();
  d.effective_sample_size = effective_sample_size(log_weight);
  d.heaviest = largest_weights(log_weight, 5);
  d.means = mean_shifts(train_matrix.view(), target_matrix.view(), log_weight, {}, common.threads);
  for (std::size_t j = 0; j < encoder.cols(); ++j) d.columns.push_back(encoder.name(j));
  d.advice = advise(d);
  return d;
}

Json to_json(const Diagnosis& d) {
  Json views = Json::array();
  for (const ViewShift& v : d.views) {
    views.push_back({{"name", v.name}, {"kl", v.kl}, {"generalized", v.generalized}});
  }
  Json heaviest = Json::array();
  for (const LargeWeight& w : d.heaviest) {
    heaviest.push_back({{"row", w.row + 1}, {"share", w.share}});
  }
  Json means = Json::array();
  for (std::size_t j = 0; j < d.means.size(); ++j) {
    const MeanShift& m = d.means[j];
    means.push_back({{"name", d.columns[j]},
                     {"train", m.train},
                     {"weighted", m.weighted},
                     {"target", m.target},
                     {"before", m.before},
                     {"after", m.after}});
  }
  return {{"train", d.train_rows},
          {"target", d.target_rows},
          {"domain_auc", d.auc.auc},
          {"domain_auc_standard_error", d.auc.standard_error},
          {"effective_sample_size", d.effective_sample_size},
          {"views", std::move(views)},
          {"largest_weights", std::move(heaviest)},
          {"features", std::move(means)},
          {"advice", d.advice}};
}

void print_text(const Diagnosis& d) {
  fmt::print("{} training rows, {} target rows\n", d.train_rows, d.target_rows);
  fmt::print("domain AUC {:.3f} +- {:.3f} (0.5: no shift, 1: no overlap)\n", d.auc.auc,
             d.auc.standard_error);
  fmt::print("effective sample size {:.1f} of {}; heaviest row {} with {:.1f}% of the weight\n\n",
             d.effective_sample_size, d.train_rows, d.heaviest.front().row + 1,
             100 * d.heaviest.front().share);
  constexpr std::size_t shown = 20;
  std::vector<ViewShift> views = d.views;
  std::stable_sort(views.begin(), views.end(),
                   [](const ViewShift& a, const ViewShift& b) { return a.kl > b.kl; });
  std::vector<std::vector<std::string>> rows = {{"view", "symmetric KL", "hardly moved"}};
  for (std::size_t v = 0; v < std::min(shown, views.size()); ++v) {
    rows.push_back({views[v].name, fmt::format("{:.4f}", std::max(views[v].kl, 0.0)),
                    views[v].generalized ? "yes" : "no"});
  }
  print_table(rows);
  if (views.size() > shown)
    fmt::print("  ... and {} more (--json lists all)\n", views.size() - shown);
  std::vector<std::size_t> order(d.means.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return std::abs(d.means[a].before) > std::abs(d.means[b].before);
  });
  rows = {{"feature", "train mean", "weighted", "target mean", "apart (std)", "after weighting"}};
  for (std::size_t k = 0; k < std::min(shown, order.size()); ++k) {
    const MeanShift& m = d.means[order[k]];
    rows.push_back({d.columns[order[k]], fmt::format("{:.4g}", m.train),
                    fmt::format("{:.4g}", m.weighted), fmt::format("{:.4g}", m.target),
                    fmt::format("{:.2f}", m.before), fmt::format("{:.2f}", m.after)});
  }
  fmt::print("\n");
  print_table(rows);
  fmt::print("\n{}\n", d.advice);
}

}  // namespace

void add_diagnose(CLI::App& app, Common& common) {
  auto flags = std::make_shared<Flags>();
  CLI::App* diagnose_command =
      app.add_subcommand("diagnose", "Is there shift, where, how bad, what to do");
  diagnose_command->add_option("TRAIN", flags->train, "The training data")->required();
  diagnose_command->add_option("TARGET", flags->target, "The data of where a model will be used")
      ->required();
  diagnose_command->add_option("--label", flags->label, "A column that is no input: the class");
  diagnose_command->add_option("--views", flags->views, "Groups of columns: all|each|FILE")
      ->capture_default_str();
  diagnose_command
      ->add_option("--ratio", flags->ratio,
                   "Density ratio: logistic|gaussian|ulsif|rulsif|kliep|kmm")
      ->check(valid([](const std::string& text) { parse_ratio_method(text); }))
      ->capture_default_str();
  diagnose_command
      ->add_option("--ratio-lambda", flags->ratio_lambda,
                   "Regularisation of the logistic ratio: a number|paper|cv")
      ->check(valid([](const std::string& text) { RatioLambda::parse(text); }))
      ->capture_default_str();
  diagnose_command->add_option("--scale", flags->scale, "Features: unit|standard|none")
      ->check(CLI::IsMember({"unit", "standard", "none"}))
      ->capture_default_str();
  diagnose_command->add_option("--seed", flags->seed, "Of folds")->capture_default_str();
  add_common(*diagnose_command, common);
  diagnose_command->callback([flags, &common] {
    const Diagnosis d = diagnose(*flags, common);
    if (common.json) {
      print_json(to_json(d));
    } else if (!common.quiet) {
      print_text(d);
    }
  });
}

}  // namespace covshift::cli
