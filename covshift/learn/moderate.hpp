// Rewrites problems with extreme scales as problems with moderate ones.
#pragma once

#include <optional>
#include <vector>

#include "covshift/learn/examples.hpp"

namespace covshift {

/// A row of weight c = w/m and scale r contributes c V(r x), x = zhat T, and a = c r decides how
/// much it matters. Where r is tiny, V is linear up to rounding (exactly so, if it is piecewise
/// linear),
///     c V(r x) = c V(0) + c' [V(r' x) - V(0)]      with c' r' = c r = a
/// for every r' with r' |x| small enough, and ||T|| <= ||A(0)|| / (2 lambda) bounds x. Such a row
/// may weigh e^350 though it matters no more than others: its constant c V(0) would swamp the
/// objective, its tolerance and the rounding error of the slack. Where r is huge, c V(r x) is
/// a max x up to a V(0)/r, and a smaller r does as well.
struct ModerateProblem {
  Problem problem;  ///< its scales and weights are those below
  std::vector<double> log_scale, log_weight;
  double constant = 0;  ///< missing from the objective
  /// The most that training can gain, F(0) - F(T) <= ||A(0)||^2 / (4 lambda): the tolerance is
  /// relative to this if it is less than the objective.
  double gain = 0;
};
/// None if no scale is extreme. Not for a bias without penalty.
std::optional<ModerateProblem> moderate(const Examples& examples);

}  // namespace covshift
