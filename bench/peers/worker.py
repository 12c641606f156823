"""The process of one measurement: python -m peers.worker SPEC.json ANSWERS.jsonl

Loads the data, then fits once for each rung of a method's ladder that it is given. Each rung's seconds, peak
memory, objective of the weights and, if asked, predictions a second are a line of the answers, written at
once: what was measured before a time limit is kept. The parent has set the number of threads.
"""

from __future__ import annotations

import json
import statistics
import sys
import warnings

from . import fits, methods, shift
from .clock import BUDGET, repeated, reset_peak, status, timed
from .objective import objective
from .workloads import load


def rungs(spec: dict):
    """Answers of the rungs. A climb ends early where the objective is at most spec["enough"], where the
    method's own gap leaves nothing to gain, or after spec["budget"] seconds."""
    data = load(spec["workload"], spec["quick"])
    method = methods.make(spec["method"])
    loss, lam = spec["loss"], spec["lam"]
    first_use(method, spec)
    before = reset_peak()
    method.prepare(data)
    converting = status("VmHWM") - before
    converted = status("VmRSS") - before
    spent = 0.0
    for value in spec["values"]:
        before = reset_peak()  # what judging the last rung has left is no part of this one
        seconds = repeated(
            lambda value=value: method.fit(data, loss, lam, value, spec["threads"]), spec["limit"]
        )
        answer = {
            "value": value,
            "seconds": statistics.median(seconds),
            "fits": len(seconds),
            "peak_bytes": max(0, converting, converted + status("VmHWM") - before),
            "data_bytes": data.bytes,
            "objective": objective(loss, data.X, data.y, method.weights(), spec["judged_lam"]),
            "claims": method.claims(),
        }
        if spec["predict"]:
            answer["predictions_per_second"] = predictions(method, data.X[: spec["predict"]])
        yield answer
        spent += sum(seconds)
        exact = answer["claims"].get("gap", 1) < 1e-9 * abs(answer["objective"])
        if spec["climb"] and (exact or answer["objective"] <= spec["enough"] or spent > spec["budget"]):
            break


def predictions(method, rows) -> float:
    """A second; timed once if they take longer."""
    method.predict(rows[:10])
    times = [timed(lambda: method.predict(rows))[1]]
    while len(times) < 5 and sum(times) < BUDGET:
        times.append(timed(lambda: method.predict(rows))[1])
    return rows.shape[0] / statistics.median(times)


def first_use(method, spec: dict) -> None:
    """One small fit: what is only imported at the first use is no part of a fit's time or memory."""
    small = load("tiny", spec["quick"])
    small.classes = 2
    small.y = small.y % 2
    small.X = small.X[:, :5].copy()
    method.prepare(small)
    method.fit(small, spec["loss"], 0.1, method.ladder[0], spec["threads"])


KINDS = {"fit": rungs, "shift": shift.answers, "whole": fits.answers}


def main() -> None:
    warnings.simplefilter("ignore")
    source, target = sys.argv[1:]
    with open(source, encoding="utf-8") as file:
        spec = json.load(file)
    with open(target, "w", encoding="utf-8") as file:
        for answer in KINDS[spec["kind"]](spec):
            file.write(json.dumps(answer) + "\n")
            file.flush()


if __name__ == "__main__":
    main()
