#include "covshift/lab/sweep.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "covshift/draw/plots.hpp"
#include "covshift/lab/statistics.hpp"
#include "covshift/lab/tables.hpp"

namespace covshift {
namespace {

using Json = nlohmann::ordered_json;

constexpr double level = 0.05;  // of the t-tests that count a win or a loss

/// One reading on all data sets.
struct Cell {
  std::string axis;   ///< severity, ratio, views, bias, sampling, lambda
  std::string label;  ///< what is different
  Reading reading;
  std::vector<Contestant> contestants;
  std::vector<Outcomes> outcomes;  ///< by data set
};

struct Sweep {
  std::vector<Dataset> datasets;
  std::vector<Cell> cells;
};

std::vector<Cell> plan() {
  std::vector<Cell> cells;
  const auto add = [&](std::string axis, std::string label, const auto& change) {
    Cell cell{std::move(axis), std::move(label), default_reading(), log_loss_contestants(), {}};
    change(cell);
    cells.push_back(std::move(cell));
  };
  const auto ratio = [](const char* rule) {
    return [rule](Cell& c) { c.reading.fit.shift.ratio.lambda = RatioLambda::parse(rule); };
  };
  // Severity, under two rules for the ratio's regularisation.
  for (const char* rule : {"stable", "cv"}) {
    for (const double crossing : {0.0, 0.05, 0.1, 0.2, 0.3, 0.5}) {
      add("severity", fmt::format("{} of the rows cross, ratio {}", crossing, rule), [&](Cell& c) {
        c.reading.sampling.crossing = crossing;
        ratio(rule)(c);
      });
    }
  }
  for (const char* rule : {"paper", "0.1", "0.03", "0.01", "0.001"}) {
    add("ratio", fmt::format("ratio lambda {}", rule), ratio(rule));
  }
  for (const double threshold : {0.0, 0.01, 1.0}) {
    add("views", fmt::format("view threshold {}", threshold),
        [&](Cell& c) { c.reading.fit.shift.view_threshold = threshold; });
  }
  add("bias", "the bias generalizes fully (r = 1)",
      [](Cell& c) { c.reading.fit.shift.bias = BiasAssumption::test; });
  add("sampling", "a in [1, 2]", [](Cell& c) { c.reading.sampling.a = {1, 2}; });
  add("sampling", "b in [0.5, 1]", [](Cell& c) { c.reading.sampling.b = {0.5, 1}; });
  add("sampling", "without replacement", [](Cell& c) {
    c.reading.sampling.replacement = false;
    c.reading.sampling.train = c.reading.sampling.target = 60;  // a portion of Seed has 105
  });
  for (const int power : {-16, -12, -8, -4, 0}) {
    add("lambda", fmt::format("lambda 2^{} for all", power), [&](Cell& c) {
      for (Contestant& contestant : c.contestants) {
        contestant.lambda = {LambdaChoice::Kind::fixed, std::pow(2.0, power)};
      }
    });
  }
  return cells;
}

std::size_t position(const std::vector<Contestant>& contestants, std::string_view method) {
  const auto at = std::find_if(contestants.begin(), contestants.end(),
                               [&](const Contestant& c) { return c.method == method; });
  return static_cast<std::size_t>(at - contestants.begin());
}

/// One contestant of a cell on every data set, with its wins and losses against lr by paired
/// t-tests.
Json json(const Sweep& sweep, const Cell& cell, std::size_t contestant) {
  int wins = 0;
  int losses = 0;
  Json datasets = Json::object();
  for (std::size_t d = 0; d < sweep.datasets.size(); ++d) {
    const std::vector<double> values = values_of(cell.outcomes[d], contestant, &Outcome::log_loss);
    const OutcomeMeans means = means_of(cell.outcomes[d], contestant);
    const PairedTest test = paired_t_test(
        values, values_of(cell.outcomes[d], position(cell.contestants, "lr"), &Outcome::log_loss));
    if (test.p < level) ++(test.difference < 0 ? wins : losses);
    datasets[sweep.datasets[d].title] = {
        {"mean", mean(values)},
        {"standard_error", standard_error(values)},
        {"mean_accuracy", means.accuracy},
        {"p_against_lr", test.p},
        {"mean_effective_sample_size", means.effective_sample_size},
        {"mean_generalized_views", means.generalized},
        {"mean_log2_lambda", means.log2_lambda}};
  }
  return {{"method", cell.contestants[contestant].method},
          {"wins_against_lr", wins},
          {"losses_against_lr", losses},
          {"datasets", std::move(datasets)}};
}

Json json(const Sweep& sweep, const ExperimentOptions& options) {
  Json out = {
      {"name", "sweep"},
      {"measure", "log loss (bits)"},
      {"draws", options.draws},
      {"seed", options.seed},
      {"level", level},
      {"command", fmt::format("covshift reproduce sweep --data DIR -o OUT --draws {} --seed {}",
                              options.draws, options.seed)}};
  for (const Cell& cell : sweep.cells) {
    Json entry = {{"axis", cell.axis}, {"label", cell.label}};
    entry["reading"] = describe(cell.reading.sampling);
    entry["reading"].update(describe(cell.reading.fit));
    for (std::size_t c = 0; c < cell.contestants.size(); ++c) {
      entry["methods"].push_back(json(sweep, cell, c));
    }
    out["cells"].push_back(std::move(entry));
  }
  return out;
}

/// "1.04 / **0.98** / 1.39 / 1.30": the means of all methods on a data set, the best in bold.
std::string means_text(const Json& methods, const std::string& dataset) {
  std::vector<double> means;
  for (const Json& method : methods) means.push_back(method["datasets"][dataset]["mean"]);
  const auto best = std::min_element(means.begin(), means.end()) - means.begin();
  std::string text;
  for (std::size_t c = 0; c < means.size(); ++c) {
    text += fmt::format("{0}{1}{2:.2f}{1}", c > 0 ? " / " : "",
                        static_cast<std::ptrdiff_t>(c) == best ? "**" : "", means[c]);
  }
  return text;
}

std::string markdown(const Sweep& sweep, const Json& json) {
  std::vector<std::string> guesses;
  std::vector<std::string> head = {"reading"};
  for (const Dataset& d : sweep.datasets) {
    guesses.push_back(fmt::format("{} {:.3f}", d.title, std::log2(d.classes)));
    head.push_back(d.title);
  }
  for (const char* method : {"robust-view", "robust", "iw"}) {
    head.push_back(fmt::format("{} : lr", method));
  }
  std::string text = fmt::format(
      "# The map: shift severity and readings\n\nLog loss in bits on the target, mean over {} "
      "draws (seed {}), of robust-view / robust / lr / iw. An uninformed guess has log2 of the "
      "number of classes: {}. The last columns count data sets where a method is significantly "
      "better or worse than lr (paired t-test, level 0.05).\n",
      json["draws"].get<int>(), json["seed"].get<unsigned long long>(), fmt::join(guesses, ", "));
  std::string axis;
  for (const Json& cell : json["cells"]) {
    if (cell["axis"] != axis) {
      axis = cell["axis"];
      text += fmt::format("\n## {}\n\n{}", axis, markdown_heading(head));
    }
    std::vector<std::string> row = {cell["label"]};
    for (const Dataset& d : sweep.datasets) row.push_back(means_text(cell["methods"], d.title));
    for (const Json& method : cell["methods"]) {
      if (method["method"] == "lr") continue;
      row.push_back(fmt::format("+{} −{}", method["wins_against_lr"].get<int>(),
                                method["losses_against_lr"].get<int>()));
    }
    text += markdown_row(row);
  }
  return text;
}

std::string csv(const Sweep& sweep) {
  std::string text =
      "axis,reading,dataset,draw,method,log_loss_bits,accuracy,lambda,effective_sample_size,"
      "generalized_views\n";
  for (const Cell& cell : sweep.cells) {
    for (std::size_t d = 0; d < sweep.datasets.size(); ++d) {
      for (std::size_t draw = 0; draw < cell.outcomes[d].size(); ++draw) {
        for (std::size_t c = 0; c < cell.contestants.size(); ++c) {
          const Outcome& o = cell.outcomes[d][draw][c];
          text += fmt::format("{},\"{}\",{},{},{},{},{},{},{},{}\n", cell.axis, cell.label,
                              sweep.datasets[d].title, draw, cell.contestants[c].method, o.log_loss,
                              o.accuracy, o.lambda, o.effective_sample_size, o.generalized);
        }
      }
    }
  }
  return text;
}

/// Log loss over severity, a panel for each data set, solid with the ratio `stable`, dashed `cv`.
std::string picture(const Sweep& sweep, int draws) {
  LinePlot plot;
  plot.title = "Log loss over the severity of the shift";
  plot.subtitle = fmt::format(
      "bits on the target, mean over {} draws; solid: ratio lambda stable, dashed: cv; dotted "
      "line: guessing",
      draws);
  plot.x_name = "rows that cross the split (right: hard split)";
  plot.x_ticks = {0.5, 0.3, 0.2, 0.1, 0.0};
  for (const Contestant& c : log_loss_contestants()) plot.labels.push_back(c.method);
  for (std::size_t d = 0; d < sweep.datasets.size(); ++d) {
    LinePlot::Panel panel{sweep.datasets[d].title, std::log2(sweep.datasets[d].classes), {}};
    for (std::size_t c = 0; c < plot.labels.size(); ++c) {
      for (const auto rule : {RatioLambda::Rule::stable, RatioLambda::Rule::cv}) {
        LinePlot::Line line{{}, c, rule == RatioLambda::Rule::cv};
        if (line.dashed && plot.labels[c] == "lr") continue;  // lr uses no ratio
        for (const Cell& cell : sweep.cells) {
          if (cell.axis != "severity" || cell.reading.fit.shift.ratio.lambda.rule != rule) continue;
          line.points.push_back({cell.reading.sampling.crossing,
                                 mean(values_of(cell.outcomes[d], c, &Outcome::log_loss))});
        }
        panel.lines.push_back(std::move(line));
      }
    }
    plot.panels.push_back(std::move(panel));
  }
  return draw(plot);
}

}  // namespace

LabResult run_sweep(const std::string& folder, const ExperimentOptions& options) {
  Sweep sweep;
  for (const char* name : {"seeds", "vertebral", "vehicle", "spam"}) {
    sweep.datasets.push_back(load_dataset(name, folder));
  }
  sweep.cells = plan();
  const std::size_t parts = sweep.cells.size() * sweep.datasets.size();
  std::size_t part = 0;
  for (Cell& cell : sweep.cells) {
    for (const Dataset& d : sweep.datasets) {
      cell.outcomes.push_back(
          run_draws(d, cell.contestants, cell.reading, part_of(options, part++, parts)));
    }
  }
  const Json numbers = json(sweep, options);
  return {"sweep", markdown(sweep, numbers), csv(sweep), picture(sweep, options.draws), numbers};
}

}  // namespace covshift
