// Newton's preconditioners but for LowRank. Which one is used when: rules.hpp.
#pragma once

#include <memory>
#include <vector>

#include "covshift/learn/newton_system.hpp"
#include "covshift/learn/objective.hpp"

namespace covshift {

/// The diagonal of the Hessian where all classes are equally likely.
///
/// A free bias makes the problem indifferent to a shift of the features, so the diagonal of centred
/// ones, z_j - mean_j, is the better choice, and they need not be formed: with S the map from their
/// weights to those of the features, bias -= mean'T, the inverse is S D^-1 S'.
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

/// The same of a sample of the rows, drawn one from each of as many equal stretches. Its optimum is
/// also where to start.
class SampledHessian final : public Preconditioner {
 public:
  SampledHessian(const Examples& all, std::size_t rows, std::uint64_t seed);
  /// Rows of weight 0 are drawn like others, and are no examples. A free bias needs every class.
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
