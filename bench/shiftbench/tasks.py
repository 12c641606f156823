"""The tasks: rows with labels, rows without, and the labels to judge by.

Three sources: a folder of files (`shared`), data sets of scikit-learn split by a recorded mechanism that looks at the
inputs alone (`biased`), and draws from a known P(y|x) (`synthetic`). A task whose name ends in `no-shift` is a control:
training and target are the same in distribution.
"""

from __future__ import annotations

import csv
import gzip
import hashlib
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np


@dataclass(frozen=True)
class Given:
    """What a method may see. Columns are lists of floats or of strings (categories)."""

    names: list
    train: list
    labels: np.ndarray
    target: list
    classes: list

    @property
    def rows(self):
        return len(self.labels)

    def matrices(self):
        """Training and target with categories one-hot (as seen in training), columns standardised by training."""
        blocks = []
        for train, target in zip(self.train, self.target, strict=True):
            if isinstance(train, np.ndarray):
                blocks.append((train[:, None], target[:, None]))
            else:
                seen = sorted(set(train))
                blocks.append(tuple(np.array([[float(v == s) for s in seen] for v in column])
                                    for column in (train, target)))
        X, Z = (np.hstack([block[side] for block in blocks]) for side in (0, 1))
        spread = X.std(0)
        kept = spread > 1e-12 * (1 + np.abs(X.mean(0)))
        centre, spread = X.mean(0)[kept], spread[kept]
        return (X[:, kept] - centre) / spread, (Z[:, kept] - centre) / spread

    def codes(self):
        """Labels as positions in `classes`."""
        return np.searchsorted(self.classes, self.labels)


@dataclass(frozen=True)
class Task:
    name: str
    family: str  # tasks of one family leave a study together
    source: str  # shared, biased or synthetic
    about: str
    given: Given
    truth: np.ndarray = field(repr=False)
    bayes: np.ndarray | None = field(default=None, repr=False)  # P(y|x) of the target's rows where it is known

    @property
    def shifted(self):
        return not self.name.endswith("no-shift")

    def truth_codes(self):
        return np.searchsorted(self.given.classes, self.truth)

    def digest(self):
        """Of everything a method sees: the key of the cache."""
        h = hashlib.sha256()
        for column in (*self.given.train, *self.given.target, self.given.labels):
            h.update(repr(list(column)).encode())
        return h.hexdigest()[:16]


def task(name, family, source, about, X, y, Z, truth, bayes=None):
    X, Z = np.asarray(X, float), np.asarray(Z, float)
    y, truth = np.asarray(y).astype(str), np.asarray(truth).astype(str)
    names = [f"x{j + 1}" for j in range(X.shape[1])]
    given = Given(names, list(X.T), y, list(Z.T), sorted(set(y)))
    return Task(name, family, source, about, given, truth, bayes)


# ---- files -----------------------------------------------------------------------------------------------------

SHARED = {  # family: tasks from the same data leave together
    "electricity": "electricity", "weather": "weather", "bank": "bank", "phoneme": "phoneme",
    "ringnorm": "ringnorm", "adult": "adult", "reviews": "reviews", "gas": "gas",
}


def read(path):
    with gzip.open(path, "rt", newline="", encoding="utf-8") as file:
        rows = list(csv.reader(file))
    return rows[0], list(zip(*rows[1:], strict=True))


def numbers(*columns):
    """The columns as floats if all of their values are numbers, else as they are."""
    try:
        return [np.array(column, float) for column in columns]
    except ValueError:
        return [list(column) for column in columns]


def shared_task(folder):
    header, train = read(folder / "train.csv.gz")
    target_header, target = read(folder / "target.csv.gz")
    _, (truth,) = read(folder / "truth.csv.gz")
    if "label" in target_header:
        raise ValueError(f"{folder / 'target.csv.gz'} has a column 'label': labels of the target belong in truth.csv.gz")
    y = np.array(train[header.index("label")])
    columns = [numbers(train[header.index(n)], target[target_header.index(n)]) for n in target_header]
    given = Given(target_header, [c[0] for c in columns], y, [c[1] for c in columns], sorted(set(y)))
    family = SHARED.get(folder.name.split("-")[0], folder.name)
    return Task(folder.name, family, "shared", "see the folder's README", given, np.array(truth))


def shared(data):
    folder = Path(data) / "shift"
    return [shared_task(f) for f in sorted(folder.iterdir()) if (f / "truth.csv.gz").exists()] if folder.is_dir() else []


# ---- scikit-learn's data, split by a mechanism that looks at the inputs alone ------------------------------------


def score_of(X, mechanism):
    """The direction along which rows are split: a column, the main direction, or the distance from the centre."""
    S = (X - X.mean(0)) / np.where(X.std(0) > 0, X.std(0), 1)
    if mechanism.startswith("column"):
        s = S[:, int(mechanism[6:])]
    elif mechanism == "main":
        s = np.linalg.svd(S, full_matrices=False)[0][:, 0]
        s = s * np.sign(s[np.argmax(np.abs(s))])
    elif mechanism == "far":
        s = np.linalg.norm(S, axis=1)
    else:
        raise ValueError(f"unknown mechanism '{mechanism}' (columnJ, main, far)")
    return (s - s.mean()) / s.std()


def biased(name, family, X, y, mechanism, strength, seed, most=1200):
    """A row belongs to the target with probability 1 / (1 + exp(-strength s(x))): P(y|x) is the same on both sides.
    Strength 0 is the control."""
    random = np.random.default_rng(seed)
    rows = random.permutation(len(X))[: 2 * most]
    X, y = X[rows], y[rows]
    s = score_of(X, mechanism) if strength else np.zeros(len(X))
    to_target = random.random(len(X)) < 1 / (1 + np.exp(-strength * s))
    known = np.isin(y, y[~to_target])
    about = (f"scikit-learn's {family}; a row goes to the target with probability 1/(1+exp(-{strength:g} s)), "
             f"s: {mechanism}" if strength else f"scikit-learn's {family}, split at random")
    train, target = ~to_target, to_target & known
    return task(name, family, "biased", about, X[train], y[train], X[target], y[target])


def from_scikit_learn():
    from sklearn import datasets

    def load(which):
        data = getattr(datasets, f"load_{which}")()
        return data.data, data.target

    breast, wine, iris, digits = (load(w) for w in ("breast_cancer", "wine", "iris", "digits"))
    X, d = digits
    parity = (X, d % 2)
    pair = (X[np.isin(d, (3, 8))], d[np.isin(d, (3, 8))])
    low = (X, (d > 4).astype(int))
    table = [
        ("breast-main", "breast cancer", breast, "main", 2, 11), ("breast-column", "breast cancer", breast, "column1", 3, 12),
        ("breast-far", "breast cancer", breast, "far", 2, 13), ("breast-no-shift", "breast cancer", breast, "", 0, 14),
        ("wine-main", "wine", wine, "main", 1.5, 21), ("wine-column", "wine", wine, "column4", 2, 22),
        ("wine-no-shift", "wine", wine, "", 0, 23),
        ("iris-column", "iris", iris, "column1", 2, 31), ("iris-far", "iris", iris, "far", 1, 32),
        ("iris-no-shift", "iris", iris, "", 0, 33),
        ("digits-parity-main", "digits parity", parity, "main", 3, 41),
        ("digits-low-far", "digits low", low, "far", 2, 42), ("digits-3or8-column", "digits 3 or 8", pair, "column20", 2, 43),
        ("digits-parity-no-shift", "digits parity", parity, "", 0, 44),
    ]
    return [biased(name, family, *data, mechanism, strength, seed)
            for name, family, data, mechanism, strength, seed in table]


# ---- draws from a known P(y|x) -----------------------------------------------------------------------------------


def sigmoid(t):
    return 1 / (1 + np.exp(-np.clip(t, -500, 500)))


def gaussian(d, shift=0.0, spread=1.0):
    """Rows of d independent normal columns; the shift is along (1, ..., 1)/sqrt(d)."""
    return lambda random, n: random.normal(size=(n, d)) * spread + shift / np.sqrt(d)


def student(d, shift=0.0):
    return lambda random, n: random.standard_t(3, size=(n, d)) + shift / np.sqrt(d)


def lognormal(d, shift=0.0):
    return lambda random, n: np.exp(random.normal(size=(n, d)) * 1.2 + shift / np.sqrt(d))


def uniform(d, low, high):
    return lambda random, n: random.uniform(low, high, size=(n, d))


def groups(share):
    """Four columns of which the last three are indicators of a group; `share` are the groups' probabilities."""
    def draw(random, n):
        g = random.choice(3, size=n, p=share)
        return np.hstack([random.normal(size=(n, 4)) + 0.5 * (g == 2)[:, None], np.eye(3)[g]])
    return draw


def fixed(seed, d):
    return np.random.default_rng(seed).normal(size=d) / np.sqrt(d)


def moons(X):
    return 3 * (X[:, 1] - np.sin(2 * X[:, 0]))


def turn(X):
    """Linear where training is; beyond it the boundary turns: extrapolation is wrong."""
    return 2.5 * np.where(X[:, 0] < 0.8, X[:, 1] + 0.3 * X[:, 0], -X[:, 1] + 0.3 * X[:, 0])


def three(X):
    """Three ordered classes."""
    t = 1.5 * X[:, 0] + X[:, 1] ** 2
    upper, most = sigmoid(2 * (t - 0.2)), sigmoid(2 * (t - 1.8))
    return np.c_[1 - upper, upper - most, most]


def four(X):
    """Four classes around four points."""
    centres = np.array([[1.5, 0], [-1.5, 0], [0, 1.5], [0, -1.5]])
    e = -((X[:, None, :2] - centres) ** 2).sum(2)
    e = np.exp(e - e.max(1, keepdims=True))
    return e / e.sum(1, keepdims=True)


def rules(X):
    return np.where(X[:, 0] > 0.3, 2.5, -1.5) * np.where(X[:, 1] > -0.2, 1, -1) + np.where(X[:, 2] > 0.5, 1.5, -0.5)


# name, family, P(y|x) (log odds of two classes, or a row of probabilities), training, target, rows
def synthetic_table():
    a20, a50 = fixed(1, 20), fixed(2, 50) * (np.arange(50) < 5) * 3
    linear20 = lambda X: 3 * X @ a20  # noqa: E731
    sparse50 = lambda X: 2 * X @ a50  # noqa: E731
    square = lambda X: 1.5 * (X[:, 0] ** 2 - X[:, 1] ** 2 + X[:, 2])  # noqa: E731
    product = lambda X: 3 * X[:, 0] * X[:, 1]  # noqa: E731
    additive = lambda X: 2 * np.sin(2 * X[:, 0]) + np.abs(X[:, 1]) - 0.8 + X[:, 2]  # noqa: E731
    circle = lambda X: 3 * (np.hypot(X[:, 0], X[:, 1]) - 1.2)  # noqa: E731
    squares = lambda X: 4 * np.sin(2 * X[:, 0]) * np.sin(2 * X[:, 1])  # noqa: E731
    logs = lambda X: np.log(X) @ np.array([1.5, -1, 0.5, 0, 0, 0])  # noqa: E731
    tails = lambda X: X @ np.array([1, -1, 0.5, 0, 0, 0, 0, 0])  # noqa: E731
    step = lambda X: 1.5 * X[:, 0] - X[:, 1] + 1.5 * X[:, 4] - X[:, 6]  # noqa: E731
    return [
        ("linear20", "linear", linear20, gaussian(20), gaussian(20, 1.5), 400),
        ("linear20-small", "linear", linear20, gaussian(20), gaussian(20, 1.5), 80),
        ("linear20-narrow", "linear", linear20, gaussian(20), gaussian(20, 0, 0.6), 300),
        ("sparse50", "sparse", sparse50, gaussian(50), gaussian(50, 2), 300),
        ("square", "square", square, gaussian(6), gaussian(6, 1.2), 400),
        ("square-wide", "square", square, gaussian(6, 0, 0.7), gaussian(6, 0, 1.2), 400),
        ("product", "product", product, gaussian(4), gaussian(4, 1.5), 400),
        ("additive", "additive", additive, gaussian(5), gaussian(5, 1.5), 500),
        ("circle", "circle", circle, gaussian(3, 0, 0.8), gaussian(3, 1, 1), 400),
        ("squares", "squares", squares, uniform(2, -1.5, 1.0), uniform(2, -1.0, 1.5), 500),
        ("moons", "moons", moons, gaussian(2, -0.7), gaussian(2, 0.7), 400),
        ("moons-hard", "moons", moons, gaussian(2, -1.2, 0.7), gaussian(2, 1.6, 0.7), 300),
        ("turn", "turn", turn, gaussian(3, -0.7), gaussian(3, 1), 400),
        ("turn-hard", "turn", turn, gaussian(3, -1.5), gaussian(3, 2.5), 300),
        ("rules", "rules", rules, gaussian(6), gaussian(6, 1.5), 500),
        ("logs", "logs", logs, lognormal(6), lognormal(6, 1.2), 400),
        ("tails", "tails", tails, student(8), student(8, 2), 400),
        ("groups", "groups", step, groups([0.5, 0.4, 0.1]), groups([0.1, 0.2, 0.7]), 400),
        ("groups-apart", "groups", step, groups([0.6, 0.4, 0.0]), groups([0.1, 0.2, 0.7]), 400),
        ("three", "three", three, gaussian(4), gaussian(4, 1.5), 400),
        ("four", "four", four, gaussian(4, -0.5), gaussian(4, 1), 400),
        ("linear20-no-shift", "linear", linear20, gaussian(20), gaussian(20), 300),
        ("linear20-small-no-shift", "linear", linear20, gaussian(20), gaussian(20), 80),
        ("square-no-shift", "square", square, gaussian(6), gaussian(6), 400),
        ("moons-no-shift", "moons", moons, gaussian(2), gaussian(2), 300),
        ("sparse50-no-shift", "sparse", sparse50, gaussian(50), gaussian(50), 300),
        ("four-no-shift", "four", four, gaussian(4), gaussian(4), 300),
    ]


def labels(random, p):
    return (random.random(len(p))[:, None] > np.cumsum(p, 1)[:, :-1]).sum(1)


def synthetic(seed=0, targets=1000):
    made = []
    for k, (name, family, truth, train, target, rows) in enumerate(synthetic_table()):
        random = np.random.default_rng([seed, k])
        X, Z = train(random, rows), target(random, targets)

        def probabilities(X, truth=truth):
            p = truth(X)
            return np.c_[1 - sigmoid(p), sigmoid(p)] if p.ndim == 1 else p

        bayes = probabilities(Z)
        made.append(task(name, family, "synthetic", f"{rows} rows of a known P(y|x)", X, labels(random, probabilities(X)),
                         Z, labels(random, bayes), bayes))
    return made


QUICK = ("phoneme-biased", "weather-no-shift", "breast-main", "iris-no-shift", "linear20-small", "moons", "groups-apart",
         "square-no-shift")


def tasks(data, quick=False):
    """All of them; of the shared ones those that are in `data`."""
    every = [*shared(data), *from_scikit_learn(), *synthetic()]
    return [t for t in every if t.name in QUICK] if quick else every
