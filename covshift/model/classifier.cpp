#include "covshift/model/classifier.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>

#include "covshift/base/error.hpp"
#include "covshift/base/number.hpp"
#include "covshift/base/threads.hpp"
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

/// A training problem under an assumption, with the data it refers to.
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
  Shift::Ratios rows;
  Problem problem;
};

struct Choice {
  const Method* method;
  Assumption assumption;
};

/// The candidates: usually one method under one assumption.
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

/// Checks the data as a training problem.
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
    fail_input("the training data have only one class; a classifier needs at least two");
  }
}

/// The data of a fit, checked once, with copies merged into one example: the solver's path, and
/// thus the last digits of its answer, are the same for a weight of 2 as for the row twice.
struct CheckedData {
  CheckedData(const TrainingData& given, const FitOptions& options) : data(given) {
    const int threads = options.solve.threads;
    check_data(given, options);
    check_classes(given);
    data.features.finite = true;
    if (given.target != nullptr) {
      if (given.target->cols != given.features.cols) {
        fail_input("the target has {} columns, the training data {}", given.target->cols,
                   given.features.cols);
      }
      Rows(*given.target, {}).check("the target data", threads);
      target = *given.target;
      target.finite = true;
      data.target = &target;
    }
    merged = given.given_train.log_ratio.empty() && given.given_train.log_generalization.empty();
    if (!merged) return;
    weights = merge_copies(Rows(data.features, {}), data.sample_weight, data.labels, threads);
    data.sample_weight = weights;
  }
  CheckedData(const CheckedData&) = delete;
  CheckedData& operator=(const CheckedData&) = delete;

  TrainingData data;
  MatrixView target;
  bool merged = false;  ///< copies are merged
  std::vector<double> weights;
};

void announce(const FitOptions& options, std::string_view stage) {
  if (options.cancelled && options.cancelled()) throw Error(Error::Kind::stopped, "stopped");
  if (options.progress) options.progress(stage, 0);
}

/// The rule for lambda, with automatic resolved. Throws Error if the data lack what it needs.
LambdaChoice lambda_choice(const std::vector<Choice>& candidates, const TrainingData& data,
                           const FitOptions& options) {
  const bool shifted = std::any_of(candidates.begin(), candidates.end(), [](const Choice& c) {
    return c.assumption.kind != Assumption::Kind::none;
  });
  if (shifted && data.target == nullptr) {
    fail_input(
        "method {} needs a target: unlabelled inputs from where the model will be used; without "
        "one use lr, adv01 or svm",
        options.method);
  }
  LambdaChoice choice = options.lambda;
  if (choice.kind == LambdaChoice::Kind::automatic) {
    choice.kind = shifted ? LambdaChoice::Kind::iwcv : LambdaChoice::Kind::cv;
  }
  if (choice.kind == LambdaChoice::Kind::iwcv && data.target == nullptr) {
    fail_input("iwcv weights held-out losses by the density ratio and needs a target; use cv");
  }
  return choice;
}

/// Ratios are fitted with the caller's weights, as without a classifier.
Shift estimate_shift(const TrainingData& data, std::span<const double> sample_weight,
                     const Assumption& assumption, const FitOptions& options) {
  if (data.shift != nullptr) return *data.shift;
  if (data.target == nullptr) return Shift(data.views);
  announce(options, "density ratio");
  ShiftOptions own = options.shift;
  own.ratio.seed = options.solve.seed;
  own.ratio.threads = options.solve.threads;
  own.ratio.time_limit = options.solve.time_limit;
  return Shift::fit(assumption, own, data.views, data.features, *data.target, sample_weight,
                    data.given_train, data.given_target);
}

CrossValidation cross_validation(const LambdaChoice& lambda, const CheckedData& checked,
                                 const FitOptions& options) {
  CrossValidation cv;
  cv.lambdas =
      lambda.kind == LambdaChoice::Kind::fixed ? std::vector{lambda.value} : options.lambdas;
  cv.folds = options.folds;
  cv.seed = options.solve.seed;
  cv.threads = options.solve.threads;
  cv.solve = options.solve;
  cv.copies_merged = checked.merged;
  cv.cancelled = options.cancelled;
  return cv;
}

struct Selected {
  Choice choice;
  double lambda;
  std::vector<Candidate> tried;
};

/// Chooses the candidate with the smallest held-out loss; a single one with a given lambda needs
/// none.
Selected select(const std::vector<Choice>& candidates, const LambdaChoice& lambda,
                const TrainingData& data, const Shift& shift, const Game& game, CrossValidation& cv,
                const FitOptions& options) {
  Selected best_one{candidates[0], lambda.value, {}};
  const bool fixed = lambda.kind == LambdaChoice::Kind::fixed;
  if (candidates.size() == 1 && fixed) return best_one;
  double least = 0;
  for (const Choice& c : candidates) {
    const Setting setting(data, options, shift.assuming(c.assumption, data.views), game);
    // Held-out losses are weighted for every candidate, even those that train without weights.
    const bool importance = lambda.kind == LambdaChoice::Kind::iwcv || fixed;
    if (importance) cv.log_importance = setting.rows.log_weight;
    const auto before = static_cast<double>(best_one.tried.size());
    cv.progress = [&](double share) {
      if (!options.progress) return;
      options.progress("selection", (before + share) / static_cast<double>(candidates.size()));
    };
    std::vector<CrossValidated> path = cross_validate(setting.problem, cv);
    const CrossValidated& point = best(path);
    if (best_one.tried.empty() || point.loss < least) {
      least = point.loss;
      best_one.lambda = point.lambda;
      best_one.choice = c;
    }
    best_one.tried.push_back(
        {std::string(c.method->name), to_string(c.assumption), std::move(path)});
  }
  return best_one;
}

Solution train(const Problem& problem, SolveOptions solving, const FitOptions& options) {
  announce(options, "training");
  solving.observer = [&](const Progress& progress) {
    if (options.cancelled && options.cancelled()) return false;
    return !options.solve.observer || options.solve.observer(progress);
  };
  return solve(Examples(problem, solving.threads, solving.reducer), solving);
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

TrainingData::TrainingData(const Preparation& preparation, const PreparedRows& train,
                           const PreparedRows* unlabelled)
    : features(train.features),
      labels(train.labels),
      classes(static_cast<int>(preparation.classes().size())),
      sample_weight(train.weight),
      views(preparation.views()),
      given_train{train.log_ratio, train.log_generalization} {
  if (unlabelled == nullptr) return;
  target = &unlabelled->features;
  given_target = {unlabelled->log_ratio, unlabelled->log_generalization};
}

Classifier Classifier::fit(const TrainingData& given, const FitOptions& options) {
  const auto begin = std::chrono::steady_clock::now();
  const StopScope scope(options.cancelled);
  const std::vector<Choice> candidates = choices(options);
  const CheckedData checked(given, options);
  const TrainingData& data = checked.data;
  const std::shared_ptr<const Game> game = game_for(options, *candidates[0].method, data.classes);
  const LambdaChoice lambda = lambda_choice(candidates, data, options);
  const Shift shift = estimate_shift(data, given.sample_weight, candidates[0].assumption, options);

  CrossValidation cv = cross_validation(lambda, checked, options);
  const Selected chosen = select(candidates, lambda, data, shift, *game, cv, options);
  Setting setting(data, options, shift.assuming(chosen.choice.assumption, data.views), *game);
  setting.problem.lambda = chosen.lambda;
  FitReport report;
  if (options.held_out) report.held_out = held_out_potentials(setting.problem, cv);
  report.solution = train(setting.problem, cv.solve, options);

  Classifier model(setting.shift);
  model.method_ = chosen.choice.method->name;
  model.game_ = game;
  model.costs_ = options.costs;
  model.bias_ = options.bias;
  model.lambda_ = chosen.lambda;
  model.cols_ = data.features.cols;
  model.weights_ = std::move(report.solution.weights);
  model.certificate_ = certificate_of(model, data, setting.problem, report.solution, options.delta);
  report.lambda = chosen.lambda;
  report.lambda_choice = to_string(lambda.kind);
  report.candidates = chosen.tried;
  if (data.target != nullptr) {
    report.ratio =
        RatioSummary{effective_sample_size(setting.rows.log_weight, data.sample_weight),
                     largest_weights(setting.rows.log_weight, 1, data.sample_weight).front().share};
  }
  report.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  model.report_ = std::move(report);
  return model;
}

}  // namespace covshift
