#include "covshift/export/onnx.hpp"

#include <algorithm>
#include <cmath>
#include <deque>
#include <nlohmann/json.hpp>
#include <optional>

#include "covshift/base/error.hpp"
#include "covshift/export/parts.hpp"
#include "covshift/learn/scaled_rows.hpp"
#include "covshift/shift/shift.hpp"

namespace covshift {
namespace {

using nlohmann::json;
using Kind = Assumption::Kind;
using Numbers = std::vector<double>;

/// A model as formulas, from what its file says (docs/model-file.md).
class Export {
 public:
  Export(Graph& graph, const Model& model)
      : g_(graph),
        model_(model),
        body_(model.preparation().to_json()),
        classifier_(model.classifier().to_json()),
        shift_(classifier_.at("shift")),
        rows_(scaled_inputs(graph, model.preparation(), body_)),
        labels_(static_cast<std::size_t>(model.classifier().game().labels())),
        view_ratios_(shift_.at("views").size()) {
    log_ratio_ = rows_.valid;  // no shift: 0
    if (shift_.at("given_ratio").get<bool>()) {
      log_ratio_ = given_ratio(body_.at("ratio_column"));
    } else if (!shift_.at("ratio").is_null()) {
      log_ratio_ = estimated(shift_["ratio"]);
    }
  }

  std::string file();

 private:
  /// The scales of a component: of no log scale, 0.
  struct Scales {
    std::vector<std::optional<Tensor>> log;  ///< the joint one, then those of views, of the bias
    std::vector<std::size_t> of_view;
    std::size_t of_bias = 0;
  };
  /// Features and their weights, under one scale.
  struct Part {
    Tensor features;
    Tensor weights;
    std::size_t scale;
  };

  [[nodiscard]] Tensor estimated(const json& ratio) const;
  [[nodiscard]] Tensor given(const std::string& column) const;
  Tensor given_ratio(const std::string& column) { return given_log(apply("Log", given(column))); }
  Tensor given_log(const Tensor& x);
  [[nodiscard]] std::string view_column(std::size_t view, const char* which) const;
  Tensor view_log_scale(std::size_t view, const Assumption& assumption);
  std::optional<Tensor> joint_log_scale(const Assumption& assumption);
  Scales scales_of(const Assumption& assumption);
  [[nodiscard]] Tensor some_columns(const std::vector<std::int64_t>& columns) const {
    const bool all = columns.size() == model_.preparation().views().cols();
    return all ? rows_.x : columns_of(rows_.x, columns);
  }
  std::vector<Part> columns_by_scale(const Numbers& weights, const Scales& scales);
  const Outputs& mapped(const json& map, const std::vector<std::int64_t>& columns);
  std::vector<Part> parts_of(const json& component, const Scales& scales);
  Tensor psi_of(const json& component, const Scales& scales, const std::vector<Part>& parts);
  Tensor potentials(const json& component);
  Tensor probabilities();

  Graph& g_;
  const Model& model_;
  json body_;
  json classifier_;
  const json& shift_;
  ScaledInputs rows_;
  std::size_t labels_;
  Tensor log_ratio_;
  std::vector<std::optional<Tensor>> view_ratios_;
  std::deque<std::pair<json, Outputs>> maps_;
};

/// min(x, limit), if there is a limit.
Tensor limited(const Tensor& x, double limit) {
  return std::isfinite(limit) && limit < RatioBound{}.scale ? at_most(x, limit) : x;
}

/// The largest log scale that an estimated ratio allows.
double bound_of(const json& ratio) {
  return ratio.is_object() && ratio.contains("bound") ? ratio["bound"].at(1).get<double>()
                                                      : RatioBound{}.scale;
}

Tensor Export::estimated(const json& ratio) const {
  const std::size_t cols = model_.preparation().views().cols();
  if (ratio.at("cols") != cols) {
    fail_input("the density ratio was fitted on {} columns, the model has {}; the file was edited",
               ratio["cols"].get<std::size_t>(), cols);
  }
  return log_ratio_of(ratio, rows_.x, rows_.cut);
}

Tensor Export::given(const std::string& column) const {
  const auto found = rows_.densities.find(column);
  if (found == rows_.densities.end()) {
    fail_input(
        "the caller supplied a density with the rows, but the model does not name its column: "
        "predict with covshift");
  }
  return found->second;
}

/// Rows whose density is not finite are refused.
Tensor Export::given_log(const Tensor& x) {
  rows_.valid = rows_.valid + x * 0.0;
  return x;
}

std::string Export::view_column(std::size_t view, const char* which) const {
  const std::string& name = model_.preparation().views().names[view];
  for (const json& own : body_.at("view_columns")) {
    auto column = own.at(which).get<std::string>();
    if (own.at("view") == name && !column.empty()) return column;
  }
  return "";
}

Tensor Export::view_log_scale(std::size_t view, const Assumption& assumption) {
  const json& own = shift_.at("views")[view];
  if (own.value("given_generalization", false)) {
    return given_log(given(view_column(view, "generalization_column")));
  }
  if (!view_ratios_[view]) {
    view_ratios_[view] = own.contains("ratio") ? estimated(own["ratio"])
                         : own.value("given_ratio", false)
                             ? given_ratio(view_column(view, "ratio_column"))
                             : log_ratio_;
  }
  const double bound = own.contains("ratio") ? bound_of(own["ratio"]) : RatioBound{}.scale;
  return limited(-*view_ratios_[view], std::min(assumption.log_limit(), bound));
}

std::optional<Tensor> Export::joint_log_scale(const Assumption& assumption) {
  if (assumption.kind == Kind::given) return given_log(given(body_.at("generalization_column")));
  if (assumption.kind == Kind::none || assumption.kind == Kind::test) return std::nullopt;
  Tensor log_ratio = log_ratio_;
  if (shift_.contains("caution")) {
    const Tensor beyond = at_least(log_ratio - shift_.at("reach").get<double>(), 0);
    log_ratio = log_ratio - beyond * (1 - shift_["caution"].get<double>());
  }
  const double part = assumption.kind == Kind::temper ? 1 - assumption.g : 1;
  return limited(log_ratio * -part, std::min(assumption.log_limit(), bound_of(shift_["ratio"])));
}

Export::Scales Export::scales_of(const Assumption& assumption) {
  Scales scales;
  scales.log.push_back(joint_log_scale(assumption));
  const bool weighted = assumption.kind != Kind::none;
  const json& views = shift_.at("views");
  for (std::size_t v = 0; v < views.size(); ++v) {
    const bool own = (assumption.kind == Kind::views && views[v].at("generalized").get<bool>()) ||
                     (weighted && views[v].value("given_generalization", false));
    scales.of_view.push_back(own ? scales.log.size() : 0);
    if (own) scales.log.emplace_back(view_log_scale(v, assumption));
  }
  if (weighted && shift_.at("bias") == to_string(BiasAssumption::test)) {
    scales.of_bias = scales.log.size();
    scales.log.emplace_back();
  }
  return scales;
}

/// Where features are the columns in their order: those under each scale.
std::vector<Export::Part> Export::columns_by_scale(const Numbers& weights, const Scales& scales) {
  const Views& views = model_.preparation().views();
  std::vector<std::vector<std::int64_t>> columns(scales.log.size());
  for (std::size_t v = 0; v < views.columns.size(); ++v) {
    std::vector<std::int64_t>& own = columns[scales.of_view[v]];
    own.insert(own.end(), views.columns[v].begin(), views.columns[v].end());
  }
  std::vector<Part> parts;
  for (std::size_t s = 0; s < columns.size(); ++s) {
    if (columns[s].empty()) continue;
    std::sort(columns[s].begin(), columns[s].end());
    Numbers own;
    for (const std::int64_t c : columns[s]) {
      const auto from = weights.begin() + c * static_cast<std::ptrdiff_t>(labels_);
      own.insert(own.end(), from, from + static_cast<std::ptrdiff_t>(labels_));
    }
    parts.push_back({some_columns(columns[s]), g_.numbers(own, columns[s].size()), s});
  }
  return parts;
}

/// Components of a mixture may share maps.
const Outputs& Export::mapped(const json& map, const std::vector<std::int64_t>& columns) {
  for (const auto& [known, outputs] : maps_) {
    if (known == map) return outputs;
  }
  const Outputs own = map_outputs(map, some_columns(columns), columns.size());
  // Rows far off may overflow; predict() refuses them.
  if (!rows_.cut) rows_.valid = rows_.valid + over_row("ReduceSum", own.features * 0.0);
  return maps_.emplace_back(map, own).second;
}

std::vector<Export::Part> Export::parts_of(const json& component, const Scales& scales) {
  const auto weights = component.at("weights").get<Numbers>();
  if (!component.contains("features")) return columns_by_scale(weights, scales);
  const Views& views = model_.preparation().views();
  std::vector<Part> parts;
  auto from = weights.begin();
  for (const json& map : component["features"]) {
    const auto view = map.at("view").get<std::size_t>();
    const std::vector<std::int64_t> columns(views.columns[view].begin(), views.columns[view].end());
    const Outputs& own = mapped(map, columns);
    const auto to = from + static_cast<std::ptrdiff_t>(own.count * labels_);
    parts.push_back({own.features, g_.numbers({from, to}, own.count), scales.of_view[view]});
    from = to;
  }
  return parts;
}

/// sum_s r_s phi_s T_s, with the largest r taken out of the sum, so that it cannot overflow.
Tensor Export::psi_of(const json& component, const Scales& scales, const std::vector<Part>& parts) {
  std::vector<std::optional<Tensor>> sums(scales.log.size());
  const auto add = [&](std::size_t scale, const Tensor& x) {
    sums[scale] = sums[scale] ? *sums[scale] + x : x;
  };
  for (const Part& part : parts) add(part.scale, times(part.features, part.weights));
  if (component.at("bias").get<bool>()) {
    const auto weights = component.at("weights").get<Numbers>();
    add(scales.of_bias,
        g_.numbers({weights.end() - static_cast<std::ptrdiff_t>(labels_), weights.end()}));
  }
  const auto largest = [](const Tensor& log) {
    return apply("Exp", clip(log, -log_scale_limit, log_scale_limit));
  };
  if (sums.size() == 1) return scales.log[0] ? largest(*scales.log[0]) * *sums[0] : *sums[0];
  std::vector<Tensor> logs;
  for (const auto& log : scales.log) logs.push_back(log ? *log : rows_.valid);
  const Tensor top = over_row("ReduceMax", beside(logs));
  std::optional<Tensor> psi;
  for (std::size_t s = 0; s < sums.size(); ++s) {
    if (!sums[s]) continue;
    const Tensor own = apply("Exp", logs[s] - top) * *sums[s];
    psi = psi ? *psi + own : own;
  }
  return largest(top) * *psi;
}

Tensor Export::potentials(const json& component) {
  const Scales scales = scales_of(parse_assumption(component.at("generalize")));
  std::vector<Part> parts = parts_of(component, scales);
  Tensor psi = psi_of(component, scales, parts);
  if (!rows_.cut) {  // where products overflow: a shorter row of the same direction
    constexpr double far_out = 1e-200;
    const Tensor overflow = not_finite(psi);
    for (Part& part : parts) {
      part.features = where(overflow, part.features * far_out, part.features);
    }
    psi = psi_of(component, scales, parts);
  }
  if (!component.contains("certainty")) return psi;
  const Tensor least = over_row("ReduceMax", psi) - component["certainty"].get<double>();
  return g_.node("Max", {psi, least});
}

/// Of several components, which have log loss, the sum by their shares.
Tensor Export::probabilities() {
  const json& components = classifier_.at("components");
  const Game& game = model_.classifier().game();
  if (components.size() == 1) return predictor(game, potentials(components[0]));
  std::optional<Tensor> sum;
  for (const json& component : components) {
    const Tensor own = predictor(game, potentials(component)) * component.at("share").get<double>();
    sum = sum ? *sum + own : own;
  }
  return *sum / over_row("ReduceSum", *sum);
}

std::string Export::file() {
  const Tensor p = probabilities();
  const std::vector<std::string> names = model_.action_names();
  const Tensor likeliest = g_.node("ArgMax", {p}, {{"axis", 1}, {"keepdims", 0}});
  const Tensor label = g_.node("Gather", {g_.texts(names), likeliest}, {{"axis", 0}});
  // What predict() refuses has no answer here.
  const Tensor known = where(is_nan(flat(rows_.valid)), g_.texts({""}), label);
  g_.output(known, "label", TensorType::text, 0);
  g_.output(p + rows_.valid, "probabilities", TensorType::number, names.size());
  g_.output(flat(log_ratio_ + rows_.valid), "log_ratio", TensorType::number, 0);

  const Encoder& encoder = model_.preparation().encoder();
  json sources = json::array();
  for (std::size_t s = 0; s < encoder.source_count(); ++s)
    sources.push_back(encoder.source_name(s));
  return g_.file({{"classes", json(names).dump()},
                  {"features", sources.dump()},
                  {"method", model_.classifier().method()},
                  {"loss", model_.classifier().game().name()}});
}

}  // namespace

std::string to_onnx(const Model& model) {
  Graph graph({"label", "probabilities", "log_ratio"});
  return Export(graph, model).file();
}

}  // namespace covshift
