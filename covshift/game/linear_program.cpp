#include "covshift/game/linear_program.hpp"

#if defined(COVSHIFT_LP)
#include <ClpSimplex.hpp>
#include <CoinPackedMatrix.hpp>
#endif
#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "covshift/base/error.hpp"
#include "covshift/base/names.hpp"

namespace covshift {
#if defined(COVSHIFT_LP)
namespace {

void normalize(std::span<double> x) {
  double sum = 0;
  for (double& v : x) {
    v = std::max(v, 0.0);
    sum += v;
  }
  for (double& v : x) v /= sum;
}

}  // namespace

struct GameProgram::Model {
  ClpSimplex clp;
  // Costs are scaled to [0, 1], since the tolerances of the solver are absolute.
  double low = 0;
  double range = 1;
  std::vector<double> cost;  // (C - low) / range
};

GameProgram::GameProgram(const CostMatrix& costs)
    : costs_(costs), model_(std::make_unique<Model>()) {
  const int k = costs.labels;
  const int a = costs.actions;
  ClpSimplex& clp = model_->clp;
  clp.setLogLevel(0);
  const auto [low, high] = std::minmax_element(costs.cost.begin(), costs.cost.end());
  model_->low = *low;
  if (*high > *low) model_->range = *high - *low;
  model_->cost = costs.cost;
  for (double& c : model_->cost) c = (c - *low) / model_->range;
  // Columns: p_1..p_A, v. Rows: one for each label, C_.y' p - v <= -psi_y; then 1'p = 1.
  CoinPackedMatrix matrix(true, 0, 0);
  matrix.setDimensions(k + 1, 0);
  std::vector<int> rows(k + 1);
  std::vector<double> values(k + 1);
  for (int y = 0; y <= k; ++y) rows[y] = y;
  for (int action = 0; action < a; ++action) {
    for (int y = 0; y < k; ++y) values[y] = model_->cost[static_cast<std::size_t>(action) * k + y];
    values[k] = 1;
    matrix.appendCol(k + 1, rows.data(), values.data());
  }
  std::fill(values.begin(), values.end() - 1, -1.0);
  matrix.appendCol(k, rows.data(), values.data());
  const double inf = COIN_DBL_MAX;
  std::vector<double> lower(a + 1, 0.0);
  std::vector<double> upper(a + 1, inf);
  std::vector<double> objective(a + 1, 0.0);
  lower[a] = -inf;
  objective[a] = 1;
  std::vector<double> row_lower(k + 1, -inf);
  std::vector<double> row_upper(k + 1, 0.0);
  row_lower[k] = row_upper[k] = 1;
  clp.loadProblem(matrix, lower.data(), upper.data(), objective.data(), row_lower.data(),
                  row_upper.data());
  clp.setPrimalTolerance(1e-10);
  clp.setDualTolerance(1e-10);
  clp.setPerturbation(100);  // off: perturbed bounds would cost accuracy
}

GameProgram::~GameProgram() = default;

void GameProgram::restart() { model_->clp.allSlackBasis(true); }

double GameProgram::solve(std::span<const double> psi, std::span<double> p, std::span<double> q) {
  ClpSimplex& clp = model_->clp;
  const int k = costs_.labels;
  const int a = costs_.actions;
  const double top = *std::max_element(psi.begin(), psi.end());
  const double range = model_->range;
  std::vector<double> below(k);
  for (int y = 0; y < k; ++y) {
    if (std::isnan(psi[y]) || !std::isfinite(top)) {
      throw Error(
          Error::Kind::numeric,
          fmt::format("the potential of label {} is {}; a game needs finite ones", y, psi[y]));
    }
    below[y] = (top - psi[y]) / range;
    // A label further below the top than the range of the costs is never played.
    clp.setRowUpper(y, std::min(below[y], 3.0));
  }
  const std::vector<double>& cost = model_->cost;
  double best_gap = std::numeric_limits<double>::infinity();
  double value = 0;
  for (int attempt = 0; attempt < 3 && best_gap > 1e-11; ++attempt) {
    if (attempt == 0) clp.dual();
    if (attempt == 1) clp.primal();
    if (attempt == 2) {
      clp.allSlackBasis();
      clp.dual();
    }
    std::vector<double> p_try(clp.primalColumnSolution(), clp.primalColumnSolution() + a);
    std::vector<double> q_try(k);
    for (int y = 0; y < k; ++y) q_try[y] = -clp.dualRowSolution()[y];
    normalize(p_try);
    normalize(q_try);
    // What each player guarantees; the value lies between.
    double upper = -std::numeric_limits<double>::infinity();
    for (int y = 0; y < k; ++y) {
      double paid = -below[y];
      for (int i = 0; i < a; ++i) paid += p_try[i] * cost[static_cast<std::size_t>(i) * k + y];
      upper = std::max(upper, paid);
    }
    double lower = std::numeric_limits<double>::infinity();
    for (int i = 0; i < a; ++i) {
      double risk = 0;
      for (int y = 0; y < k; ++y) {
        if (q_try[y] > 0) risk += q_try[y] * (cost[static_cast<std::size_t>(i) * k + y] - below[y]);
      }
      lower = std::min(lower, risk);
    }
    if (upper - lower < best_gap) {
      best_gap = upper - lower;
      value = upper;
      std::copy(p_try.begin(), p_try.end(), p.begin());
      std::copy(q_try.begin(), q_try.end(), q.begin());
    }
  }
  if (!(best_gap <= 1e-9)) {
    throw Error(Error::Kind::numeric,
                fmt::format("the linear program of a {} x {} game did not reach an equilibrium "
                            "(players {} apart); are the costs of very different magnitudes?",
                            a, k, best_gap * range));
  }
  return top + (model_->low + range * value);
}

#else

struct GameProgram::Model {};

GameProgram::GameProgram(const CostMatrix& costs) : costs_(costs) {
  fail_input(
      "this build cannot solve games of cost matrices: it lacks the linear programs (Clp); use a "
      "loss with a closed form: {}",
      listed(loss_names()));
}

GameProgram::~GameProgram() = default;

void GameProgram::restart() {}

double GameProgram::solve(std::span<const double> /*psi*/, std::span<double> /*p*/,
                          std::span<double> /*q*/) {
  return 0;
}

#endif
}  // namespace covshift
