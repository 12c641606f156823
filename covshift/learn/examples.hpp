// The examples of a problem as the solvers see them, and the passes over them.
#pragma once

#include <vector>

#include "covshift/learn/scaled_rows.hpp"

namespace covshift {

/// What one pass adds up.
struct PassTotals {
  double loss = 0;   ///< sum_i c_i [V(psi_i) - psi_i[y_i]]
  double slack = 0;  ///< sum_i c_i [V(psi_i) - psi_i'q_i - H(q_i)] >= 0; 0 for the best answer q
  double risk = 0;   ///< sum_i c_i H(q_i)
};

/// fill(first, n, lane, omega) writes several numbers for each of n examples from `first` on,
/// number g of example b to omega[g * block_rows + b].
using MomentWeights = std::function<void(std::size_t, std::size_t, std::size_t, double*)>;

/// Scaled rows with labels and weights, out of log space:
///     c_i = w_i/m the weight of V,       a_i = c_i r_i.
/// a_i is formed as exp(log w + log r). Examples that add nothing (weight 0) are left out.
class Examples : public ScaledRows {
 public:
  /// The problem is not checked.
  explicit Examples(const Problem& problem, int threads = 0, const Reducer* reducer = nullptr);

  [[nodiscard]] const Problem& problem() const { return problem_; }
  [[nodiscard]] const Game& game() const { return *problem_.game; }
  [[nodiscard]] double lambda() const { return problem_.lambda; }
  /// The second derivative of the penalty along each dimension: 2 lambda, 0 for a free bias.
  [[nodiscard]] const Eigen::VectorXd& ridge() const { return ridge_; }
  [[nodiscard]] bool free_bias() const { return problem_.bias && !problem_.penalise_bias; }
  [[nodiscard]] std::span<const int> label() const { return label_; }
  [[nodiscard]] std::span<const double> c() const { return c_.empty() ? a_ : c_; }
  [[nodiscard]] std::span<const double> a() const { return a_; }
  [[nodiscard]] const Reducer& reducer() const { return *reducer_; }

  /// One pass over the data, which leaves memory once: a block's potentials at weights T
  /// (dims x K), less those of label 0, go to `body`, whose answer is added up,
  /// out = sum_i zhat_i back_i'. Games know potentials only up to a constant and answer with rows
  /// that sum to 0, so label 0 need not be worked out: its potentials are 0 and its answer is what
  /// the others leave.
  void fused(const RowMatrix& t, RowMatrix& out, const BlockBody& body) const;
  /// F and its gradient: A = sum_i a_i zhat_i (e_y - q_i)' for the adversary's best answers q_i, or
  /// for the given ones (size x K). `observe` gets every block's potentials, relative to those of
  /// the true labels, and the answers in the place of `back`.
  PassTotals pass(const RowMatrix& t, RowMatrix& a, const double* q_given = nullptr,
                  const BlockBody& observe = {}) const;
  /// sum_i zhat_i rows_i', dims x K, for rows size x K, or those that `fill` puts into `back`.
  void collect(const double* rows, RowMatrix& out) const;
  void collect(const BlockBody& fill, RowMatrix& out) const;
  /// Sum over examples of omega_i zhat_i zhat_i' (lower triangle), for `count` numbers omega to an
  /// example at once: out[j] is dims x dims.
  void grams(int count, const MomentWeights& fill, std::vector<Eigen::MatrixXd>& out) const;
  /// sum_i a_i r_i zhat_ij^2 for each dimension j.
  [[nodiscard]] std::vector<double> squares() const;
  /// M X, M = sum_i a_i r_i zhat_i zhat_i', for several vectors, dims x any number; of dense data.
  /// Returns M's trace.
  double moments_times(const RowMatrix& x, RowMatrix& out) const;

 private:
  struct Weights {
    Weights(const Problem& problem, const Reducer& reducer);
    std::optional<std::vector<std::size_t>> rows;  // none: all take part
    std::vector<double> a, c;                      // c empty: the same as a
  };
  Examples(const Problem& problem, int threads, const Reducer& reducer, Weights weights);
  void sum_lanes(RowMatrix& out) const;

  Problem problem_;
  const Reducer* reducer_;
  Eigen::VectorXd ridge_;
  std::vector<int> own_label_;  // empty: the caller's
  std::span<const int> label_;  // either of them
  std::vector<double> a_;
  std::vector<double> c_;  // empty: the same as a
  // The lanes' sums of a pass. Kept, since fetching that much memory anew takes as long as filling
  // it; so one thread at a time may start a pass.
  mutable std::vector<Packed> sums_;
};

}  // namespace covshift
