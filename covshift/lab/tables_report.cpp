// Tables as Markdown, CSV, JSON and a picture.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "covshift/lab/colours.hpp"
#include "covshift/lab/statistics.hpp"
#include "covshift/lab/svg.hpp"
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

/// The command that makes this table: what differs from the default reading is spelled out.
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

std::string markdown(const TableRun& run) {
  std::string text = fmt::format(
      "# {}\n\n{}: mean ± standard error over {} draws, seed {}. Bold: "
      "best, or not significantly worse than the best (paired t-test, "
      "level {}). In brackets: the paper's number.\n\n|  |",
      run.title, run.measure, run.options.draws, run.options.seed, run.level);
  for (const Contestant& c : run.contestants) text += fmt::format(" {} |", c.method);
  text += "\n|---|";
  for (std::size_t c = 0; c < run.contestants.size(); ++c) text += "---|";
  text += "\n";
  for (std::size_t r = 0; r < run.rows.size(); ++r) {
    text += fmt::format("| {} |", run.rows[r].name);
    const std::vector<bool> best = run.best(r);
    for (std::size_t c = 0; c < run.contestants.size(); ++c) {
      const std::vector<double> values = run.values(r, c);
      const char* mark = best[c] ? "**" : "";
      text += fmt::format(" {0}{1:.3f}{0} ± {2:.3f} ({3}) |", mark, mean(values),
                          standard_error(values), run.rows[r].paper[c]);
    }
    text += "\n";
  }
  text += fmt::format("\nReading: `{}`\n\nMade by `{}`\n", reading_json(run).dump(), command(run));
  return text;
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

/// A panel for each row: means with two standard errors, the paper's numbers hollow.
std::string picture(const TableRun& run) {
  constexpr double panel = 200;
  constexpr double height = 190;
  constexpr double left = 110;
  const std::size_t methods = run.contestants.size();
  Svg svg(left + panel * static_cast<double>(run.rows.size()) + 20, height + 130, run.title);
  svg.text({16, 26}, run.title, {.size = 16, .bold = true});
  svg.text({16, 46},
           fmt::format("{}: mean ± 2 standard errors over {} draws; hollow: the paper's number",
                       run.measure, run.options.draws),
           {.size = 12, .fill = "#555555"});
  for (std::size_t c = 0; c < methods; ++c) {
    const double y = 100 + height * (static_cast<double>(c) + 0.5) / static_cast<double>(methods);
    svg.text({left - 10, y + 4}, run.contestants[c].method,
             {.size = 13, .anchor = Font::Anchor::end});
  }
  for (std::size_t r = 0; r < run.rows.size(); ++r) {
    double low = 1e300;
    double high = -1e300;
    std::vector<double> means;
    std::vector<double> errors;
    for (std::size_t c = 0; c < methods; ++c) {
      const std::vector<double> values = run.values(r, c);
      means.push_back(mean(values));
      errors.push_back(2 * standard_error(values));
      low = std::min({low, means[c] - errors[c], run.rows[r].paper[c]});
      high = std::max({high, means[c] + errors[c], run.rows[r].paper[c]});
    }
    const double margin = 0.06 * (high - low) + 1e-9;
    low -= margin;
    high += margin;
    svg.begin_moved({left + panel * static_cast<double>(r), 100});
    const double inner = panel - 24;
    svg.rect({0, 0}, inner, height, {.fill = "#f7f7f7", .stroke = "#cccccc"});
    svg.text({inner / 2, -10}, run.rows[r].name,
             {.size = 13, .anchor = Font::Anchor::middle, .bold = true});
    const auto at = [&](double value) { return inner * (value - low) / (high - low); };
    for (const double value : round_ticks(low, high, 4)) {
      svg.line({at(value), height}, {at(value), height + 4}, {.stroke = "#888888"});
      svg.text({at(value), height + 17}, fmt::format("{:.3g}", value),
               {.size = 11, .anchor = Font::Anchor::middle, .fill = "#555555"});
    }
    for (std::size_t c = 0; c < methods; ++c) {
      const double y = height * (static_cast<double>(c) + 0.5) / static_cast<double>(methods);
      const std::string colour = categorical(c);
      svg.line({at(means[c] - errors[c]), y}, {at(means[c] + errors[c]), y},
               {.stroke = colour, .width = 2.5});
      svg.circle({at(means[c]), y}, 5.5, {.fill = colour});
      svg.circle({at(run.rows[r].paper[c]), y}, 5, {.stroke = colour, .width = 1.8});
    }
    svg.end();
  }
  return svg.str();
}

}  // namespace

LabResult report(const TableRun& run) {
  return {run.name, markdown(run), csv(run), picture(run), json(run)};
}

}  // namespace covshift
