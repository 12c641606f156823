#include "covshift/select/cross_validation.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <memory>
#include <variant>

#include "covshift/base/error.hpp"
#include "covshift/base/threads.hpp"
#include "covshift/data/rows.hpp"
#include "covshift/learn/leave_one_out.hpp"
#include "covshift/select/folds.hpp"

namespace covshift {
namespace {

/// Writes the potentials of the rows of fold f at weights T into psi.
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

/// The fold of each row that counts; all 0 if rows are left out one by one.
std::vector<int> checked_folds(const Problem& problem, const CrossValidation& options,
                               bool one_by_one) {
  check_settings(problem);
  std::vector<int> fold(options.fold.begin(), options.fold.end());
  if (one_by_one) {
    fold.assign(problem.features.rows, 0);
    for (std::size_t i = 0; i < problem.sample_weight.size(); ++i) {
      if (!(problem.sample_weight[i] > 0)) fold[i] = -1;
    }
  } else if (fold.empty()) {
    fold = stratified_folds(problem.features, problem.labels, problem.sample_weight, options.folds,
                            options.seed);
  }
  const auto counted = static_cast<std::size_t>(
      std::count_if(fold.begin(), fold.end(), [](int f) { return f >= 0; }));
  if (options.folds < 2 || static_cast<std::size_t>(options.folds) > counted) {
    fail_input(
        "cross validation with {} folds needs 2 folds or more and a row for each, but there are {} "
        "rows; use another number of folds (--folds), or fix --lambda",
        options.folds, counted);
  }
  return fold;
}

/// The sample weights with those of fold f set to 0.
std::vector<double> weights_without(const Problem& problem, const std::vector<int>& fold, int f) {
  std::vector<double> weight(fold.size(), 0.0);
  for (std::size_t i = 0; i < fold.size(); ++i) {
    if (fold[i] < 0 || fold[i] == f) continue;
    weight[i] = problem.sample_weight.empty() ? 1 : problem.sample_weight[i];
  }
  return weight;
}

/// A problem without the rows of fold f. Dense rows of moderate size are copied, which costs as
/// much as one pass: every pass over scattered rows would gather them again. `copies`: how many are
/// kept at a time by each thread.
class WithoutFold {
 public:
  WithoutFold(const Problem& all, const std::vector<int>& fold, int f, std::size_t copies = 1)
      : problem_(all), weight_(weights_without(all, fold, f)) {
    problem_.sample_weight = weight_;
    constexpr std::size_t most_numbers = 12'000'000;  // 96 MB for each thread
    const bool dense = std::holds_alternative<DenseRows<double>>(all.features.storage);
    if (!dense || all.features.rows * all.features.cols * copies > most_numbers) return;
    std::vector<std::size_t> rows;
    for (std::size_t i = 0; i < weight_.size(); ++i) {
      if (weight_[i] > 0) rows.push_back(i);
    }
    features_ = take_rows(all.features, rows);
    problem_.features = features_.view();
    const auto own = [&rows](const auto& of, std::size_t each, auto& to) {
      if (of.empty()) return;
      for (const std::size_t i : rows) {
        to.insert(to.end(), of.data() + i * each, of.data() + (i + 1) * each);
      }
    };
    own(all.labels, 1, labels_);
    own(all.log_weight, 1, log_weight_);
    own(all.log_scale, static_cast<std::size_t>(all.scales), log_scale_);
    std::erase(weight_, 0.0);
    problem_.labels = labels_;
    problem_.sample_weight = weight_;
    problem_.log_weight = log_weight_;
    problem_.log_scale = log_scale_;
  }
  WithoutFold(const WithoutFold&) = delete;
  WithoutFold& operator=(const WithoutFold&) = delete;

  [[nodiscard]] const Problem& problem() const { return problem_; }

 private:
  Problem problem_;
  std::vector<double> weight_;
  Matrix features_;
  std::vector<int> labels_;
  std::vector<double> log_weight_, log_scale_;
};

/// Throws Error if stopped.
Solution solve_or_throw(const Examples& examples, const SolveOptions& options) {
  Solution solution = solve(examples, options);
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

/// Potentials of each row, by the fit without it: of all rows, to start the next from, and one
/// step.
void leave_one_out_psi(Examples& examples, const CrossValidation& options, Solution& solution,
                       double* psi) {
  SolveOptions solve_options = fold_options(options);
  solve_options.threads = options.threads;
  const Solution before = std::move(solution);
  solve_options.start = before.weights;
  solution = solve_or_throw(examples, solve_options);
  std::vector<double> at(examples.size() * 2);
  examples.potentials(Eigen::Map<const RowMatrix>(solution.weights.data(), examples.dims(), 2),
                      at.data());
  std::vector<double> odds;
  for (std::size_t i = 0; i < examples.size(); ++i) odds.push_back(at[2 * i + 1] - at[2 * i]);
  odds = leave_one_out(examples, odds);
  if (odds.empty()) {
    throw Error(Error::Kind::numeric,
                fmt::format("the Hessian at lambda {} is singular; choose a larger lambda",
                            examples.lambda()));
  }
  for (std::size_t i = 0; i < examples.size(); ++i) psi[2 * examples.row(i) + 1] = odds[i];
}

/// Fits along a path of lambdas, each started from its last: of all rows with one step for each of
/// them, or without each fold.
class Path {
 public:
  Path(const Problem& problem, const CrossValidation& options, const std::vector<int>& fold,
       bool one_by_one)
      : problem_(problem), options_(options), fold_(fold) {
    if (one_by_one) examples_.push_back(std::make_unique<Examples>(problem, options.threads));
    const auto folds = static_cast<std::size_t>(options.folds);
    for (std::size_t f = 0; f < folds && !one_by_one; ++f) {
      without_.push_back(std::make_unique<WithoutFold>(problem, fold, static_cast<int>(f), folds));
      examples_.push_back(std::make_unique<Examples>(without_[f]->problem(), 1));
    }
    solutions_.resize(examples_.size());
  }

  /// Writes the potentials of every held-out row.
  void potentials(double lambda, double* psi) {
    for (const auto& e : examples_) e->set_lambda(lambda);
    if (without_.empty()) {
      leave_one_out_psi(*examples_[0], options_, solutions_[0], psi);
      return;
    }
    parallel_tasks(options_.threads, solutions_.size(), [&](std::size_t f) {
      SolveOptions solve_options = fold_options(options_);
      const Solution before = std::move(solutions_[f]);
      solve_options.start = before.weights;
      solve_options.start_adversary = before.adversary;
      solutions_[f] = solve_or_throw(*examples_[f], solve_options);
      held_out_psi(problem_, fold_, static_cast<int>(f), solutions_[f].weights, psi);
    });
  }

 private:
  const Problem& problem_;
  const CrossValidation& options_;
  const std::vector<int>& fold_;
  std::vector<std::unique_ptr<WithoutFold>> without_;  // empty: rows are left out one by one
  std::vector<std::unique_ptr<Examples>> examples_;    // of these, or of all rows
  std::vector<Solution> solutions_;
};

/// True if each of the last `patience` points is worse than the one before it.
bool rising(std::span<const CrossValidated> points, int patience) {
  const auto n = static_cast<std::size_t>(patience);
  if (points.size() <= n) return false;
  for (std::size_t l = points.size() - n; l < points.size(); ++l) {
    if (!(points[l].loss > points[l - 1].loss)) return false;
  }
  return true;
}

}  // namespace

bool can_leave_one_out(const Problem& problem) {
  constexpr double most_work = 5e8;
  const auto columns = static_cast<double>(problem.features.cols + 1);
  return problem.game->smooth() && problem.game->labels() == 2 &&
         problem.penalty == Penalty::squared &&
         (static_cast<double>(problem.features.rows) + columns) * columns * columns <= most_work;
}

HeldOut held_out(const Problem& problem, const CrossValidation& options) {
  const std::size_t m = problem.features.rows;
  if (!options.importance.empty() && options.importance.size() != m) {
    fail_input("{} importance weights for {} examples", options.importance.size(), m);
  }
  if (options.lambdas.empty()) fail_input("cross validation needs at least one lambda to try");
  const StopScope scope(options.cancelled);
  const bool one_by_one = options.leave_one_out && can_leave_one_out(problem);
  const std::vector<int> fold = checked_folds(problem, options, one_by_one);
  std::vector<double> lambdas = options.lambdas;
  std::sort(lambdas.begin(), lambdas.end(), std::greater<>());
  const auto k = static_cast<std::size_t>(problem.game->labels());

  HeldOut out;
  for (std::size_t i = 0; i < m; ++i) {
    const double own = problem.sample_weight.empty() ? 1 : problem.sample_weight[i];
    out.count.push_back(fold[i] < 0 ? 0 : own);
  }
  Path path(problem, options, fold, one_by_one);
  std::vector<double> psi(m * k);
  for (const double lambda : lambdas) {
    path.potentials(lambda, psi.data());
    out.lambdas.push_back(lambda);
    for (std::size_t i = 0; i < m; ++i) {
      const double loss = problem.game->loss_at({psi.data() + i * k, k}, problem.labels[i]);
      out.losses.push_back(fold[i] < 0 ? 0 : loss);
    }
    if (options.keep_potentials) {
      out.potentials.insert(out.potentials.end(), psi.begin(), psi.end());
    }
    if (options.progress) {
      options.progress(static_cast<double>(out.lambdas.size()) /
                       static_cast<double>(lambdas.size()));
    }
    if (options.patience > 0 && rising(out.curve({}), options.patience) &&
        rising(out.curve(options.importance), options.patience)) {
      break;
    }
  }
  return out;
}

std::vector<CrossValidated> HeldOut::curve(std::span<const double> importance) const {
  const std::size_t m = count.size();
  std::vector<CrossValidated> points;
  for (std::size_t l = 0; l < lambdas.size(); ++l) {
    double total = 0;
    double sum = 0;
    double squares = 0;
    for (std::size_t i = 0; i < m; ++i) {
      const double loss = losses[l * m + i] * (importance.empty() ? 1 : importance[i]);
      total += count[i];
      sum += count[i] * loss;
      squares += count[i] * loss * loss;
    }
    const double mean = sum / total;
    const double variance = std::max(0.0, squares / total - mean * mean);
    points.push_back({lambdas[l], mean, std::sqrt(variance / total)});
  }
  return points;
}

std::vector<double> HeldOut::potentials_at(double lambda) const {
  const std::size_t size = potentials.size() / lambdas.size();
  std::size_t l = 0;
  while (l + 1 < lambdas.size() && lambdas[l + 1] >= lambda) ++l;
  const auto at = [&](std::size_t row) { return std::span(potentials).subspan(row * size, size); };
  std::vector<double> psi(at(l).begin(), at(l).end());
  if (l + 1 == lambdas.size() || lambdas[l] <= lambda) return psi;
  const double share = std::log(lambdas[l] / lambda) / std::log(lambdas[l] / lambdas[l + 1]);
  for (std::size_t i = 0; i < size; ++i) psi[i] += share * (at(l + 1)[i] - psi[i]);
  return psi;
}

double refined_lambda(std::span<const CrossValidated> points) {
  const std::size_t at = static_cast<std::size_t>(&best(points) - points.data());
  if (at == 0 || at + 1 == points.size()) return points[at].lambda;
  // Newton's form of the parabola; x is log lambda relative to the best point's.
  const double x0 = std::log(points[at - 1].lambda / points[at].lambda);
  const double x2 = std::log(points[at + 1].lambda / points[at].lambda);
  const double slope0 = (points[at - 1].loss - points[at].loss) / x0;
  const double slope2 = (points[at + 1].loss - points[at].loss) / x2;
  const double curvature = (slope0 - slope2) / (x0 - x2);
  if (!(curvature > 0) || !std::isfinite(curvature)) return points[at].lambda;
  const double x = (x0 * curvature - slope0) / (2 * curvature);
  // In steps of 1%: digits that depend on where a solver stopped do not reach the answer.
  constexpr double steps = 64;
  const double refined = points[at].lambda * std::exp(std::clamp(x, x2, x0));
  return std::exp2(std::round(std::log2(refined) * steps) / steps);
}

std::vector<double> defensive_importance(std::span<const double> log_weight,
                                         std::span<const double> sample_weight) {
  double total = 0;
  double sum = 0;
  for (std::size_t i = 0; i < log_weight.size(); ++i) {
    const double count = sample_weight.empty() ? 1 : sample_weight[i];
    total += count;
    sum += count * std::exp(log_weight[i]);
  }
  std::vector<double> v;
  for (const double l : log_weight) v.push_back(0.5 + 0.5 * std::exp(l) * total / sum);
  return v;
}

HeldOutFits held_out_fits(const Problem& problem, const CrossValidation& options,
                          std::span<const double> start, std::size_t enough) {
  const StopScope scope(options.cancelled);
  HeldOutFits out;
  out.fold = checked_folds(problem, options, false);
  std::size_t count = 0;
  int last = 0;
  while (last < options.folds && (last == 0 || count < enough)) {
    count += static_cast<std::size_t>(std::count(out.fold.begin(), out.fold.end(), last++));
  }
  const auto k = static_cast<std::size_t>(problem.game->labels());
  out.potentials.assign(problem.features.rows * k, 0.0);
  out.weights.resize(static_cast<std::size_t>(last));
  parallel_tasks(options.threads, out.weights.size(), [&](std::size_t f) {
    const WithoutFold training(problem, out.fold, static_cast<int>(f));
    SolveOptions solve_options = fold_options(options);
    solve_options.start = start;
    out.weights[f] = solve_or_throw(Examples(training.problem(), 1), solve_options).weights;
    held_out_psi(problem, out.fold, static_cast<int>(f), out.weights[f], out.potentials.data());
  });
  for (int& f : out.fold) f = f < last ? f : -1;
  return out;
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
