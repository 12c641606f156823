"""How missing values are best treated: removes values from tasks under shift and compares the rules.

    python3 bench/missing_study.py PROGRAM FOLDER

FOLDER has a folder for each task with train.csv.gz, target.csv.gz (both with the column `label` or without
it) and truth.csv.gz. Values are removed at random (`random`), or those above the column's training median
(`high`): 30% of the values of every second column, of categories the first in alphabetical order. `drop`
trains on the complete rows and imputes only when predicting; it is what `--missing error` leaves to the user.
Prints the log loss in bits on the truth for lr and the default, and how often each rule beats another by more
than 0.001 bits. docs/data.md has the result.
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


def read(path):
    with gzip.open(path, "rt", encoding="utf-8", newline="") as file:
        rows = list(csv.reader(file))
    return rows[0], rows[1:]


def number(text):
    try:
        return float(text)
    except ValueError:
        return None


def write(path, header, rows):
    with open(path, "w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows([header, *rows])


def removed(rows, columns, limits, kind, source):
    """The rows without 30% of the values of these columns."""
    out = [list(row) for row in rows]
    for column in columns:
        for row in out:
            value = number(row[column])
            high = value > limits[column] if value is not None else row[column] <= str(limits[column])
            share = 0.3 if kind == "random" else 0.6 if high else 0.0
            if source.random() < share:
                row[column] = ""
    return out


def loss(program, folder, train, target, method, flags):
    model = os.path.join(folder, "model.json")
    subprocess.run(
        [program, "fit", train, "--target", target, "--label", "label", "--method", method, "-q", "-o", model,
         "--threads", "1", "--accept-unconverged", *flags],
        check=True, stderr=subprocess.DEVNULL)
    scores = subprocess.run(
        [program, "evaluate", model, os.path.join(folder, "truth.csv"), "--json", "--threads", "1"],
        check=True, capture_output=True, text=True)
    value = json.loads(scores.stdout)["log_loss"]
    return math.inf if value is None else value / math.log(2)


def main():
    program, tasks = sys.argv[1:3]
    lines = []
    print("| task | removed | method | drop | impute | indicator |\n|---|---|---|---|---|---|")
    for task in sorted(os.listdir(tasks)):
        path = os.path.join(tasks, task)
        if not os.path.exists(os.path.join(path, "truth.csv.gz")):
            continue
        header, train = read(os.path.join(path, "train.csv.gz"))
        names, truth = read(os.path.join(path, "truth.csv.gz"))
        inputs, target = read(os.path.join(path, "target.csv.gz"))
        if len(header) > 60 or "label" not in header:
            continue
        if names != header:  # the labels of the target's rows alone
            truth = [[row[inputs.index(n)] if n in inputs else label[names.index("label")]
                      for n in header] for row, label in zip(target, truth)]
        features = [c for c, name in enumerate(header) if name != "label"][::2]
        limits = {}
        for c in features:
            values = sorted(row[c] for row in train)
            numbers = sorted(v for v in (number(x) for x in values) if v is not None)
            limits[c] = numbers[len(numbers) // 2] if numbers else values[0]
        for kind in ("random", "high"):
            source = random.Random(7)
            few = features[:4]  # so that complete rows are left
            holes = removed(train, few, limits, kind, source)
            later = removed(truth, few, limits, kind, source)
            complete = [row for row in holes if all(row[c] for c in few)]
            with tempfile.TemporaryDirectory() as folder:
                def file(name, rows):
                    write(os.path.join(folder, name), header, rows)
                    return os.path.join(folder, name)
                file("truth.csv", later)
                new = file("target.csv", later)
                for method in ("lr", "auto"):
                    line = [loss(program, folder, file("t.csv", complete), new, method, ["--missing", "impute"])]
                    for rule in ("impute", "indicator"):
                        line.append(loss(program, folder, file("t.csv", holes), new, method, ["--missing", rule]))
                    print(f"| {task} | {kind} | {method} | " + " | ".join(f"{v:.3f}" for v in line) + " |",
                          flush=True)
                    lines.append(line)
    rules = ("drop", "impute", "indicator")
    print("\nmean: " + ", ".join(f"{rule} {sum(x[k] for x in lines) / len(lines):.3f}" for k, rule in enumerate(rules)))
    for a, b in ((2, 1), (2, 0), (1, 0)):
        wins = sum(x[a] < x[b] - 0.001 for x in lines)
        losses = sum(x[a] > x[b] + 0.001 for x in lines)
        print(f"{rules[a]} against {rules[b]}: better in {wins}, worse in {losses} of {len(lines)}")


if __name__ == "__main__":
    main()
