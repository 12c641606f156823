"""How often `compare`'s estimates of the target hold, by what they rest on: the table of docs/diagnose.md.

    scripts/shiftbench.sh estimates [--data FOLDER]

Each task is compared without and with the target's labels. An estimate holds if it is within two standard errors (its
own and the truth's together) of the truth.
"""

from __future__ import annotations

import argparse
import json
import tempfile
from pathlib import Path

import numpy as np

from .__main__ import ROOT
from .own import Program, write
from .report import table
from .tasks import tasks

METHODS = "auto,lr,iw,robust,overlap"
GROUPS = (  # heading, effective rows from, to, unsupported share from, to
    ("at least 30 effective rows, less than half of the target unsupported", 30, np.inf, 0, 0.5),
    ("fewer than 30 effective rows, less than half unsupported", 0, 30, 0, 0.5),
    ("half of the target unsupported, or more", 0, np.inf, 0.5, 1.01),
)


def compared(program, task):
    given = task.given
    with tempfile.TemporaryDirectory() as name:
        train, target, truth = (Path(name) / f"{part}.csv" for part in ("train", "target", "truth"))
        write(train, given.names, given.train, given.labels)
        write(target, given.names, given.target)
        write(truth, given.names, given.target, task.truth)
        return json.loads(program.call("compare", train, target, "--label", "label", "--truth", truth, "--methods", METHODS,
                                       "--threads", 1, "--json"))


def distances(report):
    """In standard errors, of every method and score."""
    for m in report["methods"]:
        for score in ("error", "log_loss_bits", "brier"):
            ours, true = m["estimated"][score], m["truth"][score]
            error = np.hypot(ours["standard_error"], true["standard_error"])
            if error > 0:
                yield score, abs(ours["value"] - true["value"]) / error


def main():
    parser = argparse.ArgumentParser(prog="scripts/shiftbench.sh estimates", description=__doc__)
    parser.add_argument("--program", default=str(ROOT / "build" / "covshift"))
    parser.add_argument("--data", default="../shared/data")
    options = parser.parse_args()
    program = Program(options.program)
    found = []
    for task in tasks(str(ROOT / options.data)):
        report = compared(program, task)
        found.append((report["effective_sample_size"], report["diagnosis"]["support"]["share"], list(distances(report))))
    rows = []
    for heading, low, high, least, most in GROUPS:
        some = [d for rows_, share, d in found if low <= rows_ < high and least <= share < most]
        row = [heading, len(some)]
        for score in ("error", "log_loss_bits", "brier"):
            z = np.array([v for d in some for s, v in d if s == score])
            row.append(f"{np.mean(z <= 2):.0%} ({np.median(z):.1f})" if len(z) else "-")
        rows.append(row)
    print(table(["estimates from", "tasks", "error rate", "log loss", "Brier score"], rows))


if __name__ == "__main__":
    main()
