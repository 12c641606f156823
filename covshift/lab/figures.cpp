#include "covshift/lab/figures.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "covshift/draw/plots.hpp"
#include "covshift/lab/statistics.hpp"

namespace covshift {
namespace {

using Json = nlohmann::ordered_json;

std::vector<double> values_of(const std::vector<PanelScores>& scores, double PanelScores::*part) {
  std::vector<double> out;
  out.reserve(scores.size());
  for (const PanelScores& s : scores) out.push_back(s.*part);
  return out;
}

bool in_bits(const FigureSetting& figure) { return figure.measure == &PanelScores::log_loss; }
std::string measure_name(const FigureSetting& figure) {
  return in_bits(figure) ? "log_loss_bits" : "expected_01_loss";
}
std::string measure_title(const FigureSetting& figure) {
  return in_bits(figure) ? "Log loss (bits)" : "Expected 0-1 loss";
}

/// The draw whose panels are nearest to their medians, taken together.
std::size_t typical_draw(const std::vector<std::vector<double>>& values) {
  std::vector<double> distance(values[0].size(), 0.0);
  for (const std::vector<double>& panel : values) {
    const double median = spread_of(panel).quantiles[2];
    for (std::size_t i = 0; i < panel.size(); ++i) distance[i] += std::abs(panel[i] - median);
  }
  return static_cast<std::size_t>(std::min_element(distance.begin(), distance.end()) -
                                  distance.begin());
}

Json to_json(const Gaussian& g) { return {{"mean", g.mean}, {"covariance", g.covariance}}; }

Json to_json(const Spread& spread) {
  Json quantiles;
  for (std::size_t q = 0; q < Spread::at.size(); ++q) {
    quantiles[fmt::format("{}", Spread::at[q])] = spread.quantiles[q];
  }
  return {{"mean", spread.mean},
          {"standard_error", spread.standard_error},
          {"standard_deviation", spread.deviation},
          {"quantiles", std::move(quantiles)}};
}

std::string lambda_text(const LambdaChoice& lambda) {
  return lambda.kind == LambdaChoice::Kind::fixed  ? fmt::format("{}", lambda.value)
         : lambda.kind == LambdaChoice::Kind::cv   ? "cv"
         : lambda.kind == LambdaChoice::Kind::iwcv ? "iwcv"
                                                   : "cv (lr), iwcv (others)";
}

Json panel_json(const FigureSetting& figure, const PanelSetting& panel,
                const std::vector<PanelScores>& scores, const std::vector<double>& values,
                std::size_t shown) {
  Json entry = {{"name", panel.name},
                {"method", panel.fit.method},
                {"lambda", lambda_text(panel.fit.lambda)},
                {"bias", describe(panel.fit)["bias"]},
                {"train_rows", panel.example.train_rows},
                {"target_rows", panel.example.target_rows},
                {"noise", panel.example.noise},
                {"boundary", panel.example.boundary},
                {"train", to_json(panel.example.train)},
                {"target", to_json(panel.example.target)}};
  if (panel.generalization) entry["generalization"] = to_json(*panel.generalization);
  entry[measure_name(figure)] = to_json(spread_of(values));
  entry["shown"] = values[shown];
  entry["paper"] = panel.paper ? Json(*panel.paper) : nullptr;
  entry["accuracy"] = mean(values_of(scores, &PanelScores::accuracy));
  entry["certainty_inside"] = mean(values_of(scores, &PanelScores::certain_inside));
  entry["certainty_outside"] = mean(values_of(scores, &PanelScores::certain_outside));
  return entry;
}

/// The first panel against the second, draw by draw.
Json comparison_json(const std::string& first, const std::vector<double>& a,
                     const std::string& second, const std::vector<double>& b) {
  std::vector<double> difference(a.size());
  double better = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    difference[i] = a[i] - b[i];
    if (a[i] < b[i]) better += 1;
  }
  return {{"first", first},
          {"second", second},
          {"difference", to_json(spread_of(std::move(difference)))},
          {"first_better", better / static_cast<double>(a.size())}};
}

std::string markdown(const FigureSetting& figure, const Json& json) {
  const auto number = [](const Json& value) { return fmt::format("{:.3f}", value.get<double>()); };
  const Json& first = json["panels"][0];
  std::string text = fmt::format(
      "# {}\n\n{} on the target, {} draws, seed {}, lambda {}, bias {}; ± is the standard error of "
      "the mean.\n\n",
      figure.title, measure_title(figure), json["draws"].get<int>(),
      json["seed"].get<unsigned long long>(), first["lambda"].get<std::string>(),
      first["bias"].get<std::string>());
  text += markdown_heading({"panel", "mean", "5%", "25%", "median", "75%", "95%",
                            fmt::format("draw {} (shown)", json["shown_draw"].get<std::size_t>()),
                            "paper", "accuracy", "certainty inside", "outside"});
  for (const Json& panel : json["panels"]) {
    const Json& spread = panel[measure_name(figure)];
    std::vector<std::string> row = {panel["name"], fmt::format("{} ± {}", number(spread["mean"]),
                                                               number(spread["standard_error"]))};
    for (const Json& quantile : spread["quantiles"]) row.push_back(number(quantile));
    row.push_back(number(panel["shown"]));
    row.push_back(panel["paper"].is_null() ? "-" : fmt::format("{}", panel["paper"].get<double>()));
    row.push_back(number(panel["accuracy"]));
    for (const char* where : {"certainty_inside", "certainty_outside"}) {
      row.push_back(fmt::format("{:.2f}", panel[where].get<double>()));
    }
    text += markdown_row(row);
  }
  text +=
      "\nCertainty is the mean of |2 P('+'|x) - 1| over target points: inside where "
      "P_train >= P_test, outside where P_train < P_test/10.\n\nBy draw:\n\n" +
      markdown_heading({"comparison", "mean difference", "draws in which the first is better"});
  for (const Json& c : json["comparisons"]) {
    text += markdown_row(
        {fmt::format("{} - {}", c["first"].get<std::string>(), c["second"].get<std::string>()),
         fmt::format("{:+.3f} ± {}", c["difference"]["mean"].get<double>(),
                     number(c["difference"]["standard_error"])),
         fmt::format("{:.0f} %", 100 * c["first_better"].get<double>())});
  }
  return text;
}

std::string csv(const FigureSetting& figure, const FigureRun& run) {
  std::string text =
      "draw,seed,panel,log_loss_bits,expected_01_loss,accuracy,certainty_inside,"
      "certainty_outside\n";
  for (std::size_t i = 0; i < run.seeds.size(); ++i) {
    for (std::size_t p = 0; p < figure.panels.size(); ++p) {
      const PanelScores& s = run.scores[p][i];
      text +=
          fmt::format("{},{},{},{},{},{},{},{}\n", i + 1, run.seeds[i], figure.panels[p].name,
                      s.log_loss, s.expected_loss, s.accuracy, s.certain_inside, s.certain_outside);
    }
  }
  return text;
}

/// P('+' | x) of a model fitted to one draw, on a grid over the panel.
Pixels colour_map(const FigureSetting& figure, const PanelSetting& panel, const PlaneDraw& draw,
                  int threads) {
  constexpr std::size_t resolution = 200;
  const double step = (figure.high - figure.low) / resolution;
  std::vector<double> x;
  for (std::size_t row = 0; row < resolution; ++row) {
    for (std::size_t col = 0; col < resolution; ++col) {
      x.push_back(figure.low + (static_cast<double>(col) + 0.5) * step);
      x.push_back(figure.high - (static_cast<double>(row) + 0.5) * step);
    }
  }
  const Predictions predictions =
      predict_panel(panel, fit_panel(panel, draw, threads),
                    MatrixView::dense(x.data(), resolution * resolution, 2), threads);
  Pixels pixels{resolution, resolution, {}};
  for (std::size_t i = 0; i < predictions.rows; ++i) {
    pixels.colours.push_back(diverging(predictions.p[2 * i + 1]));
  }
  return pixels;
}

PlanePlot::Density density(const Gaussian& g) {
  return {{g.mean[0], g.mean[1]},
          {g.covariance[0], g.covariance[1], g.covariance[2], g.covariance[3]}};
}

std::string picture(const FigureSetting& figure, const FigureRun& run,
                    const std::vector<std::vector<double>>& values, std::size_t shown,
                    int threads) {
  PlanePlot plot{figure.title,
                 figure.subtitle,
                 measure_title(figure),
                 in_bits(figure) ? " bits" : "",
                 figure.low,
                 figure.high,
                 shown,
                 {}};
  for (std::size_t p = 0; p < figure.panels.size(); ++p) {
    const PanelSetting& setting = figure.panels[p];
    const PlaneDraw draw = draw_plane(setting.example, run.seeds[shown]);
    PlanePlot::Panel panel{setting.title,
                           colour_map(figure, setting, draw, threads),
                           setting.example.boundary,
                           density(setting.example.train),
                           density(setting.example.target),
                           {},
                           {},
                           draw.train.y,
                           values[p],
                           mean(values[p]),
                           standard_error(values[p]),
                           setting.paper};
    if (setting.generalization) panel.generalization = density(*setting.generalization);
    for (std::size_t i = 0; i < draw.train.y.size(); ++i) {
      panel.points.push_back({draw.train.x[2 * i], draw.train.x[2 * i + 1]});
    }
    plot.panels.push_back(std::move(panel));
  }
  return draw(plot);
}

}  // namespace

LabResult report_figure(const FigureSetting& figure, const ExperimentOptions& options) {
  const FigureRun run = run_figure(figure, options);
  std::vector<std::vector<double>> values;
  for (const auto& scores : run.scores) values.push_back(values_of(scores, figure.measure));
  const std::size_t shown = typical_draw(values);
  Json json = {{"figure", figure.name},           {"title", figure.title},
               {"draws", options.draws},          {"seed", options.seed},
               {"measure", measure_name(figure)}, {"shown_draw", shown + 1}};
  for (std::size_t p = 0; p < figure.panels.size(); ++p) {
    json["panels"].push_back(panel_json(figure, figure.panels[p], run.scores[p], values[p], shown));
  }
  for (const auto& [a, b] : figure.comparisons) {
    json["comparisons"].push_back(
        comparison_json(figure.panels[a].name, values[a], figure.panels[b].name, values[b]));
  }
  return {figure.name, markdown(figure, json), csv(figure, run),
          picture(figure, run, values, shown, options.threads), json};
}

}  // namespace covshift
