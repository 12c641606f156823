#include <algorithm>
#include <cmath>
#include <numeric>

#include "covshift/base/random.hpp"
#include "covshift/base/threads.hpp"
#include "covshift/learn/objective.hpp"
#include "covshift/learn/solver_parts.hpp"

namespace covshift {
namespace {

/// max_q  sum_i c_i H(q_i) - ||A(q)||^2 / (4 lambda)  by coordinate ascent: example by example, the
/// exact maximum over q_i with all others fixed, T = A(q) / (2 lambda) kept up to date,
///     max_q  H(q) + psi_i'q - beta_i/2 ||q - q_i||^2,   beta_i = a_i r_i ||zhat_i||^2 / (2
///     lambda).
/// A round visits all examples and then, while that gains more per visit, those whose q_i still
/// moves. Single-threaded: every step depends on the previous one. Several holders of examples run
/// their rounds concurrently, each scaling its steps by the number of holders, which keeps their
/// sum an ascent (CoCoA+, Ma et al. 2015).
class DualAscent {
 public:
  DualAscent(const Examples& examples, const SolveOptions& options)
      : examples_(examples),
        k_(static_cast<std::size_t>(examples.labels())),
        monitor_(examples, options, Solver::dual_ascent, 100'000),
        certify_(examples),
        random_(options.seed),
        t_(RowMatrix::Zero(examples.dims(), examples.labels())),
        packed_(examples.pack(t_, false)),
        q_(examples.size() * k_, 0.0),
        beta_(examples.size()),
        order_(examples.size()),
        psi_(k_ * block_rows),
        b_(k_),
        answer_(k_) {
    examples_.reducer().sum({&holders_, 1});
    for (std::size_t i = 0; i < examples_.size(); ++i) {
      q_[i * k_ + examples_.label()[i]] = 1;  // A = 0, T = 0
      beta_[i] = holders_ * examples_.a()[i] * examples_.r(i) * examples_.norm2(i) /
                 (2 * examples_.lambda());
    }
    // A holder without examples has no adversaries, and starts with the others.
    const auto given = static_cast<double>(options.start_adversary.size());
    if (max_over(&examples_.reducer(), given) > 0) start_from(options.start_adversary);
  }

  Solution run() {
    RowMatrix a;
    int next_check = 0;
    int last_check = 0;
    double last_gap = 0;
    for (int round = 0;; ++round) {
      const int limit = monitor_.options().max_iterations;
      if (round == next_check || monitor_.out_of_time() || (limit > 0 && round >= limit)) {
        t_ = examples_.unpack(packed_);
        const PassTotals totals = examples_.pass(t_, a, q_.data());
        const Bounds bounds = certify_(totals, t_, a);
        if (monitor_.stop(t_, bounds, round)) {
          Solution solution = monitor_.finish(round);
          solution.adversary = std::move(q_);
          return solution;
        }
        // Removes the rounding errors of many updates.
        packed_ = examples_.pack(a / (2 * examples_.lambda()), false);
        // A check takes a third of a round. The next one is when the gap, extrapolated from the
        // last two checks, reaches the target.
        const double fall = std::log(last_gap / bounds.gap) / (round - last_check);
        const double rounds = std::log(bounds.gap / monitor_.target(bounds.objective)) / fall;
        const bool known = round > 1 && rounds > 1;  // false if not a number
        next_check = round + (known ? static_cast<int>(std::min(rounds, longest_wait(round))) : 1);
        last_check = round;
        last_gap = bounds.gap;
      }
      run_round();
      if (holders_ > 1) gather();
    }
  }

 private:
  /// Starts from given adversaries q, perhaps of another lambda, scaled to maximise the bound
  ///     D(e_y + g (q - e_y)) >= g sum_i c_i H(q_i) - g^2 ||A(q)||^2 / (4 lambda),
  /// which holds because H is concave and 0 at e_y.
  void start_from(std::span<const double> answers) {
    RowMatrix a;
    const PassTotals totals = examples_.pass(t_, a, answers.data());
    const double squared = a.squaredNorm();
    const double share =
        squared > 0 ? std::clamp(2 * examples_.lambda() * totals.risk / squared, 0.0, 1.0) : 1.0;
    for (std::size_t j = 0; j < q_.size(); ++j) q_[j] += share * (answers[j] - q_[j]);
    packed_ = examples_.pack(a * (share / (2 * examples_.lambda())), false);
  }

  /// T = A(q) / (2 lambda), summed over all holders.
  void gather() {
    rows_.resize(q_.size());
    for (std::size_t i = 0; i < examples_.size(); ++i) {
      const double scale = examples_.a()[i] / (2 * examples_.lambda());
      for (std::size_t y = 0; y < k_; ++y) rows_[i * k_ + y] = -scale * q_[i * k_ + y];
      rows_[i * k_ + examples_.label()[i]] += scale;
    }
    examples_.collect(rows_.data(), t_);
    packed_ = examples_.pack(t_, false);
  }

  /// Limits the rounds between checks, since the observer is called at checks only.
  static double longest_wait(int round) { return std::max(4, round / 4); }

  void run_round() {
    throw_if_stopped();
    const std::size_t blocks = (examples_.size() + neighbours - 1) / neighbours;
    block_order_.resize(blocks);
    std::iota(block_order_.begin(), block_order_.end(), 0);
    random_.shuffle(std::span(block_order_));
    order_.clear();
    for (const std::size_t b : block_order_) {
      for (std::size_t i = b * neighbours; i < std::min((b + 1) * neighbours, examples_.size());
           ++i) {
        order_.push_back(i);
      }
    }
    double first_gain = 0;  // per visit, in the sweep over all examples
    for (int sweep = 0; sweep < 30 && !order_.empty(); ++sweep) {
      const auto visits = static_cast<double>(order_.size());
      const double gain = this->sweep() / visits;
      if (sweep == 0) first_gain = gain;
      if (gain < first_gain) break;
    }
  }

  /// Visits the examples in order_ and keeps those that moved. Returns a lower bound on the gain of
  /// the dual value.
  double sweep() {
    double gained = 0;
    std::size_t kept = 0;
    for (std::size_t n = 0; n < order_.size(); ++n) {
      if (n + 2 < order_.size()) examples_.prefetch(order_[n + 2]);
      const std::size_t i = order_[n];
      const double gain = visit(i);
      if (gain > 0) order_[kept++] = i;
      gained += gain;
    }
    order_.resize(kept);
    return gained;
  }

  /// Maximises over q_i. Returns a lower bound on the gain, 0 if q_i did not move.
  double visit(std::size_t i) {
    double* q = q_.data() + i * k_;
    examples_.times(i, 1, packed_, psi_.data(), work_);
    const double own = psi_[examples_.label()[i] * block_rows];
    for (std::size_t y = 0; y < k_; ++y) b_[y] = psi_[y * block_rows] - own + beta_[i] * q[y];
    if (beta_[i] > 1e-12) {
      examples_.game().proximal(b_, beta_[i], examples_.label()[i], answer_);
    } else {
      double value = 0;
      examples_.game().play(1, b_.data(), &examples_.label()[i], &value, answer_.data());
    }
    double moved = 0;
    double squared = 0;
    const double scale = holders_ * examples_.a()[i] / (2 * examples_.lambda());
    for (std::size_t y = 0; y < k_; ++y) {
      const double delta = q[y] - answer_[y];
      moved = std::max(moved, std::abs(delta));
      squared += delta * delta;
      psi_[y * block_rows] = scale * delta;
    }
    if (moved < 1e-14) return 0;
    examples_.add(i, psi_.data(), packed_, work_);
    std::copy(answer_.begin(), answer_.end(), q);
    return std::max(examples_.c()[i] * beta_[i] * squared / 2, 1e-300);
  }

  const Examples& examples_;
  std::size_t k_;
  Monitor monitor_;
  Certifier certify_;
  Random random_;
  double holders_ = 1;
  RowMatrix t_;
  Packed packed_;  // T, updated by every visit
  std::vector<double> q_, beta_, rows_;
  static constexpr std::size_t neighbours = 16;
  std::vector<std::size_t> order_, block_order_;
  std::vector<double> psi_, b_, answer_;
  Workspace work_;
};

}  // namespace

Solution solve_dual_ascent(const Examples& examples, const SolveOptions& options) {
  return DualAscent(examples, options).run();
}

}  // namespace covshift
