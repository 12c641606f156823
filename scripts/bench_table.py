#!/usr/bin/env python3
"""Prints the medians in a Google Benchmark JSON file as a table: bench_table.py FILE...

Columns: the case, elapsed time, processor time of all threads, rates (per elapsed second) and counters.
"""

import json
import sys

KNOWN = {
    "name", "family_index", "per_family_instance_index", "run_name", "run_type", "repetitions",
    "repetition_index", "threads", "iterations", "aggregate_name", "aggregate_unit", "real_time",
    "cpu_time", "time_unit", "bytes_per_second", "items_per_second",
}
SECONDS = {"ns": 1e-9, "us": 1e-6, "ms": 1e-3, "s": 1.0}


def scaled(value, units):
    """`value` with the largest of the units (factor, suffix), largest first, that it reaches."""
    for factor, suffix in units:
        if value >= factor:
            break
    return f"{value / factor:.3g} {suffix}"


def row(run):
    unit = SECONDS[run["time_unit"]]
    name = run["run_name"].removesuffix("/real_time").removesuffix("/process_time")
    cells = [name] + [scaled(run[key] * unit, [(1, "s"), (1e-3, "ms"), (1e-6, "us"), (1e-9, "ns")])
                      for key in ("real_time", "cpu_time")]
    rates = []
    if "items_per_second" in run:
        rates.append(scaled(run["items_per_second"], [(1e6, "M/s"), (1e3, "k/s"), (1, "/s")]))
    if "bytes_per_second" in run:
        rates.append(scaled(run["bytes_per_second"], [(1e9, "GB/s"), (1e6, "MB/s")]))
    counters = [f"{key} {run[key]:.3g}" for key in sorted(run.keys() - KNOWN)]
    return cells + [", ".join(rates + counters)]


def main(paths):
    for path in paths:
        with open(path, encoding="utf-8") as file:
            runs = json.load(file)["benchmarks"]
        rows = [row(run) for run in runs if run.get("aggregate_name") == "median"]
        widths = [max((len(cells[i]) for cells in rows), default=0) for i in range(3)]
        for cells in rows:
            print(f"{cells[0]:<{widths[0]}}  {cells[1]:>{widths[1]}}  {cells[2]:>{widths[2]}}  {cells[3]}")


if __name__ == "__main__":
    main(sys.argv[1:])
