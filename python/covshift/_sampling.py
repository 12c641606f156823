"""Induced shift: a training and a target sample from one data set, as in the paper's experiments."""

from __future__ import annotations

import operator
from typing import NamedTuple

import numpy as np
from sklearn.utils import _safe_indexing, check_array, check_consistent_length

from . import _core
from ._data import matrix_of
from ._frames import frame_of, has_categories, is_frame, table_of
from ._options import seed_of


class BiasedSample(NamedTuple):
    """Row numbers of both samples, and the split: training rows have feature <= threshold, except those
    that crossed.

    ``feature`` is a column number and ``threshold`` one of its values (for a random category: 1 if the
    row has it, else 0).
    """

    train: np.ndarray
    target: np.ndarray
    feature: int
    threshold: float


def biased_sample(
    X,
    *,
    n_train: int = 100,
    n_target: int = 100,
    feature: int | str | None = None,
    quantile: float = 0.5,
    crossing: float = 0.0,
    a: tuple[float, float] = (2, 4),
    b: tuple[float, float] = (1, 2),
    replacement: bool = True,
    random_state: int | None = 0,
) -> BiasedSample:
    """Draws the rows of a training and of a target sample under covariate shift.

    The rows are split at a quantile of a feature (by default a random one), and each moves to the other
    part with probability ``crossing``. Each part is projected on one of its principal components, and its
    rows are drawn in proportion to a normal density with mean min + (max - min)/a and standard deviation
    std/b of that projection; a and b are drawn from the given intervals. ``covshift sample`` draws the
    same rows.
    """
    X = frame_of(X)
    if has_categories(X):
        data = table_of(X, "X")
    else:
        data = matrix_of(check_array(X, accept_sparse="csr", dtype=[np.float64, np.float32], order="C"))
    if isinstance(feature, str):
        if not is_frame(X) or feature not in list(X.columns):
            raise ValueError(f"there is no column {feature!r} to split by; give the name or number of a column")
        feature = list(X.columns).index(feature)
    options = {
        "feature": None if feature is None else operator.index(feature),
        "quantile": quantile,
        "crossing": crossing,
        "a": a,
        "b": b,
        "n_train": n_train,
        "n_target": n_target,
        "replacement": replacement,
        "random_state": seed_of(random_state),
    }
    return BiasedSample(*_core.biased_sample(data, options))


def biased_split(X, *arrays, **options) -> list:
    """Like ``train_test_split``, but the second sample differs from the first in its inputs.

    ``X_train, X_target, y_train, y_target = biased_split(X, y, n_train=100)``; further arrays of the
    same length are split in the same way. Options are those of :func:`biased_sample`.
    """
    check_consistent_length(X, *arrays)
    drawn = biased_sample(X, **options)
    return [
        _safe_indexing(array, rows) for array in (X, *arrays) for rows in (drawn.train, drawn.target)
    ]
