// Labelled rows weighted to look like the target, and the regression estimate of a target mean;
// private to promise/.
#pragma once

#include <Eigen/Cholesky>
#include <Eigen/Core>
#include <cstdint>
#include <span>
#include <vector>

#include "covshift/data/matrix.hpp"
#include "covshift/ratio/held_out.hpp"

namespace covshift {

struct WeightedSamples {
  Eigen::VectorXd share;                              ///< a_i = n_i w_i / sum n w
  Eigen::VectorXd count;                              ///< n_i, how often a row counts
  double effective = 0;                               ///< 1 / sum a^2
  std::vector<double> log_weight, target_log_weight;  ///< cut off at the ratio's bound
  Eigen::MatrixXd train, target;                      ///< principal components of the inputs
};
WeightedSamples weighted_samples(const MatrixView& train, const MatrixView& target,
                                 HeldOutRatio ratio, std::uint64_t seed,
                                 std::span<const double> count = {});

/// An estimate with the influence of each row on it: their sum of squares is its variance.
struct Influenced {
  double value = 0;
  Eigen::VectorXd train, target;
};
/// Variance V, and V^2 / sum of fourth powers degrees of freedom (Satterthwaite's rule): where few
/// heavy rows make up the variance it is itself uncertain.
struct Variance {
  double variance = 0;
  double freedom = 1;
  double skewness = 0;  ///< of the sum of the influences
};
/// `count`: of the training rows; empty: 1.
Variance variance_of(const Eigen::VectorXd& train, const Eigen::VectorXd& target,
                     const Eigen::VectorXd& count = {});

/// What the estimated coefficients u of a logistic ratio add to an estimate: c'H^-1 (score of a
/// row), with H the curvature of the domain likelihood and c the derivative of the estimate along
/// u.
class RatioCurvature {
 public:
  explicit RatioCurvature(const WeightedSamples& samples);
  /// `slope`: the derivative of the estimate by the log weight of each training row.
  [[nodiscard]] Influenced influence(const Eigen::VectorXd& slope) const;

 private:
  const WeightedSamples& samples_;
  Eigen::MatrixXd train_, target_;      // components with a constant
  Eigen::VectorXd p_train_, p_target_;  // of being from the target
  Eigen::LDLT<Eigen::MatrixXd> factored_;
};

/// sum_i a_i l_i; `estimated` (null: the ratio is exact) adds what an estimated ratio contributes.
Influenced weighted_mean(const WeightedSamples& samples, const Eigen::VectorXd& l,
                         const RatioCurvature* estimated);

/// mean_target(h)'b + sum_i a_i (l_i - h_i'b), with b the weighted least squares fit of l to
/// h = (1, guesses of l, log w, components). Right if either the ratio is right or the mean of l is
/// linear in h. The normal equations make sum_i a_i h_i (l_i - h_i'b) = 0: moving the log ratio
/// along h changes nothing, so an error of a logistic ratio, which is linear in x, has no
/// first-order effect.
struct Regression : Influenced {
  Eigen::VectorXd fitted;  ///< h'b of the target rows
};
Regression regression_mean(const WeightedSamples& samples, const Eigen::VectorXd& l,
                           const Eigen::MatrixXd& guess, const Eigen::MatrixXd& target_guess);

}  // namespace covshift
