#include "covshift/promise/held_out_ratio.hpp"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "covshift/data/rows.hpp"

namespace covshift {
namespace {

/// The options with what a fit to all rows has chosen.
RatioOptions tuned(RatioOptions options, const DensityRatio& fitted) {
  const nlohmann::json& report = fitted.report();
  if (options.method == RatioMethod::logistic && report.contains("lambda")) {
    options.lambda.rule = RatioLambda::Rule::value;
    options.lambda.value = report["lambda"].get<double>();
    double best = -INFINITY;
    if (report.contains("scores")) {
      for (const nlohmann::json& point : report["scores"]) {
        const auto score = point["log_likelihood"].get<double>();
        if (score > best) options.lambda.value = point["lambda"].get<double>();
        best = std::max(best, score);
      }
    }
  }
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

std::vector<double> take(std::span<const double> x, std::span<const std::size_t> rows) {
  std::vector<double> taken;
  if (x.empty()) return taken;
  for (const std::size_t i : rows) taken.push_back(x[i]);
  return taken;
}

void put(const std::vector<double>& values, const std::vector<std::size_t>& rows,
         std::vector<double>& all) {
  for (std::size_t i = 0; i < rows.size(); ++i) all[rows[i]] = values[i];
}

}  // namespace

HeldOutRatio held_out_ratio(const RatioOptions& options, const MatrixView& train,
                            const MatrixView& target, std::span<const double> train_weight,
                            const DensityRatio* tuning) {
  const std::unique_ptr<DensityRatio> fitted =
      tuning == nullptr ? fit_ratio(options, train, target, train_weight) : nullptr;
  const DensityRatio* const all = tuning == nullptr ? fitted.get() : tuning;
  HeldOutRatio result{all->log_ratio(train, options.threads),
                      all->log_ratio(target, options.threads), all->bound().weight};
  const auto folds = static_cast<std::size_t>(options.folds);
  if (options.method == RatioMethod::none || std::min(train.rows, target.rows) < 2 * folds) {
    return result;
  }
  const RatioOptions own = tuned(options, *all);
  const auto deal = [&](const MatrixView& x) {
    return deal_folds(row_order(Rows(x, {}), {}, options.seed), x.rows, options.folds);
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

}  // namespace covshift
