"""Estimators of density ratios P_target(x)/P_train(x)."""

from __future__ import annotations

import json

import numpy as np
from sklearn.utils.validation import _num_samples

from . import _core
from ._data import CoreEstimator, checked_weight, training_data, warn_of
from ._frames import frame_of, has_categories, is_frame
from ._options import documented, seed_of, store, thread_count
from ._scoring import Target


def ratio_option(ratio):
    """A density ratio as an option: its name, or an estimator's options."""
    return ratio._options() if isinstance(ratio, DensityRatio) else ratio


class DensityRatio(CoreEstimator):
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
            Labels are accepted, so the estimator works in a pipeline, and ignored. Two-dimensional
            data are the target sample: ``fit(X, X_target)``.
        X_target : like X, optional
            Inputs from where a model will be used. Without it no shift is assumed: the ratio is 1.
        sample_weight : array-like of shape (n_samples,), optional
            How often each training row counts.
        """
        X, X_target = frame_of(X), frame_of(X_target)
        if X_target is None and _is_sample(y):
            X_target = frame_of(y)
        elif y is not None and _num_samples(y) != _num_samples(X):
            raise ValueError(
                f"the second argument has {_num_samples(y)} entries for {_num_samples(X)} rows of X: it "
                "is neither labels (which are ignored) nor a target sample (which has two dimensions)"
            )
        threads = thread_count(self.threads)
        given = training_data(self, X, X_target)
        sample_weight = checked_weight(sample_weight, given.X)
        options = {**self._options(), "random_state": seed_of(self.random_state), "threads": threads}
        self._model = _core.fit_ratio(given.data, given.target, given.names, sample_weight, options)
        self._as_table = has_categories(X)
        if given.target is not None:
            warn_of(given.target)
        self.report_ = json.loads(self._model.report)
        return self

    def log_ratio(self, X) -> np.ndarray:
        """log P_target(x)/P_train(x) of each row; always finite."""
        return self._ask("log_ratio", X)

    def weights(self, X) -> np.ndarray:
        """P_target(x)/P_train(x) of each row, for ``sample_weight`` of any estimator."""
        return np.exp(self.log_ratio(X))

    def score_samples(self, X) -> np.ndarray:
        """The same as :meth:`log_ratio`, under scikit-learn's name."""
        return self.log_ratio(X)


def _is_sample(y) -> bool:
    """True for two-dimensional data: rows of features, not labels."""
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

    def __init__(self, *, lam="cv", folds=5, scale="standard", random_state=0, threads=None):
        store(locals())


@documented
class GaussianRatio(DensityRatio):
    """The ratio of two Gaussians, one fitted to each sample.

    Parameters
    ----------
    {parameters}
    """

    _name = "gaussian"

    def __init__(self, *, scale="standard", random_state=0, threads=None):
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
        scale="standard",
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
        self, *, kernel_width="cv", centres=100, folds=5, scale="standard", random_state=0, threads=None
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
        scale="standard",
        random_state=0,
        threads=None,
    ):
        store(locals())
