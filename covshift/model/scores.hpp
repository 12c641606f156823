// Scores of predictions against known labels.
#pragma once

#include <span>
#include <vector>

#include "covshift/model/classifier.hpp"

namespace covshift {

struct Scores {
  std::size_t n = 0;        ///< rows scored
  std::size_t unknown = 0;  ///< rows with a label that training never saw
  /// Share of rows whose likeliest action is their class. NaN, like log_loss and brier, if the
  /// actions of a cost matrix are not classes (neither K nor K + 1 of them).
  double accuracy = 0;
  double abstained = 0;  ///< share of rows whose likeliest action is not a class
  /// Share of the rows with another likeliest action that have it right; NaN if there are none.
  double accuracy_of_decided = 0;
  double expected_loss = 0;  ///< mean loss of the predictor's distribution, by the model's loss
  double log_loss = 0;       ///< mean -log p(label) in nats; infinite if some label had p = 0.
                             ///< NaN, like brier, for a model that may abstain: it gives no
                             ///< distribution of the classes
  double brier = 0;          ///< mean squared distance of p from the label, summed over classes
  /// confusion[label * actions + action]: counts of likeliest actions by true label.
  std::vector<std::size_t> confusion;
};

/// Scores of rows that come a block at a time. Labels are in 0 .. K-1, or -1 if training never saw
/// them: these count as errors in the accuracy and are left out of the other means.
class Scorer {
 public:
  explicit Scorer(const Game& game);
  void add(const Predictions& predictions, std::span<const int> labels);
  /// Adds the rows of other holders: all have the scores of all.
  void add_up(const Reducer& reducer);
  /// Throws Error if no label is a class.
  [[nodiscard]] Scores scores() const;

 private:
  const Game& game_;
  Scores sums_;
};
Scores score(const Predictions& predictions, std::span<const int> labels, const Game& game);

}  // namespace covshift
