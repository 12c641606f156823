// The linear program of a game with costs, solved by Clp. The judge of the closed forms.
#pragma once

#include <memory>
#include <span>

#include "covshift/game/game.hpp"

namespace covshift {

/// min v  s.t.  C'p + psi <= v 1,  1'p = 1,  p >= 0;  its multipliers are the adversary's q.
/// Keeps its basis: new potentials change only the bounds, and the dual simplex goes on from there.
class GameProgram {
 public:
  explicit GameProgram(const CostMatrix& costs);
  ~GameProgram();
  GameProgram(const GameProgram&) = delete;
  GameProgram& operator=(const GameProgram&) = delete;

  /// Fills both players' distributions and returns the value, from above: the predictor's p
  /// guarantees it. Throws Error (numeric) if no equilibrium is found to 1e-9 of the scale.
  double solve(std::span<const double> psi, std::span<double> p, std::span<double> q);
  /// Forgets the basis.
  void restart();

 private:
  struct Model;
  const CostMatrix& costs_;
  std::unique_ptr<Model> model_;
};

}  // namespace covshift
