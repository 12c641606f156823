#include "covshift/compare/compare.hpp"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "covshift/base/error.hpp"
#include "covshift/compare/judge.hpp"
#include "covshift/ratio/diagnostics.hpp"

namespace covshift {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::string_view tempered = "tempered";

/// What the weighted training rows count: the density ratio, in units of its largest, times the
/// rows' own weights.
std::vector<double> target_weights(std::span<const double> log_ratio,
                                   std::span<const double> sample_weight) {
  const double largest = *std::max_element(log_ratio.begin(), log_ratio.end());
  std::vector<double> weight;
  for (std::size_t i = 0; i < log_ratio.size(); ++i) {
    weight.push_back(std::exp(log_ratio[i] - largest) *
                     (sample_weight.empty() ? 1.0 : sample_weight[i]));
  }
  return weight;
}

/// What the training rows are worth: under the models' ratio, unless that is smoothed for their
/// sake.
double rows_worth(const TrainingData& data, const ShiftOptions& shift,
                  std::span<const double> log_ratio) {
  if (shift.given_ratio || shift.ratio.method != RatioMethod::logistic ||
      shift.ratio.lambda.rule != RatioLambda::Rule::stable) {
    return effective_sample_size(log_ratio, data.sample_weight);
  }
  RatioOptions options = shift.ratio;
  options.lambda.rule = RatioLambda::Rule::cv;
  const auto ratio = fit_ratio(options, data.features, *data.target, data.sample_weight);
  return effective_sample_size(ratio->log_ratio(data.features, options.threads),
                               data.sample_weight);
}

Json number(double x) { return std::isfinite(x) ? Json(x) : Json(nullptr); }
Json number(const std::optional<double>& x) { return x ? number(*x) : Json(nullptr); }

Json to_json(const Estimate& e) {
  return {{"value", number(e.value)}, {"standard_error", number(e.standard_error)}};
}

Json to_json(const Judgement& j) {
  Json tenths = Json::array();
  for (const Judgement::Tenth& t : j.calibration) {
    tenths.push_back({{"confidence", t.confidence}, {"accuracy", t.accuracy}, {"share", t.share}});
  }
  const double bit = std::log(2.0);
  return {
      {"n", j.n},
      {"accuracy", 1 - j.error.value},
      {"error", to_json(j.error)},
      {"log_loss", to_json(j.log_loss)},
      {"log_loss_bits", to_json(Estimate{j.log_loss.value / bit, j.log_loss.standard_error / bit})},
      {"brier", to_json(j.brier)},
      {"confidence", j.confidence},
      {"calibration_error", j.calibration_error},
      {"calibration", std::move(tenths)}};
}

Json to_json(const Certificate& c, const std::string& promise) {
  return {{"game_value", number(c.game_value)},
          {"gap", number(c.gap)},
          {"target_value", number(c.target_value)},
          {"target_risk", number(c.target_risk)},
          {"mean_weight", number(c.mean_weight)},
          {"reliable", c.reliable},
          {"finite_sample", number(c.finite_sample)},
          {"delta", c.delta},
          {"statement", promise}};
}

}  // namespace

Comparison compare(const TrainingData& data, const Truth* truth, const CompareOptions& options) {
  if (data.target == nullptr) fail_input("a comparison needs a target");
  if (!(options.level > 0 && options.level < 1)) {
    fail_input("the level of the comparison must lie in (0, 1), not {}", options.level);
  }
  std::vector<std::string> names = options.methods;
  if (names.empty()) {
    for (const Method& m : methods()) names.emplace_back(m.name);
    names.insert(names.begin() + 2, std::string(tempered));
  }
  const auto announce = [&](std::string_view stage, double share) {
    if (options.fit.progress) options.fit.progress(stage, share);
  };

  // One density ratio for all: they differ in what they make of it.
  announce("density ratio", 0);
  ShiftOptions shift_options = options.fit.shift;
  shift_options.ratio.seed = options.fit.solve.seed;
  shift_options.ratio.threads = options.fit.solve.threads;
  shift_options.ratio.cancelled = options.fit.cancelled;
  const Shift shift =
      Shift::fit({Assumption::Kind::views}, shift_options, data.views, data.features, *data.target,
                 data.sample_weight, data.given_train, data.given_target);
  TrainingData own = data;
  own.shift = &shift;
  const std::vector<double> log_ratio = shift.at(data.features, data.given_train).log_ratio;
  const std::vector<double> weight = target_weights(log_ratio, data.sample_weight);

  Comparison c;
  c.train_rows = data.features.rows;
  c.target_rows = data.target->rows;
  c.truth_rows = truth != nullptr ? truth->labels.size() : 0;
  c.classes = options.classes;
  c.metric = options.metric;
  c.by_truth = truth != nullptr;
  c.level = options.level;
  c.views = shift.views();
  c.effective_sample_size = options.effective_sample_size
                                ? *options.effective_sample_size
                                : rows_worth(data, shift_options, log_ratio);
  if (options.map.x >= 0 && options.map.y >= 0) {
    c.map = lay_out_map(data.features, *data.target, options.map);
  }

  std::vector<std::vector<double>> scores;
  for (std::size_t m = 0; m < names.size(); ++m) {
    FitOptions fit = options.fit;
    fit.method = names[m] == tempered ? "robust" : names[m];
    fit.choose_temper = names[m] == tempered;
    fit.held_out = true;
    fit.progress = [&](std::string_view /*stage*/, double share) {
      announce(names[m], (static_cast<double>(m) + share) / static_cast<double>(names.size()));
    };
    const Classifier model = Classifier::fit(own, fit);
    const FitReport& report = model.report();
    if (report.solution.status == Status::stopped) throw Error(Error::Kind::stopped, "stopped");
    Compared result;
    result.name = names[m];
    result.loss = model.game().name();
    result.generalize = to_string(model.shift().assumption());
    result.lambda = report.lambda;
    result.lambda_choice = report.lambda_choice;
    result.status = report.solution.status;
    result.certificate = model.certificate();
    result.promise = describe(model.certificate(), model.game().name());
    result.seconds = report.seconds;
    RowScores rows = score_rows(model.game(), report.held_out, data.labels);
    result.estimated = judge(rows, weight);
    if (truth != nullptr) {
      rows =
          score_rows(model.game(), model.potentials(truth->features, {}, options.fit.solve.threads),
                     truth->labels);
      result.truth = judge(rows, {});
    }
    scores.push_back(rows.of(options.metric));
    if (c.map) {
      add_layer(*c.map, options.map, *data.target, names[m], model, options.fit.solve.threads);
    }
    c.methods.push_back(std::move(result));
  }
  name_winner(c, scores, truth != nullptr ? std::span<const double>() : weight);
  return c;
}

nlohmann::ordered_json to_json(const Comparison& c) {
  Json list = Json::array();
  for (const Compared& m : c.methods) {
    list.push_back({{"method", m.name},
                    {"loss", m.loss},
                    {"generalize", m.generalize},
                    {"lambda", m.lambda},
                    {"lambda_choice", m.lambda_choice},
                    {"status", to_string(m.status)},
                    {"seconds", m.seconds},
                    {"effective_sample_size", c.effective_sample_size},
                    {"estimated", to_json(m.estimated)},
                    {"truth", m.truth ? to_json(*m.truth) : Json(nullptr)},
                    {"certificate", to_json(m.certificate, m.promise)},
                    {"behind", to_json(m.behind)},
                    {"tied", m.tied}});
  }
  Json views = Json::array();
  for (const ViewShift& v : c.views) {
    views.push_back({{"name", v.name}, {"kl", v.kl}, {"generalized", v.generalized}});
  }
  return {{"train", c.train_rows},
          {"target", c.target_rows},
          {"truth", c.truth_rows},
          {"classes", c.classes},
          {"metric", to_string(c.metric)},
          {"judged_by", c.by_truth ? "truth" : "estimate"},
          {"effective_sample_size", c.effective_sample_size},
          {"level", c.level},
          {"critical", c.critical},
          {"best", c.best},
          {"winner", c.winner.empty() ? Json(nullptr) : Json(c.winner)},
          {"statement", c.statement},
          {"views", std::move(views)},
          {"methods", std::move(list)},
          {"map", c.map ? to_json(*c.map) : Json(nullptr)}};
}

}  // namespace covshift
