#include "covshift/ratio/logistic.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>

#include "covshift/base/error.hpp"
#include "covshift/base/lists.hpp"
#include "covshift/data/json_fields.hpp"
#include "covshift/ratio/diagnostics.hpp"
#include "covshift/ratio/domain_problem.hpp"

namespace covshift {

namespace {

// Of the gap, which falls with the square of the error: next to what rounding leaves of it, or, for
// one of many fits that hold out rows, far below their noise.
constexpr double fit_tolerance = 1e-14;
constexpr double held_out_tolerance = 1e-10;

/// The largest range of a column over both samples.
double largest_range(const Samples& samples) {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  const std::size_t d = samples.train.dims();
  std::vector<double> low(d, infinity);
  std::vector<double> high(d, -infinity);
  std::vector<double> seen(d);
  RowBuffer buffer;
  double rows = 0;
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
  if (samples.reducer != nullptr) {
    rows = sum_over(samples.reducer, rows);
    samples.reducer->sum(seen);
    samples.reducer->max(high);
    for (double& l : low) l = -l;
    samples.reducer->max(low);
    for (double& l : low) l = -l;
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

double training_sample(const DomainProblem& problem, const DomainProblem::Fit& fit,
                       const Samples& samples, int threads) {
  std::vector<double> log_weight = problem.log_odds(fit, threads);
  std::size_t train = 0;
  while (train < problem.size() && !problem.is_target(train)) ++train;
  log_weight.resize(train);
  const RatioBound bound = sample_bound(samples.train_total(), samples.target_total());
  const double prior = std::log(samples.train_total() / samples.target_total());
  for (double& l : log_weight) l = std::min(l + prior, bound.weight);
  return effective_sample_size(log_weight, problem.weight().first(train));
}

/// The least lambda, from `lambda` on, that leaves the training weights an effective sample of
/// stable_floor(), to a part in 10^4; a continuous function of the data.
double stabilise(const DomainProblem& problem, const Samples& samples, double lambda, int threads) {
  const double floor = stable_floor(samples.train_total());
  std::optional<DomainProblem::Fit> fit;
  const auto enough = [&](double log_lambda) {
    auto next = problem.solve(std::exp(log_lambda), 1e-10, threads, fit ? &*fit : nullptr);
    if (!next) return false;
    fit = std::move(next);
    return training_sample(problem, *fit, samples, threads) >= floor;
  };
  double low = std::log(lambda);
  if (enough(low)) return lambda;
  double high = low;
  do {
    low = high;
    high += std::log(10.0) / 2;  // ever more regularisation takes all weights to 1: this ends
  } while (!enough(high) && high < std::log(1e12));
  while (high - low > 1e-4) {
    const double middle = (low + high) / 2;
    (enough(middle) ? high : low) = middle;
  }
  return std::exp(high);
}

/// lambda by the rule, with a report of how.
double lambda_by_rule(const RatioOptions& options, const Samples& samples,
                      const DomainProblem& problem, nlohmann::json& report) {
  using Rule = RatioLambda::Rule;
  if (options.lambda.rule == Rule::value) {
    if (!(options.lambda.value > 0) || !std::isfinite(options.lambda.value)) {
      fail_input("the density ratio's lambda must be a positive number, not {}",
                 options.lambda.value);
    }
    report["rule"] = "value";
    return options.lambda.value;
  }
  std::size_t train_rows = 0;
  for (std::size_t i = 0; i < samples.train.size(); ++i) {
    train_rows += samples.weight_of(i) > 0 ? 1 : 0;
  }
  const std::size_t folds =
      std::min({static_cast<std::size_t>(options.folds), train_rows, samples.target.size()});
  if (options.lambda.rule != Rule::paper && folds >= 2) {
    LambdaSelection selection = select_lambda(samples, problem, options, static_cast<int>(folds));
    report = std::move(selection.report);
    if (selection.lambda > 0) {
      const bool stable = options.lambda.rule == Rule::stable;
      report["rule"] = stable ? "stable" : "cv";
      report["held_out_gain"] = selection.gain;
      return stable ? stabilise(problem, samples, selection.lambda, options.threads)
                    : selection.lambda;
    }
  }
  // Nothing to choose by: a sample of one row cannot be held out. The paper's choice instead.
  report["rule"] = "paper";
  report["excess_per_norm"] = paper_excess(samples);
  return paper_lambda(samples);
}

}  // namespace

double stable_floor(double train_total) { return std::min(train_total / 2, 100.0); }

double paper_excess(const Samples& samples) {
  const double confidence =
      std::sqrt(2.0) + 2 * (1 + std::sqrt(2.0)) * std::sqrt(std::log(1 / 0.05));
  return largest_range(samples) * confidence / std::sqrt(samples.train_total());
}

double paper_lambda(const Samples& samples) {
  const double confidence = 1 + (2 + std::sqrt(2.0)) * std::sqrt(std::log(1 / 0.05));
  const double range = largest_range(samples);
  if (!std::isfinite(range)) {
    fail_input(
        "the values of a feature are too far apart for double precision; scale the features");
  }
  return range > 0 ? range * confidence / std::sqrt(2 * samples.train_total()) : 1.0;
}

double affine(const Rows& x, std::size_t i, std::span<const double> weights, double intercept) {
  const double plain = x.dot(i, weights.data()) + intercept;
  if (std::isfinite(plain)) return plain;
  // The products overflow, perhaps to infinities of both signs: the sum of the scaled row tells
  // which one it is.
  double scale = 0;
  x.each(i, [&](std::size_t, double value) { scale = std::max(scale, std::abs(value)); });
  double sum = 0;
  x.each(i, [&](std::size_t j, double value) { sum += value / scale * weights[j]; });
  return scale * sum;
}

LogisticRatio::LogisticRatio(std::size_t cols, std::vector<std::int32_t> columns,
                             nlohmann::json report, std::vector<double> weights, double intercept,
                             double lambda)
    : DensityRatio(cols, std::move(columns), std::move(report)),
      weights_(std::move(weights)),
      intercept_(intercept),
      lambda_(lambda) {}

std::unique_ptr<LogisticRatio> LogisticRatio::fit(const RatioOptions& given, std::size_t cols,
                                                  const Samples& samples) {
  RatioOptions options = given;
  // A pass over little data takes less time than it takes to wake other threads.
  const std::size_t rows = samples.train.size() + samples.target.size();
  if (rows * samples.train.dims() <= 200000) options.threads = 1;
  const DomainProblem problem(samples, std::numeric_limits<std::size_t>::max());
  nlohmann::json report;
  double lambda = lambda_by_rule(options, samples, problem, report);
  const bool fixed = options.lambda.rule == RatioLambda::Rule::value;
  const double tolerance = options.held_out ? held_out_tolerance : fit_tolerance;
  std::optional<DomainProblem::Fit> fit = problem.solve(lambda, tolerance, options.threads);
  for (int tries = 0; !fit && !fixed && tries < 6; ++tries) {
    lambda *= 10;
    report["notes"].push_back(
        fmt::format("lambda raised to {:.3g}: the fit did not converge", lambda));
    fit = problem.solve(lambda, fit_tolerance, options.threads);
  }
  if (!fit) {
    throw Error(Error::Kind::numeric,
                fmt::format("the logistic density ratio did not converge with lambda {}; scale the "
                            "features or use a larger lambda",
                            lambda));
  }
  if (!options.held_out) problem.polish(*fit, lambda, options.threads);
  if (options.judge && !report.contains("held_out_gain")) {
    const auto gain = leave_one_out_gain(problem, *fit, lambda, options.threads);
    if (gain) report["held_out_gain"] = *gain;
  }
  report["lambda"] = lambda;
  report["iterations"] = fit->solution.iterations;
  report["gap"] = fit->solution.gap;
  const double prior = std::log(samples.train_total() / samples.target_total());
  return std::make_unique<LogisticRatio>(cols, options.columns, std::move(report),
                                         std::move(fit->weights), fit->intercept + prior, lambda);
}

void LogisticRatio::evaluate(const Rows& x, std::size_t first, std::size_t last,
                             std::span<double> out) const {
  for (std::size_t i = first; i < last; ++i) out[i] = affine(x, i, weights_, intercept_);
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
  if (!all_finite(weights) || !std::isfinite(intercept) || !(lambda > 0)) {
    fail_input("{}: a number is unusable; the file is damaged or was edited", what);
  }
  return std::make_unique<LogisticRatio>(cols, std::move(columns), std::move(report),
                                         std::move(weights), intercept, lambda);
}

}  // namespace covshift
