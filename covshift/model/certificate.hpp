// What is known about the target without its labels.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>

namespace covshift {

class Classifier;
struct Component;
class Game;
struct Problem;
struct Solution;
struct FitOptions;
struct TrainingData;
class Shift;
class Unseen;

/// docs/certificate.md says what each number means and assumes.
struct Certificate {
  /// With probability 1 - delta the expected loss on the target is at most this; empty: nothing is
  /// promised, and `reason` says why.
  std::optional<double> bound;
  std::optional<double> estimate;  ///< of that loss, from held-out rows; the bound is around it
  double delta = 0;
  std::string reason;                ///< why there is no bound
  double uninformed = 0;             ///< V(0), the loss of knowing nothing about a row
  std::size_t held_out = 0;          ///< labelled rows behind the bound
  double effective_sample_size = 0;  ///< what they are worth on the target
  /// Of the test that the samples agree with the density ratio: the weights average 1, and weighted
  /// training means are those of the target.
  double ratio_p_value = 1;
  /// The bound rests on a ratio with squares and products of the columns, since that of the model
  /// fails the test.
  bool quadratic = false;

  /// F: the worst expected target loss over all label distributions that match the training
  /// statistics (up to the slack that lambda allows), estimated on the weighted training sample.
  double game_value = 0;
  double gap = 0;                      ///< F is within this of the optimum, proven by the dual
  std::optional<double> target_value;  ///< the same value with V averaged over the target sample
  std::optional<double> target_risk;   ///< the adversary's mean Bayes risk H on the target sample
  /// Mean training weight P_test/P_train; 1 if the ratio is right and the target has support.
  double mean_weight = 1;
  /// False if the test rejects the density ratio, or the training rows do not cover the target.
  bool reliable = true;
  double finite_sample = 0;  ///< the paper's theorem: n log(2n/delta) / (4 M m), M = 2 lambda
};

/// A warning if sets that should miss the true class with probability alpha may miss it more often;
/// empty: no reason to think so.
std::string doubt_about_sets(const Certificate& certificate, double alpha);

/// Whether all rows of a class weigh the same, and those of another class otherwise. Rows of weight
/// 0 are ignored.
bool weighs_classes(std::span<const int> labels, std::span<const double> weight);

/// Of a component that solves the problem.
Certificate certificate_of(const Game& game, const Component& component, const TrainingData& data,
                           const Problem& problem, const Solution& solution,
                           const FitOptions& options);

/// Adds the bound on the target loss of the model whose fits without some rows `unseen` holds.
void add_bound(const Unseen& unseen, const TrainingData& data, const Game& game, const Shift& shift,
               const FitOptions& options, Certificate& certificate);

/// Adds the bound on the target loss of a model from rows of both samples that no part of it has
/// seen.
void add_bound(const TrainingData& held_out, const Classifier& model, const FitOptions& options,
               Certificate& certificate);

/// How often a promise holds, in percent: "95", and for a small delta never "100".
std::string percent_that_holds(double delta);

/// What is and is not promised, in words.
std::string describe(const Certificate& certificate, const Game& game);

}  // namespace covshift
