#!/bin/bash
# Writes the sdist, build/dist/covshift-VERSION.tar.gz: the sources, and the plotting library of the report
# if scripts/report_library.sh could fetch it.
set -euo pipefail
cd "$(dirname "$0")/.."
python=/usr/bin/python3
[ -x $python ] || python=python3
$python -m venv build/python/tools
build/python/tools/bin/pip --disable-pip-version-check install -q build
rm -f build/dist/covshift-*.tar.gz
build/python/tools/bin/python -m build --sdist -o build/dist .
