#!/bin/bash
# Fuzzes every target of fuzz/ for some seconds each, from the kept inputs:
#     scripts/fuzz.sh [SECONDS [TARGET...]]
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
export ASAN_OPTIONS=detect_stack_use_after_return=1:strict_string_checks=1:allocator_may_return_null=0
export UBSAN_OPTIONS=print_stacktrace=1
status=0 total=0
for target in "${targets[@]}"; do
  case $target in
    resealed | predict) length=16384 ;;
    npy | model) length=1024 ;;
    *) length=128 ;;
  esac
  found=build/fuzz/found/$target log=build/fuzz/logs/$target.log
  mkdir -p "$found"
  # A target that takes 10 s for one input or 512 MB hangs or leaks.
  build/fuzz/fuzz/covshift_fuzz --target="$target" -max_total_time="$seconds" -max_len=$length \
    -timeout=10 -rss_limit_mb=512 -print_final_stats=1 -artifact_prefix="build/fuzz/failed/$target-" \
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
