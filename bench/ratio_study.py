#!/usr/bin/env python3
"""What the estimated density ratio is worth, seen from outside: the numbers of docs/ratio.md.

    bench/ratio_study.py gaussians [--program build/covshift] [--folds] [--other OLD]... [--ratio NAME]... [--problems 200]
    bench/ratio_study.py steady --data DIR [--program build/covshift] [--method NAME]... [--lambda X]

`gaussians`: samples of known Gaussians, whose exact log ratio is known; of each program and
estimator (--ratio) the correlation with it, the bias and the error of the mean weight, on fresh rows. --folds
adds the rule that the program had before, written in numpy: lambda by five folds, no bound.
`steady`: for every task in DIR (train.csv.gz, target.csv.gz), how far the probabilities of a fit move
under a jitter of 1e-7 of each column's range, rounding to float32, reversed columns and another seed, how many of them are
exactly 0 or 1, and the fit's seconds of wall and processor time (two threads). Needs numpy. The load
average is printed beside the numbers.
"""

import argparse
import csv
import gzip
import os
import re
import resource
import subprocess
import tempfile
import time
from pathlib import Path

import numpy as np


def run(program, *arguments):
    subprocess.run([program, *map(str, arguments)], check=True, capture_output=True)


def write(path, header, rows):
    with open(path, "w", newline="") as file:
        out = csv.writer(file)
        out.writerow(header)
        out.writerows(rows)


def read(path, prefix):
    with open(path, newline="") as file:
        rows = list(csv.DictReader(file))
    names = [name for name in rows[0] if name.startswith(prefix)]
    return np.array([[float(row[name]) for name in names] for row in rows])


def problem(seed):
    """Two Gaussians in 1 to 20 dimensions, 50 to 5,000 rows each; every second pair differs in its
    variances as well as its means."""
    random = np.random.default_rng(seed)
    d = int(random.integers(1, 21))
    sizes = [int(n) for n in np.exp(random.uniform(np.log(50), np.log(5000), 2))]
    shift = random.normal(size=d)
    shift *= random.uniform(0, 2) / np.linalg.norm(shift)
    spread = np.ones(d) if seed % 2 == 0 else random.uniform(0.7, 1.3, d)
    train, fresh_train = (random.normal(size=(n, d)) for n in (sizes[0], 2000))
    target, fresh_target = (random.normal(size=(n, d)) * spread + shift for n in (sizes[1], 2000))
    fresh = np.vstack([fresh_train, fresh_target])
    exact = (fresh**2 - ((fresh - shift) / spread) ** 2).sum(1) / 2 - np.log(spread).sum()
    return train, target, fresh, exact


def samples(folder, train, target, fresh):
    """The files that every program reads."""
    names = [f"x{j}" for j in range(train.shape[1])]
    labelled = np.column_stack([train, np.arange(len(train)) % 2])
    for name, header, rows in (("train", [*names, "y"], labelled), ("target", names, target),
                               ("fresh", names, fresh)):
        np.savetxt(folder / f"{name}.csv", rows, fmt="%.9g", delimiter=",", comments="",
                   header=",".join(header))


def log_ratio(program, ratio, folder):
    """The estimate at the fresh rows, and the logarithm of the largest weight in use."""
    run(program, "fit", folder / "train.csv", "--target", folder / "target.csv", "--label", "y",
        "--method", "iw", "--lambda", 1, "-o", folder / "m.json", "-q", "--threads", 1,
        *(["--ratio", ratio] if ratio else []))
    run(program, "predict", folder / "m.json", folder / "fresh.csv", "-o", folder / "p.csv", "-q",
        "--threads", 1)
    found = re.search(r'"bound":\s*\[([^,\]]+)', (folder / "m.json").read_text())
    return read(folder / "p.csv", "log_ratio")[:, 0], float(found[1]) if found else np.inf


FOLDS = "five folds, no bound"


def logistic(X, t, lam, start):
    """Newton's method for mean log(1 + e^-t z) + lam |u|^2; the last column of X is the free bias."""
    u = start
    penalty = 2 * lam * np.r_[np.ones(X.shape[1] - 1), 0]
    loss = lambda v: np.logaddexp(0, -t * (X @ v)).mean() + 0.5 * (penalty * v * v).sum()
    for _ in range(100):
        p = 1 / (1 + np.exp(t * (X @ u)))
        gradient = -(X.T @ (t * p)) / len(t) + penalty * u
        curvature = (X.T * (p * (1 - p))) @ X / len(t) + np.diag(penalty + 1e-12)
        step = np.linalg.solve(curvature, gradient)
        length, now = 1.0, loss(u)
        while loss(u - length * step) > now and length > 1e-6:
            length /= 2
        u = u - length * step
        if abs(step).max() < 1e-9:
            break
    return u


def by_folds(train, target, fresh):
    """The rule before: the lambda of 10, 10^.5 .. 1e-6 under which the samples of rows held out in
    five folds are likeliest, raised until the weights keep half the rows or 100 (`stable`)."""
    mean, deviation = train.mean(0), train.std(0)
    design = lambda x: np.column_stack([(x - mean) / deviation, np.ones(len(x))])
    X, t = design(np.vstack([train, target])), np.r_[-np.ones(len(train)), np.ones(len(target))]
    random = np.random.default_rng(0)
    fold = np.concatenate([random.permutation(np.arange(n) % 5) for n in (len(train), len(target))])
    grid = 10.0 ** np.arange(1, -6.1, -0.5)
    score = np.zeros(len(grid))
    for f in range(5):
        kept, u = fold != f, np.zeros(X.shape[1])
        for g, lam in enumerate(grid):
            u = logistic(X[kept], t[kept], lam, u)
            score[g] -= np.logaddexp(0, -t[~kept] * (X[~kept] @ u)).mean()
    lam = grid[score.argmax()]
    while True:
        u = logistic(X, t, lam, np.zeros(X.shape[1]))
        weight = np.exp(X[: len(train)] @ u)
        if weight.sum() ** 2 / (weight**2).sum() >= min(len(train) / 2, 100):
            return design(fresh) @ u + np.log(len(train) / len(target)), np.inf
        lam *= np.sqrt(10)


def judged(estimate, bound, exact):
    """Correlation, |bias| and root mean square error of log ratios; the error of the mean of the
    weights in use over fresh training rows, the first half."""
    varies = estimate.std() > 1e-12
    weight = np.exp(np.minimum(estimate[: len(estimate) // 2], bound))
    return (
        np.corrcoef(estimate, exact)[0, 1] if varies else 0.0,
        abs((estimate - exact).mean()),
        np.sqrt(((estimate - exact) ** 2).mean()),
        abs(weight.mean() - 1),
    )


def gaussians(options):
    programs = [(p, "") for p in options.other or []]
    programs += [(FOLDS, "")] if options.folds else []
    programs += [(options.program, ratio) for ratio in options.ratio or [""]]
    scores = {p: [] for p in programs}
    with tempfile.TemporaryDirectory() as name:
        for seed in range(options.problems):
            train, target, fresh, exact = problem(seed)
            samples(Path(name), train, target, fresh)
            for program in programs:
                found = (by_folds(train, target, fresh) if program[0] == FOLDS
                         else log_ratio(*program, Path(name)))
                scores[program].append(judged(*found, exact))
    print(f"{options.problems} problems, load {os.getloadavg()[0]:.1f}")
    print("| program | problems | correlation | |bias| | root mean square error | |mean weight - 1| |")
    print("|---|---|---|---|---|---|")
    rows = {program: np.array(scores[program]) for program in programs}
    for which, use in (("means differ", slice(0, None, 2)), ("means and spreads", slice(1, None, 2)),
                       ("all", slice(None))):
        for program in programs:
            print(f"| {' '.join(program).strip()} | {which} | " +
                  " | ".join(f"{v:.4f}" for v in rows[program][use].mean(axis=0)) + " |")
            print(f"| {' '.join(program).strip()} | {which}, median | " +
                  " | ".join(f"{v:.4f}" for v in np.median(rows[program][use], axis=0)) + " |")
            if program != programs[0]:
                less = rows[program][use] - rows[programs[0]][use]
                error = less.std(axis=0, ddof=1) / np.sqrt(len(less))
                print(f"| {' '.join(program).strip()} | {which}, less the first | " +
                      " | ".join(f"{v:+.4f} +- {e:.4f}" for v, e in zip(less.mean(axis=0), error)) + " |")


def change(header, rows, how):
    """Rows of text with their numbers changed: each column by 1e-7 of its range, or rounded; other
    columns, and constant ones, stay."""
    random = np.random.default_rng(1)
    columns = list(zip(*rows))
    for j, name in enumerate(header):
        if name == "label" or not all(map(is_number, columns[j])):
            continue
        x = np.array(columns[j], float)
        moved = x + 1e-7 * np.ptp(x) * random.normal(size=len(x))
        columns[j] = [repr(float(v)) for v in (moved if how == "jitter" else np.float32(x))]
    return list(zip(*columns))


def is_number(text):
    try:
        float(text)
        return True
    except ValueError:
        return False


def table(path):
    with gzip.open(path, "rt", newline="") as file:
        rows = list(csv.reader(file))
    return rows[0], rows[1:]


def probabilities(program, folder, train, target, *flags):
    for name, (header, rows) in (("train", train), ("target", target)):
        write(folder / f"{name}.csv", header, rows)
    processor = lambda: sum(resource.getrusage(resource.RUSAGE_CHILDREN)[:2])
    begin = time.perf_counter(), processor()
    run(program, "fit", folder / "train.csv", "--target", folder / "target.csv", "--label", "label",
        "-o", folder / "m.json", "-q", "--threads", 2, *flags)
    seconds = time.perf_counter() - begin[0], processor() - begin[1]
    run(program, "predict", folder / "m.json", folder / "target.csv", "-o", folder / "p.csv", "-q")
    return read(folder / "p.csv", "p:"), seconds


def moves(fit, train, target):
    """The probabilities, how far each change of the data moves them, and the seconds."""
    plain, seconds = fit(train, target)
    moved = []
    for how in ("jitter", "float32"):
        other, _ = fit(*((h, change(h, rows, how)) for h, rows in (train, target)))
        moved.append(abs(other - plain).max())
    other, _ = fit(*((h[::-1], [r[::-1] for r in rows]) for h, rows in (train, target)))
    moved.append(abs(other - plain).max())
    other, _ = fit(train, target, "--seed", 1)
    moved.append(abs(other - plain).max())
    return plain, moved, seconds


def steady(options):
    print(f"load {os.getloadavg()[0]:.1f}")
    print("| task | method | wall s | processor s | jitter | float32 | columns | seed | exactly 0 or 1 |")
    print("|---|---|---|---|---|---|---|---|---|")
    worst = {}
    tasks = sorted(p for p in Path(options.data).iterdir() if p.is_dir())
    for task in (t for t in tasks if not options.task or t.name in options.task):
        train, target = (table(task / f"{name}.csv.gz") for name in ("train", "target"))
        for method in options.method or ["auto"]:
            with tempfile.TemporaryDirectory() as name:
                given = ["--method", method, *(["--lambda", options.lam] if options.lam else [])]
                fit = lambda a, b, *flags: probabilities(
                    options.program, Path(name), a, b, *given, *flags)
                plain, moved, seconds = moves(fit, train, target)
            certain = int(((plain == 0) | (plain == 1)).sum())
            worst[method] = np.maximum(worst.get(method, 0), [*seconds, *moved, certain])
            print(f"| {task.name} | {method} | {seconds[0]:.2f} | {seconds[1]:.2f} | " +
                  " | ".join(f"{m:.1e}" for m in moved) + f" | {certain} |", flush=True)
    for method, w in worst.items():
        print(f"| worst | {method} | {w[0]:.2f} | {w[1]:.2f} | " +
              " | ".join(f"{m:.1e}" for m in w[2:6]) + f" | {w[6]:.0f} |")
    print(f"load {os.getloadavg()[0]:.1f}")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    commands = parser.add_subparsers(required=True)
    for run_command in (gaussians, steady):
        command = commands.add_parser(run_command.__name__)
        command.set_defaults(run=run_command)
        command.add_argument("--program", default="build/covshift")
        if run_command is gaussians:
            command.add_argument("--other", action="append",
                                 help="another version of the program, to compare with")
            command.add_argument("--folds", action="store_true",
                                 help="beside the rule that the program had before, in numpy")
            command.add_argument("--ratio", action="append", help="an estimator, by name")
            command.add_argument("--problems", type=int, default=200)
        else:
            command.add_argument("--data", required=True)
            command.add_argument("--method", action="append", help="auto by default")
            command.add_argument("--task", action="append", help="of these folders only")
            command.add_argument("--lambda", dest="lam", help="fixed: the ratio alone is chosen")
    options = parser.parse_args()
    options.run(options)


if __name__ == "__main__":
    main()
