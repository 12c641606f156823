"""Shifts that a linear log ratio cannot describe, or that leave the training data: do stated bounds hold?

    hard.py --program build/covshift [--problems 60] [--rows 300] [--methods robust,overlap,auto] [--designs spread,far] [--ratio R]

For every design and method: problems for which a bound was stated, how many of these held on 20,000 rows of the target,
the median of truth over bound, and what the 90% sets covered there. docs/certificate.md has the results.
"""

import argparse
import csv
import io
import json
import os
import subprocess
import tempfile

import numpy as np


def sigmoid(z):
    return 1 / (1 + np.exp(-z))


def normal(generator, rows, columns, mean=0.0, spread=1.0):
    return generator.normal(size=(rows, columns)) * spread + mean


def with_cluster(generator, rows, share, centre, spread):
    """Normal rows of two columns, a share of them in a cluster."""
    x = normal(generator, rows, 2)
    inside = generator.random(rows) < share
    x[inside] = normal(generator, inside.sum(), 2, centre, spread)
    return x


def correlated(generator, rows, correlation):
    a, b = generator.normal(size=(2, rows))
    return np.column_stack([a, correlation * a + np.sqrt(1 - correlation**2) * b])


def groups(generator, rows, shares):
    """Six groups on a circle."""
    angle = generator.choice(6, size=rows, p=shares) * np.pi / 3
    return 3 * np.column_stack([np.cos(angle), np.sin(angle)]) + 0.5 * generator.normal(size=(rows, 2))


FIRST = np.array([0.3, 0.05, 0.3, 0.05, 0.25, 0.05])
# name: (training rows, target rows, P(y = 1 | x)); rows are functions of a generator and a number of rows
DESIGNS = {
    "spread": (lambda g, n: normal(g, n, 2), lambda g, n: normal(g, n, 2, spread=[1.8, 1.0]),
               lambda x: sigmoid(2 * (x[:, 0] ** 2 - 2))),
    "interaction": (lambda g, n: correlated(g, n, 0.6), lambda g, n: correlated(g, n, -0.6),
                    lambda x: sigmoid(2.5 * x[:, 0] * x[:, 1])),
    "spot": (lambda g, n: normal(g, n, 2), lambda g, n: with_cluster(g, n, 0.25, [1.5, 0.0], 0.1),
             lambda x: np.where(np.abs(x - [1.5, 0.0]).max(axis=1) < 0.3, 0.05, sigmoid(3 * x[:, 0]))),
    "groups": (lambda g, n: groups(g, n, FIRST), lambda g, n: groups(g, n, FIRST[::-1]),
               lambda x: sigmoid(3 * np.cos(3 * np.arctan2(x[:, 1], x[:, 0])))),
    "far": (lambda g, n: normal(g, n, 2), lambda g, n: with_cluster(g, n, 0.08, [6.0, 0.0], 0.3),
            lambda x: np.where(x[:, 0] > 4, 0.02, sigmoid(3 * x[:, 0]))),
    "mean": (lambda g, n: normal(g, n, 5), lambda g, n: normal(g, n, 5, [1.3, 0, 0, 0, 0]),
             lambda x: sigmoid(1.5 * x[:, 0] - x[:, 1] + 0.8 * x[:, 0] * x[:, 1])),
    "columns": (lambda g, n: normal(g, n, 60), lambda g, n: normal(g, n, 60, [1.0] + [0] * 59),
                lambda x: sigmoid(2 * x[:, 0] + x[:, 1] - 1.5)),
    "rare": (lambda g, n: normal(g, n, 4), lambda g, n: normal(g, n, 4, [0.8, 0, 0, 0]),
             lambda x: sigmoid(-5 + 1.8 * x[:, 0] + x[:, 1])),
    "tails": (lambda g, n: g.standard_t(2.5, size=(n, 3)), lambda g, n: g.standard_t(2.5, size=(n, 3)) + [1.0, 0, 0],
              lambda x: sigmoid(1.5 * x[:, 0] * np.sign(x[:, 1]))),
    "none": (lambda g, n: normal(g, n, 5), lambda g, n: normal(g, n, 5), lambda x: sigmoid(1.5 * x[:, 0] - x[:, 1])),
}


def write(path, x, y=None):
    header = [f"x{j}" for j in range(x.shape[1])] + ([] if y is None else ["y"])
    np.savetxt(path, x if y is None else np.column_stack([x, y]), delimiter=",", fmt="%.8g", header=",".join(header),
               comments="")


def run(*command):
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode != 0:
        raise RuntimeError(done.stderr[-300:])
    return done.stdout


def judge(program, folder, design, method, rows, seed, more):
    """(bound or None, truth, coverage of 90% sets) of one problem."""
    train, target, probability = DESIGNS[design]
    generator = np.random.default_rng([seed, rows, sorted(DESIGNS).index(design)])
    x = train(generator, rows)
    y = (generator.random(rows) < probability(x)).astype(int)
    if len(set(y)) < 2:
        return None
    names = [os.path.join(folder, name) for name in ("train.csv", "new.csv", "many.csv", "model.json")]
    many = target(generator, 20000)
    for path, *columns in zip(names, (x, target(generator, rows), many), (y, None, None)):
        write(path, *columns)
    found = json.loads(run(program, "fit", names[0], "--target", names[1], "--label", "y", "--method", method, "-o", names[3],
                           "--json", "-q", "--threads", "1", *more))
    bound = found["certificate"]["bound"]
    if bound is None:
        return bound, 0, 0
    table = list(csv.DictReader(io.StringIO(run(program, "predict", names[3], names[2], "--sets", "0.1", "--threads", "1",
                                                "-q"))))
    p, inside = (np.array([[float(row[f"{kind}:{k}"]) for k in (0, 1)] for row in table]) for kind in ("p", "set"))
    truth = np.column_stack([1 - probability(many), probability(many)])
    loss = 1 - p if "01" in method else -np.log(p)
    return bound, (truth * loss).sum(axis=1).mean(), (truth * inside).sum(axis=1).mean()


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--program", required=True)
    parser.add_argument("--problems", type=int, default=60)
    parser.add_argument("--rows", type=int, default=300)
    parser.add_argument("--methods", default="robust,overlap,auto")
    parser.add_argument("--designs", default=",".join(DESIGNS))
    parser.add_argument("--ratio", default="logistic")
    options = parser.parse_args()
    print("design       method      problems  stated  held  median truth/bound  90% sets cover")
    for design in options.designs.split(","):
        for method in options.methods.split(","):
            with tempfile.TemporaryDirectory() as folder:
                answers = [judge(options.program, folder, design, method, options.rows, seed, ["--ratio", options.ratio])
                           for seed in range(options.problems)]
            stated = [answer for answer in answers if answer and answer[0] is not None]
            held = sum(truth <= bound for bound, truth, _ in stated)
            share = np.median([truth / bound for bound, truth, _ in stated]) if stated else float("nan")
            covered = np.mean([answer[2] for answer in stated]) if stated else float("nan")
            print(f"{design:12} {method:10} {len(answers):9} {len(stated):7} {held:5} {share:19.3f} {covered:15.3f}", flush=True)


if __name__ == "__main__":
    main()
