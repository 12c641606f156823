#!/bin/bash
# Builds the site, build/docs/html: Doxygen reads the public headers, Sphinx everything else. Warnings are errors, references
# that lead nowhere are warnings, and the examples of the gallery are run. Builds the wheel if there is none.
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
headers=$(sed -n 's/^#include "\(.*\)"/\1/p' covshift/covshift.hpp | tr '\n' ' ')
{ cat docs/Doxyfile; echo "INPUT = $headers"; } | doxygen -
SOURCE_DATE_EPOCH=$(git log -1 --format=%ct 2>/dev/null || date +%s) MPLBACKEND=Agg \
  "$folder/venv/bin/sphinx-build" -q -W --keep-going -b html -d "$folder/doctrees" docs "$folder/html"
echo "The site is in build/docs/html/index.html"
