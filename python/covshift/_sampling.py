"""Induced shift: a training and a target sample from one data set, as in the paper's experiments."""

from __future__ import annotations

import operator
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import numpy.typing as npt
from sklearn.utils import _safe_indexing, check_array, check_consistent_length

from . import _core
from ._data import matrix_of
from ._frames import frame_of, has_categories, is_frame, table_of
from ._options import documented, seed_of
from ._typing import Data, RandomState

if TYPE_CHECKING:
    from typing_extensions import TypedDict, Unpack

    class SamplingOptions(TypedDict, total=False):
        """The options of :func:`biased_sample`."""

        n_train: int
        n_target: int
        feature: int | str | None
        quantile: float
        crossing: float
        a: tuple[float, float]
        b: tuple[float, float]
        target_a: tuple[float, float] | None
        target_b: tuple[float, float] | None
        replacement: bool
        random_state: RandomState


class BiasedSample(NamedTuple):
    """Row numbers of both samples, and the split: training rows have feature <= threshold, except those
    that crossed.

    ``feature`` is a column number and ``threshold`` one of its values (for a random category: 1 if the
    row has it, else 0).
    """

    train: npt.NDArray[np.int64]
    target: npt.NDArray[np.int64]
    feature: int
    threshold: float


@documented
def biased_sample(
    X: Data,
    *,
    n_train: int = 100,
    n_target: int = 100,
    feature: int | str | None = None,
    quantile: float = 0.5,
    crossing: float = 0.0,
    a: tuple[float, float] = (2, 4),
    b: tuple[float, float] = (1, 2),
    target_a: tuple[float, float] | None = None,
    target_b: tuple[float, float] | None = None,
    replacement: bool = True,
    random_state: RandomState = 0,
) -> BiasedSample:
    """Draws the rows of a training and of a target sample under covariate shift.

    The rows are split at a quantile of a feature (by default a random one), and each moves to the other
    part with probability ``crossing``. Each part is projected on one of its principal components, and its
    rows are drawn in proportion to a normal density with mean min + (max - min)/a and standard deviation
    std/b of that projection; a and b are drawn from the given intervals, for the target from
    ``target_a`` and ``target_b`` if given. ``covshift sample`` draws the same rows.

    Parameters
    ----------
    X : array-like, CSR matrix or data frame of shape (n_samples, n_features)
        The rows to draw from.
    feature : int or str, default=None
        The number or name of the column to split by; None draws one.
    {parameters}

    Returns
    -------
    sample : BiasedSample
        The drawn rows' numbers and the split.

    Examples
    --------
    >>> import covshift
    >>> from sklearn.datasets import load_wine
    >>> X, _ = load_wine(return_X_y=True)
    >>> sample = covshift.biased_sample(X, n_train=50, n_target=40, feature=0)
    >>> sample.train.shape, sample.target.shape, sample.feature
    ((50,), (40,), 0)
    >>> bool(X[sample.train, 0].max() <= sample.threshold < X[sample.target, 0].min())
    True
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
        "target_a": target_a,
        "target_b": target_b,
        "n_train": n_train,
        "n_target": n_target,
        "replacement": replacement,
        "random_state": seed_of(random_state),
    }
    return BiasedSample(*_core.biased_sample(data, options))


def biased_split(X: Data, *arrays: Any, **options: Unpack[SamplingOptions]) -> list[Any]:
    """Like ``train_test_split``, but the second sample differs from the first in its inputs.

    Parameters
    ----------
    X : array-like, CSR matrix or data frame of shape (n_samples, n_features)
        The rows to draw from.
    *arrays : of length n_samples
        Split in the same way, usually the classes.
    **options
        Those of :func:`biased_sample`.

    Returns
    -------
    parts : list of length 2 * (1 + len(arrays))
        The training and the target part of ``X`` and of each further array.

    Examples
    --------
    >>> import covshift
    >>> from sklearn.datasets import load_wine
    >>> X, y = load_wine(return_X_y=True)
    >>> X_train, X_target, y_train, y_target = covshift.biased_split(X, y, n_train=90, n_target=70)
    >>> X_train.shape, y_train.shape, X_target.shape, y_target.shape
    ((90, 13), (90,), (70, 13), (70,))
    """
    check_consistent_length(X, *arrays)
    drawn = biased_sample(X, **options)
    return [
        _safe_indexing(array, rows) for array in (X, *arrays) for rows in (drawn.train, drawn.target)
    ]
