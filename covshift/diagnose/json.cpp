#include <cmath>
#include <nlohmann/json.hpp>

#include "covshift/diagnose/diagnose.hpp"

namespace covshift {
namespace {

using Json = nlohmann::ordered_json;

Json row_json(const Diagnosis& d, std::size_t row, const std::vector<std::string>& values) {
  Json shown = Json::array();
  for (std::size_t k = 0; k < values.size(); ++k) {
    shown.push_back({{"name", d.features[d.shown[k]].name}, {"value", values[k]}});
  }
  return {{"row", row + 1}, {"values", std::move(shown)}};
}

/// An array of json(item) for each item.
template <typename T, typename F>
Json array_of(const std::vector<T>& items, const F& json) {
  Json list = Json::array();
  for (const T& item : items) list.push_back(json(item));
  return list;
}

Json view_json(const ViewDivergence& v) {
  return {{"name", v.name},
          {"kl", v.kl},
          {"generalized", v.generalized},
          {"kl_binned", v.kl_binned},
          {"stable", v.stable}};
}

Json means_json(const Diagnosis& d) {
  Json means = Json::array();
  for (std::size_t j = 0; j < d.means.size(); ++j) {
    const MeanShift& m = d.means[j];
    means.push_back({{"name", d.columns[j]},
                     {"train", m.train},
                     {"weighted", m.weighted},
                     {"target", m.target},
                     {"before", m.before},
                     {"after", m.after}});
  }
  return means;
}

Json distribution_json(const FeatureShift& f) {
  return {{"name", f.name},
          {"kind", f.categorical ? "category" : "number"},
          {"kl", f.kl},
          {"kl_binned", f.kl_binned},
          {"kl_binned_error", f.kl_binned_error},
          {f.categorical ? "levels" : "edges", f.categorical ? Json(f.levels) : Json(f.edges)},
          {"train", f.train},
          {"weighted", f.weighted},
          {"target", f.target}};
}

Json support_json(const Diagnosis& d) {
  Json examples = Json::array();
  for (std::size_t k = 0; k < d.support.examples.size(); ++k) {
    const UnsupportedRow& row = d.support.examples[k];
    Json item = row_json(d, row.row, d.unsupported_values[k]);
    item["distance"] = row.distance;
    item["beyond"] = row.beyond;
    examples.push_back(std::move(item));
  }
  Json listed = {{"row", Json::array()}, {"distance", Json::array()}};
  for (const UnsupportedRow& row : d.support.listed) {
    listed["row"].push_back(row.row + 1);
    listed["distance"].push_back(std::round(row.distance * 1e4) / 1e4);
  }
  return {{"share", d.support.share},
          {"expected", d.support.expected},
          {"rows", d.support.rows},
          {"examples", std::move(examples)},
          {"listed", std::move(listed)}};
}

Json recommendation_json(const Diagnosis& d) {
  const Recommendation& r = d.recommendation;
  const auto reason_json = [](const Reason& reason) {
    return Json{{"code", reason.code},
                {"value", reason.value},
                {"threshold", reason.threshold},
                {"text", reason.text}};
  };
  Json label = Json::array();
  for (std::size_t k = 0; k < r.label_first.size(); ++k) {
    Json item = row_json(d, r.label_first[k].row, d.label_values[k]);
    item["represents"] = r.label_first[k].represents;
    label.push_back(std::move(item));
  }
  return {{"trust", to_json(r.trust)},
          {"verdict", to_string(r.verdict)},
          {"summary", r.summary},
          {"method", r.method},
          {"why", r.why},
          {"command", r.command.empty() ? Json(nullptr) : Json(r.command)},
          {"shifted_views", r.shifted_views},
          {"stable_views", r.stable_views},
          {"reasons", array_of(r.reasons, reason_json)},
          {"collect_labels", r.collect_labels},
          {"label_first", std::move(label)}};
}

Json scatter_json(const Scatter& s) {
  if (s.x.empty()) return nullptr;
  const auto point = [](const Scatter::Point& p) {
    return Json::array({p.x, p.y, p.unsupported ? 1 : 0});
  };
  return {{"x", s.x},
          {"y", s.y.empty() ? Json(nullptr) : Json(s.y)},
          {"train", array_of(s.train, point)},
          {"target", array_of(s.target, point)}};
}

}  // namespace

nlohmann::ordered_json to_json(const Diagnosis& d) {
  const auto weight_json = [](const LargeWeight& w) {
    return Json{{"row", w.row + 1}, {"share", w.share}};
  };
  return {{"train", d.train_rows},
          {"target", d.target_rows},
          {"shift", d.shifted()},
          {"domain_auc", d.test.auc},
          {"domain_auc_standard_error", d.test.standard_error},
          {"p_value", d.test.p_value},
          {"level", d.level},
          {"permutations", d.test.permutations},
          {"permutation_rows", {{"train", d.test.train_rows}, {"target", d.test.target_rows}}},
          {"power", d.test.power ? Json(*d.test.power) : Json(nullptr)},
          {"ratio", d.ratio},
          {"effective_sample_size", d.effective_sample_size},
          {"fitted_sample_size", d.fitted_sample_size},
          {"view_threshold", d.view_threshold},
          {"views", array_of(d.views, view_json)},
          {"largest_weights", array_of(d.heaviest, weight_json)},
          {"weights", {{"log_edges", d.weights.edges}, {"counts", d.weights.counts}}},
          {"features", means_json(d)},
          {"distributions", array_of(d.features, distribution_json)},
          {"support", support_json(d)},
          {"recommendation", recommendation_json(d)},
          {"scatter", scatter_json(d.scatter)},
          {"advice", d.recommendation.summary}};
}

}  // namespace covshift
