// Tables as Markdown, CSV, JSON and a picture.
#include <fmt/format.h>

#include <algorithm>

#include "covshift/draw/plots.hpp"
#include "covshift/lab/statistics.hpp"
#include "covshift/lab/tables.hpp"

namespace covshift {
namespace {

using Json = nlohmann::ordered_json;

Json reading_json(const TableRun& run) {
  Json json;
  if (run.documents) {
    json = {{"rows", run.documents->rows},
            {"components", run.documents->components},
            {"centred", run.documents->centred},
            {"scale", to_string(run.documents->scale)}};
  } else {
    json = describe(run.reading.sampling);
  }
  json.update(describe(run.reading.fit));
  return json;
}

/// The command that makes this table, with a flag for each departure from the default reading.
std::string command(const TableRun& run) {
  std::string text =
      fmt::format("covshift reproduce {} --data DIR -o OUT --draws {} --seed {} --seeds {}",
                  run.name, run.options.draws, run.options.seed, run.options.seeds);
  TableRun usual = run;
  usual.reading = default_reading();
  if (run.documents) usual.documents = DocumentReading{};
  const Json standard = reading_json(usual);
  const Json own = reading_json(run);
  for (const auto& [key, value] : own.items()) {
    if (value == standard.value(key, Json()) || key == "target") continue;
    std::string flag = key == "train" ? "rows" : key;
    std::replace(flag.begin(), flag.end(), '_', '-');
    if (key == "lambdas") {
      text += fmt::format(" --lambdas {}", fmt::join(value.get<std::vector<double>>(), ","));
    } else if (value.is_array()) {
      text += fmt::format(" --{} {} {}", flag, value[0].dump(), value[1].dump());
    } else if (key == "replacement") {
      text += " --without-replacement";
    } else if (key == "centred") {
      text += " --centred";
    } else {
      text += fmt::format(" --{} {}", flag,
                          value.is_string() ? value.get<std::string>() : value.dump());
    }
  }
  return text;
}

std::string seeds_text(const ExperimentOptions& options) {
  if (options.seeds == 1) return fmt::format("seed {}", options.seed);
  return fmt::format("{} for each of the seeds {} to {}", options.draws, options.seed,
                     options.seed + static_cast<unsigned long long>(options.seeds) - 1);
}

std::string markdown(const TableRun& run, const Json& json) {
  std::vector<std::string> head = {""};
  for (const Contestant& c : run.contestants) head.push_back(c.name());
  const bool compared = !run.rows[0].paper.empty();
  std::string text = fmt::format(
      "# {}\n\n{}: mean ± standard error over {} draws, {}. Bold: best, or not significantly "
      "worse than the best (paired t-test, level {}).{}\n\n{}",
      run.title, run.measure, all_draws(run.options), seeds_text(run.options), run.level,
      compared ? " In brackets: the paper's number." : "", markdown_heading(head));
  for (const Json& row : json["rows"]) {
    std::vector<std::string> cells = {row["name"]};
    for (const Json& m : row["methods"]) {
      cells.push_back(fmt::format("{0}{1:.3f}{0} ± {2:.3f}{3}", m["best"].get<bool>() ? "**" : "",
                                  m["mean"].get<double>(), m["standard_error"].get<double>(),
                                  compared ? fmt::format(" ({})", m["paper"].get<double>()) : ""));
    }
    text += markdown_row(cells);
  }
  if (!run.accuracy) {
    text += "\nAccuracy of the same fits:\n\n" + markdown_heading(head);
    for (const Json& row : json["rows"]) {
      std::vector<std::string> cells = {row["name"]};
      for (const Json& m : row["methods"]) {
        cells.push_back(fmt::format("{:.3f} ± {:.3f}", m["accuracy"]["mean"].get<double>(),
                                    m["accuracy"]["standard_error"].get<double>()));
      }
      text += markdown_row(cells);
    }
  }
  return text + fmt::format("\nReading: `{}`\n\nMade by `{}`\n", json["reading"].dump(),
                            json["command"].get<std::string>());
}

std::string csv(const TableRun& run) {
  std::string text =
      "row,draw,method,accuracy,log_loss_bits,expected_loss,lambda,effective_sample_size,"
      "generalized_views,converged\n";
  for (const TableRow& row : run.rows) {
    for (std::size_t draw = 0; draw < row.outcomes.size(); ++draw) {
      for (std::size_t c = 0; c < run.contestants.size(); ++c) {
        const Outcome& o = row.outcomes[draw][c];
        text += fmt::format("{},{},{},{},{},{},{},{},{},{}\n", row.name, draw,
                            run.contestants[c].name(), o.accuracy, o.log_loss, o.expected_loss,
                            o.lambda, o.effective_sample_size, o.generalized,
                            o.converged ? "yes" : "no");
      }
    }
  }
  return text;
}

/// Paired tests of one contestant against each of the others, by one measure.
Json against(const TableRun& run, std::size_t row, std::size_t contestant,
             double Outcome::*measure) {
  const Outcomes& outcomes = run.rows[row].outcomes;
  const std::vector<double> values = values_of(outcomes, contestant, measure);
  Json out = Json::object();
  for (std::size_t other = 0; other < run.contestants.size(); ++other) {
    if (other == contestant || values.size() < 2) continue;
    const PairedTest test = paired_t_test(values, values_of(outcomes, other, measure));
    out[run.contestants[other].name()] = {{"difference", test.difference}, {"p", test.p}};
  }
  return out;
}

Json json(const TableRun& run) {
  Json out = {{"name", run.name},         {"title", run.title},
              {"measure", run.measure},   {"draws", all_draws(run.options)},
              {"seed", run.options.seed}, {"seeds", run.options.seeds},
              {"level", run.level},       {"reading", reading_json(run)},
              {"command", command(run)}};
  for (std::size_t r = 0; r < run.rows.size(); ++r) {
    Json row = {{"name", run.rows[r].name}, {"methods", Json::array()}};
    const std::vector<bool> best = run.best(r);
    for (std::size_t c = 0; c < run.contestants.size(); ++c) {
      const std::vector<double> values = run.values(r, c);
      const OutcomeMeans means = means_of(run.rows[r].outcomes, c);
      const auto measure = run.accuracy ? &Outcome::accuracy : &Outcome::log_loss;
      row["methods"].push_back(
          {{"method", run.contestants[c].name()},
           {"mean", mean(values)},
           {"standard_error", standard_error(values)},
           {"paper", run.rows[r].paper.empty() ? Json(nullptr) : Json(run.rows[r].paper[c])},
           {"best", static_cast<bool>(best[c])},
           {"mean_log2_lambda", means.log2_lambda},
           {"mean_generalized_views", means.generalized},
           {"mean_effective_sample_size", means.effective_sample_size},
           {"converged", means.converged},
           {"against", against(run, r, c, measure)}});
      if (run.accuracy) continue;
      const std::vector<double> correct = values_of(run.rows[r].outcomes, c, &Outcome::accuracy);
      row["methods"].back()["accuracy"] = {{"mean", mean(correct)},
                                           {"standard_error", standard_error(correct)},
                                           {"against", against(run, r, c, &Outcome::accuracy)}};
    }
    out["rows"].push_back(std::move(row));
  }
  return out;
}

std::string picture(const TableRun& run, const Json& json) {
  DotPlot plot;
  plot.title = run.title;
  plot.subtitle = fmt::format("{}: mean ± 2 standard errors over {} draws{}", run.measure,
                              all_draws(run.options),
                              run.rows[0].paper.empty() ? "" : "; hollow: the paper's number");
  for (const Contestant& c : run.contestants) plot.labels.push_back(c.name());
  for (const Json& row : json["rows"]) {
    DotPlot::Panel panel{row["name"], {}};
    for (const Json& m : row["methods"]) {
      DotPlot::Dot dot{m["mean"], 2 * m["standard_error"].get<double>(), {}};
      if (!m["paper"].is_null()) dot.reference = m["paper"].get<double>();
      panel.dots.push_back(dot);
    }
    plot.panels.push_back(std::move(panel));
  }
  return draw(plot);
}

}  // namespace

LabResult report(const TableRun& run) {
  const Json numbers = json(run);
  return {run.name, markdown(run, numbers), csv(run), picture(run, numbers), numbers};
}

}  // namespace covshift
