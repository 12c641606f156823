// Can a model of the training data be trusted on the target: one answer, in plain words.
#pragma once

#include <cstddef>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "covshift/base/names.hpp"

namespace covshift {

// Shares of the target without support in training (docs/diagnose.md).
inline constexpr double some_unsupported = 0.05;  ///< worth a warning
inline constexpr double most_unsupported = 0.5;   ///< nothing is known about such a target

enum class Trust { yes, partly, no };
template <>
inline constexpr auto names<Trust> = std::to_array<Named<Trust>>({{Trust::yes, "yes"},
                                                                  {Trust::partly, "partly"},
                                                                  {Trust::no, "no"}});

/// How often a model is right on the target.
struct Expected {
  std::string model;       ///< its method; empty: a classifier that exists already
  std::size_t labels = 0;  ///< labelled target rows it is measured on; 0: estimated without any
  bool reliable = true;    ///< false: the numbers below mean nothing
  double accuracy = 0;
  double level = 0.95;       ///< of the intervals
  double low = 0, high = 1;  ///< interval of accuracy
  double training = 0;       ///< accuracy on training rows that the model had not seen
  /// Interval of training - accuracy, what the target costs.
  double least_drop = 0, largest_drop = 0;
  /// By how much the probabilities are better (Brier score) than each class's share in training.
  double gain = 0;
};

/// Without shift, "yes" asks for a test that finds this share of small shifts: one that finds
/// nothing because it can find nothing is no evidence.
inline constexpr double enough_power = 0.8;

/// What was measured.
struct TrustEvidence {
  std::size_t train_rows = 0, target_rows = 0;
  bool tested = false;  ///< for shift
  bool shift = false;
  double auc = 0.5;
  double power = 0;  ///< share of small shifts that the test finds, if there is no shift
  double effective_sample_size = 0;
  double unsupported = 0;  ///< share of the target without training support
  double unsupported_by_chance = 0;
  std::optional<Expected> expected;  ///< empty: no model was fitted
};

/// Texts call training rows and target "training rows" and "new rows".
struct TrustAnswer {
  Trust trust = Trust::no;
  std::string code;                   ///< of the rule that decided
  std::string headline;               ///< the answer's reason, one sentence
  std::string performance;            ///< how good the model will be, in a few words
  std::string basis;                  ///< where that comes from
  std::vector<std::string> evidence;  ///< sentences, the weightiest first
  std::string next;                   ///< what to do
  TrustEvidence from;
};

/// By the rules of docs/diagnose.md.
TrustAnswer trust(const TrustEvidence& evidence);

nlohmann::ordered_json to_json(const TrustAnswer& answer);

}  // namespace covshift
