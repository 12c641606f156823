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
  unsigned long long seed = 0;
  int threads = 0;
  SolveOptions solve;  ///< of each fit; its threads, seed, start and observer are not used
  std::function<bool()> cancelled;       ///< asked by several threads; true: throws Error (stopped)
  std::function<void(double)> progress;  ///< the share that is done; one thread at a time
};

struct CrossValidated {
  double lambda = 0;
  double loss = 0;            ///< mean held-out loss, of the game itself
  double standard_error = 0;  ///< of that mean, over examples
};

/// Folds 0 .. folds-1 in turn within each class, along the row order: every fold has nearly the
/// same number of examples of each class, and an example's fold does not depend on how the examples
/// are arranged. Copies go together (see copies): what is held out was not learned from, and a
/// weight of 2 is the row twice. Examples without weight get fold -1.
std::vector<int> stratified_folds(const MatrixView& features, std::span<const int> labels,
                                  std::span<const double> sample_weight, int folds,
                                  unsigned long long seed);

/// Held-out losses along the path of lambdas, largest first, each fit started from the one before.
/// The problem's own lambda is not used; its features must have been checked (check_features).
/// Folds run in parallel; the result does not depend on it.
std::vector<CrossValidated> cross_validate(const Problem& problem, const CrossValidation& options);

/// The potentials of every example, m x K, by a fit at the problem's lambda that has not seen it:
/// on the folds of cross_validate. 0 for examples without weight. options.lambdas and
/// log_importance are not used.
std::vector<double> held_out_potentials(const Problem& problem, const CrossValidation& options);

/// The point of the smallest loss; the largest lambda among equals.
const CrossValidated& best(std::span<const CrossValidated> points);

}  // namespace covshift
