// Target rows without training support; private to diagnose/.
#pragma once

#include <span>

#include "covshift/diagnose/diagnose.hpp"
#include "covshift/diagnose/domain_test.hpp"

namespace covshift {

struct Unsupported {
  Support support;
  std::vector<bool> row;  ///< of every target row
};

/// A target row has no training support if it is more unusual than all but 0.5% of the training
/// rows (at least one row), in either of two respects:
///   far     its distance to the nearest of up to 500 training rows, in standardised columns;
///   beyond  its score in the direction that best separates the samples (held out: DomainScores).
/// Distance finds rows of a new kind; the direction finds shifts that many irrelevant columns hide
/// in a distance. Without shift, a share of `expected`, at most 1%, has no support.
Unsupported find_unsupported(const Rows& train, const Rows& target, const RowSpace& space,
                             const DomainScores& scores, const DiagnoseOptions& options);

/// The rows to label first: out of up to 500 candidates (unsupported rows, or if these are few,
/// those that look most like the target), chosen greedily to minimise the distances of all
/// candidates to the nearest chosen one; without copies.
std::vector<RowToLabel> rows_to_label(const Rows& target, const RowSpace& space,
                                      const Unsupported& unsupported, std::span<const double> score,
                                      const DiagnoseOptions& options);

}  // namespace covshift
