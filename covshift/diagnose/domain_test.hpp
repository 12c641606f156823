// The test for shift; private to diagnose/.
#pragma once

#include "covshift/diagnose/diagnose.hpp"
#include "covshift/diagnose/row_space.hpp"
#include "covshift/ratio/rows.hpp"

namespace covshift {

struct DomainScores {
  DomainTest test;
  /// How much each row looks like the target, by a discriminant that has not seen it: in standard
  /// deviations from the mean of the training rows, and so comparable between folds.
  std::vector<double> train, target;
};

/// The discriminant of a fold is u = (S + ridge)^-1 (mean_target - mean_train) over the other
/// folds, in standardised columns z and, where there is room, their squares (so that a change of
/// spread is seen). S is the covariance of both samples *together*. Hence, when the permutation
/// test deals the labels anew (within each fold, which keeps the numbers of both samples), S stays
/// and only means change: every permutation is refitted and scored exactly like the data, at the
/// price of two products with the data. Folds do not depend on the contents of rows: equal rows
/// would otherwise be spread evenly, and folds would agree more than by chance.
DomainScores domain_test(const Rows& train, const Rows& target, const RowSpace& space,
                         const DiagnoseOptions& options);

}  // namespace covshift
