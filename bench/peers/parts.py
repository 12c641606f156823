"""What there is to measure: the parts of `make bench`, by name."""

from __future__ import annotations

import json
import os
import resource
import subprocess
import time

import numpy as np

from . import fits, process, shift
from .ladder import RUNS, Family
from .workloads import ROOT

LIMIT, QUICK_LIMIT = 60, 10  # seconds for one fit


def ladder(workload, loss, limit=LIMIT, **options):
    def run(quick, say):
        return Family(workload, loss, quick, QUICK_LIMIT if quick else limit, say, **options).measure()

    return run


def merged(entry: dict, answer: dict) -> None:
    """Adds an answer to what is known of a method."""
    if "seconds" in answer:
        entry["runs"].append(answer.pop("seconds"))
    entry.update(answer)


def one_package(names: list[str], spec: dict, entries: dict[str, dict]) -> None:
    """In one process, or more: one that a method ended is followed by another for the rest."""
    while names:
        answers, failure = process.measure({**spec, "methods": names, "expected": 2 * len(names)})
        for answer in answers:
            merged(entries[answer["method"]], answer)
        if failure and len(answers) < len(names):
            entries[names[len(answers)]].update(failure)
        names = names[len(answers) + 1 :]


def shifted(what):
    """Density ratios, or classifiers under shift, on the workload `robust`; packages take turns."""

    def run(quick, say):
        table = shift.RATIOS if what == "ratio" else shift.CLASSIFIERS
        entries = {name: {"method": name, "runs": []} for name in table}
        spec = {"kind": "shift", "what": what, "quick": quick, "threads": process.cores(), "limit": 30}
        for _ in range(1 if quick else RUNS):
            for package in dict.fromkeys(name.split()[0] for name in table):
                left = [n for n in table if n.split()[0] == package and "failed" not in entries[n]]
                one_package(left, spec, entries)
        for entry in entries.values():
            say(f"{entry['method']}: " + (entry.get("failed") or f"{np.median(entry['runs']):.4g} s"))
        return {"kind": what, "workload": "robust", "points": list(entries.values())}

    return run


def whole_fits(quick, say):
    """Whole fits with a target beside LogisticRegressionCV: bench/peers/fits.py."""
    points = []
    for shape in fits.names():
        minutes = shape in fits.MINUTES
        spec = {"kind": "whole", "shape": shape, "quick": quick, "threads": process.cores(),
                "runs": 1 if quick or minutes else 3, "limit": 1500 if minutes else 300, "expected": 1}
        load = os.getloadavg()[0]
        answers, failure = process.measure(spec)
        point = {"shape": shape, "load": load, "times": answers, **(failure or {})}
        say(f"{shape}: " + (point.get("failed") or ", ".join(
            f"{a['method']} {a['seconds']:.3g} s ({a['processor']:.3g} s of the processor)"
            for a in answers)))
        points.append(point)
    return {"kind": "whole", "points": points}


def scaling(quick, say):
    """covshift's fit over rows, three decades; the exponent by least squares on logarithms."""
    sizes = [300, 1_000, 3_000] if quick else [1_000, 3_000, 10_000, 30_000, 100_000, 300_000, 1_000_000]
    entries = {rows: {"method": str(rows), "runs": []} for rows in sizes}
    for _ in range(1 if quick else RUNS):
        for rows, entry in entries.items():
            spec = {"kind": "fit", "workload": f"dense:{rows}", "quick": quick, "loss": "log",
                    "lam": 1e-4, "judged_lam": 1e-4, "method": "covshift", "values": [1e-6],
                    "threads": process.cores(), "limit": LIMIT, "expected": 1, "climb": False,
                    "predict": 0}
            answers, failure = process.measure(spec)
            for answer in answers or [failure]:
                merged(entry, answer)
    for entry in entries.values():
        say(f"{entry['method']} rows: {entry.get('failed') or np.median(entry['runs'])}")
    done = [(rows, float(np.median(e["runs"]))) for rows, e in entries.items() if e["runs"]]
    rows, seconds = np.log(np.array(done).T)
    top = rows >= np.log(done[-1][0] / 101)
    exponent, upper = (float(np.polyfit(rows[use], seconds[use], 1)[0]) for use in (rows > 0, top))
    say(f"exponent {exponent:.3f}; over the largest two decades {upper:.3f}")
    return {"kind": "scaling", "points": list(entries.values()), "exponent": exponent,
            "upper_exponent": upper}


def kernels(quick, say):
    """One pass over the data against merely reading them: bench/pass_bench.cpp."""
    environment = {**os.environ, "FILTER": "^(read|pass)", "REPEATS": "1" if quick else str(RUNS),
                   "MIN_TIME": "0.02" if quick else "0.3"}
    command = [str(ROOT / "scripts" / "bench.sh"), "pass_bench"]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        return {"kind": "kernels", "failed": (done.stderr.strip().splitlines() or ["no message"])[-1]}
    with open(ROOT / "build" / "bench" / "pass_bench.json", encoding="utf-8") as file:
        read = json.load(file)
    unit = {"ns": 1e-9, "us": 1e-6, "ms": 1e-3, "s": 1}
    cases = {}
    for case in read["benchmarks"]:
        # One repetition has no aggregates.
        if case.get("aggregate_name", "median") == "median":
            name = case["run_name"].removesuffix("/real_time").replace("/process_time", "")
            cases[name] = case["real_time"] * unit[case["time_unit"]]
            say(f"{name}: {cases[name]:.4g} s")
    return {"kind": "kernels", "cases": cases}


def tables(quick, say):
    """Tables 1 and 2 of the paper by the program, where their data are."""
    program, data = ROOT / "build" / "covshift", ROOT.parent / "shared" / "data"
    if not data.is_dir():
        return {"kind": "tables", "failed": "skipped: no data in ../shared/data (covshift datasets)"}
    if not program.exists():
        return {"kind": "tables", "failed": f"skipped: {program.name} is not built (make)"}
    points = []
    for table in ("table1", "table2"):
        point = {"method": table, "runs": []}
        for _ in range(1 if quick else RUNS):
            begin = time.perf_counter()
            done = subprocess.run(
                [str(program), "reproduce", table, "--data", str(data), "-o",
                 str(ROOT / "build" / "bench-data" / table), "--seed", "1"],
                capture_output=True, text=True, check=False,
            )
            if done.returncode != 0:
                point["failed"] = (done.stderr.strip().splitlines() or ["no message"])[-1]
                break
            point["runs"].append(time.perf_counter() - begin)
        say(f"{table}: {point.get('failed') or np.median(point['runs'])}")
        points.append(point)
    return {"kind": "tables", "points": points,
            "peak_bytes": 1024 * resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss}


PARTS = {
    "log-dense": ladder("dense", "log"),
    "log-sparse-2": ladder("sparse-2", "log"),
    "log-sparse-20": ladder("sparse-20", "log"),
    "log-wide": ladder("wide", "log"),
    "log-tiny": ladder("tiny", "log"),
    "hinge-dense": ladder("dense", "hinge", limit=240),  # LIBLINEAR takes minutes
    "hinge-sparse-2": ladder("sparse-2", "hinge"),
    "hinge-sparse-20": ladder("sparse-20", "hinge"),
    "hinge-wide": ladder("wide", "hinge"),
    "hinge-tiny": ladder("tiny", "hinge"),
    # Judged by what MRCpy minimises with s = 0, the loss alone; ours has a penalty that hardly matters.
    "zero-one": ladder("game", "zero-one", lam=1e-6, judged_lam=0.0, patient=True),
    "robust": shifted("robust"),
    "ratio": shifted("ratio"),
    "whole": whole_fits,
    "scaling": scaling,
    "pass": kernels,
    "tables": tables,
}
