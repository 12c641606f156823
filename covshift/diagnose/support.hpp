// Where training data do not reach; private to diagnose/.
#pragma once

#include <span>

#include "covshift/diagnose/diagnose.hpp"
#include "covshift/diagnose/domain_test.hpp"

namespace covshift {

struct Unsupported {
  Support support;
  std::vector<bool> row;  ///< of every target row
};

/// A target row is without training support if it is more unusual than all but 0.5% of the training
/// rows (one row at least), in either of two respects:
///   far     its distance to the nearest of up to 500 training rows, in standardised columns;
///   beyond  its score in the direction that best separates the samples (held out: DomainScores).
/// Distance finds rows of a new kind; the direction finds shifts that many irrelevant columns hide
/// in a distance. Without shift `expected` of the target, 1% or less, is either.
Unsupported find_unsupported(const Rows& train, const Rows& target, const RowSpace& space,
                             const DomainScores& scores, const DiagnoseOptions& options);

/// The rows to label first: of up to 500 candidates (unsupported rows; where these are few, those
/// that look most like the target) the ones that bring all others nearest to a labelled one,
/// greedily; no copies of one another.
std::vector<RowToLabel> rows_to_label(const Rows& target, const RowSpace& space,
                                      const Unsupported& unsupported, std::span<const double> score,
                                      const DiagnoseOptions& options);

}  // namespace covshift
