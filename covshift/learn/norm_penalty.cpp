#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <utility>

#include "covshift/learn/solver_parts.hpp"

namespace covshift {
namespace {

constexpr double unlimited_lambda = std::numeric_limits<double>::infinity();

/// Adversaries q, known by A(q) and sum_i c_i H(q_i), and the lambda of the squared penalty whose
/// optimum they are.
struct Adversaries {
  RowMatrix a;
  double norm = 0;  ///< ||A(q)||
  double risk = 0;
  double lambda = 0;
};

/// sum_i c_i H(q_i) of the mixture of two adversaries with ||A|| = epsilon, or less: H is concave
/// and A linear in q, so a mixture's risk is at least the mixture of the risks.
double mixed_risk(const Adversaries& within, const Adversaries& beyond, double epsilon) {
  const RowMatrix d = beyond.a - within.a;
  const double square = d.squaredNorm();
  const double cross = within.a.cwiseProduct(d).sum();
  const double room = epsilon * epsilon - within.norm * within.norm;
  const double root = std::sqrt(std::max(0.0, cross * cross + square * room));
  // The larger root of square s^2 + 2 cross s = room, in the form that does not cancel.
  const double share = cross > 0 ? room / (cross + root) : (root - cross) / square;
  return within.risk + std::clamp(share, 0.0, 1.0) * (beyond.risk - within.risk);
}

/// The problem with an unsquared norm, the paper's Lagrangian:
///     min  1/m sum_i w_i [V(psi_i) - psi_i[y_i]] + epsilon ||T||,
///     max  1/m sum_i w_i H(q_i)   over q with ||A(q)|| <= epsilon.
/// Since epsilon ||T|| is the least lambda ||T||^2 + epsilon^2 / (4 lambda) over lambda, its
/// optimum is that of the squared penalty at the lambda with 2 lambda ||T|| = epsilon; and the
/// optimal value is convex in 1/lambda, so that 2 lambda ||T(lambda)|| = ||A(q)|| grows with
/// lambda: a search in one variable, each solution the start of the next. T = 0 is optimal from the
/// epsilon on at which the adversaries of T = 0 have ||A(q)|| <= epsilon.
///
/// The bound needs no exact lambda: adversaries on both sides of epsilon are mixed to ||A|| =
/// epsilon, which loses only a second-order term. q_i = e_y_i, with A = 0, is always within.
class NormSearch {
 public:
  NormSearch(const Problem& squared, double epsilon, const SolveOptions& options)
      : examples_(squared, options.threads, options.reducer),
        options_(options),
        epsilon_(epsilon) {}

  Solution run() {
    const RowMatrix zero = RowMatrix::Zero(examples_.dims(), examples_.labels());
    within_ = truth();
    add(zero, std::vector<double>(), unlimited_lambda);
    SolveOptions inner = options_;
    inner.tolerance = options_.tolerance / 4;
    inner.observer = [this](const Progress& progress) { return observe(progress); };
    double lambda = first_lambda();
    for (int solves = 0; !done(solves); ++solves) {
      examples_.set_lambda(lambda);
      if (options_.max_iterations > 0) inner.max_iterations = options_.max_iterations - iterations_;
      // Never 0, which is no limit.
      if (options_.time_limit > 0)
        inner.time_limit = std::max(1e-9, options_.time_limit - clock_.seconds());
      Solution found = solve(examples_, inner);
      iterations_ += found.iterations;
      solution_.solver = found.solver;
      if (found.status == Status::non_finite) {
        solution_.status = found.status;
        break;
      }
      add(Eigen::Map<const RowMatrix>(found.weights.data(), zero.rows(), zero.cols()),
          found.adversary, lambda);
      if (found.status == Status::stopped) {
        solution_.status = found.status;
        break;
      }
      latest_ = std::move(found.weights);
      latest_adversary_ = std::move(found.adversary);
      inner.start = latest_;
      inner.start_adversary = latest_adversary_;
      // What is missing may be the accuracy of a solution rather than of lambda.
      if (solves >= 5) inner.tolerance = std::max(inner.tolerance / 4, 1e-14);
      lambda = next_lambda();
    }
    solution_.iterations = iterations_;
    solution_.seconds = clock_.seconds();
    solution_.dual = solution_.objective - solution_.gap;
    return std::move(solution_);
  }

 private:
  /// q_i = e_y_i.
  [[nodiscard]] Adversaries truth() const {
    Adversaries out{RowMatrix::Zero(examples_.dims(), examples_.labels()), 0, 0, 0};
    std::vector<double> q(static_cast<std::size_t>(examples_.labels()));
    for (std::size_t i = 0; i < examples_.size(); ++i) {
      const int y = examples_.label()[i];
      q[static_cast<std::size_t>(y)] = 1;
      out.risk += examples_.c()[i] * examples_.game().bayes_risk(q, y);
      q[static_cast<std::size_t>(y)] = 0;
    }
    examples_.reducer().sum({&out.risk, 1});
    return out;
  }

  /// Weights, and adversaries (empty: the best answers to the weights), found at lambda.
  void add(const RowMatrix& t, std::vector<double> q, double lambda) {
    Adversaries found;
    found.lambda = lambda;
    // A holder without examples has no adversaries, given or not.
    if (max_over(&examples_.reducer(), static_cast<double>(q.size())) == 0) {
      q.resize(examples_.size() * static_cast<std::size_t>(examples_.labels()));
      examples_.pass(t, found.a, nullptr, keep_rows(examples_.labels(), nullptr, q.data()));
    }
    const PassTotals totals = examples_.pass(t, found.a, q.data());
    found.norm = found.a.norm();
    found.risk = totals.risk;
    const double objective = totals.loss + epsilon_ * t.norm();
    if (solution_.weights.empty() || objective < solution_.objective) {
      solution_.objective = objective;
      solution_.weights.assign(t.data(), t.data() + t.size());
      solution_.squared_lambda = t.norm() > 0 ? epsilon_ / (2 * t.norm()) : 0;
    }
    if (found.norm <= epsilon_) {
      same_side_ = side_ < 0 ? same_side_ + 1 : 0;
      side_ = -1;
      dual_ = std::max(dual_, found.risk);
      if (found.lambda >= within_.lambda) within_ = std::move(found);
    } else {
      same_side_ = side_ > 0 ? same_side_ + 1 : 0;
      side_ = 1;
      if (!beyond_ || found.lambda <= beyond_->lambda) beyond_ = std::move(found);
    }
    if (beyond_) dual_ = std::max(dual_, mixed_risk(within_, *beyond_, epsilon_));
    solution_.gap = std::max(0.0, solution_.objective - dual_);
  }

  bool observe(const Progress& progress) const {
    return !options_.observer ||
           options_.observer({iterations_ + progress.iteration, solution_.objective, solution_.gap,
                              clock_.seconds()});
  }

  bool done(int solves) {
    constexpr int most_solves = 60;
    double late = options_.time_limit > 0 && clock_.seconds() >= options_.time_limit ? 1 : 0;
    examples_.reducer().max({&late, 1});  // clocks differ, but all holders must stop together
    if (!std::isfinite(solution_.objective) || !std::isfinite(solution_.gap)) {
      solution_.status = Status::non_finite;
    } else if (solution_.gap <= options_.tolerance * std::max(1.0, std::abs(solution_.objective))) {
      solution_.status = Status::converged;
    } else if (late > 0) {
      solution_.status = Status::time_limit;
    } else if (solves >= most_solves ||
               (options_.max_iterations > 0 && iterations_ >= options_.max_iterations)) {
      solution_.status = Status::iteration_limit;
    } else {
      return false;
    }
    return true;
  }

  /// From the norm of the weights to start from; else epsilon^2 / F(0), twice the least lambda that
  /// epsilon ||T|| <= F(0) leaves possible.
  [[nodiscard]] double first_lambda() const {
    double squares = 0;
    for (const double w : options_.start) squares += w * w;
    if (squares > 0) return epsilon_ / (2 * std::sqrt(squares));
    return epsilon_ * epsilon_ / std::max(solution_.objective, 1e-300);
  }

  /// Where ||A|| is expected to be epsilon, between the lambdas on either side of it.
  [[nodiscard]] double next_lambda() const {
    const double low = within_.lambda;
    const double high = beyond_ ? beyond_->lambda : unlimited_lambda;
    if (!beyond_ || high == unlimited_lambda) {
      // 1/||A|| is about linear in 1/lambda; at 1/lambda = 0 it is that of T = 0.
      const double limit = beyond_ ? 1 / beyond_->norm : 0;
      const double share = (1 / epsilon_ - limit) / (1 / within_.norm - limit);
      return low / std::clamp(share, 1e-3, 0.999);
    }
    const double excess = beyond_->norm / epsilon_;
    if (low == 0) return high / std::clamp(excess * excess, 1.001, 1e6);
    if (same_side_ >= 2 || !(within_.norm > 0)) return std::sqrt(low * high);
    const double share = std::log(epsilon_ / within_.norm) / std::log(beyond_->norm / within_.norm);
    return low * std::pow(high / low, std::clamp(share, 1e-4, 1 - 1e-4));
  }

  Examples examples_;
  const SolveOptions& options_;
  double epsilon_;
  Stopwatch clock_;
  Adversaries within_;                 ///< ||A|| <= epsilon, with the largest lambda
  std::optional<Adversaries> beyond_;  ///< ||A|| > epsilon, with the smallest lambda
  int side_ = 0;                       ///< of the last adversaries: -1 within, 1 beyond
  int same_side_ = 0;                  ///< how often in a row it was the same as before
  double dual_ = -std::numeric_limits<double>::infinity();
  Solution solution_;
  std::vector<double> latest_, latest_adversary_;
  int iterations_ = 0;
};

}  // namespace

Solution solve_norm(const Examples& examples, const SolveOptions& options) {
  Problem squared = examples.problem();
  squared.penalty = Penalty::squared;
  return NormSearch(squared, examples.lambda(), options).run();
}

}  // namespace covshift
