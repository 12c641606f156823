#include "covshift/shift/shift.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>

#include "covshift/base/error.hpp"
#include "covshift/base/lists.hpp"
#include "covshift/base/threads.hpp"
#include "covshift/base/together.hpp"
#include "covshift/data/json_fields.hpp"
#include "covshift/data/preparation.hpp"
#include "covshift/ratio/diagnostics.hpp"

namespace covshift {
namespace {

using detail::json_field;
using Kind = Assumption::Kind;

void check_given(std::span<const double> given, std::size_t rows, const std::string& what) {
  if (given.size() != rows) {
    fail_input("the {} is given by the caller: {} numbers for {} rows", what, given.size(), rows);
  }
  for (std::size_t i = 0; i < rows; ++i) {
    if (!std::isfinite(given[i])) {
      fail_input("the {} of row {} is {}; it must be finite", what, i + 1, given[i]);
    }
  }
}

std::span<const double> some(std::span<const double> all, std::size_t first, std::size_t n) {
  return all.empty() ? all : all.subspan(first, n);
}

/// The ratio of these columns (none: of all) without those to be left out.
std::shared_ptr<const DensityRatio> ratio_of(const std::vector<std::int32_t>& columns,
                                             const ShiftOptions& options, const MatrixView& train,
                                             const MatrixView& target,
                                             std::span<const double> sample_weight) {
  return fit_ratio(options_of_columns(options.ratio, columns, options.left_out, train.cols), train,
                   target, sample_weight);
}

/// Of the rows of positive weight.
double largest_of(std::span<const double> x, std::span<const double> weight) {
  double largest = -std::numeric_limits<double>::infinity();
  for (std::size_t i = 0; i < x.size(); ++i) {
    if (weight.empty() || weight[i] > 0) largest = std::max(largest, x[i]);
  }
  return largest;
}

}  // namespace

GivenDensities GivenDensities::of(const PreparedRows& rows) {
  GivenDensities given{rows.log_ratio, rows.log_generalization};
  for (const PreparedRows::ViewColumns& own : rows.views) {
    given.views.push_back({own.log_ratio, own.log_generalization});
  }
  return given;
}

GivenDensities GivenDensities::part(std::size_t first, std::size_t n) const {
  GivenDensities own{some(log_ratio, first, n), some(log_generalization, first, n)};
  for (const ViewDensities& view : views) {
    own.views.push_back({some(view.log_ratio, first, n), some(view.log_generalization, first, n)});
  }
  return own;
}

Shift::Shift(const Views& views)
    : view_ratio_(views.names.size()),
      trusted_(views.names.size()),
      given_view_ratio_(views.names.size()),
      given_view_generalization_(views.names.size()) {
  for (const std::string& name : views.names) views_.push_back({.name = name});
  lay_out();
}

void Shift::check_given_views(const GivenDensities& given, std::size_t rows) const {
  for (std::size_t v = 0; v < views_.size(); ++v) {
    const ViewDensities own = given.views.empty() ? ViewDensities{} : given.views.at(v);
    const auto what = [&](const char* name) {
      return fmt::format("log {} of view '{}'", name, views_[v].name);
    };
    if (given_view_ratio_[v]) check_given(own.log_ratio, rows, what("density ratio"));
    if (given_view_generalization_[v]) {
      check_given(own.log_generalization, rows, what("generalization density"));
    }
  }
}

Shift Shift::fit(const Assumption& assumption, const ShiftOptions& options, const Views& views,
                 const MatrixView& train, const MatrixView& target,
                 std::span<const double> sample_weight, const GivenDensities& given_train,
                 const GivenDensities& given_target) {
  ShiftOptions::thresholds.check("the view threshold", options.view_threshold);
  Shift shift(views);
  shift.bias_ = options.bias;
  shift.given_ratio_ = options.given_ratio;
  if (options.given_ratio) {
    check_given(given_train.log_ratio, train.rows, "log density ratio");
    check_given(given_target.log_ratio, target.rows, "log density ratio");
    // The joint ratio does not determine the ratios of views: those are estimated.
  } else {
    shift.joint_ = ratio_of({}, options, train, target, sample_weight);
  }
  shift.reach_ = largest_of(shift.joint_ ? shift.joint_->log_ratio(train, options.ratio.threads)
                                         : std::vector<double>(given_train.log_ratio.begin(),
                                                               given_train.log_ratio.end()),
                            sample_weight);
  if (assumption.kind == Kind::given) {
    check_given(given_train.log_generalization, train.rows, "log generalization density");
  }
  for (const std::string& name : options.generalized_views) static_cast<void>(views.find(name));
  if (!given_train.views.empty() && given_train.views.size() != views.names.size()) {
    fail_input("densities of {} views are given, but there are {}", given_train.views.size(),
               views.names.size());
  }
  for (std::size_t v = 0; v < given_train.views.size(); ++v) {
    shift.given_view_ratio_[v] = !given_train.views[v].log_ratio.empty();
    shift.given_view_generalization_[v] = !given_train.views[v].log_generalization.empty();
  }
  shift.check_given_views(given_train, train.rows);
  shift.judge_views(options, views, {train, target, sample_weight, {}}, given_train, given_target,
                    [&](std::size_t v) {
                      return ratio_of(views.columns[v], options, train, target, sample_weight);
                    });
  return shift.assuming(assumption);
}

void Shift::judge_views(
    const ShiftOptions& options, const Views& views, const PartRows& rows,
    const GivenDensities& given_train, const GivenDensities& given_target,
    const std::function<std::shared_ptr<const DensityRatio>(std::size_t)>& ratio_of_view) {
  const auto kl = [&](std::span<const double> train, std::span<const double> target) {
    return symmetric_kl(train, target, rows.train_weight, rows.reducer);
  };
  for (std::size_t v = 0; v < views.names.size(); ++v) {
    ViewShift& view = views_[v];
    std::shared_ptr<const DensityRatio> own;
    if (given_view_ratio_[v]) {
      const auto on_target =
          given_target.views.empty() ? ViewDensities{} : given_target.views.at(v);
      check_given(on_target.log_ratio, rows.target.rows,
                  fmt::format("log density ratio of view '{}' on the target", view.name));
      view.kl = kl(given_train.views[v].log_ratio, on_target.log_ratio);
    } else if (views.columns[v].size() == rows.train.cols && given_ratio_) {
      view.kl = kl(given_train.log_ratio, given_target.log_ratio);
    } else {
      own = views.columns[v].size() < rows.train.cols ? ratio_of_view(v) : joint_;
      begin_pass(rows.reducer);
      view.kl = kl(own->log_ratio(rows.train, options.ratio.threads),
                   own->log_ratio(rows.target, options.ratio.threads));
    }
    const auto& named = options.generalized_views;
    // A view with columns that no ratio looks at may have moved in them.
    const bool seen = !share_entries(views.columns[v], options.left_out);
    trusted_[v] = options.automatic
                      ? seen && view.kl < options.view_threshold
                      : std::find(named.begin(), named.end(), view.name) != named.end();
    view_ratio_[v] = own;
  }
}

Shift Shift::refit(const ShiftOptions& options, const Views& views, const PartRows& rows,
                   const GivenDensities& given_train, const GivenDensities& given_target,
                   double share) const {
  Shift shift = *this;
  // The ratios of all columns and of views, where they are estimated.
  std::vector<std::shared_ptr<const DensityRatio>*> estimates;
  if (joint_) estimates.push_back(&shift.joint_);
  for (std::size_t v = 0; v < views.names.size(); ++v) {
    const bool own = view_ratio_[v] && views.columns[v].size() < rows.train.cols;
    if (own) estimates.push_back(&shift.view_ratio_[v]);
  }
  RatioOptions ratio = options.ratio;
  const std::size_t at_once = std::min(estimates.size(), ratios_at_once);
  ratio.threads = std::max(1, thread_count(ratio.threads) / std::max(1, static_cast<int>(at_once)));
  const Reducer alone;
  run_together(rows.reducer != nullptr ? *rows.reducer : alone, estimates.size(), ratios_at_once,
               [&](std::size_t k, const Reducer& reducer) {
                 PartRows own = rows;
                 own.reducer = &reducer;
                 *estimates[k] = refit_ratio(**estimates[k], ratio, own, share);
               });
  shift.reach_ =
      max_over(rows.reducer,
               largest_of(shift.joint_ ? shift.joint_->log_ratio(rows.train, options.ratio.threads)
                                       : std::vector<double>(given_train.log_ratio.begin(),
                                                             given_train.log_ratio.end()),
                          rows.train_weight));
  shift.judge_views(options, views, rows, given_train, given_target,
                    [&](std::size_t v) { return shift.view_ratio_[v]; });
  return shift.assuming(assumption_);
}

Shift Shift::assuming(const Assumption& assumption) const {
  Shift shift = *this;
  shift.assumption_ = assumption;
  for (std::size_t v = 0; v < views_.size(); ++v) {
    shift.views_[v].generalized = assumption.kind == Kind::views && trusted_[v];
  }
  shift.lay_out();
  return shift;
}

Shift Shift::cautious(double caution) const {
  Shift shift = *this;
  shift.caution_ = caution;
  return shift;
}

void Shift::lay_out() {
  scales_ = 1;
  scale_of_view_.assign(views_.size(), 0);
  for (std::size_t v = 0; v < views_.size(); ++v) {
    const bool own = views_[v].generalized || (weighted() && given_view_generalization_[v]);
    if (own) scale_of_view_[v] = scales_++;
  }
  scale_of_bias_ = weighted() && bias_ == BiasAssumption::test ? scales_++ : 0;
}

std::vector<int> Shift::scales_of(std::span<const std::int32_t> view_of) const {
  std::vector<int> scales;
  scales.reserve(view_of.size());
  for (const std::int32_t v : view_of) scales.push_back(scale_of_view_[v]);
  return scales;
}

Shift::Ratios Shift::at(const MatrixView& x, const GivenDensities& given, int threads) const {
  Ratios rows;
  rows.log_ratio.assign(x.rows, 0.0);
  if (given_ratio_) {
    check_given(given.log_ratio, x.rows, "log density ratio");
    rows.log_ratio.assign(given.log_ratio.begin(), given.log_ratio.end());
  } else if (joint_) {
    joint_->log_ratio(x, rows.log_ratio, threads);
  }
  const RatioBound bound = joint_ ? joint_->bound() : RatioBound{};
  rows.log_weight = rows.log_ratio;
  for (double& l : rows.log_weight) l = std::min(l, bound.weight);
  if (assumption_.kind == Kind::none) return rows;
  if (assumption_.kind == Kind::given) {
    check_given(given.log_generalization, x.rows, "log generalization density");
  }
  rows.log_scale.assign(x.rows * scales_, 0.0);
  const auto scale = [&](std::size_t i, std::size_t s) -> double& {
    return rows.log_scale[i * scales_ + s];
  };
  const double log_limit = std::min(assumption_.log_limit(), bound.scale);
  for (std::size_t i = 0; i < x.rows; ++i) {
    const double beyond = std::max(0.0, rows.log_ratio[i] - reach_);
    const double log_ratio = rows.log_ratio[i] - (1 - caution_) * beyond;
    switch (assumption_.kind) {
      case Kind::none:
      case Kind::test:
        break;
      case Kind::train:
      case Kind::views:
      case Kind::overlap:
        scale(i, 0) = std::min(-log_ratio, log_limit);
        break;
      case Kind::temper:
        scale(i, 0) = std::min(-(1 - assumption_.g) * log_ratio, log_limit);
        break;
      case Kind::given:
        scale(i, 0) = given.log_generalization[i];
        break;
    }
  }
  check_given_views(given, x.rows);
  for (std::size_t v = 0; v < views_.size(); ++v) {
    const auto s = static_cast<std::size_t>(scale_of_view_[v]);
    if (s == 0) continue;
    if (given_view_generalization_[v]) {
      for (std::size_t i = 0; i < x.rows; ++i) scale(i, s) = given.views[v].log_generalization[i];
      continue;
    }
    // A given ratio is not bounded; that of all columns serves a view of all columns.
    std::vector<double> estimate;
    if (view_ratio_[v]) estimate = view_ratio_[v]->log_ratio(x, threads);
    const std::span<const double> own = view_ratio_[v]         ? std::span<const double>(estimate)
                                        : given_view_ratio_[v] ? given.views[v].log_ratio
                                                               : std::span(rows.log_ratio);
    const double limit =
        std::min(assumption_.log_limit(),
                 view_ratio_[v] ? view_ratio_[v]->bound().scale : RatioBound{}.scale);
    for (std::size_t i = 0; i < x.rows; ++i) scale(i, s) = std::min(-own[i], limit);
  }
  return rows;
}

nlohmann::json Shift::to_json(bool every_view) const {
  nlohmann::json views = nlohmann::json::array();
  for (std::size_t v = 0; v < views_.size(); ++v) {
    nlohmann::json view = {{"kl", estimated() || given_ratio_ ? views_[v].kl : 0},
                           {"generalized", views_[v].generalized}};
    const bool needed = views_[v].generalized || every_view;
    if (needed && view_ratio_[v]) view["ratio"] = view_ratio_[v]->to_json();
    if (given_view_ratio_[v]) view["given_ratio"] = true;
    if (given_view_generalization_[v]) view["given_generalization"] = true;
    views.push_back(std::move(view));
  }
  nlohmann::json json = {{"generalize", to_string(assumption_)},
                         {"bias", to_string(bias_)},
                         {"given_ratio", given_ratio_},
                         {"ratio", joint_ ? joint_->to_json() : nlohmann::json(nullptr)},
                         {"views", std::move(views)}};
  if (caution_ < 1) {
    json["caution"] = caution_;
    json["reach"] = reach_;
  }
  return json;
}

Shift Shift::from_json(const nlohmann::json& json, const Views& views) {
  Shift shift(views);
  shift.assumption_ = parse_assumption(json_field<std::string>(json, "generalize", "shift"));
  shift.bias_ =
      parse_name<BiasAssumption>(json_field<std::string>(json, "bias", "shift"), "shift.bias");
  shift.given_ratio_ = json_field<bool>(json, "given_ratio", "shift");
  if (json.contains("caution")) {
    shift.caution_ = json_field<double>(json, "caution", "shift");
    shift.reach_ = json_field<double>(json, "reach", "shift");
    if (!(shift.caution_ >= 0 && shift.caution_ <= 1) || !std::isfinite(shift.reach_)) {
      fail_input("shift: caution {} is not in [0, 1], or reach {} not finite", shift.caution_,
                 shift.reach_);
    }
  }
  const auto joint = json_field<nlohmann::json>(json, "ratio", "shift");
  if (!joint.is_null()) shift.joint_ = ratio_from_json(joint);
  const auto list = json_field<nlohmann::json>(json, "views", "shift");
  if (!list.is_array() || list.size() != views.names.size()) {
    fail_input("shift.views must be a list of {} views", views.names.size());
  }
  for (std::size_t v = 0; v < list.size(); ++v) {
    const auto flag = [&](const char* name) {
      return list[v].contains(name) && json_field<bool>(list[v], name, "shift");
    };
    shift.given_view_ratio_[v] = flag("given_ratio");
    shift.given_view_generalization_[v] = flag("given_generalization");
    const auto kl = json_field<double>(list[v], "kl", "shift");
    if (shift.joint_ || shift.given_ratio_) shift.views_[v].kl = kl;
    shift.views_[v].generalized = json_field<bool>(list[v], "generalized", "shift");
    if (!shift.views_[v].generalized) {
      if (list[v].contains("ratio")) shift.view_ratio_[v] = ratio_from_json(list[v]["ratio"]);
      continue;
    }
    if (shift.assumption_.kind != Kind::views) {
      fail_input("shift.views[{}] generalizes, but the assumption is '{}'", v,
                 to_string(shift.assumption_));
    }
    shift.trusted_[v] = true;
    if (shift.given_view_ratio_[v]) continue;
    const bool all_columns = views.columns[v].size() == views.cols();
    if (all_columns && shift.given_ratio_ && !list[v].contains("ratio")) continue;
    shift.view_ratio_[v] = ratio_from_json(json_field<nlohmann::json>(list[v], "ratio", "shift"));
  }
  const bool needs_ratio = shift.weighted() && !shift.given_ratio_;
  if (needs_ratio && !shift.joint_) fail_input("shift.ratio is missing");
  shift.lay_out();
  return shift;
}

}  // namespace covshift
