#!/bin/bash
# Fuzzes every target of fuzz/ for some seconds each, from the kept inputs:
#     scripts/fuzz.sh [SECONDS [TARGET...]]
# or, with RUNS=n in the environment, until each has had that many executions (a busy machine runs few per second).
# New inputs go to build/fuzz/found/TARGET; an input that fails is kept as build/fuzz/failed/TARGET-*.
# Ends with the number of executions of each target; exit code 1 if any failed.
set -uo pipefail
cd "$(dirname "$0")/.."
seconds=${1:-60}
shift || true
targets=("$@")
[ ${#targets[@]} -gt 0 ] || mapfile -t targets < <(ls fuzz/corpus)

cmake --preset fuzz >/dev/null && cmake --build build/fuzz -j "${JOBS:-2}" --target covshift_fuzz || exit 1
mkdir -p build/fuzz/failed build/fuzz/logs
# Short stacks and a small quarantine: freed memory is used again while it is still in the cache, and a run takes half
# the time.
export ASAN_OPTIONS=strict_string_checks=1:malloc_context_size=2:quarantine_size_mb=1:thread_local_quarantine_size_kb=64
export UBSAN_OPTIONS=print_stacktrace=1
limit=(-max_total_time="$seconds")
[ -z "${RUNS:-}" ] || limit=(-runs="$RUNS")
status=0 total=0
for target in "${targets[@]}"; do
  case $target in
    resealed | predict) length=4096 ;;
    model) length=1024 ;;
    npy) length=256 ;;
    ratio | solve) length=64 ;;
    *) length=128 ;;
  esac
  found=build/fuzz/found/$target log=build/fuzz/logs/$target.log
  mkdir -p "$found"
  # A target that takes a minute for one input (of the clock: the machine may be busy) or 512 MB hangs or leaks.
  # Weighing the kept inputs by how rare their branches are (entropic) takes a third of the time of a reader.
  build/fuzz/fuzz_targets/covshift_fuzz --target="$target" "${limit[@]}" -max_len=$length \
    -entropic=0 -timeout=60 -rss_limit_mb=512 -print_final_stats=1 -artifact_prefix="build/fuzz/failed/$target-" \
    "$found" "fuzz/corpus/$target" >"$log" 2>&1
  code=$?
  runs=$(sed -n 's/^stat::number_of_executed_units: *//p' "$log")
  total=$((total + ${runs:-0}))
  printf '%-10s %10s executions\n' "$target" "${runs:-0}"
  if [ $code -ne 0 ]; then
    status=1
    tail -n 40 "$log"
  fi
done
printf '%-10s %10s executions\n' "in all" "$total"
exit $status
