#include "covshift/shift/shift.hpp"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "covshift/base/error.hpp"
#include "covshift/data/json_fields.hpp"
#include "covshift/ratio/diagnostics.hpp"

namespace covshift {
namespace {

using detail::json_field;
using Kind = Assumption::Kind;

std::vector<double> log_ratios(const DensityRatio& ratio, const MatrixView& x) {
  std::vector<double> out(x.rows);
  ratio.log_ratio(x, out);
  return out;
}

void check_given(std::span<const double> given, std::size_t rows, const char* what) {
  if (given.size() != rows) {
    fail_input("the {} is given by the caller: {} numbers for {} rows", what, given.size(), rows);
  }
  for (std::size_t i = 0; i < rows; ++i) {
    if (!std::isfinite(given[i])) {
      fail_input("the {} of row {} is {}; it must be finite", what, i + 1, given[i]);
    }
  }
}

}  // namespace

Shift::Shift(const Views& views) : view_ratio_(views.names.size()), trusted_(views.names.size()) {
  for (const std::string& name : views.names) views_.push_back({name, 0, false});
  lay_out(views);
}

Shift Shift::fit(const Assumption& assumption, const ShiftOptions& options, const Views& views,
                 const MatrixView& train, const MatrixView& target,
                 std::span<const double> sample_weight, const GivenDensities& given_train,
                 const GivenDensities& given_target) {
  if (!(options.view_threshold >= 0)) {
    fail_input("the view threshold must not be negative or NaN, but is {}", options.view_threshold);
  }
  Shift shift(views);
  shift.bias_ = options.bias;
  shift.given_ratio_ = options.given_ratio;
  RatioOptions ratio = options.ratio;
  if (options.given_ratio) {
    check_given(given_train.log_ratio, train.rows, "log density ratio");
    check_given(given_target.log_ratio, target.rows, "log density ratio");
    // The joint ratio does not determine the ratios of views: those are estimated.
  } else {
    shift.joint_ = fit_ratio(ratio, train, target, sample_weight);
  }
  if (assumption.kind == Kind::given) {
    check_given(given_train.log_generalization, train.rows, "log generalization density");
  }
  for (const std::string& name : options.generalized_views) {
    if (std::find(views.names.begin(), views.names.end(), name) == views.names.end()) {
      fail_input("there is no view named '{}'; the views are: {}", name,
                 fmt::join(views.names, ", "));
    }
  }
  for (std::size_t v = 0; v < views.names.size(); ++v) {
    ViewShift& view = shift.views_[v];
    std::shared_ptr<const DensityRatio> own = shift.joint_;
    if (views.names.size() > 1) {
      ratio.columns = views.columns_of(v);
      own = fit_ratio(ratio, train, target, sample_weight);
    }
    view.kl = own != nullptr
                  ? symmetric_kl(log_ratios(*own, train), log_ratios(*own, target), sample_weight)
                  : symmetric_kl(given_train.log_ratio, given_target.log_ratio, sample_weight);
    const bool stable = options.automatic ? view.kl < options.view_threshold
                                          : std::find(options.generalized_views.begin(),
                                                      options.generalized_views.end(),
                                                      view.name) != options.generalized_views.end();
    shift.trusted_[v] = stable;
    if (stable) shift.view_ratio_[v] = own;
  }
  return shift.assuming(assumption, views);
}

Shift Shift::assuming(const Assumption& assumption, const Views& views) const {
  Shift shift = *this;
  shift.assumption_ = assumption;
  for (std::size_t v = 0; v < views_.size(); ++v) {
    shift.views_[v].generalized = assumption.kind == Kind::views && trusted_[v];
  }
  shift.lay_out(views);
  return shift;
}

void Shift::lay_out(const Views& views) {
  scales_ = 1;
  std::vector<int> scale_of_view(views.names.size(), 0);
  for (std::size_t v = 0; v < views_.size(); ++v) {
    if (views_[v].generalized) scale_of_view[v] = scales_++;
  }
  scale_of_bias_ = weighted() && bias_ == BiasAssumption::test ? scales_++ : 0;
  scale_of_column_.clear();
  for (const std::int32_t v : views.view_of) scale_of_column_.push_back(scale_of_view[v]);
}

Shift::Ratios Shift::at(const MatrixView& x, const GivenDensities& given) const {
  Ratios rows;
  rows.log_ratio.assign(x.rows, 0.0);
  if (given_ratio_) {
    check_given(given.log_ratio, x.rows, "log density ratio");
    rows.log_ratio.assign(given.log_ratio.begin(), given.log_ratio.end());
  } else if (joint_) {
    joint_->log_ratio(x, rows.log_ratio);
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
    const double log_ratio = rows.log_ratio[i];
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
  std::size_t s = 1;
  for (std::size_t v = 0; v < views_.size(); ++v) {
    if (!views_[v].generalized) continue;
    // A given ratio of all columns serves a view of all columns, and is not bounded.
    const bool estimated = view_ratio_[v] != nullptr;
    const std::vector<double> own = estimated ? log_ratios(*view_ratio_[v], x) : rows.log_ratio;
    const double limit = std::min(assumption_.log_limit(),
                                  estimated ? view_ratio_[v]->bound().scale : RatioBound{}.scale);
    for (std::size_t i = 0; i < x.rows; ++i) scale(i, s) = std::min(-own[i], limit);
    ++s;
  }
  return rows;
}

nlohmann::json Shift::to_json() const {
  nlohmann::json views = nlohmann::json::array();
  for (std::size_t v = 0; v < views_.size(); ++v) {
    nlohmann::json view = {{"kl", views_[v].kl}, {"generalized", views_[v].generalized}};
    if (views_[v].generalized && view_ratio_[v]) view["ratio"] = view_ratio_[v]->to_json();
    views.push_back(std::move(view));
  }
  return {{"generalize", to_string(assumption_)},
          {"bias", to_string(bias_)},
          {"given_ratio", given_ratio_},
          {"ratio", joint_ ? joint_->to_json() : nlohmann::json(nullptr)},
          {"views", std::move(views)}};
}

Shift Shift::from_json(const nlohmann::json& json, const Views& views) {
  Shift shift(views);
  shift.assumption_ = parse_assumption(json_field<std::string>(json, "generalize", "shift"));
  shift.bias_ =
      parse_name<BiasAssumption>(json_field<std::string>(json, "bias", "shift"), "shift.bias");
  shift.given_ratio_ = json_field<bool>(json, "given_ratio", "shift");
  const auto joint = json_field<nlohmann::json>(json, "ratio", "shift");
  if (!joint.is_null()) shift.joint_ = ratio_from_json(joint);
  const auto list = json_field<nlohmann::json>(json, "views", "shift");
  if (!list.is_array() || list.size() != views.names.size()) {
    fail_input("shift.views must be a list of {} views", views.names.size());
  }
  for (std::size_t v = 0; v < list.size(); ++v) {
    shift.views_[v].kl = json_field<double>(list[v], "kl", "shift");
    shift.views_[v].generalized = json_field<bool>(list[v], "generalized", "shift");
    if (!shift.views_[v].generalized) continue;
    if (shift.assumption_.kind != Kind::views) {
      fail_input("shift.views[{}] generalizes, but the assumption is '{}'", v,
                 to_string(shift.assumption_));
    }
    shift.trusted_[v] = true;
    if (list.size() == 1 && shift.given_ratio_ && !list[v].contains("ratio")) continue;
    shift.view_ratio_[v] = ratio_from_json(json_field<nlohmann::json>(list[v], "ratio", "shift"));
  }
  const bool needs_ratio = shift.weighted() && !shift.given_ratio_;
  if (needs_ratio && !shift.joint_) fail_input("shift.ratio is missing");
  shift.lay_out(views);
  return shift;
}

}  // namespace covshift
