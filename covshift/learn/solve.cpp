#include "covshift/learn/solve.hpp"

#include <cmath>

#include "covshift/base/error.hpp"
#include "covshift/base/threads.hpp"
#include "covshift/learn/moderate.hpp"
#include "covshift/learn/objective.hpp"
#include "covshift/learn/rules.hpp"
#include "covshift/learn/solver_parts.hpp"

namespace covshift {
namespace {

RowMatrix as_matrix(std::span<const double> weights, const Examples& examples) {
  const auto expected = static_cast<std::size_t>(examples.dims()) * examples.labels();
  if (weights.size() != expected) {
    fail_input("{} weights, but the problem has {} ({} features including the bias, {} classes)",
               weights.size(), expected, examples.dims(), examples.labels());
  }
  for (std::size_t j = 0; j < expected; ++j) {
    if (!std::isfinite(weights[j])) {
      fail_input("the weight of feature {} and class {} is {}; it must be finite",
                 j / examples.labels() + 1, j % examples.labels(), weights[j]);
    }
  }
  return Eigen::Map<const RowMatrix>(weights.data(), examples.dims(), examples.labels());
}

void check_adversary(std::span<const double> adversary, const Examples& examples) {
  const auto k = static_cast<std::size_t>(examples.labels());
  if (adversary.size() != examples.size() * k) {
    fail_input(
        "the starting adversary has {} numbers; {} examples of positive weight and {} classes need "
        "{}",
        adversary.size(), examples.size(), k, examples.size() * k);
  }
  for (std::size_t i = 0; i < examples.size(); ++i) {
    double sum = 0;
    bool good = true;
    for (const double q : adversary.subspan(i * k, k)) {
      good = good && q >= 0;
      sum += q;
    }
    if (!good || !(std::abs(sum - 1) <= 1e-9)) {
      fail_input("the starting adversary of example {} is not a probability distribution",
                 examples.row(i) + 1);
    }
  }
}

Solution solve_chosen(const Examples& examples, const SolveOptions& options) {
  const SolverRow& chosen = choose_solver(examples, options.solver);
  const int steps = chosen.solver == Solver::newton
                        ? newton_steps_before_interior(ProblemSize(examples), options)
                        : 0;
  SolveOptions first = options;
  if (steps > 0) first.max_iterations = steps;
  Solution solution = chosen.solve(examples, first);
  if (steps == 0 || solution.status != Status::iteration_limit) return solution;
  first = options;
  first.start = solution.weights;
  return solve_interior(examples, first);
}

/// A problem with extreme scales, by one without.
Solution solve_moderate(const ModerateProblem& moderate, SolveOptions options) {
  Examples examples(moderate.problem, options.threads, options.reducer);
  examples.set_most_gain(moderate.gain);
  if (options.observer) {
    options.observer = [told = options.observer, &moderate](Progress progress) {
      progress.objective += moderate.constant;
      return told(progress);
    };
  }
  Solution solution = solve_chosen(examples, options);
  solution.objective += moderate.constant;
  solution.dual += moderate.constant;
  return solution;
}

}  // namespace

Solution solve(const Problem& problem, const SolveOptions& options) {
  check(problem, options.threads);
  return solve(Examples(problem, options.threads, options.reducer), options);
}

Solution solve(const Examples& examples, const SolveOptions& options) {
  const TeamScope team;
  SolveOptions::tolerances.check("the tolerance", options.tolerance);
  if (!options.start.empty()) as_matrix(options.start, examples);
  if (!options.start_adversary.empty()) check_adversary(options.start_adversary, examples);
  if (examples.problem().penalty == Penalty::norm) return solve_norm(examples, options);
  if (const auto problem = moderate(examples)) return solve_moderate(*problem, options);
  return solve_chosen(examples, options);
}

Evaluation evaluate(const Problem& problem, std::span<const double> weights, int threads) {
  check(problem, threads);
  if (problem.penalty != Penalty::squared) fail_input("only the squared penalty can be evaluated");
  const Examples examples(problem, threads);
  const RowMatrix t = as_matrix(weights, examples);
  RowMatrix a;
  // The adversaries are evaluated like given ones, in case a linear program left them inexact.
  std::vector<double> q(examples.size() * static_cast<std::size_t>(examples.labels()));
  examples.pass(t, a, nullptr, keep_rows(examples.labels(), nullptr, q.data()));
  const PassTotals totals = examples.pass(t, a, q.data());
  const Bounds certificate = Certifier(examples)(totals, t, a);
  const RowMatrix gradient = examples.ridge().asDiagonal() * t - a;
  return {certificate.objective, certificate.dual, certificate.gap,
          std::vector<double>(gradient.data(), gradient.data() + gradient.size())};
}

}  // namespace covshift
