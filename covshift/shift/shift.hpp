// The shift between a training and a target sample, and what an assumption makes of it: the weight
// w and the scales r_v of every example.
#pragma once

#include <functional>
#include <limits>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <span>
#include <string>
#include <vector>

#include "covshift/base/names.hpp"
#include "covshift/base/range.hpp"
#include "covshift/data/matrix.hpp"
#include "covshift/data/views.hpp"
#include "covshift/ratio/diagnostics.hpp"
#include "covshift/ratio/ratio.hpp"
#include "covshift/shift/methods.hpp"

namespace covshift {

struct PreparedRows;

/// How many density ratios Shift::refit() fits in the same passes: each keeps numbers of every row.
inline constexpr std::size_t ratios_at_once = 4;

/// Which assumption the constant feature of the bias is under.
enum class BiasAssumption {
  joint,  ///< as the inputs taken together, like any feature of a view that is not generalized
  test,   ///< r = 1: the class shares generalize fully
};
template <>
inline constexpr auto names<BiasAssumption> = std::to_array<Named<BiasAssumption>>(
    {{BiasAssumption::joint, "joint"}, {BiasAssumption::test, "test"}});

struct ShiftOptions {
  /// For `views`: the views that generalize; empty with `automatic`: those whose KL is below the
  /// threshold.
  bool automatic = true;
  std::vector<std::string> generalized_views;
  double view_threshold = default_view_threshold;
  static constexpr Range thresholds = allowed::at_least_0;
  BiasAssumption bias = BiasAssumption::joint;
  RatioOptions ratio;
  /// Columns that say nothing about a shift, such as names of rows: no ratio looks at them.
  std::vector<std::int32_t> left_out;
  bool given_ratio = false;  ///< the joint log ratio is given with the rows, not estimated
};

/// Densities of a view's columns x_v supplied by the caller, a number for each row.
struct ViewDensities {
  std::span<const double> log_ratio;           ///< log P_test(x_v)/P_train(x_v); empty: estimated
  std::span<const double> log_generalization;  ///< log P_gen/P_test of the view; empty: none
};

/// Densities supplied by the caller, a number for each row.
struct GivenDensities {
  std::span<const double> log_ratio;           ///< log P_test(x)/P_train(x)
  std::span<const double> log_generalization;  ///< log P_gen(x)/P_test(x), for Assumption::given
  std::vector<ViewDensities> views = {};       ///< of each view; empty: none is given

  /// Those of rows that were prepared, and of some rows.
  static GivenDensities of(const PreparedRows& rows);
  [[nodiscard]] GivenDensities part(std::size_t first, std::size_t n) const;
};

struct ViewShift {
  std::string name;
  /// Symmetric KL of train and target in this view (paper's supplement); NaN: not estimated.
  double kl = std::numeric_limits<double>::quiet_NaN();
  bool generalized = false;
};

/// A fitted shift: gives w and r for any rows, one by one.
class Shift {
 public:
  /// No target, or none that matters: w = 1, r = 1.
  explicit Shift(const Views& views);
  /// Estimates the ratios that are not given, joint and of every view, and each view's KL.
  static Shift fit(const Assumption& assumption, const ShiftOptions& options, const Views& views,
                   const MatrixView& train, const MatrixView& target,
                   std::span<const double> sample_weight, const GivenDensities& given_train,
                   const GivenDensities& given_target);

  /// The same, estimated on a sample, with all holders' rows (refit_ratio()), of which this one has
  /// some; the views that generalize by themselves are judged again.
  [[nodiscard]] Shift refit(const ShiftOptions& options, const Views& views, const PartRows& rows,
                            const GivenDensities& given_train, const GivenDensities& given_target,
                            double share) const;

  /// The same estimates under another assumption.
  [[nodiscard]] Shift assuming(const Assumption& assumption) const;

  /// The same with evidence beyond all training rows faded less: with L the largest log ratio of a
  /// training row, a larger one counts as L + caution (log ratio - L) in r. Of views that
  /// generalize, which hardly shift, the ratio stays as it is.
  [[nodiscard]] Shift cautious(double caution) const;
  [[nodiscard]] double caution() const { return caution_; }

  struct Ratios {
    std::vector<double> log_ratio;   ///< log P_test(x)/P_train(x)
    std::vector<double> log_weight;  ///< log w: the same, at most what the estimate's bound says
    std::vector<double> log_scale;   ///< log r, `scales()` to a row; empty: all 0
  };
  [[nodiscard]] Ratios at(const MatrixView& x, const GivenDensities& given = {},
                          int threads = 0) const;

  /// True if examples weigh P_test/P_train in training (every assumption but `none`).
  [[nodiscard]] bool weighted() const { return assumption_.kind != Assumption::Kind::none; }
  [[nodiscard]] const Assumption& assumption() const { return assumption_; }
  [[nodiscard]] const std::vector<ViewShift>& views() const { return views_; }
  [[nodiscard]] bool estimated() const { return joint_ != nullptr; }
  [[nodiscard]] const DensityRatio* joint() const { return joint_.get(); }
  [[nodiscard]] bool needs_given_ratio() const { return given_ratio_; }

  [[nodiscard]] int scales() const { return scales_; }
  /// The scale of each feature, given its view.
  [[nodiscard]] std::vector<int> scales_of(std::span<const std::int32_t> view_of) const;
  [[nodiscard]] int scale_of_bias() const { return scale_of_bias_; }

  /// `every_view`: also the ratios of views that do not generalize, which refit() needs.
  [[nodiscard]] nlohmann::json to_json(bool every_view = false) const;
  static Shift from_json(const nlohmann::json& json, const Views& views);

 private:
  void lay_out();
  /// The ratio and the KL of every view, and whether it may generalize; `ratio_of_view(v)`
  /// estimates.
  void judge_views(
      const ShiftOptions& options, const Views& views, const PartRows& rows,
      const GivenDensities& given_train, const GivenDensities& given_target,
      const std::function<std::shared_ptr<const DensityRatio>(std::size_t)>& ratio_of_view);
  void check_given_views(const GivenDensities& given, std::size_t rows) const;

  Assumption assumption_{Assumption::Kind::none};
  BiasAssumption bias_ = BiasAssumption::joint;
  bool given_ratio_ = false;
  double caution_ = 1;
  double reach_ = 0;  ///< the largest log ratio of a training row
  std::shared_ptr<const DensityRatio> joint_;
  std::vector<ViewShift> views_;
  /// Of each view; null where the view has all columns and the joint ratio is given, or its own, or
  /// where a file did not need it.
  std::vector<std::shared_ptr<const DensityRatio>> view_ratio_;
  std::vector<bool> trusted_;  ///< the views that may generalize
  /// The views whose ratio or P_gen the caller gives with the rows.
  std::vector<bool> given_view_ratio_, given_view_generalization_;
  // Scale 0 is the joint one; then one for each view that generalizes or has a P_gen of its own;
  // then the bias's, if its own.
  int scales_ = 1;
  std::vector<int> scale_of_view_;
  int scale_of_bias_ = 0;
};

}  // namespace covshift
