// select/: folds, cross validation, importance-weighted cross validation. Uses learn/ and base/.
#pragma once

#include <functional>
#include <span>
#include <vector>

#include "covshift/learn/solve.hpp"

namespace covshift {

struct CrossValidation {
  std::vector<double> lambdas;
  int folds = 5;
  /// Importance-weighted CV: each held-out loss counts w_i times, which makes the mean an unbiased
  /// estimate of the loss on the target (Sugiyama et al. 2007; the paper's model selection).
  /// log w_i; empty: plain cross validation.
  std::span<const double> log_importance;
  bool copies_merged = false;  ///< sample weights count copies already (see merge_copies)
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

/// Deals the examples of each class to folds 0 .. folds-1 in row_order: classes are balanced, and
/// an example's fold does not depend on the order of the examples. Copies share a fold (see
/// copies), so that no held-out example was learned from and a weight of 2 equals the row twice.
/// Examples of weight 0 get fold -1.
std::vector<int> stratified_folds(const MatrixView& features, std::span<const int> labels,
                                  std::span<const double> sample_weight, int folds,
                                  unsigned long long seed, bool copies_merged = false);

/// Held-out losses for all lambdas, largest first, each fit warm-started from the previous one. The
/// problem's lambda is ignored; its features must have been checked (check_features). Folds run in
/// parallel; the result does not depend on the number of threads.
std::vector<CrossValidated> cross_validate(const Problem& problem, const CrossValidation& options);

/// The potentials of every example, m x K, from a fit without its fold at the problem's lambda, on
/// the folds of cross_validate; 0 for examples of weight 0. Ignores options.lambdas and
/// log_importance.
std::vector<double> held_out_potentials(const Problem& problem, const CrossValidation& options);

/// The point of the smallest loss; on ties the largest lambda.
const CrossValidated& best(std::span<const CrossValidated> points);

}  // namespace covshift
