// The linear program of a game with costs, solved by Clp.
#pragma once

#include <memory>
#include <span>

#include "covshift/game/game.hpp"

namespace covshift {

/// min v  s.t.  C'p + psi <= v 1,  1'p = 1,  p >= 0;  its multipliers are the adversary's q.
/// Keeps its basis: new potentials change only the bounds, so the dual simplex can be warm-started.
class GameProgram {
 public:
  explicit GameProgram(const CostMatrix& costs);
  ~GameProgram();

  /// Fills both players' distributions and returns an upper bound of the value, which p guarantees.
  /// Throws Error (numeric) if no equilibrium is found to 1e-9 of the range of the costs.
  double solve(std::span<const double> psi, std::span<double> p, std::span<double> q);
  /// Resets the basis.
  void restart();

 private:
  struct Model;
  const CostMatrix& costs_;
  std::unique_ptr<Model> model_;
};

}  // namespace covshift
