"""The data: drawn from fixed seeds, kept in build/bench-data, loaded by every measurement alike."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import scipy.sparse as sp

ROOT = Path(__file__).resolve().parents[2]
CACHE = ROOT / "build" / "bench-data"
VERSION = 2  # of the drawing: raise it when a draw changes, and old files are ignored


@dataclass(frozen=True)
class Workload:
    rows: int
    cols: int
    classes: int
    entries: int = 0  # non-zeros a row; 0: dense
    shifted: bool = False  # with a target sample from another Gaussian

    def describe(self) -> str:
        kind = f"sparse, {self.entries} non-zeros a row" if self.entries else "dense"
        target = ", as many target rows" if self.shifted else ""
        return f"{self.rows:,} x {self.cols:,}, {kind}, {self.classes} classes{target}"


FULL = {
    "dense": Workload(500_000, 50, 5),
    "sparse-2": Workload(200_000, 50_000, 2, entries=75),
    "sparse-20": Workload(200_000, 50_000, 20, entries=75),
    "wide": Workload(2_000, 20_000, 2),
    "tiny": Workload(100, 57, 4),
    "game": Workload(5_000, 50, 5),
    "robust": Workload(500, 5, 2, shifted=True),
}
QUICK = {
    "dense": Workload(10_000, 50, 5),
    "sparse-2": Workload(4_000, 5_000, 2, entries=75),
    "sparse-20": Workload(4_000, 5_000, 20, entries=75),
    "wide": Workload(200, 2_000, 2),
    "tiny": Workload(100, 57, 4),
    "game": Workload(250, 20, 5),
    "robust": Workload(500, 5, 2, shifted=True),
}


def workload(name: str, quick: bool) -> Workload:
    """By name; "dense:R" is the dense one with R rows."""
    base, _, rows = name.partition(":")
    found = (QUICK if quick else FULL)[base]
    return Workload(int(rows), found.cols, found.classes) if rows else found


@dataclass
class Data:
    name: str
    X: np.ndarray | sp.csr_matrix
    y: np.ndarray
    classes: int
    X_target: np.ndarray | None = None
    y_target: np.ndarray | None = None
    log_ratio: np.ndarray | None = None  # the true one, at the training rows
    extra: dict = field(default_factory=dict)

    @property
    def bytes(self) -> int:
        if sp.issparse(self.X):
            return self.X.data.nbytes + self.X.indices.nbytes + self.X.indptr.nbytes
        return self.X.nbytes

    def default_lam(self) -> float:
        """What C = 1, the peers' default, amounts to: see objective.py."""
        return 1 / (len(self.y) * (1 if self.classes == 2 else 2))


def dense_features(rng, rows, cols):
    """Gaussian, a tenth as many common factors as columns, scales from 0.3 to 3; ||x||^2 about 50."""
    factors = max(1, min(20, cols // 10))
    loadings = rng.normal(size=(factors, cols)) * np.sqrt(0.5 / factors)
    scales = np.exp(rng.uniform(np.log(0.3), np.log(3), cols))
    scales *= np.sqrt(50 / np.sum(scales**2 * (0.5 + np.sum(loadings**2, axis=0))))
    X = np.empty((rows, cols))
    for first in range(0, rows, 50_000):
        piece = X[first : first + 50_000]
        piece[:] = rng.normal(size=piece.shape) * np.sqrt(0.5)
        piece += rng.normal(size=(len(piece), factors)) @ loadings
        piece *= scales
    return X


def sparse_features(rng, rows, cols, entries):
    """Like text: columns by Zipf's law, values that grow with rarity, rows of length 1."""
    columns = np.empty((rows, entries), dtype=np.int32)
    for i in range(0, rows, 5_000):
        piece = columns[i : i + 5_000]
        todo = np.arange(len(piece))
        while len(todo):
            ranks = cols ** rng.uniform(size=(len(todo), 4 * entries))  # density falls as 1/rank
            words = np.minimum(ranks, cols).astype(np.int32) - 1
            order = np.argsort(words, axis=1, kind="stable")
            ordered = np.take_along_axis(words, order, 1)
            again = np.zeros(words.shape, dtype=bool)
            np.put_along_axis(again, order[:, 1:], ordered[:, 1:] == ordered[:, :-1], 1)
            first_ones = np.argsort(again, axis=1, kind="stable")[:, :entries]
            enough = (~again).sum(axis=1) >= entries
            piece[todo[enough]] = np.take_along_axis(words, first_ones, 1)[enough]
            todo = todo[~enough]
    columns.sort(axis=1)
    values = np.log(columns + 2.0)
    values /= np.linalg.norm(values, axis=1, keepdims=True)
    offsets = np.arange(0, rows * entries + 1, entries, dtype=np.int32)
    return sp.csr_matrix((values.ravel(), columns.ravel(), offsets), shape=(rows, cols))


def noisy_labels(rng, X, classes, noise):
    """The largest of linear scores with noise: `noise` times as much as there is signal. The scores are the
    same function whatever the number of rows."""
    truth = np.random.default_rng(18).normal(size=(X.shape[1], classes))
    scores = np.asarray(X @ truth)
    scores /= scores.std()
    return (scores + noise * rng.normal(size=scores.shape)).argmax(axis=1)


def draw(name: str, quick: bool) -> dict:
    w = workload(name, quick)
    rng = np.random.default_rng(17)
    if w.shifted:
        shift, spread = 0.5, 0.8
        X = rng.normal(size=(w.rows, w.cols))
        target = shift + spread * rng.normal(size=(w.rows, w.cols))
        both = np.vstack([X, target])
        y = noisy_labels(rng, both, w.classes, 0.7)
        log_ratio = (X**2 - ((X - shift) / spread) ** 2).sum(1) / 2 - w.cols * np.log(spread)
        return {"X": X, "y": y[: w.rows], "X_target": target, "y_target": y[w.rows :],
                "log_ratio": log_ratio}
    if w.entries:
        X = sparse_features(rng, w.rows, w.cols, w.entries)
        y = noisy_labels(rng, X, w.classes, 0.5)
        return {"data": X.data, "indices": X.indices, "indptr": X.indptr, "y": y}
    X = dense_features(rng, w.rows, w.cols)
    return {"X": X, "y": noisy_labels(rng, X, w.classes, 0.7)}


def load(name: str, quick: bool) -> Data:
    """The workload, drawn first if it never was."""
    w = workload(name, quick)
    size = f"{w.rows}x{w.cols}x{w.classes}"
    folder = CACHE / f"{name.partition(':')[0]}-{size}-v{VERSION}"
    if not folder.exists():
        part = folder.with_suffix(".part")
        part.mkdir(parents=True, exist_ok=True)
        for key, values in draw(name, quick).items():
            np.save(part / f"{key}.npy", values)
        part.rename(folder)
    read = {path.stem: np.load(path) for path in folder.glob("*.npy")}
    y = read.pop("y")
    if w.entries:
        X = sp.csr_matrix((read["data"], read["indices"], read["indptr"]), shape=(w.rows, w.cols))
        return Data(name, X, y, w.classes)
    return Data(name, read.pop("X"), y, w.classes, **read)
