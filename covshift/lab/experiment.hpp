// lab/: the paper's experiments, and simulated problems.
// Here: repeated draws of a shifted sample, every method on each, the basis of tables 1 to 3 and
// the sweep.
#pragma once

#include <functional>
#include <nlohmann/json_fwd.hpp>
#include <span>
#include <string>
#include <vector>

#include "covshift/lab/datasets.hpp"
#include "covshift/model/classifier.hpp"
#include "covshift/shift/sampling.hpp"

namespace covshift {

/// A method as the tables run it.
struct Contestant {
  std::string method;  ///< a row of the table of methods
  LambdaChoice lambda;
  std::string generalize = {};  ///< as users write it; empty: the method's own

  /// A map of all columns together; empty: the columns themselves, with the views of the
  /// experiment.
  std::string features = {};

  /// robust, or robust temper:auto, or robust nystroem:50.
  [[nodiscard]] std::string name() const {
    std::string text = method;
    for (const std::string& part : {generalize, features}) text += part.empty() ? "" : " " + part;
    return text;
  }
};

/// How every experiment fits, whatever the program's defaults are: lambda from the paper's grid by
/// 5 folds, a logistic ratio, the paper's threshold for views, the bias like any feature, no limit
/// of certainty. Method and rule for lambda are the contestant's.
FitOptions paper_fit();

/// One choice for everything the paper does not specify.
struct Reading {
  BiasedSampling sampling;
  FitOptions fit = paper_fit();
};

/// A reading for reports.
nlohmann::ordered_json describe(const BiasedSampling& sampling);
nlohmann::ordered_json describe(const FitOptions& fit);

struct ExperimentOptions {
  int draws = 30;
  unsigned long long seed = 0;
  int seeds = 1;                         ///< as many draws for each of seed, seed + 1, ...
  int threads = 0;                       ///< 0: all cores; results do not depend on it
  std::function<void(double)> progress;  ///< the share that is done; one thread at a time
  std::function<bool()> cancelled;       ///< true: throws Error (stopped)
};

inline std::size_t all_draws(const ExperimentOptions& options) {
  return static_cast<std::size_t>(options.draws) * static_cast<std::size_t>(options.seeds);
}

/// body(task) for every task, in parallel, with progress and cancellation.
void run_tasks(const ExperimentOptions& options, std::size_t tasks,
               const std::function<void(std::size_t)>& body);

/// Options for part `part` of `parts`, whose progress is a share of the whole.
ExperimentOptions part_of(const ExperimentOptions& options, std::size_t part, std::size_t parts);

/// One method on one draw.
struct Outcome {
  double accuracy = 0;
  double log_loss = 0;  ///< bits; infinite where a label had probability 0
  double expected_loss = 0;
  double lambda = 0;
  double effective_sample_size = 0;
  int generalized = 0;  ///< views
  bool converged = false;
};
using Outcomes = std::vector<std::vector<Outcome>>;  ///< [draw][contestant]

/// One measure of one contestant, draw by draw.
std::vector<double> values_of(const Outcomes& outcomes, std::size_t contestant,
                              double Outcome::*measure);

/// Means of one contestant over all draws.
struct OutcomeMeans {
  double accuracy = 0, log2_lambda = 0, effective_sample_size = 0, generalized = 0;
  int converged = 0;  ///< the number of draws
};
OutcomeMeans means_of(const Outcomes& outcomes, std::size_t contestant);

/// A training and a target sample with all labels known.
struct Split {
  /// `options` set scaling and views; labels are 0 .. classes-1.
  Split(Matrix train_rows, std::span<const int> train_labels, Matrix target_rows,
        std::vector<int> labels, int classes, PreparationOptions options);

  Preparation preparation;
  PreparedRows train, target;
  std::vector<int> target_labels;
};

/// Outcomes of all contestants on one split. The shift is estimated once for all of them.
std::vector<Outcome> run_split(const Split& split, std::span<const Contestant> contestants,
                               const FitOptions& fit, unsigned long long seed);

/// The split of one draw, with one view per feature. If the training sample has a single class, it
/// is drawn again with another seed.
Split draw_split(const Dataset& data, const BiasedSampling& sampling, unsigned long long seed,
                 int draw);

Outcomes run_draws(const Dataset& data, std::span<const Contestant> contestants,
                   const Reading& reading, const ExperimentOptions& options);

}  // namespace covshift
