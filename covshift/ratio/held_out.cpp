#include "covshift/ratio/held_out.hpp"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "covshift/base/lists.hpp"
#include "covshift/data/rows.hpp"
#include "covshift/data/smooth_order.hpp"

namespace covshift {
namespace {

constexpr std::size_t judged_rows = 1000;  // of each sample

/// The lambda of the best held-out likelihood among those tried.
double likeliest_lambda(const nlohmann::json& scores, double otherwise) {
  double best = -INFINITY;
  double lambda = otherwise;
  for (const nlohmann::json& point : scores) {
    const auto score = point["log_likelihood"].get<double>();
    if (score > best) lambda = point["lambda"].get<double>();
    best = std::max(best, score);
  }
  return lambda;
}

/// The options with what a fit to all rows has chosen.
RatioOptions tuned(RatioOptions options, const DensityRatio& fitted, Tuning tuning) {
  const nlohmann::json& report = fitted.report();
  options.method = fitted.method();  // of auto, the one it picked
  options.columns = fitted.columns();
  if (options.method == RatioMethod::logistic && report.contains("lambda")) {
    options.lambda.rule = RatioLambda::Rule::value;
    options.lambda.value = report["lambda"].get<double>();
    if (tuning == Tuning::likeliest && report.contains("scores")) {
      options.lambda.value = likeliest_lambda(report["scores"], options.lambda.value);
    }
  }
  options.judge = false;
  options.held_out = true;
  if (report.contains("width")) {
    options.kernel_width = report["width"].get<double>();
    if (report.contains("lambda")) options.kernel_lambda = report["lambda"].get<double>();
  }
  return options;
}

struct Part {
  std::vector<std::size_t> inside, outside;
};

Part part_of(const std::vector<int>& fold, int f) {
  Part part;
  for (std::size_t i = 0; i < fold.size(); ++i) {
    (fold[i] == f ? part.inside : part.outside).push_back(i);
  }
  return part;
}

void put(const std::vector<double>& values, const std::vector<std::size_t>& rows,
         std::vector<double>& all) {
  for (std::size_t i = 0; i < rows.size(); ++i) all[rows[i]] = values[i];
}

}  // namespace

HeldOutRatio held_out_ratio(const RatioOptions& options, const MatrixView& train,
                            const MatrixView& target, std::span<const double> train_weight) {
  return held_out_ratio(options, *fit_ratio(options, train, target, train_weight),
                        Tuning::likeliest, train, target, train_weight);
}

HeldOutRatio held_out_ratio(const RatioOptions& options, const DensityRatio& all, Tuning tuning,
                            const MatrixView& train, const MatrixView& target,
                            std::span<const double> train_weight) {
  HeldOutRatio result{all.log_ratio(train, options.threads), all.log_ratio(target, options.threads),
                      all.bound().weight};
  const auto folds = static_cast<std::size_t>(options.folds);
  if (all.method() == RatioMethod::none || std::min(train.rows, target.rows) < 2 * folds) {
    return result;
  }
  const RatioOptions own = tuned(options, all, tuning);
  const auto deal = [&](const MatrixView& x) {
    return deal_folds(drawing_order(Rows(x, {}), {}, options.seed), x.rows, options.folds);
  };
  const std::vector<int> train_fold = deal(train);
  const std::vector<int> target_fold = deal(target);
  for (int f = 0; f < options.folds; ++f) {
    const Part a = part_of(train_fold, f);
    const Part b = part_of(target_fold, f);
    const Matrix train_rest = take_rows(train, a.outside);
    const Matrix target_rest = take_rows(target, b.outside);
    const std::unique_ptr<DensityRatio> ratio =
        fit_ratio(own, train_rest.view(), target_rest.view(), take(train_weight, a.outside));
    put(ratio->log_ratio(take_rows(train, a.inside).view(), options.threads), a.inside,
        result.train);
    put(ratio->log_ratio(take_rows(target, b.inside).view(), options.threads), b.inside,
        result.target);
  }
  return result;
}

double held_out_gain(const HeldOutRatio& held_out, const RatioBound& bound,
                     std::span<const double> train_weight) {
  double train = 0;
  for (std::size_t i = 0; i < held_out.train.size(); ++i) {
    train += train_weight.empty() ? 1 : train_weight[i];
  }
  const auto target = static_cast<double>(held_out.target.size());
  const double prior = std::log(target / train);
  // -log(1 + e^a), a the log odds against the row's own domain.
  const auto likelihood = [](double a) {
    return -(std::max(a, 0.0) + std::log1p(std::exp(-std::abs(a))));
  };
  const auto odds = [&](double l) { return std::clamp(l, -bound.scale, bound.weight) + prior; };
  double sum = 0;
  for (std::size_t i = 0; i < held_out.train.size(); ++i) {
    const double times = train_weight.empty() ? 1 : train_weight[i];
    sum += times * (likelihood(odds(held_out.train[i])) - likelihood(prior));
  }
  for (const double l : held_out.target) sum += likelihood(-odds(l)) - likelihood(-prior);
  return sum / (train + target);
}

double judge_ratio(const RatioOptions& options, const DensityRatio& fitted, const MatrixView& train,
                   const MatrixView& target, std::span<const double> train_weight) {
  const auto some = [&](const MatrixView& x, std::span<const double> weight) {
    std::vector<std::size_t> rows = drawing_order(Rows(x, options.columns), weight, options.seed);
    rows.resize(std::min(rows.size(), judged_rows));
    return rows;
  };
  const std::vector<std::size_t> train_rows = some(train, train_weight);
  const std::vector<std::size_t> target_rows = some(target, {});
  const Matrix own_train = take_rows(train, train_rows);
  const Matrix own_target = take_rows(target, target_rows);
  const std::vector<double> weight = take(train_weight, train_rows);
  return held_out_gain(held_out_ratio(options, fitted, Tuning::as_fitted, own_train.view(),
                                      own_target.view(), weight),
                       fitted.bound(), weight);
}

}  // namespace covshift
