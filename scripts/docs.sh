#!/bin/bash
# Builds the site, build/docs/html: Doxygen reads the public headers, Sphinx everything else. Warnings are errors, references
# that lead nowhere are warnings, and the examples of the gallery are run. Pages may load nothing from elsewhere. The playground is part
# of the site if `make playground` has built it. Builds the wheel if there is none.
set -euo pipefail
cd "$(dirname "$0")/.."
folder=$PWD/build/docs
compgen -G 'build/python/wheel/covshift-*.whl' >/dev/null || scripts/wheel.sh
wheel=$(echo build/python/wheel/covshift-*.whl)
python=/usr/bin/python3
[ -x $python ] || python=python3
mkdir -p "$folder/doxygen"
[ -x "$folder/venv/bin/python" ] || $python -m venv "$folder/venv"
"$folder/venv/bin/pip" install -q --disable-pip-version-check -r docs/requirements.txt
"$folder/venv/bin/pip" install -q --disable-pip-version-check --force-reinstall --no-deps "$wheel"
"$folder/venv/bin/pip" install -q --disable-pip-version-check "$wheel"
headers=$(sed -n 's/^#include "\(.*\)"/\1/p' covshift/covshift.hpp | tr '\n' ' ')covshift/engine/mpi_reducer.hpp
{ cat docs/Doxyfile; echo "INPUT = $headers"; } | doxygen -
playground=build/playground/index.html
with=()
[ ! -f $playground ] || with=(-t playground)
SOURCE_DATE_EPOCH=$(git log -1 --format=%ct 2>/dev/null || date +%s) MPLBACKEND=Agg \
  "$folder/venv/bin/sphinx-build" -q -W --keep-going "${with[@]}" -b html -d "$folder/doctrees" docs "$folder/html"
rm -rf "$folder/html/playground"
[ ! -f $playground ] || install -D -m 644 $playground "$folder/html/playground/index.html"
"$folder/venv/bin/python" scripts/check_site.py "$folder/html"
echo "The site is in build/docs/html/index.html"
[ -f $playground ] || echo "site built without the playground (make playground first)"
