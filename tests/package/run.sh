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

# The installed headers are those that covshift/covshift.hpp includes, itself, and the one that needs
# MPI.
root=$(cd "$here/../.." && pwd)
sed -n 's/^#include "\(.*\)"$/\1/p' "$root/covshift/covshift.hpp" >"$work/public"
printf 'covshift/%s\n' covshift.hpp engine/mpi_reducer.hpp >>"$work/public"
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

# The same by pkg-config.
export PKG_CONFIG_PATH=$(dirname "$(find "$work/moved" -name covshift.pc)")
if grep -qF -e "$work" -e "$root" "$PKG_CONFIG_PATH/covshift.pc"; then
  echo "covshift.pc names the folder it was built or installed in" >&2
  exit 1
fi
read -ra flags <<<"$(pkg-config --cflags --libs covshift)"
"${CXX:-c++}" -std=c++20 "$work/main.cpp" "${flags[@]}" -o "$work/by_pkg_config"
"$work/by_pkg_config"

# One version everywhere, and a request for another is refused.
version=$(pkg-config --modversion covshift)
if [ -x "$work/moved/bin/covshift" ]; then
  [ "$("$work/moved/bin/covshift" --version)" = "covshift $version" ]
  [ -s "$work/moved/share/man/man1/covshift-fit.1" ]
fi
refused() {
  if cmake -S "$work" -B "$work/refused" -DCMAKE_PREFIX_PATH="$work/moved" "$@" >"$work/log" 2>&1; then
    echo "find_package accepted $*" >&2
    exit 1
  fi
}
refused -DWANTED=0.0
grep -q "version: $version" "$work/log"
refused -DWANTED=0.1 -DCOMPONENT=gpu
grep -q 'covshift has no component .gpu.' "$work/log"
