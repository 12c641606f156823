#!/bin/bash
# The demonstration: built-in data, no files needed.
set -euo pipefail
cd "$(dirname "$0")/.."
report=()
if [ -f build/report/node_modules/echarts/dist/echarts.min.js ]; then
  report=(--report build/demo.html)
fi
exec build/covshift demo "${report[@]}" "$@"
