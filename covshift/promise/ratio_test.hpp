// Does a density ratio make the training rows look like the target? Private to promise/.
#pragma once

#include <vector>

#include "covshift/data/matrix.hpp"
#include "covshift/promise/estimate.hpp"
#include "covshift/promise/regression.hpp"

namespace covshift {

/// What a promise about the target rests on.
struct Judged {
  WeightedSamples samples;  ///< without the target rows that are far
  /// Of every target row: more than 1.5 times as far from the labelled rows as these are from each
  /// other. No weight makes labelled rows stand for it.
  std::vector<char> far;
  double far_by_chance = 0;  ///< an upper bound on the share of ordinary rows that are far
  Evidence evidence;
  double ratio_p_value = 1;  ///< of the test that the ratio makes both samples look alike
  bool quadratic = false;    ///< the ratio has squares and products of the columns

  /// The rows of a sequence over the target that are not far.
  [[nodiscard]] Eigen::VectorXd near(const Eigen::VectorXd& target) const;
};
struct JudgedRows {
  MatrixView features, target;
  std::span<const double> count;  ///< how often each labelled row counts; empty: once
  double unlike = 0;              ///< EstimateData::unlike
  bool estimated = true;          ///< the ratio
  std::uint64_t seed = 0;
  /// How a linear ratio that fails the test is estimated again, with squares and products; null:
  /// not at all.
  const RatioOptions* linear = nullptr;
};
Judged judge(const JudgedRows& rows, const HeldOutRatio& ratio);

}  // namespace covshift
