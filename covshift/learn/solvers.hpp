// What the solvers share; not for users of the library (see solve.hpp).
#pragma once

#include <chrono>
#include <optional>
#include <span>

#include "covshift/learn/cholesky.hpp"
#include "covshift/learn/examples.hpp"
#include "covshift/learn/solve.hpp"

namespace covshift {

struct Bounds {
  double objective = 0;
  double gap = 0;
  double dual = 0;
};

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

/// Keeps the best certified weights, watches limits and calls the observer.
class Monitor {
 public:
  Monitor(const Examples& examples, const SolveOptions& options, Solver solver, int max_iterations);

  /// Takes note of weights with their certificate; true if the solver is to stop.
  bool stop(const RowMatrix& t, const Bounds& certificate, int iteration);
  [[nodiscard]] double target(double objective) const;
  /// True if time is up, for solvers that certify only now and then. All holders get the same
  /// answer, so all must ask.
  [[nodiscard]] bool out_of_time() const;
  Solution finish(int iterations);
  [[nodiscard]] const SolveOptions& options() const { return options_; }

 private:
  [[nodiscard]] double seconds() const;

  const Reducer& reducer_;
  const SolveOptions& options_;
  int max_iterations_;
  std::chrono::steady_clock::time_point begin_;
  bool any_ = false;
  double best_dual_ = 0;
  Solution solution_;
};

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
  void factor_alike();
  void solve(const RowMatrix& right, RowMatrix& t) const;

 private:
  /// The Gram matrices of every pair of contrasts.
  void factor(const std::vector<Eigen::MatrixXd>& grams, Eigen::Index contrasts);

  const Examples& examples_;
  Eigen::MatrixXd contrast_;   // K x (K-1), orthonormal, columns sum to 0
  std::vector<double> scale_;  // what makes each of them a unit
  Cholesky factored_;
};

/// True where a step with the factored system costs little: not more than a few passes, or next to
/// nothing.
bool cheap_steps(const Examples& examples);

/// Where a game of costs may start: from the optimum of log loss on the same examples, which a few
/// cheap steps find. Returns its weights at the best scale for the game, whose objective is near
/// the least, and fills q (examples x K) with its adversaries, whose dual value is near the
/// greatest: A(q) = 2 lambda T at that optimum. None where it is no guide, or log loss takes long.
std::optional<RowMatrix> log_start(const Examples& examples, const SolveOptions& options,
                                   std::span<double> q);

Solution solve_newton(const Examples& examples, const SolveOptions& options);
Solution solve_interior(const Examples& examples, const SolveOptions& options);
Solution solve_dual_ascent(const Examples& examples, const SolveOptions& options);

}  // namespace covshift
