#include "covshift/select/cross_validation.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <mutex>
#include <numeric>

#include "covshift/base/error.hpp"
#include "covshift/base/threads.hpp"
#include "covshift/data/rows.hpp"
#include "covshift/learn/examples.hpp"

namespace covshift {
namespace {

/// Potentials of the rows of fold f at weights T, written to their places.
void held_out_psi(const Problem& problem, const std::vector<int>& fold, int f,
                  const std::vector<double>& weights, double* psi) {
  std::vector<std::size_t> own;
  for (std::size_t i = 0; i < fold.size(); ++i) {
    if (fold[i] == f) own.push_back(i);
  }
  const ScaledRows rows(problem, problem.game->labels(), 1, std::move(own));
  const auto k = static_cast<std::size_t>(rows.labels());
  std::vector<double> found(rows.size() * k);
  rows.potentials(Eigen::Map<const RowMatrix>(weights.data(), rows.dims(), rows.labels()),
                  found.data());
  for (std::size_t i = 0; i < rows.size(); ++i) {
    std::copy_n(found.data() + i * k, k, psi + rows.row(i) * k);
  }
}

std::vector<int> checked_folds(const Problem& problem, const CrossValidation& options) {
  Problem sound = problem;
  sound.lambda = 1;  // the problem's own is not used
  check_settings(sound);
  std::vector<int> fold = stratified_folds(problem.features, problem.labels, problem.sample_weight,
                                           options.folds, options.seed);
  const auto counted = static_cast<std::size_t>(
      std::count_if(fold.begin(), fold.end(), [](int f) { return f >= 0; }));
  if (options.folds < 2 || static_cast<std::size_t>(options.folds) > counted) {
    fail_input("{} folds for {} examples; choose between 2 and the number of examples",
               options.folds, counted);
  }
  return fold;
}

/// The sample weights of the problem without fold f.
std::vector<double> weights_without(const Problem& problem, const std::vector<int>& fold, int f) {
  std::vector<double> weight(fold.size(), 0.0);
  for (std::size_t i = 0; i < fold.size(); ++i) {
    if (fold[i] < 0 || fold[i] == f) continue;
    weight[i] = problem.sample_weight.empty() ? 1 : problem.sample_weight[i];
  }
  return weight;
}

/// The problem without fold f, at its lambda; throws if stopped.
Solution solve_without(const Problem& problem, const SolveOptions& options) {
  Solution solution = solve(Examples(problem, options.threads), options);
  if (solution.status == Status::stopped) throw Error(Error::Kind::stopped, "stopped");
  return solution;
}

SolveOptions fold_options(const CrossValidation& options) {
  SolveOptions solve_options = options.solve;
  solve_options.threads = 1;
  solve_options.seed = options.seed;
  solve_options.observer = [&options](const Progress&) {
    return !options.cancelled || !options.cancelled();
  };
  return solve_options;
}

}  // namespace

std::vector<int> stratified_folds(const MatrixView& features, std::span<const int> labels,
                                  std::span<const double> sample_weight, int folds,
                                  unsigned long long seed) {
  const Rows rows(features, {});
  std::vector<std::size_t> original(rows.size());
  std::iota(original.begin(), original.end(), 0);
  for (const Copy& copy : copies(rows, sample_weight, labels)) original[copy.row] = copy.of;
  std::vector<std::size_t> order = row_order(rows, sample_weight, seed);
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return labels[a] < labels[b]; });
  std::vector<int> fold(labels.size(), -1);
  int next = 0;
  for (const std::size_t i : order) {
    if (fold[original[i]] < 0) {
      fold[original[i]] = next;
      next = (next + 1) % folds;
    }
    fold[i] = fold[original[i]];
  }
  return fold;
}

std::vector<CrossValidated> cross_validate(const Problem& problem, const CrossValidation& options) {
  const std::size_t m = problem.features.rows;
  if (!options.log_importance.empty() && options.log_importance.size() != m) {
    fail_input("{} importance weights for {} examples", options.log_importance.size(), m);
  }
  if (options.lambdas.empty()) fail_input("cross validation needs at least one lambda to try");
  const StopScope scope(options.cancelled);
  const std::vector<int> fold = checked_folds(problem, options);
  std::vector<double> lambdas = options.lambdas;
  std::sort(lambdas.begin(), lambdas.end(), std::greater<>());

  std::mutex mutex;
  double done = 0;
  // losses[l * m + i]: of example i, held out, at lambda l.
  std::vector<double> losses(lambdas.size() * m, 0.0);
  parallel_tasks(options.threads, static_cast<std::size_t>(options.folds), [&](std::size_t f) {
    const auto own = static_cast<int>(f);
    const std::vector<double> weight = weights_without(problem, fold, own);
    Problem training = problem;
    training.sample_weight = weight;
    SolveOptions solve_options = fold_options(options);
    const auto k = static_cast<std::size_t>(problem.game->labels());
    std::vector<double> psi(m * k);
    Solution solution;
    for (std::size_t l = 0; l < lambdas.size(); ++l) {
      training.lambda = lambdas[l];
      solve_options.start = solution.weights;
      solve_options.start_adversary = solution.adversary;
      solution = solve_without(training, solve_options);
      held_out_psi(problem, fold, own, solution.weights, psi.data());
      for (std::size_t i = 0; i < m; ++i) {
        if (fold[i] != own) continue;
        losses[l * m + i] = problem.game->loss_at({psi.data() + i * k, k}, problem.labels[i]);
      }
      const std::lock_guard lock(mutex);
      ++done;
      if (options.progress) {
        options.progress(done / static_cast<double>(lambdas.size() * options.folds));
      }
    }
  });

  std::vector<CrossValidated> points;
  for (std::size_t l = 0; l < lambdas.size(); ++l) {
    double total = 0;
    double sum = 0;
    double squares = 0;
    for (std::size_t i = 0; i < m; ++i) {
      if (fold[i] < 0) continue;
      const double count = problem.sample_weight.empty() ? 1 : problem.sample_weight[i];
      const double w = options.log_importance.empty() ? 1 : std::exp(options.log_importance[i]);
      const double loss = w * losses[l * m + i];
      total += count;
      sum += count * loss;
      squares += count * loss * loss;
    }
    const double mean = sum / total;
    const double variance = std::max(0.0, squares / total - mean * mean);
    points.push_back({lambdas[l], mean, std::sqrt(variance / total)});
  }
  return points;
}

std::vector<double> held_out_potentials(const Problem& problem, const CrossValidation& options) {
  const StopScope scope(options.cancelled);
  const std::vector<int> fold = checked_folds(problem, options);
  const auto k = static_cast<std::size_t>(problem.game->labels());
  std::vector<double> psi(problem.features.rows * k, 0.0);
  parallel_tasks(options.threads, static_cast<std::size_t>(options.folds), [&](std::size_t f) {
    const std::vector<double> weight = weights_without(problem, fold, static_cast<int>(f));
    Problem training = problem;
    training.sample_weight = weight;
    const Solution solution = solve_without(training, fold_options(options));
    held_out_psi(problem, fold, static_cast<int>(f), solution.weights, psi.data());
  });
  return psi;
}

const CrossValidated& best(std::span<const CrossValidated> points) {
  const CrossValidated* chosen = points.data();
  for (const CrossValidated& point : points) {
    if (point.loss < chosen->loss ||
        (point.loss == chosen->loss && point.lambda > chosen->lambda)) {
      chosen = &point;
    }
  }
  return *chosen;
}

}  // namespace covshift
