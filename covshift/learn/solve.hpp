// The entry point of learn/: a problem in, weights with a certificate out.
#pragma once

#include <functional>
#include <string_view>
#include <vector>

#include "covshift/learn/problem.hpp"

namespace covshift {

enum class Status {
  converged,        ///< gap <= tolerance * max(1, |objective|)
  iteration_limit,  ///< out of iterations, or no step improves on rounding; see the gap
  time_limit,
  stopped,     ///< by the observer
  non_finite,  ///< the numbers overflowed; the last finite weights are returned
};
std::string_view to_string(Status status);

enum class Solver {
  automatic,
  interior,     ///< few parameters, any loss: interior point
  newton,       ///< log loss: Newton's method, by conjugate gradients where parameters are many
  dual_ascent,  ///< many parameters, piecewise linear losses: dual coordinate ascent
};

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
  int max_iterations = 0;   ///< 0: the solver's own limit
  double time_limit = 0;    ///< seconds; 0: none
  int threads = 0;          ///< 0: all cores
  unsigned long long seed = 0;
  /// Where to start: an earlier solution's weights and adversary, of another lambda perhaps; each
  /// solver uses what helps it (dual ascent the adversary, the others the weights). Empty: neither.
  std::span<const double> start;
  std::span<const double> start_adversary;
  Observer observer;
  const Reducer* reducer = nullptr;  ///< for examples in several places
};

struct Solution {
  std::vector<double> weights;    ///< T, (columns + bias) x K row-major, the bias last
  std::vector<double> adversary;  ///< q, K numbers for each example of weight > 0; by dual ascent
  double objective = 0;
  double dual = 0;
  double gap = 0;
  Status status = Status::iteration_limit;
  Solver solver = Solver::automatic;
  int iterations = 0;
  double seconds = 0;
};

/// Checks the problem (throws Error) and solves it. The same answer, bit for bit, for any number
/// of threads.
Solution solve(const Problem& problem, const SolveOptions& options = {});
/// The same for a problem that has been checked (see check).
Solution solve(const class Examples& examples, const SolveOptions& options);

/// F, its gradient, D at the adversary's answer and their gap at given weights.
struct Evaluation {
  double objective = 0;
  double dual = 0;
  double gap = 0;
  std::vector<double> gradient;
};
Evaluation evaluate(const Problem& problem, std::span<const double> weights, int threads = 0);

}  // namespace covshift
