#include "covshift/compare/estimated.hpp"

#include <algorithm>
#include <cmath>

namespace covshift {
namespace {

const PerformanceEstimate& first_of(const TargetPerformance& found, Performance metric) {
  return *std::find_if(found.estimates.begin(), found.estimates.end(),
                       [&](const PerformanceEstimate& e) { return e.metric == metric; });
}

/// The accuracy on the labelled rows as they are.
double labelled_accuracy(const EstimateData& data) {
  const auto k = static_cast<std::size_t>(data.classes);
  std::size_t right = 0;
  for (std::size_t i = 0; i < data.labels.size(); ++i) {
    const auto p = data.p.subspan(i * k, k);
    right += std::max_element(p.begin(), p.end()) - p.begin() == data.labels[i] ? 1 : 0;
  }
  return static_cast<double>(right) / static_cast<double>(data.labels.size());
}

/// The Brier score on the target of each class's share in the labelled rows, by their weights.
double uninformed_brier(const EstimateData& data, const std::vector<double>& log_weight) {
  std::vector<double> share(static_cast<std::size_t>(data.classes), 0.0);
  for (const int y : data.labels) {
    share[static_cast<std::size_t>(y)] += 1 / static_cast<double>(data.labels.size());
  }
  double squares = 0;
  for (const double s : share) squares += s * s;
  const double largest = *std::max_element(log_weight.begin(), log_weight.end());
  double total = 0;
  double sum = 0;
  for (std::size_t i = 0; i < log_weight.size(); ++i) {
    const double w = std::exp(log_weight[i] - largest);
    total += w;
    sum += w * (1 - 2 * share[static_cast<std::size_t>(data.labels[i])] + squares);
  }
  return sum / total;
}

Expected expected_of(const EstimateData& data, const TargetPerformance& found, double level) {
  Expected e;
  e.level = level;
  e.training = labelled_accuracy(data);
  e.reliable = found.evidence.cannot_tell.empty();
  if (!e.reliable) return e;
  const PerformanceEstimate& accuracy = first_of(found, Performance::accuracy);
  e.accuracy = accuracy.value;
  e.low = accuracy.low;
  e.high = accuracy.high;
  e.least_drop = e.training - e.high;
  e.largest_drop = e.training - e.low;
  e.gain = uninformed_brier(data, found.log_weight) - first_of(found, Performance::brier).value;
  return e;
}

}  // namespace

Diagnosis diagnose_estimate(const Preparation& preparation, const PreparedRows& labelled,
                            const PreparedRows& target, const EstimateData& data,
                            const TargetPerformance& found, const EstimateOptions& options) {
  DiagnoseOptions own;
  own.ratio = options.ratio;
  own.seed = options.ratio.seed;
  own.threads = options.ratio.threads;
  Diagnosis d = diagnose(preparation, labelled, target, own);
  TrustEvidence evidence = trust_evidence(d);
  evidence.expected = expected_of(data, found, options.level);
  d.recommendation.trust = trust(evidence);
  d.recommendation.why = "This is about the classifier as it is: nothing was fitted for it.";
  return d;
}

}  // namespace covshift
