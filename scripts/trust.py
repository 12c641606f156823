#!/usr/bin/env python3
"""Is "yes" followed by a target that is as good as training, and "no" by a poor one?

    scripts/trust.py PROGRAM FOLDER    # FOLDER/TASK/{train,target,truth}.csv.gz, label in column `label`
    scripts/trust.py PROGRAM 100       # as many simulated tasks, with shifts from none to no overlap
    scripts/trust.py PROGRAM power     # is the power that a diagnosis states that of its test?

Compares without labels of the target, as a user would, and scores the answer with the labels: a row of the
table in docs/diagnose.md for each task, and for each rule that was tried how it fares.
"""

import csv
import gzip
import json
import math
import os
import random
import subprocess
import sys
import tempfile


def run(program, folder, methods, *more):
    files = [os.path.join(folder, name + ".csv.gz") for name in ("train", "target")]
    command = [program, "compare", *files, "--label", "label", "--methods", methods, "--json", "--threads", "1"]
    return json.loads(subprocess.run(command + list(more), check=True, capture_output=True, text=True).stdout)


def answer(task, margin=0.05, some=0.05, most=0.5, power=0.8):
    """The rule of covshift/diagnose/trust.cpp with other thresholds."""
    if task["unsupported"] >= most:
        return "no"
    if task["gain"] <= 0 and task["reliable"]:
        return "no"
    if not task["shift"]:
        return "yes" if task["power"] >= power else "partly"
    if task["unsupported"] >= some and task["unsupported"] > 2 * task["chance"]:
        return "partly"
    return "yes" if task["reliable"] and task["largest_drop"] <= margin else "partly"


def spread(drops):
    if not drops:
        return "none"
    return (f"{len(drops)}; {drops[len(drops) // 2]:.3f}, {drops[0]:.3f} to {drops[-1]:.3f}; "
            f"{sum(d > 0.05 for d in drops)}")


def measure(program, folder):
    seen = run(program, folder, "auto")
    true = run(program, folder, "auto", "--truth", os.path.join(folder, "truth.csv.gz"))
    trust = seen["diagnosis"]["recommendation"]["trust"]
    expected, support = trust["expected"], seen["diagnosis"]["support"]
    return {
        "task": os.path.basename(folder), "answer": trust["answer"], "code": trust["code"],
        "shift": seen["diagnosis"]["shift"], "power": seen["diagnosis"]["power"], "unsupported": support["share"], "chance": support["expected"],
        **{k: expected[k] for k in ("reliable", "accuracy", "low", "high", "training", "largest_drop", "gain")},
        "truth": true["methods"][0]["truth"]["accuracy"], "true_gain": true["methods"][0]["gain"]["value"],
    }


def simulate(folder, count):
    """Gaussian inputs that move in the first, labels of a logistic rule: P(y|x) stays."""
    draw = random.Random(1)
    for k in range(count):
        columns, rows = draw.randint(2, 6), draw.choice([150, 400])
        moved = draw.choice([0, 0.25, 0.5, 1, 2, 4])
        rule = [draw.gauss(0, 1.5) for _ in range(columns)]
        task = os.path.join(folder, f"{k:03}")
        os.mkdir(task)
        for name, mean, parts in (("train", 0, "xy"), ("target", moved, "x")):
            x = [[draw.gauss(mean if j == 0 else 0, 1) for j in range(columns)] for _ in range(rows)]
            p = [1 / (1 + math.exp(-sum(a * b for a, b in zip(rule, row)))) for row in x]
            y = ["yes" if draw.random() < q else "no" for q in p]
            header = [f"x{j}" for j in range(columns)]
            write(task, name, header + ["label"] * ("y" in parts), [row + [t] * ("y" in parts) for row, t in zip(x, y)])
            if name == "target":
                write(task, "truth", ["label"], [[t] for t in y])


def write(folder, name, header, rows):
    with gzip.open(os.path.join(folder, name + ".csv.gz"), "wt", newline="") as file:
        csv.writer(file).writerows([header, *rows])


def diagnosed(program, folder, draw, rows, columns, length):
    """A diagnosis of normal samples; the target is moved in a random direction."""
    shift = [draw.gauss(0, 1) for _ in range(columns)]
    norm = math.sqrt(sum(x * x for x in shift))
    for name, size in (("train", 0), ("target", length / norm)):
        x = [[draw.gauss(size * s, 1) for s in shift] for _ in range(rows)]
        write(folder, name, [f"x{j}" for j in range(columns)], x)
    files = [os.path.join(folder, name + ".csv.gz") for name in ("train", "target")]
    command = [program, "diagnose", *files, "--json", "--threads", "1"]
    return json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)


def power(program, draws=60):
    print("| rows | columns | power stated: mean (range) | found | \"yes\" without shift | \"yes\" with it |")
    print("|---|---|---|---|---|---|")
    draw = random.Random(1)
    for rows, columns in ((40, 2), (100, 2), (200, 2), (100, 10), (300, 10), (200, 50), (600, 50), (100, 500)):
        with tempfile.TemporaryDirectory() as folder:
            same = [diagnosed(program, folder, draw, rows, columns, 0) for _ in range(draws)]
            moved = [diagnosed(program, folder, draw, rows, columns, 0.5) for _ in range(draws)]
        stated = [d["power"] for d in same if not d["shift"]]
        yes = [sum(d["recommendation"]["trust"]["answer"] == "yes" for d in both) / draws for both in (same, moved)]
        print(f"| {rows} | {columns} | {sum(stated) / len(stated):.2f} ({min(stated):.2f} to {max(stated):.2f}) "
              f"| {sum(d['shift'] for d in moved) / draws:.2f} | {100 * yes[0]:.0f}% | {100 * yes[1]:.0f}% |", flush=True)


def main(program, folder):
    if folder == "power":
        power(program)
        return
    if folder.isdigit():
        with tempfile.TemporaryDirectory() as made:
            simulate(made, int(folder))
            main(program, made)
        return
    names = sorted(n for n in os.listdir(folder) if os.path.isdir(os.path.join(folder, n)))
    tasks = []
    print("| task | answer | because | unsupported | training | estimated | true | true drop | true gain |")
    print("|---|---|---|---|---|---|---|---|---|")
    for name in names:
        t = measure(program, os.path.join(folder, name))
        tasks.append(t)
        guess = f"{t['accuracy']:.3f} ({t['low']:.3f} to {t['high']:.3f})" if t["reliable"] else "unknown"
        print(f"| {t['task']} | {t['answer']} | {t['code']} | {100 * t['unsupported']:.0f}% | {t['training']:.3f} | {guess} "
              f"| {t['truth']:.3f} | {t['training'] - t['truth']:.3f} | {t['true_gain']:.3f} |", flush=True)
        assert answer(t) == t["answer"], "this file and trust.cpp disagree"
    print("\nTrue drops by answer: tasks; median, smallest to largest; how many above 0.05")
    print("\n| drop tolerated | some unsupported | most unsupported | yes | partly | no |")
    print("|---|---|---|---|---|---|")
    for rule in [dict(margin=m, some=s, most=b) for m, s, b in (
            (0.05, 0.05, 0.5), (0.03, 0.05, 0.5), (0.1, 0.05, 0.5), (0.05, 0.02, 0.5), (0.05, 0.2, 0.5),
            (0.05, 0.05, 0.3), (0.05, 0.05, 0.9), (1, 1, 1))]:
        drops = {a: sorted(round(t["training"] - t["truth"], 3) for t in tasks if answer(t, **rule) == a)
                 for a in ("yes", "partly", "no")}
        cells = [spread(drops[a]) for a in ("yes", "partly", "no")]
        print(f"| {rule['margin']} | {rule['some']} | {rule['most']} | {' | '.join(cells)} |")


if __name__ == "__main__":
    main(*sys.argv[1:])
