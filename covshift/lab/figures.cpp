#include "covshift/lab/figures.hpp"
#include "covshift/lab/statistics.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

namespace covshift {
namespace {

std::vector<double> values_of(const FigureSetting& figure, const std::vector<PanelScores>& scores) {
  std::vector<double> out;
  out.reserve(scores.size());
  for (const PanelScores& s : scores) out.push_back(measured(figure, s));
  return out;
}

double mean_of(const std::vector<PanelScores>& scores, double PanelScores::*part) {
  double sum = 0;
  for (const PanelScores& s : scores) sum += s.*part;
  return sum / static_cast<double>(scores.size());
}

/// The first panel against the second, draw by draw.
struct Comparison {
  Spread difference;
  double won = 0;  ///< the share of draws in which the first has the smaller loss
};

Comparison compared(const std::vector<double>& first, const std::vector<double>& second) {
  Comparison out;
  std::vector<double> difference(first.size());
  for (std::size_t i = 0; i < first.size(); ++i) {
    difference[i] = first[i] - second[i];
    if (first[i] < second[i]) out.won += 1;
  }
  out.won /= static_cast<double>(first.size());
  out.difference = spread_of(std::move(difference));
  return out;
}

nlohmann::ordered_json to_json(const Gaussian& g) {
  return {{"mean", g.mean}, {"covariance", g.covariance}};
}

nlohmann::ordered_json to_json(const Spread& spread) {
  nlohmann::ordered_json quantiles;
  for (std::size_t q = 0; q < Spread::at.size(); ++q) {
    quantiles[fmt::format("{}", Spread::at[q])] = spread.quantiles[q];
  }
  return {{"mean", spread.mean},
          {"standard_error", spread.standard_error},
          {"standard_deviation", spread.deviation},
          {"quantiles", std::move(quantiles)}};
}

std::string_view measure_name(const FigureSetting& figure) {
  return figure.measure == FigureSetting::Measure::log_loss ? "log_loss_bits" : "expected_01_loss";
}

std::string lambda_text(const LambdaChoice& lambda) {
  return lambda.kind == LambdaChoice::Kind::fixed  ? fmt::format("{}", lambda.value)
         : lambda.kind == LambdaChoice::Kind::cv   ? "cv"
         : lambda.kind == LambdaChoice::Kind::iwcv ? "iwcv"
                                                   : "cv (lr), iwcv (others)";
}

std::string_view bias_text(const PanelSetting& panel) {
  return panel.fit.shift.bias == BiasAssumption::joint ? "joint" : "test";
}

LabResult figure(FigureSetting setting, const FigureOptions& options) {
  for (PanelSetting& panel : setting.panels) {
    panel.fit.lambda = options.lambda.value_or(panel.fit.lambda);
    panel.fit.shift.bias = options.bias.value_or(panel.fit.shift.bias);
  }
  const FigureRun run = run_figure(setting, options);
  const std::size_t shown = typical_draw(setting, run);
  LabResult result;
  result.name = setting.name;
  result.svg = figure_svg(setting, run, shown, options.threads);

  nlohmann::ordered_json& json = result.json;
  json["figure"] = setting.name;
  json["title"] = setting.title;
  json["draws"] = options.draws;
  json["seed"] = options.seed;
  json["measure"] = measure_name(setting);
  json["shown_draw"] = shown + 1;
  std::string& table = result.markdown;
  const bool bits = setting.measure == FigureSetting::Measure::log_loss;
  table = fmt::format(
      "# {}\n\n{} on the target, {} draws, seed {}, lambda {}, bias {}; ± is the standard error of "
      "the mean.\n\n"
      "| panel | mean | 5% | 25% | median | 75% | 95% | draw {} (shown) | paper | accuracy | "
      "certainty inside | outside |\n|---|---|---|---|---|---|---|---|---|---|---|---|\n",
      setting.title, bits ? "Log loss (bits)" : "Expected 0-1 loss", options.draws, options.seed,
      lambda_text(setting.panels[0].fit.lambda), bias_text(setting.panels[0]), shown + 1);
  std::vector<std::vector<double>> values;
  for (std::size_t p = 0; p < setting.panels.size(); ++p) {
    const PanelSetting& panel = setting.panels[p];
    const std::vector<PanelScores>& scores = run.scores[p];
    values.push_back(values_of(setting, scores));
    const Spread spread = spread_of(values[p]);
    const double accuracy = mean_of(scores, &PanelScores::accuracy);
    const double inside = mean_of(scores, &PanelScores::certain_inside);
    const double outside = mean_of(scores, &PanelScores::certain_outside);
    nlohmann::ordered_json entry = {{"name", panel.name},
                                    {"method", panel.fit.method},
                                    {"lambda", lambda_text(panel.fit.lambda)},
                                    {"bias", bias_text(panel)},
                                    {"train_rows", panel.example.train_rows},
                                    {"target_rows", panel.example.target_rows},
                                    {"noise", panel.example.noise},
                                    {"boundary", panel.example.boundary},
                                    {"train", to_json(panel.example.train)},
                                    {"target", to_json(panel.example.target)}};
    if (panel.generalization) entry["generalization"] = to_json(*panel.generalization);
    entry[measure_name(setting)] = to_json(spread);
    entry["shown"] = values[p][shown];
    entry["paper"] = panel.paper ? nlohmann::ordered_json(*panel.paper) : nullptr;
    entry["accuracy"] = accuracy;
    entry["certainty_inside"] = inside;
    entry["certainty_outside"] = outside;
    json["panels"].push_back(std::move(entry));
    table +=
        fmt::format("| {} | {:.3f} ± {:.3f} |", panel.name, spread.mean, spread.standard_error);
    for (const double q : spread.quantiles) table += fmt::format(" {:.3f} |", q);
    table +=
        fmt::format(" {:.3f} | {} | {:.3f} | {:.2f} | {:.2f} |\n", values[p][shown],
                    panel.paper ? fmt::format("{}", *panel.paper) : "-", accuracy, inside, outside);
  }
  table +=
      "\nCertainty is the mean of |2 P('+'|x) - 1| over target points: inside where "
      "P_train >= P_test, outside where P_train < P_test/10.\n\nBy draw:\n\n"
      "| comparison | mean difference | draws in which the first is better |\n|---|---|---|\n";
  for (const auto& [a, b] : setting.comparisons) {
    const Comparison c = compared(values[a], values[b]);
    json["comparisons"].push_back({{"first", setting.panels[a].name},
                                   {"second", setting.panels[b].name},
                                   {"difference", to_json(c.difference)},
                                   {"first_better", c.won}});
    table += fmt::format("| {} - {} | {:+.3f} ± {:.3f} | {:.0f} % |\n", setting.panels[a].name,
                         setting.panels[b].name, c.difference.mean, c.difference.standard_error,
                         100 * c.won);
  }

  result.csv =
      "draw,seed,panel,log_loss_bits,expected_01_loss,accuracy,certainty_inside,"
      "certainty_outside\n";
  for (std::size_t i = 0; i < run.seeds.size(); ++i) {
    for (std::size_t p = 0; p < setting.panels.size(); ++p) {
      const PanelScores& s = run.scores[p][i];
      result.csv +=
          fmt::format("{},{},{},{},{},{},{},{}\n", i + 1, run.seeds[i], setting.panels[p].name,
                      s.log_loss, s.expected_loss, s.accuracy, s.certain_inside, s.certain_outside);
    }
  }
  return result;
}

}  // namespace

Spread spread_of(std::vector<double> values) {
  Spread spread;
  const auto n = static_cast<double>(values.size());
  spread.mean = mean(values);
  spread.standard_error = standard_error(values);
  spread.deviation = spread.standard_error * std::sqrt(n);
  std::sort(values.begin(), values.end());
  for (std::size_t q = 0; q < Spread::at.size(); ++q) {
    const double position = Spread::at[q] * (n - 1);
    const auto low = static_cast<std::size_t>(position);
    const std::size_t high = std::min(low + 1, values.size() - 1);
    const double share = position - static_cast<double>(low);
    spread.quantiles[q] = (1 - share) * values[low] + share * values[high];
  }
  return spread;
}

std::size_t typical_draw(const FigureSetting& figure, const FigureRun& run) {
  std::vector<double> distance(run.seeds.size(), 0.0);
  for (const std::vector<PanelScores>& scores : run.scores) {
    const std::vector<double> values = values_of(figure, scores);
    const double median = spread_of(values).quantiles[2];
    for (std::size_t i = 0; i < values.size(); ++i) distance[i] += std::abs(values[i] - median);
  }
  return static_cast<std::size_t>(std::min_element(distance.begin(), distance.end()) -
                                  distance.begin());
}

LabResult figure1(const FigureOptions& options) { return figure(figure1_setting(), options); }
LabResult figure2(const FigureOptions& options) { return figure(figure2_setting(), options); }
LabResult figure3(const FigureOptions& options) { return figure(figure3_setting(), options); }

}  // namespace covshift
