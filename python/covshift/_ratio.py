"""Estimators of density ratios P_target(x)/P_train(x)."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.utils.validation import _num_samples

from . import _core
from ._data import CoreEstimator, checked_weight, training_data, warn_of
from ._frames import frame_of, has_categories, is_frame
from ._options import documented, seed_of, thread_count
from ._scoring import Target
from ._typing import Data, Floats, Labels, NumberOrCV, RandomState, RatioLambda, Scale

if TYPE_CHECKING:
    from typing_extensions import Self


class DensityRatio(CoreEstimator):
    """What the estimators of P_target(x)/P_train(x) share.

    Attributes
    ----------
    report_ : dict
        What the estimator chose: its regularisation, kernel width and the like.
    n_features_in_ : int
        Columns of the data.
    feature_names_in_ : ndarray of shape (n_features,)
        Their names, if they have any.
    """

    _name: str
    random_state: RandomState
    threads: int | None
    n_jobs: int | None
    report_: dict[str, Any]
    n_features_in_: int

    def _method(self) -> str:
        return self._name

    def _options(self) -> dict[str, Any]:
        options = {**self.get_params(), "method": self._method()}
        del options["n_jobs"]
        return options

    def fit(
        self,
        X: Data,
        y: Data | Labels | None = None,
        X_target: Data | None = None,
        sample_weight: Labels | None = None,
    ) -> Self:
        """Estimates the ratio from a training and a target sample.

        Parameters
        ----------
        X : array-like, sparse matrix or DataFrame of shape (n_samples, n_features)
            Training inputs.
        y : ignored, or the target
            Labels are accepted, so the estimator works in a pipeline, and ignored. Two-dimensional
            data are the target sample: ``fit(X, X_target)``.
        X_target : like X, of shape (n_target, n_features), default=None
            Inputs from where a model will be used. Without it no shift is assumed: the ratio is 1.
        sample_weight : array-like of shape (n_samples,), default=None
            How often each training row counts.

        Returns
        -------
        self : DensityRatio
            The fitted estimator.
        """
        X, X_target = frame_of(X), frame_of(X_target)
        if X_target is None and _is_sample(y):
            X_target = frame_of(y)
        elif y is not None and _num_samples(y) != _num_samples(X):
            raise ValueError(
                f"the second argument has {_num_samples(y)} entries for {_num_samples(X)} rows of X: it "
                "is neither labels (which are ignored) nor a target sample (which has two dimensions)"
            )
        threads = thread_count(self.threads, self.n_jobs)
        given = training_data(self, X, X_target)
        sample_weight = checked_weight(sample_weight, given.X)
        options = {**self._options(), "random_state": seed_of(self.random_state), "threads": threads}
        self._model = _core.fit_ratio(given.data, given.target, given.names, sample_weight, options)
        self._as_table = has_categories(X)
        if given.target is not None:
            warn_of(given.target)
        self.report_ = json.loads(self._model.report)
        return self

    def log_ratio(self, X: Data) -> Floats:
        """log P_target(x)/P_train(x) of each row; always finite.

        Parameters
        ----------
        X : as for ``fit``, of shape (n_samples, n_features)
            Any rows with the columns of the training data.

        Returns
        -------
        log_ratio : ndarray of shape (n_samples,)
        """
        return self._ask("log_ratio", X)

    def weights(self, X: Data) -> Floats:
        """P_target(x)/P_train(x) of each row, for ``sample_weight`` of any estimator.

        Parameters
        ----------
        X : as for ``fit``, of shape (n_samples, n_features)
            Any rows with the columns of the training data.

        Returns
        -------
        weights : ndarray of shape (n_samples,)
        """
        return np.exp(self.log_ratio(X))

    def score_samples(self, X: Data) -> Floats:
        """The same as :meth:`log_ratio`, under scikit-learn's name.

        Parameters
        ----------
        X : as for ``fit``, of shape (n_samples, n_features)
            Any rows with the columns of the training data.

        Returns
        -------
        log_ratio : ndarray of shape (n_samples,)
        """
        return self.log_ratio(X)


def ratio_option(ratio: str | DensityRatio | None) -> str | dict[str, Any] | None:
    """A density ratio as an option: its name, or an estimator's options."""
    return ratio._options() if isinstance(ratio, DensityRatio) else ratio


def _is_sample(y: object) -> bool:
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

    Examples
    --------
    >>> import numpy as np
    >>> from covshift import LogisticRatio
    >>> rng = np.random.default_rng(0)
    >>> X, X_target = rng.normal(size=(200, 2)), rng.normal(0.5, 1, size=(100, 2))
    >>> weights = LogisticRatio().fit(X, X_target).weights(X)
    >>> bool(np.average(X[:, 0], weights=weights) > X[:, 0].mean() + 0.2)  # moves to the target
    True
    """

    _name = "logistic"

    def __init__(
        self,
        *,
        lam: RatioLambda = "cv",
        folds: int = 5,
        scale: Scale = "standard",
        random_state: RandomState = 0,
        threads: int | None = None,
        n_jobs: int | None = None,
    ) -> None:
        self.lam = lam
        self.folds = folds
        self.scale = scale
        self.random_state = random_state
        self.threads = threads
        self.n_jobs = n_jobs


@documented
class GaussianRatio(DensityRatio):
    """The ratio of two Gaussians, one fitted to each sample.

    Parameters
    ----------
    {parameters}

    Examples
    --------
    >>> import numpy as np
    >>> from covshift import GaussianRatio
    >>> rng = np.random.default_rng(0)
    >>> X, X_target = rng.normal(size=(200, 2)), rng.normal(0.5, 1, size=(100, 2))
    >>> weights = GaussianRatio().fit(X, X_target).weights(X)
    >>> bool(np.average(X[:, 0], weights=weights) > X[:, 0].mean() + 0.2)  # moves to the target
    True
    """

    _name = "gaussian"

    def __init__(
        self,
        *,
        scale: Scale = "standard",
        random_state: RandomState = 0,
        threads: int | None = None,
        n_jobs: int | None = None,
    ) -> None:
        self.scale = scale
        self.random_state = random_state
        self.threads = threads
        self.n_jobs = n_jobs


@documented
class ULSIF(DensityRatio):
    """Unconstrained least-squares importance fitting; with ``alpha > 0`` its relative version, RuLSIF.

    Parameters
    ----------
    {parameters}

    Examples
    --------
    >>> import numpy as np
    >>> from covshift import ULSIF
    >>> rng = np.random.default_rng(0)
    >>> X, X_target = rng.normal(size=(200, 2)), rng.normal(0.5, 1, size=(100, 2))
    >>> weights = ULSIF(alpha=0.1).fit(X, X_target).weights(X)
    >>> bool(np.average(X[:, 0], weights=weights) > X[:, 0].mean() + 0.2)  # moves to the target
    True
    """

    def __init__(
        self,
        *,
        kernel_width: NumberOrCV = "cv",
        lam: NumberOrCV = "cv",
        centres: int = 100,
        alpha: float = 0.0,
        folds: int = 5,
        scale: Scale = "standard",
        random_state: RandomState = 0,
        threads: int | None = None,
        n_jobs: int | None = None,
    ) -> None:
        self.kernel_width = kernel_width
        self.lam = lam
        self.centres = centres
        self.alpha = alpha
        self.folds = folds
        self.scale = scale
        self.random_state = random_state
        self.threads = threads
        self.n_jobs = n_jobs

    def _method(self) -> str:
        return "rulsif" if self.alpha else "ulsif"


@documented
class KLIEP(DensityRatio):
    """Kullback-Leibler importance estimation.

    Parameters
    ----------
    {parameters}

    Examples
    --------
    >>> import numpy as np
    >>> from covshift import KLIEP
    >>> rng = np.random.default_rng(0)
    >>> X, X_target = rng.normal(size=(200, 2)), rng.normal(0.5, 1, size=(100, 2))
    >>> weights = KLIEP().fit(X, X_target).weights(X)
    >>> bool(np.average(X[:, 0], weights=weights) > X[:, 0].mean() + 0.2)  # moves to the target
    True
    """

    _name = "kliep"

    def __init__(
        self,
        *,
        kernel_width: NumberOrCV = "cv",
        centres: int = 100,
        folds: int = 5,
        scale: Scale = "standard",
        random_state: RandomState = 0,
        threads: int | None = None,
        n_jobs: int | None = None,
    ) -> None:
        self.kernel_width = kernel_width
        self.centres = centres
        self.folds = folds
        self.scale = scale
        self.random_state = random_state
        self.threads = threads
        self.n_jobs = n_jobs


@documented
class KMM(DensityRatio):
    """Kernel mean matching.

    Parameters
    ----------
    {parameters}

    Examples
    --------
    >>> import numpy as np
    >>> from covshift import KMM
    >>> rng = np.random.default_rng(0)
    >>> X, X_target = rng.normal(size=(200, 2)), rng.normal(0.5, 1, size=(100, 2))
    >>> weights = KMM(bound=20).fit(X, X_target).weights(X)
    >>> bool(np.average(X[:, 0], weights=weights) > X[:, 0].mean() + 0.2)  # moves to the target
    True
    """

    _name = "kmm"

    def __init__(
        self,
        *,
        kernel_width: NumberOrCV = "cv",
        lam: NumberOrCV = "cv",
        bound: float = 1000.0,
        slack: float | None = None,
        folds: int = 5,
        scale: Scale = "standard",
        random_state: RandomState = 0,
        threads: int | None = None,
        n_jobs: int | None = None,
    ) -> None:
        self.kernel_width = kernel_width
        self.lam = lam
        self.bound = bound
        self.slack = slack
        self.folds = folds
        self.scale = scale
        self.random_state = random_state
        self.threads = threads
        self.n_jobs = n_jobs
