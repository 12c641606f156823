#!/bin/bash
# Fits on Dask: 2 workers against 1, overhead, memory, dask-ml, and 20 killed workers. Installs the wheel of build/python with Dask and
# dask-ml from the Python package index into build/engines-dask.
set -euo pipefail
cd "$(dirname "$0")/.."
/usr/bin/python3 -m venv build/engines-dask
build/engines-dask/bin/pip install --quiet --force-reinstall --no-deps build/python/wheel/covshift-*.whl
build/engines-dask/bin/pip install --quiet "$(echo build/python/wheel/covshift-*.whl)[dask]" dask-ml
build/engines-dask/bin/python bench/engines_dask.py "$@"
build/engines-dask/bin/python bench/engines_dask_kills.py
