// Scores of rows and comparison of methods; private to compare/.
#pragma once

#include <span>
#include <vector>

#include "covshift/compare/compare.hpp"

namespace covshift {

/// With fewer rows, a mean and its error say nothing.
constexpr double least_rows = 30;
/// Estimates by weights need as many effective rows, and a target that is mostly where training
/// data are: docs/diagnose.md has the study.
bool estimates_mean_something(const Comparison& comparison);

/// Scores of one method's predictions, row by row.
struct RowScores {
  std::vector<double> error, log_loss, brier, confidence;
  [[nodiscard]] const std::vector<double>& of(Metric metric) const;
};
/// From potentials, rows x K. A label of -1 counts as an error of probability 0.
RowScores score_rows(const Game& game, std::span<const double> psi, std::span<const int> labels);
/// The Brier score of always predicting the classes' shares, row by row.
std::vector<double> brier_of_shares(std::span<const double> shares, std::span<const int> labels);

/// Weighted means of row scores; weight empty: all equal. Rows of weight 0 are ignored.
Estimate weighted_mean(std::span<const double> scores, std::span<const double> weight);
Judgement judge(const RowScores& scores, std::span<const double> weight);
/// By how much the mean under weights `b` exceeds that under weights `a`, of the same rows.
Estimate weighted_change(std::span<const double> scores, std::span<const double> a,
                         std::span<const double> b);

/// The number of standard errors that, with `others` differences, one of them exceeds by chance
/// with probability at most `level` (Bonferroni; two-sided, normal).
double critical_value(double level, std::size_t others);

/// Sets best, winner, recommended, statement, and each method's `behind` and `tied`, from the rows'
/// scores in the metric.
void name_winner(Comparison& comparison, const std::vector<std::vector<double>>& scores,
                 std::span<const double> weight);

}  // namespace covshift
