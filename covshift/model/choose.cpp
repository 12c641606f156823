#include "covshift/model/choose.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "covshift/base/error.hpp"
#include "covshift/base/lists.hpp"
#include "covshift/data/feature_map.hpp"
#include "covshift/data/rows.hpp"
#include "covshift/data/smooth_order.hpp"
#include "covshift/model/setting.hpp"
#include "covshift/ratio/diagnostics.hpp"
#include "covshift/select/folds.hpp"
#include "covshift/select/mixture.hpp"

namespace covshift {
namespace {

using Kind = Assumption::Kind;

// docs/choice.md has the study of these numbers.
constexpr double baseline_rows = 3;      // prior of the baseline in the mixture, in rows
constexpr double negligible = 0.01;      // shares below are not worth a component
constexpr double share_steps = 1e4;      // shares are rounded: what a solver left open stays open
constexpr double evidence = 2;           // standard errors to leave the baseline
constexpr double unshifted = 0.99;       // effective share of the rows above which w is 1
constexpr std::size_t most_rows = 5000;  // more are not needed to choose
constexpr int patience = 3;              // lambdas that are worse in a row

std::vector<Assumption> open_assumptions(const Views& views, double caution) {
  if (caution <= 0) return {{Kind::none}, {Kind::test}};
  if (caution >= 1) return {{Kind::train}};
  std::vector<Assumption> open = {{Kind::none}, {Kind::overlap}};
  // Views of the caller's own: those that hardly shift are trusted, the rest is under overlap.
  if (views.names.size() > 1) open.push_back({Kind::views, 0, default_overlap});
  return open;
}

/// Whether splines of the columns make at most 300 features, twice those of smooth_map; columns of
/// two values have no knots.
bool few_bends(const MatrixView& x) {
  constexpr std::size_t most = 300;
  const std::size_t knots = parse_maps(bends_map)[0].size;
  if (is_sparse(x) || x.cols > most) return false;
  std::size_t count = x.cols;
  for (std::size_t j = 0; j < x.cols && count <= most; ++j) {
    const std::vector<double> values = take_column(x, static_cast<std::int32_t>(j));
    const auto [low, high] = std::minmax_element(values.begin(), values.end());
    constexpr double digits = 1e-5;  // of the range: less is no other value
    const double inner = digits * (*high - *low);
    const bool third = std::any_of(
        values.begin(), values.end(),
        [&, low = *low, high = *high](double v) { return v > low + inner && v < high - inner; });
    if (third) count += knots;
  }
  return count <= most;
}

/// Maps to choose from: lines, anything smooth of all columns, and each column's own bends.
std::vector<std::string> open_maps(const MatrixView& x) {
  std::vector<std::string> maps = {"linear", smooth_map};
  if (few_bends(x)) maps.emplace_back(bends_map);
  return maps;
}

bool shifted(const Plan& plan) {
  return std::any_of(plan.assumptions.begin(), plan.assumptions.end(),
                     [](const Assumption& a) { return a.kind != Kind::none; });
}

void need_target(const Plan& plan, const TrainingData& data) {
  if (data.target != nullptr) return;
  if (shifted(plan)) {
    fail_input(
        "method {} needs a target: unlabelled inputs from where the model will be used; without "
        "one use {}",
        plan.method, methods_without_target());
  }
  if (plan.lambda.kind == LambdaChoice::Kind::iwcv) {
    fail_input("iwcv weights held-out losses by the density ratio and needs a target; use cv");
  }
}

/// Some of the training data, for choosing; all of them if densities come with the rows.
struct SampledData {
  SampledData(const TrainingData& all, std::size_t most, unsigned long long seed) : data(all) {
    const auto total = [](const TrainingData& d) {
      return d.sample_weight.empty()
                 ? static_cast<double>(d.features.rows)
                 : std::accumulate(d.sample_weight.begin(), d.sample_weight.end(), 0.0);
    };
    const GivenDensities& given = all.given_train;
    if (!given.log_ratio.empty() || !given.log_generalization.empty() || !given.views.empty()) {
      return;
    }
    if (all.features.rows > most) {
      const std::vector<std::size_t> rows =
          stratified_sample(all.features, all.labels, all.sample_weight, most, seed);
      features = take_rows(all.features, rows);
      data.features = features.view();
      labels = take(all.labels, rows);
      weight = take(all.sample_weight, rows);
      data.labels = labels;
      data.sample_weight = weight;
      share = total(data) / total(all);
    }
    // Near copies leave together, in whatever way rows are left out.
    weight = merge_near_copies(Rows(data.features, {}), data.sample_weight, data.labels);
    data.sample_weight = weight;
  }
  SampledData(const SampledData&) = delete;
  SampledData& operator=(const SampledData&) = delete;

  TrainingData data;
  double share = 1;  ///< of the total weight
  Matrix features;
  std::vector<int> labels;
  std::vector<double> weight;
};

/// A candidate with what was held out from it.
struct Trial {
  Chosen chosen;
  std::vector<double> losses;      ///< of held-out rows
  std::vector<double> likelihood;  ///< of their labels, for log loss
  Candidate report;
};

class Chooser {
 public:
  Chooser(const Plan& plan, const TrainingData& data, const Shift& shift, const Game& game,
          const FitOptions& options)
      : plan_(plan),
        game_(game),
        options_(options),
        shift_(shift),
        // A grid that the caller gives is tried as it is, on all rows.
        refine_(options.lambdas.empty()),
        sample_(data, refine_ ? most_rows : data.features.rows, options.solve.seed),
        of_all_(sample_.features.rows == 0 &&
                std::equal(sample_.data.sample_weight.begin(), sample_.data.sample_weight.end(),
                           data.sample_weight.begin(), data.sample_weight.end())),
        cv_(cross_validation(options)) {
    if (plan.uses_ratio()) {
      const TrainingData& own = sample_.data;
      const std::vector<double> log_weight = shift.at(own.features, own.given_train).log_weight;
      if (plan.lambda.kind == LambdaChoice::Kind::iwcv) {
        for (const double l : log_weight) importance_.push_back(std::exp(l));
      } else if (plan.lambda.kind != LambdaChoice::Kind::cv) {
        importance_ = defensive_importance(log_weight, own.sample_weight);
      }
      shifted_ = effective_sample_size(log_weight, own.sample_weight) <
                 unshifted * effective_sample_size(std::vector<double>(log_weight.size(), 0.0),
                                                   own.sample_weight);
    }
    cv_.importance = importance_;
    cv_.keep_potentials = plan.rule != Plan::Rule::only;
    if (refine_) {
      cv_.lambdas = default_lambdas();
      cv_.patience = patience;
      cv_.leave_one_out = true;
    }
    if (plan.lambda.kind == LambdaChoice::Kind::fixed) cv_.lambdas = {plan.lambda.value};
  }

  Choice run() {
    const bool fixed = plan_.lambda.kind == LambdaChoice::Kind::fixed;
    for (const std::string& map : plan_.maps) try_map(map);
    Choice choice;
    switch (plan_.rule) {
      case Plan::Rule::only:
        choice.components = {trials_[0].chosen};
        break;
      case Plan::Rule::least:
      case Plan::Rule::margin:
        choice = pick();
        break;
      case Plan::Rule::mixture:
        choice = mix();
        break;
    }
    choice.mapped = std::move(mapped_);
    for (Trial& t : trials_) choice.tried.push_back(std::move(t.report));
    // A penalty is worth a fixed number of rows: with more rows it weighs less.
    for (Chosen& c : choice.components) c.lambda *= fixed ? 1 : sample_.share;
    return choice;
  }

 private:
  /// All candidates are judged alike: if the first, the columns as they are, cannot leave out
  /// single rows, none does. Folds are a function of the columns alone, and no seed decides.
  void deal_folds(const Problem& first) {
    cv_.leave_one_out = cv_.leave_one_out && can_leave_one_out(first);
    if (cv_.leave_one_out) return;
    cv_.seed = 0;
    const TrainingData& own = sample_.data;
    fold_ = stratified_folds(own.features, own.labels, own.sample_weight, cv_.folds, cv_.seed);
    cv_.fold = fold_;
  }

  void try_map(const std::string& map) {
    // Under a shift the slopes beyond the outer knots decide, which no held-out row can judge.
    if (map == bends_map && plan_.maps.size() > 1 && shifted_) return;
    const auto mapped = std::make_shared<const Mapped>(sample_.data, plan_.features, map, options_);
    if (of_all_) mapped_[map] = mapped;
    for (const Assumption& assumption : plan_.assumptions) {
      // If no shift is detected, all assumptions coincide.
      if (plan_.rule == Plan::Rule::mixture && !shifted_ && assumption != plan_.assumptions[0]) {
        continue;
      }
      announce();
      const Setting setting(sample_.data, options_, *mapped, shift_.assuming(assumption), game_);
      if (trials_.empty()) deal_folds(setting.problem);
      const HeldOut held = held_out(setting.problem, cv_);
      add({map, assumption}, held, importance_, "");
      if (plan_.baseline && trials_.size() == 1) {
        add({map, assumption}, held, {}, "cv");
        std::swap(trials_[0], trials_[1]);  // the baseline is the first
      }
    }
  }

  void announce() {
    const double done = static_cast<double>(trials_.size());
    const double all = static_cast<double>(plan_.maps.size() * plan_.assumptions.size() +
                                           (plan_.baseline ? 1 : 0));
    cv_.progress = [this, done, all](double share) {
      if (options_.progress) options_.progress("selection", (done + share) / all);
    };
  }

  void add(Chosen chosen, const HeldOut& held, std::span<const double> importance,
           const char* rule) {
    Trial t;
    t.report.path = held.curve(importance);
    const CrossValidated& point = best(t.report.path);
    chosen.lambda =
        refine_ && held.lambdas.size() > 1 ? refined_lambda(t.report.path) : point.lambda;
    t.chosen = chosen;
    t.report.method = method_of(game_.name(), chosen.assumption.kind).name;
    t.report.features = chosen.features;
    t.report.generalize = to_string(chosen.assumption);
    t.report.lambda = chosen.lambda;
    t.report.lambda_choice = *rule != '\0' ? rule : to_string(plan_.lambda.kind);
    if (plan_.rule == Plan::Rule::only) {
      t.report.loss = point.loss;
      t.report.standard_error = point.standard_error;
      t.report.share = 1;
    } else {
      judge(held.potentials_at(chosen.lambda), held.count, t);
    }
    trials_.push_back(std::move(t));
  }

  /// Held-out losses of a trial, and their mean by the importance that all trials share.
  void judge(const std::vector<double>& psi, const std::vector<double>& count, Trial& t) {
    const auto k = static_cast<std::size_t>(game_.labels());
    count_ = count;
    for (std::size_t i = 0; i < count.size(); ++i) {
      const double loss = game_.loss_at({psi.data() + i * k, k}, sample_.data.labels[i]);
      t.losses.push_back(count[i] > 0 ? loss : 0);
      t.likelihood.push_back(std::exp(-t.losses.back()));
    }
    const Mean mean = mean_of(t.losses, {});
    t.report.loss = mean.value;
    t.report.standard_error = mean.error;
  }

  struct Mean {
    double value, error;
  };
  /// The mean of losses minus others (empty: 0), weighted by importance, and its standard error.
  [[nodiscard]] Mean mean_of(std::span<const double> losses, std::span<const double> others) const {
    double total = 0;
    double sum = 0;
    const auto difference = [&](std::size_t i) {
      return losses[i] - (others.empty() ? 0 : others[i]);
    };
    for (std::size_t i = 0; i < count_.size(); ++i) {
      total += count_[i] * importance(i);
      sum += count_[i] * importance(i) * difference(i);
    }
    double squares = 0;
    for (std::size_t i = 0; i < count_.size(); ++i) {
      const double off = importance(i) * (difference(i) - sum / total);
      squares += count_[i] * off * off;
    }
    return {sum / total, std::sqrt(squares) / total};
  }
  [[nodiscard]] double importance(std::size_t i) const {
    return importance_.empty() ? 1 : importance_[i];
  }

  /// The expected cost is linear in shares, so a single candidate is the best mixture.
  Choice pick() {
    std::size_t least = 0;
    for (std::size_t t = 1; t < trials_.size(); ++t) {
      if (trials_[t].report.loss < trials_[least].report.loss) least = t;
    }
    std::string reason = fmt::format("{} of {} candidates has the smallest held-out loss",
                                     name_of(trials_[least]), trials_.size());
    if (plan_.rule == Plan::Rule::margin && least != 0) {
      const Mean gain = mean_of(trials_[0].losses, trials_[least].losses);
      const bool enough = gain.value > evidence * gain.error;
      reason = fmt::format(
          "{} has the smallest held-out loss of {} candidates, {:.4f} +- {:.4f} below that of {}{} "
          "{} standard errors",
          name_of(trials_[least]), trials_.size(), gain.value, gain.error, name_of(trials_[0]),
          enough ? ": more than" : ", which is kept: the difference is within", evidence);
      if (!enough) least = 0;
    }
    trials_[least].report.share = 1;
    return {{trials_[least].chosen}, {}, reason};
  }

  Choice mix() {
    const std::size_t k = trials_.size();
    std::vector<double> weight;
    double sum = 0;
    double squares = 0;
    for (std::size_t i = 0; i < count_.size(); ++i) {
      weight.push_back(count_[i] * importance(i));
      sum += weight.back();
      squares += weight.back() * importance(i);
    }
    for (double& w : weight) w *= sum / squares;  // to the effective number of rows
    std::vector<double> likelihood;
    for (const Trial& t : trials_) {
      likelihood.insert(likelihood.end(), t.likelihood.begin(), t.likelihood.end());
    }
    std::vector<double> prior(k, 1 / static_cast<double>(k));
    if (plan_.baseline) prior[0] += baseline_rows;
    std::vector<double> share = mixture_shares(likelihood, weight, prior);
    for (double& s : share) s = std::ceil(s * share_steps) / share_steps;
    // The baseline stays, whatever its share: it bounds the loss of every row.
    double kept = 0;
    for (std::size_t t = 0; t < k; ++t) {
      if (share[t] < negligible && !(plan_.baseline && t == 0)) share[t] = 0;
      kept += share[t];
    }
    Choice choice;
    for (std::size_t t = 0; t < k; ++t) {
      trials_[t].report.share = share[t] / kept;
      if (share[t] == 0) continue;
      trials_[t].chosen.share = share[t] / kept;
      // Without weights the baseline is a candidate's twin.
      const auto twin = std::find_if(choice.components.begin(), choice.components.end(),
                                     [own = trials_[t].chosen](const Chosen& c) {
                                       return c.features == own.features &&
                                              c.assumption == own.assumption &&
                                              c.lambda == own.lambda;
                                     });
      if (twin != choice.components.end()) {
        twin->share += trials_[t].chosen.share;
      } else {
        choice.components.push_back(trials_[t].chosen);
      }
    }
    std::stable_sort(choice.components.begin(), choice.components.end(),
                     [](const Chosen& a, const Chosen& b) { return a.share > b.share; });
    choice.reason = fmt::format(
        "the model mixes {} of {} candidates, with weights fitted to held-out rows (effective "
        "sample size {:.0f}){}",
        std::count_if(share.begin(), share.end(), [](double s) { return s > 0; }), k,
        sum * sum / squares,
        plan_.baseline ? fmt::format("; no row's loss exceeds that of {} by more than {:.3g}",
                                     name_of(trials_[0]), -std::log(trials_[0].report.share))
                       : "");
    return choice;
  }

  static std::string name_of(const Trial& t) {
    return fmt::format("{} {} (lambda by {})", t.chosen.features, t.report.generalize,
                       t.report.lambda_choice);
  }

  const Plan& plan_;
  const Game& game_;
  const FitOptions& options_;
  const Shift& shift_;
  bool refine_;
  SampledData sample_;
  bool of_all_;  ///< the sample is all rows, with the same weights
  CrossValidation cv_;
  std::vector<int> fold_;
  std::vector<double> importance_;  ///< of held-out losses; empty: 1
  std::vector<double> count_;
  bool shifted_ = false;
  std::vector<Trial> trials_;
  std::map<std::string, std::shared_ptr<const Mapped>> mapped_;
};

}  // namespace

bool Plan::uses_ratio() const { return shifted(*this) || lambda.kind == LambdaChoice::Kind::iwcv; }

CrossValidation cross_validation(const FitOptions& options) {
  CrossValidation cv;
  cv.lambdas = options.lambdas;
  cv.folds = options.folds;
  cv.seed = options.solve.seed;
  cv.threads = options.solve.threads;
  cv.solve = options.solve;
  cv.cancelled = options.cancelled;
  return cv;
}

Plan plan_of(const TrainingData& data, const FitOptions& options) {
  Plan plan;
  const std::string loss = options.costs ? "cost" : options.loss.empty() ? "log" : options.loss;
  plan.method = options.method;
  plan.lambda = options.lambda;
  const bool named = options.generalize || options.choose_temper;
  if (options.method == "auto" && named) {
    plan.method =
        method_of(loss, options.choose_temper ? Kind::temper : options.generalize->kind).name;
  }
  const bool open = plan.method == "auto";
  if (options.caution) FitOptions::cautions.check("caution", *options.caution);
  plan.caution = options.caution.value_or(open ? auto_caution : 1);
  plan.features = !options.features.empty() ? options.features : open ? "auto" : "linear";
  plan.maps = {plan.features};
  if (maps_open(with_maps(data.views, plan.features))) plan.maps = open_maps(data.features);
  if (open) {
    plan.assumptions = data.target != nullptr ? open_assumptions(data.views, plan.caution)
                                              : std::vector<Assumption>{{Kind::none}};
    plan.baseline = plan.assumptions[0].kind == Kind::none;
    // Without weights the baseline's lambda is that of the first candidate: alone it is that one.
    const bool weighted =
        data.target != nullptr && (plan.lambda.kind == LambdaChoice::Kind::iwcv ||
                                   plan.lambda.kind == LambdaChoice::Kind::automatic);
    if (plan.maps.size() * plan.assumptions.size() == 1 && !weighted) plan.baseline = false;
  } else if (options.choose_temper) {
    for (const double g : {0.0, 0.25, 0.5, 0.75, 1.0}) {
      plan.assumptions.push_back({Kind::temper, g});
    }
  } else {
    plan.assumptions = {
        options.generalize.value_or(Assumption{find_method(plan.method).generalize})};
  }
  need_target(plan, data);
  const std::size_t candidates =
      plan.maps.size() * plan.assumptions.size() + (plan.baseline ? 1 : 0);
  if (candidates > 1) {
    plan.rule = options.choose_temper   ? Plan::Rule::least
                : has_log_loss(options) ? Plan::Rule::mixture
                : plan.baseline         ? Plan::Rule::margin
                                        : Plan::Rule::least;
  }
  return plan;
}

Choice choose(const Plan& plan, const TrainingData& data, const Shift& shift, const Game& game,
              const FitOptions& options) {
  if (plan.rule == Plan::Rule::only && plan.lambda.kind == LambdaChoice::Kind::fixed) {
    return {{{plan.maps[0], plan.assumptions[0], plan.lambda.value}}, {}, ""};
  }
  return Chooser(plan, data, shift, game, options).run();
}

}  // namespace covshift
