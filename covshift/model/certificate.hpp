// What is known about the target without its labels.
#pragma once

#include <optional>
#include <string>

namespace covshift {

struct Component;
class Game;
struct Problem;
struct Solution;
struct TrainingData;

/// docs/certificate.md says what each number means and assumes.
struct Certificate {
  /// F: the worst expected target loss over all label distributions that match the training
  /// statistics (up to the slack that lambda allows), estimated on the weighted training sample.
  double game_value = 0;
  double gap = 0;                      ///< F is within this of the optimum, proven by the dual
  std::optional<double> target_value;  ///< the same value with V averaged over the target sample
  std::optional<double> target_risk;   ///< the adversary's mean Bayes risk H on the target sample
  /// Mean training weight P_test/P_train; 1 if the ratio is right and the target has support.
  double mean_weight = 1;
  /// False if the samples contradict each other: the mean weight is far from 1, or the value
  /// differs from the risk minus lambda ||T||^2, which it equals if the statistics match on the
  /// target too.
  bool reliable = true;
  double finite_sample = 0;  ///< the paper's theorem: n log(2n/delta) / (4 M m), M = 2 lambda
  double delta = 0;
};

/// Of a component that solves the problem.
Certificate certificate_of(const Game& game, const Component& component, const TrainingData& data,
                           const Problem& problem, const Solution& solution, double delta);

/// What is and is not promised, in words.
std::string describe(const Certificate& certificate, const std::string& loss);

}  // namespace covshift
