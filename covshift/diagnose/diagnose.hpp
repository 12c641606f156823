// diagnose/: is there shift, where, how bad, and what to do about it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "covshift/base/names.hpp"
#include "covshift/base/range.hpp"
#include "covshift/data/preparation.hpp"
#include "covshift/diagnose/trust.hpp"
#include "covshift/ratio/diagnostics.hpp"
#include "covshift/ratio/ratio.hpp"

namespace covshift {

/// A column of the file: a number, or a category encoded in several columns.
struct Feature {
  std::string name;
  std::vector<std::int32_t> columns;  ///< encoded columns, ascending
  std::vector<std::string> levels;    ///< of a category, one for each column; empty: a number
};
std::vector<Feature> features_of(const Encoder& encoder);

struct DiagnoseOptions {
  /// The same as for a fit, so both agree on each view (of up to `subsample` rows); columns, seed
  /// and threads are ignored. Only the joint ratio, which measures how bad the shift is, is never
  /// smoothed (RatioLambda::Rule::cv).
  RatioOptions ratio;
  double view_threshold = default_view_threshold;
  double level = 0.05;  ///< p-values up to this count as shift
  static constexpr Range levels = allowed::significance;
  int folds = 5;
  int permutations = 199;
  static constexpr Range permutation_counts = allowed::between(1, 1e6);
  /// Maximum rows of each sample for the expensive parts: permutations, cross validation of lambda,
  /// kernel ratios. Everything else uses every row.
  std::size_t subsample = 10000;
  std::size_t examples = 10;  ///< rows to show, and rows to label first
  std::uint64_t seed = 0;
  int threads = 0;  ///< 0: all cores; the result is the same for any number
  std::function<void(std::string_view, double)> progress;
};

/// Two samples of the same encoded, scaled columns; `units` is their scaling. All in the caller's
/// memory.
struct DiagnoseData {
  const MatrixView& train;
  const MatrixView& target;
  const Scaler& units;
  const std::vector<Feature>& features;
  const Views& views;
  /// Columns that no ratio looks at, ascending, as in a fit (ShiftOptions::left_out).
  std::vector<std::int32_t> left_out = {};
};

/// Is there shift: how well a discriminant on all columns and their squares separates held-out rows
/// of the samples, and how often it does as well when rows are assigned to samples at random.
struct DomainTest {
  /// The mean over folds of the area under the ROC curve (ties count half), with each row scored by
  /// a discriminant that has not seen it: 0.5 if the samples are indistinguishable, 1 if they do
  /// not overlap.
  double auc = 0.5;
  double standard_error = 0;  ///< of auc, over the folds
  int folds = 0;              ///< 0: a sample has only one row, which cannot be held out
  /// (1 + permutations with an AUC as large) / (1 + permutations); valid for any sample sizes.
  /// 1 if a sample has only one row.
  double p_value = 1;
  int permutations = 0;
  /// A small shift, in standard deviations of the direction it takes: it costs a logistic model no
  /// more than 0.06 of its accuracy.
  static constexpr double planted_shift = 0.5;
  /// The share of shifts of this size in random directions, planted in rows that were assigned to
  /// samples at random, that the test finds. Empty: not measured, because the p-value is small.
  std::optional<double> power;
  std::size_t train_rows = 0;  ///< used by the permutations
  std::size_t target_rows = 0;
};

/// Where: the two distributions of a feature and two measures of their difference.
struct FeatureShift {
  std::string name;
  bool categorical = false;
  double kl = 0;               ///< symmetric KL from the density ratio, the paper's criterion
  double kl_binned = 0;        ///< symmetric KL of binned shares minus its bias: detects any change
  double kl_binned_error = 0;  ///< its standard deviation if there were no shift
  std::vector<double> edges;   ///< numbers: edges of the bins, one more than bins
  std::vector<std::string> levels;  ///< categories: the bins
  /// Shares of the bins, each with sum 1: training, weighted training, target.
  std::vector<double> train, weighted, target;
};

struct ViewDivergence {
  std::string name;
  /// Symmetric KL from the density ratio. With more than 200 views, only for those whose means
  /// differ most; for the others, that of independent normals with equal spread, from the means
  /// alone.
  double kl = 0;
  double kl_binned = 0;      ///< maximum over its features
  bool generalized = false;  ///< kl below the threshold, as robust-view decides
  /// kl is below the threshold, and kl_binned exceeds it by no more than two standard errors.
  bool stable = false;
};

/// How bad: target rows without training support.
struct UnsupportedRow {
  std::size_t row = 0;  ///< of the target, from 0
  double distance = 0;  ///< to the nearest training row; 1 is the largest usual distance
  bool beyond = false;  ///< beyond the training rows in the direction that separates best
};
struct Support {
  double share = 0;     ///< of the target
  double expected = 0;  ///< the share without shift
  std::size_t rows = 0;
  std::vector<UnsupportedRow> examples;  ///< the farthest
  std::vector<UnsupportedRow> listed;    ///< the same and more: at most 5,000, the farthest first
};

enum class Verdict {
  none,          ///< no shift detected
  undetermined,  ///< too few rows to test
  mild,          ///< weighting suffices
  views,         ///< some views are stable
  strong,        ///< everything moved
  no_overlap,    ///< most of the target has no training support
};
template <>
inline constexpr auto names<Verdict> =
    std::to_array<Named<Verdict>>({{Verdict::none, "none"},
                                   {Verdict::undetermined, "undetermined"},
                                   {Verdict::mild, "mild"},
                                   {Verdict::views, "views"},
                                   {Verdict::strong, "strong"},
                                   {Verdict::no_overlap, "no-overlap"}});

/// A reason: a number, the threshold it was compared with, and a sentence.
struct Reason {
  std::string code;
  double value = 0;
  double threshold = 0;
  std::string text;
};
struct RowToLabel {
  std::size_t row = 0;    ///< of the target, from 0
  double represents = 0;  ///< share of the candidates for which it is the nearest
};
struct Recommendation {
  TrustAnswer trust;  ///< can a model be trusted on the target
  Verdict verdict = Verdict::undetermined;
  std::string summary;          ///< of the shift, one sentence
  std::string method = "auto";  ///< what to fit: the default, unless something was measured
  std::string why;              ///< this method
  std::string command;          ///< that does it, if the caller sets it
  std::vector<std::string> shifted_views;
  std::vector<std::string> stable_views;
  std::vector<Reason> reasons;
  bool collect_labels = false;  ///< the summary asks for labels from the target
  std::vector<RowToLabel> label_first;
};

/// Counts of log weights in equal bins, for a plot.
struct WeightHistogram {
  std::vector<double> edges;
  std::vector<std::size_t> counts;
};

/// Some rows in the two features that shifted most, for a plot.
struct Scatter {
  struct Point {
    double x = 0, y = 0;
    bool unsupported = false;
  };
  std::string x, y;  ///< names of encoded columns; y is empty if there is only one
  std::vector<Point> train, target;
};

struct Diagnosis {
  std::size_t train_rows = 0, target_rows = 0;
  double level = 0;
  double view_threshold = 0;
  DomainTest test;
  std::vector<ViewDivergence> views;
  /// At most 200: those whose means differ most.
  std::vector<FeatureShift> features;
  std::vector<std::string> columns;  ///< names of the encoded columns
  std::vector<MeanShift> means;      ///< one per encoded column
  std::string ratio;                 ///< the estimator
  double effective_sample_size = 0;
  /// The same for the weights of a fit, which are smoothed and bounded.
  double fitted_sample_size = 0;
  std::vector<LargeWeight> heaviest;
  WeightHistogram weights;
  Support support;
  /// The rows named by support and recommendation, as text: the values of the features at positions
  /// `shown`, the most shifted first.
  std::vector<std::size_t> shown;
  std::vector<std::vector<std::string>> unsupported_values, label_values;
  Recommendation recommendation;
  Scatter scatter;

  [[nodiscard]] bool shifted() const { return test.p_value <= level; }
};

Diagnosis diagnose(const DiagnoseData& data, const DiagnoseOptions& options = {});
/// For prepared samples. Throws Error.
Diagnosis diagnose(const Preparation& preparation, const PreparedRows& train,
                   const PreparedRows& target, const DiagnoseOptions& options = {});

/// What the diagnosis knows about trust in a model.
TrustEvidence trust_evidence(const Diagnosis& diagnosis);

/// Every number of the diagnosis; rows count from 1. See docs/diagnose.md.
nlohmann::ordered_json to_json(const Diagnosis& diagnosis);

}  // namespace covshift
