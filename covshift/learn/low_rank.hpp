// A preconditioner for conjugate gradients on data with long rows.
#pragma once

#include "covshift/learn/examples.hpp"
#include "covshift/learn/function.hpp"

namespace covshift {

/// The Hessian where all classes are equally likely, 2 lambda I + M / K with the second moments
/// M = sum_i a_i r_i zhat_i zhat_i', as far as its largest eigenvalues go: those of Nystroem's
/// approximation from a few random vectors (Frangella, Tropp and Udell 2023), and one value for all
/// others, their mean. Features that are correlated have few large ones, which take conjugate
/// gradients most of their steps.
class LowRank final : public Preconditioner {
 public:
  LowRank(const Examples& examples, std::uint64_t seed);
  static constexpr Eigen::Index vectors = 48;
  /// False if M is 0 or overflows a double.
  [[nodiscard]] bool usable() const { return rest_ > 0; }
  /// t = H^-1 right, for all columns.
  void solve(const RowMatrix& right, RowMatrix& t) const override;

 private:
  int threads_;
  RowMatrix vectors_;     // U, the eigenvectors, dims x their number
  Eigen::MatrixXd core_;  // H^-1 = U core U' + I / rest
  double rest_ = 0;
};

}  // namespace covshift
