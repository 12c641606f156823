#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "covshift/base/stopwatch.hpp"
#include "covshift/base/threads.hpp"
#include "covshift/ratio/domain_problem.hpp"

namespace covshift {
namespace {

// Columns up to which the Hessian is factored; beyond, folds.
constexpr std::size_t leave_one_out_limit = 500;
constexpr std::size_t most_rows = 20000;
constexpr double most_work = 1e9;  // rows times columns squared, of a point of the path
// Half decades from where nothing is learnt from features of unit scale.
constexpr int first_half_decade = 2;
constexpr int last_half_decade = -12;
// A relative gap of 1e-8 leaves log odds within about 1e-3 of the optimum: far less than the
// scores' standard errors.
constexpr double path_tolerance = 1e-8;
constexpr double worth = 30;  // e^-30 of the best point's likelihood changes no digit of the mean

/// The log-likelihood of held-out rows at a point of the path.
struct Score {
  double lambda = 0;
  double mean = 0;
  double standard_error = 0;
};

/// -log(1 + e^a), a the log odds against the row's own domain.
double log_likelihood(double log_odds, bool target) {
  const double a = target ? -log_odds : log_odds;
  return -(std::max(a, 0.0) + std::log1p(std::exp(-std::abs(a))));
}

/// The mean log-likelihood of rows' domains where only their shares are known.
double likelihood_of_shares(const DomainProblem& problem) {
  double target = 0;
  for (std::size_t i = 0; i < problem.size(); ++i) {
    if (problem.is_target(i)) target += problem.weight()[i];
  }
  const double share = target / problem.total();
  return share * std::log(share) + (1 - share) * std::log1p(-share);
}

Score summarise(double lambda, const DomainProblem& problem, std::span<const double> held_out) {
  double sum = 0;
  double squares = 0;
  for (std::size_t i = 0; i < held_out.size(); ++i) {
    const double l = log_likelihood(held_out[i], problem.is_target(i));
    sum += problem.weight()[i] * l;
    squares += problem.weight()[i] * l * l;
  }
  const double mean = sum / problem.total();
  const double variance = std::max(0.0, squares / problem.total() - mean * mean);
  return {lambda, mean, std::sqrt(variance / problem.total())};
}

/// Rows dealt to folds along the projection on the difference of the samples' means, each sample
/// separately.
std::vector<int> deal_along_shift(const DomainProblem& problem, int folds, int threads) {
  // The gradient at u = 0 is that difference: a fit with a huge lambda points along it.
  const auto direction = problem.solve(1e6, 1e-12, threads);
  const std::vector<double> at =
      direction ? problem.log_odds(*direction, threads) : std::vector<double>(problem.size());
  std::vector<std::size_t> order(problem.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    if (problem.is_target(a) != problem.is_target(b)) return problem.is_target(b);
    return at[a] < at[b];
  });
  std::vector<int> fold(problem.size());
  for (std::size_t k = 0; k < order.size(); ++k) {
    fold[order[k]] = static_cast<int>(k % static_cast<std::size_t>(folds));
  }
  return fold;
}

/// Walks from strong to weak regularisation: evaluate(lambda) scores a point, or none if it did not
/// converge, which ends the path, as does a score that no weaker point can make up for.
template <typename Evaluate>
std::vector<Score> walk(double rows, const RatioOptions& options, nlohmann::json& report,
                        const Evaluate& evaluate) {
  const Stopwatch clock;
  std::vector<Score> path;
  double best = -std::numeric_limits<double>::infinity();
  for (int half = first_half_decade; half >= last_half_decade; --half) {
    const double lambda = std::pow(10.0, half / 2.0);
    const std::optional<Score> score = evaluate(lambda);
    if (!score || !std::isfinite(score->mean)) {
      report["notes"].push_back(
          fmt::format("lambda {:.3g} and below left out: the fit did not converge", lambda));
      break;
    }
    path.push_back(*score);
    report["scores"].push_back({{"lambda", score->lambda},
                                {"log_likelihood", score->mean},
                                {"standard_error", score->standard_error}});
    best = std::max(best, score->mean);
    if (rows * (best - score->mean) > worth) break;
    if (options.time_limit > 0 && clock.seconds() > options.time_limit) {
      report["notes"].push_back(
          fmt::format("lambda below {:.3g} left out: the time limit was reached", lambda));
      break;
    }
  }
  return path;
}

std::vector<Score> path_by_leave_one_out(const DomainProblem& problem, const RatioOptions& options,
                                         nlohmann::json& report) {
  const int threads = options.threads;
  std::optional<DomainProblem::Fit> fit;
  return walk(problem.total(), options, report, [&](double lambda) -> std::optional<Score> {
    fit = problem.solve(lambda, path_tolerance, threads, fit ? &*fit : nullptr);
    if (!fit) return {};
    const std::vector<double> held_out =
        problem.leave_one_out(lambda, problem.log_odds(*fit, threads), threads);
    if (held_out.empty()) return {};
    return summarise(lambda, problem, held_out);
  });
}

std::vector<Score> path_by_folds(const DomainProblem& problem, const RatioOptions& options,
                                 int folds, nlohmann::json& report) {
  const int threads = options.threads;
  const std::vector<int> fold = deal_along_shift(problem, folds, threads);
  const auto count = static_cast<std::size_t>(folds);
  std::vector<std::vector<double>> kept(count);
  for (std::size_t f = 0; f < count; ++f) {
    kept[f].assign(problem.weight().begin(), problem.weight().end());
    for (std::size_t i = 0; i < fold.size(); ++i) {
      if (fold[i] == static_cast<int>(f)) kept[f][i] = 0;
    }
  }
  std::vector<std::optional<DomainProblem::Fit>> fits(count);
  return walk(problem.total(), options, report, [&](double lambda) -> std::optional<Score> {
    std::vector<double> held_out(problem.size());
    parallel_tasks(threads, count, [&](std::size_t f) {
      fits[f] = problem.solve(lambda, path_tolerance, 1, fits[f] ? &*fits[f] : nullptr, kept[f]);
      if (!fits[f]) return;
      const std::vector<double> odds = problem.log_odds(*fits[f], 1);
      for (std::size_t i = 0; i < fold.size(); ++i) {
        if (fold[i] == static_cast<int>(f)) held_out[i] = odds[i];
      }
    });
    for (const auto& fit : fits) {
      if (!fit) return {};
    }
    return summarise(lambda, problem, held_out);
  });
}

/// The mean of log lambda under weights proportional to the likelihood of all rows and to lambda (a
/// uniform prior: the stronger of equals), the scores between the points of the path interpolated
/// (Catmull and Rom's cubic).
void choose(std::span<const Score> path, double rows, LambdaSelection& selection) {
  constexpr int between = 8;
  const auto at = [&](std::ptrdiff_t g) {
    return path[static_cast<std::size_t>(
                    std::clamp<std::ptrdiff_t>(g, 0, static_cast<std::ptrdiff_t>(path.size()) - 1))]
        .mean;
  };
  std::vector<double> log_lambda;
  std::vector<double> score;
  for (std::size_t g = 0; g < path.size(); ++g) {
    const auto k = static_cast<std::ptrdiff_t>(g);
    const double here = std::log(path[g].lambda);
    const int steps = g + 1 < path.size() ? between : 1;
    for (int s = 0; s < steps; ++s) {
      const double t = static_cast<double>(s) / between;
      const double step = g + 1 < path.size() ? std::log(path[g + 1].lambda) - here : 0.0;
      const double slope = (at(k + 1) - at(k - 1)) / 2;
      const double next_slope = (at(k + 2) - at(k)) / 2;
      const double rise = at(k + 1) - at(k);
      log_lambda.push_back(here + t * step);
      score.push_back(at(k) + t * (slope + t * (3 * rise - 2 * slope - next_slope +
                                                t * (slope + next_slope - 2 * rise))));
    }
  }
  const double best = *std::max_element(score.begin(), score.end());
  double total = 0;
  double mean = 0;
  double gain = 0;
  for (std::size_t g = 0; g < score.size(); ++g) {
    const double weight = std::exp(rows * (score[g] - best) + log_lambda[g]);
    total += weight;
    mean += weight * log_lambda[g];
    gain += weight * score[g];
  }
  selection.lambda = std::exp(mean / total);
  selection.gain = gain / total;
}

}  // namespace

std::optional<double> leave_one_out_gain(const DomainProblem& problem,
                                         const DomainProblem::Fit& fit, double lambda,
                                         int threads) {
  const auto columns = static_cast<double>(problem.dims() + 1);
  const double work = static_cast<double>(problem.size()) * columns * columns;
  if (problem.sparse() || problem.dims() > leave_one_out_limit || work > most_work) return {};
  const std::vector<double> held_out =
      problem.leave_one_out(lambda, problem.log_odds(fit, threads), threads);
  if (held_out.empty()) return {};
  return summarise(lambda, problem, held_out).mean - likelihood_of_shares(problem);
}

LambdaSelection select_lambda(const Samples& samples, const DomainProblem& all,
                              const RatioOptions& options, int folds) {
  const std::size_t d = samples.train.dims();
  const bool by_leave_one_out = d <= leave_one_out_limit;
  const auto columns = static_cast<double>(d + 1);
  const std::size_t affordable =
      by_leave_one_out ? static_cast<std::size_t>(most_work / (columns * columns)) : most_rows;
  const std::size_t most = std::clamp(affordable, std::size_t{2000}, most_rows);
  std::optional<DomainProblem> some;
  if (samples.train.size() + samples.target.size() > most) some.emplace(samples, most);
  const DomainProblem& problem = some ? *some : all;
  LambdaSelection selection;
  selection.report["held_out"] = by_leave_one_out ? "leave-one-out" : "folds";
  selection.report["rows"] = problem.size();
  if (!by_leave_one_out) selection.report["folds"] = folds;
  const std::vector<Score> path = by_leave_one_out
                                      ? path_by_leave_one_out(problem, options, selection.report)
                                      : path_by_folds(problem, options, folds, selection.report);
  if (path.empty()) return selection;
  choose(path, problem.total(), selection);
  selection.gain -= likelihood_of_shares(problem);
  // What a prior is to n rows, n lambda, is what the rows say; there are more of them in all.
  selection.lambda *= problem.sampled();
  return selection;
}

}  // namespace covshift
