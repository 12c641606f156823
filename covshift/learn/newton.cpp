// Newton's method with conjugate gradients for a Function, and its use for log loss.
#include <algorithm>
#include <cmath>
#include <functional>
#include <memory>

#include "covshift/learn/low_rank.hpp"
#include "covshift/learn/preconditioners.hpp"
#include "covshift/learn/rules.hpp"
#include "covshift/learn/solver_parts.hpp"

namespace covshift {
namespace {

struct GradientLimits {
  /// The norm sqrt(r'P r) of the residual to stop at, given that of the right-hand side.
  std::function<double(double)> enough;
  std::size_t products = 500;
  std::function<bool()> interrupted;  ///< asked before every product
};

/// Approximates step = H^-1 residual; `residual` becomes the remaining residual. False if the
/// products did not suffice.
bool conjugate_gradients(Function& function, const Preconditioner& preconditioner,
                         const GradientLimits& limits, RowMatrix& residual, RowMatrix& step) {
  const int threads = function.threads();
  step.setZero(residual.rows(), residual.cols());
  // Either the preconditioned residual or a product with the Hessian.
  RowMatrix work(residual.rows(), residual.cols());
  preconditioner.solve(residual, work);
  RowMatrix direction = work;
  const auto inner_product = [&] {
    return sum_pieces(threads, work.size(), [&](Eigen::Index begin, Eigen::Index end) {
      double sum = 0;
      for (Eigen::Index j = begin; j < end; ++j) sum += residual.data()[j] * work.data()[j];
      return sum;
    });
  };
  double squared = inner_product();
  const double enough = limits.enough(std::sqrt(squared));
  for (std::size_t round = 0; std::sqrt(squared) > enough; ++round) {
    if (round == limits.products) return false;
    if (limits.interrupted()) break;
    const double curvature = function.hessian_times(direction, work);
    if (!(curvature > 0)) break;
    const double length = squared / curvature;
    sum_pieces(threads, step.size(), [&](Eigen::Index begin, Eigen::Index end) {
      for (Eigen::Index j = begin; j < end; ++j) {
        step.data()[j] += length * direction.data()[j];
        residual.data()[j] -= length * work.data()[j];
      }
      return 0.0;
    });
    preconditioner.solve(residual, work);
    const double next = inner_product();
    sum_pieces(threads, step.size(), [&](Eigen::Index begin, Eigen::Index end) {
      for (Eigen::Index j = begin; j < end; ++j) {
        direction.data()[j] = work.data()[j] + next / squared * direction.data()[j];
      }
      return 0.0;
    });
    squared = next;
  }
  return true;
}

/// How steps are computed.
struct Plan {
  std::unique_ptr<Preconditioner> preconditioner;
  std::size_t products = 0;  // conjugate gradient products per step
  /// Replaces the preconditioner when the products do not suffice; null: the step is used as it is.
  std::unique_ptr<Preconditioner> exact;
  RowMatrix start;
};

/// Steps come from conjugate gradients, or from an exact inverse if there is one. If the full step
/// overshoots, an exact line search shortens it.
class Newton {
 public:
  Newton(Function& function, Plan plan, Monitor& monitor)
      : function_(function), plan_(std::move(plan)), monitor_(monitor), t_(plan_.start) {}

  /// Returns the number of steps.
  int run() {
    RowMatrix gradient;
    RowMatrix step(t_.rows(), t_.cols());
    for (int iteration = 0;; ++iteration) {
      if (iteration == 0) bounds_ = function_.evaluate(t_, gradient);
      if (monitor_.stop(t_, bounds_, iteration)) return iteration;
      find_step(gradient, step);
      const double slope = gradient.cwiseProduct(step).sum();
      if (!(slope < 0)) return iteration;  // rounding: no descent direction left
      // Try the full step first: the next step needs its evaluation anyway.
      t_ += step;
      bounds_ = function_.evaluate(t_, gradient);
      if (std::abs(gradient.cwiseProduct(step).sum()) <= 0.5 * -slope) continue;
      t_ -= step;
      const double length = line_search(slope, step);
      if (length == 0) return iteration;
      t_ += length * step;
      bounds_ = function_.evaluate(t_, gradient);
    }
  }

 private:
  /// Truncated Newton: accurate enough for superlinear convergence, but no more than it takes to
  /// bring the gap, which falls with the square of the residual, to the target.
  void find_step(const RowMatrix& gradient, RowMatrix& step) {
    plan_.preconditioner->update(t_);
    RowMatrix residual = -gradient;
    if (plan_.preconditioner->exact()) {
      plan_.preconditioner->solve(residual, step);
      return;
    }
    const double share = monitor_.target(bounds_.objective) / bounds_.gap;
    const auto enough = [&](double first) {
      if (largest_ == 0) largest_ = first;
      return std::min(0.5, std::max(std::sqrt(first / largest_), 0.2 * std::sqrt(share))) * first;
    };
    const auto interrupted = [&] { return monitor_.out_of_time(); };
    const bool found = conjugate_gradients(function_, *plan_.preconditioner,
                                           {enough, plan_.products, interrupted}, residual, step);
    if (!found && plan_.exact) plan_.preconditioner = std::move(plan_.exact);
  }

  /// The length at which the derivative along `step` is nearly 0: a safeguarded secant search on
  /// the derivative, which stays accurate where differences of F cancel.
  double line_search(double slope_0, const RowMatrix& step) {
    function_.set_line(t_, step);
    double low = 0;
    double low_slope = slope_0;
    double high = 0;
    double high_slope = 0;
    double length = 1;
    for (int trial = 0; trial < 60; ++trial) {
      const double slope = function_.slope(length);
      if (std::abs(slope) <= 0.1 * -slope_0) return length;
      if (slope < 0) {
        low = length;
        low_slope = slope;
      } else {
        high = length;
        high_slope = slope;
      }
      if (high == 0) {
        length *= 4;
      } else {
        // Regula falsi, kept away from the ends.
        const double guess = low + (high - low) * (-low_slope) / (high_slope - low_slope);
        length = std::clamp(guess, low + 0.1 * (high - low), high - 0.1 * (high - low));
      }
    }
    return low;
  }

  Function& function_;
  Plan plan_;
  Monitor& monitor_;
  RowMatrix t_;
  Bounds bounds_;
  double largest_ = 0;  // norm of the first step's right-hand side
};

RowMatrix optimum_of_sample(const Examples& sample, SolveOptions options) {
  options.observer = nullptr;
  options.tolerance = std::max(1e-2, options.tolerance);
  options.time_limit /= 4;
  options.max_iterations = 20;
  const Solution found = solve_newton(sample, options);
  return Eigen::Map<const RowMatrix>(found.weights.data(), sample.dims(), sample.labels());
}

/// The preconditioner that the rules choose; the diagonal if that one is not usable.
Plan make_plan(const Examples& e, const Certifier& certifier, const SolveOptions& options) {
  const ProblemSize size(e);
  Preconditioning preconditioning = choose_preconditioning(size);
  Plan plan;
  plan.start = RowMatrix::Zero(e.dims(), e.labels());
  if (e.free_bias() && e.problem().log_scale.empty()) {
    // The optimum of the bias alone: psi = log share, up to a constant.
    plan.start.bottomRows<1>() = certifier.class_sums().bottomRows<1>().array().log();
    plan.start.bottomRows<1>().array() -= plan.start.bottomRows<1>().mean();
  }
  if (!options.start.empty())
    std::copy(options.start.begin(), options.start.end(), plan.start.data());
  if (preconditioning == Preconditioning::sample) {
    auto sampled = std::make_unique<SampledHessian>(e, size.sample_rows(), options.seed);
    if (sampled->usable()) {
      if (options.start.empty()) plan.start = optimum_of_sample(sampled->examples(), options);
      plan.preconditioner = std::move(sampled);
    } else {
      preconditioning = choose_preconditioning(size, false);
    }
  }
  plan.products = products_limit(size, preconditioning);
  if (preconditioning == Preconditioning::at_zero) {
    plan.preconditioner = std::make_unique<HessianAtZero>(e);
    plan.exact = std::make_unique<FactoredHessian>(e);
  } else if (preconditioning == Preconditioning::low_rank) {
    auto low_rank = std::make_unique<LowRank>(e, options.seed);
    if (low_rank->usable()) plan.preconditioner = std::move(low_rank);
  }
  if (!plan.preconditioner) {
    plan.preconditioner = std::make_unique<DiagonalPreconditioner>(e, certifier);
  }
  return plan;
}

}  // namespace

Solution solve_newton(const Examples& examples, const SolveOptions& options) {
  Monitor monitor(examples, options, Solver::newton, 500);
  LogObjective objective(examples);
  const int steps =
      Newton(objective, make_plan(examples, objective.certifier(), options), monitor).run();
  return monitor.finish(steps);
}

}  // namespace covshift
