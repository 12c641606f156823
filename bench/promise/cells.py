"""Bounds that a fit promises for tables of yes and no, whose rows are often equal by chance, against the truth.

    cells.py [--problems 150]       (run by the Python that has covshift: build/python/venv/bin/python)

Independent columns whose shares move in the target, P(y|x) logistic, 500 rows in each sample, the ratio estimated. The truth is the
log loss on 20,000 target rows, averaged over P(y|x). docs/certificate.md has the results.
"""

import argparse

import numpy as np

import covshift

ROWS = 500


def problem(seed, columns, moved):
    generator = np.random.default_rng(seed)
    slope = generator.normal(size=columns) * 1.2
    share = generator.uniform(0.25, 0.75, columns)
    there = np.clip(share + generator.uniform(-moved, moved, columns), 0.05, 0.95)
    train, target, many = (
        (generator.random((rows, columns)) < p) * 1.0 for rows, p in ((ROWS, share), (ROWS, there), (20000, there))
    )

    def of_one(x):
        return 1 / (1 + np.exp(-(x - 0.5) @ slope))

    return train, (generator.random(ROWS) < of_one(train)) * 1, target, many, of_one(many)


def run(columns, moved, method, problems):
    ratios = []
    for seed in range(problems):
        x, y, x_target, many, p = problem(seed, columns, moved)
        model = covshift.RobustClassifier(threads=1) if method == "auto" else getattr(covshift, method)(threads=1)
        bound = model.fit(x, y, x_target).certificate_.bound
        if bound is not None:
            q = model.predict_proba(many)[:, 1]
            ratios.append(bound / -(p * np.log(q) + (1 - p) * np.log(1 - q)).mean())
    held = sum(ratio >= 1 for ratio in ratios)
    print(f"{method}, {columns} columns moved by up to {moved}: {len(ratios)} of {problems} stated, {held} of these held, "
          f"median of bound over truth {np.median(ratios):.3f}", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--problems", type=int, default=150)
    problems = parser.parse_args().problems
    for columns, moved in ((3, 0), (3, 0.2), (6, 0), (6, 0.2), (10, 0.2)):
        run(columns, moved, "robust", problems)
    run(6, 0.2, "auto", problems * 2 // 5)


if __name__ == "__main__":
    main()
