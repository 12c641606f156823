// One example's part of an interior-point step, for any game. Used by the interior-point solver of
// learn/ and for the proximal step of games without a closed form.
#pragma once

#include <span>
#include <vector>

#include "covshift/game/game.hpp"

namespace covshift {

/// The players' distributions and their slacks:
///     s  = v - C'p - psi  > 0   (how much less than v each label pays),      q s  -> 0
///     pi = C q - nu       > 0   (how much more than nu each action costs),   p pi -> 0
/// For log loss -log q replaces C'p and there are no actions.
struct BarrierState {
  std::span<double> q, s;   // labels
  std::span<double> p, pi;  // actions; empty if there is only one
  double v = 0;
  double nu = 0;
};

/// Newton's equations of one example, which reduce to dq = B dpsi + b. A workspace, one per thread;
/// call factor (or use), aim, then answer or step.
class BarrierBlock {
 public:
  /// Padding, in numbers, against false sharing between threads: two cache lines.
  static constexpr std::size_t apart = 16;

  explicit BarrierBlock(const Game& game);
  BarrierBlock(BarrierBlock&&) = default;  // no copies: pointers into its own memory

  /// A state is stored in state_size() numbers of the caller: map() reads it, unmap() writes back
  /// its two scalars (the arrays are spans).
  [[nodiscard]] std::size_t state_size() const { return 2 * labels_ + 2 * actions_ + 2; }
  [[nodiscard]] BarrierState map(double* memory) const;
  void unmap(const BarrierState& state, double* memory) const;
  /// Both players uniform, every s and pi at least `slack`, psi = 0.
  void start(int label, double slack, double* memory) const;
  /// Every s and pi at least `slack` for the players q and p in `memory`; psi empty: 0.
  void set_slacks(int label, std::span<const double> psi, double slack, double* memory) const;
  /// The largest cost minus the smallest; 1 for log loss.
  [[nodiscard]] double range() const { return range_; }

  /// Factors Newton's equations at `state` into factor_size() numbers of the caller; beta is the
  /// coefficient of a quadratic cost on q (proximal step).
  void factor(const BarrierState& state, int label, double beta, double* memory);
  [[nodiscard]] std::size_t factor_size() const;
  /// False if factoring again is as fast as reading stored factors.
  [[nodiscard]] bool factors_cost() const { return !diagonal_form(); }
  /// Selects factors made before.
  void use(int label, double beta, const double* memory);
  /// B, K x K row-major: the derivative of q with respect to psi. B = B', B 1 = 0.
  void response(std::span<double> b);
  /// Sets the target: every product q s and p pi equal to tau, residuals 0; with the second-order
  /// term of an affine step if one is given (Mehrotra).
  void aim(const BarrierState& state, std::span<const double> psi, double tau,
           const BarrierState* affine);
  /// dq for a change of potentials (empty: 0).
  void answer(std::span<const double> dpsi, std::span<double> dq);
  /// The whole step for a change of potentials (empty: 0).
  void step(const BarrierState& state, std::span<const double> dpsi, BarrierState& direction);

 private:
  /// True if the equations are diagonal but for one or two rows.
  [[nodiscard]] bool diagonal_form() const {
    return actions_ == 0 || form_ == BarrierForm::zero_one;
  }
  /// Solves Newton's equations in place.
  void solve(double* x) const;

  [[nodiscard]] double cost(std::size_t action, std::size_t y, int label) const;
  /// The cost of every label to the predictor, C'p; for log loss -log q.
  void pay(std::span<const double> p, std::span<const double> q, int label, double* paid) const;
  /// The expected cost of every action, C q.
  void risk(std::span<const double> q, int label, double* risk) const;

  std::size_t labels_;
  std::size_t actions_;  // 0 if there is only one
  BarrierForm form_;
  const CostMatrix* costs_;
  double range_ = 1;
  std::size_t size_;  // of the equations
  int label_ = 0;
  double beta_ = 0;
  const double* factors_ = nullptr;
  std::vector<double> memory_;
  double* right_;  // right-hand side
  double* work_;
  double* residual_;  // of s, then of pi
  double* left_;      // residual of a solution, for refinement
};

/// The longest step along d that keeps x non-negative.
double longest_step(const BarrierState& x, const BarrierState& d);
void advance(BarrierState& x, const BarrierState& d, double length);
/// q's + p'pi, 0 at an equilibrium.
double complementarity(const BarrierState& x);

/// max_q H(q) + b'q - beta/2 ||q||^2 by Newton's method on its barrier, to rounding.
void barrier_proximal(const Game& game, std::span<const double> b, double beta, int label,
                      std::span<double> q);

}  // namespace covshift
