#include "covshift/diagnose/ratio_fitter.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <numeric>

#include "covshift/base/random.hpp"
#include "covshift/data/rows.hpp"
#include "covshift/data/scaling.hpp"
#include "covshift/ratio/logistic.hpp"

namespace covshift {
namespace {

constexpr std::size_t most_kmm_rows = 2000;  // its cost grows with their square

/// The rows with values cut as standard scaling cuts them; the rows themselves if none is beyond.
MatrixView cut(const MatrixView& x, Matrix& own) {
  const Rows rows(x, {});
  bool beyond = false;
  for (std::size_t i = 0; i < x.rows && !beyond; ++i) {
    rows.each(i, [&](std::size_t, double v) { beyond = beyond || std::abs(v) > most_deviations; });
  }
  if (!beyond) return x;
  std::vector<std::size_t> all(x.rows);
  std::iota(all.begin(), all.end(), std::size_t{0});
  own = take_rows(x, all);
  for (double& v : own.values) v = std::clamp(v, -most_deviations, most_deviations);
  return own.view();
}

}  // namespace

RatioFitter::RatioFitter(const DiagnoseData& data, const DiagnoseOptions& options)
    : options_(options.ratio),
      left_out_(data.left_out),
      rows_{data.train, data.target, data.train, data.target} {
  if (data.units.kind() == ScaleKind::standard) {
    rows_.train = rows_.some_train = cut(data.train, cut_train_);
    rows_.target = rows_.some_target = cut(data.target, cut_target_);
  }
  options_.seed = options.seed;
  options_.threads = options.threads;
  of_all_ = options_of_columns(options_, {}, left_out_, data.train.cols);
  const std::size_t most = options_.method == RatioMethod::kmm
                               ? std::min(options.subsample, most_kmm_rows)
                               : options.subsample;
  Random random(options.seed + 4);
  const auto draw = [&](const MatrixView& x, Matrix& some, MatrixView& view) {
    if (x.rows <= most) return;
    some = take_rows(x, random.sample(x.rows, most));
    view = some.view();
    sampled_ = true;
  };
  draw(rows_.train, some_train_, rows_.some_train);
  draw(rows_.target, some_target_, rows_.some_target);
}

std::unique_ptr<DensityRatio> RatioFitter::fit(const Pair& rows, RatioOptions options) const {
  const RatioLambda lambda = options.lambda;
  const bool logistic = options.method == RatioMethod::logistic;
  const bool chosen =
      lambda.rule == RatioLambda::Rule::cv || lambda.rule == RatioLambda::Rule::stable;
  const bool all_at_once = options.method == RatioMethod::none ||
                           options.method == RatioMethod::gaussian || (logistic && !chosen);
  if (!sampled_ || all_at_once) return fit_ratio(options, rows.train, rows.target);
  if (logistic) options.lambda.rule = RatioLambda::Rule::cv;
  std::unique_ptr<DensityRatio> ratio = fit_ratio(options, rows.some_train, rows.some_target);
  if (!logistic) return ratio;
  options.lambda = {RatioLambda::Rule::value, ratio->report().at("lambda").get<double>()};
  const double floor = lambda.rule == RatioLambda::Rule::stable
                           ? stable_floor(static_cast<double>(rows.train.rows))
                           : 0;
  for (;; options.lambda.value *= std::sqrt(10.0)) {
    ratio = fit_ratio(options, rows.train, rows.target);
    if (effective_sample_size(ratio->log_ratio(rows.train, options.threads)) >= floor) return ratio;
  }
}

std::unique_ptr<DensityRatio> RatioFitter::joint() const {
  RatioOptions own = of_all_;
  if (own.lambda.rule == RatioLambda::Rule::stable) own.lambda.rule = RatioLambda::Rule::cv;
  return fit(rows_, own);
}

std::unique_ptr<DensityRatio> RatioFitter::fitted() const { return fit(rows_, of_all_); }

bool RatioFitter::agrees(std::span<const double> joint_log_weight) const {
  return options_.method != RatioMethod::logistic ||
         options_.lambda.rule != RatioLambda::Rule::stable ||
         effective_sample_size(joint_log_weight) >=
             stable_floor(static_cast<double>(joint_log_weight.size()));
}

double RatioFitter::kl(const std::vector<std::int32_t>& given) const {
  std::vector<std::int32_t> columns;
  std::set_difference(given.begin(), given.end(), left_out_.begin(), left_out_.end(),
                      std::back_inserter(columns));
  if (columns.empty()) columns = given;  // not what a fit would say, but how far they moved
  const bool sparse = is_sparse(rows_.train);
  if (sparse || columns.size() * 2 > rows_.train.cols) {
    const auto ratio = fit(rows_, options_of_columns(options_, columns, {}, rows_.train.cols));
    return symmetric_kl(*ratio, rows_.train, rows_.target, {}, options_.threads);
  }
  // Contiguous copies: passes over a few of many columns would load them all.
  const Matrix train = dense_copy({rows_.train, columns});
  const Matrix target = dense_copy({rows_.target, columns});
  const Matrix some_train = sampled_ ? dense_copy({rows_.some_train, columns}) : Matrix{};
  const Matrix some_target = sampled_ ? dense_copy({rows_.some_target, columns}) : Matrix{};
  const auto ratio =
      fit({train.view(), target.view(), some_train.view(), some_target.view()}, options_);
  return symmetric_kl(*ratio, train.view(), target.view(), {}, options_.threads);
}

}  // namespace covshift
