// Internal to learn/: the solvers and what they share. Users include solve.hpp.
#pragma once

#include <optional>
#include <span>

#include "covshift/base/stopwatch.hpp"
#include "covshift/learn/examples.hpp"
#include "covshift/learn/function.hpp"
#include "covshift/learn/solve.hpp"

namespace covshift {

/// Keeps the best certified weights, checks limits and calls the observer.
class Monitor {
 public:
  Monitor(const Examples& examples, const SolveOptions& options, Solver solver, int max_iterations);

  /// Records weights with their certificate; true if the solver must stop.
  bool stop(const RowMatrix& t, const Bounds& certificate, int iteration);
  [[nodiscard]] double target(double objective) const;
  /// True if time is up. A reduction over all holders, so all must call it.
  [[nodiscard]] bool out_of_time() const;
  Solution finish(int iterations);
  [[nodiscard]] const SolveOptions& options() const { return options_; }

 private:
  const Reducer& reducer_;
  double most_gain_;
  const SolveOptions& options_;
  int max_iterations_;
  Stopwatch clock_;
  bool any_ = false;
  double best_dual_ = 0;
  Solution solution_;
};

/// A problem with Penalty::norm, by problems with the squared penalty.
Solution solve_norm(const Examples& examples, const SolveOptions& options);

/// The optimum of log loss as a start for another game on the same examples: T at the best scale
/// for the game, with an objective near the optimum, and in q (examples x K) the adversaries, with
/// a dual value near the optimum since A(q) = 2 lambda T. None if Newton's method does not converge
/// in a few steps.
std::optional<RowMatrix> log_start(const Examples& examples, const SolveOptions& options,
                                   std::span<double> q);

}  // namespace covshift
