// Newton's preconditioners except LowRank. rules.hpp chooses between them.
#pragma once

#include <memory>
#include <string>
#include <utility>
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
  explicit HessianAtZero(const Examples& examples) : system_(examples) { system_.factor_alike(); }
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

/// Rows drawn from a problem, with the weights given: copied, so that the kernels read them in
/// place, if they are dense; otherwise the rows of weight 0 are left out where they are.
class DrawnRows {
 public:
  /// `weight` has a number for each row of the problem.
  DrawnRows(const Problem& all, std::vector<double> weight);
  DrawnRows(const DrawnRows&) = delete;
  DrawnRows& operator=(const DrawnRows&) = delete;
  [[nodiscard]] const Problem& problem() const { return problem_; }

 private:
  Problem problem_;
  std::vector<double> features_, sample_weight_, log_weight_, log_scale_;
  std::vector<int> labels_;
};

/// Wraps a reducer and does not report passes over a few rows to it.
class FewRows final : public Reducer {
 public:
  explicit FewRows(const Reducer& other) : other_(other) {}
  void sum(std::span<double> totals) const override { other_.sum(totals); }
  void max(std::span<double> largest) const override { other_.max(largest); }
  [[nodiscard]] std::vector<std::string> gather(std::string piece) const override {
    return other_.gather(std::move(piece));
  }
  [[nodiscard]] std::size_t holder() const override { return other_.holder(); }

 private:
  const Reducer& other_;
};

/// The Hessian of a stratified sample of the rows (one from each of equally long ranges), factored
/// before the first step, and again after a step that took many solutions. The sample's optimum is
/// also a good start: near it the Hessian hardly changes.
class SampledHessian final : public Preconditioner {
 public:
  SampledHessian(const Examples& all, std::size_t rows, std::uint64_t seed);
  /// False if too many rows of weight 0 were drawn, or a class is missing that a free bias needs.
  [[nodiscard]] bool usable() const;
  [[nodiscard]] const Examples& examples() const { return examples_; }
  void update(const RowMatrix& t) override;
  void solve(const RowMatrix& right, RowMatrix& t) const override {
    ++solved_;
    hessian_.solve(right, t);
  }

 private:
  std::size_t rows_;
  FewRows reducer_;
  DrawnRows drawn_;
  Examples examples_;
  FactoredHessian hessian_;
  bool factored_ = false;
  mutable std::size_t solved_ = 0;  // since update()
};

}  // namespace covshift
