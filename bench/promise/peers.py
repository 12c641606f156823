"""covshift's estimates and prediction sets beside other packages', in one run.

    peers.py --program build/covshift [--problems 40] [--data DIR]

Simulated problems with a known truth: Gaussians with another mean in the target, P(y|x) not linear, a logistic
regression fitted to other rows as the classifier to judge. Estimates of its accuracy on the target: covshift's doubly
robust one, nannyml's CBPE, a plain importance-weighted mean (with covshift's weights) and the mean without weights.
90% sets around the same classifier: weighted by covshift's ratio, puncc's with the same weights, MAPIE's, which ignore
the shift. With --data, the sets that `covshift predict --sets` gives for the biased tasks of that folder as well.
Versions are printed first. docs/promise.md has the results.
"""

import argparse
import csv
import gzip
import importlib.metadata
import json
import os
import subprocess
import tempfile
import warnings

import numpy as np
from sklearn.linear_model import LogisticRegression

warnings.filterwarnings("ignore")
os.environ["NML_DISABLE_USAGE_LOGGING"] = "1"  # nannyml would report its use to its makers
ALPHA = 0.1
BIASED = ("phoneme-biased", "ringnorm-biased", "weather-cold-to-warm")


def draw(generator, rows, mean):
    x = generator.normal(size=(rows, len(mean))) + mean
    score = 1.5 * x[:, 0] + np.sin(2 * x[:, 1]) + 0.7 * x[:, 0] * x[:, 1]
    return x, (generator.random(rows) < 1 / (1 + np.exp(-score))).astype(int)


def write(path, x, p, y=None):
    with open(path, "w", newline="") as file:
        out = csv.writer(file)
        out.writerow([f"x{j}" for j in range(x.shape[1])] + ["p:0", "p:1"] + ([] if y is None else ["y"]))
        for i in range(len(x)):
            out.writerow([*x[i], *p[i]] + ([] if y is None else [y[i]]))


def run(program, *arguments):
    return json.loads(subprocess.run([program, *arguments, "--json"], check=True, capture_output=True, text=True).stdout)


def log_ratios(program, folder, x, x_target, many):
    """By covshift: fit without maps, then the log ratio of any rows."""
    names = [f"x{j}" for j in range(x.shape[1])]

    def table(name, rows, label=None):
        path = os.path.join(folder, name)
        with open(path, "w", newline="") as file:
            out = csv.writer(file)
            out.writerow(names + ([] if label is None else ["y"]))
            out.writerows([*row] + ([] if label is None else [label[i]]) for i, row in enumerate(rows))
        return path

    model = os.path.join(folder, "ratio.json")
    any_label = np.arange(len(x)) % 2  # only the ratio is used
    run(program, "fit", table("a.csv", x, any_label), "--target", table("b.csv", x_target), "--label", "y", "--method",
        "iw", "--lambda", "1", "--ratio-lambda", "cv", "-o", model)
    found = run(program, "predict", model, table("c.csv", np.vstack([x, many])))["rows"]
    ratio = np.array([row["log_ratio"] for row in found])
    return ratio[: len(x)], ratio[len(x):]


def by_cbpe(x, p, y, x_target, p_target):
    import nannyml
    import pandas as pd

    def frame(p):
        return pd.DataFrame({"p": p[:, 1], "predicted": p.argmax(1)})

    estimator = nannyml.CBPE(problem_type="classification_binary", y_pred_proba="p", y_pred="predicted", y_true="y",
                             metrics=["accuracy"], chunk_number=1)
    estimator.fit(frame(p).assign(y=y))
    result = estimator.estimate(frame(p_target)).filter(period="analysis").to_df()
    return float(result[("accuracy", "value")].iloc[0])


def covered(sets, y):
    return sets[np.arange(len(y)), y].mean(), sets.sum(1).mean()


def by_puncc(p, y, weight, p_target):
    from deel.puncc.api import calibration, nonconformity_scores, prediction_sets

    own = calibration.BaseCalibrator(nonconf_score_func=nonconformity_scores.lac_score, pred_set_func=prediction_sets.lac_set)
    own.fit(y_true=y, y_pred=p)
    sets = own.calibrate(alpha=ALPHA, y_pred=p_target, weights=own.barber_weights(weight))[0]
    return np.array([[c in s for c in range(p.shape[1])] for s in sets])


def by_mapie(model, x, y, x_target):
    from mapie.classification import SplitConformalClassifier

    own = SplitConformalClassifier(model, confidence_level=1 - ALPHA, prefit=True)
    own.conformalize(x, y)
    return own.predict_set(x_target)[1][:, :, 0]


def by_covshift(p, y, log_weight, p_target, target_log_weight):
    """Weighted split conformal, as covshift/promise/conformal.cpp has it."""
    score, weight = 1 - p[np.arange(len(y)), y], np.exp(log_weight)
    order = np.argsort(score)
    total = np.cumsum(weight[order])
    needed = (1 - ALPHA) * (total[-1] + np.exp(target_log_weight)) * (1 - 1e-12)
    at = np.searchsorted(total, needed)
    q = np.where(at < len(score), np.append(score[order], np.inf)[at], np.inf)
    sets = 1 - p_target <= q[:, None] + 1e-12
    sets[np.arange(len(p_target)), p_target.argmax(1)] = True
    return sets


def simulated(program, problems):
    errors, inside, sets = {}, [], {}
    for seed in range(problems):
        generator = np.random.default_rng(seed)
        mean = np.zeros(3)
        mean[:2] = generator.uniform(0, 1, 2)
        model = LogisticRegression().fit(*draw(generator, 500, np.zeros(3)))
        x, y = draw(generator, 600, np.zeros(3))
        x_target, _ = draw(generator, 600, mean)
        x_true, y_true = draw(generator, 10000, mean)
        truth = (model.predict(x_true) == y_true).mean()
        p, p_target, p_true = (model.predict_proba(z) for z in (x, x_target, x_true))
        with tempfile.TemporaryDirectory() as folder:
            a, b = os.path.join(folder, "labelled.csv"), os.path.join(folder, "target.csv")
            write(a, x, p, y)
            write(b, x_target, p_target)
            found = run(program, "estimate", a, "--target", b, "--label", "y")
            log_weight, target_log_weight = log_ratios(program, folder, x, x_target, x_true)
        own = next(e for e in found["estimates"] if e["metric"] == "accuracy" and e["method"] == "doubly_robust")
        inside.append(own["low"] <= truth <= own["high"])
        right, weight = p.argmax(1) == y, np.exp(log_weight)
        for name, value in (("covshift, doubly robust", own["value"]), ("nannyml CBPE", by_cbpe(x, p, y, x_target, p_target)),
                            ("importance-weighted mean", (weight * right).sum() / weight.sum()), ("mean without weights", right.mean())):
            errors.setdefault(name, []).append(value - truth)
        for name, found_sets in (("covshift", by_covshift(p, y, log_weight, p_true, target_log_weight)),
                                 ("puncc, same weights", by_puncc(p, y, weight, p_true)),
                                 ("MAPIE, no weights", by_mapie(model, x, y, x_true))):
            sets.setdefault(name, []).append(covered(found_sets, y_true))
    print(f"\nAccuracy on the target, {problems} problems; truth inside covshift's 95% interval in {100 * np.mean(inside):.0f}%")
    for name, e in errors.items():
        print(f"  {name:26} mean error {np.mean(e):+.4f}, root mean square {np.sqrt(np.mean(np.square(e))):.4f}")
    print_sets(f"{100 * (1 - ALPHA):.0f}% sets, {problems} problems", sets)


def print_sets(title, sets):
    print(f"\n{title}")
    for name, found in sets.items():
        share, size = np.array(found).T
        error = share.std(ddof=1) / np.sqrt(len(share)) if len(share) > 1 else 0
        print(f"  {name:26} cover {share.mean():.4f} +- {error:.4f} (least {share.min():.3f}), mean size {size.mean():.3f}")


def task_sets(program, data):
    for task in BIASED:
        with gzip.open(os.path.join(data, task, "truth.csv.gz"), "rt") as file:
            y = [row[0] for row in csv.reader(file)][1:]
        train, target = (os.path.join(data, task, name) for name in ("train.csv.gz", "target.csv.gz"))
        with tempfile.TemporaryDirectory() as folder:
            model = os.path.join(folder, "m.json")
            certificate = run(program, "fit", train, "--target", target, "--label", "label", "-o", model)["certificate"]
            rows = run(program, "predict", model, target, "--sets", str(ALPHA))["rows"]
        hit = np.array([label in row["set"] for row, label in zip(rows, y)])
        loss = -np.log([row["p"][label] for row, label in zip(rows, y)])
        bound = certificate["bound"]
        print(f"  {task:22} cover {hit.mean():.4f} +- {hit.std() / np.sqrt(len(hit)):.4f}, mean size "
              f"{np.mean([len(row['set']) for row in rows]):.3f}; log loss {loss.mean():.4f} nats, promised "
              f"{'nothing: ' + certificate['reason'] if bound is None else format(bound, '.4f')}")


def main():
    arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    arguments.add_argument("--program", required=True)
    arguments.add_argument("--problems", type=int, default=40)
    arguments.add_argument("--data")
    given = arguments.parse_args()
    for package in ("nannyml", "mapie", "puncc", "scikit-learn", "numpy"):
        print(package, importlib.metadata.version(package))
    if given.data:
        print("\n90% sets of covshift's default on the target, and its promise")
        task_sets(given.program, given.data)
    simulated(given.program, given.problems)


if __name__ == "__main__":
    main()
