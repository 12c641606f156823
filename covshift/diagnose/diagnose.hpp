// diagnose/: is there shift, where, how bad, and what to do about it. Uses base/, data/ and ratio/.
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
#include "covshift/data/preparation.hpp"
#include "covshift/ratio/diagnostics.hpp"
#include "covshift/ratio/ratio.hpp"

namespace covshift {

/// A column as the user knows it: a number, or a category that is several encoded columns.
struct Feature {
  std::string name;
  std::vector<std::int32_t> columns;  ///< encoded columns, ascending
  std::vector<std::string> levels;    ///< of a category, one for each column; empty: a number
};
std::vector<Feature> features_of(const Encoder& encoder);
/// Numbers named as given.
std::vector<Feature> features_of(const std::vector<std::string>& names);

struct DiagnoseOptions {
  /// As a fit's, so that both agree on each view; its columns, seed and threads are not used. Only
  /// the joint ratio, which tells how bad the shift is, is never smoothed (RatioLambda::Rule::cv).
  RatioOptions ratio;
  double view_threshold = 0.1;  ///< below it a view generalizes (paper)
  double level = 0.05;          ///< p-values up to this are shift
  int folds = 5;
  int permutations = 199;
  /// Rows of each sample at most for what is costlier than a few passes over the data: the
  /// permutations, the cross validation of lambda, kernel ratios. Everything else sees every row.
  std::size_t subsample = 10000;
  std::size_t examples = 10;   ///< rows to show, and rows to label first
  std::string views = "each";  ///< how the user named the views, for the command recommended
  std::uint64_t seed = 0;
  int threads = 0;  ///< 0: all cores; the result is the same for any number
  std::function<void(std::string_view, double)> progress;
};

/// Two samples of the same encoded columns, scaled; `units` is their scaling. All in the caller's
/// memory.
struct DiagnoseData {
  const MatrixView& train;
  const MatrixView& target;
  const Scaler& units;
  const std::vector<Feature>& features;
  const Views& views;
};

/// Is there shift: how well a discriminant on all columns and their squares tells held-out rows of
/// the samples apart, and how often it does as well when the rows' samples are dealt at random.
struct DomainTest {
  /// The mean over folds of the area under the ROC curve (ties count half): 0.5 if the samples
  /// cannot be told apart, 1 if they do not overlap. Of every row, each scored by a discriminant
  /// that has not seen it.
  double auc = 0.5;
  double standard_error = 0;  ///< of auc, over the folds
  int folds = 0;              ///< 0: a sample has one row only, which cannot be held out
  /// (1 + permutations with an AUC as large) / (1 + permutations); valid for any sample sizes.
  /// 1 if a sample has one row only.
  double p_value = 1;
  int permutations = 0;
  std::size_t train_rows = 0;  ///< that the permutations used
  std::size_t target_rows = 0;
};

/// Where: one feature's two distributions, and two numbers for how far they are apart.
struct FeatureShift {
  std::string name;
  bool categorical = false;
  double kl = 0;               ///< symmetric KL from the density ratio, the paper's criterion
  double kl_binned = 0;        ///< symmetric KL of binned shares, less its bias: sees any change
  double kl_binned_error = 0;  ///< its standard deviation if there were no shift
  std::vector<double> edges;   ///< numbers: of the bins, one more than there are bins
  std::vector<std::string> levels;  ///< categories: the bins
  /// Shares of the bins, each adding up to 1: training, training weighted, target.
  std::vector<double> train, weighted, target;
};

struct ViewDivergence {
  std::string name;
  /// Symmetric KL from the density ratio. Of more than 200 views only where means differ most; of
  /// the others as of independent normals of one spread, from the means alone.
  double kl = 0;
  double kl_binned = 0;      ///< the largest of its features
  bool generalized = false;  ///< kl below the threshold, as robust-view decides
  /// kl is below the threshold, and kl_binned is not above it by more than two of its errors.
  bool stable = false;
};

/// How bad: target rows where training rows do not reach.
struct UnsupportedRow {
  std::size_t row = 0;  ///< of the target, from 0
  double distance = 0;  ///< to the nearest training row, in units of the largest usual one
  bool beyond = false;  ///< beyond the training rows in the direction that separates best
};
struct Support {
  double share = 0;     ///< of the target
  double expected = 0;  ///< what the share would be without shift
  std::size_t rows = 0;
  std::vector<UnsupportedRow> examples;  ///< the farthest
};

enum class Verdict {
  none,          ///< no shift is visible
  undetermined,  ///< too few rows to test
  mild,          ///< weighting will do
  views,         ///< some views are stable
  strong,        ///< everything moved
  no_overlap,    ///< most of the target is where no training data are
};
template <>
inline constexpr auto names<Verdict> =
    std::to_array<Named<Verdict>>({{Verdict::none, "none"},
                                   {Verdict::undetermined, "undetermined"},
                                   {Verdict::mild, "mild"},
                                   {Verdict::views, "views"},
                                   {Verdict::strong, "strong"},
                                   {Verdict::no_overlap, "no-overlap"}});

/// Why, as data: a number, what it was compared with, and the sentence.
struct Reason {
  std::string code;
  double value = 0;
  double threshold = 0;
  std::string text;
};
struct RowToLabel {
  std::size_t row = 0;    ///< of the target, from 0
  double represents = 0;  ///< share of the candidates that are nearer to it than to the others
};
struct Recommendation {
  Verdict verdict = Verdict::undetermined;
  std::string summary;               ///< one sentence
  std::vector<std::string> methods;  ///< to use, the first one first
  std::string command;               ///< arguments of `covshift fit` that say so
  std::vector<std::string> shifted_views;
  std::vector<std::string> stable_views;
  std::vector<Reason> reasons;
  bool collect_labels = false;  ///< the summary asks for labels from the target
  std::vector<RowToLabel> label_first;
};

/// Counts of log weights in equal bins, for a picture.
struct WeightHistogram {
  std::vector<double> edges;
  std::vector<std::size_t> counts;
};

/// Some rows on the two features that shifted most, for a picture.
struct Scatter {
  struct Point {
    double x = 0, y = 0;
    bool unsupported = false;
  };
  std::string x, y;  ///< names of encoded columns; y empty if there is one only
  std::vector<Point> train, target;
};

struct Diagnosis {
  std::size_t train_rows = 0, target_rows = 0;
  double level = 0.05;
  double view_threshold = 0.1;
  DomainTest test;
  std::vector<ViewDivergence> views;
  /// Numbers and categories; of more than 200 those whose means differ most.
  std::vector<FeatureShift> features;
  std::vector<std::string> columns;  ///< names of the encoded columns
  std::vector<MeanShift> means;      ///< one for each of them
  std::string ratio;                 ///< the estimator
  double effective_sample_size = 0;
  std::vector<LargeWeight> heaviest;
  WeightHistogram weights;
  Support support;
  /// The rows that support and recommendation name, as text: the values of the features that
  /// shifted most, whose positions in `features` are `shown`, the most shifted first.
  std::vector<std::size_t> shown;
  std::vector<std::vector<std::string>> unsupported_values, label_values;
  Recommendation recommendation;
  Scatter scatter;

  [[nodiscard]] bool shifted() const { return test.p_value <= level; }
};

Diagnosis diagnose(const DiagnoseData& data, const DiagnoseOptions& options = {});
/// The same of prepared samples. Throws Error.
Diagnosis diagnose(const Preparation& preparation, const PreparedRows& train,
                   const PreparedRows& target, const DiagnoseOptions& options = {});

/// Every number of the diagnosis; rows count from 1. docs/diagnose.md says what each means.
nlohmann::ordered_json to_json(const Diagnosis& diagnosis);

}  // namespace covshift
