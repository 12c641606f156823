#include "covshift/lab/sweep.hpp"

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

constexpr double level = 0.05;  // of the t-tests that count a win or a loss

std::vector<SweepCell> plan() {
  std::vector<SweepCell> cells;
  const auto add = [&](std::string axis, std::string label, const auto& change) {
    SweepCell cell{
        std::move(axis), std::move(label), default_reading(), log_loss_contestants(), {}};
    change(cell);
    cells.push_back(std::move(cell));
  };
  const auto ratio = [](const char* rule) {
    return [rule](SweepCell& c) { c.reading.shift.ratio.lambda = RatioLambda::parse(rule); };
  };
  // Severity, under the ratio's old default and the new one.
  for (const char* rule : {"stable", "cv"}) {
    for (const double crossing : {0.0, 0.05, 0.1, 0.2, 0.3, 0.5}) {
      add("severity", fmt::format("{} of the rows cross, ratio {}", crossing, rule),
          [&](SweepCell& c) {
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
        [&](SweepCell& c) { c.reading.shift.view_threshold = threshold; });
  }
  add("bias", "the bias generalizes fully (r = 1)",
      [](SweepCell& c) { c.reading.shift.bias = BiasAssumption::test; });
  add("sampling", "a in [1, 2]", [](SweepCell& c) {
    c.reading.sampling.a_low = 1;
    c.reading.sampling.a_high = 2;
  });
  add("sampling", "b in [0.5, 1]", [](SweepCell& c) {
    c.reading.sampling.b_low = 0.5;
    c.reading.sampling.b_high = 1;
  });
  add("sampling", "without replacement", [](SweepCell& c) {
    c.reading.sampling.replacement = false;
    c.reading.sampling.train = c.reading.sampling.target = 60;  // Seed has 105 rows in a portion
  });
  for (const int power : {-16, -12, -8, -4, 0}) {
    add("lambda", fmt::format("lambda 2^{} for all", power), [&](SweepCell& c) {
      for (Contestant& contestant : c.contestants) {
        contestant.lambda = {LambdaChoice::Kind::fixed, std::pow(2.0, power)};
      }
    });
  }
  return cells;
}

std::size_t position(const SweepCell& cell, std::string_view method) {
  const auto at = std::find_if(cell.contestants.begin(), cell.contestants.end(),
                               [&](const Contestant& c) { return c.method == method; });
  return static_cast<std::size_t>(at - cell.contestants.begin());
}

/// Wins and losses against lr over the data sets, by paired t-tests.
struct Tally {
  int wins = 0, losses = 0;
};
Tally tally(const SweepRun& run, const SweepCell& cell, std::size_t contestant) {
  Tally count;
  const std::size_t lr = position(cell, "lr");
  for (std::size_t d = 0; d < run.datasets.size(); ++d) {
    const PairedTest test = paired_t_test(cell.log_losses(d, contestant), cell.log_losses(d, lr));
    if (!(test.p < level)) continue;
    ++(test.difference < 0 ? count.wins : count.losses);
  }
  return count;
}

Json json(const SweepRun& run) {
  Json out = {
      {"name", "sweep"},
      {"measure", "log loss (bits)"},
      {"draws", run.options.draws},
      {"seed", run.options.seed},
      {"level", level},
      {"command", fmt::format("covshift reproduce sweep --data DIR -o OUT --draws {} --seed {}",
                              run.options.draws, run.options.seed)}};
  for (const SweepCell& cell : run.cells) {
    Json entry = {{"axis", cell.axis}, {"label", cell.label}};
    entry["reading"] = describe(cell.reading.sampling);
    entry["reading"].update(describe(cell.reading.shift));
    for (std::size_t c = 0; c < cell.contestants.size(); ++c) {
      const Tally count = tally(run, cell, c);
      Json method = {{"method", cell.contestants[c].method},
                     {"wins_against_lr", count.wins},
                     {"losses_against_lr", count.losses},
                     {"datasets", Json::object()}};
      for (std::size_t d = 0; d < run.datasets.size(); ++d) {
        const std::vector<double> values = cell.log_losses(d, c);
        const OutcomeMeans means = means_of(cell.outcomes[d], c);
        method["datasets"][run.datasets[d]] = {
            {"mean", mean(values)},
            {"standard_error", standard_error(values)},
            {"mean_accuracy", means.accuracy},
            {"p_against_lr", paired_t_test(values, cell.log_losses(d, position(cell, "lr"))).p},
            {"mean_effective_sample_size", means.effective_sample_size},
            {"mean_generalized_views", means.generalized},
            {"mean_log2_lambda", means.log2_lambda}};
      }
      entry["methods"].push_back(std::move(method));
    }
    out["cells"].push_back(std::move(entry));
  }
  return out;
}

std::string markdown(const SweepRun& run) {
  std::string text = fmt::format(
      "# The map: shift severity and readings\n\nLog loss in bits on the target, mean over {} "
      "draws (seed {}), of robust-view / robust / lr / iw. An uninformed guess has log2 of the "
      "number of classes: ",
      run.options.draws, run.options.seed);
  for (std::size_t d = 0; d < run.datasets.size(); ++d) {
    text +=
        fmt::format("{}{} {:.3f}", d > 0 ? ", " : "", run.datasets[d], std::log2(run.classes[d]));
  }
  text +=
      ". The last columns count data sets where a method is significantly better or worse than "
      "lr (paired t-test, level 0.05).\n";
  std::string axis;
  for (const SweepCell& cell : run.cells) {
    if (cell.axis != axis) {
      axis = cell.axis;
      text += fmt::format("\n## {}\n\n| reading |", axis);
      for (const std::string& d : run.datasets) text += fmt::format(" {} |", d);
      text += " robust-view : lr | robust : lr | iw : lr |\n|---|";
      for (std::size_t d = 0; d < run.datasets.size() + 3; ++d) text += "---|";
      text += "\n";
    }
    text += fmt::format("| {} |", cell.label);
    for (std::size_t d = 0; d < run.datasets.size(); ++d) {
      std::size_t best = 0;
      std::vector<double> means;
      for (std::size_t c = 0; c < cell.contestants.size(); ++c) {
        means.push_back(mean(cell.log_losses(d, c)));
        if (means[c] < means[best]) best = c;
      }
      for (std::size_t c = 0; c < means.size(); ++c) {
        text += fmt::format("{}{}{:.2f}{}", c > 0 ? " / " : " ", c == best ? "**" : "", means[c],
                            c == best ? "**" : "");
      }
      text += " |";
    }
    for (const char* method : {"robust-view", "robust", "iw"}) {
      const Tally count = tally(run, cell, position(cell, method));
      text += fmt::format(" +{} −{} |", count.wins, count.losses);
    }
    text += "\n";
  }
  return text;
}

std::string csv(const SweepRun& run) {
  std::string text =
      "axis,reading,dataset,draw,method,log_loss_bits,accuracy,lambda,effective_sample_size,"
      "generalized_views\n";
  for (const SweepCell& cell : run.cells) {
    for (std::size_t d = 0; d < run.datasets.size(); ++d) {
      for (std::size_t draw = 0; draw < cell.outcomes[d].size(); ++draw) {
        for (std::size_t c = 0; c < cell.contestants.size(); ++c) {
          const Outcome& o = cell.outcomes[d][draw][c];
          text += fmt::format("{},\"{}\",{},{},{},{},{},{},{},{}\n", cell.axis, cell.label,
                              run.datasets[d], draw, cell.contestants[c].method, o.log_loss,
                              o.accuracy, o.lambda, o.effective_sample_size, o.generalized);
        }
      }
    }
  }
  return text;
}

/// Log loss over severity, a panel for each data set, solid with the ratio `stable`, dashed `cv`.
std::string picture(const SweepRun& run) {
  constexpr double panel = 260;
  constexpr double height = 240;
  const char* title = "Log loss over the severity of the shift";
  Svg svg(70 + panel * static_cast<double>(run.datasets.size()), height + 170, title);
  svg.text({16, 26}, title, {.size = 16, .bold = true});
  svg.text(
      {16, 46},
      fmt::format("bits on the target, mean over {} draws; solid: ratio lambda stable, dashed: "
                  "cv; dotted line: guessing",
                  run.options.draws),
      {.size = 12, .fill = "#555555"});
  for (std::size_t d = 0; d < run.datasets.size(); ++d) {
    const double inner = panel - 40;
    double high = 0;
    const double guess = std::log2(run.classes[d]);
    for (const SweepCell& cell : run.cells) {
      if (cell.axis != "severity") continue;
      for (std::size_t c = 0; c < cell.contestants.size(); ++c) {
        high = std::max(high, mean(cell.log_losses(d, c)));
      }
    }
    high = 1.05 * std::min(high, 2.5 * guess);  // what is far worse than guessing leaves the panel
    svg.begin_moved({60 + panel * static_cast<double>(d), 90});
    svg.rect({0, 0}, inner, height, {.fill = "#f7f7f7", .stroke = "#cccccc"});
    svg.text({inner / 2, -10}, run.datasets[d],
             {.size = 13, .anchor = Font::Anchor::middle, .bold = true});
    const auto x = [&](double crossing) { return 12 + (inner - 24) * (0.5 - crossing) / 0.5; };
    const auto y = [&](double loss) { return height * (1 - loss / high); };
    for (const double value : round_ticks(0, high, 6)) {
      svg.text({-6, y(value) + 4}, fmt::format("{:.3g}", value),
               {.size = 11, .anchor = Font::Anchor::end, .fill = "#555555"});
    }
    for (const double crossing : {0.5, 0.3, 0.2, 0.1, 0.0}) {
      svg.line({x(crossing), height}, {x(crossing), height + 4}, {.stroke = "#888888"});
      svg.text({x(crossing), height + 17}, fmt::format("{}", crossing),
               {.size = 11, .anchor = Font::Anchor::middle, .fill = "#555555"});
    }
    svg.text({inner / 2, height + 36}, "rows that cross the split (right: hard split)",
             {.size = 11, .anchor = Font::Anchor::middle, .fill = "#555555"});
    svg.begin_clipped({0, 0}, inner, height);
    svg.line({0, y(guess)}, {inner, y(guess)}, {.stroke = "#888888", .dash = "1 4"});
    const std::size_t methods = log_loss_contestants().size();
    for (std::size_t c = 0; c < methods; ++c) {
      for (const auto rule : {RatioLambda::Rule::stable, RatioLambda::Rule::cv}) {
        std::vector<Point> line;
        for (const SweepCell& cell : run.cells) {
          if (cell.axis != "severity" || cell.reading.shift.ratio.lambda.rule != rule) continue;
          line.push_back({x(cell.reading.sampling.crossing), y(mean(cell.log_losses(d, c)))});
        }
        const bool solid = rule == RatioLambda::Rule::stable;
        if (!solid && log_loss_contestants()[c].method == "lr") continue;  // knows no ratio
        svg.polyline(
            line,
            {.stroke = categorical(c), .width = solid ? 2.5 : 1.5, .dash = solid ? "none" : "5 4"});
      }
    }
    svg.end();
    svg.end();
  }
  for (std::size_t c = 0; c < log_loss_contestants().size(); ++c) {
    const double at = 70 + 130 * static_cast<double>(c);
    svg.line({at, height + 145}, {at + 24, height + 145}, {.stroke = categorical(c), .width = 2.5});
    svg.text({at + 30, height + 149}, log_loss_contestants()[c].method, {.size = 12});
  }
  return svg.str();
}

}  // namespace

std::vector<double> SweepCell::log_losses(std::size_t dataset, std::size_t contestant) const {
  std::vector<double> out;
  for (const std::vector<Outcome>& draw : outcomes[dataset]) {
    out.push_back(draw[contestant].log_loss);
  }
  return out;
}

SweepRun run_sweep(const std::string& folder, const ExperimentOptions& options) {
  std::vector<Dataset> data;
  SweepRun run;
  run.options = options;
  for (const char* name : {"seeds", "vertebral", "vehicle", "spam"}) {
    data.push_back(load_dataset(name, folder));
    run.datasets.push_back(data.back().title);
    run.classes.push_back(data.back().classes);
  }
  run.cells = plan();
  const double parts = static_cast<double>(run.cells.size() * data.size());
  double done = 0;
  for (SweepCell& cell : run.cells) {
    for (const Dataset& d : data) {
      ExperimentOptions part = options;
      part.progress = [&](double share) {
        if (options.progress) options.progress((done + share) / parts);
      };
      cell.outcomes.push_back(run_draws(d, cell.contestants, cell.reading, part));
      done += 1;
    }
  }
  return run;
}

LabResult report(const SweepRun& run) {
  return {"sweep", markdown(run), csv(run), picture(run), json(run)};
}

}  // namespace covshift
