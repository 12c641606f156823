#!/bin/bash
# Covshift beside other packages under covariate shift: sets up build/shiftbench/venv, tests the harness, measures what
# is not cached in build/shiftbench/cache, writes docs/shiftbench.md.
#     scripts/shiftbench.sh [--quick] [--data FOLDER] [--methods NAME...]      bench/shiftbench/__main__.py has the rest
#     scripts/shiftbench.sh study [ARGUMENT...]                                the study of the default's rule
#     scripts/shiftbench.sh caution [ARGUMENT...]                              the picture of --caution
#     scripts/shiftbench.sh estimates [ARGUMENT...]                            how often compare's estimates hold
#     scripts/shiftbench.sh fresh [ARGUMENT...]                                the default on data that chose nothing
#     scripts/shiftbench.sh controls [ARGUMENT...]                             what it costs where lr is right
set -euo pipefail
cd "$(dirname "$0")/.."
venv=$PWD/build/shiftbench/venv
python=/usr/bin/python3
[ -x $python ] || python=python3
[ -x "$venv/bin/python" ] || $python -m venv "$venv"
"$venv/bin/python" bench/shiftbench/install.py
# One thread each: scores do not depend on it, and times are processor times.
export OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 PYTHONDONTWRITEBYTECODE=1
cd bench
"$venv/bin/python" -m unittest --quiet shiftbench.test_shiftbench
case "${1:-}" in
  study | caution | estimates | fresh | controls)
    part=$1
    shift
    exec "$venv/bin/python" -m "shiftbench.$part" "$@"
    ;;
esac
exec "$venv/bin/python" -m shiftbench "$@"
