#!/bin/bash
# Rows that do not fit in memory: a CSV of GIGABYTES (6) under a limit. Installs NumPy, pandas and scikit-learn from the Python
# package index into build/engines.
set -euo pipefail
cd "$(dirname "$0")/.."
[ -x build/engines/bin/python ] || python3 -m venv build/engines
build/engines/bin/pip install --quiet numpy pandas scikit-learn  # also where an earlier run was cut off
build/engines/bin/python bench/engines_memory.py build/covshift --gigabytes "${GIGABYTES:-6}" "$@"
