// Whole fits to a relative gap of 1e-6, including preparation and checks. Counters report the gap
// reached, gap/max(1, |objective|), and whether the solver converged.
#include <benchmark/benchmark.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <string>

#include "bench/problems.hpp"
#include "covshift/learn/solve.hpp"

namespace {

using covshift::bench::Made;

void fit(benchmark::State& state, const std::function<Made()>& make, double lambda) {
  const Made made = make();
  const covshift::Problem problem = made.problem(lambda);
  covshift::Solution solution;
  for (auto _ : state) solution = covshift::solve(problem);
  const double size = std::max(1.0, std::abs(solution.objective));
  state.counters["steps"] = solution.iterations;
  state.counters["relative_gap"] = solution.gap / size;
  state.counters["converged"] = solution.status == covshift::Status::converged ? 1 : 0;
}

void add(const std::string& name, const std::function<Made()>& make, double lambda) {
  benchmark::RegisterBenchmark(
      ("fit/" + name).c_str(),
      [make, lambda](benchmark::State& state) { fit(state, make, lambda); })
      ->UseRealTime()
      ->MeasureProcessCPUTime()
      ->Unit(benchmark::kMillisecond);
}

[[maybe_unused]] const bool registered = [] {
  using covshift::bench::dense_problem;
  using covshift::bench::sparse_problem;
  // The paper's size: 100 examples, up to 57 features and 4 classes.
  const double paper = std::ldexp(1.0, -8);
  for (const char* loss :
       {"log", "zero-one", "absolute", "squared", "abstain:0.3", "hinge", "cost"}) {
    for (const bool shifted : {false, true}) {
      add(
          std::string(loss) + "/100x57,K=4,lambda=2^-8" + (shifted ? ",shifted" : ""),
          [loss, shifted] { return dense_problem(loss, 100, 57, 4, shifted); }, paper);
    }
  }
  // Larger: lambda = 1/(2m), C = 1 elsewhere.
  for (const char* loss : {"log", "zero-one"}) {
    add(
        std::string(loss) + "/20000x50,K=5,lambda=1/(2m)",
        [loss] { return dense_problem(loss, 20000, 50, 5); }, 1 / 40000.0);
  }
  add(
      "log/csr-20000x10000,50-a-row,K=2,lambda=1/(2m)",
      [] { return sparse_problem("log", 20000, 10000, 50); }, 1 / 40000.0);
  return true;
}();

}  // namespace
