// The paper's density ratio ("Logistic Regression as Density Estimator"): which sample is x from?
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "covshift/ratio/ratio.hpp"
#include "covshift/ratio/samples.hpp"

namespace covshift {

/// By Bayes' rule P_te(x)/P_tr(x) = P(te|x)/P(tr|x) * n_tr/n_te, so that
///     log_ratio(x) = u.x + b + log(n_tr/n_te),
/// u and b from the logistic regression of DomainProblem.
class LogisticRatio final : public DensityRatio {
 public:
  LogisticRatio(std::size_t cols, std::vector<std::int32_t> columns, nlohmann::json report,
                std::vector<double> weights, double intercept, double lambda);
  static std::unique_ptr<LogisticRatio> fit(const RatioOptions& options, std::size_t cols,
                                            const Samples& samples);
  static std::unique_ptr<LogisticRatio> load(std::size_t cols, std::vector<std::int32_t> columns,
                                             nlohmann::json report, const nlohmann::json& json);

  [[nodiscard]] RatioMethod method() const override { return RatioMethod::logistic; }
  [[nodiscard]] const std::vector<double>& weights() const { return weights_; }
  /// b + log(n_tr/n_te)
  [[nodiscard]] double intercept() const { return intercept_; }
  [[nodiscard]] double lambda() const { return lambda_; }

 protected:
  void evaluate(const Rows& x, std::size_t first, std::size_t last,
                std::span<double> out) const override;
  void store(nlohmann::json& json) const override;

 private:
  std::vector<double> weights_;
  double intercept_;
  double lambda_;
};

/// u.x_i + b, the right infinity where products overflow.
double affine(const Rows& x, std::size_t i, std::span<const double> weights, double intercept);

/// D2 (1 + (2 + sqrt 2) sqrt(ln(1/0.05))) / sqrt(2m). D2 is the largest range of a feature over
/// both samples together, as the features are given (the paper scales them to [0, 1], then D2 <=
/// 1); m the number of training rows (their weights' sum). 1 if every feature is constant: then the
/// ratio is constant for any lambda.
double paper_lambda(const Samples& samples);
/// Dudik's bound at that lambda, as the paper quotes it: with probability 0.95 the domain
/// classifier's expected loss is at most L(u) + paper_excess ||u|| for any weights u, the best
/// included: D2 (sqrt 2 + 2 (1 + sqrt 2) sqrt(ln(1/0.05))) / sqrt(m).
double paper_excess(const Samples& samples);

/// The effective sample size that the rule `stable` leaves the training weights: half the rows, but
/// not more than 100. Where train and target are easily told apart, cross validation favours ratios
/// so extreme that a handful of examples carries all the weight: importance weighting is then
/// noise, and the robust methods predict next to nothing (docs/results.md has the numbers).
double stable_floor(double train_total);

}  // namespace covshift
