// One game: value and adversary for a block of potentials, for every loss and number of classes.
#include <benchmark/benchmark.h>

#include <cstddef>
#include <string>
#include <vector>

#include "bench/problems.hpp"

namespace {

void play(benchmark::State& state, const std::string& loss) {
  const auto labels = static_cast<int>(state.range(0));
  const std::size_t n = loss == "cost" ? 16 : 1024;
  const auto game = covshift::bench::game_named(loss, labels);
  covshift::Random random(3);
  std::vector<double> psi(n * labels);
  for (double& x : psi) x = random.normal();
  std::vector<int> y(n);
  for (int& label : y) label = static_cast<int>(random.below(labels));
  std::vector<double> value(n);
  std::vector<double> q(n * labels);
  for (auto _ : state) {
    game->play(n, psi.data(), y.data(), value.data(), q.data());
    benchmark::DoNotOptimize(value.data());
    benchmark::DoNotOptimize(q.data());
    benchmark::ClobberMemory();
  }
  state.SetItemsProcessed(state.iterations() * static_cast<std::int64_t>(n));
}

[[maybe_unused]] const bool registered = [] {
  for (const char* loss :
       {"log", "zero-one", "absolute", "squared", "abstain:0.3", "hinge", "cost"}) {
    for (const int labels : {2, 5, 20, 100}) {
      benchmark::RegisterBenchmark((std::string("play/") + loss).c_str(), play, std::string(loss))
          ->Arg(labels)
          ->ArgName("K");
    }
  }
  return true;
}();

}  // namespace
