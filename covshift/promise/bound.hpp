// A bound on the loss of a classifier on a target without labels, and a test of the density ratio
// that it rests on.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "covshift/promise/ratio_test.hpp"
#include "covshift/ratio/held_out.hpp"

namespace covshift {

/// Losses of labelled rows by fits that have not seen them. A guess is any function of x that owes
/// nothing to the labels of these rows; one that is close to the mean loss makes the bound tighter.
struct BoundData {
  std::span<const double> loss;
  std::span<const double> count;  ///< how often each row counts; empty: once
  std::span<const double> guess, target_guess;
  /// Of every target row, the loss if it had the class that its prediction calls least likely.
  std::span<const double> worst;
  JudgedRows rows;
  HeldOutRatio ratio;  ///< of these rows
};

struct LossBound {
  Evidence evidence;  ///< says if nothing can be told
  double value = 0;   ///< the doubly robust estimate of the mean loss on the target
  double bound = 0;   ///< not exceeded with probability 1 - delta
  double ratio_p_value = 1;
  bool quadratic = false;  ///< Judged::quadratic
};

/// The bound is the upper end of a one-sided interval around the doubly robust estimate
/// (regression.hpp): Student's t, corrected for the skewness of the influences, because means of
/// few heavy losses err downwards more often than upwards. Half of delta is for this noise; the
/// other half is for what it leaves out: that lambda was chosen on the same rows, and that the
/// model is the fit to all rows, not to the folds. docs/certificate.md has the argument, and what
/// else was tried. Nor is the bound below what the rows could have missed: a share of
/// 1 - (delta/2)^(1/n) of the target may lose `worst` without one of n rows having shown it. Target
/// rows that are far from all labelled rows count with their worst loss, but for as many as are so
/// by chance.
LossBound bound_loss(const BoundData& data, double delta);

}  // namespace covshift
