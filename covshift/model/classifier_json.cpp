// A classifier as JSON: its part of a model file, and its report.
#include <cmath>
#include <nlohmann/json.hpp>

#include "covshift/base/error.hpp"
#include "covshift/data/json_fields.hpp"
#include "covshift/model/classifier.hpp"

namespace covshift {
namespace {

using detail::json_field;
using nlohmann::json;

using Json = nlohmann::ordered_json;

Json optional_number(const std::optional<double>& x) { return x ? Json(*x) : Json(nullptr); }

std::optional<double> read_optional(const json& object, const char* name) {
  const auto member = json_field<json>(object, name, "certificate");
  if (member.is_null()) return std::nullopt;
  return json_field<double>(object, name, "certificate");
}

Certificate read_certificate(const json& object) {
  Certificate c;
  c.game_value = json_field<double>(object, "game_value", "certificate");
  c.gap = json_field<double>(object, "gap", "certificate");
  c.target_value = read_optional(object, "target_value");
  c.target_risk = read_optional(object, "target_risk");
  c.mean_weight = json_field<double>(object, "mean_weight", "certificate");
  c.reliable = json_field<bool>(object, "reliable", "certificate");
  c.finite_sample = json_field<double>(object, "finite_sample", "certificate");
  c.delta = json_field<double>(object, "delta", "certificate");
  if (!object.contains("bound")) return c;  // an earlier version
  c.bound = read_optional(object, "bound");
  c.estimate = read_optional(object, "estimate");
  c.reason = json_field<std::string>(object, "reason", "certificate");
  c.uninformed = json_field<double>(object, "uninformed", "certificate");
  c.held_out = json_field<std::size_t>(object, "held_out", "certificate");
  c.effective_sample_size = json_field<double>(object, "effective_sample_size", "certificate");
  c.ratio_p_value = json_field<double>(object, "ratio_p_value", "certificate");
  c.quadratic =
      object.contains("quadratic") && json_field<bool>(object, "quadratic", "certificate");
  return c;
}

/// A file of version 1 has the members of one component in the classifier itself.
json component_list(const json& object) {
  if (object.contains("components")) {
    auto list = json_field<json>(object, "components", "classifier");
    if (!list.is_array() || list.empty()) fail_input("classifier.components must be a list");
    return list;
  }
  const auto shift = json_field<json>(object, "shift", "classifier");
  json only = {{"generalize", json_field<std::string>(shift, "generalize", "shift")}, {"share", 1}};
  for (const char* member : {"lambda", "bias", "weights"}) {
    only[member] = json_field<json>(object, member, "classifier");
  }
  return json::array({only});
}

void check_shares(const std::vector<Component>& components, const Game& game) {
  double total = 0;
  for (const Component& c : components) total += c.share;
  if (!(std::abs(total - 1) < 1e-9)) {
    fail_input("classifier.components: the shares sum to {}, not 1", total);
  }
  if (components.size() > 1 && !game.probabilistic()) {
    fail_input("classifier.components: {} of them with the loss {}; only log loss mixes several",
               components.size(), game.name());
  }
}

Json ratio_json(const Classifier& model) {
  const std::optional<RatioSummary>& summary = model.report().ratio;
  if (!summary) return nullptr;
  const DensityRatio* const joint = model.shift().joint();
  Json ratio = {{"method", joint != nullptr ? joint->name() : "column"},
                {"effective_sample_size", summary->effective_sample_size},
                {"largest_share", summary->largest_share}};
  if (joint != nullptr) ratio["fit"] = joint->report();
  return ratio;
}

}  // namespace

Json to_json(const Certificate& c, const std::string& statement) {
  Json out = {{"bound", optional_number(c.bound)},
              {"estimate", optional_number(c.estimate)},
              {"reason", c.reason},
              {"uninformed", c.uninformed},
              {"held_out", c.held_out},
              {"effective_sample_size", c.effective_sample_size},
              {"ratio_p_value", c.ratio_p_value},
              {"quadratic", c.quadratic},
              {"game_value", c.game_value},
              {"gap", c.gap},
              {"target_value", optional_number(c.target_value)},
              {"target_risk", optional_number(c.target_risk)},
              {"mean_weight", c.mean_weight},
              {"reliable", c.reliable},
              {"finite_sample", c.finite_sample},
              {"delta", c.delta}};
  if (!statement.empty()) out["statement"] = statement;
  return out;
}

Json to_json(const std::vector<ViewShift>& views) {
  Json list = Json::array();
  for (const ViewShift& v : views) {
    list.push_back({{"name", v.name}, {"kl", v.kl}, {"generalized", v.generalized}});
  }
  return list;
}

Json to_json(const std::vector<Candidate>& candidates) {
  Json selection = Json::array();
  for (const Candidate& candidate : candidates) {
    Json path = Json::array();
    for (const CrossValidated& point : candidate.path) {
      path.push_back({{"lambda", point.lambda},
                      {"loss", point.loss},
                      {"standard_error", point.standard_error}});
    }
    selection.push_back({{"method", candidate.method},
                         {"features", candidate.features},
                         {"generalize", candidate.generalize},
                         {"lambda", candidate.lambda},
                         {"lambda_choice", candidate.lambda_choice},
                         {"loss", candidate.loss},
                         {"standard_error", candidate.standard_error},
                         {"share", candidate.share},
                         {"path", std::move(path)}});
  }
  return selection;
}

Json Classifier::report_json() const {
  Json report = {{"method", method_},
                 {"loss", game_->name()},
                 {"generalize", generalize()},
                 {"objective", report_.solution.objective},
                 {"dual", report_.solution.dual},
                 {"gap", report_.solution.gap},
                 {"iterations", report_.solution.iterations},
                 {"status", to_string(report_.solution.status)},
                 {"lambda", report_.lambda},
                 {"lambda_choice", report_.lambda_choice},
                 {"penalty", to_string(report_.penalty)},
                 {"seconds", report_.seconds},
                 {"game_value", certificate_.game_value},
                 {"certificate", covshift::to_json(certificate_, describe(certificate_, *game_))},
                 {"views", covshift::to_json(shift_.views())},
                 {"features", components_.front().features.maps()},
                 {"ratio", ratio_json(*this)},
                 {"choice", report_.choice},
                 {"selection", covshift::to_json(report_.candidates)}};
  if (report_.parts) {
    const PartsReport& parts = *report_.parts;
    report["engine"] = {
        {"name", parts.engine},
        {"parts", parts.parts},
        {"rows", parts.rows},
        {"target_rows", parts.target_rows},
        {"sample", {{"rows", parts.sample_rows}, {"target_rows", parts.sample_target_rows}}},
        {"held_out", {{"rows", parts.held_out_rows}, {"target_rows", parts.held_out_target_rows}}},
        {"passes", parts.passes},
        {"sample_seconds", parts.sample_seconds},
        {"fit_seconds", parts.fit_seconds}};
  }
  if (report_.penalty == Penalty::norm) report["squared_lambda"] = report_.solution.squared_lambda;
  return report;
}

json Classifier::to_json(bool every_view) const {
  json loss = game_->name();
  if (costs_) {
    loss = {{"actions", costs_->actions}, {"labels", costs_->labels}, {"cost", costs_->cost}};
  }
  json components = json::array();
  for (const Component& c : components_) components.push_back(c.to_json());
  json object = {{"method", method_},
                 {"loss", std::move(loss)},
                 {"components", std::move(components)},
                 {"shift", shift_.to_json(every_view)},
                 {"certificate", covshift::to_json(certificate_)}};
  if (!calibration_.empty()) object["calibration"] = calibration_.to_json();
  return object;
}

Classifier Classifier::from_json(const json& object, const Views& views, int classes) {
  const char* what = "classifier";
  Classifier model(Shift::from_json(json_field<json>(object, "shift", what), views));
  model.method_ = json_field<std::string>(object, "method", what);
  if (model.method_ != "auto") find_method(model.method_);
  const auto loss = json_field<json>(object, "loss", what);
  if (loss.is_object()) {
    CostMatrix costs;
    costs.actions = json_field<int>(loss, "actions", "loss");
    costs.labels = json_field<int>(loss, "labels", "loss");
    costs.cost = json_field<std::vector<double>>(loss, "cost", "loss");
    if (costs.labels != classes) {
      fail_input("loss: {} columns of costs for {} classes", costs.labels, classes);
    }
    model.costs_ = costs;
    model.game_ = cost_game(std::move(costs));
  } else {
    model.game_ = make_game(json_field<std::string>(object, "loss", what), classes);
  }
  for (const json& c : component_list(object)) {
    model.components_.push_back(Component::from_json(c, model.shift_, views, classes));
  }
  check_shares(model.components_, *model.game_);
  model.certificate_ = read_certificate(json_field<json>(object, "certificate", what));
  if (object.contains("calibration")) {
    model.calibration_ = Calibration::from_json(object["calibration"]);
  }
  return model;
}

}  // namespace covshift
