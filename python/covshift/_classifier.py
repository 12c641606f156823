"""The classifier."""

from __future__ import annotations

import os
import re
import warnings
from collections.abc import Iterable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.exceptions import ConvergenceWarning, NotFittedError
from sklearn.utils import check_array, column_or_1d
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import _check_sample_weight, check_consistent_length

from . import _core
from ._data import (
    data_of,
    fast_matrix,
    has_categories,
    plain_classes,
    refused_as_by_scikit_learn,
    training_data,
    view_groups,
    warn_unseen,
)
from ._options import real, seed_of, shown, text, text_or_number, thread_count, whole
from ._ratio import DEFAULTS, DensityRatio


@dataclass(frozen=True)
class Certificate:
    """What can be said of the target without its labels; see docs/certificate.md for each number."""

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
    """A group of features, how far it shifted, and whether its evidence is trusted."""

    name: str
    features: list[str]
    kl: float
    generalized: bool


class RobustClassifier(ClassifierMixin, BaseEstimator):
    """A classifier for data whose inputs differ from those it was trained on.

    Learns from labelled data and, unlabelled, the inputs it is for. Where training data say little
    about those, it says so: probabilities approach those of an ignorant, and honest, predictor.

    Parameters
    ----------
    loss : str or array-like of shape (n_actions, n_classes)
        "log", "zero-one", "absolute", "squared" (classes in order), "abstain:A" (abstaining costs A),
        "hinge", or a matrix of costs: a row for each action, a column for each class.
    generalize : str
        Where the evidence of the training data is trusted: "train" (the most cautious), "test"
        (importance weighting), "views", "overlap" or "overlap:D" (evidence fades where training is
        scarcer than the target), "temper:G" with G in [0, 1] between the first two,
        "temper:auto" (G chosen), "none" (ignore the shift), "column:NAME" (a column of a DataFrame
        with log P_gen/P_target), or "auto": the method with the smallest held-out loss.
    views : str or dict
        Groups of features: "all" (one), "each" (every column), the path of a file of groups, or a
        dict of names to lists of columns, by name (* and ? are wildcards) or number. Columns in no
        group form the view "rest".
    generalized_views : "auto" or list of str
        For ``generalize="views"``: the views to trust; "auto": those that hardly shift.
    view_threshold : float
        "auto" trusts views whose symmetric KL between training and target is below this.
    lam : "iwcv", "cv", "auto" or positive number
        Regularisation: chosen by (importance-weighted) cross validation, or given. "auto": "cv" if
        the method ignores the shift, else "iwcv".
    lams : sequence of float, optional
        What to choose from; None: the paper's 2^-16, 2^-12, 2^-8, 2^-4, 1.
    folds : int
        Of the cross validation.
    ratio : str or density ratio
        "logistic", "gaussian", "ulsif", "rulsif", "kliep", "kmm", "none", "column:NAME" (a column of
        a DataFrame with P_target/P_train), or an estimator such as ``KMM(bound=20)`` whose options
        are to be used (with the features, seed and threads of this one).
    ratio_lam : "stable", "cv", "paper" or positive number
        Regularisation of the logistic ratio; see ``LogisticRatio``.
    scale : "unit", "standard" or "none"
        Of the features, fitted on the training data. With "none" (say, behind a scaler in a
        pipeline) a contiguous matrix is never copied.
    bias : "joint", "test" or "none"
        The constant feature: under the assumption of all inputs together, fully trusted, or absent.
    classes : sequence, optional
        The classes in their order, for "absolute", "squared" and cost matrices; None: sorted.
    delta : float
        Of the certificate's finite-sample term.
    tol : float
        The duality gap to reach, relative to the objective.
    max_iter : int
        0: the solver's own limit.
    time_limit : float
        Seconds for the last fit; 0: none.
    random_state : int, RandomState or None
        Of folds and whatever else is random. An integer is the seed of the program's --seed.
    threads : int, optional
        None: as many as the process may use. Results do not depend on it.
    progress : bool or callable
        True: a line on stderr. A callable is given a text and the share that is done.

    Attributes
    ----------
    classes_ : the classes, in order.
    actions_ : what ``predict`` can return and ``predict_proba`` has columns for: the classes, with one
        more action ``abstain_`` where the loss has it; "action 1", ... for a cost matrix whose rows
        are neither.
    abstain_ : what ``predict`` returns for "abstain" (only if the loss has that action): "abstain"
        for classes that are texts; for numbers -1, or one less than the smallest class where that is
        below 0.
    certificate_ : what is promised of the target.
    views_ : the views, each with its KL and whether it is trusted.
    lam_ : the regularisation used.
    coef_ : weights of the encoded, scaled features (rows; the bias last) for each class.
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
        generalize="train",
        views="all",
        generalized_views="auto",
        lam="iwcv",
        ratio="logistic",
        *,
        view_threshold=0.1,
        lams=None,
        folds=5,
        ratio_lam="stable",
        scale="unit",
        bias="joint",
        classes=None,
        delta=0.05,
        tol=1e-6,
        max_iter=0,
        time_limit=0,
        random_state=0,
        threads=None,
        progress=False,
    ):
        self.loss = loss
        self.generalize = generalize
        self.views = views
        self.generalized_views = generalized_views
        self.lam = lam
        self.ratio = ratio
        self.view_threshold = view_threshold
        self.lams = lams
        self.folds = folds
        self.ratio_lam = ratio_lam
        self.scale = scale
        self.bias = bias
        self.classes = classes
        self.delta = delta
        self.tol = tol
        self.max_iter = max_iter
        self.time_limit = time_limit
        self.random_state = random_state
        self.threads = threads
        self.progress = progress

    # --- fitting ---

    def fit(self, X, y, X_target=None, sample_weight=None):
        """Learns from labelled data and the unlabelled inputs of the target.

        Parameters
        ----------
        X : array-like, CSR matrix, pandas or polars DataFrame of shape (n_samples, n_features)
            A contiguous float64 or float32 matrix is looked at where it is. Columns of a DataFrame
            that are no numbers are one-hot encoded.
        y : array-like of shape (n_samples,)
            Classes.
        X_target : like X, or Target, optional
            Inputs from where the model will be used. Without it there is no shift: the method without
            it is fitted, and "iwcv" is "cv".
        sample_weight : array-like of shape (n_samples,), optional
            2 counts as the row twice, 0 as its absence.
        """
        options = self._core_options(X_target is not None)
        as_table = any(
            isinstance(value, str) and value.startswith("column:")
            for value in (self.ratio, options["generalize"])
        )
        label = str(getattr(y, "name", None) or "label")
        _refuse_missing(y)
        given = training_data(self, X, X_target, y=y, as_table=as_table, finite=False)
        if not plain_classes(y, given.X.shape[0]):
            y = column_or_1d(y, warn=True)
            check_consistent_length(given.X, y)
            if y.dtype.kind not in "iub":  # those are classes always
                check_classification_targets(y)
        options["views"] = view_groups(self.views, given.columns)
        while label in given.columns:
            label += "_"
        options["label"] = label
        self.classes_, codes = self._encode(y)
        options["classes"] = [_class_name(c) for c in self.classes_]
        if sample_weight is not None:
            sample_weight = _check_sample_weight(
                sample_weight, given.X, dtype=np.float64, ensure_non_negative=True
            )
        with shown(self.progress) as progress, refused_as_by_scikit_learn(self, X, X_target):
            self._model = _core.fit(
                given.data, given.target, given.names, codes, sample_weight, options, progress
            )
        self._as_table = as_table or has_categories(X)
        if given.target is not None:
            warn_unseen(self._model, given.target, "X_target")
        self._describe()
        self._report(self._model.report())
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
        """All options by the names of the extension module, which checks them."""
        if isinstance(self.loss, str):
            loss = self.loss
        elif np.ndim(self.loss) != 2:
            raise ValueError(
                "loss must be a name such as 'log', or a matrix of costs with a row for each action and "
                f"a column for each class, not {self.loss!r}"
            )
        else:
            loss = check_array(self.loss, dtype=np.float64, order="C", input_name="loss (costs)")
        options = dict(DEFAULTS)
        if isinstance(self.ratio, DensityRatio):
            options.update(self.ratio._options(), ratio=self.ratio._method())
        else:
            ratio = "none" if self.ratio is None else text("ratio", self.ratio)
            ratio_lam = text_or_number("ratio_lam", self.ratio_lam)
            options.update(ratio=ratio, ratio_lam=ratio_lam, alpha=0.1)
        lam = text_or_number("lam", self.lam)
        lam = "" if lam == "auto" else lam
        generalize = text("generalize", self.generalize)
        if not shifted:
            generalize, lam = "none", "cv" if lam in ("", "iwcv") else lam
        automatic = isinstance(self.generalized_views, str) and self.generalized_views == "auto"
        trusted = [] if automatic else self.generalized_views
        if not isinstance(trusted, Iterable):
            raise TypeError(
                f"generalized_views must be 'auto' or a list of names of views, not {trusted!r}"
            )
        options.update(
            loss=loss,
            generalize=generalize,
            automatic_views=automatic,
            generalized_views=[trusted] if isinstance(trusted, str) else [str(v) for v in trusted],
            view_threshold=real("view_threshold", self.view_threshold),
            lam=lam,
            lams=[] if self.lams is None else [real("lams", x) for x in self.lams],
            folds=whole("folds", self.folds),
            scale=text("scale", self.scale),
            bias=text("bias", self.bias),
            delta=real("delta", self.delta),
            tol=real("tol", self.tol),
            max_iter=whole("max_iter", self.max_iter),
            time_limit=real("time_limit", self.time_limit),
            seed=seed_of(self.random_state),
            threads=thread_count(self.threads),
        )
        for name in ("max_iter", "time_limit"):
            if options[name] < 0:
                raise ValueError(f"{name} must not be negative, but is {options[name]}; 0 is none of yours")
        return options

    def _describe(self) -> None:
        """The attributes that a model file has as well."""
        model = self._model
        self.certificate_ = Certificate(**model.certificate())
        self.views_ = [View(*view) for view in model.views()]
        self.lam_ = model.lam
        self.coef_ = model.weights()
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
        self.gap_ = report["gap"]
        self.status_ = report["status"]
        self.path_ = report["candidates"]
        self.effective_sample_size_ = report["effective_sample_size"]
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

    # --- asking ---

    def _ask(self, question: str, X) -> np.ndarray:
        try:
            model = self._model
        except AttributeError:
            raise NotFittedError(
                f"This {type(self).__name__} instance is not fitted yet. Call 'fit' with appropriate "
                "arguments before using this estimator."
            ) from None
        data = None
        if not self._as_table and not hasattr(self, "feature_names_in_"):
            data = fast_matrix(X, self.n_features_in_)
        fast = data is not None
        if not fast:
            data = data_of(self, X, as_table=True if self._as_table else None)
        threads = 1 if data.rows <= 2048 else thread_count(self.threads)
        try:
            answer = getattr(model, question)(data, threads)
        except ValueError:
            if fast:
                data_of(self, X)  # scikit-learn's words, where it has any
            raise
        if self._as_table:
            warn_unseen(model, data, "X", stacklevel=4)
        return answer

    def predict(self, X) -> np.ndarray:
        """The likeliest action of each row: a class, or ``abstain_``."""
        actions = self._ask("predict", X)
        return self.actions_[actions]

    def predict_proba(self, X) -> np.ndarray:
        """Probabilities with which each of ``actions_`` (mostly: ``classes_``) is to be taken."""
        return self._ask("probabilities", X)

    def decision_function(self, X) -> np.ndarray:
        """The potentials psi of each class; of two classes, by how much the second is ahead."""
        psi = self._ask("potentials", X)
        return psi[:, 1] - psi[:, 0] if psi.shape[1] == 2 else psi

    def log_ratio(self, X) -> np.ndarray:
        """log P_target(x)/P_train(x) of each row; 0 where the model was fitted without a target."""
        return self._ask("log_ratio", X)

    def _fitted(self) -> bool:
        return hasattr(self, "_model")

    def __sklearn_is_fitted__(self) -> bool:
        return self._fitted()

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags

    # --- files ---

    def save(self, path) -> None:
        """Writes the model file, which the program reads as well; whole or not at all."""
        if not self._fitted():
            raise NotFittedError("fit the model before saving it")
        self._model.save(os.fspath(path))

    @classmethod
    def load(cls, path) -> RobustClassifier:
        """Reads a model file, of this package or of the program.

        Class names in a file are texts; where all are numbers, or True and False, ``classes_`` are
        again. Options that a file does not hold are the defaults.
        """
        model = _core.Model.load(os.fspath(path))
        self = cls(loss=model.loss, generalize=model.generalize, lam=model.lam)
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
        return  # scikit-learn sees a missing number, or no y at all
    for row, label in enumerate(values.ravel()):
        if label is None or type(label).__name__ == "NAType" or label != label:
            raise ValueError(f"y: the class of row {row + 1} is missing; fill it in or drop the row")


def _numbered(y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """np.unique with the inverse; whole numbers that lie close together need no sorting."""
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
    """Numbers if all are; what only Python takes for one ("1_0", "nan") or a code ("007") is not."""
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
