#include <fmt/format.h>

#include <array>
#include <cmath>
#include <nlohmann/json.hpp>

#include "cli/commands.hpp"
#include "cli/output.hpp"
#include "covshift/base/random.hpp"
#include "covshift/model/classifier.hpp"
#include "covshift/model/scores.hpp"

namespace covshift::cli {
namespace {

using Json = nlohmann::ordered_json;

/// Two Gaussians with the same rule for the labels, 10% of them flipped, as in the paper's example
/// for views: x1 shifts a lot, x2 not at all. The boundary slopes where the training data are and
/// is level where the target is, which no straight line can follow.
struct Sample {
  std::vector<double> x;  // rows x 2
  std::vector<int> y;
  [[nodiscard]] MatrixView view() const { return MatrixView::dense(x.data(), y.size(), 2); }
};

Sample draw(Random& random, std::size_t n, double mean_1, double spread_1) {
  Sample s;
  for (std::size_t i = 0; i < n; ++i) {
    const double x1 = mean_1 + spread_1 * random.normal();
    const double x2 = random.normal();
    s.x.push_back(x1);
    s.x.push_back(x2);
    const bool above = x2 > (x1 < 0 ? -1.2 * x1 : 0);
    const bool flip = random.uniform() < 0.1;
    s.y.push_back(above != flip ? 1 : 0);
  }
  return s;
}

/// P(+|x) over the plane in characters: sure of +, leaning to +, undecided, leaning to -, sure of
/// -.
std::vector<std::string> picture(const Classifier& model) {
  constexpr int width = 36;
  constexpr int height = 13;
  std::vector<double> grid;
  for (int row = 0; row < height; ++row) {
    for (int col = 0; col < width; ++col) {
      grid.push_back(-4 + 9.0 * col / (width - 1));
      grid.push_back(3 - 6.0 * row / (height - 1));
    }
  }
  const Predictions p =
      model.predict(MatrixView::dense(grid.data(), std::size_t{width} * height, 2));
  std::vector<std::string> lines(height);
  for (std::size_t i = 0; i < p.rows; ++i) {
    const double plus = p.p[2 * i + 1];
    lines[i / width] += plus > 0.9    ? '#'
                        : plus > 0.65 ? '+'
                        : plus > 0.35 ? ' '
                        : plus > 0.1  ? '-'
                                      : '=';
  }
  return lines;
}

struct Result {
  std::string method;
  Scores scores;
  Certificate certificate;
  double lambda;
  Status status;
  std::vector<std::string> picture;
};

void run(unsigned long long seed, const Common& common) {
  Random random(seed);
  const Sample train = draw(random, 120, -1, 0.8);
  const Sample target = draw(random, 1000, 1, 1);
  const MatrixView target_view = target.view();
  TrainingData data;
  data.features = train.view();
  data.labels = train.y;
  data.classes = 2;
  data.target = &target_view;
  data.views = {{"x1", "x2"}, {0, 1}};
  FitOptions options;
  options.shift.ratio.lambda = {RatioLambda::Rule::cv, 0};
  options.solve.seed = seed;
  options.solve.threads = common.threads;
  std::vector<Result> results;
  std::vector<ViewShift> views;
  RatioSummary ratio;
  for (const char* method : {"lr", "iw", "robust", "robust-view", "adv01", "robust01", "svm"}) {
    options.method = method;
    const Classifier model = Classifier::fit(data, options);
    results.push_back({method, score(model.predict(target_view), target.y, model.game()),
                       model.certificate(), model.lambda(), model.report().solution.status,
                       picture(model)});
    views = model.shift().views();
    if (model.report().ratio) ratio = *model.report().ratio;
  }
  if (common.json) {
    Json list = Json::array();
    for (const Result& r : results) {
      list.push_back(
          {{"method", r.method},
           {"lambda", r.lambda},
           {"status", to_string(r.status)},
           {"accuracy", r.scores.accuracy},
           {"log_loss_bits", r.scores.log_loss / std::log(2.0)},
           {"game_value", r.certificate.game_value},
           {"target_value",
            r.certificate.target_value ? Json(*r.certificate.target_value) : Json(nullptr)},
           {"gap", r.certificate.gap}});
    }
    print_json({{"seed", seed},
                {"train", train.y.size()},
                {"target", target.y.size()},
                {"effective_sample_size", ratio.effective_sample_size},
                {"methods", std::move(list)}});
    return;
  }
  fmt::print(
      "120 labelled examples; the 1000 to be predicted have moved to the right (x1), not up or "
      "down (x2).\nThe rule is the same for both, + above a line that slopes on the left and is "
      "level on the right; 10% of the labels\nare flipped. (seed {})\n\n",
      seed);
  fmt::print("How far each input has shifted (symmetric KL): x1 {:.2f}, x2 {:.2f}.", views[0].kl,
             views[1].kl);
  fmt::print(" After weighting, the 120 examples are worth {:.0f}.\n\n",
             ratio.effective_sample_size);
  std::vector<std::vector<std::string>> table = {
      {"method", "accuracy", "log loss (bits)", "worst case", "gap of the proof"}};
  for (const Result& r : results) {
    const double bits = r.scores.log_loss / std::log(2.0);
    std::string worst = "-";
    if (r.certificate.target_value && r.method.find("01") == std::string::npos) {
      const double nats = std::max(*r.certificate.target_value, *r.certificate.target_risk);
      worst = fmt::format("{:.3f}{}", nats / std::log(2.0), r.certificate.reliable ? " " : "?");
    }
    table.push_back({r.method, fmt::format("{:.3f}", r.scores.accuracy),
                     std::isfinite(bits) ? fmt::format("{:.3f}", bits) : "-", worst,
                     fmt::format("{:.0e}", r.certificate.gap)});
  }
  print_table(table);
  fmt::print(
      "\nlog loss 1.0 is a coin; above it a method would have done better to say nothing. The "
      "worst "
      "case is what the method\nitself expects if an adversary labels the target; with a question "
      "mark "
      "where the samples contradict the density ratio.\n"
      "What each believes of the plane (# sure of +, + leaning to it, blank undecided, - and = the "
      "other class);\ntraining data lie left of the middle, the target right of it:\n");
  for (const std::size_t pair : {std::size_t{0}, std::size_t{2}}) {
    fmt::print("\n  {:<38}   {}\n", results[pair].method, results[pair + 1].method);
    for (std::size_t line = 0; line < results[pair].picture.size(); ++line) {
      fmt::print("  |{}|   |{}|\n", results[pair].picture[line], results[pair + 1].picture[line]);
    }
  }
}

}  // namespace

void add_demo(CLI::App& app, Common& common) {
  auto seed = std::make_shared<unsigned long long>(1);
  CLI::App* demo =
      app.add_subcommand("demo", "Built-in data under shift, the methods side by side; no files");
  demo->add_option("--seed", *seed, "Of the data drawn")->capture_default_str();
  add_common(*demo, common);
  demo->callback([seed, &common] { run(*seed, common); });
}

}  // namespace covshift::cli
