#!/bin/bash
# Runs the parts of the test suite, continuing after a failure, and ends with the line
#     N passed, N failed[, N skipped]
# Parts (without arguments those of `usual`):
part_names=(format build cpp cli mpi package python playground asan tsan tidy docs)
usual=(format build cpp cli package python)
#   format   every C++ source is formatted                                     counts as one test
#   build    the program and the C++ tests, release                            counts if it fails
#   cpp      the C++ tests
#   cli      tests of the program, tests/cli
#   mpi      the program under mpirun, tests/mpi
#   package  install, then a separate project finds, links and uses the library      one test
#   python   builds sdist and wheel, installs it in a fresh virtual environment, tests it, tests/python
#   playground  the page build/playground/index.html in Chromium, against the program; tests/playground
#   asan     the C++ tests and the fuzzer's kept inputs under the address and undefined behaviour sanitizers
#   tsan     the C++ tests named *Thread* or *Parallel* under the thread sanitizer
#   tidy     clang-tidy over the library and the program                             one test
#   docs     the site builds without a warning, its gallery runs                     one test
# The output of a part is kept in build/logs/ and shown only if the part fails.
set -uo pipefail
cd "$(dirname "$0")/.."
jobs=${JOBS:-$(nproc)}
logs=build/logs
mkdir -p "$logs"
passed=0 failed=0 skipped=0
built=yes

# count PASSED FAILED SKIPPED: adds to the numbers of the current part.
count() {
  part_passed=$((part_passed + $1)) part_failed=$((part_failed + $2))
  part_skipped=$((part_skipped + $3))
}

# one COMMAND...: a part that is a single test.
one() { if "$@"; then count 1 0 0; else count 0 1 0; fi; }

# build PRESET FOLDER: configures and builds; a failure counts as a failed test.
build() {
  cmake --preset "$1" && cmake --build "$2" -j "$jobs" && return
  count 0 1 0
  return 1
}

# run_ctest FOLDER ARGUMENT...: the tests of a build, counted from ctest's own report.
run_ctest() {
  local folder=$1 report=$PWD/$logs/ctest.xml tests failures not_run status=0
  shift
  rm -f "$report"
  ctest --test-dir "$folder" -j "$jobs" --timeout 600 --output-on-failure --no-tests=error \
    --output-junit "$report" "$@" || status=$?
  number() {
    local n
    n=$(sed -n "s/^[[:space:]]*$1=\"\([0-9]*\)\".*/\1/p" "$report" 2>/dev/null | head -n 1)
    echo "${n:-0}"
  }
  tests=$(number tests) failures=$(number failures)
  not_run=$(($(number skipped) + $(number disabled)))
  # Tests that never started, a crash of ctest and an empty test suite are failures too.
  if [ $status -ne 0 ] && [ "$failures" -eq 0 ]; then
    count $((tests - not_run)) 1 $not_run
  else
    count $((tests - failures - not_run)) "$failures" $not_run
  fi
}

# Debian's Python has Debian's numpy and headers; another Python earlier in the path may not.
debian_python() { if [ -x /usr/bin/python3 ]; then echo /usr/bin/python3; else echo python3; fi; }

# run_unittest FOLDER: Python's unittest, counted from its last lines.
run_unittest() {
  local text=$logs/unittest.txt ran bad=0 not_run status=0
  COVSHIFT=$PWD/build/covshift PYTHONDONTWRITEBYTECODE=1 \
    "$(debian_python)" -m unittest discover -s "$1" >"$text" 2>&1 || status=$?
  cat "$text"
  ran=$(sed -n 's/^Ran \([0-9]*\) tests\{0,1\} in .*/\1/p' "$text" | tail -n 1)
  number() {
    local n
    n=$(tail -n 1 "$text" | sed -n "s/.*[( ]$1=\([0-9]*\).*/\1/p")
    echo "${n:-0}"
  }
  bad=$(($(number failures) + $(number errors) + $(number 'unexpected successes')))
  not_run=$(($(number skipped)))
  ran=${ran:-0}
  if { [ $status -ne 0 ] && [ $bad -eq 0 ]; } || [ "$ran" -eq 0 ]; then bad=$((bad + 1)); fi
  # Errors while loading or setting up do not count as tests that ran.
  local good=$((ran - bad - not_run))
  count $((good > 0 ? good : 0)) $bad $not_run
}

# run_pytest FOLDER: the tests with the environment that scripts/wheel.sh made, counted from the report.
run_pytest() {
  local tests=$PWD/$1 report=$PWD/$logs/pytest.xml total bad not_run status=0
  rm -f "$report"
  (cd build/python && COVSHIFT=$OLDPWD/build/covshift PYTHONDONTWRITEBYTECODE=1 venv/bin/pytest \
    -q -p no:cacheprovider -c /dev/null --durations=10 --junitxml="$report" "$tests") || status=$?
  number() { sed -n "s/.*<testsuite [^>]*$1=\"\([0-9]*\)\".*/\1/p" "$report" 2>/dev/null | head -n 1; }
  total=$(number tests) bad=$(($(number failures) + $(number errors))) not_run=$(number skipped)
  total=${total:-0} not_run=${not_run:-0}
  if { [ $status -ne 0 ] && [ $bad -eq 0 ]; } || [ "$total" -eq 0 ]; then bad=$((bad + 1)); fi
  local good=$((total - bad - not_run))
  count $((good > 0 ? good : 0)) $bad "$not_run"
}

tidy_sources() {
  local sources
  cmake --preset tidy || return 1
  local without=()
  # The program for mpirun can be looked at where MPI is.
  grep -q cli/mpi/main.cpp build/tidy/compile_commands.json || without=(! -path 'cli/mpi/*')
  mapfile -d '' sources < <(find covshift cli -name '*.cpp' "${without[@]}" -print0 2>/dev/null)
  printf '%s\0' "${sources[@]}" | xargs -0 -n 1 -P "$jobs" clang-tidy -p build/tidy --quiet
}

part_format() { one scripts/format.sh --check; }
part_build() { build tests build || built=no; }
part_cpp() { run_ctest build; }
part_cli() { if [ -d tests/cli ]; then run_unittest tests/cli; fi; }
part_mpi() {
  if cmake --preset release -DCOVSHIFT_MPI=ON &&
    cmake --build build -j "$jobs" --target covshift_cli covshift_mpi_example; then
    run_unittest tests/mpi
  else
    count 0 1 0
  fi
}
part_python() { if scripts/dist.sh && scripts/wheel.sh test; then run_pytest tests/python; else count 0 1 0; fi; }
part_playground() { if scripts/playground.sh; then run_unittest tests/playground; else count 0 1 0; fi; }
part_package() { one tests/package/run.sh build; }
part_asan() {
  # Every finding is fatal to the test that caused it.
  export ASAN_OPTIONS=detect_stack_use_after_return=1:strict_string_checks=1
  export UBSAN_OPTIONS=print_stacktrace=1
  if build asan build/asan; then run_ctest build/asan; fi
}
part_tsan() {
  export TSAN_OPTIONS=halt_on_error=1
  if build tsan build/tsan; then run_ctest build/tsan -R 'Thread|Parallel'; fi
}
part_tidy() { one tidy_sources; }
part_docs() { one scripts/docs.sh; }

for name in "${@:-${usual[@]}}"; do
  if [[ " ${part_names[*]} " != *" $name "* ]]; then
    echo "test.sh: unknown part '$name' (${part_names[*]})" >&2
    exit 2
  fi
done
for name in "${@:-${usual[@]}}"; do
  part_passed=0 part_failed=0 part_skipped=0
  start=$SECONDS
  printf '== %-8s ' "$name"
  if [ $built = no ] && [[ $name =~ ^(cpp|cli|package|python)$ ]]; then
    echo "not run: the build failed"
    continue
  fi
  "part_$name" >"$logs/$name.log" 2>&1
  echo "$part_passed passed, $part_failed failed, $part_skipped skipped ($((SECONDS - start)) s)"
  if [ $part_failed -ne 0 ]; then
    tail -n 300 "$logs/$name.log"
    echo "== end of $name (all of it: $logs/$name.log)"
  fi
  passed=$((passed + part_passed)) failed=$((failed + part_failed))
  skipped=$((skipped + part_skipped))
done

summary="$passed passed, $failed failed"
if [ $skipped -ne 0 ]; then summary+=", $skipped skipped"; fi
echo "$summary"
[ $failed -eq 0 ]
