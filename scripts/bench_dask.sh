#!/bin/bash
# Fits on Dask: 2 workers against 1, overhead, memory, dask-ml, and 20 killed workers. Installs the wheel of build/python with Dask and
# dask-ml from the Python package index into build/engines-dask. Does both parts, and fails if one did.
set -euo pipefail
cd "$(dirname "$0")/.."
/usr/bin/python3 -m venv build/engines-dask
build/engines-dask/bin/pip install --quiet --force-reinstall --no-deps build/python/wheel/covshift-*.whl
wheel="$(echo build/python/wheel/covshift-*.whl)[dask]"
# Without dask-ml only the part that compares with it is left out.
build/engines-dask/bin/pip install --quiet "$wheel" dask-ml || build/engines-dask/bin/pip install --quiet "$wheel"
failed=0
build/engines-dask/bin/python bench/engines_dask.py "$@" || failed=1
build/engines-dask/bin/python bench/engines_dask_kills.py || failed=1
exit $failed
