// The examples of a problem in the form that solvers use, and the passes over them.
#pragma once

#include <limits>
#include <vector>

#include "covshift/base/reduce.hpp"
#include "covshift/learn/scaled_rows.hpp"

namespace covshift {

/// The sums of one pass.
struct PassTotals {
  double loss = 0;   ///< sum_i c_i [V(psi_i) - psi_i[y_i]]
  double slack = 0;  ///< sum_i c_i [V(psi_i) - psi_i'q_i - H(q_i)] >= 0; 0 for the best answer q
  double risk = 0;   ///< sum_i c_i H(q_i)
};

/// fill(first, n, lane, omega) writes several numbers for each of n examples starting at `first`:
/// number g of example first + b to omega[g * block_rows + b].
using MomentWeights = std::function<void(std::size_t, std::size_t, std::size_t, double*)>;

/// Scaled rows with labels and weights:
///     c_i = w_i/m, the weight of V,       a_i = c_i r_i = exp(log w + log r)/m.
/// Examples of weight 0 are left out.
class Examples : public ScaledRows {
 public:
  /// The problem is not checked.
  explicit Examples(const Problem& problem, int threads = 0, const Reducer* reducer = nullptr);

  [[nodiscard]] const Problem& problem() const { return problem_; }
  [[nodiscard]] const Game& game() const { return *problem_.game; }
  [[nodiscard]] double lambda() const { return problem_.lambda; }
  /// Changes lambda, for the same examples.
  void set_lambda(double lambda);
  /// An upper bound on F(0) - F(T), if it may be far less than F: the tolerance of the gap is
  /// relative to the smaller of the two.
  [[nodiscard]] double most_gain() const { return most_gain_; }
  void set_most_gain(double gain) { most_gain_ = gain; }
  /// The second derivative of the penalty along each dimension: 2 lambda, 0 for a free bias.
  [[nodiscard]] const Eigen::VectorXd& ridge() const { return ridge_; }
  [[nodiscard]] bool free_bias() const { return problem_.bias && !problem_.penalise_bias; }
  [[nodiscard]] std::span<const int> label() const { return label_; }
  [[nodiscard]] std::span<const double> c() const { return c_.empty() ? a_ : c_; }
  [[nodiscard]] std::span<const double> a() const { return a_; }
  [[nodiscard]] const Reducer& reducer() const { return *reducer_; }

  /// One pass over the data that reads each block from memory once: `body` gets its potentials at
  /// weights T (dims x K) relative to label 0, and out = sum_i zhat_i back_i' sums what it returns
  /// in `back`. Games depend on potentials up to a constant only and return rows that sum to 0, so
  /// label 0 is not computed: its potential is 0 and its `back` is minus the sum of the others.
  void fused(const RowMatrix& t, RowMatrix& out, const BlockBody& body) const;
  /// F and its gradient: A = sum_i a_i zhat_i (e_y - q_i)' for the adversary's best answers q_i, or
  /// for given ones (size x K). `observe` gets every block's potentials, relative to those of the
  /// true labels, and the answers in `back`.
  PassTotals pass(const RowMatrix& t, RowMatrix& a, const double* q_given = nullptr,
                  const BlockBody& observe = {}) const;
  /// sum_i zhat_i rows_i' (dims x K) for given rows (size x K), or for those `fill` writes to
  /// `back`.
  void collect(const double* rows, RowMatrix& out) const;
  void collect(const BlockBody& fill, RowMatrix& out) const;
  /// out[g] = sum_i omega_gi zhat_i zhat_i' (dims x dims, lower triangle) for g < count.
  void grams(int count, const MomentWeights& fill, std::vector<Eigen::MatrixXd>& out) const;
  /// The Hessian of log loss in a contrast of two classes, without the ridge (dims x dims, lower
  /// triangle), to precondition Newton's steps: where all classes are equally likely, computed
  /// once, or nearer to the optimum if that is known.
  [[nodiscard]] const Eigen::MatrixXd& curvature() const;
  void set_curvature(Eigen::MatrixXd curvature) { curvature_ = std::move(curvature); }
  [[nodiscard]] bool curvature_known() const { return curvature_.size() > 0; }
  /// ||G zhat_i||^2 of every example, for a lower triangular G.
  [[nodiscard]] std::vector<double> squared_norms(const RowMatrix& g) const;
  /// sum_i a_i r_i zhat_ij^2 for each dimension j.
  [[nodiscard]] std::vector<double> squares() const;
  /// out = M x, M = sum_i a_i r_i zhat_i zhat_i', for any number of columns; dense data only.
  /// Returns the trace of M.
  double moments_times(const RowMatrix& x, RowMatrix& out) const;

 private:
  struct Weights {
    Weights(const Problem& problem, const Reducer& reducer);
    std::optional<std::vector<std::size_t>> rows;  // none: all rows
    std::vector<double> a, c;                      // c empty: equal to a
  };
  Examples(const Problem& problem, int threads, const Reducer& reducer, Weights weights);
  void sum_lanes(RowMatrix& out) const;

  Problem problem_;
  const Reducer* reducer_;
  Eigen::VectorXd ridge_;
  double most_gain_ = std::numeric_limits<double>::infinity();
  std::vector<int> own_label_;  // empty: the caller's
  std::span<const int> label_;  // either of them
  std::vector<double> a_;
  std::vector<double> c_;  // empty: equal to a
  mutable Eigen::MatrixXd curvature_;
  // The sums of a pass, one per lane. Kept, since allocating them takes as long as filling them;
  // so only one thread at a time may start a pass.
  mutable std::vector<Packed> sums_;
};

}  // namespace covshift
