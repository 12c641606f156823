#!/bin/bash
# Reads a numeric CSV of MEGABYTES (1000) with covshift and with pandas, with 6 and with 17 digits. Installs pandas
# from the Python package index into build/bench/venv.
set -euo pipefail
cd "$(dirname "$0")/.."
cmake --preset bench --log-level=WARNING
cmake --build build/bench -j "${JOBS:-$(nproc)}" --target read_table_bench
if [ ! -x build/bench/venv/bin/python ]; then
  python3 -m venv build/bench/venv
  build/bench/venv/bin/pip install --quiet numpy pandas
fi
for digits in 6 17; do
  build/bench/venv/bin/python bench/data/csv_bench.py build/bench/bench/read_table_bench \
    --megabytes "${MEGABYTES:-1000}" --digits "$digits"
done
