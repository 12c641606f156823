#!/bin/bash
# Builds build/playground/index.html with emscripten.
set -euo pipefail
cd "$(dirname "$0")/.."
emscripten=$(em-config EMSCRIPTEN_ROOT)
# Debian's emscripten uses Debian's acorn, which only Debian's node finds by itself.
export NODE_PATH=${NODE_PATH:-/usr/share/nodejs}
# emscripten runs a compiler cache itself.
if [ "${CMAKE_CXX_COMPILER_LAUNCHER:-}" = ccache ]; then
  unset CMAKE_CXX_COMPILER_LAUNCHER
  export EM_COMPILER_WRAPPER=ccache
fi
cmake --preset playground --toolchain "$emscripten/cmake/Modules/Platform/Emscripten.cmake" >/dev/null
cmake --build build/playground -j "${JOBS:-2}"
