// ratio/: density ratios P_test(x)/P_train(x) from two samples, and their diagnostics.
//
// One direction everywhere: log_ratio(x) = log P_test(x)/P_train(x), the target over training.
// Large where the target has more mass; the weighted training sample looks like the target.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "covshift/base/names.hpp"
#include "covshift/base/range.hpp"
#include "covshift/base/reduce.hpp"
#include "covshift/data/matrix.hpp"

namespace covshift {

enum class RatioMethod {
  none,       ///< no shift: the ratio is 1
  automatic,  ///< the one under which held-out rows' samples are likeliest
  logistic,   ///< train against target by logistic regression (the paper's estimator)
  quadratic,  ///< the same with squares and products of columns where held-out rows support them
  gaussian,   ///< a Gaussian fitted to each sample
  ulsif,      ///< unconstrained least-squares importance fitting (Kanamori et al. 2009)
  rulsif,     ///< its relative version (Yamada et al. 2011)
  kliep,      ///< Kullback-Leibler importance estimation (Sugiyama et al. 2008)
  kmm,        ///< kernel mean matching (Huang et al. 2007, Gretton et al. 2009)
};

template <>
inline constexpr auto names<RatioMethod> =
    std::to_array<Named<RatioMethod>>({{RatioMethod::logistic, "logistic"},
                                       {RatioMethod::quadratic, "quadratic"},
                                       {RatioMethod::gaussian, "gaussian"},
                                       {RatioMethod::ulsif, "ulsif"},
                                       {RatioMethod::rulsif, "rulsif"},
                                       {RatioMethod::kliep, "kliep"},
                                       {RatioMethod::kmm, "kmm"},
                                       {RatioMethod::automatic, "auto"},
                                       {RatioMethod::none, "none"}});
inline RatioMethod parse_ratio_method(std::string_view name) {
  return parse_name<RatioMethod>(name, "the density ratio");
}

/// How the regularisation lambda_r of the logistic ratio is chosen.
struct RatioLambda {
  enum class Rule {
    value,   ///< the number given
    paper,   ///< D2 (1 + (2 + sqrt 2) sqrt(ln(1/0.05))) / sqrt(2m): see paper_lambda()
    cv,      ///< the best held-out domain log-likelihood: select_lambda()
    stable,  ///< cv, increased until the effective sample size is at least stable_floor()
  };
  Rule rule = Rule::stable;
  double value = 0;  ///< with Rule::value; positive

  /// A positive number, "paper", "cv" or "stable"; an Error otherwise.
  static RatioLambda parse(std::string_view text);
};
template <>
inline constexpr auto names<RatioLambda::Rule> =
    std::to_array<Named<RatioLambda::Rule>>({{RatioLambda::Rule::paper, "paper"},
                                             {RatioLambda::Rule::cv, "cv"},
                                             {RatioLambda::Rule::stable, "stable"}});
std::string to_string(const RatioLambda& lambda);

struct RatioOptions {
  RatioMethod method = RatioMethod::logistic;
  /// The columns of a view; empty: all. The ratio is fitted on them and uses no others, but is
  /// given rows with every column.
  std::vector<std::int32_t> columns;

  RatioLambda lambda;  ///< logistic and quadratic only

  /// Kernel methods, kernels exp(-||x - c||^2 / (2 width^2)). Empty: cross-validated around the
  /// median distance (width) and over decades (regularisation; KLIEP has none).
  std::optional<double> kernel_width;
  std::optional<double> kernel_lambda;
  static constexpr Range kernel_values = allowed::between(1e-100, 1e100);  ///< squares stay finite
  std::size_t centres = 100;  ///< of uLSIF, RuLSIF and KLIEP: number of target rows, at most all
  static constexpr Range centre_counts = allowed::at_least(1);
  double alpha = 0.1;  ///< RuLSIF only: P_test / (alpha P_test + (1 - alpha) P_train)
  static constexpr Range alphas = allowed::half_open(0, 1);
  double kmm_bound = 1000;  ///< KMM: the largest weight
  static constexpr Range kmm_bounds = allowed::between(1, 1e100);
  std::optional<double> kmm_slack;  ///< KMM: |mean weight - 1| at most this; empty: 1/sqrt(n_train)
  static constexpr Range kmm_slacks = allowed::between(0, 1e100);

  int folds = 5;
  bool judge = true;  ///< report held_out_gain() where the estimate was not chosen by it
  /// This is one of many fits that each leave rows out: the last digits may be imprecise, as the
  /// rows left out change the result by more.
  bool held_out = false;
  std::uint64_t seed = 0;
  double time_limit = 0;            ///< seconds for the choice of lambda; 0: none
  int threads = 0;                  ///< 0: all cores; the result is the same for any number
  std::function<bool()> cancelled;  ///< asked by several threads; true: throws Error (stopped)
};

/// Options for the ratio of `columns` (none: of all `cols`) without those left out, both in
/// ascending order; if none remains, the ratio is 1.
RatioOptions options_of_columns(RatioOptions options, std::vector<std::int32_t> columns,
                                std::span<const std::int32_t> left_out, std::size_t cols);

/// How far an estimate is trusted where it is used: the logarithms of the largest weight w and of
/// the largest scale r = 1/w. A small r needs no bound: it only makes predictions more cautious.
struct RatioBound {
  double weight = 1e300;
  double scale = 1e300;
};

/// What n_train and n_target rows can show: w <= n_train^(1/3) and r <= n_target^(1/3). The mean of
/// n weights cut off at B has a variance of at most B/n, as E w = 1, and a bias of at most E (w -
/// B)+ <= E w^2 / (4B). B = n^(1/3) makes the sum of variance and squared bias least, up to a
/// factor (E w^2 / 2.8)^(2/3): beyond it a larger weight adds more noise than truth. r has mean 1
/// over the target, and the same bound (docs/ratio.md).
RatioBound sample_bound(double train_total, double target_total);

/// A fitted ratio. Rows are independent of each other: the same answer, bit for bit, one at a time,
/// in any order and in any batch.
class DensityRatio {
 public:
  DensityRatio(const DensityRatio&) = delete;
  DensityRatio& operator=(const DensityRatio&) = delete;
  virtual ~DensityRatio() = default;

  /// log P_test(x)/P_train(x) for every row; always finite. An Error if x has a different number
  /// of columns than the data of the fit, or a value (of the view) that is not finite.
  void log_ratio(const MatrixView& x, std::span<double> out, int threads = 0) const;
  [[nodiscard]] std::vector<double> log_ratio(const MatrixView& x, int threads = 0) const;

  [[nodiscard]] virtual RatioMethod method() const = 0;
  [[nodiscard]] std::string name() const { return std::string(to_string(method())); }
  /// What log_ratio needs, and the report; ratio_from_json gives a ratio with the same answers.
  [[nodiscard]] nlohmann::json to_json() const;
  /// What the fit chose and how it went (lambda, width, scores of the cross validation, ...).
  [[nodiscard]] const nlohmann::json& report() const { return report_; }

  /// sample_bound() of an estimate; none of known densities, nor of ratios read from files of
  /// versions without bounds. log_ratio() itself is not cut off.
  [[nodiscard]] const RatioBound& bound() const { return bound_; }

  [[nodiscard]] std::size_t cols() const { return cols_; }
  /// Those of the view, ascending; empty: all.
  [[nodiscard]] const std::vector<std::int32_t>& columns() const { return columns_; }

 protected:
  DensityRatio(std::size_t cols, std::vector<std::int32_t> columns, nlohmann::json report)
      : cols_(cols), columns_(std::move(columns)), report_(std::move(report)) {}

  /// Rows first .. last-1 of x, which is sound; to out[first .. last-1].
  virtual void evaluate(const class Rows& x, std::size_t first, std::size_t last,
                        std::span<double> out) const = 0;
  virtual void store(nlohmann::json& json) const = 0;

 private:
  std::size_t cols_;
  std::vector<std::int32_t> columns_;
  nlohmann::json report_;
  RatioBound bound_;

  friend std::unique_ptr<DensityRatio> fit_ratio(const RatioOptions& options,
                                                 const MatrixView& train, const MatrixView& target,
                                                 std::span<const double> train_weight);
  friend std::unique_ptr<DensityRatio> pick_ratio(const RatioOptions& given,
                                                  const MatrixView& train, const MatrixView& target,
                                                  std::span<const double> train_weight);
  friend std::unique_ptr<DensityRatio> refit_ratio(const DensityRatio& sample,
                                                   const RatioOptions& options,
                                                   const struct PartRows& rows, double share);
  friend std::unique_ptr<DensityRatio> ratio_from_json(const nlohmann::json& json);
};

/// Fits a ratio. `train_weight`: how often each training row counts (empty: once); 2 equals the row
/// twice. The order of the rows does not matter. An Error (input) for unusable data or options, an
/// Error (numeric) if there is no accurate answer.
std::unique_ptr<DensityRatio> fit_ratio(const RatioOptions& options, const MatrixView& train,
                                        const MatrixView& target,
                                        std::span<const double> train_weight = {});

/// What fit_ratio does for `automatic`: the estimate with the largest held_out_gain(); the report
/// lists all.
std::unique_ptr<DensityRatio> pick_ratio(const RatioOptions& given, const MatrixView& train,
                                         const MatrixView& target,
                                         std::span<const double> train_weight);

/// One holder's rows of samples that several holders have; they have been checked. Weights as
/// fit_ratio's.
struct PartRows {
  MatrixView train, target;
  std::span<const double> train_weight, target_weight;
  const Reducer* reducer = nullptr;
};
/// Refits an estimate from a sample to all holders' rows, with the tuning it chose. `share`: of the
/// sample in all rows; a lambda that was chosen is multiplied by it, as many rows outweigh a prior.
/// Only logistic and Gaussian estimates are refitted; others stay as they are, and their report
/// says so (`of_sample`).
std::unique_ptr<DensityRatio> refit_ratio(const DensityRatio& sample, const RatioOptions& options,
                                          const PartRows& rows, double share);

/// What to_json wrote; an Error (input) for anything else.
std::unique_ptr<DensityRatio> ratio_from_json(const nlohmann::json& json);

}  // namespace covshift
