"""Model selection for the target: scores that weight each held-out row by its density ratio."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp
from sklearn.base import BaseEstimator
from sklearn.metrics import get_scorer
from sklearn.utils.validation import check_is_fitted


class Target:
    """A target sample that scikit-learn does not split.

    ``GridSearchCV`` and others split every array of the same length as ``X`` into the same folds. A
    wrapped target sample arrives whole, whatever its length, and transformers of a pipeline still see
    an array. (Transformers that select columns by name need a plain DataFrame, which is not split if
    its length differs from that of ``X``.)
    """

    def __init__(self, X):
        self.X = X if hasattr(X, "shape") else np.asarray(X)

    @property
    def shape(self) -> tuple[int, ...]:
        return self.X.shape

    def __getitem__(self, rows):
        return self

    __iter__ = None  # __getitem__ would never end it

    def __array__(self, dtype=None, copy=None):
        X = self.X.toarray() if sp.issparse(self.X) else self.X
        return np.array(X, dtype=dtype) if copy else np.asarray(X, dtype=dtype)

    def __repr__(self) -> str:
        return f"Target({type(self.X).__name__} of {self.shape[0]} rows)"


class ImportanceWeightedScorer:
    """See :func:`importance_weighted_scorer`."""

    def __init__(self, scoring, ratio, normalize: bool):
        self.scoring = scoring
        self.ratio = ratio
        self.normalize = normalize
        self._scorer = get_scorer(scoring)

    def __call__(self, estimator, X, y_true, sample_weight=None) -> float:
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


def importance_weighted_scorer(scoring, ratio, *, normalize: bool = True):
    """A scorer for ``GridSearchCV`` and ``cross_val_score`` that estimates the score on the target.

    Parameters
    ----------
    scoring : str or scorer
        What to measure; any scorer that takes ``sample_weight``: ``"accuracy"``, ``"neg_log_loss"``.
    ratio : fitted density ratio
        Such as ``LogisticRatio().fit(X, X_target)``; held-out rows have the weights ``ratio.weights(rows)``.
    normalize : bool
        True: a weighted mean, which works for every metric. False: for metrics that are means, the
        plain sum of weighted terms over their number, unbiased if the ratio is right
        (Sugiyama et al. 2007); what ``lam="iwcv"`` uses.
    """
    if isinstance(ratio, type) or not hasattr(ratio, "weights"):
        raise TypeError(
            "ratio must be a fitted density ratio such as LogisticRatio().fit(X, X_target), "
            f"not {type(ratio).__name__}"
        )
    if isinstance(ratio, BaseEstimator):
        check_is_fitted(ratio)
    return ImportanceWeightedScorer(scoring, ratio, normalize)
