// Newton's preconditioners except LowRank. rules.hpp chooses between them.
#pragma once

#include <memory>
#include <vector>

#include "covshift/learn/newton_system.hpp"
#include "covshift/learn/objective.hpp"

namespace covshift {

/// The diagonal of the Hessian where all classes are equally likely.
///
/// With a free bias the problem does not depend on the features' origin, and the diagonal for
/// centred features z_j - mean_j is better. They are not formed: with S the map from their weights
/// to those of the features, bias -= mean'T, the inverse is S D^-1 S'.
class DiagonalPreconditioner final : public Preconditioner {
 public:
  DiagonalPreconditioner(const Examples& examples, const Certifier& certifier);
  void solve(const RowMatrix& right, RowMatrix& t) const override;

 private:
  int threads_;
  Eigen::VectorXd inverse_;
  Eigen::VectorXd mean_;  // empty: the features are not centred
};

/// The Hessian at zero weights, factored once.
class HessianAtZero final : public Preconditioner {
 public:
  explicit HessianAtZero(const Examples& examples) : system_(examples) { system_.factor_at_zero(); }
  void solve(const RowMatrix& right, RowMatrix& t) const override { system_.solve(right, t); }

 private:
  NewtonSystem system_;
};

/// The Hessian at the current weights, factored before every step.
class FactoredHessian : public Preconditioner {
 public:
  explicit FactoredHessian(const Examples& examples) : examples_(examples), system_(examples) {}
  void update(const RowMatrix& t) override;
  void solve(const RowMatrix& right, RowMatrix& t) const override { system_.solve(right, t); }
  [[nodiscard]] bool exact() const override { return true; }

 private:
  const Examples& examples_;
  NewtonSystem system_;
};

/// The Hessian of a stratified sample of the rows (one from each of equally long ranges), factored
/// before every step. The sample's optimum is also a good start.
class SampledHessian final : public Preconditioner {
 public:
  SampledHessian(const Examples& all, std::size_t rows, std::uint64_t seed);
  /// False if too many rows of weight 0 were drawn, or a class is missing that a free bias needs.
  [[nodiscard]] bool usable() const;
  [[nodiscard]] const Examples& examples() const { return examples_; }
  void update(const RowMatrix& t) override { hessian_.update(t); }
  void solve(const RowMatrix& right, RowMatrix& t) const override { hessian_.solve(right, t); }

 private:
  std::size_t rows_;
  std::vector<double> weight_;  // of all rows, 0 for those not drawn
  Examples examples_;
  FactoredHessian hessian_;
};

}  // namespace covshift
