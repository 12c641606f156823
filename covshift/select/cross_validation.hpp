// select/: folds, cross validation, importance-weighted cross validation.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "covshift/learn/solve.hpp"

namespace covshift {

struct CrossValidation {
  std::vector<double> lambdas;
  int folds = 5;
  /// How much each held-out loss counts; empty: 1. With w = P_test/P_train the mean is an unbiased
  /// estimate of the loss on the target (Sugiyama et al. 2007; the paper's model selection).
  std::span<const double> importance;
  /// Stop after this many lambdas in a row, each worse than the one before, with and without
  /// importance; 0: try all.
  int patience = 0;
  bool keep_potentials = false;
  /// Leave out single rows instead of folds where can_leave_one_out (learn/leave_one_out.hpp).
  bool leave_one_out = false;
  /// The fold of each example, -1 for none; empty: dealt by the problem's features.
  std::span<const int> fold;
  unsigned long long seed = 0;
  int threads = 0;
  SolveOptions solve;               ///< for each fit; threads, seed, start and observer are ignored
  std::function<bool()> cancelled;  ///< called by several threads; true throws Error (stopped)
  std::function<void(double)> progress;  ///< gets the fraction done; one thread at a time
};

struct CrossValidated {
  double lambda = 0;
  double loss = 0;            ///< mean held-out loss of the game
  double standard_error = 0;  ///< of that mean, over examples
};

/// The losses of held-out examples at every lambda that was tried, largest lambda first.
struct HeldOut {
  std::vector<double> lambdas;
  std::vector<double> losses;      ///< a row of m for each lambda
  std::vector<double> count;       ///< how often each example counts: its sample weight
  std::vector<double> potentials;  ///< m x K for each lambda, if kept

  [[nodiscard]] std::vector<CrossValidated> curve(std::span<const double> importance) const;
  /// The potentials at a lambda between those tried, interpolated linearly in log lambda.
  [[nodiscard]] std::vector<double> potentials_at(double lambda) const;
};
/// Two classes, log loss, and a cheap Hessian: (rows + columns) columns^2 is at most 5 10^8.
bool can_leave_one_out(const Problem& problem);

/// Each fit starts from that of the previous lambda. The problem's lambda is ignored; its features
/// must have been checked (check_features). Folds run in parallel; the result does not depend on
/// the number of threads.
HeldOut held_out(const Problem& problem, const CrossValidation& options);

/// The minimum of the parabola in log lambda through the best point and its neighbours: a choice
/// that changes smoothly with the data. The best point itself if it has only one neighbour.
double refined_lambda(std::span<const CrossValidated> points);

/// v = 1/2 + w/(2 mean w): half of the criterion is the training risk, half the target's, so that
/// a handful of heavy rows cannot decide alone. Empty if there are no weights.
std::vector<double> defensive_importance(std::span<const double> log_weight,
                                         std::span<const double> sample_weight);

/// Fits at the problem's lambda, each without one of held_out's folds, and their predictions there.
struct HeldOutFits {
  std::vector<int> fold;           ///< the fold of each example; -1: none
  std::vector<double> potentials;  ///< m x K, by the fit without the example; 0 for fold -1
  std::vector<std::vector<double>> weights;  ///< T of each fit
};
/// `start`: weights to start from, such as those of the fit to all examples; empty: none. Leaves
/// out folds, at least one, until `enough` examples have been held out. Ignores options.lambdas and
/// importance.
HeldOutFits held_out_fits(const Problem& problem, const CrossValidation& options,
                          std::span<const double> start = {}, std::size_t enough = SIZE_MAX);

/// The point of least loss; on ties the one of the largest lambda.
const CrossValidated& best(std::span<const CrossValidated> points);

}  // namespace covshift
