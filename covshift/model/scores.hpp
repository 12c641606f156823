// How good predictions are, where labels are known.
#pragma once

#include <span>
#include <vector>

#include "covshift/model/classifier.hpp"

namespace covshift {

struct Scores {
  std::size_t n = 0;        ///< rows scored
  std::size_t unknown = 0;  ///< of them with a label that training never saw
  /// Share of rows whose likeliest action is their class. NaN, like the two below that are of
  /// classes, where the actions of a cost matrix are not classes (neither K nor K + 1 of them).
  double accuracy = 0;
  double abstained = 0;      ///< share of rows whose likeliest action is not a class
  double expected_loss = 0;  ///< mean loss of the predictor's distribution, in the model's own loss
  double log_loss = 0;       ///< mean -log p(label) in nats; infinite if some label had p = 0
  double brier = 0;          ///< mean squared distance of p from the label, summed over classes
  /// confusion[label * actions + action]: counts of likeliest actions by true label.
  std::vector<std::size_t> confusion;
};

/// Labels in 0 .. K-1; -1 for one that training never saw: it counts as an error in the accuracy
/// and is left out of the other means.
Scores score(const Predictions& predictions, std::span<const int> labels, const Game& game);

}  // namespace covshift
