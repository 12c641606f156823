#include "covshift/model/classifier.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <map>

#include "covshift/base/error.hpp"
#include "covshift/base/number.hpp"
#include "covshift/base/threads.hpp"
#include "covshift/data/rows.hpp"
#include "covshift/learn/examples.hpp"
#include "covshift/learn/rules.hpp"
#include "covshift/model/choose.hpp"
#include "covshift/model/setting.hpp"
#include "covshift/model/unseen.hpp"
#include "covshift/ratio/diagnostics.hpp"

namespace covshift {
namespace {

std::shared_ptr<const Game> game_for(const FitOptions& options, const std::string& method,
                                     int classes) {
  if (options.costs) {
    if (options.costs->labels != classes) {
      fail_input(
          "{} has {} columns, but the data have {} classes; it needs a column for each class, in "
          "the order of the classes",
          options.costs->source, options.costs->labels, classes);
    }
    return cost_game(*options.costs);
  }
  if (!options.loss.empty()) return make_game(options.loss, classes);
  return make_game(method == "auto" ? "log" : std::string(find_method(method).loss), classes);
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
    fail_input("the training data have only one class{}; a classifier needs at least two",
               data.sample_weight.empty() ? "" : " among the rows whose sample weight is not 0");
  }
}

/// The data of a fit, checked once, with copies merged into one example: the solver's path, and
/// thus the last digits of its answer, are the same for a weight of 2 as for the row twice.
struct CheckedData {
  CheckedData(const TrainingData& given, const FitOptions& options) : data(given) {
    const int threads = options.solve.threads;
    check_training(given, options);
    check_classes(given);
    check_target(given, options);
    data.features.finite = true;
    data.class_costs = weighs_classes(given.labels, given.sample_weight);
    if (given.target != nullptr) {
      target = *given.target;
      target.finite = true;
      data.target = &target;
    }
    const GivenDensities& densities = given.given_train;
    if (!densities.log_ratio.empty() || !densities.log_generalization.empty() ||
        !densities.views.empty()) {
      return;
    }
    weights = merge_copies(Rows(data.features, {}), data.sample_weight, data.labels, threads);
    data.sample_weight = weights;
  }
  CheckedData(const CheckedData&) = delete;
  CheckedData& operator=(const CheckedData&) = delete;

  TrainingData data;
  MatrixView target;
  std::vector<double> weights;
};

void announce(const FitOptions& options, std::string_view stage) {
  if (options.cancelled && options.cancelled()) throw Error(Error::Kind::stopped, "stopped");
  if (options.progress) options.progress(stage, 0);
}

/// Ratios are fitted with the caller's weights, as without a classifier.
Shift estimate_shift(const TrainingData& data, std::span<const double> sample_weight,
                     const Plan& plan, const FitOptions& options) {
  if (!plan.uses_ratio()) return Shift(data.views);
  if (data.shift != nullptr) return *data.shift;
  announce(options, "density ratio");
  ShiftOptions own = options.shift;
  own.ratio.seed = options.solve.seed;
  own.ratio.threads = options.solve.threads;
  own.ratio.time_limit = options.solve.time_limit;
  own.left_out = data.ids;
  return Shift::fit(plan.assumptions.back(), own, data.views, data.features, *data.target,
                    sample_weight, data.given_train, data.given_target);
}

double seconds_since(std::chrono::steady_clock::time_point begin) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

Solution train(const Problem& problem, SolveOptions solving, const FitOptions& options) {
  announce(options, "training");
  solving.observer = [&](const Progress& progress) {
    if (options.cancelled && options.cancelled()) return false;
    return !options.solve.observer || options.solve.observer(progress);
  };
  return solve(Examples(problem, solving.threads, solving.reducer), solving);
}

/// What the file stores of the shift must serve every component: the ratios of views, too.
Assumption shared_assumption(const Choice& choice) {
  for (const Chosen& c : choice.components) {
    if (c.assumption.kind == Assumption::Kind::views) return c.assumption;
  }
  return choice.components[0].assumption;
}

/// The loss of a mixture is at most the mean of its components' (Jensen): so are its bounds. What
/// one component does not promise, the mixture does not.
void add_share(const Certificate& part, double share, Certificate& all) {
  if (share == 1) {
    all = part;
    return;
  }
  const bool first = all.delta == 0;
  const auto add = [&](const std::optional<double>& x, std::optional<double>& sum) {
    if (first) sum = 0;
    if (x && sum) {
      *sum += share * *x;
    } else {
      sum.reset();
    }
  };
  if (first) all.mean_weight = 0;
  add(part.target_value, all.target_value);
  add(part.target_risk, all.target_risk);
  all.game_value += share * part.game_value;
  all.gap += share * part.gap;
  all.mean_weight += share * part.mean_weight;
  all.finite_sample += share * part.finite_sample;
  all.delta = part.delta;
}

void add_share(const Solution& part, double share, Solution& all) {
  const bool first = all.solver == Solver::automatic;
  all.objective += share * part.objective;
  all.dual += share * part.dual;
  all.gap += share * part.gap;
  all.iterations += part.iterations;
  all.seconds += part.seconds;
  all.solver = part.solver;
  if (first) all.squared_lambda = part.squared_lambda;
  if (first || part.status > all.status) all.status = part.status;  // the worst is the last
}

}  // namespace

void check_training(const TrainingData& data, const FitOptions& options) {
  check_examples(data.features, options.bias, data.labels, std::max(2, data.classes),
                 data.sample_weight);
  check_features(data.features, options.solve.threads);
}

void check_target(const TrainingData& data, const FitOptions& options) {
  if (data.target == nullptr) return;
  if (data.target->cols != data.features.cols) {
    fail_input("the target has {} columns, the training data {}", data.target->cols,
               data.features.cols);
  }
  Rows(*data.target, {}).check("the target data", options.solve.threads);
}

bool has_log_loss(const FitOptions& options) {
  if (options.costs) return false;
  if (!options.loss.empty()) return options.loss == "log";
  return options.method == "auto" || find_method(options.method).loss == "log";
}

LambdaChoice LambdaChoice::parse(const std::string& text) {
  if (text == "auto") return {};
  if (text == "cv") return {Kind::cv, 0};
  if (text == "iwcv") return {Kind::iwcv, 0};
  const std::optional<double> value = parse_number(text);
  if (!value || !(*value > 0) || !std::isfinite(*value)) {
    fail_input("must be a positive number, auto, cv or iwcv, not {}", quoted_excerpt(text));
  }
  return {Kind::fixed, *value};
}

std::vector<double> paper_lambdas() { return {0x1p-16, 0x1p-12, 0x1p-8, 0x1p-4, 1}; }

std::vector<double> default_lambdas() {
  std::vector<double> grid;
  for (int power = 2; power >= -18; power -= 2) grid.push_back(std::ldexp(1.0, power));
  return grid;
}

TrainingData::TrainingData(const Preparation& preparation, const PreparedRows& train,
                           const PreparedRows* unlabelled)
    : features(train.features),
      labels(train.labels),
      classes(static_cast<int>(preparation.classes().size())),
      sample_weight(train.weight),
      views(preparation.views()),
      ids(preparation.id_columns()),
      given_train(GivenDensities::of(train)) {
  if (unlabelled == nullptr) return;
  target = &unlabelled->features;
  unlike = static_cast<double>(unlabelled->strange.unlike) /
           static_cast<double>(std::max<std::size_t>(1, target->rows));
  given_target = GivenDensities::of(*unlabelled);
}

std::string Classifier::generalize() const {
  return components_.size() > 1 ? "auto" : to_string(components_.front().shift.assumption());
}

Classifier Classifier::fit(const TrainingData& given, const FitOptions& options) {
  const auto begin = std::chrono::steady_clock::now();
  const StopScope scope(options.cancelled);
  const Plan plan = plan_of(given, options);
  const CheckedData checked(given, options);
  const TrainingData& data = checked.data;
  const std::shared_ptr<const Game> game = game_for(options, plan.method, data.classes);
  const Shift shift =
      estimate_shift(data, given.sample_weight, plan, options).cautious(plan.caution);
  const Choice choice = choose(plan, data, shift, *game, options);

  Classifier model(shift.assuming(shared_assumption(choice)));
  model.method_ = choice.components.size() > 1
                      ? "auto"
                      : method_of(game->name(), choice.components[0].assumption.kind).name;
  if (plan.method != "auto") model.method_ = plan.method;
  model.game_ = game;
  model.costs_ = options.costs;
  Unseen unseen(data, *game, cross_validation(options), options.held_out);
  std::map<std::string, std::shared_ptr<const Mapped>> by_maps = choice.mapped;
  for (const Chosen& c : choice.components) {
    std::shared_ptr<const Mapped>& mapped = by_maps[c.features];
    if (!mapped) mapped = std::make_shared<const Mapped>(data, plan.features, c.features, options);
    Setting setting(data, options, *mapped, shift.assuming(c.assumption), *game);
    setting.problem.lambda = c.lambda;
    model.add_component(*mapped, setting, c, options.solve.start, data, options);
    if (options.promise || options.held_out) {
      announce(options, "held-out rows");
      unseen.add(model.components_.back(), setting.problem);
    }
  }
  FitReport& report = model.report_;
  if (options.held_out) report.held_out = unseen.by_row();
  if (options.promise) {
    add_bound(unseen, data, *game, shift, options, model.certificate_);
    model.calibration_ = calibration_of(unseen, data, *game, shift);
  }
  report.lambda = choice.components[0].lambda;
  report.lambda_choice = to_string(plan.lambda.kind);
  report.penalty = options.penalty;
  report.candidates = choice.tried;
  report.choice = choice.reason;
  if (plan.uses_ratio()) {
    const std::vector<double> log_weight = shift.at(data.features, data.given_train).log_weight;
    report.ratio = RatioSummary{effective_sample_size(log_weight, data.sample_weight),
                                largest_share(log_weight, data.sample_weight)};
  }
  report.seconds = seconds_since(begin);
  return model;
}

void Classifier::add_component(const Mapped& mapped, const Setting& setting, const Chosen& chosen,
                               std::span<const double> start, const TrainingData& data,
                               const FitOptions& options) {
  SolveOptions solving = options.solve;
  solving.start = start;
  Solution solution = train(setting.problem, solving, options);
  Component component{
      mapped.features, setting.shift, options.bias, chosen.lambda, std::move(solution.weights),
      chosen.share};
  if (options.limit_certainty) {
    component.certainty =
        certainty_limit(setting.problem, component.weights, solving.threads, solving.reducer);
  }
  components_.push_back(std::move(component));
  add_share(certificate_of(*game_, components_.back(), data, setting.problem, solution, options),
            chosen.share, certificate_);
  add_share(solution, chosen.share, report_.solution);
}

Classifier Classifier::refit(const TrainingData& part, const FitOptions& options,
                             std::span<const double> target_weight, double share,
                             double pooled_share) const {
  const auto begin = std::chrono::steady_clock::now();
  const StopScope scope(options.cancelled);
  const Reducer* const reducer = options.solve.reducer;
  const bool uses_ratio = shift_.estimated() || shift_.needs_given_ratio();
  Shift shift = shift_;
  if (uses_ratio) {
    announce(options, "density ratio of all rows");
    ShiftOptions own = options.shift;
    own.ratio.threads = options.solve.threads;
    own.left_out = part.ids;
    const PartRows rows{part.features, *part.target, part.sample_weight, target_weight, reducer};
    shift = shift_.refit(own, part.views, rows, part.given_train, part.given_target, pooled_share);
  }
  Classifier model(shift);
  model.method_ = method_;
  model.game_ = game_;
  model.costs_ = costs_;
  const bool fixed = options.lambda.kind == LambdaChoice::Kind::fixed;
  for (const Component& c : components_) {
    const Mapped mapped(c.features, part, options);
    const Chosen chosen{"", c.shift.assumption(), c.lambda * (fixed ? 1 : share), c.share};
    Setting setting(part, options, mapped, shift.assuming(chosen.assumption), *game_);
    setting.problem.lambda = chosen.lambda;
    begin_pass(reducer);
    std::span<const double> start;
    if (start_from_sample(*game_)) start = c.weights;
    model.add_component(mapped, setting, chosen, start, part, options);
  }
  FitReport& report = model.report_;
  report.lambda = model.components_[0].lambda;
  report.lambda_choice = report_.lambda_choice;
  report.penalty = options.penalty;
  report.candidates = report_.candidates;
  report.choice = report_.choice;
  if (uses_ratio) {
    begin_pass(reducer);
    const std::vector<double> log_weight =
        shift.at(part.features, part.given_train, options.solve.threads).log_weight;
    report.ratio = RatioSummary{effective_sample_size(log_weight, part.sample_weight, reducer),
                                largest_share(log_weight, part.sample_weight, reducer)};
  }
  report.seconds = report_.seconds + seconds_since(begin);
  return model;
}

void Classifier::promise_by(const TrainingData& held_out, const FitOptions& options) {
  add_bound(held_out, *this, options, certificate_);
  const int threads = options.solve.threads;
  calibration_ = calibration_of(
      *game_, potentials(held_out.features, held_out.given_train, threads), held_out.labels,
      shift_.at(held_out.features, held_out.given_train, threads).log_weight,
      held_out.sample_weight);
}

void Classifier::promise_of(const Classifier& other) {
  const Certificate solved = certificate_;
  certificate_ = other.certificate_;
  certificate_.game_value = solved.game_value;
  certificate_.gap = solved.gap;
  calibration_ = other.calibration_;
}

}  // namespace covshift
