#!/usr/bin/env python3
"""Random fits through the program: losses, assumptions and ratios on data of 15 kinds, most of them degenerate.

    bench/random_fits.py PROGRAM [COUNT] [SEED]        COUNT: 2400, SEED: 1

Every fit must converge or end in an error message; a model must give finite probabilities that sum to 1, and its
duality gap must not be negative. Prints a table of what happened, the refusals with their number, and each
failure with the command that repeats it; ends with code 1 if there was one. docs/reliability.md has the result.
"""

import collections
import csv
import json
import math
import os
import random
import re
import subprocess
import sys
import tempfile

LOSSES = ["log", "zero-one", "absolute", "squared", "abstain:0.2", "hinge", "cost"]
ASSUMPTIONS = ["none", "train", "test", "views", "overlap", "temper:0.5"]
RATIOS = ["logistic", "gaussian", "ulsif", "kliep", "kmm", "column:w"]


def gauss(r, cols, mean=0.0):
    return [r.gauss(mean, 1) for _ in range(cols)]


def scaled(rows, factor):
    return [[factor * x for x in row] for row in rows]


def tails(r, rows):
    return [[math.tan(math.pi * (r.random() - 0.5)) for _ in row] for row in rows]


KINDS = {
    "ordinary": lambda r, x: x,
    "constant column": lambda r, x: [[7.0, *row[1:]] for row in x],
    "all constant": lambda r, x: [[3.0 for _ in row] for row in x],
    "zeros": lambda r, x: [[0.0 for _ in row] for row in x],
    "copies": lambda r, x: [x[i % 3] for i in range(len(x))],
    "1e150": lambda r, x: scaled(x, 1e150),
    "1e-150": lambda r, x: scaled(x, 1e-150),
    "1e308": lambda r, x: [[math.copysign(1e308, v) for v in row] for row in x],
    "mixed scales": lambda r, x: [[v * 10.0 ** (8 * (j % 3 - 1)) for j, v in enumerate(row)] for row in x],
    "collinear": lambda r, x: [[row[0], 2 * row[0], *row[2:]] for row in x],
    "outlier": lambda r, x: [[1e12, *x[0][1:]], *x[1:]],
    "heavy tails": tails,
    "wide": lambda r, x: [row + gauss(r, 40) for row in x],
    "few rows": lambda r, x: x[:4],
    "far apart": lambda r, x: x,  # the target is elsewhere
}


def table(r, kind, classes, target):
    rows = [gauss(r, 4, 1.0 if target else 0.0) for _ in range(r.choice([8, 23, 60]))]
    if kind == "far apart" and target:
        rows = [[v + 50 for v in row] for row in rows]
    truth = [max(range(classes), key=lambda c: row[c % 4] + r.gauss(0, 0.5)) for row in rows]
    rows = KINDS[kind](r, rows)
    labels = [f"c{y}" for y in truth[: len(rows)]]
    labels[:classes] = [f"c{y}" for y in range(classes)]  # every class occurs
    return rows, labels


def write(path, rows, labels, weights):
    with open(path, "w", newline="", encoding="utf-8") as file:
        out = csv.writer(file)
        out.writerow([*(f"x{j}" for j in range(len(rows[0]))), "w", "y"])
        for row, label, weight in zip(rows, labels, weights):
            out.writerow([*map(repr, row), repr(weight), label])


def draw(r, folder, number):
    """The files of fit number `number`; returns its flags and a description."""
    kind = r.choice(sorted(KINDS))
    loss, assumption, ratio = r.choice(LOSSES), r.choice(ASSUMPTIONS), r.choice(RATIOS)
    classes = r.choice([2, 3, 4])
    span = r.choice([1, 36, 100, 600]) if r.random() < 0.5 else 1
    columns = None
    for name, target in (("train.csv", False), ("target.csv", True)):
        rows, labels = table(r, kind, classes, target)
        columns = columns or len(rows[0])
        weights = [math.exp(span * (r.random() - 0.5)) for _ in rows]
        write(os.path.join(folder, name), rows, labels, weights)
    with open(os.path.join(folder, "views.txt"), "w", encoding="utf-8") as file:
        file.write("a = x0, x1\nb = x2, x3\n")
    with open(os.path.join(folder, "costs.csv"), "w", encoding="utf-8") as file:
        for i in range(classes):
            file.write(",".join("0" if i == j else f"{r.uniform(0.1, 3):.3f}" for j in range(classes)) + "\n")
    path = os.path.join
    flags = [
        path(folder, "train.csv"), "--target", path(folder, "target.csv"), "--label", "y",
        "--method", "robust", "--loss", f"cost:{path(folder, 'costs.csv')}" if loss == "cost" else loss,
        "--generalize", assumption, "--ratio", ratio, "--views", path(folder, "views.txt"),
        "--generalized-views", "a", "--lambda", r.choice(["1e-6", "0.001", "0.01", "1", "cv"]),
        "--scale", r.choice(["unit", "standard", "none"]), "--seed", str(number), "--threads", "1",
        "-o", path(folder, "model.json"),
    ]
    if ratio != "column:w":
        flags += ["--drop", "w"]
    return flags, (kind, loss, assumption, ratio, span if ratio == "column:w" else 1)


def numbers(value):
    """All numbers of a JSON value."""
    if isinstance(value, dict):
        value = list(value.values())
    if isinstance(value, list):
        for part in value:
            yield from numbers(part)
    elif isinstance(value, float):
        yield value


def check_model(program, folder, report):
    """What is wrong with a model that was written; None if nothing is."""
    if report["status"] != "converged":
        return f"status {report['status']}, but exit code 0"
    if report["gap"] is None or report["gap"] < 0:
        return f"gap {report['gap']}"
    if not all(map(math.isfinite, numbers(report))):
        return "a number of the report is not finite"
    done = subprocess.run(
        [program, "predict", os.path.join(folder, "model.json"), os.path.join(folder, "target.csv")],
        capture_output=True, text=True, timeout=600, check=False)
    if done.returncode != 0:
        return f"predict: {done.stderr}"
    for row in csv.DictReader(done.stdout.splitlines()):
        p = [float(value) for name, value in row.items() if name.startswith("p:")]
        if not all(0 <= v <= 1 for v in p) or abs(sum(p) - 1) > 1e-9 or not math.isfinite(float(row["log_ratio"])):
            return f"predicted {row}"
    return None


def run(program, folder, flags):
    """("converged" or "refused", None or what was said) or ("failed", why)."""
    try:
        done = subprocess.run([program, "fit", *flags, "--json"], capture_output=True, text=True, timeout=600,
                              check=False)
    except subprocess.TimeoutExpired:
        return "failed", "no end in 600 s"
    if done.returncode == 0:
        wrong = check_model(program, folder, json.loads(done.stdout))
        return ("failed", wrong) if wrong else ("converged", None)
    words = done.stderr.strip().splitlines()[-1] if done.stderr.strip() else ""
    if done.returncode != 1 or done.stdout or not words.startswith("covshift: "):
        return "failed", f"exit code {done.returncode}: {done.stderr}"
    if re.search(r"(^|[^a-z])-?(nan|inf)([^a-z]|$)", words):
        return "failed", f"a message without words: {words}"
    return "refused", words.replace(folder + "/", "")


def campaign(program, count, seed, tell=lambda text: None):
    """Counts of outcomes by kind of data, of refusals, and the failures."""
    outcomes = collections.defaultdict(collections.Counter)
    refusals = collections.Counter()
    failures = []
    with tempfile.TemporaryDirectory() as folder:
        for number in range(count):
            flags, what = draw(random.Random(f"{seed}/{number}"), folder, number)
            outcome, words = run(program, folder, flags)
            outcomes[what[0]][outcome] += 1
            if outcome == "refused":
                refusals[re.sub(r"[-+]?\d[\d.e+-]*", "#", words)] += 1
            elif outcome == "failed":
                failures.append((number, what, words))
                tell(f"failed: fit {number} of seed {seed}, {what}: {words}")
    return outcomes, refusals, failures


def main():
    program = os.path.abspath(sys.argv[1])
    count = int(sys.argv[2]) if len(sys.argv) > 2 else 2400
    seed = int(sys.argv[3]) if len(sys.argv) > 3 else 1
    outcomes, refusals, failures = campaign(program, count, seed, lambda text: print(text, flush=True))
    print("| data | converged | refused | failed |\n|---|---|---|---|")
    total = collections.Counter()
    for kind in KINDS:
        total.update(outcomes[kind])
        print(f"| {kind} | {' | '.join(str(outcomes[kind][k]) for k in ('converged', 'refused', 'failed'))} |")
    print(f"| all | {' | '.join(str(total[k]) for k in ('converged', 'refused', 'failed'))} |\n")
    for words, times in refusals.most_common():
        print(f"{times} x {words}")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
