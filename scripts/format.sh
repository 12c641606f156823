#!/bin/bash
# Formats all C++ sources in place; with --check only names those that would change.
set -euo pipefail
cd "$(dirname "$0")/.."
mapfile -d '' files < <(find covshift cli tests bench fuzz python playground \
  \( -name '*.cpp' -o -name '*.hpp' \) -print0 2>/dev/null)
if [ "${1:-}" = --check ]; then
  clang-format --dry-run --Werror "${files[@]}"
else
  clang-format -i "${files[@]}"
fi
