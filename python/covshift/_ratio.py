"""Density ratios P_target(x)/P_train(x) as estimators of their own."""

from __future__ import annotations

import json

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.exceptions import NotFittedError
from sklearn.utils.validation import _check_sample_weight, _num_samples

from . import _core
from ._data import data_of, fast_matrix, has_categories, is_frame, training_data, warn_of
from ._options import documented, seed_of, store, thread_count
from ._scoring import Target


def ratio_option(ratio):
    """A density ratio as an option of others: its name, or an estimator with its own options."""
    return ratio._options() if isinstance(ratio, DensityRatio) else ratio


class DensityRatio(BaseEstimator):
    """What the estimators share: ``fit(X, X_target)``, ``log_ratio(X)``, ``weights(X)``."""

    _name: str

    def _method(self) -> str:
        return self._name

    def _options(self) -> dict:
        return {**self.get_params(), "method": self._method()}

    def fit(self, X, y=None, X_target=None, sample_weight=None):
        """Estimates the ratio from a training and a target sample.

        Parameters
        ----------
        X : array-like, sparse matrix or DataFrame of shape (n_samples, n_features)
            Training inputs.
        y : ignored, or the target
            Labels have no part in a density ratio; they are accepted, as everywhere in scikit-learn, so
            that the estimator can stand in a pipeline. Two-dimensional data in this place are the
            target sample: ``fit(X, X_target)``.
        X_target : like X, optional
            Inputs from where a model will be used. Without it there is no shift: the ratio is 1.
        sample_weight : array-like of shape (n_samples,), optional
            How often each training row counts.
        """
        if X_target is None and _is_sample(y):
            X_target = y
        elif y is not None and _num_samples(y) != _num_samples(X):
            raise ValueError(
                f"the second argument has {_num_samples(y)} entries for {_num_samples(X)} rows of X: it "
                "is neither labels (which are ignored) nor a target sample (which has two dimensions)"
            )
        threads = thread_count(self.threads)
        given = training_data(self, X, X_target)
        if sample_weight is not None:
            sample_weight = _check_sample_weight(
                sample_weight, given.X, dtype=np.float64, ensure_non_negative=True
            )
        options = {**self._options(), "random_state": seed_of(self.random_state), "threads": threads}
        self._model = _core.fit_ratio(given.data, given.target, given.names, sample_weight, options)
        self._table = has_categories(X)
        if given.target is not None:
            warn_of(given.target)
        self.report_ = json.loads(self._model.report)
        return self

    def log_ratio(self, X) -> np.ndarray:
        """log P_target(x)/P_train(x) of each row; always finite."""
        if not hasattr(self, "_model"):
            raise NotFittedError(
                f"This {type(self).__name__} instance is not fitted yet. Call 'fit' first."
            )
        data = None
        if not self._table and not hasattr(self, "feature_names_in_"):
            data = fast_matrix(X, self.n_features_in_)
        fast = data is not None
        if not fast:
            data = data_of(self, X, as_table=True if self._table else None)
        threads = 1 if data.rows <= 2048 else thread_count(self.threads)
        try:
            answer = self._model.log_ratio(data, threads)
        except ValueError:
            if fast:
                data_of(self, X)  # scikit-learn's words, where it has any
            raise
        if self._table:
            warn_of(data)
        return answer

    def weights(self, X) -> np.ndarray:
        """P_target(x)/P_train(x) of each row, for ``sample_weight`` of any estimator."""
        return np.exp(self.log_ratio(X))

    def score_samples(self, X) -> np.ndarray:
        """The same as :meth:`log_ratio`, by the name that scikit-learn's tools look for."""
        return self.log_ratio(X)

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "_model")

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags


def _is_sample(y) -> bool:
    """Two dimensions: rows of features, no labels."""
    if isinstance(y, Target) or is_frame(y):
        return True
    return getattr(y, "ndim", np.ndim(y) if isinstance(y, (list, tuple)) else 0) == 2


@documented
class LogisticRatio(DensityRatio):
    """Logistic regression of training against target rows: the paper's estimator.

    Parameters
    ----------
    {parameters}
    """

    _name = "logistic"

    def __init__(self, *, lam="cv", folds=5, scale="unit", random_state=0, threads=None):
        store(locals())


@documented
class GaussianRatio(DensityRatio):
    """The ratio of two Gaussians, one fitted to each sample.

    Parameters
    ----------
    {parameters}
    """

    _name = "gaussian"

    def __init__(self, *, scale="unit", random_state=0, threads=None):
        store(locals())


@documented
class ULSIF(DensityRatio):
    """Unconstrained least-squares importance fitting; with ``alpha > 0`` its relative version, RuLSIF.

    Parameters
    ----------
    {parameters}
    """

    def __init__(
        self,
        *,
        kernel_width="cv",
        lam="cv",
        centres=100,
        alpha=0.0,
        folds=5,
        scale="unit",
        random_state=0,
        threads=None,
    ):
        store(locals())

    def _method(self) -> str:
        return "rulsif" if self.alpha else "ulsif"


@documented
class KLIEP(DensityRatio):
    """Kullback-Leibler importance estimation.

    Parameters
    ----------
    {parameters}
    """

    _name = "kliep"

    def __init__(
        self, *, kernel_width="cv", centres=100, folds=5, scale="unit", random_state=0, threads=None
    ):
        store(locals())


@documented
class KMM(DensityRatio):
    """Kernel mean matching.

    Parameters
    ----------
    {parameters}
    """

    _name = "kmm"

    def __init__(
        self,
        *,
        kernel_width="cv",
        lam="cv",
        bound=1000.0,
        slack=None,
        folds=5,
        scale="unit",
        random_state=0,
        threads=None,
    ):
        store(locals())
