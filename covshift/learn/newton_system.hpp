// The factored system of a Newton step in all parameters.
#pragma once

#include <functional>
#include <vector>

#include "covshift/learn/cholesky.hpp"
#include "covshift/learn/examples.hpp"

namespace covshift {

/// The Newton system of the weights, (2 lambda I + sum_i a_i r_i zhat_i zhat_i' (x) B_i) dT = -G,
/// for curvatures B_i (K x K) with B_i 1 = 0, as every game's are: V(psi + c 1) = V(psi) + c. All
/// gradients then have rows that sum to 0, and so have the weights: K - 1 contrasts suffice.
class NewtonSystem {
 public:
  explicit NewtonSystem(const Examples& examples);
  [[nodiscard]] static std::size_t size(const Examples& examples) {
    return static_cast<std::size_t>(examples.dims()) * (examples.labels() - 1);
  }
  /// fill(i, lane, B) writes B_i. A system lost to rounding gets a larger diagonal.
  void factor(const std::function<void(std::size_t, std::size_t, double*)>& fill);
  /// The same for B = (I - 1 1'/K) / K, log loss at T = 0: contrasts then do not meet, and one
  /// small system serves all.
  void factor_at_zero();
  void solve(const RowMatrix& right, RowMatrix& t) const;

 private:
  /// The Gram matrices of every pair of contrasts.
  void factor(const std::vector<Eigen::MatrixXd>& grams, Eigen::Index contrasts);

  const Examples& examples_;
  Eigen::MatrixXd contrast_;   // K x (K-1), orthonormal, columns sum to 0
  std::vector<double> scale_;  // what makes each of them a unit
  Cholesky factored_;
};

}  // namespace covshift
