#!/bin/bash
# Builds and runs the benchmarks (those named, or all), writes build/bench/<name>.json and prints the medians
# of REPEATS runs. FILTER=<regex> selects cases.
set -euo pipefail
cd "$(dirname "$0")/.."
cmake --preset bench >/dev/null
if [ $# -eq 0 ]; then set -- game_bench pass_bench fit_bench; fi
cmake --build build/bench -j "${JOBS:-$(nproc)}" --target "$@"
for name in "$@"; do
  "build/bench/bench/$name" --benchmark_filter="${FILTER:-.}" \
    --benchmark_min_time="${MIN_TIME:-0.05}" --benchmark_repetitions="${REPEATS:-5}" \
    --benchmark_enable_random_interleaving=true \
    --benchmark_report_aggregates_only=true --benchmark_out="build/bench/$name.json" \
    --benchmark_out_format=json >/dev/null
  python3 scripts/bench_table.py "build/bench/$name.json"
done
