// What Newton's method works on: a function, not the examples that it sums over.
#pragma once

#include <Eigen/Core>

namespace covshift {

using RowMatrix = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

/// A value with a proven lower bound of the optimum.
struct Bounds {
  double objective = 0;
  double gap = 0;  ///< objective - dual, to more digits than their difference has
  double dual = 0;
};

/// A smooth convex function of weights (LIBLINEAR's `function`). Sums over several holders of
/// examples are made behind it: all of them see the same numbers and take the same steps.
class Function {
 public:
  Function() = default;
  Function(const Function&) = delete;
  Function& operator=(const Function&) = delete;
  virtual ~Function() = default;

  /// Value and gradient at t, which becomes the point of `hessian_times`.
  virtual Bounds evaluate(const RowMatrix& t, RowMatrix& gradient) = 0;
  /// out = H x; returns x'H x.
  virtual double hessian_times(const RowMatrix& x, RowMatrix& out) = 0;
  /// The derivative along t + length * step, for any number of lengths.
  virtual void set_line(const RowMatrix& t, const RowMatrix& step) = 0;
  virtual double slope(double length) = 0;
  /// For work on the vectors.
  [[nodiscard]] virtual int threads() const = 0;
};

/// An approximate inverse of the Hessian.
class Preconditioner {
 public:
  Preconditioner() = default;
  Preconditioner(const Preconditioner&) = delete;
  Preconditioner& operator=(const Preconditioner&) = delete;
  virtual ~Preconditioner() = default;

  /// Before the step from weights t.
  virtual void update(const RowMatrix& /*t*/) {}
  virtual void solve(const RowMatrix& right, RowMatrix& t) const = 0;
  /// True if it is the inverse, at the weights of the last update.
  [[nodiscard]] virtual bool exact() const { return false; }
};

}  // namespace covshift
