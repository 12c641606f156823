// What is promised against the truth, on simulated problems whose distributions are known:
//     coverage [PROBLEMS]
// intervals of covshift estimate, prediction sets, and the test for a changed P(y|x), with exact
// and with estimated density ratios. docs/promise.md has the results.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <map>

#include "covshift/lab/simulation.hpp"
#include "covshift/promise/concept.hpp"
#include "covshift/promise/conformal.hpp"
#include "covshift/promise/estimate.hpp"
#include "covshift/promise/inference.hpp"
#include "covshift/ratio/held_out.hpp"

using namespace covshift;

namespace {

constexpr double level = 0.95;
constexpr double alpha = 0.1;
constexpr std::size_t truth_rows = 20000;

std::vector<double> flawed(const SimulatedProblem& problem, const SimulatedRows& rows) {
  const auto k = static_cast<std::size_t>(problem.classes());
  std::vector<double> p(rows.rows * k);
  for (std::size_t i = 0; i < rows.rows; ++i) {
    problem.flawed_probabilities({rows.x.data() + i * rows.cols, rows.cols}, {&p[i * k], k});
  }
  return p;
}

/// Accuracy, log loss and Brier score of the flawed classifier on the target.
std::vector<double> truth_of(const SimulatedProblem& problem, Random& random) {
  const SimulatedRows rows = problem.draw(true, truth_rows, random);
  const std::vector<double> p = flawed(problem, rows);
  const auto k = static_cast<std::size_t>(problem.classes());
  std::vector<double> q(k);
  std::vector<double> sum(3, 0.0);
  for (std::size_t i = 0; i < rows.rows; ++i) {
    problem.probabilities({rows.x.data() + i * rows.cols, rows.cols}, q);
    const double* row = &p[i * k];
    sum[0] += q[static_cast<std::size_t>(std::max_element(row, row + k) - row)];
    double squares = 0;
    for (std::size_t y = 0; y < k; ++y) squares += row[y] * row[y];
    for (std::size_t y = 0; y < k; ++y) {
      sum[1] -= q[y] * std::log(std::max(row[y], 0x1p-52));
      sum[2] += q[y] * (squares - 2 * row[y] + 1);
    }
  }
  for (double& s : sum) s /= truth_rows;
  return sum;
}

struct Share {
  int n = 0, held = 0;
  double width = 0;
  void add(bool holds, double size) {
    ++n;
    held += holds ? 1 : 0;
    width += size;
  }
  [[nodiscard]] std::string text() const {
    return fmt::format("{:5} {:7.1f}% {:9.4f}", n, 100.0 * held / n, width / n);
  }
};

struct Tally {
  std::map<std::string, Share> intervals;
  std::vector<double> covered, unweighted;  ///< of prediction sets, one for each problem
  double size = 0, unweighted_size = 0;
  int told = 0, problems = 0, changed = 0;
};

/// Share of the target rows in their sets, and the mean size of the sets.
std::pair<double, double> sets_of(const SimulatedRows& target, std::span<const double> p, int k,
                                  const Calibration& calibration,
                                  std::span<const double> log_weight) {
  const std::vector<std::uint8_t> sets = prediction_sets(calibration, alpha, p, k, log_weight);
  double hit = 0;
  double size = 0;
  for (std::size_t i = 0; i < target.rows; ++i) {
    hit += sets[i * static_cast<std::size_t>(k) + static_cast<std::size_t>(target.y[i])];
  }
  for (const std::uint8_t s : sets) size += s;
  const auto n = static_cast<double>(target.rows);
  return {hit / n, size / n};
}

void run_problem(std::uint64_t seed, bool exact, Tally& tally) {
  const SimulatedProblem problem(1000 + seed);
  Random random(5000 + seed);
  const SimulatedRows labelled = problem.draw(false, problem.train_rows(), random);
  const SimulatedRows target = problem.draw(true, problem.target_rows(), random);
  const std::vector<double> truth = truth_of(problem, random);
  const std::vector<double> p = flawed(problem, labelled);
  const std::vector<double> target_p = flawed(problem, target);
  EstimateData data;
  data.classes = problem.classes();
  data.p = p;
  data.labels = labelled.y;
  data.target_p = target_p;
  data.features = labelled.view();
  data.target = target.view();
  if (exact) {
    data.log_ratio = labelled.log_ratio;
    data.target_log_ratio = target.log_ratio;
  }
  EstimateOptions options;
  options.level = level;
  options.ratio.threads = 1;
  const TargetPerformance found = estimate_performance(data, options);
  ++tally.problems;
  const auto k = static_cast<std::size_t>(data.classes);
  std::vector<double> score;
  for (std::size_t i = 0; i < labelled.rows; ++i) {
    score.push_back(1 - p[i * k + static_cast<std::size_t>(labelled.y[i])]);
  }
  std::vector<double> row_weight = target.log_ratio;
  if (!exact) row_weight = held_out_ratio(options.ratio, data.features, data.target).target;
  const auto [covered, size] =
      sets_of(target, target_p, data.classes, Calibration(score, found.log_weight), row_weight);
  tally.covered.push_back(covered);
  tally.size += size;
  const std::vector<double> even(score.size(), 0.0);
  const std::vector<double> even_target(target.rows, 0.0);
  const auto [plain, plain_size] =
      sets_of(target, target_p, data.classes, Calibration(score, even), even_target);
  tally.unweighted.push_back(plain);
  tally.unweighted_size += plain_size;
  if (!found.evidence.cannot_tell.empty()) return;
  ++tally.told;
  for (const PerformanceEstimate& e : found.estimates) {
    const double value = truth[static_cast<std::size_t>(e.metric)];
    tally.intervals[fmt::format("{:9} {}", to_string(e.metric), to_string(e.method))].add(
        value >= e.low && value <= e.high, e.high - e.low);
  }
  std::vector<double> loss;
  for (std::size_t i = 0; i < labelled.rows; ++i) {
    loss.push_back(-std::log(p[i * k + static_cast<std::size_t>(labelled.y[i])]));
  }
  const MeanError mean = mean_error(loss);
  const double half =
      mean.error * t_quantile((1 + level) / 2, static_cast<double>(loss.size() - 1));
  tally.intervals["log_loss  without weights"].add(std::abs(mean.mean - truth[1]) <= half,
                                                   2 * half);
  tally.changed += test_concept(data, target.y, options.ratio, 1 - level).changed ? 1 : 0;
}

}  // namespace

int main(int argc, char** argv) {
  const int problems = argc > 1 ? std::atoi(argv[1]) : 1000;
  for (const bool exact : {true, false}) {
    Tally tally;
    for (int s = 0; s < problems; ++s) run_problem(static_cast<std::uint64_t>(s), exact, tally);
    fmt::print("\n{} problems, {} ratios; something can be told in {}\n", tally.problems,
               exact ? "exact" : "estimated", tally.told);
    fmt::print("{:28} {:>5} {:>8} {:>9}\n", "95% intervals", "n", "hold", "width");
    for (const auto& [name, share] : tally.intervals) fmt::print("{:28} {}\n", name, share.text());
    const MeanError sets = mean_error(tally.covered);
    const MeanError plain = mean_error(tally.unweighted);
    fmt::print(
        "90% sets: weighted cover {:.4f} +- {:.4f}, mean size {:.3f}; without weights {:.4f}"
        " +- {:.4f}, {:.3f}\n",
        sets.mean, sets.error, tally.size / tally.problems, plain.mean, plain.error,
        tally.unweighted_size / tally.problems);
    fmt::print("P(y|x) is called changed, which it is not, in {:.1f}% at level 5%\n",
               100.0 * tally.changed / tally.told);
  }
}
