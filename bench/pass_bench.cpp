// One pass over the examples (value, gradient and dual value), compared with reading the same
// memory. Bytes are those of the features.
#include <benchmark/benchmark.h>

#include <Eigen/Core>
#include <cstddef>
#include <string>
#include <vector>

#include "bench/problems.hpp"
#include "covshift/base/threads.hpp"
#include "covshift/learn/examples.hpp"
#include "covshift/learn/solve.hpp"

namespace {

using covshift::bench::Made;

std::size_t bytes_of(const Made& made) {
  const covshift::Matrix& x = made.x;
  return x.values.size() * sizeof(double) + x.columns.size() * sizeof(std::int32_t) +
         x.offsets.size() * sizeof(std::int64_t) + made.single.size() * sizeof(float);
}

/// Sums numbers at the speed of memory.
template <typename Numbers>
double sum(const Numbers& x, int threads) {
  using T = typename Numbers::value_type;
  constexpr int width = 32;
  using Block = Eigen::Array<T, width, 1>;
  constexpr std::size_t chunk = 1U << 16U;
  const std::size_t chunks = (x.size() + chunk - 1) / chunk;
  std::vector<double> partial(chunks);
  covshift::parallel_tasks(threads, chunks, [&](std::size_t c) {
    const std::size_t last = std::min(x.size(), (c + 1) * chunk);
    std::size_t i = c * chunk;
    Block total = Block::Zero();
    for (; i + width <= last; i += width) total += Eigen::Map<const Block>(x.data() + i);
    T rest = total.sum();
    for (; i < last; ++i) rest += x[i];
    partial[c] = static_cast<double>(rest);
  });
  double result = 0;
  for (const double p : partial) result += p;
  return result;
}

void read_memory(benchmark::State& state, const Made& made) {
  const auto threads = static_cast<int>(state.range(0));
  for (auto _ : state) {
    double total = sum(made.x.values, threads) + sum(made.single, threads);
    if (made.x.sparse) total += sum(made.x.columns, threads) + sum(made.x.offsets, threads);
    benchmark::DoNotOptimize(total);
  }
  state.SetBytesProcessed(state.iterations() * static_cast<std::int64_t>(bytes_of(made)));
}

/// The pass that solvers repeat.
void pass(benchmark::State& state, const Made& made) {
  const covshift::Problem problem = made.problem(1e-4);
  const covshift::Examples examples(problem, static_cast<int>(state.range(0)), nullptr);
  covshift::Random random(4);
  covshift::RowMatrix t(examples.dims(), examples.labels());
  for (Eigen::Index i = 0; i < t.size(); ++i) t.data()[i] = 0.1 * random.normal();
  covshift::RowMatrix a;
  for (auto _ : state) {
    benchmark::DoNotOptimize(examples.pass(t, a));
    benchmark::DoNotOptimize(a.data());
  }
  state.SetBytesProcessed(state.iterations() * static_cast<std::int64_t>(bytes_of(made)));
  state.SetItemsProcessed(state.iterations() * static_cast<std::int64_t>(made.x.rows));
}

/// The public function, including checks and preparation.
void evaluate(benchmark::State& state, const Made& made) {
  const covshift::Problem problem = made.problem(1e-4);
  const std::vector<double> weights((made.x.cols + 1) * made.game->labels(), 0.01);
  for (auto _ : state) {
    benchmark::DoNotOptimize(
        covshift::evaluate(problem, weights, static_cast<int>(state.range(0))));
  }
  state.SetBytesProcessed(state.iterations() * static_cast<std::int64_t>(bytes_of(made)));
  state.SetItemsProcessed(state.iterations() * static_cast<std::int64_t>(made.x.rows));
}

void add(const std::string& name, const Made& made, bool reads) {
  const auto both = [&](const std::string& what, void (*run)(benchmark::State&, const Made&)) {
    for (const int threads : {1, 2}) {
      benchmark::RegisterBenchmark((what + "/" + name).c_str(),
                                   [run, &made](benchmark::State& state) { run(state, made); })
          ->Arg(threads)
          ->ArgName("threads")
          ->UseRealTime()
          ->MeasureProcessCPUTime()
          ->Unit(benchmark::kMillisecond);
    }
  };
  if (reads) both("read", read_memory);
  both("pass", pass);
  both("evaluate", evaluate);
}

[[maybe_unused]] const bool registered = [] {
  static const Made narrow = covshift::bench::dense_problem("log", 1000000, 50, 5);
  static const Made narrow_zero_one = covshift::bench::dense_problem("zero-one", 1000000, 50, 5);
  static const Made single = [] {
    Made made = covshift::bench::dense_problem("log", 1000000, 50, 5);
    made.single.assign(made.x.values.begin(), made.x.values.end());
    made.x.values = {};
    return made;
  }();
  static const Made wide = covshift::bench::dense_problem("log", 50000, 1000, 2);
  static const Made text = covshift::bench::sparse_problem("log", 200000, 10000, 50);
  add("log/dense-1000000x50,K=5", narrow, true);
  add("zero-one/dense-1000000x50,K=5", narrow_zero_one, false);
  add("log/float32-1000000x50,K=5", single, true);
  add("log/dense-50000x1000,K=2", wide, true);
  add("log/csr-200000x10000,50-a-row,K=2", text, true);
  return true;
}();

}  // namespace
