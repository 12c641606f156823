#include "covshift/learn/rules.hpp"

#include <algorithm>
#include <array>

#include "covshift/base/error.hpp"
#include "covshift/learn/low_rank.hpp"

namespace covshift {

ProblemSize::ProblemSize(const Examples& examples)
    : columns(examples.dims()),
      parameters(columns * (examples.labels() - 1)),
      dense(!examples.sparse()),
      curvature_known(examples.curvature_known()) {
  rows = sum_over(&examples.reducer(), static_cast<double>(examples.size()));
}

std::size_t ProblemSize::sample_rows() const {
  return static_cast<std::size_t>(std::max(rows / 32, 8 * parameters));
}

const SolverRow& choose_solver(const Examples& examples, Solver asked) {
  const auto fits = [&](const SolverRow& row) {
    return examples.game().smooth() ? row.log_loss : row.piecewise_linear;
  };
  const double parameters = ProblemSize(examples).parameters;
  const auto row = std::find_if(solver_table.begin(), solver_table.end(), [&](const SolverRow& r) {
    return asked == Solver::automatic ? fits(r) && parameters <= r.most_parameters
                                      : asked == r.solver;
  });
  if (row == solver_table.end()) fail_input("no solver fits the {} loss", examples.game().name());
  if (!row->free_bias && examples.free_bias()) {
    fail_input("{}, the solver for many parameters, needs a bias that is penalised", row->name);
  }
  if (!fits(*row)) {
    fail_input("the solver '{}' does not fit the {} loss", row->name, examples.game().name());
  }
  return *row;
}

Preconditioning choose_preconditioning(const ProblemSize& size, bool may_sample) {
  const bool many_rows = 4 * static_cast<double>(size.sample_rows()) <= size.rows &&
                         size.rows * size.parameters * size.parameters > 2e8;
  if (size.curvature_known) return Preconditioning::at_zero;
  // Vectors of the low-rank approximation cost a few products with the Hessian, and save many.
  constexpr double long_rows = 8 * static_cast<double>(LowRank::vectors);
  if (may_sample && size.parameters <= 600 && many_rows) {
    return Preconditioning::sample;
  }
  if (size.cheap_factors()) return Preconditioning::at_zero;
  if (size.dense && size.columns >= long_rows && size.rows >= long_rows) {
    return Preconditioning::low_rank;
  }
  return Preconditioning::diagonal;
}

std::size_t products_limit(const ProblemSize& size, Preconditioning preconditioning) {
  if (preconditioning != Preconditioning::at_zero) return 500;
  return static_cast<std::size_t>(std::max(10.0, size.parameters / 8));
}

int newton_steps_before_interior(const ProblemSize& size, const SolveOptions& options) {
  const bool free_choice = options.solver == Solver::automatic && options.max_iterations == 0;
  if (!free_choice || size.parameters > few_parameters) return 0;
  return size.cheap_factors() ? 20 : 500;
}

bool start_from_log_loss(const Examples& examples) {
  const Examples& e = examples;
  if (e.game().smooth()) return false;
  std::array<double, 3> sums{0, 0, static_cast<double>(e.size())};
  std::array<double, 2> largest{};
  for (std::size_t i = 0; i < e.size(); ++i) {
    const std::array<double, 2> own{e.c()[i], e.r(i)};
    for (std::size_t j = 0; j < own.size(); ++j) {
      sums[j] += own[j];
      largest[j] = std::max(largest[j], own[j]);
    }
  }
  e.reducer().sum(sums);
  e.reducer().max(largest);
  return largest[0] * sums[2] <= 10 * sums[0] && largest[1] * sums[2] <= 10 * sums[1];
}

double linear_share(const Game& game) {
  // Log loss is quadratic beside its linear part: relative to a |x|, the error is as large as this.
  return game.smooth() ? 1e-7 : 1e-4;
}

bool start_from_sample(const Game& game) { return game.smooth(); }

}  // namespace covshift
