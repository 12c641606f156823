#include "covshift/lab/experiment.hpp"

#include <algorithm>
#include <cmath>
#include <exception>
#include <mutex>
#include <nlohmann/json.hpp>
#include <numbers>

#include "covshift/base/error.hpp"
#include "covshift/base/lists.hpp"
#include "covshift/base/random.hpp"
#include "covshift/base/threads.hpp"
#include "covshift/data/rows.hpp"
#include "covshift/model/scores.hpp"

namespace covshift {
namespace {

Input labelled(const Matrix& rows, std::span<const int> labels) {
  Input input(rows.view());
  input.labels = labels;
  return input;
}

PreparationOptions with_classes(PreparationOptions options, int classes) {
  for (int k = 0; k < classes; ++k) options.classes.push_back(std::to_string(k));
  return options;
}

}  // namespace

Split::Split(Matrix train_rows, std::span<const int> train_labels, Matrix target_rows,
             std::vector<int> labels, int classes, PreparationOptions options)
    : preparation(labelled(train_rows, train_labels), with_classes(std::move(options), classes)),
      train(preparation.encode_training(labelled(train_rows, train_labels))),
      target(preparation.encode(target_rows.view())),
      target_labels(std::move(labels)) {
  train.own = std::move(train_rows);
  target.own = std::move(target_rows);
  preparation.fit(train, &target, 1);
}

nlohmann::ordered_json describe(const BiasedSampling& s) {
  nlohmann::ordered_json json = {
      {"feature", s.feature < 0 ? "random" : std::to_string(s.feature + 1)},
      {"quantile", s.quantile},
      {"crossing", s.crossing},
      {"a", {s.a.low, s.a.high}},
      {"b", {s.b.low, s.b.high}},
      {"train", s.train},
      {"target", s.target},
      {"replacement", s.replacement}};
  if (s.target_a) json["target_a"] = {s.target_a->low, s.target_a->high};
  if (s.target_b) json["target_b"] = {s.target_b->low, s.target_b->high};
  return json;
}

nlohmann::ordered_json describe(const FitOptions& fit) {
  return {{"ratio", to_string(fit.shift.ratio.method)},
          {"ratio_lambda", to_string(fit.shift.ratio.lambda)},
          {"view_threshold", fit.shift.view_threshold},
          {"bias", to_string(fit.shift.bias)},
          {"lambdas", fit.lambdas}};
}

FitOptions paper_fit() {
  FitOptions fit;
  fit.promise = false;
  fit.limit_certainty = false;
  fit.lambdas = paper_lambdas();
  fit.folds = 5;
  fit.features = "linear";
  fit.bias = true;
  fit.shift.automatic = true;
  fit.shift.view_threshold = 0.1;  // the paper's, whatever the default is
  fit.shift.bias = BiasAssumption::joint;
  fit.shift.ratio.method = RatioMethod::logistic;
  fit.shift.ratio.lambda = {RatioLambda::Rule::stable};
  fit.shift.ratio.folds = 5;
  return fit;
}

void run_tasks(const ExperimentOptions& options, std::size_t tasks,
               const std::function<void(std::size_t)>& body) {
  std::mutex mutex;
  std::size_t done = 0;
  parallel_tasks(options.threads, tasks, [&](std::size_t task) {
    if (options.cancelled && options.cancelled()) throw Error(Error::Kind::stopped, "stopped");
    body(task);
    const std::lock_guard lock(mutex);
    ++done;
    if (options.progress) options.progress(static_cast<double>(done) / static_cast<double>(tasks));
  });
}

ExperimentOptions part_of(const ExperimentOptions& options, std::size_t part, std::size_t parts) {
  ExperimentOptions out = options;
  if (!options.progress) return out;
  out.progress = [progress = options.progress, part, parts](double share) {
    progress((static_cast<double>(part) + share) / static_cast<double>(parts));
  };
  return out;
}

std::vector<Outcome> run_split(const Split& split, std::span<const Contestant> contestants,
                               const FitOptions& fit, unsigned long long seed) {
  const MatrixView& target = split.target.features;
  TrainingData data(split.preparation, split.train, &split.target);
  // Each view costs a ratio: estimate them only if a method uses them.
  const bool by_view =
      std::any_of(contestants.begin(), contestants.end(), [](const Contestant& contestant) {
        return find_method(contestant.method).generalize == Assumption::Kind::views;
      });
  if (!by_view) data.views = Views::all(target.cols);
  ShiftOptions estimate = fit.shift;
  estimate.ratio.seed = seed;
  estimate.ratio.threads = 1;
  // All the ratios that any of the methods needs.
  const Shift shift = Shift::fit({Assumption::Kind::views}, estimate, data.views, data.features,
                                 target, {}, {}, {});
  data.shift = &shift;

  std::vector<Outcome> outcomes;
  for (const Contestant& contestant : contestants) {
    FitOptions options = fit;
    options.method = contestant.method;
    options.lambda = contestant.lambda;
    options.choose_temper = contestant.generalize == "temper:auto";
    if (!contestant.generalize.empty() && !options.choose_temper) {
      options.generalize = parse_assumption(contestant.generalize);
    }
    options.solve.threads = 1;
    options.solve.seed = seed;
    TrainingData mapped = data;
    if (!contestant.features.empty()) {
      options.features = contestant.features;
      mapped.views = Views::all(target.cols);
      mapped.shift = nullptr;  // of other views
    }
    const Classifier model = Classifier::fit(mapped, options);
    const Predictions predictions = model.predict(target, {}, 1);
    const Scores scores = score(predictions, split.target_labels, model.game());
    Outcome outcome;
    outcome.accuracy = scores.accuracy;
    outcome.log_loss = scores.log_loss / std::numbers::ln2;
    outcome.expected_loss = scores.expected_loss;
    outcome.lambda = model.report().lambda;
    if (const auto& ratio = model.report().ratio) {  // methods that ignore the shift have none
      outcome.effective_sample_size = ratio->effective_sample_size;
    }
    for (const ViewShift& view : model.shift().views()) outcome.generalized += view.generalized;
    outcome.converged = model.report().solution.status == Status::converged;
    outcomes.push_back(outcome);
  }
  return outcomes;
}

std::vector<double> values_of(const Outcomes& outcomes, std::size_t contestant,
                              double Outcome::*measure) {
  std::vector<double> out;
  out.reserve(outcomes.size());
  for (const std::vector<Outcome>& draw : outcomes) out.push_back(draw[contestant].*measure);
  return out;
}

OutcomeMeans means_of(const Outcomes& outcomes, std::size_t contestant) {
  OutcomeMeans means;
  const auto n = static_cast<double>(outcomes.size());
  for (const std::vector<Outcome>& draw : outcomes) {
    const Outcome& o = draw[contestant];
    means.accuracy += o.accuracy / n;
    means.log2_lambda += std::log2(o.lambda) / n;
    means.effective_sample_size += o.effective_sample_size / n;
    means.generalized += o.generalized / n;
    means.converged += o.converged ? 1 : 0;
  }
  return means;
}

Split draw_split(const Dataset& data, const BiasedSampling& sampling, unsigned long long seed,
                 int draw) {
  // Each draw has its own random stream: draw 7 is the same whether 10 or 30 are run.
  Random random(seed * 1'000'003 + static_cast<unsigned long long>(draw));
  std::exception_ptr refused;  // why the last sample could not be drawn
  for (int attempt = 0; attempt < 100; ++attempt) {
    BiasedSampling options = sampling;
    options.seed = random.next();
    BiasedSample sample;
    try {
      sample = biased_sample(data.features.view(), options);
    } catch (const Error&) {
      if (sampling.feature >= 0) throw;
      refused = std::current_exception();  // a random feature may be constant
      continue;
    }
    const std::vector<int> labels = take<int>(data.labels, sample.train);
    const auto [low, high] = std::minmax_element(labels.begin(), labels.end());
    if (*low == *high) continue;
    PreparationOptions each_feature;
    each_feature.views = "each";
    each_feature.scale = ScaleKind::none;
    return {take_rows(data.features.view(), sample.train),
            labels,
            take_rows(data.features.view(), sample.target),
            take<int>(data.labels, sample.target),
            data.classes,
            std::move(each_feature)};
  }
  if (refused) std::rethrow_exception(refused);
  fail_input(
      "{}: no training sample with two classes in 100 draws; draw more rows or choose "
      "another feature to split by",
      data.name);
}

Outcomes run_draws(const Dataset& data, std::span<const Contestant> contestants,
                   const Reading& reading, const ExperimentOptions& options) {
  Outcomes outcomes(all_draws(options));
  run_tasks(options, outcomes.size(), [&](std::size_t i) {
    const auto draws = static_cast<std::size_t>(options.draws);
    const unsigned long long seed = options.seed + i / draws;
    const Split split = draw_split(data, reading.sampling, seed, static_cast<int>(i % draws));
    outcomes[i] = run_split(split, contestants, reading.fit, seed + i % draws);
  });
  return outcomes;
}

}  // namespace covshift
