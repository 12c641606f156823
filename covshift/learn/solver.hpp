// The solvers. To add one: write solve_<name> in its own file, and declare it and its row here.
#pragma once

#include <array>
#include <limits>
#include <string_view>

namespace covshift {

class Examples;
struct Solution;
struct SolveOptions;

enum class Solver { automatic, newton, interior, dual_ascent };

/// What is known about a solver.
struct SolverRow {
  Solver solver;
  std::string_view name;
  Solution (*solve)(const Examples& examples, const SolveOptions& options);
  bool log_loss;           ///< for the log loss
  bool piecewise_linear;   ///< for the other losses
  bool free_bias;          ///< also where the bias is not penalised
  double most_parameters;  ///< columns (K - 1) up to which it may be chosen
};

/// Newton's method, by conjugate gradients where there are many parameters.
Solution solve_newton(const Examples& examples, const SolveOptions& options);
/// Interior point method.
Solution solve_interior(const Examples& examples, const SolveOptions& options);
/// Dual coordinate ascent.
Solution solve_dual_ascent(const Examples& examples, const SolveOptions& options);

/// Factoring a system with this many parameters takes less than a second.
inline constexpr double few_parameters = 2000;
inline constexpr double unlimited = std::numeric_limits<double>::infinity();

/// Solver::automatic is the first row that fits the loss and the number of parameters.
inline constexpr auto solver_table = std::to_array<SolverRow>({
    {Solver::newton, "newton", solve_newton, true, false, true, unlimited},
    {Solver::interior, "interior point", solve_interior, true, true, true, few_parameters},
    {Solver::dual_ascent, "dual ascent", solve_dual_ascent, false, true, false, unlimited},
});

}  // namespace covshift
