// The solver behind the logistic ratio; private to ratio/.
#pragma once

#include <Eigen/Core>
#include <cstddef>
#include <functional>
#include <span>
#include <vector>

#include "covshift/base/large_vector.hpp"
#include "covshift/ratio/rows.hpp"

namespace covshift {

struct LogisticFit {
  std::vector<double> weights;  ///< u
  double intercept = 0;         ///< b: log P(te|x)/P(tr|x) = u.x + b
  int iterations = 0;
  double accuracy = 0;  ///< the largest change of a log odds in the last Newton step
};

/// min over u, b   1/S sum_i s_i log(1 + exp(-t_i (u.x_i + b)))  +  lambda ||u||^2
/// over the pooled sample: training rows (t = -1), then target rows (t = +1); S = sum_i s_i. The
/// intercept is not penalised (learn/ would), which also makes the problem indifferent to a shift
/// of the features: it is solved for centred ones, b' = b + u.mean, without ever centring sparse
/// rows.
///
/// Newton's method; the step by Cholesky for few columns and by preconditioned conjugate gradients
/// for many, when memory is that of some vectors. Near the optimum Newton's step *is* the error up
/// to its square, so that the largest change of a log odds on the sample is the stopping rule: a
/// bound on the gradient would say little when lambda is small.
class LogisticSolver {
 public:
  LogisticSolver(const Samples& samples, int threads);

  [[nodiscard]] std::size_t size() const { return n_; }
  /// Row i of the pooled sample is a target row.
  [[nodiscard]] bool is_target(std::size_t i) const { return i >= samples_.train.size(); }

  /// `weight`: s_i for the pooled sample; rows of weight 0 take no part. Stops when no log odds
  /// changes by more than tolerance * max(1, largest log odds). An Error (numeric) if it does not.
  [[nodiscard]] LogisticFit solve(double lambda, std::span<const double> weight, double tolerance,
                                  const LogisticFit* start = nullptr) const;
  /// u.x_i + b of row i of the pooled sample.
  [[nodiscard]] double log_odds(const LogisticFit& fit, std::size_t i) const {
    return dot(i, fit.weights.data()) + fit.intercept;
  }

 private:
  struct State;
  using Vector = Eigen::VectorXd;

  [[nodiscard]] double dot(std::size_t i, const double* u) const {
    return is_target(i) ? samples_.target.dot(i - samples_.train.size(), u)
                        : samples_.train.dot(i, u);
  }
  template <typename F>
  void each(std::size_t i, F&& f) const {
    if (is_target(i)) {
      samples_.target.each(i - samples_.train.size(), f);
    } else {
      samples_.train.each(i, f);
    }
  }
  /// body(first, count, lane) for every lane.
  void each_lane(const std::function<void(Eigen::Index, Eigen::Index, std::size_t)>& body) const;
  /// out_i = u.(x_i - mean) + b' for z = (u, b'), 0 for rows that take no part. Returns the largest
  /// |out_i|, infinity if one of them is not a number.
  double margins(const Vector& z, const Vector& share, Vector& out) const;
  /// sum_i r_i (x_i - mean, 1)
  [[nodiscard]] Vector collect(const Vector& r) const;
  void differentiate(State& state, double lambda) const;
  [[nodiscard]] Eigen::MatrixXd hessian(const State& state) const;
  [[nodiscard]] Vector cholesky_step(const State& state, double lambda) const;
  [[nodiscard]] Vector gradient_step(const State& state, double lambda, double precision) const;
  [[nodiscard]] double objective(const State& state, const Vector& z, const Vector& m,
                                 double lambda) const;
  /// Takes the step, or as much of it as descends, and says how much.
  double go(const Vector& step, const Vector& change, double lambda, bool safe, State& state) const;

  Samples samples_;
  int threads_;
  std::size_t n_;
  Eigen::Index d_;
  std::size_t pitch_;
  Lanes lanes_;
  Vector mean_;
  Vector side_;       // 1 for training rows, -1 for target rows
  LargeVector rows_;  // (x_i - mean, 1) where that is small enough to keep, else empty
};

}  // namespace covshift
