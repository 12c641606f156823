"""Scores of predicted probabilities: p [row, class], y the position of each row's class."""

from __future__ import annotations

import numpy as np

FLOOR = 1e-15  # a probability of zero for what happened costs 49.8 bits, not infinity (as in scikit-learn)


def normalised(p):
    p = np.clip(np.nan_to_num(np.asarray(p, float), nan=0.0), 0, None)
    total = p.sum(1, keepdims=True)
    return np.where(total > 0, p / np.where(total > 0, total, 1), 1 / p.shape[1])


def bits(p, y):
    """Log loss of every row."""
    return -np.log2(np.maximum(normalised(p)[np.arange(len(y)), y], FLOOR))


def log_loss(p, y):
    return float(bits(p, y).mean())


def accuracy(p, y):
    return float(np.mean(np.argmax(normalised(p), 1) == y))


def brier(p, y):
    """Mean over the rows of the squared distance from the truth, summed over the classes (0 .. 2)."""
    p = normalised(p)
    return float(np.mean(np.sum((p - np.eye(p.shape[1])[y]) ** 2, 1)))


def calibration(p, y, bins=10):
    """Expected calibration error of the predicted class: bins of equal numbers of rows by its probability (rows of equal
    probability together), |mean probability - share that is right|, averaged over the rows."""
    p = normalised(p)
    sure, right = p.max(1), np.argmax(p, 1) == y
    edges = np.unique(np.quantile(sure, np.arange(1, bins) / bins))
    bin_of = np.searchsorted(edges, sure, "left")
    error = 0.0
    for b in np.unique(bin_of):
        rows = bin_of == b
        error += rows.mean() * abs(sure[rows].mean() - right[rows].mean())
    return float(error)


def scores(p, y):
    return {"bits": log_loss(p, y), "accuracy": accuracy(p, y), "brier": brier(p, y), "calibration": calibration(p, y)}
