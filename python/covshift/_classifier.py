"""The classifier."""

from __future__ import annotations

import json
import os
import re
import warnings
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from sklearn.base import ClassifierMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_array, column_or_1d
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_consistent_length, check_is_fitted

from . import _core
from ._data import (
    CoreEstimator,
    checked_weight,
    plain_classes,
    refused_as_by_scikit_learn,
    training_data,
    view_groups,
    warn_of,
)
from ._frames import frame_of, has_categories
from ._options import documented, seed_of, shown, store, thread_count
from ._ratio import ratio_option


@dataclass(frozen=True)
class Certificate:
    """What is known about the target without its labels; docs/certificate.md explains each number."""

    game_value: float
    gap: float
    target_value: float | None
    target_risk: float | None
    mean_weight: float
    reliable: bool
    finite_sample: float
    delta: float
    statement: str

    def __str__(self) -> str:
        return self.statement


class View(NamedTuple):
    """A group of columns, how far it shifted, whether its evidence is trusted, and its feature maps."""

    name: str
    features: list[str]
    kl: float
    generalized: bool
    maps: str


class Tried(NamedTuple):
    """A candidate of the choice: its held-out loss, and its share in the model."""

    features: str
    generalize: str
    lam: float
    loss: float
    error: float
    share: float


@documented
class RobustClassifier(ClassifierMixin, CoreEstimator):
    """A classifier for data whose inputs differ from those it was trained on.

    Learns from labelled data and the unlabelled inputs it will be used on. Where training data say
    little about those, probabilities become less certain.

    Parameters
    ----------
    {parameters}
    progress : bool or callable
        True prints a line on stderr; a callable is called with the stage and the share done.

    Beyond these values, ``loss`` may be a matrix of costs with a row for each action and a column for
    each class; ``generalize="auto"`` lets held-out rows choose: a mixture of logistic regression and
    models that allow for the shift if the loss is "log", one of them otherwise; ``views`` may
    be a dict of names to lists of columns, by name (* and ? are wildcards) or number, or to
    ``{"columns": [...], "features": "nystroem:200"}``; a column may be in several views, and columns in
    no group form the view "rest"; ``ratio`` may be an estimator such as ``KMM(bound=20)``, whose
    options are used with the scaling, seed and threads of this one; ``random_state`` may be a
    RandomState or None, and an integer is the program's --seed; ``threads=None`` uses all cores of the
    process. With ``scale="none"`` a contiguous matrix is never copied.

    Attributes
    ----------
    classes_ : the classes, in order.
    actions_ : what ``predict`` can return and the columns of ``predict_proba``: the classes, plus
        ``abstain_`` if the loss has that action; "action 1", ... for a cost matrix whose rows are
        neither.
    abstain_ : what ``predict`` returns to abstain (only if the loss has that action): "abstain" if
        classes are strings; for numbers -1, or the smallest class minus one if that is less.
    certificate_ : what is promised for the target.
    views_ : the views, each with its KL and whether it is trusted.
    choice_ : why this model, in words, if something was chosen.
    tried_ : what was tried: (features, generalize, lam, loss, error, share) with the held-out loss and the
        share in the model; 0 if it was not used.
    lam_ : the regularisation used; of a mixture, that of its largest share.
    coef_ : weights of the features (rows; the bias last) for each class. Linear features are the
        encoded, scaled columns; otherwise a row for each output of the views' maps, in the order of
        ``feature_names_``. Of a mixture, those of its largest share.
    feature_names_ : names of the rows of ``coef_`` but the bias.
    n_iter_, gap_, status_ : of the solver.
    path_ : held-out losses of the cross validation: (method, generalize, [(lam, loss, error), ...]).
    effective_sample_size_ : of the weighted training sample; None without a target.
    n_features_in_, feature_names_in_ : of the data.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> import covshift
    >>> X, y = load_wine(return_X_y=True)
    >>> X_train, X_target, y_train, y_target = covshift.biased_split(X, y, n_train=60, n_target=60)
    >>> model = covshift.RobustClassifier().fit(X_train, y_train, X_target)
    >>> print(model.certificate_)  # doctest: +SKIP
    """

    def __init__(
        self,
        loss="log",
        generalize="auto",
        views="all",
        generalized_views="auto",
        lam="auto",
        ratio="logistic",
        *,
        features=None,
        view_threshold=0.1,
        caution=None,
        lams=None,
        penalty="squared",
        folds=5,
        ratio_lam="stable",
        scale="standard",
        bias="joint",
        classes=None,
        delta=0.05,
        tol=1e-6,
        max_iter=0,
        time_limit=0,
        dates=None,
        missing="indicator",
        random_state=0,
        threads=None,
        progress=False,
    ):
        store(locals())

    # --- fitting ---

    def fit(self, X, y, X_target=None, sample_weight=None):
        """Learns from labelled data and the unlabelled inputs of the target.

        Parameters
        ----------
        X : array-like, CSR matrix, DataFrame or Arrow table of shape (n_samples, n_features)
            A contiguous float64 or float32 matrix is not copied. Non-numeric columns of a table (of
            pandas, polars, pyarrow, duckdb, ...) are one-hot encoded.
        y : array-like of shape (n_samples,)
            Classes.
        X_target : like X, or Target, optional
            Inputs from where the model will be used. Without it no shift is assumed, and "iwcv" means
            "cv".
        sample_weight : array-like of shape (n_samples,), optional
            A weight of 2 counts as the row twice, 0 as its absence.
        """
        X, X_target = frame_of(X), frame_of(X_target)
        options = self._core_options(X_target is not None)
        as_table = any(
            isinstance(value, str) and "column:" in value
            for value in (self.ratio, options["generalize"])
        )
        label = str(getattr(y, "name", None) or "label")
        _refuse_missing(y)
        given = training_data(self, X, X_target, y=y, as_table=as_table, finite=False)
        if not plain_classes(y, given.X.shape[0]):
            y = column_or_1d(y, warn=True)
            check_consistent_length(given.X, y)
            if y.dtype.kind not in "iub":  # which are always classes
                check_classification_targets(y)
        options["views"] = view_groups(self.views, given.columns)
        while label in given.columns:
            label += "_"
        options["label"] = label
        self.classes_, codes = self._encode(y)
        options["classes"] = [_class_name(c) for c in self.classes_]
        sample_weight = checked_weight(sample_weight, given.X)
        with shown(self.progress) as progress, refused_as_by_scikit_learn(self, X, X_target):
            self._model = _core.fit(
                given.data, given.target, given.names, codes, sample_weight, options, progress
            )
        self._as_table = as_table or has_categories(X)
        warn_of(given.data)
        if given.target is not None:
            warn_of(given.target)
        self._describe()
        self._report(json.loads(self._model.report()))
        return self

    def _encode(self, y) -> tuple[np.ndarray, np.ndarray]:
        classes, codes = _numbered(y)
        if self.classes is not None:
            given = np.asarray(self.classes)
            if len(given) != len(classes) or set(given.tolist()) != set(classes.tolist()):
                raise ValueError(
                    f"classes is {list(given)}, but y has {list(classes)}; give each class once"
                )
            place = {c: i for i, c in enumerate(given.tolist())}
            codes = np.array([place[c] for c in classes.tolist()])[codes]
            classes = given.astype(classes.dtype)
        return classes, np.ascontiguousarray(codes, dtype=np.int32)

    def _core_options(self, shifted: bool) -> dict:
        """All options by name; the extension module checks them."""
        options = self.get_params(deep=False)
        del options["progress"]
        if not isinstance(self.loss, str):
            if np.ndim(self.loss) != 2:
                raise ValueError(
                    "loss must be a name such as 'log', or a matrix of costs with a row for each action "
                    f"and a column for each class, not {self.loss!r}"
                )
            options["loss"] = check_array(
                self.loss, dtype=np.float64, order="C", input_name="loss (costs)"
            )
        if not shifted:
            options["generalize"] = "auto" if self.generalize == "auto" else "none"
            options["lam"] = "cv" if self.lam in ("auto", "iwcv") else self.lam
            if self.generalize != "none":
                warnings.warn(
                    "fitted without X_target: the shift is ignored, as if the model were used on data "
                    "like X; give the inputs it will be used on, or choose generalize='none'",
                    UserWarning,
                    stacklevel=3,
                )
        options.update(
            ratio="none" if self.ratio is None else ratio_option(self.ratio),
            random_state=seed_of(self.random_state),
            threads=thread_count(self.threads),
        )
        return options

    def _describe(self) -> None:
        """Sets the attributes that a model file has too."""
        model = self._model
        self.certificate_ = Certificate(**json.loads(model.certificate()))
        self.views_ = [View(*view) for view in model.views()]
        self.lam_ = model.lam
        self.coef_ = model.weights()
        self.feature_names_ = model.feature_names()
        self.method_ = model.method
        names, actions = len(self.classes_), len(model.actions)
        if hasattr(self, "abstain_"):  # of an earlier fit
            del self.abstain_
        if actions == names:
            self.actions_ = self.classes_
        elif actions == names + 1:
            self.abstain_ = _abstain_value(self.classes_, model.actions[-1])
            self.actions_ = np.append(self.classes_, self.abstain_)
        else:
            self.actions_ = np.array(model.actions)

    def _report(self, report: dict) -> None:
        self.n_iter_ = report["iterations"]
        self.gap_ = np.inf if report["gap"] is None else report["gap"]
        self.status_ = report["status"]
        self.path_ = [
            (
                tried["method"],
                tried["generalize"],
                [(point["lambda"], point["loss"], point["standard_error"]) for point in tried["path"]],
            )
            for tried in report["selection"]
        ]
        self.choice_ = report["choice"]
        self.tried_ = [
            Tried(t["features"], t["generalize"], t["lambda"], t["loss"], t["standard_error"], t["share"])
            for t in report["selection"]
        ]
        self.effective_sample_size_ = (report["ratio"] or {}).get("effective_sample_size")
        if self.status_ == "non_finite":
            raise ArithmeticError(
                "the numbers overflowed; scale the features (scale='unit') or regularise the density "
                "ratio more"
            )
        if self.status_ != "converged":
            warnings.warn(
                f"not converged ({self.status_}): the objective is within {self.gap_:.2g} of the "
                "optimum; allow more iterations (max_iter) or time (time_limit), or scale the features",
                ConvergenceWarning,
                stacklevel=3,
            )

    # --- predicting ---

    def predict(self, X) -> np.ndarray:
        """The likeliest action of each row: a class, or ``abstain_``."""
        chosen = self._ask("predict", X)
        return self.actions_[chosen]

    def predict_proba(self, X) -> np.ndarray:
        """The probability of each of ``actions_`` (usually ``classes_``)."""
        return self._ask("probabilities", X)

    def decision_function(self, X) -> np.ndarray:
        """The potential psi of each class; for two classes, psi of the second minus the first."""
        psi = self._ask("potentials", X)
        return psi[:, 1] - psi[:, 0] if psi.shape[1] == 2 else psi

    def log_ratio(self, X) -> np.ndarray:
        """log P_target(x)/P_train(x) of each row; 0 if the model was fitted without a target."""
        return self._ask("log_ratio", X)

    # --- files ---

    def save(self, path) -> None:
        """Writes the model file, which the program can read too, atomically."""
        check_is_fitted(self)
        self._model.save(os.fspath(path))

    @classmethod
    def load(cls, path) -> RobustClassifier:
        """Reads a model file written by this package or by the program.

        Class names in a file are strings; if all are numbers, or True and False, so are ``classes_``.
        Options that are not in the file have their defaults.
        """
        model = _core.Model.load(os.fspath(path))
        self = cls(
            loss=model.loss,
            generalize=model.generalize,
            lam=model.lam,
            dates=model.dates or None,
            missing=model.missing,
        )
        self._model = model
        self.classes_ = _as_labels(model.classes)
        names = model.sources()
        self.n_features_in_ = len(names)
        if not model.numbered:
            self.feature_names_in_ = np.array(names, dtype=object)
        self._as_table = model.needs_columns or not model.numeric
        self._describe()
        return self


def _refuse_missing(y) -> None:
    values = np.asarray(y)
    if values.ndim == 0 or values.dtype != object:
        return  # scikit-learn reports a missing number or y
    for row, label in enumerate(values.ravel()):
        if label is None or type(label).__name__ == "NAType" or label != label:
            raise ValueError(f"y: the class of row {row + 1} is missing; fill it in or drop the row")


def _numbered(y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """np.unique with the inverse, without sorting for integers in a small range."""
    if y.dtype.kind in "iu" and len(y):
        low, high = int(y.min()), int(y.max())
        if -(2**31) <= low and high < 2**31 and high - low < len(y):
            place = np.subtract(y, low, dtype=np.int64, casting="unsafe")
            present = np.zeros(high - low + 1, dtype=bool)
            present[place] = True
            code = np.cumsum(present, dtype=np.int32) - np.int32(1)
            return (np.flatnonzero(present) + low).astype(y.dtype), code[place]
    classes, codes = np.unique(y, return_inverse=True)
    return classes, codes.reshape(-1)


def _class_name(label) -> str:
    return str(label.item() if isinstance(label, np.generic) else label)


_WHOLE = r"[-+]?(0|[1-9]\d*)"


def _as_labels(names: list[str]) -> np.ndarray:
    """Numbers if all names are numbers, except Python-only spellings ("1_0", "nan") and codes ("007")."""
    if set(names) <= {"False", "True"}:
        return np.array([name == "True" for name in names])
    for kind, pattern in ((int, _WHOLE), (float, _WHOLE + r"(\.\d*)?([eE][-+]?\d+)?")):
        if all(re.fullmatch(pattern, name) for name in names):
            return np.array([kind(name) for name in names])
    return np.array(names)


def _abstain_value(classes: np.ndarray, name: str):
    if classes.dtype.kind not in "biuf":
        return name
    return min(-1, classes.min().item() - 1)
