#include "covshift/model/classifier.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>

#include "covshift/base/error.hpp"
#include "covshift/base/threads.hpp"
#include "covshift/data/number.hpp"
#include "covshift/data/rows.hpp"
#include "covshift/learn/examples.hpp"
#include "covshift/ratio/diagnostics.hpp"

namespace covshift {
namespace {

std::shared_ptr<const Game> game_for(const FitOptions& options, const Method& method, int classes) {
  if (options.costs) {
    if (options.costs->labels != classes) {
      fail_input(
          "the cost matrix has {} columns, but the data have {} classes; it needs a column "
          "for each class, in the order of the classes",
          options.costs->labels, classes);
    }
    return cost_game(*options.costs);
  }
  return make_game(options.loss.empty() ? std::string(method.loss) : options.loss, classes);
}

/// A training problem under an assumption, with the numbers it points to.
struct Setting {
  Setting(const TrainingData& data, const FitOptions& options, Shift under, const Game& game)
      : shift(std::move(under)), rows(shift.at(data.features, data.given_train)) {
    problem.game = &game;
    problem.features = data.features;
    problem.labels = data.labels;
    problem.lambda = 1;
    problem.bias = options.bias;
    problem.sample_weight = data.sample_weight;
    if (shift.weighted()) {
      problem.log_weight = rows.log_weight;
      problem.log_scale = rows.log_scale;
      problem.scales = shift.scales();
      problem.scale_of_column = shift.scale_of_column();
      problem.scale_of_bias = shift.scale_of_bias();
    }
  }
  Setting(const Setting&) = delete;
  Setting& operator=(const Setting&) = delete;

  Shift shift;
  Shift::Rows rows;
  Problem problem;
};

struct Choice {
  const Method* method;
  Assumption assumption;
};

/// What is to be compared: usually one method under one assumption.
std::vector<Choice> choices(const FitOptions& options) {
  std::vector<Choice> list;
  if (options.method == "auto") {
    if (options.generalize || options.choose_temper) {
      fail_input("method auto chooses the assumption itself: leave generalize out");
    }
    for (const char* name : {"lr", "iw", "robust", "robust-view"}) {
      const Method& m = find_method(name);
      list.push_back({&m, {m.generalize}});
    }
    list.push_back({&find_method("robust"), {Assumption::Kind::temper, 0.5}});
    return list;
  }
  const Method& method = find_method(options.method);
  if (options.choose_temper) {
    for (const double g : {0.0, 0.25, 0.5, 0.75, 1.0}) {
      list.push_back({&method, {Assumption::Kind::temper, g}});
    }
    return list;
  }
  list.push_back({&method, options.generalize.value_or(Assumption{method.generalize})});
  return list;
}

/// Before anything looks at the numbers.
void check_data(const TrainingData& data, const FitOptions& options) {
  const std::unique_ptr<Game> any = log_game(std::max(2, data.classes));
  Problem problem;
  problem.game = any.get();
  problem.features = data.features;
  problem.labels = data.labels;
  problem.lambda = 1;
  problem.bias = options.bias;
  problem.sample_weight = data.sample_weight;
  check(problem, options.solve.threads);
}

void check_classes(const TrainingData& data) {
  int first = -1;
  bool another = data.labels.empty();
  for (std::size_t i = 0; i < data.labels.size() && !another; ++i) {
    if (!data.sample_weight.empty() && !(data.sample_weight[i] > 0)) continue;
    if (first < 0) first = data.labels[i];
    another = data.labels[i] != first;
  }
  if (!another) {
    fail_input("the training data have one class only; a classifier needs at least two");
  }
}

}  // namespace

LambdaChoice LambdaChoice::parse(const std::string& text) {
  if (text.empty()) return {};
  if (text == "cv") return {Kind::cv, 0};
  if (text == "iwcv") return {Kind::iwcv, 0};
  const std::optional<double> value = parse_number(text);
  if (!value || !(*value > 0) || !std::isfinite(*value)) {
    fail_input("'{}' is not a positive number, cv or iwcv", text);
  }
  return {Kind::fixed, *value};
}

std::vector<double> paper_lambdas() { return {0x1p-16, 0x1p-12, 0x1p-8, 0x1p-4, 1}; }

Classifier Classifier::fit(const TrainingData& given, const FitOptions& options) {
  const auto begin = std::chrono::steady_clock::now();
  const StopScope scope(options.cancelled);
  const std::vector<Choice> list = choices(options);
  check_data(given, options);
  check_classes(given);
  // Copies count as one example of their weight: a solver's path, and so the last digits of its
  // answer, cannot tell a weight of 2 from the row twice.
  TrainingData data = given;
  std::vector<double> weights;
  if (data.given_train.log_ratio.empty() && data.given_train.log_generalization.empty()) {
    weights = merge_copies(Rows(data.features, {}), data.sample_weight, data.labels,
                           options.solve.threads);
    data.sample_weight = weights;
  }
  const std::shared_ptr<const Game> game = game_for(options, *list[0].method, data.classes);
  const bool shifted = std::any_of(list.begin(), list.end(), [](const Choice& c) {
    return c.assumption.kind != Assumption::Kind::none;
  });
  if (shifted && data.target == nullptr) {
    fail_input(
        "method {} needs a target: the unlabelled inputs the model is for; without one use "
        "lr, adv01 or svm",
        options.method);
  }
  const auto announce = [&](std::string_view stage, double share) {
    if (options.cancelled && options.cancelled()) throw Error(Error::Kind::stopped, "stopped");
    if (options.progress) options.progress(stage, share);
  };
  Shift shift(data.views);
  if (data.shift != nullptr) {
    shift = *data.shift;
  } else if (data.target != nullptr) {
    announce("density ratio", 0);
    if (data.target->cols != data.features.cols) {
      fail_input("the target has {} columns, the training data {}", data.target->cols,
                 data.features.cols);
    }
    ShiftOptions shift_options = options.shift;
    shift_options.generalize = list[0].assumption;
    shift_options.ratio.seed = options.solve.seed;
    shift_options.ratio.threads = options.solve.threads;
    shift_options.ratio.time_limit = options.solve.time_limit;
    shift = Shift::fit(shift_options, data.views, data.features, *data.target, data.sample_weight,
                       data.given_train, data.given_target);
  }

  LambdaChoice choice = options.lambda;
  if (choice.kind == LambdaChoice::Kind::automatic) {
    choice.kind = shifted ? LambdaChoice::Kind::iwcv : LambdaChoice::Kind::cv;
  }
  if (choice.kind == LambdaChoice::Kind::iwcv && data.target == nullptr) {
    fail_input("iwcv weighs held-out losses by the density ratio: it needs a target; use cv");
  }
  const bool importance = choice.kind == LambdaChoice::Kind::iwcv ||
                          (list.size() > 1 && choice.kind == LambdaChoice::Kind::fixed);
  CrossValidation cv;
  cv.lambdas =
      choice.kind == LambdaChoice::Kind::fixed ? std::vector{choice.value} : options.lambdas;
  cv.folds = options.folds;
  cv.seed = options.solve.seed;
  cv.threads = options.solve.threads;
  cv.solve = options.solve;
  cv.cancelled = options.cancelled;

  // Candidates are compared by their held-out losses; a single one with a given lambda needs none.
  FitReport report;
  const Choice* chosen = list.data();
  double lambda = choice.value;
  double least = 0;
  if (list.size() > 1 || choice.kind != LambdaChoice::Kind::fixed) {
    for (const Choice& c : list) {
      const Setting setting(data, options, shift.assuming(c.assumption, data.views), *game);
      // Held-out losses are weighted for every candidate, those that train without weights too.
      if (importance) cv.log_importance = setting.rows.log_weight;
      cv.progress = [&](double share) {
        const auto before = static_cast<double>(&c - list.data());
        if (options.progress) {
          options.progress("selection", (before + share) / static_cast<double>(list.size()));
        }
      };
      std::vector<CrossValidated> path = cross_validate(setting.problem, cv);
      const CrossValidated& point = best(path);
      if (&c == list.data() || point.loss < least) {
        least = point.loss;
        lambda = point.lambda;
        chosen = &c;
      }
      report.candidates.push_back(
          {std::string(c.method->name), to_string(c.assumption), std::move(path)});
    }
  }

  Setting setting(data, options, shift.assuming(chosen->assumption, data.views), *game);
  setting.problem.lambda = lambda;
  if (options.held_out) report.held_out = held_out_potentials(setting.problem, cv);
  announce("training", 0);
  SolveOptions last = cv.solve;
  last.observer = [&](const Progress& progress) {
    if (options.cancelled && options.cancelled()) return false;
    return !options.solve.observer || options.solve.observer(progress);
  };
  Solution solution = solve(Examples(setting.problem, last.threads, last.reducer), last);

  Classifier model(setting.shift);
  model.method_ = chosen->method->name;
  model.game_ = game;
  model.costs_ = options.costs;
  model.bias_ = options.bias;
  model.lambda_ = lambda;
  model.cols_ = data.features.cols;
  model.weights_ = std::move(solution.weights);
  report.lambda = lambda;
  report.lambda_choice = choice.kind == LambdaChoice::Kind::fixed ? "fixed"
                         : choice.kind == LambdaChoice::Kind::cv  ? "cv"
                                                                  : "iwcv";
  report.solution = std::move(solution);
  if (data.target != nullptr) {
    report.ratio =
        RatioSummary{effective_sample_size(setting.rows.log_weight, data.sample_weight),
                     largest_weights(setting.rows.log_weight, 1, data.sample_weight).front().share};
  }
  model.certificate_ = certificate_of(model, data, setting.problem, report.solution, options.delta);
  report.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  model.report_ = std::move(report);
  return model;
}

}  // namespace covshift
