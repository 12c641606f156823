"""How good is any classifier on a target without labels, and sets of classes that cover there."""

from __future__ import annotations

import json
from inspect import signature

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.metrics import get_scorer
from sklearn.model_selection import StratifiedKFold, cross_val_predict
from sklearn.utils.validation import check_is_fitted

from . import _core
from ._data import training_data, warn_of
from ._options import seed_of, thread_count
from ._ratio import LogisticRatio, ratio_option
from ._scoring import Target

_RESAMPLES = 400


def _probabilities(model, X) -> np.ndarray:
    if not hasattr(model, "predict_proba"):
        raise TypeError(
            f"{type(model).__name__} has no predict_proba, so it says nothing about its certainty; "
            "wrap it in sklearn.calibration.CalibratedClassifierCV"
        )
    return np.ascontiguousarray(model.predict_proba(X), dtype=np.float64)


def _codes(classes, y, what: str) -> np.ndarray:
    place = {c: i for i, c in enumerate(np.asarray(classes).tolist())}
    labels = np.asarray(y).tolist()
    unknown = sorted({str(label) for label in labels if label not in place})
    if unknown:
        raise ValueError(
            f"{what} has classes that the model does not know: {', '.join(unknown[:5])}; the model's "
            f"classes are {', '.join(map(str, place))}"
        )
    return np.array([place[label] for label in labels], dtype=np.int32)


class TargetPerformance:
    """The result of :func:`estimate`.

    Attributes
    ----------
    can_tell : False if the labelled rows say nothing about the target; ``reason`` says why.
    estimates : list of dict, metric, method, value, low, high, effective_sample_size.
    effective_sample_size : so many rows of the target are the labelled ones worth.
    concept : dict, the test for a changed P(y|x), if some target labels were given.
    data : dict, every number, as ``covshift estimate --json`` prints them.
    """

    def __init__(self, data: dict):
        self.data = data

    def __getattr__(self, name: str):
        if name == "data" or name not in self.data:
            raise AttributeError(name)
        return self.data[name]

    def __getitem__(self, metric: str) -> dict:
        """The recommended estimate of a metric: doubly robust, or by weighting for a scorer."""
        for found in self.estimates:
            if found["metric"] == metric:
                return found
        known = ", ".join(dict.fromkeys(e["metric"] for e in self.estimates))
        raise KeyError(f"{metric!r} was not estimated; there are {known}")

    def to_frame(self):
        """A pandas DataFrame with a row for each estimate."""
        import pandas

        return pandas.DataFrame(self.estimates)

    def __repr__(self) -> str:
        lines = [
            f"{self.rows} labelled rows, worth {self.effective_sample_size:.0f} rows of the target"
        ]
        if not self.can_tell:
            lines.append(
                f"How good the classifier is on the target cannot be told: {self.reason}."
            )
        else:
            lines += [
                f"  {e['metric']:<12} {e['value']:.4f}  in [{e['low']:.4f}, {e['high']:.4f}]  "
                f"({e['method']})"
                for e in self.estimates
            ]
        if "concept" in self.data:
            lines.append(self.concept["statement"])
        return "\n".join(lines)


class _Known(ClassifierMixin, BaseEstimator):
    """Predictions that are already known; its "rows" are their positions."""

    def __init__(self, classes, p):
        self.classes_, self._p = classes, p

    def predict_proba(self, rows):
        return self._p[np.asarray(rows).ravel()]

    def predict(self, rows):
        return self.classes_[self.predict_proba(rows).argmax(axis=1)]

    def __sklearn_is_fitted__(self):
        return True


def _scored(scoring, model, p, y, weight, level, seed) -> dict:
    """A scikit-learn scorer on the weighted labelled rows; the interval by a bootstrap of them."""
    scorer = get_scorer(scoring) if isinstance(scoring, str) else scoring
    known = _Known(np.asarray(model.classes_), p)
    y = np.asarray(y)

    def at(rows):
        return scorer(known, rows.reshape(-1, 1), y[rows], sample_weight=weight[rows])

    generator = np.random.default_rng(seed)
    value = float(at(np.arange(len(y))))
    drawn = []
    for _ in range(_RESAMPLES):
        rows = generator.integers(len(y), size=len(y))
        if len(np.unique(y[rows])) == len(known.classes_):
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


def estimate(
    model,
    X,
    y,
    X_target,
    *,
    scoring=(),
    truth=None,
    level: float = 0.95,
    ratio="logistic",
    ratio_lam="cv",
    folds: int = 5,
    random_state=0,
    threads: int | None = None,
) -> TargetPerformance:
    """How good a classifier is on a target without labels.

    Parameters
    ----------
    model : any fitted classifier with ``predict_proba`` and ``classes_``.
    X, y : labelled rows that the model was not fitted to.
    X_target : like X
        Inputs from where the model is used.
    scoring : names of scikit-learn scorers or scorers, in addition to accuracy, log loss and Brier score
        Each must accept sample weights. Estimated by importance weighting.
    truth : (X, y) of some target rows, optional
        Tests whether P(y|x) has changed.
    level : the probability that an interval holds the true value.
    ratio, ratio_lam, folds, random_state, threads : of the density ratio, as in RobustClassifier.

    Examples
    --------
    >>> found = covshift.estimate(model, X_valid, y_valid, X_target)  # doctest: +SKIP
    >>> found["accuracy"]["low"], found["accuracy"]["high"]  # doctest: +SKIP
    """
    check_is_fitted(model)
    p, target_p = _probabilities(model, X), _probabilities(model, X_target)
    codes = _codes(model.classes_, y, "y")
    given = training_data(BaseEstimator(), X, X_target)
    options = {
        "level": level,
        "ratio": ratio_option(ratio),
        "ratio_lam": ratio_lam,
        "folds": folds,
        "random_state": seed_of(random_state),
        "threads": thread_count(threads),
    }
    found, log_weight = _core.estimate(
        given.data, given.target, given.names, p, codes, target_p, options
    )
    warn_of(given.target)
    data = json.loads(found)
    weight = np.exp(log_weight - log_weight.max())
    names = [scoring] if isinstance(scoring, str) or callable(scoring) else scoring
    data["estimates"] += [
        _scored(name, model, p, y, weight, level, options["random_state"]) for name in names
    ]
    if truth is not None:
        X_truth, y_truth = truth
        some = training_data(BaseEstimator(), X, X_truth)
        data["concept"] = json.loads(
            _core.changed_concept(
                some.data, some.target, some.names, p, codes, _probabilities(model, X_truth),
                _codes(model.classes_, y_truth, "the labels of truth"),
                [str(c) for c in model.classes_], options,
            )
        )
    return TargetPerformance(data)


class ConformalClassifier(ClassifierMixin, BaseEstimator):
    """Sets of classes that hold the true one with probability 1 - alpha on the target.

    Weighted conformal prediction (Tibshirani et al. 2019) around any classifier: held-out scores are
    weighted by the density ratio. A row that the training data do not support gets every class.

    Parameters
    ----------
    estimator : a classifier with ``predict_proba``.
    cv : int or "prefit"
        Folds for scores that the classifier has not seen (it is then fitted to all rows), or "prefit":
        the estimator is fitted, and the rows given to ``fit`` are others.
    random_state, threads : of the folds and the density ratio.

    Examples
    --------
    >>> sets = covshift.ConformalClassifier(model).fit(X, y, X_target)  # doctest: +SKIP
    >>> sets.predict_set(X_target, alpha=0.1)  # doctest: +SKIP
    """

    def __init__(self, estimator, *, cv=5, random_state=0, threads=None):
        self.estimator = estimator
        self.cv = cv
        self.random_state = random_state
        self.threads = threads

    def fit(self, X, y, X_target=None):
        """Learns the classifier (unless it is prefit), the ratio and the calibration scores."""
        if self.cv == "prefit":
            check_is_fitted(self.estimator)
            self.estimator_ = self.estimator
            p = _probabilities(self.estimator_, X)
        else:
            if not hasattr(self.estimator, "predict_proba"):
                _probabilities(self.estimator, X)
            folds = StratifiedKFold(
                self.cv, shuffle=True, random_state=seed_of(self.random_state) % 2**32
            )
            # An estimator that learns from the target as well, such as RobustClassifier, gets it.
            target = {}
            if X_target is not None and "X_target" in signature(self.estimator.fit).parameters:
                target = {"X_target": Target(X_target)}
            p = cross_val_predict(
                clone(self.estimator), X, y, cv=folds, method="predict_proba", params=target
            )
            self.estimator_ = clone(self.estimator).fit(X, y, **target)
        self.classes_ = np.asarray(self.estimator_.classes_)
        codes = _codes(self.classes_, y, "y")
        self.scores_ = 1 - p[np.arange(len(codes)), codes]
        self.log_weights_ = np.zeros(len(codes))
        self.ratio_ = None
        if X_target is not None:
            given = training_data(BaseEstimator(), X, X_target)
            options = {
                "level": 0.95,
                "ratio": "logistic",
                "ratio_lam": "cv",
                "folds": 5,
                "random_state": seed_of(self.random_state),
                "threads": thread_count(self.threads),
            }
            self.log_weights_ = _core.held_out_log_weights(
                given.data, given.target, given.names, options
            )
            self.ratio_ = LogisticRatio(random_state=self.random_state, threads=self.threads)
            self.ratio_.fit(X, X_target=X_target)
        return self

    def predict_proba(self, X) -> np.ndarray:
        check_is_fitted(self)
        return self.estimator_.predict_proba(X)

    def predict(self, X) -> np.ndarray:
        check_is_fitted(self)
        return self.estimator_.predict(X)

    def predict_set(self, X, alpha: float = 0.1) -> np.ndarray:
        """For each row and class whether the class is in the set: an array of bool."""
        check_is_fitted(self)
        p = _probabilities(self.estimator_, X)
        log_weight = np.zeros(len(p)) if self.ratio_ is None else self.ratio_.log_ratio(X)
        return _core.prediction_sets(
            np.ascontiguousarray(self.scores_), np.ascontiguousarray(self.log_weights_), alpha, p,
            np.ascontiguousarray(log_weight),
        ).astype(bool)
