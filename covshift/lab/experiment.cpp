#include "covshift/lab/experiment.hpp"

#include <algorithm>
#include <cmath>
#include <exception>
#include <mutex>
#include <nlohmann/json.hpp>
#include <numbers>

#include "covshift/base/error.hpp"
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

std::vector<int> labels_of(std::span<const int> labels, std::span<const std::size_t> rows) {
  std::vector<int> out;
  out.reserve(rows.size());
  for (const std::size_t i : rows) out.push_back(labels[i]);
  return out;
}

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
  return {{"feature", s.feature < 0 ? "random" : std::to_string(s.feature + 1)},
          {"quantile", s.quantile},
          {"crossing", s.crossing},
          {"a", {s.a_low, s.a_high}},
          {"b", {s.b_low, s.b_high}},
          {"train", s.train},
          {"target", s.target},
          {"replacement", s.replacement}};
}

nlohmann::ordered_json describe(const ShiftOptions& shift) {
  return {{"ratio", to_string(shift.ratio.method)},
          {"ratio_lambda", to_string(shift.ratio.lambda)},
          {"view_threshold", shift.view_threshold},
          {"bias", to_string(shift.bias)}};
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
                               const ShiftOptions& shift_options, unsigned long long seed) {
  const MatrixView& target = split.target.features;
  TrainingData data(split.preparation, split.train, &split.target);
  // Each view costs a ratio: estimate them only if a method uses them.
  const bool by_view =
      std::any_of(contestants.begin(), contestants.end(), [](const Contestant& contestant) {
        return find_method(contestant.method).generalize == Assumption::Kind::views;
      });
  if (!by_view) data.views = {{"all"}, std::vector<std::int32_t>(target.cols, 0)};
  ShiftOptions estimate = shift_options;
  estimate.ratio.seed = seed;
  estimate.ratio.threads = 1;
  // All the ratios that any of the methods needs.
  const Shift shift = Shift::fit({Assumption::Kind::views}, estimate, data.views, data.features,
                                 target, {}, {}, {});
  data.shift = &shift;

  std::vector<Outcome> outcomes;
  for (const Contestant& contestant : contestants) {
    FitOptions options;
    options.method = contestant.method;
    options.lambda = contestant.lambda;
    options.shift = shift_options;
    options.solve.threads = 1;
    options.solve.seed = seed;
    const Classifier model = Classifier::fit(data, options);
    const Predictions predictions = model.predict(target, {}, 1);
    const Scores scores = score(predictions, split.target_labels, model.game());
    Outcome outcome;
    outcome.accuracy = scores.accuracy;
    outcome.log_loss = scores.log_loss / std::numbers::ln2;
    outcome.expected_loss = scores.expected_loss;
    outcome.lambda = model.lambda();
    outcome.effective_sample_size = model.report().ratio->effective_sample_size;
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
    const std::vector<int> labels = labels_of(data.labels, sample.train);
    const auto [low, high] = std::minmax_element(labels.begin(), labels.end());
    if (*low == *high) continue;
    PreparationOptions each_feature;
    each_feature.views = "each";
    each_feature.scale = ScaleKind::none;
    return {take_rows(data.features.view(), sample.train),
            labels,
            take_rows(data.features.view(), sample.target),
            labels_of(data.labels, sample.target),
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
  Outcomes outcomes(static_cast<std::size_t>(options.draws));
  run_tasks(options, outcomes.size(), [&](std::size_t draw) {
    const Split split = draw_split(data, reading.sampling, options.seed, static_cast<int>(draw));
    outcomes[draw] = run_split(split, contestants, reading.shift, options.seed + draw);
  });
  return outcomes;
}

}  // namespace covshift
