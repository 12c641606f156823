#include "covshift/ratio/logistic.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numeric>

#include "covshift/base/error.hpp"
#include "covshift/base/threads.hpp"
#include "covshift/data/json_fields.hpp"
#include "covshift/kernel/kernels.hpp"
#include "covshift/ratio/diagnostics.hpp"
#include "covshift/ratio/logistic_solver.hpp"

namespace covshift {

namespace {

constexpr double fit_tolerance = 1e-10;
// Of the last step, whose square is about what then still is to go (curvature changes by no more
// than a factor e^step): 1e-4 of a log odds, far less than the scores' standard errors.
constexpr double fold_tolerance = 1e-2;

/// The largest range of a column over both samples.
double largest_range(const Samples& samples) {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  const std::size_t d = samples.train.dims();
  std::vector<double> low(d, infinity);
  std::vector<double> high(d, -infinity);
  std::vector<std::size_t> seen(d);
  RowBuffer buffer;
  std::size_t rows = 0;
  for (const Rows* part : {&samples.train, &samples.target}) {
    const bool is_train = part == &samples.train;
    for (std::size_t i = 0; i < part->size(); ++i) {
      if (is_train && samples.weight_of(i) == 0) continue;
      ++rows;
      part->each_once(i, buffer, [&](std::size_t j, double value) {
        ++seen[j];
        low[j] = std::min(low[j], value);
        high[j] = std::max(high[j], value);
      });
    }
  }
  double largest = 0;
  for (std::size_t j = 0; j < d; ++j) {
    if (seen[j] < rows) {  // what a sparse row does not store is zero
      low[j] = std::min(low[j], 0.0);
      high[j] = std::max(high[j], 0.0);
    }
    largest = std::max(largest, high[j] - low[j]);
  }
  return largest;
}

std::vector<double> pooled_weights(const Samples& samples) {
  std::vector<double> weight(samples.train.size() + samples.target.size(), 1.0);
  std::copy(samples.weight.begin(), samples.weight.end(), weight.begin());
  return weight;
}

struct Selection {
  double lambda = 0;
  nlohmann::json scores;
};

/// The mean log-likelihood of rows' domains: -log(1 + e^a), a the log odds against the row's own.
double log_likelihood(const LogisticSolver& solver, const LogisticFit& fit,
                      std::span<const std::size_t> rows, std::span<const double> weight) {
  std::array<double, 2 * block_rows> psi{};  // 0 and a, of which the log game's value is the loss
  std::array<double, 2 * block_rows> q{};
  std::array<double, block_rows> loss{};
  double sum = 0;
  double total = 0;
  for (std::size_t first = 0; first < rows.size(); first += block_rows) {
    const std::size_t n = std::min(block_rows, rows.size() - first);
    for (std::size_t b = 0; b < n; ++b) {
      const double odds = solver.log_odds(fit, rows[first + b]);
      psi[block_rows + b] = solver.is_target(rows[first + b]) ? -odds : odds;
    }
    kernels().log_game(n, 2, psi.data(), loss.data(), q.data());
    for (std::size_t b = 0; b < n; ++b) {
      sum -= weight[rows[first + b]] * loss[b];
      total += weight[rows[first + b]];
    }
  }
  return sum / total;
}

/// The lambda of the best mean log-likelihood of held-out rows' domains, each fold along the path
/// from strong to weak regularisation. The larger one of equals.
Selection cross_validate(const LogisticSolver& solver, const Samples& samples,
                         const RatioOptions& options, int folds) {
  std::vector<double> grid;
  for (int half = 2; half >= -12; --half) grid.push_back(std::pow(10.0, half / 2.0));
  const std::vector<double> weight = pooled_weights(samples);
  // Both samples are dealt separately, so that each fold has its share of both.
  std::vector<int> fold = deal_folds(row_order(samples.train, samples.weight, options.seed),
                                     samples.train.size(), folds);
  const std::vector<int> target_fold =
      deal_folds(row_order(samples.target, {}, options.seed), samples.target.size(), folds);
  fold.insert(fold.end(), target_fold.begin(), target_fold.end());

  std::vector<std::vector<double>> score(folds);
  parallel_tasks(options.threads, folds, [&](std::size_t f) {
    std::vector<double> kept = weight;
    std::vector<std::size_t> held_out;
    for (std::size_t i = 0; i < kept.size(); ++i) {
      if (fold[i] != static_cast<int>(f)) continue;
      kept[i] = 0;
      held_out.push_back(i);
    }
    LogisticFit fit;
    for (const double lambda : grid) {
      try {
        fit = solver.solve(lambda, kept, fold_tolerance, fit.weights.empty() ? nullptr : &fit);
      } catch (const Error& error) {
        if (error.kind() != Error::Kind::numeric) throw;
        return;  // so little regularisation is out of the question
      }
      score[f].push_back(log_likelihood(solver, fit, held_out, weight));
    }
  });

  Selection selection;
  double best = -std::numeric_limits<double>::infinity();
  for (std::size_t g = 0; g < grid.size(); ++g) {
    double mean = 0;
    double square = 0;
    bool complete = true;
    for (const std::vector<double>& s : score) complete = complete && s.size() > g;
    if (!complete) break;
    for (const std::vector<double>& s : score) mean += s[g] / folds;
    for (const std::vector<double>& s : score) square += (s[g] - mean) * (s[g] - mean);
    const double error = std::sqrt(square / (folds - 1) / folds);
    selection.scores.push_back(
        {{"lambda", grid[g]}, {"log_likelihood", mean}, {"standard_error", error}});
    if (mean > best) {
      best = mean;
      selection.lambda = grid[g];
    }
  }
  if (selection.lambda == 0) {
    throw Error(Error::Kind::numeric,
                "the logistic density ratio converged for no lambda of the cross validation; scale "
                "the features");
  }
  return selection;
}

}  // namespace

double stable_floor(double train_total) { return std::min(train_total / 2, 100.0); }

double paper_lambda(const Samples& samples) {
  const double confidence = 1 + (2 + std::sqrt(2.0)) * std::sqrt(std::log(1 / 0.05));
  const double range = largest_range(samples);
  if (!std::isfinite(range)) {
    fail_input(
        "the values of a feature are too far apart for double precision; scale the features");
  }
  return range > 0 ? range * confidence / std::sqrt(2 * samples.train_total()) : 1.0;
}

LogisticRatio::LogisticRatio(std::size_t cols, std::vector<std::int32_t> columns,
                             nlohmann::json report, std::vector<double> weights, double intercept,
                             double lambda)
    : DensityRatio(cols, std::move(columns), std::move(report)),
      weights_(std::move(weights)),
      intercept_(intercept),
      lambda_(lambda) {}

std::unique_ptr<LogisticRatio> LogisticRatio::fit(const RatioOptions& options, std::size_t cols,
                                                  const Samples& samples) {
  const LogisticSolver solver(samples, options.threads);
  nlohmann::json report;
  double lambda = options.lambda.value;
  if (options.lambda.rule == RatioLambda::Rule::value) {
    if (!(lambda > 0) || !std::isfinite(lambda)) {
      fail_input("the density ratio's lambda must be a positive number, not {}", lambda);
    }
    report["rule"] = "value";
  } else {
    std::size_t train_rows = 0;
    for (std::size_t i = 0; i < samples.train.size(); ++i) {
      train_rows += samples.weight_of(i) > 0 ? 1 : 0;
    }
    const auto folds = static_cast<int>(
        std::min({static_cast<std::size_t>(options.folds), train_rows, samples.target.size()}));
    if (options.lambda.rule != RatioLambda::Rule::paper && folds >= 2) {
      Selection selection = cross_validate(solver, samples, options, folds);
      lambda = selection.lambda;
      report["rule"] = options.lambda.rule == RatioLambda::Rule::cv ? "cv" : "stable";
      report["folds"] = folds;
      report["scores"] = std::move(selection.scores);
    } else {
      // A sample of one row cannot be held out: the paper's choice instead.
      lambda = paper_lambda(samples);
      report["rule"] = "paper";
    }
  }
  const std::vector<double> pooled = pooled_weights(samples);
  LogisticFit fit = solver.solve(lambda, pooled, fit_tolerance);
  if (options.lambda.rule == RatioLambda::Rule::stable) {
    const double floor = stable_floor(samples.train_total());
    const auto training_sample = [&] {
      std::vector<double> log_weight(samples.train.size());
      for (std::size_t i = 0; i < log_weight.size(); ++i) log_weight[i] = solver.log_odds(fit, i);
      return effective_sample_size(log_weight, samples.weight);
    };
    // Ever more regularisation takes all weights to 1: this ends.
    while (training_sample() < floor) {
      lambda *= std::sqrt(10.0);
      fit = solver.solve(lambda, pooled, fit_tolerance, &fit);
    }
  }
  report["lambda"] = lambda;
  report["iterations"] = fit.iterations;
  report["accuracy"] = fit.accuracy;
  const double prior = std::log(samples.train_total() / static_cast<double>(samples.target.size()));
  return std::make_unique<LogisticRatio>(cols, options.columns, std::move(report),
                                         std::move(fit.weights), fit.intercept + prior, lambda);
}

void LogisticRatio::evaluate(const Rows& x, std::size_t first, std::size_t last,
                             std::span<double> out) const {
  for (std::size_t i = first; i < last; ++i) {
    out[i] = x.dot(i, weights_.data()) + intercept_;
    if (std::isfinite(out[i])) continue;
    // The products overflow, perhaps to infinities of both signs: the sum of the scaled row tells
    // which one it is.
    double scale = 0;
    x.each(i, [&](std::size_t, double value) { scale = std::max(scale, std::abs(value)); });
    double sum = 0;
    x.each(i, [&](std::size_t j, double value) { sum += value / scale * weights_[j]; });
    out[i] = scale * sum;
  }
}

void LogisticRatio::store(nlohmann::json& json) const {
  json["weights"] = weights_;
  json["intercept"] = intercept_;
  json["lambda"] = lambda_;
}

std::unique_ptr<LogisticRatio> LogisticRatio::load(std::size_t cols,
                                                   std::vector<std::int32_t> columns,
                                                   nlohmann::json report,
                                                   const nlohmann::json& json) {
  constexpr auto what = "logistic density ratio";
  auto weights = detail::json_field<std::vector<double>>(json, "weights", what);
  const auto intercept = detail::json_field<double>(json, "intercept", what);
  const auto lambda = detail::json_field<double>(json, "lambda", what);
  const std::size_t dims = columns.empty() ? cols : columns.size();
  if (weights.size() != dims) {
    fail_input("{}: {} weights for {} columns; the file is damaged or was edited", what,
               weights.size(), dims);
  }
  const bool finite =
      std::all_of(weights.begin(), weights.end(), [](double w) { return std::isfinite(w); });
  if (!finite || !std::isfinite(intercept) || !(lambda > 0)) {
    fail_input("{}: a number is unusable; the file is damaged or was edited", what);
  }
  return std::make_unique<LogisticRatio>(cols, std::move(columns), std::move(report),
                                         std::move(weights), intercept, lambda);
}

}  // namespace covshift
