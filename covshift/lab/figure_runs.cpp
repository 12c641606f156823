#include <Eigen/Cholesky>
#include <algorithm>
#include <cmath>
#include <numbers>
#include <numeric>

#include "covshift/base/error.hpp"
#include "covshift/base/random.hpp"
#include "covshift/lab/figures.hpp"
#include "covshift/model/scores.hpp"

namespace covshift {
namespace {

PlanePoints draw_points(const PlaneExample& example, const Gaussian& density, std::size_t rows,
                        Random& random) {
  const Eigen::Map<const Eigen::Matrix2d> covariance(density.covariance.data());
  const Eigen::Matrix2d lower = covariance.llt().matrixL();
  const Eigen::Map<const Eigen::Vector2d> mean(density.mean.data());
  PlanePoints points;
  for (std::size_t i = 0; i < rows; ++i) {
    const double u = random.normal();
    const double v = random.normal();
    const Eigen::Vector2d x = mean + lower * Eigen::Vector2d(u, v);
    points.x.insert(points.x.end(), {x[0], x[1]});
    const auto& b = example.boundary;
    points.y.push_back(b[0] + b[1] * x[0] + b[2] * x[1] > 0 ? 1 : 0);
  }
  std::vector<std::size_t> order(rows);
  std::iota(order.begin(), order.end(), std::size_t{0});
  random.shuffle(std::span(order));
  const auto flipped =
      static_cast<std::size_t>(std::lround(example.noise * static_cast<double>(rows)));
  for (std::size_t i = 0; i < flipped; ++i) points.y[order[i]] = 1 - points.y[order[i]];
  return points;
}

std::vector<double> log_ratio(const Gaussian& below, const Gaussian& above, const MatrixView& x) {
  std::vector<double> out(x.rows);
  gaussian_ratio(below, above)->log_ratio(x, out);
  return out;
}

/// Adds the known log density ratios.
PreparedRows with_densities(const PanelSetting& panel, PreparedRows rows) {
  rows.log_ratio = log_ratio(panel.example.train, panel.example.target, rows.features);
  if (panel.generalization) {
    rows.log_generalization = log_ratio(panel.example.target, *panel.generalization, rows.features);
  }
  return rows;
}

PanelScores scores_of(const PanelSetting& panel, const Classifier& model,
                      const PlanePoints& target) {
  const Predictions predictions = predict_panel(panel, model, target.view(), 1);
  const Scores scores = score(predictions, target.y, model.game());
  PanelScores out;
  out.log_loss = scores.log_loss / std::numbers::ln2;
  out.accuracy = scores.accuracy;
  // The true ratio: a method that ignores the shift has none of its own.
  const std::vector<double> known =
      log_ratio(panel.example.train, panel.example.target, target.view());
  double inside = 0;
  double outside = 0;
  for (std::size_t i = 0; i < predictions.rows; ++i) {
    const double plus = predictions.p[2 * i + 1];
    out.expected_loss +=
        (target.y[i] == 1 ? 1 - plus : plus) / static_cast<double>(predictions.rows);
    const double certain = std::abs(2 * plus - 1);
    if (known[i] <= 0) {
      out.certain_inside += certain;
      inside += 1;
    } else if (known[i] > std::numbers::ln10) {
      out.certain_outside += certain;
      outside += 1;
    }
  }
  out.certain_inside /= std::max(inside, 1.0);
  out.certain_outside /= std::max(outside, 1.0);
  return out;
}

}  // namespace

PlaneDraw draw_plane(const PlaneExample& example, std::uint64_t seed) {
  Random random(seed);
  PlaneDraw draw;
  const auto both = [](const std::vector<int>& y) {
    return std::find(y.begin(), y.end(), 0) != y.end() &&
           std::find(y.begin(), y.end(), 1) != y.end();
  };
  for (int attempt = 0; attempt < 1000; ++attempt) {
    draw.train = draw_points(example, example.train, example.train_rows, random);
    if (!both(draw.train.y)) continue;
    draw.target = draw_points(example, example.target, example.target_rows, random);
    return draw;
  }
  fail_input(
      "1000 training samples had a single class each: the boundary does not cross the density");
}

Classifier fit_panel(const PanelSetting& panel, const PlaneDraw& draw, int threads) {
  Input points(draw.train.view(), {"x1", "x2"});
  points.labels = draw.train.y;
  PreparationOptions each_feature;
  each_feature.classes = {"o", "+"};
  each_feature.views = "each";
  const Preparation preparation(points, each_feature);
  const PreparedRows train = with_densities(panel, preparation.encode_training(points));
  const PreparedRows target = with_densities(panel, preparation.encode(draw.target.view()));
  FitOptions options = panel.fit;
  options.promise = false;
  options.limit_certainty = false;  // the paper has none
  options.shift.given_ratio = true;
  options.solve.threads = threads;
  if (panel.generalization) options.generalize = Assumption{Assumption::Kind::given};
  return Classifier::fit(TrainingData(preparation, train, &target), options);
}

Predictions predict_panel(const PanelSetting& panel, const Classifier& model, const MatrixView& x,
                          int threads) {
  PreparedRows rows;
  rows.features = x;
  rows = with_densities(panel, std::move(rows));
  return model.predict(x, {rows.log_ratio, rows.log_generalization}, threads);
}

FigureRun run_figure(const FigureSetting& figure, const ExperimentOptions& options) {
  if (options.draws < 2) {
    fail_input("a spread needs at least two draws, not {}; the default is 100", options.draws);
  }
  const auto draws = static_cast<std::size_t>(options.draws);
  FigureRun run;
  Random seeds(options.seed);
  for (std::size_t i = 0; i < draws; ++i) run.seeds.push_back(seeds.next());
  run.scores.assign(figure.panels.size(), std::vector<PanelScores>(draws));
  run_tasks(options, draws, [&](std::size_t i) {
    for (std::size_t p = 0; p < figure.panels.size(); ++p) {
      const PanelSetting& panel = figure.panels[p];
      const PlaneDraw draw = draw_plane(panel.example, run.seeds[i]);
      run.scores[p][i] = scores_of(panel, fit_panel(panel, draw, 1), draw.target);
    }
  });
  return run;
}

}  // namespace covshift
