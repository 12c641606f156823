#include <algorithm>
#include <cmath>

#include "covshift/learn/solvers.hpp"

namespace covshift {
namespace {

/// min_T  sum_i c_i [logsumexp(psi_i) - psi_i[y_i]] + lambda ||T||^2  for many parameters, by
/// Newton's method: steps from conjugate gradients, an exact line search on cached potentials.
class Newton {
 public:
  Newton(const Examples& examples, const SolveOptions& options)
      : e_(examples),
        k_(static_cast<std::size_t>(examples.labels())),
        monitor_(examples, options, Solver::newton, 500),
        t_(RowMatrix::Zero(examples.dims(), examples.labels())),
        psi_(examples.size() * k_),
        q_(examples.size() * k_),
        move_(examples.size() * k_),
        rows_(examples.size() * k_) {
    if (!options.start.empty()) {
      std::copy(options.start.begin(), options.start.end(), t_.data());
    }
  }

  Solution run() {
    RowMatrix a;
    RowMatrix step(t_.rows(), t_.cols());
    int iteration = 0;
    for (;; ++iteration) {
      const PassTotals totals = e_.pass(t_, a, nullptr, psi_.data(), q_.data());
      if (monitor_.stop(t_, certify(totals, t_, a, e_.lambda()), iteration)) break;
      const RowMatrix gradient = 2 * e_.lambda() * t_ - a;
      conjugate_step(gradient, step);
      const double length = line_search(gradient, step);
      if (length == 0) break;  // rounding: no direction descends any more
      t_ += length * step;
    }
    return monitor_.finish(iteration);
  }

 private:
  /// c_i (diag q - q q') x, the Hessian of example i's term applied to a change of potentials.
  void curve(std::size_t i, const double* x, double* out) const {
    const double* q = q_.data() + i * k_;
    double mean = 0;
    for (std::size_t y = 0; y < k_; ++y) mean += q[y] * x[y];
    for (std::size_t y = 0; y < k_; ++y) out[y] = e_.a()[i] * q[y] * (x[y] - mean);
  }

  /// H x = 2 lambda x + sum_i a_i zhat_i [(diag q - q q') r_i zhat_i' x]'
  void multiply(const RowMatrix& x, RowMatrix& out) {
    e_.potentials(x, move_.data());
    e_.each_lane([&](std::size_t begin, std::size_t end, std::size_t) {
      for (std::size_t i = begin; i < end; ++i) {
        curve(i, move_.data() + i * k_, rows_.data() + i * k_);
      }
    });
    e_.collect(rows_.data(), out);
    out += 2 * e_.lambda() * x;
  }

  void conjugate_step(const RowMatrix& gradient, RowMatrix& step) {
    // Truncated: as exact as the distance from the optimum deserves (superlinear convergence).
    step.setZero();
    RowMatrix residual = -gradient;
    RowMatrix direction = residual;
    RowMatrix product(t_.rows(), t_.cols());
    const double first = residual.norm();
    if (largest_ == 0) largest_ = first;
    const double enough = std::min(0.25, std::sqrt(first / largest_)) * first;
    double squared = residual.squaredNorm();
    for (int j = 0; j < 500 && std::sqrt(squared) > enough; ++j) {
      if (monitor_.out_of_time()) return;
      multiply(direction, product);
      const double length = squared / direction.cwiseProduct(product).sum();
      step += length * direction;
      residual -= length * product;
      const double next = residual.squaredNorm();
      direction = residual + (next / squared) * direction;
      squared = next;
    }
  }

  /// The length at which the derivative along `step` is (nearly) 0: a safeguarded secant search on
  /// the derivative, which keeps its digits where differences of F have none left.
  double line_search(const RowMatrix& gradient, const RowMatrix& step) {
    e_.potentials(step, move_.data());
    const double slope_0 = gradient.cwiseProduct(step).sum();
    if (!(slope_0 < 0)) return 0;
    const double ridge = 2 * e_.lambda() * t_.cwiseProduct(step).sum();
    const double ridge_2 = 2 * e_.lambda() * step.squaredNorm();
    const auto slope = [&](double length) { return ridge + length * ridge_2 + loss_slope(length); };
    double low = 0;
    double low_slope = slope_0;
    double high = 0;
    double high_slope = 0;
    double length = 1;
    for (int trial = 0; trial < 60; ++trial) {
      const double here = slope(length);
      if (std::abs(here) <= 0.1 * -slope_0) return length;
      if (here < 0) {
        low = length;
        low_slope = here;
      } else {
        high = length;
        high_slope = here;
      }
      if (high == 0) {
        length *= 4;
      } else {
        // Regula falsi, kept off the ends.
        const double guess = low + (high - low) * (-low_slope) / (high_slope - low_slope);
        length = std::clamp(guess, low + 0.1 * (high - low), high - 0.1 * (high - low));
      }
    }
    return low;
  }

  double loss_slope(double length) {
    std::vector<double> partial(e_.lanes());
    e_.each_lane([&](std::size_t begin, std::size_t end, std::size_t lane) {
      std::vector<double> psi(k_);
      std::vector<double> q(k_);
      double value = 0;
      double sum = 0;
      for (std::size_t i = begin; i < end; ++i) {
        const double* from = psi_.data() + i * k_;
        const double* move = move_.data() + i * k_;
        for (std::size_t y = 0; y < k_; ++y) psi[y] = from[y] + length * move[y];
        e_.game().play(1, psi.data(), nullptr, &value, q.data());
        double change = -move[e_.label()[i]];
        for (std::size_t y = 0; y < k_; ++y) change += q[y] * move[y];
        sum += e_.c()[i] * change;
      }
      partial[lane] = sum;
    });
    double total = 0;
    for (const double part : partial) total += part;
    e_.reducer().sum({&total, 1});
    return total;
  }

  const Examples& e_;
  std::size_t k_;
  Monitor monitor_;
  RowMatrix t_;
  std::vector<double> psi_, q_, move_, rows_;
  double largest_ = 0;
};

}  // namespace

Solution solve_newton(const Examples& examples, const SolveOptions& options) {
  return Newton(examples, options).run();
}

}  // namespace covshift
