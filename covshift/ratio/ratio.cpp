#include "covshift/ratio/ratio.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>
#include <limits>
#include <numeric>

#include "covshift/base/error.hpp"
#include "covshift/base/number.hpp"
#include "covshift/base/threads.hpp"
#include "covshift/data/json_fields.hpp"
#include "covshift/data/smooth_order.hpp"
#include "covshift/ratio/diagnostics.hpp"
#include "covshift/ratio/gaussian.hpp"
#include "covshift/ratio/gaussian_basis.hpp"
#include "covshift/ratio/held_out.hpp"
#include "covshift/ratio/logistic.hpp"
#include "covshift/ratio/quadratic.hpp"
#include "covshift/ratio/samples.hpp"

namespace covshift {

namespace {

// Far enough for any weight, and sums of a few of them stay finite.
constexpr double largest_log_ratio = 1e300;

class NoRatio final : public DensityRatio {
 public:
  NoRatio(std::size_t cols, std::vector<std::int32_t> columns)
      : DensityRatio(cols, std::move(columns), nlohmann::json::object()) {}
  static std::unique_ptr<NoRatio> fit(const RatioOptions& options, std::size_t cols,
                                      const Samples& /*samples*/) {
    return std::make_unique<NoRatio>(cols, options.columns);
  }
  static std::unique_ptr<NoRatio> load(std::size_t cols, std::vector<std::int32_t> columns,
                                       const nlohmann::json& /*report*/,
                                       const nlohmann::json& /*json*/) {
    return std::make_unique<NoRatio>(cols, std::move(columns));
  }
  [[nodiscard]] RatioMethod method() const override { return RatioMethod::none; }

 protected:
  void evaluate(const Rows& /*x*/, std::size_t first, std::size_t last,
                std::span<double> out) const override {
    std::fill(out.begin() + static_cast<std::ptrdiff_t>(first),
              out.begin() + static_cast<std::ptrdiff_t>(last), 0.0);
  }
  void store(nlohmann::json& /*json*/) const override {}
};

/// Ascending, within range, no column twice.
std::vector<std::int32_t> sound_columns(std::vector<std::int32_t> columns, std::size_t cols) {
  std::sort(columns.begin(), columns.end());
  for (std::size_t j = 0; j < columns.size(); ++j) {
    if (columns[j] < 0 || static_cast<std::size_t>(columns[j]) >= cols) {
      fail_input("a view names column {}, but there are {} columns", columns[j] + 1, cols);
    }
    if (j > 0 && columns[j] == columns[j - 1]) {
      fail_input("a view names column {} twice", columns[j] + 1);
    }
  }
  return columns;
}

void check_options(const RatioOptions& options) {
  using O = RatioOptions;
  const auto check = [](const Range& range, const char* what, std::optional<double> value) {
    if (value) range.check(what, *value);
  };
  check(O::kernel_values, "the kernel width", options.kernel_width);
  check(O::kernel_values, "the regularisation of a kernel density ratio", options.kernel_lambda);
  check(O::centre_counts, "the number of centres", static_cast<double>(options.centres));
  check(allowed::fold_counts, "the number of folds", options.folds);
  check(O::alphas, "RuLSIF's alpha", options.alpha);
  check(O::kmm_bounds, "the largest weight of kernel mean matching", options.kmm_bound);
  check(O::kmm_slacks, "the slack of kernel mean matching", options.kmm_slack);
}

void check_weights(std::span<const double> weight, std::size_t rows) {
  if (weight.empty()) return;
  if (weight.size() != rows) fail_input("{} weights for {} training rows", weight.size(), rows);
  double sum = 0;
  for (std::size_t i = 0; i < rows; ++i) {
    if (!(weight[i] >= 0) || !std::isfinite(weight[i])) {
      fail_input("the weight of training row {} is {}; weights are finite and not negative", i + 1,
                 weight[i]);
    }
    sum += weight[i];
  }
  if (!(sum > 0) || !std::isfinite(sum))
    fail_input("the weights of the training rows add up to {}", sum);
}

using Columns = std::vector<std::int32_t>;

/// A row of the table of ratios.
struct Estimator {
  RatioMethod method;
  std::unique_ptr<DensityRatio> (*fit)(const RatioOptions& options, std::size_t cols,
                                       const Samples& samples);
  std::unique_ptr<DensityRatio> (*load)(RatioMethod method, std::size_t cols, Columns columns,
                                        nlohmann::json report, const nlohmann::json& json);
  std::size_t auto_rows;  ///< `auto` tries it for up to this many rows of both samples
};

// Function pointers do not convert as what they return does.
template <auto fit>
std::unique_ptr<DensityRatio> fit_by(const RatioOptions& options, std::size_t cols,
                                     const Samples& samples) {
  return fit(options, cols, samples);
}
template <typename Ratio>
std::unique_ptr<DensityRatio> load_as(RatioMethod /*method*/, std::size_t cols, Columns columns,
                                      nlohmann::json report, const nlohmann::json& json) {
  return Ratio::load(cols, std::move(columns), std::move(report), json);
}
std::unique_ptr<DensityRatio> load_kernel(RatioMethod method, std::size_t cols, Columns columns,
                                          nlohmann::json report, const nlohmann::json& json) {
  return KernelRatio::load(method, cols, std::move(columns), std::move(report), json);
}

constexpr std::size_t any_rows = std::numeric_limits<std::size_t>::max();
/// The simplest first, which `auto` prefers of equals. RuLSIF estimates another ratio; kernel mean
/// matching takes the square of the rows.
constexpr auto estimators = std::to_array<Estimator>({
    {RatioMethod::none, fit_by<NoRatio::fit>, load_as<NoRatio>, 0},
    {RatioMethod::logistic, fit_by<LogisticRatio::fit>, load_as<LogisticRatio>, any_rows},
    {RatioMethod::quadratic, fit_by<QuadraticRatio::fit>, load_as<QuadraticRatio>, any_rows},
    {RatioMethod::gaussian, fit_by<GaussianRatio::fit>, load_as<GaussianRatio>, any_rows},
    {RatioMethod::ulsif, fit_by<fit_least_squares>, load_kernel, any_rows},
    {RatioMethod::rulsif, fit_by<fit_least_squares>, load_kernel, 0},
    {RatioMethod::kliep, fit_by<fit_kliep>, load_kernel, any_rows},
    {RatioMethod::kmm, fit_by<fit_kmm>, load_kernel, 2000},
});

/// Not for `automatic`, which stands for one of the others.
const Estimator& estimator_of(RatioMethod method) {
  for (const Estimator& e : estimators) {
    if (e.method == method) return e;
  }
  fail_input("there is no density ratio number {}", static_cast<int>(method));
}

/// What to know of the training weights: their mean, which is 1 for the true ratio, and how many
/// rows they leave.
void describe(std::span<const double> log_weight, std::span<const double> times,
              const Reducer* reducer, nlohmann::json& report) {
  std::array<double, 2> sums{};
  for (std::size_t i = 0; i < log_weight.size(); ++i) {
    const double n = times.empty() ? 1.0 : times[i];
    sums[0] += n * std::exp(log_weight[i]);
    sums[1] += n;
  }
  sum_over(reducer, sums);
  report["mean_weight"] = sums[0] / sums[1];
  report["effective_sample_size"] = effective_sample_size(log_weight, times, reducer);
  report["largest_share"] = largest_share(log_weight, times, reducer);
}

}  // namespace

RatioLambda RatioLambda::parse(std::string_view text) {
  for (const auto& [rule, name] : names<Rule>) {
    if (name == text) return {rule, 0};
  }
  const std::optional<double> value = parse_number(text);
  if (!value || !(*value > 0) || !std::isfinite(*value)) {
    fail_input("must be a positive number, {}, not '{}'", listed(names_of<Rule>()), text);
  }
  return {Rule::value, *value};
}

std::string to_string(const RatioLambda& lambda) {
  return lambda.rule == RatioLambda::Rule::value ? number_text(lambda.value)
                                                 : std::string(to_string(lambda.rule));
}

void DensityRatio::log_ratio(const MatrixView& x, std::span<double> out, int threads) const {
  if (x.cols != cols_) {
    fail_input("the density ratio was fitted on {} columns, the data have {}; use the same columns",
               cols_, x.cols);
  }
  if (out.size() != x.rows) fail_input("room for {} log ratios, but {} rows", out.size(), x.rows);
  const Rows rows(x, columns_);
  rows.check("the data", threads);
  Lanes(x.rows).each(threads, [&](std::size_t first, std::size_t last, std::size_t) {
    evaluate(rows, first, last, out);
    for (std::size_t i = first; i < last; ++i) {
      out[i] = std::clamp(out[i], -largest_log_ratio, largest_log_ratio);
    }
  });
}

std::vector<double> DensityRatio::log_ratio(const MatrixView& x, int threads) const {
  std::vector<double> out(x.rows);
  log_ratio(x, out, threads);
  return out;
}

nlohmann::json DensityRatio::to_json() const {
  nlohmann::json json = {{"method", name()}, {"cols", cols_}, {"report", report_}};
  if (!columns_.empty()) json["columns"] = columns_;
  if (bound_.weight < RatioBound{}.weight) json["bound"] = {bound_.weight, bound_.scale};
  store(json);
  return json;
}

RatioBound sample_bound(double train_total, double target_total) {
  const auto log_root = [](double n) { return std::log(std::max(n, 1.0)) / 3; };
  return {log_root(train_total), log_root(target_total)};
}

RatioOptions options_of_columns(RatioOptions options, std::vector<std::int32_t> columns,
                                std::span<const std::int32_t> left_out, std::size_t cols) {
  if (columns.empty()) {
    columns.resize(cols);
    std::iota(columns.begin(), columns.end(), 0);
  }
  options.columns.clear();
  if (columns.size() == cols && left_out.empty()) return options;  // all
  std::set_difference(columns.begin(), columns.end(), left_out.begin(), left_out.end(),
                      std::back_inserter(options.columns));
  if (options.columns.empty()) options.method = RatioMethod::none;
  return options;
}

std::unique_ptr<DensityRatio> fit_ratio(const RatioOptions& given, const MatrixView& train,
                                        const MatrixView& target,
                                        std::span<const double> train_weight) {
  if (train.rows == 0) fail_input("a density ratio needs training rows; there are none");
  if (target.rows == 0) fail_input("a density ratio needs target rows; there are none");
  if (train.cols != target.cols) {
    fail_input("the training data have {} columns, the target {}; use the same columns", train.cols,
               target.cols);
  }
  if (train.cols == 0) fail_input("a density ratio needs columns; there are none");
  check_options(given);
  check_weights(train_weight, train.rows);
  const StopScope scope(given.cancelled);
  if (given.method == RatioMethod::automatic) {
    return pick_ratio(given, train, target, train_weight);
  }
  RatioOptions options = given;
  options.columns = sound_columns(given.columns, train.cols);
  const Rows train_rows(train, options.columns);
  train_rows.check("the training data", options.threads);
  const Rows target_rows(target, options.columns);
  target_rows.check("the target data", options.threads);
  // These judge themselves by leaving out single rows, with their near copies. Rows that occur in
  // both samples are no copies: left out of one alone, a cell would seem to belong to the other.
  const bool by_likelihood =
      options.method == RatioMethod::logistic || options.method == RatioMethod::quadratic;
  const bool settled = options.held_out && options.method == RatioMethod::logistic &&
                       options.lambda.rule == RatioLambda::Rule::value;
  std::vector<double> weight;
  std::vector<double> target_weight;
  if (by_likelihood && !settled) {
    if (share_cells(train_rows, train_weight, target_rows, options.threads)) {
      weight.assign(train_weight.begin(), train_weight.end());
    } else {
      weight = merge_near_copies(train_rows, train_weight);
      target_weight = merge_near_copies(target_rows, {});
    }
  } else {
    weight = merge_copies(train_rows, train_weight);
  }
  const Samples samples{train_rows, target_rows, weight, target_weight};
  std::unique_ptr<DensityRatio> ratio =
      estimator_of(options.method).fit(options, train.cols, samples);
  if (options.method == RatioMethod::none) return ratio;

  std::vector<double> at_train = ratio->log_ratio(train, options.threads);
  ratio->bound_ = sample_bound(samples.train_total(), samples.target_total());
  for (double& l : at_train) l = std::min(l, ratio->bound_.weight);
  describe(at_train, weight, nullptr, ratio->report_);
  if (options.judge && !by_likelihood) {
    ratio->report_["held_out_gain"] = judge_ratio(options, *ratio, train, target, train_weight);
  }
  return ratio;
}

/// Every estimate that the data allow, judged alike: by the same held-out rows.
std::unique_ptr<DensityRatio> pick_ratio(const RatioOptions& given, const MatrixView& train,
                                         const MatrixView& target,
                                         std::span<const double> train_weight) {
  std::unique_ptr<DensityRatio> best;
  nlohmann::json tried = nlohmann::json::array();
  double most = 0;
  for (const Estimator& e : estimators) {
    if (train.rows + target.rows > e.auto_rows) continue;
    RatioOptions options = given;
    options.method = e.method;
    options.judge = false;
    std::unique_ptr<DensityRatio> ratio;
    try {
      ratio = fit_ratio(options, train, target, train_weight);
      const double gain = judge_ratio(options, *ratio, train, target, train_weight);
      nlohmann::json row = {{"method", ratio->name()}, {"held_out_gain", gain}};
      for (const char* name : {"mean_weight", "effective_sample_size", "largest_share"}) {
        row[name] = ratio->report_[name];
      }
      tried.push_back(std::move(row));
      ratio->report_["held_out_gain"] = gain;
      if (best && !(gain > most)) continue;
      most = gain;
      best = std::move(ratio);
    } catch (const Error& error) {
      if (error.kind() == Error::Kind::stopped || e.method == RatioMethod::logistic) throw;
      tried.push_back({{"method", to_string(e.method)}, {"left_out", error.what()}});
    }
  }
  best->report_["candidates"] = std::move(tried);
  return best;
}

std::unique_ptr<DensityRatio> refit_ratio(const DensityRatio& sample, const RatioOptions& given,
                                          const PartRows& rows, double share) {
  const RatioMethod method = sample.method();
  if (method == RatioMethod::none) return ratio_from_json(sample.to_json());
  if (method != RatioMethod::logistic && method != RatioMethod::gaussian) {
    nlohmann::json json = sample.to_json();
    json["report"]["of_sample"] = true;
    return ratio_from_json(json);
  }
  RatioOptions options = given;
  options.method = method;
  options.columns = sample.columns();
  options.judge = false;
  const std::string rule = sample.report_.value("rule", "");
  options.lambda.rule = rule == "paper" ? RatioLambda::Rule::paper : RatioLambda::Rule::value;
  if (method == RatioMethod::logistic) {
    options.lambda.value =
        sample.report_.at("lambda").get<double>() * (rule == "value" ? 1 : share);
  }
  const Samples samples{Rows(rows.train, options.columns), Rows(rows.target, options.columns),
                        rows.train_weight, rows.target_weight, rows.reducer};
  std::unique_ptr<DensityRatio> ratio = estimator_of(method).fit(options, sample.cols(), samples);
  begin_pass(rows.reducer);
  std::vector<double> at_train = ratio->log_ratio(rows.train, options.threads);
  ratio->bound_ = sample_bound(samples.train_total(), samples.target_total());
  for (double& l : at_train) l = std::min(l, ratio->bound_.weight);
  // How it was chosen, and what came of it.
  nlohmann::json report = sample.report_;
  report.update(ratio->report_);
  if (!rule.empty()) report["rule"] = rule;
  describe(at_train, rows.train_weight, rows.reducer, report);
  ratio->report_ = std::move(report);
  return ratio;
}

std::unique_ptr<DensityRatio> ratio_from_json(const nlohmann::json& json) {
  constexpr auto what = "density ratio";
  const RatioMethod method =
      parse_ratio_method(detail::json_field<std::string>(json, "method", what));
  const auto cols = detail::json_field<std::size_t>(json, "cols", what);
  auto report = detail::json_field<nlohmann::json>(json, "report", what);
  std::vector<std::int32_t> columns;
  if (json.contains("columns")) {
    columns =
        sound_columns(detail::json_field<std::vector<std::int32_t>>(json, "columns", what), cols);
  }
  if (cols == 0) fail_input("{}: no columns; the file is damaged or was edited", what);
  if (method == RatioMethod::automatic) {
    fail_input("{}: 'auto' is not an estimate; the file is damaged or was edited", what);
  }
  std::unique_ptr<DensityRatio> ratio =
      estimator_of(method).load(method, cols, std::move(columns), std::move(report), json);
  if (json.contains("bound")) {
    const auto bound = detail::json_field<std::vector<double>>(json, "bound", what);
    if (bound.size() != 2 || !(bound[0] >= 0 && bound[1] >= 0)) {
      fail_input("{}: the bound is not two numbers from 0 on; the file is damaged or was edited",
                 what);
    }
    ratio->bound_ = {bound[0], bound[1]};
  }
  return ratio;
}

}  // namespace covshift
