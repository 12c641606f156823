#!/bin/bash
# Compares covshift with its peers: sets up build/bench-venv with the wheel and the peers, tests the harness,
# then runs the parts named (or all).
#     scripts/bench_peers.sh [--quick] [PART...]
set -euo pipefail
cd "$(dirname "$0")/.."
venv=$PWD/build/bench-venv
python=/usr/bin/python3
[ -x $python ] || python=python3
[ -x "$venv/bin/python" ] || $python -m venv "$venv"
"$venv/bin/pip" install --quiet --disable-pip-version-check --force-reinstall --no-deps \
  build/python/wheel/covshift-*.whl
"$venv/bin/python" bench/peers/install.py "$venv/peers.json"
cd bench
"$venv/bin/python" -m unittest peers.test_objective
exec "$venv/bin/python" -m peers "$@"
