#!/bin/bash
# Fetches the plotting library that the report bundles (covshift/report/package-lock.json pins its
# version and content) to build/report/node_modules, unless it is already there. On failure this prints
# a message but succeeds: the program then builds without --report.
set -uo pipefail
cd "$(dirname "$0")/.."
folder=build/report
mkdir -p "$folder"
if [ -f "$folder/node_modules/echarts/dist/echarts.min.js" ] &&
   cmp -s covshift/report/package-lock.json "$folder/package-lock.json"; then
  exit 0
fi
if ! command -v npm >/dev/null; then
  echo "report_library.sh: npm is missing, so this build will have no --report" >&2
  exit 0
fi
cp covshift/report/package.json covshift/report/package-lock.json "$folder/"
echo "Fetching the plotting library of the report" >&2
if ! npm ci --prefix "$folder" --ignore-scripts --no-audit --no-fund --loglevel=error >"$folder/npm.log" 2>&1; then
  cat "$folder/npm.log" >&2
  rm -rf "$folder/node_modules" "$folder/package-lock.json"
  echo "report_library.sh: download failed; this build will have no --report" >&2
fi
