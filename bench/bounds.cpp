// The bound that a fit promises for the target, and its 90% sets, against the truth, on simulated
// problems:
//     bounds [PROBLEMS [METHODS [parts]]]      METHODS: comma separated
// with exact and with estimated density ratios; `parts`: as for more rows than the sample of
// fit_parts(), of which a fifth is left out for the bound. docs/certificate.md and docs/promise.md
// have the results.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <sstream>

#include "covshift/engine/fit_parts.hpp"
#include "covshift/lab/simulated_fit.hpp"
#include "covshift/promise/inference.hpp"

using namespace covshift;

namespace {

struct Share {
  int n = 0, held = 0;
  std::vector<double> ratio;  ///< of bound to truth
  void add(bool holds, double value) {
    ++n;
    held += holds ? 1 : 0;
    ratio.push_back(value);
  }
  [[nodiscard]] std::string text() {
    if (n == 0) return fmt::format("{:5} {:>7} {:>7}", 0, "-", "-");
    const auto middle = ratio.begin() + static_cast<std::ptrdiff_t>(ratio.size() / 2);
    std::nth_element(ratio.begin(), middle, ratio.end());
    return fmt::format("{:5} {:6.1f}% {:7.3f}", n, 100.0 * held / n, *middle);
  }
};

struct Tally {
  int problems = 0, contradicted = 0, unsupported = 0;
  Share all, large;             ///< stated bounds; with at least 500 training rows
  std::vector<double> covered;  ///< by 90% sets
  double size = 0;              ///< of sets
  int short_of = 0;             ///< problems covered less, by more than 1.5 standard errors
  std::map<std::string, Share> by_size;  ///< by effective sample size
};

/// One holder whose sample is a quarter of its rows, so that the bound rests on rows left out.
Classifier fit_with_rows_left_out(const TrainingData& data, const FitOptions& options) {
  PartsOptions parts;
  parts.sample = std::min(data.features.rows, data.target->rows) / 4;
  return fit_parts(data, options, Reducer(), parts);
}

void run_problem(int s, const std::string& method, bool exact, bool parts, Tally& tally) {
  const auto seed = static_cast<std::uint64_t>(s);
  const SimulatedProblem problem(1000 + seed);
  const SimulatedFit fit =
      parts ? fit_simulated(problem, 5000 + seed, method, exact, fit_with_rows_left_out)
            : fit_simulated(problem, 5000 + seed, method, exact);
  const Certificate& c = fit.model.certificate();
  ++tally.problems;
  tally.contradicted += c.ratio_p_value < 0.05 ? 1 : 0;
  tally.covered.push_back(fit.covered);
  tally.size += fit.set_size;
  const double noise = std::sqrt(0.09 / std::max(1.0, c.effective_sample_size));
  tally.short_of += fit.covered < 0.9 - 1.5 * noise ? 1 : 0;
  if (!c.bound) {
    tally.unsupported += c.ratio_p_value >= 0.05 ? 1 : 0;
    return;
  }
  const bool holds = *c.bound >= fit.truth;
  const double ratio = *c.bound / fit.truth;
  tally.all.add(holds, ratio);
  if (problem.train_rows() >= 500) tally.large.add(holds, ratio);
  const double n = c.effective_sample_size;
  tally.by_size[n < 100 ? "25 to 100" : n < 500 ? "100 to 500" : "over 500"].add(holds, ratio);
}

}  // namespace

int main(int argc, char** argv) {
  const int problems = argc > 1 ? std::atoi(argv[1]) : 1000;
  std::istringstream methods(
      argc > 2 ? argv[2] : "robust,overlap,robust-view,iw,auto,robust01,overlap01,robust01-view");
  const bool parts = argc > 3 && std::string_view(argv[3]) == "parts";
  std::string method;
  fmt::print("delta 5%; each: bounds stated, share that holds, median of bound over truth\n");
  while (std::getline(methods, method, ',')) {
    for (const bool exact : {true, false}) {
      Tally tally;
      for (int s = 0; s < problems; ++s) run_problem(s, method, exact, parts, tally);
      fmt::print("{:13} {:9}  all {}  m>=500 {}  flag up {:.1f}%, no support {:.1f}%", method,
                 exact ? "exact" : "estimated", tally.all.text(), tally.large.text(),
                 100.0 * tally.contradicted / tally.problems,
                 100.0 * tally.unsupported / tally.problems);
      for (auto& [size, share] : tally.by_size) fmt::print("  | n_eff {}: {}", size, share.text());
      const MeanError sets = mean_error(tally.covered);
      fmt::print("  | sets cover {:.4f} +- {:.4f}, size {:.3f}, short in {:.1f}%\n", sets.mean,
                 sets.error, tally.size / tally.problems, 100.0 * tally.short_of / tally.problems);
      std::fflush(stdout);
    }
  }
}
