#include "covshift/diagnose/ratio_fitter.hpp"

#include <algorithm>
#include <numeric>

#include "covshift/base/random.hpp"

namespace covshift {
namespace {

constexpr std::size_t most_kmm_rows = 2000;  // its cost grows with their square

Matrix some_rows(const Matrix& x, std::size_t count, Random& random) {
  std::vector<std::size_t> order(x.rows);
  std::iota(order.begin(), order.end(), std::size_t{0});
  for (std::size_t i = 0; i < count; ++i) std::swap(order[i], order[i + random.below(x.rows - i)]);
  Matrix out;
  out.rows = count;
  out.cols = x.cols;
  out.sparse = x.sparse;
  if (x.sparse) out.offsets.push_back(0);
  const auto at = [](const auto& list, std::size_t i) {
    return list.begin() + static_cast<std::ptrdiff_t>(i);
  };
  for (std::size_t i = 0; i < count; ++i) {
    const std::size_t first = x.sparse ? x.offsets[order[i]] : order[i] * x.cols;
    const std::size_t last = x.sparse ? x.offsets[order[i] + 1] : first + x.cols;
    out.values.insert(out.values.end(), at(x.values, first), at(x.values, last));
    if (!x.sparse) continue;
    out.columns.insert(out.columns.end(), at(x.columns, first), at(x.columns, last));
    out.offsets.push_back(static_cast<std::int64_t>(out.values.size()));
  }
  return out;
}

/// A few columns of a dense matrix, side by side: passes over one column of many would load them
/// all.
Matrix some_columns(const Matrix& x, const std::vector<std::int32_t>& columns) {
  Matrix out;
  out.rows = x.rows;
  out.cols = columns.size();
  out.values.reserve(out.rows * out.cols);
  for (std::size_t i = 0; i < x.rows; ++i) {
    for (const std::int32_t j : columns) out.values.push_back(x.values[i * x.cols + j]);
  }
  return out;
}

}  // namespace

RatioFitter::RatioFitter(const Matrix& train, const Matrix& target, const DiagnoseOptions& options)
    : train_(train), target_(target), options_(options.ratio) {
  options_.seed = options.seed;
  options_.threads = options.threads;
  const std::size_t most = options_.method == RatioMethod::kmm
                               ? std::min(options.subsample, most_kmm_rows)
                               : options.subsample;
  Random random(options.seed + 4);
  if (train.rows > most) some_train_ = some_rows(train, most, random);
  if (target.rows > most) some_target_ = some_rows(target, most, random);
  sampled_ = train.rows > most || target.rows > most;
}

std::unique_ptr<DensityRatio> RatioFitter::fit(const std::vector<std::int32_t>& columns) const {
  return fit(columns, train_, target_, some_train_, some_target_);
}

std::unique_ptr<DensityRatio> RatioFitter::fit(const std::vector<std::int32_t>& columns,
                                               const Matrix& train, const Matrix& target,
                                               const Matrix& some_train,
                                               const Matrix& some_target) const {
  RatioOptions options = options_;
  options.columns = columns;
  const bool logistic = options.method == RatioMethod::logistic;
  const bool all_at_once = options.method == RatioMethod::none ||
                           options.method == RatioMethod::gaussian ||
                           (logistic && options.lambda.rule != RatioLambda::Rule::cv);
  if (!sampled_ || all_at_once) return fit_ratio(options, train.view(), target.view());
  const Matrix& from = some_train.rows > 0 ? some_train : train;
  const Matrix& to = some_target.rows > 0 ? some_target : target;
  std::unique_ptr<DensityRatio> ratio = fit_ratio(options, from.view(), to.view());
  if (!logistic) return ratio;
  options.lambda = {RatioLambda::Rule::value, ratio->report().at("lambda").get<double>()};
  return fit_ratio(options, train.view(), target.view());
}

double RatioFitter::kl(const std::vector<std::int32_t>& columns) const {
  if (train_.sparse || columns.size() * 2 > train_.cols) {
    return symmetric_kl(*fit(columns), train_.view(), target_.view(), {}, options_.threads);
  }
  const Matrix train = some_columns(train_, columns);
  const Matrix target = some_columns(target_, columns);
  const auto ratio = fit({}, train, target, some_columns(some_train_, columns),
                         some_columns(some_target_, columns));
  return symmetric_kl(*ratio, train.view(), target.view(), {}, options_.threads);
}

}  // namespace covshift
