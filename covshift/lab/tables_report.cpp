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
    json = {{"components", run.documents->components},
            {"centred", run.documents->centred},
            {"scale", to_string(run.documents->scale)}};
  } else {
    json = describe(run.reading.sampling);
  }
  json.update(describe(run.reading.shift));
  return json;
}

/// The command that makes this table, with a flag for each departure from the default reading.
std::string command(const TableRun& run) {
  std::string text = fmt::format("covshift reproduce {} --data DIR -o OUT --draws {} --seed {}",
                                 run.name, run.options.draws, run.options.seed);
  TableRun usual = run;
  usual.reading = default_reading();
  if (run.documents) usual.documents = DocumentReading{};
  const Json standard = reading_json(usual);
  const Json own = reading_json(run);
  for (const auto& [key, value] : own.items()) {
    if (value == standard[key] || key == "target") continue;
    std::string flag = key == "train" ? "rows" : key;
    std::replace(flag.begin(), flag.end(), '_', '-');
    if (value.is_array()) {
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

std::string markdown(const TableRun& run, const Json& json) {
  std::vector<std::string> head = {""};
  for (const Contestant& c : run.contestants) head.push_back(c.method);
  std::string text = fmt::format(
      "# {}\n\n{}: mean ± standard error over {} draws, seed {}. Bold: best, or not significantly "
      "worse than the best (paired t-test, level {}). In brackets: the paper's number.\n\n{}",
      run.title, run.measure, run.options.draws, run.options.seed, run.level,
      markdown_heading(head));
  for (const Json& row : json["rows"]) {
    std::vector<std::string> cells = {row["name"]};
    for (const Json& m : row["methods"]) {
      cells.push_back(fmt::format("{0}{1:.3f}{0} ± {2:.3f} ({3})",
                                  m["best"].get<bool>() ? "**" : "", m["mean"].get<double>(),
                                  m["standard_error"].get<double>(), m["paper"].get<double>()));
    }
    text += markdown_row(cells);
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
                            run.contestants[c].method, o.accuracy, o.log_loss, o.expected_loss,
                            o.lambda, o.effective_sample_size, o.generalized,
                            o.converged ? "yes" : "no");
      }
    }
  }
  return text;
}

Json json(const TableRun& run) {
  Json out = {{"name", run.name},
              {"title", run.title},
              {"measure", run.measure},
              {"draws", run.options.draws},
              {"seed", run.options.seed},
              {"level", run.level},
              {"reading", reading_json(run)},
              {"command", command(run)}};
  for (std::size_t r = 0; r < run.rows.size(); ++r) {
    Json row = {{"name", run.rows[r].name}, {"methods", Json::array()}};
    const std::vector<bool> best = run.best(r);
    for (std::size_t c = 0; c < run.contestants.size(); ++c) {
      const std::vector<double> values = run.values(r, c);
      const OutcomeMeans means = means_of(run.rows[r].outcomes, c);
      Json against = Json::object();
      for (std::size_t other = 0; other < run.contestants.size(); ++other) {
        if (other == c || values.size() < 2) continue;
        const PairedTest test = paired_t_test(values, run.values(r, other));
        against[run.contestants[other].method] = {{"difference", test.difference}, {"p", test.p}};
      }
      row["methods"].push_back({{"method", run.contestants[c].method},
                                {"mean", mean(values)},
                                {"standard_error", standard_error(values)},
                                {"paper", run.rows[r].paper[c]},
                                {"best", static_cast<bool>(best[c])},
                                {"mean_log2_lambda", means.log2_lambda},
                                {"mean_generalized_views", means.generalized},
                                {"mean_effective_sample_size", means.effective_sample_size},
                                {"converged", means.converged},
                                {"against", against}});
    }
    out["rows"].push_back(std::move(row));
  }
  return out;
}

std::string picture(const TableRun& run, const Json& json) {
  DotPlot plot;
  plot.title = run.title;
  plot.subtitle =
      fmt::format("{}: mean ± 2 standard errors over {} draws; hollow: the paper's number",
                  run.measure, run.options.draws);
  for (const Contestant& c : run.contestants) plot.labels.push_back(c.method);
  for (const Json& row : json["rows"]) {
    DotPlot::Panel panel{row["name"], {}};
    for (const Json& m : row["methods"]) {
      panel.dots.push_back({m["mean"], 2 * m["standard_error"].get<double>(), m["paper"]});
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
