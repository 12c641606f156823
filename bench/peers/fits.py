"""Whole default fits with a target from Python beside scikit-learn's LogisticRegressionCV(Cs=5, cv=5) on the same
training data.

Both choose their regularisation; covshift estimates the density ratio and chooses among methods and features as well.
Times are of the fit
call, packages taking turns in one process for each shape; the processor's time is kept beside the wall clock's,
since the machine may be shared.
"""

from __future__ import annotations

import csv
import gzip
import time

import numpy as np

from .workloads import ROOT

TASKS = ROOT.parent / "shared" / "data" / "shift"
# Rows of training and target, columns, entries of a row (None: dense).
SHAPES = {
    "100,000 x 50": (100_000, 100_000, 50, None),
    "2,000 x 100": (2_000, 2_000, 100, None),
    "1,200 x 400": (1_200, 1_500, 400, None),
    "sparse 200,000 x 50,000": (200_000, 50_000, 50_000, 20),
}
MINUTES = {"sparse 200,000 x 50,000"}  # a fit takes minutes: one run
IDS = "600 rows, id and date"


def names() -> list[str]:
    """Shapes, then tasks where there are any."""
    tasks = sorted(p.name for p in TASKS.iterdir() if p.is_dir()) if TASKS.is_dir() else []
    return [*SHAPES, IDS, *tasks]


def dense(random, rows, cols, shift):
    X = random.standard_normal((rows, cols))
    X[:, : cols // 4] += shift
    truth = np.random.default_rng(7).standard_normal(cols) / np.sqrt(cols)
    return X, (2 * X @ truth + random.logistic(size=rows) > 0).astype(int)


def sparse(random, rows, cols, entries, shift):
    from scipy.sparse import csr_matrix

    at = (cols * random.random((rows, entries)) ** (3 - shift)).astype(np.int32)
    X = csr_matrix((np.ones(at.size), at.ravel(), np.arange(0, at.size + 1, entries)), (rows, cols))
    X.sum_duplicates()
    truth = np.random.default_rng(7).standard_normal(cols)
    return X, (X @ truth + random.logistic(size=rows) > 0).astype(int)


def frame(columns: dict):
    import pandas

    return pandas.DataFrame(columns)


def with_ids(random, rows, shift):
    x = random.standard_normal(rows) + shift
    days = random.integers(0, 300, rows)
    X = frame({"id": [f"row {i}{shift}" for i in range(rows)],
               "date": [str(np.datetime64("2024-01-01") + d) for d in days], "x": x})
    return X, (x + random.logistic(size=rows) > 0).astype(int)


def task(name):
    def read(part):
        with gzip.open(TASKS / name / f"{part}.csv.gz", "rt", newline="") as file:
            rows = list(csv.reader(file))
        columns = {}
        for j, column in enumerate(rows[0]):
            values = [row[j] for row in rows[1:]]
            try:
                columns[column] = [float(v) for v in values]
            except ValueError:
                columns[column] = values
        return columns

    train = read("train")
    y = np.array(train.pop("label")).astype(str)
    return frame(train), y, frame(read("target"))


def load(name, quick):
    """Training rows, labels, target rows."""
    random = np.random.default_rng(1)
    if name == IDS:
        X, y = with_ids(random, 600, 0.0)
        return X, y, with_ids(random, 600, 0.5)[0]
    if name not in SHAPES:
        return task(name)
    rows, target_rows, cols, entries = SHAPES[name]
    if quick:
        rows, target_rows, cols = rows // 50 + 100, target_rows // 50 + 100, cols // 5 + 10
    make = (lambda n, shift: dense(random, n, cols, shift)) if entries is None else (
        lambda n, shift: sparse(random, n, cols, entries, shift))
    X, y = make(rows, 0.0)
    return X, y, make(target_rows, 0.3)[0]


def timed(call):
    wall, processor = time.perf_counter(), time.process_time()
    call()
    return time.perf_counter() - wall, time.process_time() - processor


def answers(spec: dict):
    """Of one shape or task: both packages in turns; a table with text is covshift's alone."""
    import covshift
    from sklearn.linear_model import LogisticRegressionCV

    name = spec["shape"]
    X, y, target = load(name, spec["quick"])
    calls = {"covshift": lambda: covshift.RobustClassifier().fit(X, y, target)}
    if name in SHAPES:
        calls["LogisticRegressionCV(Cs=5, cv=5)"] = lambda: LogisticRegressionCV(Cs=5, cv=5).fit(X, y)
    times = {method: [] for method in calls}
    for _ in range(spec["runs"]):
        for method, call in calls.items():
            times[method].append(timed(call))
    for method, pairs in times.items():
        wall, processor = np.median(np.array(pairs), axis=0)
        yield {"method": method, "seconds": float(wall), "processor": float(processor)}
