// The training problem of log loss as a function of the weights, and the certificate of any loss.
#pragma once

#include <vector>

#include "covshift/learn/examples.hpp"
#include "covshift/learn/function.hpp"

namespace covshift {

/// F, D and their gap at weights T and adversaries q, from one pass' totals: with A = A(q),
///     F - D = slack + ||2 lambda T - A||^2 / (4 lambda),
/// a sum of squares and of Fenchel-Young slacks: exact where F - D itself would cancel. D in turn
/// is taken from its own formula: far from the optimum F - (F - D) has no digits left.
///
/// With a free bias, whose part of A(q) must be 0, D is that of a mixture q' = (1 - e) q + e pi
/// which meets the condition; pi, the same distribution for all examples, is chosen such that the
/// smallest e does. The slack is convex and the risk concave in q, so
///     slack(q') <= (1 - e) slack(q) + e slack(pi),     risk(q') >= (1 - e) risk(q) + e risk(pi),
/// and A(q') = (1 - e) A(q) + e A(pi). e vanishes with the bias' gradient: the bound is tight at
/// the optimum.
class Certifier {
 public:
  /// Takes a pass over the examples if the bias is free.
  explicit Certifier(const Examples& examples);
  [[nodiscard]] Bounds operator()(PassTotals totals, const RowMatrix& t, const RowMatrix& a) const;
  /// sum_i a_i zhat_i e_y_i' (dims x K) if the bias is free.
  [[nodiscard]] const RowMatrix& class_sums() const { return class_sums_; }

 private:
  const Examples& examples_;
  RowMatrix class_sums_;
  std::vector<double> class_weight_;  // sum of c_i by label
};

/// F of log loss, with the Hessian 2 lambda I + sum_i a_i r_i zhat_i zhat_i' (x) (diag q_i - q_i
/// q_i').
class LogObjective final : public Function {
 public:
  explicit LogObjective(const Examples& examples);
  Bounds evaluate(const RowMatrix& t, RowMatrix& gradient) override;
  double hessian_times(const RowMatrix& x, RowMatrix& out) override;
  void set_line(const RowMatrix& t, const RowMatrix& step) override;
  double slope(double length) override;
  [[nodiscard]] int threads() const override { return examples_.threads(); }
  [[nodiscard]] const Certifier& certifier() const { return certify_; }

 private:
  [[nodiscard]] double block_slope(std::size_t first, std::size_t n, double length) const;

  const Examples& examples_;
  std::size_t labels_;
  Certifier certify_;
  /// The answers without label 0, a block's labels one after the other. Products with the Hessian
  /// do not need more digits than a float has.
  std::vector<float> q_;
  std::vector<double> psi_, move_;  // on the line: potentials, and those of the step
  double ridge_slope_ = 0;          // and the penalty's first and second derivative
  double ridge_curvature_ = 0;
};

}  // namespace covshift
