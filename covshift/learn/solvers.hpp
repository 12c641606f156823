// What the solvers share; not for users of the library (see solve.hpp).
#pragma once

#include <chrono>
#include <optional>
#include <span>

#include "covshift/learn/examples.hpp"
#include "covshift/learn/function.hpp"
#include "covshift/learn/solve.hpp"

namespace covshift {

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

/// The best T and its adversaries of log loss as a start for another game on the same examples.
/// Returns T at the best scale for the game, whose objective is near the least, and fills q
/// (examples x K) with the adversaries, whose dual value is near the greatest: A(q) = 2 lambda T at
/// that optimum. None if Newton's method does not converge in a few steps.
std::optional<RowMatrix> log_start(const Examples& examples, const SolveOptions& options,
                                   std::span<double> q);

Solution solve_newton(const Examples& examples, const SolveOptions& options);
Solution solve_interior(const Examples& examples, const SolveOptions& options);
Solution solve_dual_ascent(const Examples& examples, const SolveOptions& options);

}  // namespace covshift
