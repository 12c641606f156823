#include "covshift/model/certificate.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

#include "covshift/base/error.hpp"
#include "covshift/learn/examples.hpp"
#include "covshift/model/classifier.hpp"

namespace covshift {
namespace {

/// 1/m sum_i w_i psi_i[y_i], the training statistics that the adversary must match.
double matched_statistics(std::span<const double> weights, const Problem& problem) {
  const Examples examples(problem, 1, nullptr);
  const auto k = static_cast<std::size_t>(examples.labels());
  std::vector<double> rows(examples.size() * k, 0.0);
  for (std::size_t i = 0; i < examples.size(); ++i) {
    rows[i * k + examples.label()[i]] = examples.a()[i];
  }
  RowMatrix statistics;
  examples.collect(rows.data(), statistics);
  double sum = 0;
  for (std::size_t j = 0; j < weights.size(); ++j) sum += weights[j] * statistics.data()[j];
  return sum;
}

double mean_weight(const Problem& problem) {
  double sum = 0;
  double count = 0;
  for (std::size_t i = 0; i < problem.log_weight.size(); ++i) {
    const double n = problem.sample_weight.empty() ? 1 : problem.sample_weight[i];
    sum += n * std::exp(problem.log_weight[i]);
    count += n;
  }
  return sum / count;
}

double squared_norm(std::span<const double> x) {
  double sum = 0;
  for (const double v : x) sum += v * v;
  return sum;
}

}  // namespace

Certificate certificate_of(const Game& game, const Component& component, const TrainingData& data,
                           const Problem& problem, const Solution& solution, double delta) {
  if (!(delta > 0 && delta < 1)) fail_input("delta must lie in (0, 1), not {}", delta);
  Certificate c;
  c.game_value = solution.objective;
  c.gap = solution.gap;
  c.delta = delta;
  // Theorem on m and n: n features phi(x, y), strong convexity 2 lambda of lambda ||T||^2. The
  // unsquared norm is not strongly convex; its solution is that of a squared penalty, which is. For
  // T = 0 that has no end, and there is nothing left to learn.
  const double n = static_cast<double>(component.weights.size());
  const auto& count = data.sample_weight;  // a weight of 2 is the row twice
  const double m = count.empty() ? static_cast<double>(data.features.rows)
                                 : std::accumulate(count.begin(), count.end(), 0.0);
  const bool squared = problem.penalty == Penalty::squared;
  const double lambda = squared ? component.lambda : solution.squared_lambda;
  c.finite_sample = lambda > 0 ? n * std::log(2 * n / delta) / (4 * (2 * lambda) * m) : 0;
  if (data.target == nullptr || !component.shift.weighted()) return c;

  // The paper's objective with its expectation over the target taken over the target sample,
  // E_target[V(psi(x))] - E_train[w psi[y]] + lambda ||T||^2.
  const auto k = static_cast<std::size_t>(game.labels());
  if (game.label_costs())
    return c;  // the hinge is not a loss of a distribution: no game on the target
  const std::vector<double> psi =
      component.potentials(*data.target, data.given_target, game.labels(), 0);
  std::vector<double> q(k);
  double value = 0;
  double risk = 0;
  const int no_label = 0;
  for (std::size_t i = 0; i < data.target->rows; ++i) {
    double v = 0;
    game.play(1, psi.data() + i * k, &no_label, &v, q.data());
    value += v;
    risk += game.bayes_risk(q, no_label);
  }
  const auto rows = static_cast<double>(data.target->rows);
  c.target_risk = risk / rows;
  const double norm2 = squared_norm(component.weights);
  const double penalty = component.lambda * (squared ? norm2 : std::sqrt(norm2));
  c.target_value = value / rows - matched_statistics(component.weights, problem) + penalty;
  // At the optimum F is the adversary's risk less ||A||^2 / (4 lambda) = lambda ||T||^2, or the
  // risk itself with the unsquared norm.
  const double mismatch = std::abs(*c.target_value + (squared ? penalty : 0) - *c.target_risk);
  c.mean_weight = mean_weight(problem);
  c.reliable = c.mean_weight > 0.5 && c.mean_weight < 2 && mismatch < 0.25 * *c.target_risk;
  return c;
}

std::string describe(const Certificate& c, const std::string& loss) {
  if (!c.target_value) {
    return fmt::format(
        "Promised: the training problem is solved to within {:.2g} of its optimum {:.4g}; nothing "
        "is "
        "promised about data that differ from the training data.",
        c.gap, c.game_value);
  }
  if (!c.reliable) {
    return fmt::format(
        "Promised: the training problem is solved to within {:.2g} of its optimum. Not promised: a "
        "bound on the target. The samples contradict the density ratio (training weights average "
        "{:.2g} where they should average 1; value {:.4g} on the target sample against a risk of "
        "{:.4g}), so the target has regions the training data do not support: collect labels "
        "there, or generalize less.",
        c.gap, c.mean_weight, *c.target_value, *c.target_risk);
  }
  return fmt::format(
      "Promised: the training problem is solved to within {:.2g} of its optimum. Estimated, not "
      "promised: if P(y|x) is the same in training and target and the density ratio is right, no "
      "labelling of the target that matches the training statistics makes the expected {} loss of "
      "these predictions exceed about {:.4g}. This makes no allowance for the noise of the "
      "samples: "
      "in simulations with the exact ratio the true loss was above it in one case of four. "
      "`covshift estimate` gives an interval that holds, from labelled rows the model has not "
      "seen. "
      "Not promised: anything about single rows, a shift in P(y|x), or errors of the density "
      "ratio.",
      c.gap, loss, std::max({0.0, *c.target_value, *c.target_risk}));
}

}  // namespace covshift
