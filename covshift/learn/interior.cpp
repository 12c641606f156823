#include <algorithm>
#include <cmath>
#include <numeric>

#include "covshift/game/barrier.hpp"
#include "covshift/learn/solvers.hpp"

namespace covshift {
namespace {

/// The training problem of a game with costs as one quadratic program,
///     min  sum_i c_i (v_i - psi_i[y_i]) + lambda ||T||^2
///     s.t. v_i >= (C'p_i)_y + psi_i[y] for every label y,   p_i a distribution,
/// by Mehrotra's predictor-corrector interior point method; multipliers of the inequalities,
/// divided by c_i, are the adversaries q_i. For log loss the entropy of q_i takes the place of p_i.
/// All but T is eliminated example by example (BarrierBlock), so a step costs what a Newton step
/// costs, and the number of steps hardly depends on lambda, the weights or the game: potentials
/// that saturate, which stall a plain Newton method, do not matter where q is a variable of its
/// own.
class Interior {
 public:
  Interior(const Examples& examples, const SolveOptions& options)
      : e_(examples),
        k_(static_cast<std::size_t>(examples.labels())),
        monitor_(examples, options, Solver::interior, 200),
        system_(examples),
        t_(RowMatrix::Zero(examples.dims(), examples.labels())),
        psi_(examples.size() * k_),
        move_(examples.size() * k_),
        rows_(examples.size() * k_),
        q_(examples.size() * k_) {
    for (std::size_t lane = 0; lane < e_.lanes(); ++lane) block_.emplace_back(e_.game());
    const BarrierBlock& block = block_[0];
    stride_ = block.state_size();
    state_.resize(e_.size() * stride_);
    affine_.resize(e_.size() * stride_);
    direction_.resize(e_.size() * stride_);
    keep_factors_ = e_.size() * block.factor_size() <= (1U << 22U);
    factors_.resize((keep_factors_ ? e_.size() : e_.lanes()) * block.factor_size());
    // Each example's slacks start at a unit of its own: how far its potentials may move.
    // lambda ||T||^2 <= F(0) bounds the weights.
    double start = 0;
    for (std::size_t i = 0; i < e_.size(); ++i) start += e_.c()[i] * block.range();
    e_.reducer().sum({&start, 1});
    const double bound = 0.03 * std::sqrt(start / e_.lambda());
    double share = 0;
    for (std::size_t i = 0; i < e_.size(); ++i) {
      unit_.push_back(block.range() + e_.r(i) * std::sqrt(e_.norm2(i)) * bound);
      share += e_.c()[i] * unit_[i];
    }
    if (options.start.empty()) {
      for (std::size_t i = 0; i < e_.size(); ++i) {
        block.start(e_.label()[i], unit_[i], &state_[i * stride_]);
      }
    } else {
      start_from(options.start);
    }
    e_.reducer().sum({&share, 1});
    // From there they head for products that weigh the same in the sum, c q s: the quadratic
    // program's own central path. (Paths on which an example of weight e^-10 keeps the same q s as
    // one of e^10 take up to ten times the steps.) The limit only keeps numbers finite.
    for (std::size_t i = 0; i < e_.size(); ++i) {
      unit_[i] = std::min(share / e_.c()[i], 1e30 * unit_[i]);
      weight_ += e_.c()[i] * unit_[i];
    }
    const std::size_t products = (stride_ - 2) / 2;  // q s and p pi of an example
    weight_ *= static_cast<double>(products);
    e_.reducer().sum({&weight_, 1});
  }

  Solution run() {
    RowMatrix a;
    RowMatrix right;
    RowMatrix step(t_.rows(), t_.cols());
    int iteration = 0;
    double best_tau = 1e300;
    int since_progress = 0;
    for (;; ++iteration) {
      const double tau = mean_complementarity(state_, state_, 0);
      const PassTotals totals = certify_pass(a);
      if (monitor_.stop(t_, certify(totals, t_, a, e_.lambda()), iteration)) break;

      // Predictor: straight for complementarity 0.
      system_.factor([&](std::size_t i, std::size_t lane, double* b) {
        BarrierBlock& block = block_[lane];
        block.factor(block.map(&state_[i * stride_]), e_.label()[i], 0, factors(i, lane));
        block.response({b, k_ * k_});
      });
      newton_step(0, false, a, right, step, affine_);
      const double reach = std::min(1.0, longest(affine_));
      const double ratio = std::min(1.0, mean_complementarity(state_, affine_, reach) / tau);
      // Corrector: centred as much as the predictor fell short, with its second-order term. Where
      // that no longer brings tau down (the method can cycle), plain centring breaks the spell.
      since_progress = tau < 0.9 * best_tau ? 0 : since_progress + 1;
      best_tau = std::min(best_tau, tau);
      const bool stalled = since_progress > 5;
      newton_step(tau * (stalled ? 0.5 : ratio * ratio * ratio), !stalled, a, right, step,
                  direction_);
      const double length = std::min(1.0, 0.995 * longest(direction_));
      if (!(length > 1e-13)) break;  // rounding: no step left
      t_ += length * step;
      e_.each_lane([&](std::size_t begin, std::size_t end, std::size_t lane) {
        const BarrierBlock& block = block_[lane];
        for (std::size_t i = begin; i < end; ++i) {
          BarrierState x = block.map(&state_[i * stride_]);
          advance(x, block.map(&direction_[i * stride_]), length);
          block.unmap(x, &state_[i * stride_]);
        }
      });
    }
    return monitor_.finish(iteration);
  }

 private:
  /// The players as the given weights have them, of another lambda perhaps, a step back from the
  /// border: an interior point method finds it hard to leave a border that it starts near.
  void start_from(std::span<const double> weights) {
    constexpr double back = 0.3;
    std::copy(weights.begin(), weights.end(), t_.data());
    RowMatrix a;
    e_.pass(t_, a, nullptr, keep_rows(e_.labels(), psi_.data(), q_.data()));
    const BarrierBlock& block = block_[0];
    std::vector<double> p(e_.game().actions());
    for (std::size_t i = 0; i < e_.size(); ++i) {
      const std::span<const double> psi(&psi_[i * k_], k_);
      BarrierState x = block.map(&state_[i * stride_]);
      for (std::size_t y = 0; y < k_; ++y) {
        x.q[y] = (1 - back) * q_[i * k_ + y] + back / static_cast<double>(k_);
      }
      if (!x.p.empty()) e_.game().predict(psi, p);
      for (std::size_t j = 0; j < x.p.size(); ++j) {
        x.p[j] = (1 - back) * p[j] + back / static_cast<double>(p.size());
      }
      block.set_slacks(e_.label()[i], psi, 0.1 * unit_[i], &state_[i * stride_]);
    }
  }

  /// A pass with the adversaries as they stand, made distributions.
  PassTotals certify_pass(RowMatrix& a) {
    const BarrierBlock& block = block_[0];
    for (std::size_t i = 0; i < e_.size(); ++i) {
      const BarrierState x = block.map(&state_[i * stride_]);
      const double sum = std::accumulate(x.q.begin(), x.q.end(), 0.0);
      for (std::size_t y = 0; y < k_; ++y) q_[i * k_ + y] = x.q[y] / sum;
    }
    return e_.pass(t_, a, q_.data(), keep_rows(e_.labels(), psi_.data(), nullptr));
  }

  /// The mean product q s or p pi, in units, after a step of `length`.
  double mean_complementarity(std::vector<double>& at, std::vector<double>& by, double length) {
    std::vector<double> partial(e_.lanes());
    e_.each_lane([&](std::size_t begin, std::size_t end, std::size_t lane) {
      const BarrierBlock& block = block_[lane];
      for (std::size_t i = begin; i < end; ++i) {
        const BarrierState x = block.map(&at[i * stride_]);
        const BarrierState d = block.map(&by[i * stride_]);
        double sum = 0;
        for (std::size_t y = 0; y < x.q.size(); ++y) {
          sum += (x.q[y] + length * d.q[y]) * (x.s[y] + length * d.s[y]);
        }
        for (std::size_t j = 0; j < x.p.size(); ++j) {
          sum += (x.p[j] + length * d.p[j]) * (x.pi[j] + length * d.pi[j]);
        }
        partial[lane] += e_.c()[i] * sum;
      }
    });
    double total = 0;
    for (const double part : partial) total += part;
    e_.reducer().sum({&total, 1});
    return total / weight_;
  }

  double longest(std::vector<double>& by) {
    std::vector<double> partial(e_.lanes(), 1e300);
    e_.each_lane([&](std::size_t begin, std::size_t end, std::size_t lane) {
      const BarrierBlock& block = block_[lane];
      for (std::size_t i = begin; i < end; ++i) {
        partial[lane] = std::min(partial[lane], longest_step(block.map(&state_[i * stride_]),
                                                             block.map(&by[i * stride_])));
      }
    });
    double shortest = -*std::min_element(partial.begin(), partial.end());
    e_.reducer().max({&shortest, 1});
    return -shortest;
  }

  /// Where example i's factored equations stand: kept for each example while that is little memory,
  /// else made again when needed.
  double* factors(std::size_t i, std::size_t lane) {
    return &factors_[(keep_factors_ ? i : lane) * block_[lane].factor_size()];
  }

  /// Solves for dT and fills every example's step towards complementarity `tau`.
  void newton_step(double tau, bool second_order, const RowMatrix& a, RowMatrix& right,
                   RowMatrix& step, std::vector<double>& out) {
    const auto prepare = [&](std::size_t i, std::size_t lane) {
      BarrierBlock& block = block_[lane];
      const BarrierState x = block.map(&state_[i * stride_]);
      if (keep_factors_) {
        block.use(e_.label()[i], 0, factors(i, lane));
      } else {
        block.factor(x, e_.label()[i], 0, factors(i, lane));
      }
      BarrierState affine;
      if (second_order) affine = block.map(&affine_[i * stride_]);
      block.aim(x, {&psi_[i * k_], k_}, tau * unit_[i], second_order ? &affine : nullptr);
    };
    e_.each_lane([&](std::size_t begin, std::size_t end, std::size_t lane) {
      BarrierBlock& block = block_[lane];
      for (std::size_t i = begin; i < end; ++i) {
        prepare(i, lane);
        double* row = &rows_[i * k_];
        block.answer({}, {row, k_});
        for (std::size_t y = 0; y < k_; ++y) row[y] *= e_.a()[i];
      }
    });
    e_.collect(rows_.data(), right);
    right = a - 2 * e_.lambda() * t_ - right;
    system_.solve(right, step);
    e_.potentials(step, move_.data());
    e_.each_lane([&](std::size_t begin, std::size_t end, std::size_t lane) {
      BarrierBlock& block = block_[lane];
      for (std::size_t i = begin; i < end; ++i) {
        prepare(i, lane);
        BarrierState d = block.map(&out[i * stride_]);
        block.step(block.map(&state_[i * stride_]), {&move_[i * k_], k_}, d);
        block.unmap(d, &out[i * stride_]);
      }
    });
  }

  const Examples& e_;
  std::size_t k_;
  Monitor monitor_;
  NewtonSystem system_;
  std::vector<BarrierBlock> block_;  // a workspace for each lane
  RowMatrix t_;
  std::size_t stride_ = 0;
  std::vector<double> state_, affine_, direction_;
  std::vector<double> psi_, move_, rows_, q_;
  bool keep_factors_ = true;
  std::vector<double> factors_;
  std::vector<double> unit_;  // the product q s or p pi of each example, over their mean
  double weight_ = 0;         // sum_i c_i unit_i, for each product
};

}  // namespace

Solution solve_interior(const Examples& examples, const SolveOptions& options) {
  return Interior(examples, options).run();
}

}  // namespace covshift
