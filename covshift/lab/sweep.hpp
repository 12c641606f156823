// The map that the paper lacks: where each method wins and where it loses to plain logistic
// regression, over the severity of the shift and over the readings of what the paper leaves open.
#pragma once

#include "covshift/lab/experiment.hpp"
#include "covshift/lab/result.hpp"

namespace covshift {

/// One reading on all data sets.
struct SweepCell {
  std::string axis;   ///< severity, ratio, views, bias, sampling, lambda
  std::string label;  ///< what is different
  Reading reading;
  std::vector<Contestant> contestants;
  /// data set x draw x contestant
  std::vector<std::vector<std::vector<Outcome>>> outcomes;

  [[nodiscard]] std::vector<double> log_losses(std::size_t dataset, std::size_t contestant) const;
};

struct SweepRun {
  std::vector<std::string> datasets;
  std::vector<int> classes;
  std::vector<SweepCell> cells;
  ExperimentOptions options;
};

SweepRun run_sweep(const std::string& folder, const ExperimentOptions& options);
LabResult report(const SweepRun& run);

}  // namespace covshift
