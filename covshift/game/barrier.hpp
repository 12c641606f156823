// One example's share of an interior-point step for any game. Used by the interior-point solver of
// learn/ and, alone, for the proximal step of games without a closed form.
#pragma once

#include <span>
#include <vector>

#include "covshift/game/game.hpp"

namespace covshift {

/// The players' distributions with the slacks that keep them off the border:
///     s  = v - C'p - psi  > 0   (what each label pays less than v),       q s  -> 0
///     pi = C q - nu       > 0   (what each action costs more than nu),    p pi -> 0
/// For log loss -log q stands in the place of C'p and there are no actions.
struct BarrierState {
  std::span<double> q, s;   // labels
  std::span<double> p, pi;  // actions; empty where there is but one
  double v = 0;
  double nu = 0;
};

/// Newton's equations of one example; seen from outside dq = B dpsi + b. A workspace, one for each
/// thread; the calls follow each other as factor (or use), aim, then answer or step.
class BarrierBlock {
 public:
  /// Numbers between what different threads write: two cache lines.
  static constexpr std::size_t apart = 16;

  explicit BarrierBlock(const Game& game);
  BarrierBlock(const BarrierBlock&) = delete;
  BarrierBlock& operator=(const BarrierBlock&) = delete;
  BarrierBlock(BarrierBlock&&) = default;  // its memory stays where it is
  BarrierBlock& operator=(BarrierBlock&&) = delete;
  ~BarrierBlock() = default;

  /// A state lives in state_size() numbers of the caller's: map() reads it, unmap() writes back
  /// its two scalars (the arrays are written in place).
  [[nodiscard]] std::size_t state_size() const { return 2 * labels_ + 2 * actions_ + 2; }
  [[nodiscard]] BarrierState map(double* memory) const;
  void unmap(const BarrierState& state, double* memory) const;
  /// Both players uniform, every s and pi at least `slack`; for psi = 0.
  void start(int label, double slack, double* memory) const;
  /// Every s and pi at least `slack` for the players q and p in `memory`; psi empty: 0.
  void set_slacks(int label, std::span<const double> psi, double slack, double* memory) const;
  /// Largest cost less smallest; 1 for log loss.
  [[nodiscard]] double range() const { return range_; }

  /// Factors Newton's equations at `state` into factor_size() numbers of the caller's; beta > 0 is
  /// a quadratic cost on q (proximal step).
  void factor(const BarrierState& state, int label, double beta, double* memory);
  [[nodiscard]] std::size_t factor_size() const;
  /// False where factoring takes no longer than reading factors again.
  [[nodiscard]] bool factors_cost() const { return !diagonal_form(); }
  /// Goes back to factors made before.
  void use(int label, double beta, const double* memory);
  /// B, K x K row-major: how the adversary answers a change of potentials. B = B', B 1 = 0.
  void response(std::span<double> b);
  /// Sets the target: every product q s and p pi at tau, residuals gone; with the second-order
  /// term of an affine step if one is given (Mehrotra).
  void aim(const BarrierState& state, std::span<const double> psi, double tau,
           const BarrierState* affine);
  /// dq for a change of potentials (none: empty).
  void answer(std::span<const double> dpsi, std::span<double> dq);
  /// The whole step for a change of potentials (none: empty).
  void step(const BarrierState& state, std::span<const double> dpsi, BarrierState& direction);

 private:
  /// True where the equations fall apart, label by label, but for a number or two.
  [[nodiscard]] bool diagonal_form() const {
    return actions_ == 0 || form_ == BarrierForm::zero_one;
  }
  /// Newton's equations for a right-hand side, in place.
  void solve(double* x) const;

  [[nodiscard]] double cost(std::size_t action, std::size_t y, int label) const;
  /// What every label costs the predictor, C'p; for log loss -log q.
  void pay(std::span<const double> p, std::span<const double> q, int label, double* paid) const;
  /// What every action costs the predictor, C q.
  void risk(std::span<const double> q, int label, double* risk) const;

  std::size_t labels_;
  std::size_t actions_;  // 0 where there is but one: nothing to choose
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
  double* left_;      // of a right-hand side by a solution
};

/// The longest step along d that keeps all of x from turning negative.
double longest_step(const BarrierState& x, const BarrierState& d);
void advance(BarrierState& x, const BarrierState& d, double length);
/// q's + p'pi: how far the two players are from an equilibrium.
double complementarity(const BarrierState& x);

/// max_q H(q) + b'q - beta/2 ||q||^2 by Newton's method on its barrier, to rounding.
void barrier_proximal(const Game& game, std::span<const double> b, double beta, int label,
                      std::span<double> q);

}  // namespace covshift
