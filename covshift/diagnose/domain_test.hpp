// The test for shift; private to diagnose/.
#pragma once

#include "covshift/diagnose/diagnose.hpp"
#include "covshift/diagnose/row_space.hpp"
#include "covshift/ratio/samples.hpp"

namespace covshift {

struct DomainScores {
  DomainTest test;
  /// How much each row looks like the target, by a discriminant that has not seen it, in standard
  /// deviations from the mean of the training rows, which makes folds comparable.
  std::vector<double> train, target;
};

/// The discriminant of a fold is u = (S + ridge)^-1 (mean_target - mean_train) over the other
/// folds, in standardised columns z and, if there is room, their squares (to detect a change of
/// spread). S is the covariance of the *pooled* samples. A permutation of the labels (within each
/// fold, which keeps the sizes of both samples) therefore changes only the means, not S: every
/// permutation is refitted and scored exactly like the data, for two products with the data. Folds
/// do not depend on the contents of rows: equal rows would otherwise be spread evenly, and folds
/// would agree more than by chance.
DomainScores domain_test(const Rows& train, const Rows& target, const RowSpace& space,
                         const DiagnoseOptions& options);

}  // namespace covshift
