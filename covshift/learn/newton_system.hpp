// The factored system of a Newton step in all parameters.
#pragma once

#include <functional>
#include <span>
#include <vector>

#include "covshift/learn/cholesky.hpp"
#include "covshift/learn/examples.hpp"

namespace covshift {

/// The Newton system of the weights, (2 lambda I + sum_i a_i r_i zhat_i zhat_i' (x) B_i) dT = -G,
/// for curvatures B_i (K x K) with B_i 1 = 0, as those of every game: V(psi + c 1) = V(psi) + c.
/// Rows of gradients and weights then sum to 0, so K - 1 contrasts suffice.
class NewtonSystem {
 public:
  explicit NewtonSystem(const Examples& examples);
  /// fill(i, lane, B) writes B_i. A numerically indefinite system gets a larger diagonal.
  void factor(const std::function<void(std::size_t, std::size_t, double*)>& fill);
  /// The same where all contrasts are alike, as for log loss at T = 0, B = (I - 1 1'/K) / K, and
  /// share one small system: that of Examples::curvature().
  void factor_alike();
  void solve(const RowMatrix& right, RowMatrix& t) const;

 private:
  /// The Gram matrices of every pair of contrasts.
  void factor(std::span<const Eigen::MatrixXd> grams, Eigen::Index contrasts);

  const Examples& examples_;
  Eigen::MatrixXd contrast_;   // K x (K-1), orthonormal, columns sum to 0
  std::vector<double> scale_;  // normalises the contrasts
  Cholesky factored_;
};

}  // namespace covshift
