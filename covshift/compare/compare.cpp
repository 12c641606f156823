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

/// Weights of training rows: the density ratio, relative to its maximum, times the sample weights.
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

/// The effective sample size for the models' ratio, or for an unsmoothed one if theirs is smoothed.
double unsmoothed_sample_size(const TrainingData& data, const ShiftOptions& shift,
                              const DensityRatio* joint, std::span<const double> log_ratio) {
  if (joint == nullptr || joint->method() != RatioMethod::logistic ||
      shift.ratio.lambda.rule != RatioLambda::Rule::stable) {
    return effective_sample_size(log_ratio, data.sample_weight);
  }
  RatioOptions options = shift.ratio;
  options.lambda.rule = RatioLambda::Rule::cv;
  options.columns = joint->columns();
  const auto ratio = fit_ratio(options, data.features, *data.target, data.sample_weight);
  return effective_sample_size(ratio->log_ratio(data.features, options.threads),
                               data.sample_weight);
}

std::vector<double> class_shares(const TrainingData& data) {
  std::vector<double> shares(static_cast<std::size_t>(data.classes), 0.0);
  double total = 0;
  for (std::size_t i = 0; i < data.labels.size(); ++i) {
    const double weight = data.sample_weight.empty() ? 1.0 : data.sample_weight[i];
    shares[static_cast<std::size_t>(data.labels[i])] += weight;
    total += weight;
  }
  for (double& s : shares) s /= total;
  return shares;
}

Estimate gain_over(std::span<const double> shares, const RowScores& scores,
                   std::span<const int> labels, std::span<const double> weight) {
  std::vector<double> apart = brier_of_shares(shares, labels);
  for (std::size_t i = 0; i < apart.size(); ++i) apart[i] -= scores.brier[i];
  return weighted_mean(apart, weight);
}

Json to_json(const Estimate& e) {
  const auto number = [](double x) { return std::isfinite(x) ? Json(x) : Json(nullptr); };
  return {{"value", number(e.value)},
          {"standard_error", number(e.standard_error)},
          {"low", number(e.low())},
          {"high", number(e.high())}};
}

Json to_json(const Judgement& j) {
  Json tenths = Json::array();
  for (const Judgement::Tenth& t : j.calibration) {
    tenths.push_back({{"confidence", t.confidence}, {"accuracy", t.accuracy}, {"share", t.share}});
  }
  const double bit = std::log(2.0);
  return {
      {"n", j.n},
      {"reliable", j.reliable},
      {"accuracy", 1 - j.error.value},
      {"error", to_json(j.error)},
      {"log_loss", to_json(j.log_loss)},
      {"log_loss_bits", to_json(Estimate{j.log_loss.value / bit, j.log_loss.standard_error / bit})},
      {"brier", to_json(j.brier)},
      {"confidence", j.confidence},
      {"calibration_error", j.calibration_error},
      {"calibration", std::move(tenths)}};
}

/// The data as methods see them: with their views, or with one of all columns.
struct SharedShift {
  SharedShift(const TrainingData& given, Views views, const ShiftOptions& options)
      : shift(Shift::fit({Assumption::Kind::views}, options, views, given.features, *given.target,
                         given.sample_weight, given.given_train, given.given_target)),
        data(given) {
    data.views = std::move(views);
    data.shift = &shift;
  }
  SharedShift(const SharedShift&) = delete;
  SharedShift& operator=(const SharedShift&) = delete;

  Shift shift;  ///< all methods share one
  TrainingData data;
};

bool by_view(const std::string& name) {
  return name != "auto" && name != tempered &&
         find_method(name).generalize == Assumption::Kind::views;
}

ShiftOptions shift_options(const FitOptions& fit) {
  ShiftOptions options = fit.shift;
  options.ratio.seed = fit.solve.seed;
  options.ratio.threads = fit.solve.threads;
  options.ratio.cancelled = fit.cancelled;
  return options;
}

std::vector<std::string> method_names(const CompareOptions& options) {
  std::vector<std::string> names = options.methods;
  if (!names.empty()) return names;
  names.emplace_back("auto");
  for (const Method& m : methods()) names.emplace_back(m.name);
  names.insert(names.begin() + 3, std::string(tempered));
  return names;
}

Classifier fit_method(const TrainingData& data, const std::string& name, const FitOptions& options,
                      const std::function<void(double)>& progress) {
  FitOptions fit = options;
  fit.method = name == tempered ? "robust" : name;
  fit.choose_temper = name == tempered;
  fit.held_out = true;
  fit.progress = [&](std::string_view /*stage*/, double share) { progress(share); };
  Classifier model = Classifier::fit(data, fit);
  if (model.report().solution.status == Status::stopped) {
    throw Error(Error::Kind::stopped, "stopped");
  }
  return model;
}

Compared describe_fit(const std::string& name, const Classifier& model) {
  const FitReport& report = model.report();
  Compared result;
  result.name = name;
  result.loss = model.game().name();
  result.generalize = model.generalize();
  result.lambda = report.lambda;
  result.lambda_choice = report.lambda_choice;
  result.choice = report.choice;
  result.tried = report.candidates;
  result.status = report.solution.status;
  result.certificate = model.certificate();
  result.promise = describe(model.certificate(), model.game());
  result.seconds = report.seconds;
  return result;
}

/// Of a difference of independent numbers. (Not std::hypot: glibc's of 2.35 would keep the wheel
/// from older systems.)
double joint_error(double a, double b) { return std::sqrt(a * a + b * b); }

}  // namespace

Comparison compare(const TrainingData& data, const Truth* truth, const CompareOptions& options) {
  if (data.target == nullptr) fail_input("a comparison needs a target");
  CompareOptions::levels.check("the level of the comparison", options.level);
  const std::vector<std::string> names = method_names(options);
  const auto announce = [&](std::string_view stage, double share) {
    if (options.fit.progress) options.fit.progress(stage, share);
  };
  const int threads = options.fit.solve.threads;
  announce("density ratio", 0);
  ShiftOptions estimate = shift_options(options.fit);
  estimate.left_out = data.ids;
  const SharedShift viewed(data, data.views, estimate);
  std::optional<SharedShift> whole;
  if (options.views_by_method) whole.emplace(data, Views::all(data.features.cols), estimate);
  const std::vector<double> log_ratio = viewed.shift.at(data.features, data.given_train).log_ratio;
  const std::vector<double> weight = target_weights(log_ratio, data.sample_weight);

  Comparison c;
  c.train_rows = data.features.rows;
  c.target_rows = data.target->rows;
  c.truth_rows = truth != nullptr ? truth->labels.size() : 0;
  c.classes = options.classes;
  c.metric = options.metric;
  c.by_truth = truth != nullptr;
  c.level = options.level;
  c.views = viewed.shift.views();
  c.effective_sample_size =
      options.effective_sample_size
          ? *options.effective_sample_size
          : unsmoothed_sample_size(data, estimate, viewed.shift.joint(), log_ratio);
  c.unsupported = options.unsupported;
  if (options.map.x >= 0 && options.map.y >= 0) {
    c.map = lay_out_map(data.features, *data.target, options.map);
  }
  for (const MapOptions& plane : options.more_maps) {
    c.more_maps.push_back(lay_out_map(data.features, *data.target, plane));
  }
  const std::vector<double> shares = class_shares(data);
  std::vector<std::vector<double>> scores;
  for (const std::string& name : names) {
    const auto done = static_cast<double>(c.methods.size());
    const TrainingData& own = whole && !by_view(name) ? whole->data : viewed.data;
    const Classifier model = fit_method(own, name, options.fit, [&](double share) {
      announce(name, (done + share) / static_cast<double>(names.size()));
    });
    Compared result = describe_fit(name, model);
    RowScores rows = score_rows(model.game(), model.report().held_out, data.labels);
    result.estimated = judge(rows, weight);
    result.estimated.reliable = estimates_mean_something(c);
    result.training_error = weighted_mean(rows.error, data.sample_weight);
    result.drop = weighted_change(rows.error, data.sample_weight, weight);
    result.gain = gain_over(shares, rows, data.labels, weight);
    if (truth != nullptr) {
      rows =
          score_rows(model.game(), model.potentials(truth->features, {}, threads), truth->labels);
      result.truth = judge(rows, {});
      result.truth->reliable = static_cast<double>(c.truth_rows) >= least_rows;
      const Estimate& error = result.truth->error;
      result.drop = {error.value - result.training_error.value,
                     joint_error(error.standard_error, result.training_error.standard_error)};
      result.gain = gain_over(shares, rows, truth->labels, {});
    }
    scores.push_back(rows.of(options.metric));
    if (c.map) add_layer(*c.map, options.map, *data.target, name, model, threads);
    for (std::size_t k = 0; k < c.more_maps.size(); ++k) {
      add_layer(c.more_maps[k], options.more_maps[k], *data.target, name, model, threads);
    }
    c.methods.push_back(std::move(result));
  }
  name_winner(c, scores, truth != nullptr ? std::span<const double>() : weight);
  for (DecisionMap& map : c.more_maps) {
    std::erase_if(map.layers, [&](const DecisionMap::Layer& layer) {
      return layer.method != "lr" && layer.method != c.recommended;
    });
  }
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
                    {"choice", m.choice},
                    {"selection", to_json(m.tried)},
                    {"status", to_string(m.status)},
                    {"seconds", m.seconds},
                    {"effective_sample_size", c.effective_sample_size},
                    {"estimated", to_json(m.estimated)},
                    {"truth", m.truth ? to_json(*m.truth) : Json(nullptr)},
                    {"certificate", to_json(m.certificate, m.promise)},
                    {"training_error", to_json(m.training_error)},
                    {"drop", to_json(m.drop)},
                    {"gain", to_json(m.gain)},
                    {"behind", to_json(m.behind)},
                    {"tied", m.tied}});
  }
  Json more_maps = Json::array();
  for (const DecisionMap& map : c.more_maps) more_maps.push_back(to_json(map));
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
          {"recommended", c.recommended},
          {"statement", c.statement},
          {"views", to_json(c.views)},
          {"methods", std::move(list)},
          {"map", c.map ? to_json(*c.map) : Json(nullptr)},
          {"more_maps", std::move(more_maps)}};
}

}  // namespace covshift
