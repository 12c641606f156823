#include <algorithm>
#include <cmath>
#include <numeric>

#include "covshift/base/random.hpp"
#include "covshift/learn/solvers.hpp"

namespace covshift {
namespace {

/// max_q  sum_i c_i H(q_i) - ||A(q)||^2 / (4 lambda)  by coordinate ascent: one example after the
/// other gets its exact best answer with all others held, T = A(q) / (2 lambda) kept up to date,
///     max_q  H(q) + psi_i'q - beta_i/2 ||q - q_i||^2,     beta_i = a_i r_i ||zhat_i||^2 / (2
///     lambda).
/// Examples whose answer has settled are visited less often. One thread: every step needs the last.
/// Several holders of examples sweep at the same time, each as if its steps weighed as much more as
/// there are holders, which keeps their sum an ascent (CoCoA+, Ma et al. 2015).
class DualAscent {
 public:
  DualAscent(const Examples& examples, const SolveOptions& options)
      : e_(examples),
        k_(static_cast<std::size_t>(examples.labels())),
        monitor_(examples, options, Solver::dual_ascent, 100'000),
        random_(options.seed),
        t_(RowMatrix::Zero(examples.dims(), examples.labels())),
        q_(examples.size() * k_, 0.0),
        beta_(examples.size()),
        order_(examples.size()),
        b_(k_),
        answer_(k_),
        delta_(k_) {
    e_.reducer().sum({&holders_, 1});
    for (std::size_t i = 0; i < e_.size(); ++i) {
      q_[i * k_ + e_.label()[i]] = 1;  // A = 0, T = 0
      beta_[i] = holders_ * e_.a()[i] * e_.r()[i] * e_.norm2(i) / (2 * e_.lambda());
    }
    std::iota(order_.begin(), order_.end(), 0);
    if (!options.start_adversary.empty()) start_from(options.start_adversary);
  }

  Solution run() {
    RowMatrix a;
    int epoch = 0;
    int next_check = 1;
    for (;; ++epoch) {
      if (epoch == next_check || monitor_.out_of_time() || epoch == 0 ||
          (monitor_.options().max_iterations > 0 && epoch >= monitor_.options().max_iterations)) {
        // The pass gives A(q) afresh, which also takes the rounding of many updates out of T.
        e_.pass(t_, a, q_.data());
        t_ = a / (2 * e_.lambda());
        const PassTotals totals = e_.pass(t_, a, q_.data());
        if (monitor_.stop(t_, certify(totals, t_, a, e_.lambda()), epoch)) break;
        next_check = epoch + std::max(1, epoch / 8);
        std::iota(order_.begin(), order_.end(), 0);
      }
      sweep();
      if (holders_ > 1) gather();
    }
    Solution solution = monitor_.finish(epoch);
    solution.adversary = std::move(q_);
    return solution;
  }

 private:
  /// The given answers, of another lambda perhaps; as much of them as raises the dual value most:
  ///     D(e_y + g (q - e_y)) >= g sum_i c_i H(q_i) - g^2 ||A(q)||^2 / (4 lambda),
  /// H being concave and 0 at e_y. Where a smaller lambda leaves T as it was, q - e_y shrinks with
  /// lambda: weights would not tell.
  void start_from(std::span<const double> answers) {
    RowMatrix a;
    const PassTotals totals = e_.pass(t_, a, answers.data());
    const double squared = a.squaredNorm();
    const double share =
        squared > 0 ? std::clamp(2 * e_.lambda() * totals.risk / squared, 0.0, 1.0) : 1.0;
    for (std::size_t j = 0; j < q_.size(); ++j) q_[j] += share * (answers[j] - q_[j]);
    t_ = a * (share / (2 * e_.lambda()));
  }

  /// T = A(q) / (2 lambda) for the answers of all holders.
  void gather() {
    rows_.resize(q_.size());
    for (std::size_t i = 0; i < e_.size(); ++i) {
      const double scale = e_.a()[i] / (2 * e_.lambda());
      for (std::size_t y = 0; y < k_; ++y) rows_[i * k_ + y] = -scale * q_[i * k_ + y];
      rows_[i * k_ + e_.label()[i]] += scale;
    }
    e_.collect(rows_.data(), t_);
  }

  void sweep() {
    random_.shuffle(std::span(order_));
    std::size_t kept = 0;
    for (const std::size_t i : order_) {
      if (visit(i)) order_[kept++] = i;
    }
    order_.resize(kept);
    if (kept == 0) {  // all settled: look at everyone again
      order_.resize(e_.size());
      std::iota(order_.begin(), order_.end(), 0);
    }
  }

  /// True if the example's answer moved.
  bool visit(std::size_t i) {
    double* q = q_.data() + i * k_;
    e_.potential(i, t_, b_.data());
    const double own = b_[e_.label()[i]];
    for (std::size_t y = 0; y < k_; ++y) b_[y] += beta_[i] * q[y] - own;
    if (beta_[i] > 1e-12) {
      e_.game().proximal(b_, beta_[i], e_.label()[i], answer_);
    } else {
      double value = 0;
      e_.game().play(1, b_.data(), &e_.label()[i], &value, answer_.data());
    }
    double moved = 0;
    for (std::size_t y = 0; y < k_; ++y) {
      delta_[y] = q[y] - answer_[y];
      moved = std::max(moved, std::abs(delta_[y]));
    }
    if (moved < 1e-14) return false;
    const double scale = holders_ * e_.a()[i] / (2 * e_.lambda());
    for (std::size_t y = 0; y < k_; ++y) delta_[y] *= scale;
    e_.add(i, delta_.data(), t_);
    std::copy(answer_.begin(), answer_.end(), q);
    return true;
  }

  const Examples& e_;
  std::size_t k_;
  Monitor monitor_;
  Random random_;
  double holders_ = 1;
  RowMatrix t_;
  std::vector<double> q_, beta_, rows_;
  std::vector<std::size_t> order_;
  std::vector<double> b_, answer_, delta_;
};

}  // namespace

Solution solve_dual_ascent(const Examples& examples, const SolveOptions& options) {
  return DualAscent(examples, options).run();
}

}  // namespace covshift
