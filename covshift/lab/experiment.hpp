// Repeated draws of a shifted sample, every method on each: what tables 1 to 3 and the sweep are
// made of.
#pragma once

#include <functional>
#include <nlohmann/json_fwd.hpp>
#include <span>
#include <string>
#include <vector>

#include "covshift/lab/datasets.hpp"
#include "covshift/lab/sampling.hpp"
#include "covshift/model/classifier.hpp"

namespace covshift {

/// A method as the tables run it.
struct Contestant {
  std::string method;  ///< a row of the table of methods
  LambdaChoice lambda;
};

/// A way to read what the paper leaves open.
struct Reading {
  std::string name;
  BiasedSampling sampling;
  ShiftOptions shift;  ///< ratio, view threshold, the bias's assumption
};

/// What a reading says, for reports.
nlohmann::ordered_json describe(const BiasedSampling& sampling);
nlohmann::ordered_json describe(const ShiftOptions& shift);

struct ExperimentOptions {
  int draws = 30;
  unsigned long long seed = 0;
  int threads = 0;
  std::function<void(double)> progress;  ///< the share that is done; one thread at a time
  std::function<bool()> cancelled;       ///< true: throws Error (stopped)
};

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

/// Means of one contestant's outcomes over draws x contestants.
struct OutcomeMeans {
  double accuracy = 0, log2_lambda = 0, effective_sample_size = 0, generalized = 0;
  int converged = 0;  ///< how many
};
OutcomeMeans means_of(std::span<const std::vector<Outcome>> draws, std::size_t contestant);

/// A training and a target sample with all labels known.
struct Split {
  Matrix train, target;
  std::vector<int> train_labels, target_labels;
  int classes = 0;
  Views views;
};

/// Outcomes of all contestants on one split. The shift is estimated once for all of them.
std::vector<Outcome> run_split(const Split& split, std::span<const Contestant> contestants,
                               const ShiftOptions& shift, unsigned long long seed);

/// The split of one draw: each feature a view of its own. A draw whose training sample has one
/// class only is drawn again with another seed.
Split draw_split(const Dataset& data, const BiasedSampling& sampling, unsigned long long seed,
                 int draw);

/// outcomes[draw][contestant]; draws run in parallel, the result does not depend on it.
std::vector<std::vector<Outcome>> run_draws(const Dataset& data,
                                            std::span<const Contestant> contestants,
                                            const Reading& reading,
                                            const ExperimentOptions& options);

}  // namespace covshift
