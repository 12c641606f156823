#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "cli/commands.hpp"
#include "cli/compare_table.hpp"
#include "cli/next.hpp"
#include "cli/output.hpp"
#include "cli/report.hpp"
#include "covshift/base/random.hpp"
#include "covshift/compare/diagnosed.hpp"
#include "covshift/model/model.hpp"
#include "covshift/model/scores.hpp"
#include "covshift/options/options.hpp"

namespace covshift::cli {
namespace {

using Json = nlohmann::ordered_json;

struct DemoFlags {
  unsigned long long seed = 1;
  std::string report;
};

/// Two Gaussians with the same rule for the labels, 10% of them flipped, as in the paper's example
/// for views: x1 shifts a lot, x2 not at all. The boundary slopes where the training data are and
/// is level where the target is, which no straight line can follow.
struct DemoSample {
  Matrix x;
  std::vector<int> y;
};

DemoSample draw(Random& random, std::size_t n, double mean_1, double spread_1) {
  DemoSample s;
  s.x.rows = n;
  s.x.cols = 2;
  for (std::size_t i = 0; i < n; ++i) {
    const double x1 = mean_1 + spread_1 * random.normal();
    const double x2 = random.normal();
    s.x.values.push_back(x1);
    s.x.values.push_back(x2);
    const bool above = x2 > (x1 < 0 ? -1.2 * x1 : 0);
    const bool flip = random.uniform() < 0.1;
    s.y.push_back(above != flip ? 1 : 0);
  }
  return s;
}

/// P(+|x) over the plane in characters, from sure of + to sure of -.
std::vector<std::string> picture(const DecisionMap& map, const std::string& method) {
  constexpr std::size_t step = 3;  // cells of the map to a line
  std::vector<std::string> lines;
  for (const DecisionMap::Layer& layer : map.layers) {
    if (layer.method != method) continue;
    for (std::size_t row = map.cells; row >= step; row -= step) {
      std::string line;
      for (std::size_t col = 0; col < map.cells; ++col) {
        const std::size_t cell = (row - step / 2 - 1) * map.cells + col;
        const double plus = layer.label[cell] == 1 ? layer.p[cell] : 1 - layer.p[cell];
        line += plus > 0.9 ? '#' : plus > 0.65 ? '+' : plus > 0.35 ? ' ' : plus > 0.1 ? '-' : '=';
      }
      lines.push_back(std::move(line));
    }
  }
  return lines;
}

/// What the default promises for a target that it can promise something for, and the truth.
struct Promised {
  Certificate certificate;
  std::string statement;
  double loss = 0;
};

Promised promised_nearby(const Input& labelled, const PreparationOptions& inputs, Random& random,
                         const FitOptions& fit) {
  const DemoSample nearby = draw(random, 1000, -0.6, 0.8);
  ModelOptions options;
  static_cast<PreparationOptions&>(options) = inputs;
  options.fit = fit;
  const Input target(nearby.x.view());
  const Model model = Model::fit(labelled, &target, options);
  const Classifier& own = model.classifier();
  return {own.certificate(), describe(own.certificate(), own.game()),
          score(model.predict(target), nearby.y, own.game()).expected_loss};
}

/// The fields that scripts use, then all that the page shows.
Json demo_json(unsigned long long seed, const Comparison& c, const Diagnosis& d,
               const Promised& nearby) {
  Json list = Json::array();
  for (const Compared& m : c.methods) {
    list.push_back({{"method", m.name},
                    {"lambda", m.lambda},
                    {"status", to_string(m.status)},
                    {"accuracy", 1 - m.truth->error.value},
                    {"log_loss_bits", m.truth->log_loss.value / std::log(2.0)},
                    {"game_value", m.certificate.game_value},
                    {"target_value", m.certificate.target_value ? Json(*m.certificate.target_value)
                                                                : Json(nullptr)},
                    {"bound", m.certificate.bound ? Json(*m.certificate.bound) : Json(nullptr)},
                    {"gap", m.certificate.gap}});
  }
  return {
      {"seed", seed},
      {"train", c.train_rows},
      {"target", c.target_rows},
      {"effective_sample_size", c.effective_sample_size},
      {"methods", std::move(list)},
      {"comparison", to_json(c)},
      {"diagnosis", to_json(d)},
      {"nearby",
       {{"certificate", to_json(nearby.certificate, nearby.statement)}, {"loss", nearby.loss}}}};
}

void print_text(unsigned long long seed, const Comparison& c, const Diagnosis& d) {
  fmt::print(
      "{} labelled examples; the {} to be predicted have moved to the right (x1), not up or down "
      "(x2).\nThe rule is the same for both, + above a line that slopes on the left and is level "
      "on the right; 10% of the labels\nare flipped. (seed {})\n\n",
      c.train_rows, c.target_rows, seed);
  fmt::print("1. Is there shift? {}\n", d.recommendation.summary);
  fmt::print(
      "   How far each input has shifted (symmetric KL): x1 {:.2f}, x2 {:.2f}. After weighting, "
      "the {} examples are equivalent to {:.0f} target rows.\n\n",
      c.views[0].kl, c.views[1].kl, c.train_rows, c.effective_sample_size);
  fmt::print("2. What do the methods make of it? Here the answer is known. ");
  print_comparison(c);
  const auto of = [&](const char* name) -> const Judgement& {
    for (const Compared& m : c.methods) {
      if (m.name == name) return *m.truth;
    }
    return *c.methods[0].truth;
  };
  const double bit = std::log(2.0);
  const bool worse = std::any_of(c.methods.begin(), c.methods.end(), [&](const Compared& m) {
    const double loss = m.truth->log_loss.value;  // infinite: not in the table
    return std::isfinite(loss) && loss > bit;
  });
  fmt::print(
      "\n3. Why lr is overconfident: it is {:.0f}% sure of its answers on the target and right "
      "{:.0f}% of the time, because it\ncontinues its line to where it has never been.{} robust is "
      "sure only near\nthe training data ({:.0f}% sure, {:.2f} bits where lr has {:.2f}); "
      "robust-view knows that x2 did not move and keeps using\nit ({:.0f}% sure, right {:.0f}%, "
      "{:.2f} bits).\n",
      100 * of("lr").confidence, 100 * (1 - of("lr").error.value),
      worse ? " A log loss above 1 bit is worse than a coin." : "", 100 * of("robust").confidence,
      of("robust").log_loss.value / bit, of("lr").log_loss.value / bit,
      100 * of("robust-view").confidence, 100 * (1 - of("robust-view").error.value),
      of("robust-view").log_loss.value / bit);
  fmt::print(
      "What each believes of the plane (# sure of +, + leaning to it, blank undecided, - and = the "
      "other class);\ntraining data lie left of the middle, the target right of it:\n");
  for (const auto& [left, right] : {std::pair{"lr", "iw"}, std::pair{"robust", "robust-view"}}) {
    const std::vector<std::string> a = picture(*c.map, left);
    const std::vector<std::string> b = picture(*c.map, right);
    fmt::print("\n  {:<38}   {}\n", left, right);
    for (std::size_t line = 0; line < a.size(); ++line) {
      fmt::print("  |{}|   |{}|\n", a[line], b[line]);
    }
  }
}

void print_promise(const Comparison& c, const Promised& nearby) {
  fmt::print("\n4. What can be promised without labels of the target? Here {}:\n{}\n",
             c.methods[0].certificate.bound ? "a bound" : "no bound", c.methods[0].promise);
  fmt::print("For a target that has moved less, to x1 around -0.6, the default says:\n{}\n",
             nearby.statement);
  if (!nearby.certificate.bound) return;
  fmt::print("On 1,000 labels from there the loss is {:.4g}: the promise {}.\n", nearby.loss,
             nearby.loss <= *nearby.certificate.bound ? "holds" : "is broken, as 1 in 20 may be");
}

void run_demo(const DemoFlags& flags, const Common& common) {
  check_report(flags.report);
  Random random(flags.seed);
  const DemoSample train = draw(random, 120, -1, 0.8);
  const DemoSample target = draw(random, 1000, 1, 1);
  ProgressBar bar(common.quiet || common.json);
  PreparationOptions inputs;
  inputs.classes = {"-", "+"};
  inputs.views = "each";
  inputs.scale = ScaleKind::none;
  Input labelled(train.x.view(), {"x1", "x2"});
  labelled.labels = train.y;
  Preparation preparation(labelled, inputs);
  PreparedRows train_rows = preparation.encode_training(labelled);
  PreparedRows target_rows = preparation.encode(Input(target.x.view()));
  preparation.fit(train_rows, &target_rows, common.threads);
  CompareOptions options;
  options.classes = inputs.classes;
  options.fit.shift.ratio.lambda = {RatioLambda::Rule::cv, 0};
  options.fit.solve.seed = flags.seed;
  options.fit.solve.threads = common.threads;
  options.fit.progress = [&bar](std::string_view stage, double share) { bar.show(stage, share); };
  options.map = {0, 1, "x1", "x2"};
  options.views_by_method = true;
  DiagnoseOptions diagnosing;
  diagnosing.ratio.lambda = options.fit.shift.ratio.lambda;
  diagnosing.seed = flags.seed;
  diagnosing.threads = common.threads;
  Diagnosis diagnosis = diagnose(preparation, train_rows, target_rows, diagnosing);
  const Truth truth{target_rows.features, target.y};
  const Comparison c =
      compare(TrainingData(preparation, train_rows, &target_rows), &truth, options);
  answer(c, "", diagnosis);
  bar.clear();
  FitOptions plain;
  plain.solve.seed = flags.seed;
  plain.solve.threads = common.threads;
  const Promised nearby = promised_nearby(labelled, inputs, random, plain);
  const Json json = demo_json(flags.seed, c, diagnosis, nearby);
  if (!flags.report.empty()) {
    write_report(flags.report, {"demo", {}, "", flags.seed}, json);
  }
  if (is_stdout(flags.report)) return;
  if (common.json) {
    print_json(json);
  } else if (!common.quiet) {
    print_text(flags.seed, c, diagnosis);
    fmt::print("\nSo: ");
    print_trust(diagnosis.recommendation.trust);
    print_promise(c, nearby);
    fmt::print("\n{}\n", flags.report.empty()
                             ? "All of it as a page with pictures: covshift demo --report demo.html"
                             : fmt::format("Report: {}", printable(flags.report)));
  }
}

}  // namespace

void add_demo(CLI::App& app, Common& common) {
  auto flags = std::make_shared<DemoFlags>();
  add_command(app, common, "demo", "Compare the methods on built-in data; needs no files",
              {report_file(flags->report), seed_option(flags->seed)})
      .callback([flags, &common] { run_demo(*flags, common); });
}

}  // namespace covshift::cli
