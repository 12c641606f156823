"""How good is any classifier on a target without labels, and sets of classes that cover there."""

from __future__ import annotations

import json
import numbers
import warnings
from collections.abc import Iterable
from functools import partial
from inspect import signature
from typing import TYPE_CHECKING, Any, Callable, Literal

import numpy as np
import numpy.typing as npt
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.metrics import get_scorer
from sklearn.model_selection import StratifiedKFold, cross_val_predict
from sklearn.utils.validation import check_is_fitted

from . import _core
from ._data import Filled, FilledTable, Training, filled, one_column, training_data, warn_of
from ._options import documented, in_python, seed_of, thread_count
from ._ratio import DensityRatio, LogisticRatio, ratio_option
from ._results import Reported, frame
from ._scoring import Scoring, Target
from ._typing import Data, Floats, HasPredictions, Labels, RandomState, RatioLambda

if TYPE_CHECKING:
    import pandas
    from matplotlib.axes import Axes
    from typing_extensions import Self

_RESAMPLES = 400
_RATIO_LEVEL = 0.05  # below this p-value a density ratio is rejected, as in the library


def _must_have_probabilities(model: Any) -> None:
    if not hasattr(model, "predict_proba"):
        raise TypeError(
            f"{type(model).__name__} has no predict_proba, so it says nothing about its certainty; "
            "wrap it in sklearn.calibration.CalibratedClassifierCV"
        )


def _must_be_fitted(model: Any) -> None:
    if hasattr(model, "fit"):
        check_is_fitted(model)


def _probabilities(model: Any, X: Any) -> Floats:
    _must_have_probabilities(model)
    if not hasattr(model, "classes_"):
        raise TypeError(
            f"{type(model).__name__} has no classes_, which say what the columns of its probabilities are; "
            "set it to the classes in their order"
        )
    return _checked(model, model.predict_proba(X), len(model.classes_))


def _checked(model: Any, p: Any, classes: int) -> Floats:
    p = np.ascontiguousarray(p, dtype=np.float64)
    said = f"the probabilities that {type(model).__name__} predicts"
    if p.ndim != 2 or p.shape[1] != classes:
        raise ValueError(
            f"{said} have the shape {p.shape}; there must be a column for each of {classes} classes"
        )
    finite = np.isfinite(p).all(axis=1)
    if not finite.all():
        row = int(finite.argmin())
        raise ValueError(f"{said} are {p[row].tolist()} in row {row + 1}; they must be numbers")
    proper = ((p >= 0) & (p <= 1 + 1e-6)).all(axis=1) & (abs(p.sum(axis=1) - 1) <= 1e-3 * classes)
    if not proper.all():
        row = int(proper.argmin())
        raise ValueError(
            f"{said} are {p[row].tolist()} in row {row + 1}; they must be in [0, 1] and add up to 1"
        )
    return p


def _codes(classes: Any, y: Labels, what: str) -> npt.NDArray[np.int32]:
    place = {c: i for i, c in enumerate(np.asarray(classes).tolist())}
    labels = np.asarray(y).tolist()
    unknown = sorted({str(label) for label in labels if label not in place})
    if unknown:
        text = {isinstance(label, str) for label in labels}, {isinstance(c, str) for c in place}
        if text[0].isdisjoint(text[1]):
            raise ValueError(
                f"{what} has classes of the type {type(labels[0]).__name__}, those of the model are of the "
                f"type {type(next(iter(place))).__name__}; convert one of them"
            )
        raise ValueError(
            f"{what} has classes that the model does not know: {', '.join(unknown[:5])}; the model's "
            f"classes are {', '.join(map(str, place))}"
        )
    return np.array([place[label] for label in labels], dtype=np.int32)


def _ratio_data(X: Any, X_target: Any) -> Training:
    """Rows for a density ratio, for which the library imputes missing values."""
    ratio: Any = LogisticRatio()
    ratio.missing = "indicator"
    return training_data(ratio, X, X_target)


@documented
class TargetPerformance(Reported):
    """The result of :func:`estimate`.

    Attributes
    ----------
    can_tell : bool
        False if the labelled rows say nothing about the target; ``reason`` says why.
    ratio_p_value : float
        Of a test whether the density ratio fits the samples; small values cast doubt on the intervals.
    quadratic : bool
        A linear ratio did not fit, and one with squares and products of the columns is used.
    far : float
        Share of the target rows that are far from every labelled row; the estimates say nothing about these.
    estimates : list of dict
        metric, method, value, low, high, effective_sample_size; value, low and high are None where nothing can be
        told.
    rows : int
        Labelled rows.
    effective_sample_size : float
        How many target rows the labelled rows are equivalent to.
    concept : dict
        The test for a changed P(y|x), if some target labels were given.
    data : dict
        Every number, as ``covshift estimate --json`` prints them.
    """

    _kind = "estimate"
    can_tell: bool
    reason: str
    rows: int
    level: float
    effective_sample_size: float
    ratio_p_value: float
    quadratic: bool
    far: float
    estimates: list[dict[str, Any]]
    concept: dict[str, Any]

    def __init__(self, data: dict[str, Any], diagnose: Callable[[], str] | None = None) -> None:
        super().__init__(data)
        self._diagnose = diagnose  # the shift between the rows, as JSON: only a page needs it

    def __getstate__(self) -> dict[str, Any]:
        return {"data": self.data, "_diagnose": None}

    def _page(self) -> dict[str, Any]:
        if self._diagnose is None:
            raise ValueError("a pickle has no rows to diagnose; estimate again to write the page")
        return {**self.data, "diagnosis": in_python(json.loads(self._diagnose()))}

    def __getitem__(self, metric: str) -> dict[str, Any]:
        """The recommended estimate of a metric: doubly robust, or by weighting for a scorer."""
        for found in self.estimates:
            if found["metric"] == metric:
                return found
        known = ", ".join(dict.fromkeys(e["metric"] for e in self.estimates))
        raise KeyError(f"{metric!r} was not estimated; there are {known}")

    def to_frame(self) -> pandas.DataFrame:
        """A row for each estimate.

        Returns
        -------
        frame : pandas.DataFrame
            With the columns metric, method, value, low, high and effective_sample_size.
        """
        return frame(self.estimates)

    def plot(self, ax: Axes | None = None) -> Axes:
        """The estimates with their intervals; see :func:`covshift.plot.intervals`.

        Parameters
        ----------
        {ax}
        """
        from . import plot

        return plot.intervals(self, ax=ax)

    def _opening(self) -> list[str]:
        return [f"{self.rows} labelled rows, equivalent to {self.effective_sample_size:.0f} target rows"]

    def _rows(self) -> list[list[str]]:
        if not self.can_tell:
            return []
        return [
            ["metric", "estimate", "interval", "method"],
            *(
                [e["metric"], f"{e['value']:.4f}", f"{e['low']:.4f} to {e['high']:.4f}", e["method"]]
                for e in self.estimates
            ),
        ]

    def _closing(self) -> list[str]:
        doubt = f"The loss on the target cannot be estimated: {self.data.get('reason')}."
        changed = [self.concept["statement"]] if "concept" in self.data else []
        return [*self.data.get("cautions", []), *changed] if self.can_tell else [doubt, *changed]


class _Known(ClassifierMixin, BaseEstimator):
    """Predictions that are already known; its "rows" are their positions."""

    def __init__(self, classes: npt.NDArray[Any], p: Floats) -> None:
        self.classes_, self._p = classes, p

    def predict_proba(self, rows: npt.NDArray[Any]) -> Floats:
        return self._p[rows.ravel()]

    def predict(self, rows: npt.NDArray[Any]) -> npt.NDArray[Any]:
        return self.classes_[self.predict_proba(rows).argmax(axis=1)]

    def __sklearn_is_fitted__(self) -> bool:
        return True


def _scored(
    scoring: Scoring, model: HasPredictions, p: Floats, y: Any, weight: Floats, level: float, seed: int
) -> dict[str, Any]:
    """A scikit-learn scorer on the weighted labelled rows; the interval by a bootstrap of them."""
    scorer = get_scorer(scoring) if isinstance(scoring, str) else scoring
    known = _Known(np.asarray(model.classes_), p)
    y = np.asarray(y)

    def at(rows: npt.NDArray[Any]) -> float:
        return scorer(known, rows.reshape(-1, 1), y[rows], sample_weight=weight[rows])

    generator = np.random.default_rng(seed)
    present = len(np.unique(y))
    value = float(at(np.arange(len(y))))
    drawn = []
    for _ in range(_RESAMPLES):
        rows = generator.integers(len(y), size=len(y))
        if len(np.unique(y[rows])) == present:
            drawn.append(at(rows))
    if len(drawn) < _RESAMPLES / 2:
        raise ValueError(f"{scoring}: most resamples of the labelled rows lack a class; label more rows")
    low, high = np.quantile(drawn, [(1 - level) / 2, (1 + level) / 2])
    return {
        "metric": scoring if isinstance(scoring, str) else str(scoring),
        "method": "weighting",
        "value": value,
        "low": float(low),
        "high": float(high),
        "effective_sample_size": float(weight.sum() ** 2 / (weight**2).sum()),
    }


def _scorers(scoring: Any) -> list[Scoring]:
    names = [scoring] if isinstance(scoring, str) or callable(scoring) else scoring
    names = list(names) if isinstance(names, Iterable) else [names]
    for name in names:
        if isinstance(name, str):
            get_scorer(name)  # raises its own error
        elif not callable(name):
            raise TypeError(f"scoring must be a scorer, its name or a list of these, not {scoring!r}")
    return names


def _pair(truth: Any) -> tuple[Any, Any]:
    if not isinstance(truth, (tuple, list)) or len(truth) != 2:
        size = f" of {len(truth)}" if isinstance(truth, (tuple, list)) else ""
        raise ValueError(
            "truth must be a pair (X, y) of target rows and their classes, "
            f"not {type(truth).__name__}{size}"
        )
    return truth[0], one_column(truth[1], "y of truth")


@documented
def estimate(
    model: HasPredictions,
    X: Data,
    y: Labels,
    X_target: Data,
    *,
    scoring: Scoring | Iterable[Scoring] = (),
    truth: tuple[Data, Labels] | None = None,
    level: float = 0.95,
    ratio: str | DensityRatio = "logistic",
    ratio_lam: RatioLambda = "cv",
    folds: int = 5,
    random_state: RandomState = 0,
    threads: int | None = None,
) -> TargetPerformance:
    """How good a classifier is on a target without labels.

    Parameters
    ----------
    model : fitted classifier
        Of any package, with ``predict_proba`` and ``classes_``.
    X : array-like, CSR matrix or data frame of shape (n_samples, n_features)
        Rows that the model was not fitted to. Missing values are imputed for the density ratio alone.
    y : array-like of shape (n_samples,)
        Their classes.
    X_target : like X, of shape (n_target, n_features)
        Inputs from where the model is used.
    scoring : str, scorer or several of them, default=()
        Scorers of scikit-learn in addition to accuracy, log loss and Brier score. Each must accept
        sample weights. Estimated by importance weighting.
    truth : tuple (X, y), default=None
        Some rows of the target with their classes: tests whether P(y|x) has changed.
    {parameters}

    Returns
    -------
    found : TargetPerformance
        Estimates with intervals, by metric: ``found["accuracy"]``.

    Examples
    --------
    >>> import covshift
    >>> import numpy as np
    >>> from sklearn.linear_model import LogisticRegression
    >>> rng = np.random.default_rng(0)
    >>> X, X_target = rng.normal(size=(400, 2)), rng.normal(0.5, 1, size=(200, 2))
    >>> y = X[:, 0] + rng.normal(size=400) > 0
    >>> model = LogisticRegression().fit(X[:200], y[:200])
    >>> found = covshift.estimate(model, X[200:], y[200:], X_target)
    >>> found["accuracy"]["low"] <= found["accuracy"]["value"] <= found["accuracy"]["high"]
    True
    """
    _must_be_fitted(model)
    if not isinstance(ratio, (str, DensityRatio)):
        raise TypeError(
            "ratio must be the name of a method such as 'logistic', or a density ratio such as "
            f"covshift.KMM(), not {ratio!r}"
        )
    names, y = _scorers(scoring), one_column(y, "y")
    known = None if truth is None else _pair(truth)
    p, target_p = _probabilities(model, X), _probabilities(model, X_target)
    codes = _codes(model.classes_, y, "y")
    given = _ratio_data(X, X_target)
    options = {
        "level": level,
        "ratio": ratio_option(ratio),
        "ratio_lam": ratio_lam,
        "folds": folds,
        "random_state": seed_of(random_state),
        "threads": thread_count(threads),
    }
    rows = (given.data, given.target, given.names, p, codes, target_p, options)
    found, log_weight = _core.estimate(*rows)
    warn_of(given.target)
    data: dict[str, Any] = in_python(json.loads(found))
    data.update(level=level, classes=[str(c) for c in model.classes_])
    weight = np.exp(log_weight - log_weight.max())
    for name in names:
        if data["can_tell"]:
            score = _scored(name, model, p, y, weight, level, options["random_state"])
        else:
            score = {**data["estimates"][-1], "metric": str(name), "method": "weighting"}  # no values
        data["estimates"].append(score)
    if known is not None:
        X_truth, y_truth = known
        some = _ratio_data(X, X_truth)
        concept = _core.changed_concept(
            some.data, some.target, some.names, p, codes, _probabilities(model, X_truth),
            _codes(model.classes_, y_truth, "y of truth"), data["classes"], options,
        )
        data["concept"] = in_python(json.loads(concept))
    return TargetPerformance(data, partial(_core.diagnose_estimate, *rows))


class _QuadraticRatio(LogisticRatio):
    _name = "quadratic"


class ConformalClassifier(ClassifierMixin, BaseEstimator):
    """Sets of classes that hold the true one with probability 1 - alpha on the target.

    Weighted conformal prediction (Tibshirani et al. 2019) around any classifier: held-out scores are
    weighted by the density ratio. A row that the training data do not support gets every class.

    Parameters
    ----------
    estimator : classifier
        Of any package, with ``predict_proba``. Missing values in numbers are its own affair: for the
        density ratio they are imputed.
    cv : int or "prefit", default=5
        Folds for scores that the classifier has not seen (it is then fitted to all rows), or "prefit":
        the estimator is fitted, and the rows given to ``fit`` are others.
    random_state : int, RandomState or None, default=0
        Of the folds and the density ratio.
    threads : int, default=None
        Of the density ratio; None means all cores.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The classes, in order.
    estimator_ : classifier
        The fitted classifier.
    scores_, log_weights_ : ndarray of shape (n_samples,)
        Of the rows that calibrate: 1 - the probability of the true class, and log density ratios.
    ratio_ : LogisticRatio or None
        The density ratio, with squares and products of the columns where a linear one is rejected;
        None without a target.
    ratio_p_value_ : float or None
        Of a test whether the density ratio fits the samples; None without a target, or where one of
        them has a single row. ``predict_set`` warns if it is below 0.05, or if the target has rows
        unlike any training row.

    Examples
    --------
    >>> import covshift
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> X, X_target = rng.normal(size=(400, 2)), rng.normal(0.5, 1, size=(200, 2))
    >>> y = X[:, 0] + rng.normal(size=400) > 0
    >>> sets = covshift.ConformalClassifier(covshift.lr(lam=0.1)).fit(X, y, X_target)
    >>> sets.predict_set(X_target, alpha=0.1).shape
    (200, 2)
    """

    classes_: npt.NDArray[Any]
    estimator_: Any
    scores_: Floats
    log_weights_: Floats
    ratio_: LogisticRatio | None
    ratio_p_value_: float | None
    _filled: Filled | FilledTable | None
    _doubt: str

    def __init__(
        self,
        estimator: Any,
        *,
        cv: int | Literal["prefit"] = 5,
        random_state: RandomState = 0,
        threads: int | None = None,
    ) -> None:
        self.estimator = estimator
        self.cv = cv
        self.random_state = random_state
        self.threads = threads

    def fit(self, X: Data, y: Labels, X_target: Data | None = None) -> Self:
        """Learns the classifier (unless it is prefit), the ratio and the calibration scores.

        Parameters
        ----------
        X : array-like, CSR matrix or data frame of shape (n_samples, n_features)
            Inputs.
        y : array-like of shape (n_samples,)
            Their classes.
        X_target : like X, of shape (n_target, n_features), default=None
            Inputs from where the sets are used. Without it no shift is assumed.

        Returns
        -------
        self : ConformalClassifier
            The fitted estimator.
        """
        y = one_column(y, "y")
        p = self._held_out(X, y, X_target)
        self.classes_ = np.asarray(self.estimator_.classes_)
        codes = _codes(self.classes_, y, "y")
        if len(codes) != len(p):
            raise ValueError(f"{len(codes)} labels for {len(p)} rows of X")
        self.scores_ = 1 - p[np.arange(len(codes)), codes]
        self.log_weights_ = np.zeros(len(codes))
        self.ratio_ = self.ratio_p_value_ = None
        self._doubt = ""
        if X_target is not None:
            self._learn_ratio(X, X_target)
        return self

    def _held_out(self, X: Any, y: Any, X_target: Any) -> Floats:
        """Fits the classifier, unless it is; the probabilities of rows that it has not seen."""
        if self.cv == "prefit":
            _must_be_fitted(self.estimator)
            self.estimator_ = self.estimator
            return _probabilities(self.estimator_, X)
        if not isinstance(self.cv, numbers.Integral) or self.cv < 2:
            raise ValueError(f'cv must be a number of folds, at least 2, or "prefit", not {self.cv!r}')
        _must_have_probabilities(self.estimator)
        folds = StratifiedKFold(self.cv, shuffle=True, random_state=seed_of(self.random_state) % 2**32)
        # An estimator that learns from the target as well, such as RobustClassifier, gets it.
        target: dict[str, Any] = {}
        if X_target is not None and "X_target" in signature(self.estimator.fit).parameters:
            target = {"X_target": Target(X_target)}
        p = cross_val_predict(
            clone(self.estimator), X, y, cv=folds, method="predict_proba", params=target
        )
        p = _checked(self.estimator, p, len(np.unique(np.asarray(y))))
        self.estimator_ = clone(self.estimator).fit(X, y, **target)
        return p

    def _learn_ratio(self, X: Any, X_target: Any) -> None:
        """The density ratio, with squares and products where a linear one is rejected, and its test."""
        given = _ratio_data(X, X_target)
        self._filled = filled(X, X_target)
        if self._filled is not None:
            X, X_target = self._filled(X), self._filled(X_target)
            given = _ratio_data(X, X_target)
        options = {
            "level": 0.95,
            "ratio": "logistic",
            "ratio_lam": "cv",
            "folds": 5,
            "random_state": seed_of(self.random_state),
            "threads": thread_count(self.threads),
        }
        rows, target_rows = given.data.rows, given.target.rows
        quadratic = False
        if min(rows, target_rows) < 2:
            self._doubt = "a density ratio of one row cannot be tested"
            self.log_weights_ = _core.held_out_log_weights(
                given.data, given.target, given.names, options
            )
        else:  # of an estimate only what it says about the ratio, which any probabilities will do for
            found, self.log_weights_ = _core.estimate(
                given.data, given.target, given.names, np.full((rows, 2), 0.5),
                np.zeros(rows, dtype=np.int32), np.full((target_rows, 2), 0.5), options,
            )
            judged = json.loads(found)
            quadratic = judged["quadratic"]
            self.ratio_p_value_ = judged["ratio_p_value"]
            self._doubt = judged.get("reason", "")
            if not self._doubt and self.ratio_p_value_ < _RATIO_LEVEL:
                self._doubt = (
                    "the weighted training rows differ from the target "
                    f"(p = {self.ratio_p_value_:.2g}): the density ratio misses a part of the shift; "
                    "label target rows, and fit the sets to them with cv='prefit'"
                )
        kind = _QuadraticRatio if quadratic else LogisticRatio
        self.ratio_ = kind(random_state=self.random_state, threads=self.threads)
        self.ratio_.fit(X, X_target=X_target)

    def predict_proba(self, X: Data) -> Floats:
        """The classifier's probabilities.

        Parameters
        ----------
        X : as for ``fit``, of shape (n_samples, n_features)
            Rows.

        Returns
        -------
        p : ndarray of shape (n_samples, n_classes)
        """
        check_is_fitted(self)
        return self.estimator_.predict_proba(X)

    def predict(self, X: Data) -> npt.NDArray[Any]:
        """The classifier's predictions.

        Parameters
        ----------
        X : as for ``fit``, of shape (n_samples, n_features)
            Rows.

        Returns
        -------
        classes : ndarray of shape (n_samples,)
        """
        check_is_fitted(self)
        if not hasattr(self.estimator_, "predict"):
            return self.classes_[self.predict_proba(X).argmax(axis=1)]
        return self.estimator_.predict(X)

    def predict_set(self, X: Data, alpha: float = 0.1) -> npt.NDArray[np.bool_]:
        """For each row and class whether the class is in the set.

        Parameters
        ----------
        X : as for ``fit``, of shape (n_samples, n_features)
            Rows.
        alpha : float, default=0.1
            The share of rows whose set may lack the true class.

        Returns
        -------
        inside : ndarray of bool of shape (n_samples, n_classes)
        """
        check_is_fitted(self)
        if not isinstance(alpha, numbers.Real):
            raise TypeError(f"alpha must be a number in (0, 1), not {alpha!r}")
        p = _probabilities(self.estimator_, X)
        log_weight = np.zeros(len(p))
        if self.ratio_ is not None:
            log_weight = self.ratio_.log_ratio(X if self._filled is None else self._filled(X))
        sets = _core.prediction_sets(
            np.ascontiguousarray(self.scores_), np.ascontiguousarray(self.log_weights_), float(alpha), p,
            np.ascontiguousarray(log_weight),
        ).astype(bool)
        if self._doubt:
            warnings.warn(
                "on the target the prediction sets may hold the true class in less than "
                f"{100 * (1 - alpha):.4g}% of the rows: {self._doubt}",
                UserWarning,
                stacklevel=2,
            )
        return sets
