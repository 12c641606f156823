"""Coverage of the intervals that covshift.estimate gives for scikit-learn's scorers, on simulated problems.

    scorers.py [--problems 300]       (run by the Python that has covshift: build/python/venv/bin/python)

Gaussians with another mean in the target, P(y|x) not linear, a logistic regression fitted to other rows as the classifier
to judge; 200 to 2,000 labelled and as many target rows, 2 to 6 columns. The truth is the score on 40,000 labelled target
rows. Takes some seconds for a problem: 400 resamples of every scorer.
"""

import argparse

import numpy as np
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import get_scorer

import covshift

SCORERS = ("accuracy", "balanced_accuracy", "f1", "roc_auc", "average_precision")


def draw(generator, rows, mean):
    x = generator.normal(size=(rows, len(mean))) + mean
    score = 1.5 * x[:, 0] + np.sin(2 * x[:, 1]) + 0.7 * x[:, 0] * x[:, 1]
    return x, (generator.random(rows) < 1 / (1 + np.exp(-score))).astype(int)


def problem(seed):
    generator = np.random.default_rng(seed)
    columns = int(generator.integers(2, 7))
    rows = int(round(200 * 10 ** generator.random()))
    mean = generator.normal(size=columns)
    mean *= generator.choice([0.0, 0.3, 0.6, 1.0]) / np.linalg.norm(mean)
    none = np.zeros(columns)
    model = LogisticRegression().fit(*draw(generator, rows, none))
    return model, draw(generator, rows, none), draw(generator, rows, mean)[0], draw(generator, 40000, mean)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--problems", type=int, default=300)
    problems = parser.parse_args().problems
    held = {name: [] for name in SCORERS}
    width = {name: [] for name in SCORERS}
    told = 0
    for seed in range(problems):
        model, (x, y), x_target, (x_many, y_many) = problem(seed)
        found = covshift.estimate(model, x, y, x_target, scoring=SCORERS[1:], threads=1, random_state=seed)
        if not found.can_tell:
            continue
        told += 1
        # "accuracy" is the doubly robust estimate, for comparison.
        for name in SCORERS:
            truth = get_scorer(name)(model, x_many, y_many)
            held[name].append(found[name]["low"] <= truth <= found[name]["high"])
            width[name].append(found[name]["high"] - found[name]["low"])
    print(f"{problems} problems, something could be told in {told}; 95% intervals")
    for name in SCORERS:
        share = np.mean(held[name])
        print(f"{name:18} hold {100 * share:5.1f}% +- {100 * np.sqrt(share * (1 - share) / told):.1f}%, "
              f"mean width {np.mean(width[name]):.3f}")


if __name__ == "__main__":
    main()
