#!/bin/bash
# Builds the wheel of the Python package in build/python/wheel/ and installs it in a fresh virtual
# environment, build/python/venv, separate from the source tree.
#     scripts/wheel.sh [EXTRA]        EXTRA: optional dependencies to install, such as test
set -euo pipefail
cd "$(dirname "$0")/.."
# Debian's Python has Debian's headers; another Python earlier in the path may not.
python=/usr/bin/python3
[ -x $python ] || python=python3
folder=$PWD/build/python
rm -rf "$folder/wheel" "$folder/venv"
$python -m venv "$folder/venv"
pip=("$folder/venv/bin/pip" --disable-pip-version-check)
CMAKE_BUILD_PARALLEL_LEVEL=${JOBS:-$(nproc)} "${pip[@]}" wheel --no-deps -w "$folder/wheel" .
"${pip[@]}" install "$(echo "$folder"/wheel/covshift-*.whl)${1:+[$1]}"
