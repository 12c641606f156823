#include "covshift/model/certificate.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <numeric>
#include <vector>

#include "covshift/base/error.hpp"
#include "covshift/base/lists.hpp"
#include "covshift/data/rows.hpp"
#include "covshift/learn/examples.hpp"
#include "covshift/model/classifier.hpp"
#include "covshift/model/unseen.hpp"
#include "covshift/promise/bound.hpp"

namespace covshift {
namespace {

/// 1/m sum_i w_i psi_i[y_i], the training statistics that the adversary must match.
double matched_statistics(std::span<const double> weights, const Problem& problem,
                          const SolveOptions& options) {
  const Examples examples(problem, options.threads, options.reducer);
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

double mean_weight(const Problem& problem, const Reducer* reducer) {
  std::array<double, 2> sums{};
  for (std::size_t i = 0; i < problem.log_weight.size(); ++i) {
    const double n = problem.sample_weight.empty() ? 1 : problem.sample_weight[i];
    sums[0] += n * std::exp(problem.log_weight[i]);
    sums[1] += n;
  }
  sum_over(reducer, sums);
  return sums[0] / sums[1];
}

double squared_norm(std::span<const double> x) {
  double sum = 0;
  for (const double v : x) sum += v * v;
  return sum;
}

}  // namespace

Certificate certificate_of(const Game& game, const Component& component, const TrainingData& data,
                           const Problem& problem, const Solution& solution,
                           const FitOptions& options) {
  const double delta = options.delta;
  const Reducer* const reducer = options.solve.reducer;
  FitOptions::deltas.check("delta", delta);
  Certificate c;
  c.game_value = solution.objective;
  c.gap = solution.gap;
  c.delta = delta;
  // Theorem on m and n: n features phi(x, y), strong convexity 2 lambda of lambda ||T||^2. The
  // unsquared norm is not strongly convex; its solution is that of a squared penalty, which is. For
  // T = 0 that has no end, and there is nothing left to learn.
  const double n = static_cast<double>(component.weights.size());
  const auto& count = data.sample_weight;  // a weight of 2 is the row twice
  const double m =
      sum_over(reducer, count.empty() ? static_cast<double>(data.features.rows)
                                      : std::accumulate(count.begin(), count.end(), 0.0));
  const bool squared = problem.penalty == Penalty::squared;
  const double lambda = squared ? component.lambda : solution.squared_lambda;
  c.finite_sample = lambda > 0 ? n * std::log(2 * n / delta) / (4 * (2 * lambda) * m) : 0;
  if (data.target == nullptr || !component.shift.weighted()) return c;

  // The paper's objective with its expectation over the target taken over the target sample,
  // E_target[V(psi(x))] - E_train[w psi[y]] + lambda ||T||^2.
  const auto k = static_cast<std::size_t>(game.labels());
  if (game.label_costs())
    return c;  // the hinge is not a loss of a distribution: no game on the target
  begin_pass(reducer);
  const std::vector<double> psi =
      component.potentials(*data.target, data.given_target, game.labels(), options.solve.threads);
  std::vector<double> q(k);
  std::array<double, 3> sums{0, 0, static_cast<double>(data.target->rows)};
  const int no_label = 0;
  for (std::size_t i = 0; i < data.target->rows; ++i) {
    double v = 0;
    game.play(1, psi.data() + i * k, &no_label, &v, q.data());
    sums[0] += v;
    sums[1] += game.bayes_risk(q, no_label);
  }
  sum_over(reducer, sums);
  const auto [value, risk, rows] = sums;
  c.target_risk = risk / rows;
  const double norm2 = squared_norm(component.weights);
  const double penalty = component.lambda * (squared ? norm2 : std::sqrt(norm2));
  // No loss is below 0; the difference of two noisy means may be.
  c.target_value = std::max(
      0.0, value / rows - matched_statistics(component.weights, problem, options.solve) + penalty);
  c.mean_weight = mean_weight(problem, reducer);
  return c;
}

namespace {

constexpr const char* no_target = "the fit used no target";

/// Losses and guesses at them, of rows with potentials psi. Without labels: the losses of the class
/// that is least likely.
struct Losses {
  Losses(const Game& game, std::span<const double> psi, std::span<const int> labels) {
    const auto k = static_cast<std::size_t>(game.labels());
    std::vector<double> q(k);
    const int no_label = 0;
    for (std::size_t i = 0; i * k < psi.size(); ++i) {
      const std::span<const double> row = psi.subspan(i * k, k);
      const auto least = std::min_element(row.begin(), row.end()) - row.begin();
      loss.push_back(game.loss_at(row, labels.empty() ? static_cast<int>(least) : labels[i]));
      // What the adversary, who knows the statistics only, expects of the loss; the hinge's costs
      // are those of a known label.
      double value = 0;
      if (!game.label_costs()) game.play(1, row.data(), &no_label, &value, q.data());
      guess.push_back(game.label_costs() ? 0 : game.bayes_risk(q, no_label));
    }
  }
  std::vector<double> loss, guess;
};

/// Why nothing can be said before anything is computed; empty: something may.
std::string impossible(std::size_t rows, const MatrixView* target, const Shift& shift,
                       bool class_costs) {
  // A method that ignores the shift does not see the target either.
  const bool seen = shift.estimated() || shift.needs_given_ratio();
  if (target == nullptr || !seen) return no_target;
  if (target->rows < 2) return "the target has one row";
  if (class_costs) {
    return "the sample weights have factors of classes, which say what errors cost, not how often "
           "rows "
           "occur; fit without them for a bound";
  }
  if (rows < 10) return fmt::format("{} labelled rows are too few to leave some out", rows);
  return "";
}

}  // namespace

bool weighs_classes(std::span<const int> labels, std::span<const double> weight) {
  std::map<int, double> of_class;
  for (std::size_t i = 0; i < weight.size(); ++i) {
    if (weight[i] == 0) continue;
    const double own = of_class.try_emplace(labels[i], weight[i]).first->second;
    if (std::abs(weight[i] - own) > 1e-9 * own) return false;
  }
  return std::any_of(of_class.begin(), of_class.end(), [&](const auto& c) {
    return std::abs(c.second - of_class.begin()->second) > 1e-9 * c.second;
  });
}

namespace {

/// Potentials of rows by fits that have not seen them, and the ratio of these rows.
struct HeldOutRows {
  JudgedRows rows;
  std::span<const int> labels;
  std::span<const double> psi, target_psi;
  HeldOutRatio ratio;
};

/// The hinge stands for the share of wrong answers, which is the loss that is promised.
double uninformed_loss(const Game& game) {
  if (game.label_costs()) return 1 - 1.0 / game.labels();
  const std::vector<double> psi(static_cast<std::size_t>(game.labels()), 0.0);
  std::vector<double> q(psi.size());
  double value = 0;
  const int label = 0;
  game.play(1, psi.data(), &label, &value, q.data());
  return value;
}

void add_bound(HeldOutRows held_out, const Game& game, Certificate& c) {
  c.held_out = held_out.rows.features.rows;
  const Losses own(game, held_out.psi, held_out.labels);
  const Losses there(game, held_out.target_psi, {});
  if (!all_finite(own.loss) || !all_finite(there.loss)) {
    c.reason = "the model gives probability 0 to a class of a held-out or target row";
    return;
  }
  BoundData bound;
  bound.loss = own.loss;
  bound.guess = own.guess;
  bound.target_guess = there.guess;
  bound.worst = there.loss;
  bound.rows = held_out.rows;
  bound.ratio = std::move(held_out.ratio);
  const LossBound found = bound_loss(bound, c.delta);
  c.effective_sample_size = found.evidence.effective_sample_size;
  c.mean_weight = found.evidence.mean_weight;
  c.ratio_p_value = found.ratio_p_value;
  c.quadratic = found.quadratic;
  c.reason = found.evidence.cannot_tell;
  if (c.reason.empty() && c.ratio_p_value < ratio_level) {
    c.reason = fmt::format(
        "the weighted training rows differ from the target (p = {:.2g}): the density ratio misses "
        "a part of the shift; another one may not (--ratio auto)",
        c.ratio_p_value);
  }
  c.reliable = c.reason.empty();
  if (!c.reliable) return;
  c.estimate = found.value;
  c.bound = found.bound;
}

/// The options of the ratio if it is linear and estimated, with its columns; null otherwise.
const RatioOptions* linear(const Shift& shift, RatioOptions& options) {
  if (!shift.estimated() || shift.joint()->method() != RatioMethod::logistic) return nullptr;
  options.columns = shift.joint()->columns();
  return &options;
}

/// A ratio of 1 has no noise of its own.
bool has_noise(const Shift& shift) {
  return shift.estimated() && shift.joint()->method() != RatioMethod::none;
}

}  // namespace

void add_bound(const Unseen& unseen, const TrainingData& data, const Game& game, const Shift& shift,
               const FitOptions& options, Certificate& c) {
  c.uninformed = uninformed_loss(game);
  c.reason = impossible(unseen.train().size(), data.target, shift,
                        options.class_costs || data.class_costs);
  if (!c.reason.empty()) return;
  const std::vector<int> labels = take(data.labels, unseen.train());
  const std::vector<double> count = take(data.sample_weight, unseen.train());
  const Matrix train = take_rows(data.features, unseen.train());
  const Matrix target = take_rows(*data.target, unseen.target());
  RatioOptions ratio = options.shift.ratio;
  ratio.seed = options.solve.seed;
  ratio.threads = options.solve.threads;
  HeldOutRows held_out;
  held_out.rows = {train.view(), target.view(),       count, data.unlike, has_noise(shift),
                   ratio.seed,   linear(shift, ratio)};
  held_out.labels = labels;
  held_out.psi = unseen.psi();
  held_out.target_psi = unseen.target_psi();
  if (shift.estimated()) {
    held_out.ratio = held_out_ratio(ratio, *shift.joint(), Tuning::likeliest,
                                    held_out.rows.features, held_out.rows.target, count);
  } else {
    held_out.ratio.train = take(data.given_train.log_ratio, unseen.train());
    held_out.ratio.target = take(data.given_target.log_ratio, unseen.target());
  }
  add_bound(std::move(held_out), game, c);
}

void add_bound(const TrainingData& held_out, const Classifier& model, const FitOptions& options,
               Certificate& c) {
  const Game& game = model.game();
  const Shift& shift = model.shift();
  c.uninformed = uninformed_loss(game);
  c.reason =
      impossible(held_out.features.rows, held_out.target, shift,
                 options.class_costs || weighs_classes(held_out.labels, held_out.sample_weight));
  if (!c.reason.empty()) return;
  const int threads = options.solve.threads;
  const std::vector<double> psi =
      model.potentials(held_out.features, held_out.given_train, threads);
  const std::vector<double> target_psi =
      model.potentials(*held_out.target, held_out.given_target, threads);
  HeldOutRows rows;
  rows.rows = {held_out.features, *held_out.target, held_out.sample_weight,
               held_out.unlike,   has_noise(shift), options.solve.seed};
  rows.labels = held_out.labels;
  rows.psi = psi;
  rows.target_psi = target_psi;
  rows.ratio = {shift.at(held_out.features, held_out.given_train, threads).log_ratio,
                shift.at(*held_out.target, held_out.given_target, threads).log_ratio,
                shift.estimated() ? shift.joint()->bound().weight : RatioBound{}.weight};
  add_bound(std::move(rows), game, c);
}

std::string doubt_about_sets(const Certificate& c, double alpha) {
  if (c.reason.empty() && !c.quadratic) return "";
  return fmt::format(
      "on the target the prediction sets may hold the true class in less than {:.4g}% of the rows: "
      "{}",
      100 * (1 - alpha),
      c.quadratic ? "the model's density ratio misses a part of the shift; fit it with --ratio "
                    "quadratic"
                  : c.reason);
}

std::string percent_that_holds(double delta) {
  const int digits = 3 + static_cast<int>(std::ceil(-std::log10(delta)));
  return fmt::format("{:.{}g}", 100 * (1 - delta), digits);
}

std::string describe(const Certificate& c, const Game& game) {
  const std::string solved = fmt::format(
      "the training problem is solved to within {:.2g} of its optimum {:.4g}", c.gap, c.game_value);
  if (c.reason == no_target) {
    return "Promised: " + solved +
           "; nothing is promised about data that differ from the training data.";
  }
  if (!c.bound) {
    return fmt::format("Promised: {}. Not promised: a bound on the target loss{}{}.", solved,
                       c.reason.empty() ? "" : ": ", c.reason);
  }
  return fmt::format(
      "Promised, with probability {}%: the mean {} loss of these predictions on the target "
      "does not exceed {:.4g}{}{}; about {:.4g} is likely, and guessing costs {:.4g}. This holds "
      "if equal inputs have the same classes in training and target, and the density ratio is "
      "right. Not promised: anything about single rows, or if P(y|x) changes.\nDetails: {} "
      "labelled rows were held out, equivalent to {:.0f} target rows; the samples agree with the "
      "density ratio{} (p = {:.2g}), which cannot be proven right. Proven: {}.",
      percent_that_holds(c.delta), game.predicted_loss(), *c.bound, game.unit(),
      *c.bound > c.uninformed ? " (more than guessing, so this bound says nothing)" : "",
      *c.estimate, c.uninformed, c.held_out, c.effective_sample_size,
      c.quadratic ? ", which for this has squares and products of the columns" : "",
      c.ratio_p_value, solved);
}

}  // namespace covshift
