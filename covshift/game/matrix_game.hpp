// The base class of games with a cost matrix, and helpers of all games.
#pragma once

#include "covshift/game/game.hpp"

namespace covshift {

/// A game given by a cost matrix: the loss is bilinear, the Bayes risk the cheapest row.
class MatrixGame : public Game {
 public:
  [[nodiscard]] double bayes_risk(std::span<const double> q, int label) const override;
  [[nodiscard]] double loss(std::span<const double> psi, std::span<const double> p,
                            int label) const override;
  [[nodiscard]] const CostMatrix* costs() const override { return &costs_; }

 protected:
  /// Checks shape and numbers; throws Error if they are unusable.
  explicit MatrixGame(CostMatrix costs);

 private:
  CostMatrix costs_;
};

/// Throws Error if there are fewer than two labels.
void check_labels(int labels);

/// Index of the largest element; the first one on ties.
int arg_max(std::span<const double> x);

/// Euclidean projection of x onto the probability simplex, in place.
void project_to_simplex(std::span<double> x);

}  // namespace covshift
