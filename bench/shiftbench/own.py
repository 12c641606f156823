"""covshift's methods, through the program: the same way in as a user's."""

from __future__ import annotations

import csv
import hashlib
import json
import shlex
import subprocess
import tempfile
from pathlib import Path

import numpy as np

PROBABLE = ("lr", "iw", "robust", "robust-view", "overlap")  # log loss: their answers are probabilities
DECIDING = ("adv01", "robust01", "robust01-view", "overlap01", "svm", "iw-svm")  # judged by accuracy alone
VIEWS = ("--views", "each")
LIMIT = 3600  # seconds by the clock, for a program that hangs: run.py limits processor time


class Program:
    def __init__(self, path):
        self.path = Path(path)
        if not self.path.exists():
            raise SystemExit(f"shiftbench: no program at {path}; build it with `make`, or name it with --program")
        self.digest = hashlib.sha256(self.path.read_bytes()).hexdigest()[:16]
        self.version = self.call("--version").strip()
        self.maps = "--features" in self.call("options")

    def call(self, *arguments):
        done = subprocess.run([str(self.path), *map(str, arguments)], capture_output=True, text=True, check=False,
                              timeout=LIMIT)
        if done.returncode != 0:
            ended = "ended by its limit of processor time" if done.returncode < 0 else "no message"
            raise RuntimeError((done.stderr.strip().splitlines() or [ended])[-1])
        return done.stdout

    def methods(self):
        """Name -> options of fit; `recommended` runs the command that diagnose names."""
        table = {"default": ()}
        table |= {name: ("--method", name, *(VIEWS if name.endswith("view") else ())) for name in PROBABLE}
        if self.maps:
            table |= {f"{name}+maps": (*table[name], "--features", "auto") for name in PROBABLE}
        table["recommended"] = None
        table |= {name: ("--method", name, *(VIEWS if name.endswith("view") else ())) for name in DECIDING}
        return table


def write(path, names, columns, labels=None):
    with open(path, "w", newline="", encoding="utf-8") as file:
        out = csv.writer(file)
        out.writerow([*names, *(["label"] if labels is not None else [])])
        columns = [*columns, *([labels] if labels is not None else [])]
        out.writerows(zip(*([repr(float(v)) for v in c] if isinstance(c, np.ndarray) and c.dtype.kind == "f" else c
                            for c in columns), strict=True))


def probabilities(text, classes):
    rows = list(csv.reader(text.splitlines()))
    header = rows[0]
    at = [header.index(f"p:{c}") for c in classes]
    return np.array([[float(row[i]) for i in at] for row in rows[1:]])


def fit(program, given, options):
    """Probabilities of the target's rows, and what the fit said. The target's file has no labels."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        train, target, model = folder / "train.csv", folder / "target.csv", folder / "model.json"
        write(train, given.names, given.train, given.labels)
        write(target, given.names, given.target)
        said = {}
        call = ["fit", train, "--target", target, "--label", "label", *(options or ()), "-o", model]
        if options is None:
            answer = json.loads(program.call("diagnose", train, target, "--label", "label", "--json", "--threads", 1))
            said["command"] = answer["recommendation"]["command"]
            call = [str(model) if word == "model.json" else word for word in shlex.split(said["command"])[1:]]
        text = program.call(*call, "--threads", 1, "--json")
        said["fit"] = {k: v for k, v in json.loads(text).items() if isinstance(v, (str, int, float))}
        return probabilities(program.call("predict", model, target), given.classes), said
