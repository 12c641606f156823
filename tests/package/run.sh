#!/bin/bash
# The installed package as others meet it: run.sh BUILD installs that build into an empty prefix,
# then configures, builds and runs the project beside this script against the prefix alone.
set -euo pipefail
build=$(cd "$1" && pwd)
here=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

cmake --install "$build" --prefix "$work/prefix" >"$work/install.log"
# Moved, so that no path of the first place can be baked in.
mv "$work/prefix" "$work/moved"
cp "$here/CMakeLists.txt" "$here/main.cpp" "$work"
cmake -S "$work" -B "$work/build" -G Ninja -DCMAKE_BUILD_TYPE=Release \
  -DCMAKE_PREFIX_PATH="$work/moved" -DCMAKE_FIND_USE_PACKAGE_REGISTRY=OFF
found=$(sed -n 's/^covshift_DIR:PATH=//p' "$work/build/CMakeCache.txt")
case $found in
  "$work"/moved/*) ;;
  *) echo "found another covshift, in $found" >&2; exit 1 ;;
esac
cmake --build "$work/build"
if grep -rqF -e "$build" -e "$(dirname "$here")" "$work/moved/lib"*/cmake "$work/moved/include"; then
  echo "the installed files name the folder they were built in" >&2
  exit 1
fi
"$work/build/user"
if [ -x "$work/moved/bin/covshift" ]; then "$work/moved/bin/covshift" --version; fi
