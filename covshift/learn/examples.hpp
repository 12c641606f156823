// The examples of a problem as the solvers see them, and the passes over them.
#pragma once

#include <Eigen/Core>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "covshift/base/large_vector.hpp"
#include "covshift/kernel/kernels.hpp"
#include "covshift/learn/problem.hpp"

namespace covshift {

using RowMatrix = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

/// What one pass adds up.
struct PassTotals {
  double loss = 0;   ///< sum_i c_i [V(psi_i) - psi_i[y_i]]
  double slack = 0;  ///< sum_i c_i [V(psi_i) - psi_i'q_i - H(q_i)] >= 0; 0 for the best answer q
  double risk = 0;   ///< sum_i c_i H(q_i)
};

/// Weights, or a sum like them, as the kernels want them, for `labels` labels. Both begin with a
/// cache line: a line that two threads add to is slow for both.
struct Packed {
  std::size_t labels = 0;
  /// Label after label if dense, column after column if sparse.
  LargeVector features;
  LargeVector bias;  ///< one for each label
};

/// Room for rows of features that are not in memory as the kernels want them; kept from block to
/// block, with the rows made last.
struct Workspace {
  std::vector<double> memory;
  std::size_t first = 0;
  DenseBlock rows;
};

/// All rows of zhat without the bias to two or three digits: enough for the curvatures that a
/// direction is looked for with, in a quarter of the memory.
using RoundedRows = std::vector<RoundedPair, LargeAllocator<RoundedPair>>;

/// A block of examples on its way through a pass, label-major (kernel/kernels.hpp).
struct BlockOf {
  std::size_t first = 0;  ///< the block's examples are first .. first + rows - 1
  std::size_t rows = 0;
  std::size_t lane = 0;
  double* psi = nullptr;   ///< in: potentials less those of label 0; may be written over
  double* back = nullptr;  ///< out: what the examples add, rows that sum to 0 over the labels
};
using BlockBody = std::function<void(const BlockOf&)>;
/// fill(first, n, lane, omega) writes several numbers for each of n examples from `first` on,
/// number g of example b to omega[g * block_rows + b].
using MomentWeights = std::function<void(std::size_t, std::size_t, std::size_t, double*)>;
/// Copies potentials and answers to where they are kept (examples x labels; null: not at all).
BlockBody keep_rows(int labels, double* psi, double* q);

/// Examples with their numbers out of log space, in a form that cannot overflow: with r_i the
/// largest scale of example i, zhat_i its features under the scales relative to r_i (at most 1),
///     psi_i = r_i zhat_i T,       c_i = w_i/m the weight of V,       a_i = c_i r_i.
/// a_i is formed as exp(log w + log r) and r_i kept within e^+-230, beyond which V(r x)/r, less
/// V(0)/r, no longer changes. Examples that add nothing (weight 0) are left out.
class Examples {
 public:
  Examples(const Problem& problem, int threads, const Reducer* reducer);
  Examples(const Examples&) = delete;
  Examples& operator=(const Examples&) = delete;

  [[nodiscard]] const Problem& problem() const { return problem_; }
  [[nodiscard]] const Game& game() const { return *problem_.game; }
  [[nodiscard]] double lambda() const { return problem_.lambda; }
  /// The second derivative of the penalty along each dimension: 2 lambda, 0 for a free bias.
  [[nodiscard]] const Eigen::VectorXd& ridge() const { return ridge_; }
  [[nodiscard]] bool free_bias() const { return problem_.bias && !problem_.penalise_bias; }
  [[nodiscard]] int threads() const { return threads_; }
  [[nodiscard]] std::size_t size() const { return a_.size(); }
  [[nodiscard]] int dims() const { return static_cast<int>(cols_) + (problem_.bias ? 1 : 0); }
  [[nodiscard]] int labels() const { return labels_; }
  [[nodiscard]] std::span<const int> label() const { return label_; }
  /// Where example i stands in the problem's matrix.
  [[nodiscard]] std::size_t row(std::size_t i) const { return row_.empty() ? i : row_[i]; }
  [[nodiscard]] std::span<const double> c() const { return r_.empty() ? a_ : c_; }
  [[nodiscard]] std::span<const double> a() const { return a_; }
  [[nodiscard]] double r(std::size_t i) const { return r_.empty() ? 1 : r_[i]; }
  [[nodiscard]] const Reducer& reducer() const { return *reducer_; }

  /// One pass over the data, which leaves memory once: a block's potentials at weights T
  /// (dims x K) go to `body`, whose answer is added up, out = sum_i zhat_i back_i'. Games know
  /// potentials only up to a constant and answer with rows that sum to 0, so label 0 need not be
  /// worked out: its potentials are 0 and its answer is what the others leave.
  void fused(const RowMatrix& t, RowMatrix& out, const BlockBody& body) const;
  /// The same with rounded rows, of dense data.
  void fused(const RoundedRows& rows, const RowMatrix& t, RowMatrix& out,
             const BlockBody& body) const;
  /// None if there are numbers that floats cannot hold, or that are floats already: of all holders,
  /// who must choose alike.
  [[nodiscard]] std::optional<RoundedRows> rounded() const;
  /// F and its gradient: A = sum_i a_i zhat_i (e_y - q_i)' for the adversary's best answers q_i, or
  /// for the given ones (size x K). `see` gets every block's potentials, relative to those of the
  /// true labels, and the answers in the place of `back`.
  PassTotals pass(const RowMatrix& t, RowMatrix& a, const double* q_given = nullptr,
                  const BlockBody& see = {}) const;
  /// psi = r zhat T for all examples, size x K, or for `see`, block after block.
  void potentials(const RowMatrix& t, double* psi) const;
  void potentials(const RowMatrix& t, const BlockBody& see) const;
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
  [[nodiscard]] bool sparse() const { return problem_.features.storage.index() >= 2; }
  /// ||zhat_i||^2
  [[nodiscard]] double norm2(std::size_t i) const;

  /// Weights as kernels read them, for all labels or for all but label 0 and relative to it.
  [[nodiscard]] Packed pack(const RowMatrix& t, bool contrasts) const;
  /// Back again; without label 0 its weights are what makes the rows sum to 0.
  [[nodiscard]] RowMatrix unpack(const Packed& packed) const;
  /// One example alone, for coordinate methods, with packed weights of all labels: its potentials
  /// psi = r zhat T, and T += zhat delta', both label-major (psi[y * block_rows]).
  void potential(std::size_t i, const Packed& t, double* psi, Workspace& work) const {
    times(i, 1, t, psi, work);
  }
  void add(std::size_t i, const double* delta, Packed& t, Workspace& work) const;
  /// Has the memory fetch an example that will be wanted soon.
  void prefetch(std::size_t i) const;

  /// Runs body(first, last, lane) over the lanes: fixed ranges of examples, whatever the threads.
  void each_lane(const std::function<void(std::size_t, std::size_t, std::size_t)>& body) const;
  [[nodiscard]] std::size_t lanes() const { return lanes_; }

 private:
  /// f(column, value) for every entry of zhat_i, the bias last.
  template <typename F>
  void each_entry(std::size_t i, F&& f) const;
  /// Rows of zhat without the bias: the caller's memory where that serves, otherwise in `work`.
  DenseBlock dense_block(std::size_t first, std::size_t n, Workspace& work) const;
  SparseRow sparse_row(std::size_t i, Workspace& work) const;
  /// Makes it all 0, in the memory it has.
  void zero(Packed& packed, bool contrasts) const;
  /// Adds up the lanes' sums.
  void sum_lanes(RowMatrix& out) const;
  void times(std::size_t first, std::size_t n, const Packed& t, double* psi, Workspace& work) const;
  void times_transposed(std::size_t first, std::size_t n, const double* rows, Packed& out,
                        Workspace& work) const;
  /// What both do beside the features: psi = r (psi + bias), and the bias' part of the sums.
  void finish_times(std::size_t first, std::size_t n, const Packed& t, double* psi) const;
  void add_bias(std::size_t first, std::size_t n, const double* rows, Packed& out) const;
  [[nodiscard]] double bias_of(std::size_t i) const {
    return rho_.empty() ? 1.0 : rho_[i * problem_.scales + problem_.scale_of_bias];
  }
  [[nodiscard]] const double* rho_of(std::size_t i) const {
    return rho_.empty() ? nullptr : rho_.data() + i * problem_.scales;
  }

  Problem problem_;
  int threads_;
  const Reducer* reducer_;
  std::size_t cols_;
  int labels_;
  Eigen::VectorXd ridge_;
  std::size_t lanes_ = 1;
  std::size_t block_ = block_rows;  // examples in a block: fewer where rows are long
  // What is as large as the examples are many is kept only where it says something.
  std::vector<std::size_t> row_;  // where example i stands in the caller's matrix; empty: at i
  std::vector<int> own_label_;    // empty: the caller's
  std::span<const int> label_;    // either of them
  std::vector<double> a_;
  std::vector<double> c_, r_;  // empty: r is 1 and c is a
  std::vector<double> rho_;    // size x scales, relative to r; empty: a single scale
  // The lanes' sums of a pass. Kept, since fetching that much memory anew takes as long as filling
  // it; so one thread at a time may start a pass.
  mutable std::vector<Packed> sums_;
};

template <typename F>
void Examples::each_entry(std::size_t i, F&& f) const {
  const double* rho = rho_of(i);
  const auto scaled = [&](std::size_t j, double value) {
    if (rho == nullptr) return value;
    return value * rho[problem_.scale_of_column.empty() ? 0 : problem_.scale_of_column[j]];
  };
  std::visit(
      [&](const auto& x) {
        if constexpr (requires { x.offsets; }) {
          for (std::int64_t e = x.offsets[row(i)]; e < x.offsets[row(i) + 1]; ++e) {
            const auto j = static_cast<std::size_t>(x.columns[e]);
            f(j, scaled(j, static_cast<double>(x.values[e])));
          }
        } else {
          const auto* from = x.data + row(i) * x.stride;
          for (std::size_t j = 0; j < cols_; ++j) f(j, scaled(j, static_cast<double>(from[j])));
        }
      },
      problem_.features.storage);
  if (problem_.bias) f(cols_, bias_of(i));
}

}  // namespace covshift
