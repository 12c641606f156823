#include "covshift/select/mixture.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace covshift {

/// Expectation maximisation: each step raises the objective, from anywhere inside the simplex to
/// its one optimum.
std::vector<double> mixture_shares(std::span<const double> likelihood,
                                   std::span<const double> weight, std::span<const double> prior) {
  constexpr int most_steps = 1000;
  constexpr double enough = 1e-7;
  const std::size_t k = prior.size();
  const std::size_t n = weight.size();
  const double total = std::accumulate(weight.begin(), weight.end(), 0.0) +
                       std::accumulate(prior.begin(), prior.end(), 0.0);
  std::vector<double> share(k, 1 / static_cast<double>(k));
  std::vector<double> mixed(n);
  for (int step = 0; step < most_steps; ++step) {
    std::fill(mixed.begin(), mixed.end(), 0.0);
    for (std::size_t c = 0; c < k; ++c) {
      for (std::size_t i = 0; i < n; ++i) mixed[i] += share[c] * likelihood[c * n + i];
    }
    double moved = 0;
    for (std::size_t c = 0; c < k; ++c) {
      double rows = prior[c];
      for (std::size_t i = 0; i < n; ++i) {
        if (mixed[i] > 0) rows += weight[i] * share[c] * likelihood[c * n + i] / mixed[i];
      }
      moved = std::max(moved, std::abs(rows / total - share[c]));
      share[c] = rows / total;
    }
    if (moved < enough) break;
  }
  const double sum = std::accumulate(share.begin(), share.end(), 0.0);
  for (double& s : share) s /= sum;
  return share;
}

}  // namespace covshift
