// How good is a classifier, any classifier, on a target without labels?
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <span>
#include <string>
#include <vector>

#include "covshift/base/names.hpp"
#include "covshift/base/range.hpp"
#include "covshift/data/matrix.hpp"
#include "covshift/ratio/ratio.hpp"

namespace covshift {

struct HeldOutRatio;

enum class Performance {
  accuracy,  ///< share of rows whose likeliest class is theirs
  log_loss,  ///< mean -log p(label) in nats, p at least 2^-52
  brier,     ///< mean squared distance of p from the label, summed over classes
};
template <>
inline constexpr auto names<Performance> =
    std::to_array<Named<Performance>>({{Performance::accuracy, "accuracy"},
                                       {Performance::log_loss, "log_loss"},
                                       {Performance::brier, "brier"}});

enum class EstimateBy {
  weighting,      ///< the mean of the labelled rows, each weighted by P_target/P_train
  doubly_robust,  ///< a regression of the loss averaged over the target, corrected by weighting
  confidence,     ///< average thresholded confidence (Garg et al. 2022); accuracy only
};
template <>
inline constexpr auto names<EstimateBy> =
    std::to_array<Named<EstimateBy>>({{EstimateBy::doubly_robust, "doubly_robust"},
                                      {EstimateBy::weighting, "weighting"},
                                      {EstimateBy::confidence, "confidence"}});

/// Predictions of a classifier for labelled rows that it was not fitted to and for target rows, and
/// the inputs of both, on which the density ratio is estimated.
struct EstimateData {
  int classes = 0;
  std::span<const double> p;  ///< labelled rows x classes
  std::span<const int> labels;
  std::span<const double> target_p;  ///< target rows x classes
  MatrixView features, target;
  std::span<const double> log_ratio, target_log_ratio;  ///< if known: log P_target/P_train
  /// Share of the target rows with a value that no labelled row has, such as a new category, which
  /// the matrix does not show.
  double unlike = 0;
};

struct EstimateOptions {
  double level = 0.95;  ///< that the interval holds the true value
  static constexpr Range levels = allowed::probability;
  RatioOptions ratio;
  EstimateOptions() { ratio.lambda.rule = RatioLambda::Rule::cv; }
};

struct PerformanceEstimate {
  Performance metric = Performance::accuracy;
  EstimateBy method = EstimateBy::weighting;
  double value = 0;
  double low = 0, high = 0;
  double effective_sample_size = 0;  ///< of the labelled rows behind it
};

/// Whether the labelled rows say anything about the target.
struct Evidence {
  std::size_t rows = 0, target_rows = 0;
  double effective_sample_size = 0;  ///< of the weighted labelled rows
  double mean_weight = 0;            ///< 1 if the ratio is right and the rows cover the target
  /// Share of the target rows of a kind that is missing among the labelled ones: their weight
  /// exceeds that of every labelled row, they are more than 1.5 times as far from these as these
  /// are from each other, or they have a value that none has, whichever are more.
  double beyond = 0;
  std::string cannot_tell;  ///< why nothing can be said about the target; empty: something can
};

/// Below this p-value, test_ratio() contradicts a density ratio.
inline constexpr double ratio_level = 0.05;

struct TargetPerformance {
  Evidence evidence;
  double ratio_p_value = 1;  ///< of a test whether the density ratio fits the samples
  /// The linear ratio did not fit, and one with squares and products of the columns does.
  bool quadratic = false;
  double far = 0;  ///< share of the target rows that are far from every labelled row
  /// Labelled rows whose class has probability 0: their log loss is infinite, and counts as -log
  /// 2^-52.
  std::size_t impossible_rows = 0;
  std::vector<PerformanceEstimate> estimates;  ///< the recommended first, for each metric
  std::vector<double> log_weight;              ///< of the labelled rows
};

/// Throws Error if the data do not fit together. docs/promise.md has formulas and measurements.
TargetPerformance estimate_performance(const EstimateData& data, const EstimateOptions& options);

/// The rule for `cannot_tell`. `unlike`: EstimateData::unlike; `count`: how often each labelled row
/// counts; empty: once.
Evidence evidence_of(const HeldOutRatio& ratio, double unlike = 0,
                     std::span<const double> count = {});

/// What to bear in mind about the estimates, in sentences; empty: nothing.
std::vector<std::string> cautions(const TargetPerformance& performance);

nlohmann::ordered_json to_json(const Evidence& evidence);
nlohmann::ordered_json to_json(const TargetPerformance& performance);

}  // namespace covshift
