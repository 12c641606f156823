// compare/: every method on the same data, judged by the same rules.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "covshift/base/names.hpp"
#include "covshift/base/range.hpp"
#include "covshift/compare/decision_map.hpp"
#include "covshift/model/classifier.hpp"

namespace covshift {

/// The score that decides. Brier's score, the mean squared distance of the probabilities from the
/// label, is the only proper score that suits every method: log loss is infinite if a method
/// predicts probability 0 (as zero-one and hinge methods do), and the error rate ignores
/// overconfidence.
enum class Metric { brier, error, log_loss };
template <>
inline constexpr auto names<Metric> = std::to_array<Named<Metric>>(
    {{Metric::brier, "brier"}, {Metric::error, "error"}, {Metric::log_loss, "log-loss"}});

struct CompareOptions {
  /// For every method; its method, loss, assumption and held_out are ignored.
  FitOptions fit;
  /// The views of the data are for methods under the assumption `views` only, all others see one of
  /// all columns: what a fit does without views of the caller's own (inputs_of).
  bool views_by_method = false;
  std::vector<std::string> methods;  ///< empty: auto, the whole table, and `tempered`
  Metric metric = Metric::brier;
  /// Significance level of the comparison with the best, for all methods together.
  double level = 0.05;
  static constexpr Range levels = allowed::significance;
  std::vector<std::string> classes;  ///< their names
  MapOptions map;
  std::vector<MapOptions> more_maps;  ///< further planes, for lr and the method to use
  /// If a diagnosis has already computed it; else computed.
  std::optional<double> effective_sample_size;
  double unsupported = 0;  ///< share of the target without training support, if it is known
};

/// A mean and its standard error. Infinite if a method gave some label probability 0.
struct Estimate {
  double value = 0;
  double standard_error = 0;

  /// Its 95% interval.
  [[nodiscard]] double low() const { return value - 1.96 * standard_error; }
  [[nodiscard]] double high() const { return value + 1.96 * standard_error; }
};
struct Judgement {
  std::size_t n = 0;  ///< rows
  /// False: the rows are too few, or the target is elsewhere, for the numbers to mean something.
  bool reliable = true;
  Estimate error, log_loss, brier;
  double confidence = 0;  ///< mean probability of the likeliest class
  /// Rows by that probability, in tenths; empty tenths are left out.
  struct Tenth {
    double confidence = 0;  ///< mean
    double accuracy = 0;    ///< how often the likeliest class was the label
    double share = 0;       ///< of the total weight
  };
  std::vector<Tenth> calibration;
  double calibration_error = 0;  ///< mean |confidence - accuracy| over the tenths, by share
};

struct Compared {
  /// auto, of the table of methods, or `tempered`: robust with temper:auto.
  std::string name;
  std::string loss, generalize, lambda_choice;
  double lambda = 0;
  std::string choice;            ///< why this model, in words; empty: nothing but lambda was open
  std::vector<Candidate> tried;  ///< with their held-out losses and shares in the model
  Status status = Status::converged;
  Certificate certificate;
  std::string promise;  ///< the certificate in words
  double seconds = 0;
  /// On the target, from held-out training rows weighted by the density ratio: sum w l / sum w,
  /// and its delta-method standard error sqrt(sum w^2 (l - mean)^2) / sum w.
  Judgement estimated;
  std::optional<Judgement> truth;  ///< if labels of the target are given
  /// On held-out training rows as they are.
  Estimate training_error;
  /// By how much the error on the target, true or else estimated, exceeds it.
  Estimate drop;
  /// By how much its Brier score on the target is better than that of the classes' training shares.
  Estimate gain;
  /// The difference from the best in the metric, and its standard error, row by row.
  Estimate behind;
  bool tied = false;  ///< with the best (which is tied with itself)
};

struct Comparison {
  std::size_t train_rows = 0, target_rows = 0, truth_rows = 0;
  std::vector<std::string> classes;
  Metric metric = Metric::brier;
  bool by_truth = false;  ///< judged by true labels rather than estimates
  /// With a ratio that is not smoothed by RatioLambda::Rule::stable.
  double effective_sample_size = 0;
  double unsupported = 0;  ///< share of the target without training support, as given
  double level = 0.05;
  double critical = 0;  ///< number of standard errors of a significant difference
  std::vector<Compared> methods;
  std::string best;
  /// Empty: a tie, too few rows, or nothing to compare with.
  std::string winner;
  /// What to use: the winner; without one auto, if it is not behind the best; else the best.
  std::string recommended;
  std::string statement;  ///< the result and what to use, in words
  std::vector<ViewShift> views;
  std::optional<DecisionMap> map;
  std::vector<DecisionMap> more_maps;
};

/// Labelled rows of the target; labels that training never saw are -1 and count as errors.
struct Truth {
  MatrixView features;
  std::span<const int> labels;
};

/// `data` must have a target. Throws Error.
Comparison compare(const TrainingData& data, const Truth* truth, const CompareOptions& options);

nlohmann::ordered_json to_json(const Comparison& comparison);

}  // namespace covshift
