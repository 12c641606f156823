#!/usr/bin/env python3
"""Reads one numeric CSV with covshift's reader and with pandas.read_csv, in one run.

    csv_bench.py READ_TABLE_BENCH [--megabytes 200] [--columns 50] [--digits 6] [--repeats 3]

READ_TABLE_BENCH is the program built from read_table_bench.cpp. The best of the repeats counts for each
reader, and they take turns, so that neither profits from a warmer file cache. Both must agree on
the numbers of rows and columns.
"""

import argparse
import json
import pathlib
import subprocess
import tempfile
import time

import numpy as np
import pandas as pd


def write_csv(path, megabytes, columns, digits):
    """Random numbers with `digits` significant digits, until the file has the size asked for."""
    random = np.random.default_rng(1)
    rows_at_a_time = max(1, 200_000 // columns)
    with open(path, "w", encoding="ascii") as out:
        out.write(",".join(f"x{c}" for c in range(columns)) + "\n")
        while out.tell() < megabytes * 1_000_000:
            block = random.normal(size=(rows_at_a_time, columns))
            text = "\n".join(",".join(f"{v:.{digits}g}" for v in row) for row in block.tolist())
            out.write(text + "\n")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("program")
    parser.add_argument("--megabytes", type=float, default=200)
    parser.add_argument("--columns", type=int, default=50)
    parser.add_argument("--digits", type=int, default=6)
    parser.add_argument("--repeats", type=int, default=3)
    options = parser.parse_args()

    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "numbers.csv"
        write_csv(path, options.megabytes, options.columns, options.digits)
        size = path.stat().st_size / 1e6
        ours, theirs = [], []
        for _ in range(options.repeats):
            result = json.loads(subprocess.check_output([options.program, str(path)]))
            ours.append(result["seconds"])
            start = time.perf_counter()
            frame = pd.read_csv(path)
            theirs.append(time.perf_counter() - start)
            if frame.shape != (result["rows"], result["columns"]):
                raise SystemExit(f"pandas read {frame.shape}, covshift {result}")
    print(f"file      {size:8.1f} MB, {frame.shape[0]} x {frame.shape[1]}, {options.digits} digits")
    print(f"covshift  {min(ours):8.3f} s  {size / min(ours):8.1f} MB/s")
    print(f"pandas    {min(theirs):8.3f} s  {size / min(theirs):8.1f} MB/s   (pandas {pd.__version__})")
    print(f"ratio     {min(theirs) / min(ours):8.2f}  (pandas time / covshift time)")


if __name__ == "__main__":
    main()
