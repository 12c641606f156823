"""Model selection for the target: scores that weight each held-out row by its density ratio."""

from __future__ import annotations

from typing import Any, Callable, Union

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp
from sklearn.base import BaseEstimator
from sklearn.metrics import get_scorer
from sklearn.utils.validation import check_is_fitted

from ._typing import Data, HasWeights, Labels

Scoring = Union[str, Callable[..., float]]


class Target:
    """A target sample that scikit-learn does not split.

    ``GridSearchCV`` and others split every array of the same length as ``X`` into the same folds. A
    wrapped target sample arrives whole, whatever its length, and transformers of a pipeline still see
    an array. (Transformers that select columns by name need a plain DataFrame, which is not split if
    its length differs from that of ``X``.)

    Parameters
    ----------
    X : array-like, sparse matrix or data frame of shape (n_target, n_features)
        The sample.

    Examples
    --------
    >>> import covshift
    >>> target = covshift.Target([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])
    >>> target
    Target(ndarray of 3 rows)
    >>> target[:1]
    Target(ndarray of 3 rows)
    """

    X: Any

    def __init__(self, X: Data) -> None:
        self.X = X if hasattr(X, "shape") else np.asarray(X)

    @property
    def shape(self) -> tuple[int, ...]:
        """Rows and columns."""
        return self.X.shape

    def __getitem__(self, rows: Any) -> Target:
        return self

    __iter__: None = None  # __getitem__ would never end it

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> npt.NDArray[Any]:
        X = self.X.toarray() if sp.issparse(self.X) else self.X
        return np.array(X, dtype=dtype) if copy else np.asarray(X, dtype=dtype)

    def __repr__(self) -> str:
        return f"Target({type(self.X).__name__} of {self.shape[0]} rows)"


class ImportanceWeightedScorer:
    """A scorer; :func:`importance_weighted_scorer` makes it."""

    def __init__(self, scoring: Scoring, ratio: HasWeights, normalize: bool) -> None:
        self.scoring = scoring
        self.ratio = ratio
        self.normalize = normalize
        self._scorer = get_scorer(scoring)

    def __call__(
        self, estimator: Any, X: Any, y_true: Labels, sample_weight: npt.NDArray[Any] | None = None
    ) -> float:
        weight = self.ratio.weights(X)
        if sample_weight is not None:
            weight = weight * sample_weight
        score = self._scorer(estimator, X, y_true, sample_weight=weight)
        if self.normalize:
            return score
        count = len(weight) if sample_weight is None else np.sum(sample_weight)
        return score * float(np.sum(weight)) / count

    def __repr__(self) -> str:
        return f"importance_weighted_scorer({self.scoring!r}, {self.ratio!r})"


def importance_weighted_scorer(
    scoring: Scoring, ratio: HasWeights, *, normalize: bool = True
) -> ImportanceWeightedScorer:
    """A scorer for ``GridSearchCV`` and ``cross_val_score`` that estimates the score on the target.

    Parameters
    ----------
    scoring : str or scorer
        What to measure; any scorer that takes ``sample_weight``: ``"accuracy"``, ``"neg_log_loss"``.
    ratio : fitted density ratio
        Such as ``LogisticRatio().fit(X, X_target)``; held-out rows have the weights ``ratio.weights(rows)``.
    normalize : bool, default=True
        True: a weighted mean, which works for every metric. False: for metrics that are means, the
        plain sum of weighted terms over their number, unbiased if the ratio is right
        (Sugiyama et al. 2007); what ``lam="iwcv"`` uses.

    Returns
    -------
    scorer : ImportanceWeightedScorer
        Called with an estimator, rows and classes, like any scorer of scikit-learn.

    Examples
    --------
    >>> import covshift
    >>> from sklearn.datasets import load_wine
    >>> from sklearn.model_selection import cross_val_score
    >>> X, y = load_wine(return_X_y=True)
    >>> X_train, X_target, y_train, _ = covshift.biased_split(X, y, feature=8, n_target=80)
    >>> ratio = covshift.LogisticRatio().fit(X_train, X_target)
    >>> scorer = covshift.importance_weighted_scorer("accuracy", ratio)
    >>> cross_val_score(covshift.lr(lam=0.1), X_train, y_train, scoring=scorer, cv=3).shape
    (3,)
    """
    if isinstance(ratio, type) or not hasattr(ratio, "weights"):
        raise TypeError(
            "ratio must be a fitted density ratio such as LogisticRatio().fit(X, X_target), "
            f"not {type(ratio).__name__}"
        )
    if isinstance(ratio, BaseEstimator):
        check_is_fitted(ratio)
    return ImportanceWeightedScorer(scoring, ratio, normalize)
