#include "covshift/learn/solve.hpp"

#include <cmath>

#include "covshift/base/error.hpp"
#include "covshift/base/threads.hpp"
#include "covshift/learn/solvers.hpp"

namespace covshift {
namespace {

/// The interior point method factors a system of the parameters' size: cheap up to a point.
bool few_parameters(const Examples& examples) {
  const auto parameters = static_cast<double>(NewtonSystem::size(examples));
  return parameters <= 2000;
}

Solver choose(const Examples& examples, Solver asked) {
  const bool smooth = examples.game().smooth();
  if (asked == Solver::automatic) {
    if (smooth) return Solver::newton;
    asked = few_parameters(examples) ? Solver::interior : Solver::dual_ascent;
  }
  if (asked == Solver::dual_ascent && examples.free_bias()) {
    fail_input("dual ascent, the solver for many parameters, needs a bias that is penalised");
  }
  if ((smooth && asked == Solver::dual_ascent) || (!smooth && asked == Solver::newton)) {
    fail_input(
        "this solver does not fit the {} loss: newton is for the log loss, dual ascent for the "
        "others",
        examples.game().name());
  }
  return asked;
}

RowMatrix as_matrix(std::span<const double> weights, const Examples& examples) {
  const auto expected = static_cast<std::size_t>(examples.dims()) * examples.labels();
  if (weights.size() != expected) {
    fail_input("{} weights, but the problem has {} ({} features with the bias, {} classes)",
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
        "an adversary of {} numbers to start from, but {} examples have weight and {} classes",
        adversary.size(), examples.size(), k);
  }
  for (std::size_t i = 0; i < examples.size(); ++i) {
    double sum = 0;
    bool good = true;
    for (const double q : adversary.subspan(i * k, k)) {
      good = good && q >= 0;
      sum += q;
    }
    if (!good || !(std::abs(sum - 1) <= 1e-9)) {
      fail_input("the adversary to start from has no distribution for example {}",
                 examples.row(i) + 1);
    }
  }
}

}  // namespace

std::string_view to_string(Status status) {
  switch (status) {
    case Status::converged:
      return "converged";
    case Status::iteration_limit:
      return "iteration_limit";
    case Status::time_limit:
      return "time_limit";
    case Status::stopped:
      return "stopped";
    case Status::non_finite:
      return "non_finite";
  }
  return "unknown";
}

Solution solve(const Problem& problem, const SolveOptions& options) {
  const TeamScope team;
  check_settings(problem);
  if (!options.features_checked) check_features(problem.features, options.threads);
  if (!(options.tolerance > 0)) {
    fail_input("the tolerance must be a positive number, not {}", options.tolerance);
  }
  const Examples examples(problem, options.threads, options.reducer);
  if (!options.start.empty()) as_matrix(options.start, examples);
  if (!options.start_adversary.empty()) check_adversary(options.start_adversary, examples);
  switch (choose(examples, options.solver)) {
    case Solver::interior:
      return solve_interior(examples, options);
    case Solver::dual_ascent:
      return solve_dual_ascent(examples, options);
    default:
      break;
  }
  // Potentials that saturate (ratios of e^10) stall Newton's method, but not the interior point
  // method, which takes over where it can.
  const bool relief = options.solver == Solver::automatic && options.max_iterations == 0 &&
                      few_parameters(examples);
  SolveOptions first = options;
  if (relief && cheap_steps(examples)) first.max_iterations = 20;
  Solution solution = solve_newton(examples, first);
  if (relief && solution.status == Status::iteration_limit) {
    first = options;
    first.start = solution.weights;
    return solve_interior(examples, first);
  }
  return solution;
}

Evaluation evaluate(const Problem& problem, std::span<const double> weights, int threads) {
  check(problem, threads);
  const Examples examples(problem, threads, nullptr);
  const RowMatrix t = as_matrix(weights, examples);
  RowMatrix a;
  // The adversaries are judged like any others, in case that a linear program left them inexact.
  std::vector<double> q(examples.size() * static_cast<std::size_t>(examples.labels()));
  examples.pass(t, a, nullptr, keep_rows(examples.labels(), nullptr, q.data()));
  const PassTotals totals = examples.pass(t, a, q.data());
  const Bounds certificate = Certifier(examples)(totals, t, a);
  const RowMatrix gradient = examples.ridge().asDiagonal() * t - a;
  return {certificate.objective, certificate.dual, certificate.gap,
          std::vector<double>(gradient.data(), gradient.data() + gradient.size())};
}

}  // namespace covshift
