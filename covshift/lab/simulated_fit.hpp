// A fit to a simulated problem, whose loss on the target is known.
#pragma once

#include <functional>
#include <string>

#include "covshift/lab/simulation.hpp"
#include "covshift/model/classifier.hpp"

namespace covshift {

struct SimulatedFit {
  Classifier model;
  double truth = 0;     ///< the expected loss on the target, by the model's loss
  double covered = 0;   ///< how often a 90% set of its holds the true class there
  double set_size = 0;  ///< their mean size
};

/// Draws both samples, fits `method` with the exact density ratio or one that is estimated (by
/// `fit`), and takes the loss of its predictions for 20,000 fresh target rows, averaged over
/// P(y|x).
using Fitter = std::function<Classifier(const TrainingData&, const FitOptions&)>;
SimulatedFit fit_simulated(
    const SimulatedProblem& problem, std::uint64_t seed, const std::string& method, bool exact,
    const Fitter& fit = [](const TrainingData& data, const FitOptions& options) {
      return Classifier::fit(data, options);
    });

}  // namespace covshift
