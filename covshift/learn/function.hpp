// What Newton's method minimises: a function, independent of how examples are stored.
#pragma once

#include <algorithm>
#include <array>
#include <numeric>

#include "covshift/base/row_matrix.hpp"
#include "covshift/base/threads.hpp"

namespace covshift {

/// A value with a proven lower bound on the optimum.
struct Bounds {
  double objective = 0;
  double gap = 0;  ///< objective - dual, computed without cancellation
  double dual = 0;
};

/// A smooth convex function of weights (LIBLINEAR's `function`). It sums over all holders of
/// examples, so that every holder takes the same steps.
class Function {
 public:
  virtual ~Function() = default;

  /// Value and gradient at t, the point at which hessian_times() then multiplies.
  virtual Bounds evaluate(const RowMatrix& t, RowMatrix& gradient) = 0;
  /// out = H x; returns x'H x.
  virtual double hessian_times(const RowMatrix& x, RowMatrix& out) = 0;
  /// Selects the line t + length * step, along which slope() is the derivative.
  virtual void set_line(const RowMatrix& t, const RowMatrix& step) = 0;
  virtual double slope(double length) = 0;
  [[nodiscard]] virtual int threads() const = 0;
};

/// An approximate inverse of the Hessian.
class Preconditioner {
 public:
  virtual ~Preconditioner() = default;

  /// Called before the step from weights t.
  virtual void update(const RowMatrix& /*t*/) {}
  virtual void solve(const RowMatrix& right, RowMatrix& t) const = 0;
  /// True if it is the exact inverse at the weights of the last update.
  [[nodiscard]] virtual bool exact() const { return false; }
};

/// Runs body(begin, end) on pieces of a vector as long as the weights, in parallel, and returns the
/// sum of the results. Pieces do not depend on the number of threads.
template <typename Body>
double sum_pieces(int threads, Eigen::Index size, const Body& body) {
  const auto n = static_cast<std::size_t>(size);
  const std::size_t pieces = std::clamp<std::size_t>(n >> 15U, 1, 64);
  std::array<double, 64> part{};
  parallel_tasks(threads, pieces, [&](std::size_t p) {
    part[p] = body(static_cast<Eigen::Index>(n * p / pieces),
                   static_cast<Eigen::Index>(n * (p + 1) / pieces));
  });
  return std::accumulate(part.begin(), part.end(), 0.0);
}

}  // namespace covshift
