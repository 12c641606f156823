// Every rule that chooses a solver, a preconditioner or a start. docs/solvers.md explains them.
#pragma once

#include "covshift/learn/examples.hpp"
#include "covshift/learn/solve.hpp"

namespace covshift {

/// The sizes that the rules depend on: sums over all holders, so that all make the same choice.
struct ProblemSize {
  explicit ProblemSize(const Examples& examples);
  double rows = 0;        ///< examples of positive weight
  double columns = 0;     ///< with the bias
  double parameters = 0;  ///< columns (K - 1): those of a factored Newton system
  bool dense = true;
  bool curvature_known = false;  ///< near the optimum or of another lambda: only to be factored

  /// A step with the factored Hessian costs little: a few passes at most, or next to nothing.
  [[nodiscard]] bool cheap_factors() const {
    return parameters <= 200 && rows * parameters * parameters < 2e9;
  }
  /// Enough rows to estimate the Hessian.
  [[nodiscard]] std::size_t sample_rows() const;
};

enum class Preconditioning {
  sample,    ///< few parameters, very many rows
  at_zero,   ///< few parameters, or a curvature that is known
  low_rank,  ///< long dense rows
  diagonal,  ///< otherwise
};

/// The row of `asked`; if automatic, the first that fits the loss and the size. Throws Error if
/// `asked` does not fit.
const SolverRow& choose_solver(const Examples& examples, Solver asked);
Preconditioning choose_preconditioning(const ProblemSize& size, bool may_sample = true);
/// How many conjugate gradient products a Newton step may take. Beyond that the preconditioner
/// at_zero gives way to the factored Hessian: as many products take as long as factoring it.
std::size_t products_limit(const ProblemSize& size, Preconditioning preconditioning);
/// Newton steps of log loss before the interior point method takes over; 0: it never does.
/// Potentials that saturate (ratios of e^10) stall Newton's method, but not the interior point
/// method.
int newton_steps_before_interior(const ProblemSize& size, const SolveOptions& options);
/// Whether the optimum of log loss is a good start for another game. Where weights or scales
/// differ by orders of magnitude it depends on other examples than the game's optimum does, and
/// starting from it takes more steps than starting from zero.
bool start_from_log_loss(const Examples& examples);

/// The share of a potential's range up to which V is taken as linear beside 0 (moderate.cpp).
double linear_share(const Game& game);

/// Whether to start from the solution for a sample of the rows: with log loss. Others start from
/// log loss.
bool start_from_sample(const Game& game);

}  // namespace covshift
