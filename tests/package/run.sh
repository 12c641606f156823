#!/bin/bash
# Tests the installed package: run.sh BUILD installs that build into an empty prefix, then
# configures, builds and runs the project beside this script against the prefix alone.
set -euo pipefail
build=$(cd "$1" && pwd)
here=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

cmake --install "$build" --prefix "$work/prefix" >"$work/install.log"
# Moved, so that no path of the first place can be baked in.
mv "$work/prefix" "$work/moved"

# The installed headers are those that covshift/covshift.hpp includes, and itself.
root=$(cd "$here/../.." && pwd)
sed -n 's/^#include "\(.*\)"$/\1/p' "$root/covshift/covshift.hpp" >"$work/public"
echo covshift/covshift.hpp >>"$work/public"
(cd "$work/moved/include" && find covshift -type f) | LC_ALL=C sort >"$work/installed"
if ! LC_ALL=C sort "$work/public" | diff - "$work/installed"; then
  echo "covshift/covshift.hpp (<) and the installed headers (>) differ" >&2
  exit 1
fi

# The C++ example of README.md, with the variables that it leaves to the reader.
example() { awk '/^```cpp/ { inside = 1; next } /^```/ { inside = 0 } inside' "$root/README.md"; }
{
  echo '#include <covshift/covshift.hpp>'
  example | grep '^#include'
  echo 'int main() {'
  echo 'const std::vector<double> x = {0, 1, 1, 0, 2, 2}; const std::vector<int> y = {0, 1, 2};'
  echo '[[maybe_unused]] const std::size_t rows = 3, cols = 2;'
  example | grep -v '^#include'
  echo '}'
} >"$work/readme.cpp"
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
"$work/build/readme"
if [ -x "$work/moved/bin/covshift" ]; then "$work/moved/bin/covshift" --version; fi
