"""How long a whole default fit takes: files in, model file out."""

from __future__ import annotations

import os
import resource
import tempfile
import time
from pathlib import Path

import numpy as np

from .own import write

SIZES = ((1_200, 20, 1.0), (100_000, 50, 10.0))  # rows, columns, seconds it may take


def draw(rows, columns, seed=0):
    """A logistic truth of two classes, the target moved by one standard deviation."""
    random = np.random.default_rng(seed)
    a = random.normal(size=columns) / np.sqrt(columns)
    X, Z = random.normal(size=(rows, columns)), random.normal(size=(rows, columns)) + 1 / np.sqrt(columns)
    return X, (random.random(rows) < 1 / (1 + np.exp(-3 * X @ a))).astype(int).astype(str), Z


def children():
    use = resource.getrusage(resource.RUSAGE_CHILDREN)
    return use.ru_utime + use.ru_stime


def whole_fits(program, sizes=SIZES):
    """One row for each size and number of threads: wall and processor time beside the load average."""
    out = []
    for rows, columns, allowed in sizes:
        X, y, Z = draw(rows, columns)
        names = [f"x{j}" for j in range(columns)]
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            write(folder / "train.csv", names, list(X.T), y)
            write(folder / "target.csv", names, list(Z.T))
            for threads in sorted({1, os.cpu_count() or 1}):
                before, clock = children(), time.perf_counter()
                program.call("fit", folder / "train.csv", "--target", folder / "target.csv", "--label", "label", "--threads",
                             threads, "-q", "-o", folder / "model.json")
                out.append({"rows": rows, "columns": columns, "threads": threads, "allowed": allowed,
                            "wall": time.perf_counter() - clock, "cpu": children() - before,
                            "load": os.getloadavg()[0]})
    return out
