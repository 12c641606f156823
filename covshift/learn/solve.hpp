// The entry point of learn/: a problem in, weights with a certificate out.
#pragma once

#include <functional>
#include <vector>

#include "covshift/base/names.hpp"
#include "covshift/base/range.hpp"
#include "covshift/base/reduce.hpp"
#include "covshift/learn/problem.hpp"
#include "covshift/learn/solver.hpp"

namespace covshift {

enum class Status {
  converged,        ///< gap <= tolerance * max(1, |objective|), or less: Examples::most_gain
  iteration_limit,  ///< out of iterations, or rounding prevents further progress; see the gap
  time_limit,
  stopped,     ///< by the observer
  non_finite,  ///< the numbers overflowed; the last finite weights are returned
};
template <>
inline constexpr auto names<Status> =
    std::to_array<Named<Status>>({{Status::converged, "converged"},
                                  {Status::iteration_limit, "iteration_limit"},
                                  {Status::time_limit, "time_limit"},
                                  {Status::stopped, "stopped"},
                                  {Status::non_finite, "non_finite"}});

struct Progress {
  int iteration = 0;
  double objective = 0;  ///< F at the weights
  double gap = 0;        ///< F - D, never negative
  double seconds = 0;
};
/// Called after every iteration; false stops the solver (Status::stopped).
using Observer = std::function<bool(const Progress&)>;

struct SolveOptions {
  Solver solver = Solver::automatic;
  double tolerance = 1e-6;  ///< of the gap, relative to max(1, |objective|)
  static constexpr Range tolerances = allowed::positive;
  int max_iterations = 0;  ///< 0: the solver's own limit
  double time_limit = 0;   ///< seconds; 0: none
  int threads = 0;         ///< 0: all cores
  unsigned long long seed = 0;
  /// An earlier solution to start from, perhaps of another lambda; empty: none. Dual ascent uses
  /// the adversary, the other solvers the weights.
  std::span<const double> start;
  std::span<const double> start_adversary;
  Observer observer;
  const Reducer* reducer = nullptr;  ///< sums over several holders of examples
};

struct Solution {
  std::vector<double> weights;    ///< T, (columns + bias) x K row-major, the bias last
  std::vector<double> adversary;  ///< q, K numbers for each example of weight > 0; not by Newton
  double objective = 0;
  double dual = 0;
  double gap = 0;
  /// With Penalty::norm: the lambda of the squared penalty that gives the same weights, half of
  /// epsilon over ||T||; 0 if none does, because T = 0.
  double squared_lambda = 0;
  Status status = Status::iteration_limit;
  Solver solver = Solver::automatic;
  int iterations = 0;
  double seconds = 0;
};

/// Checks the problem (throws Error) and solves it. The result is bit-identical for any number of
/// threads.
Solution solve(const Problem& problem, const SolveOptions& options = {});
/// The same for a problem that has been checked (see check).
Solution solve(const Examples& examples, const SolveOptions& options);

/// Of the squared penalty: F, its gradient, D at the adversary's answer and their gap at given
/// weights.
struct Evaluation {
  double objective = 0;
  double dual = 0;
  double gap = 0;
  std::vector<double> gradient;
};
Evaluation evaluate(const Problem& problem, std::span<const double> weights, int threads = 0);

}  // namespace covshift
