"""The classifier."""

from __future__ import annotations

import json
import numbers
import os
import warnings
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Callable, Literal

import numpy as np
import numpy.typing as npt
from sklearn.base import ClassifierMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_array
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from . import _core
from ._data import CoreEstimator, checked_weight, refused_as_by_scikit_learn, view_groups, warn_of
from ._fitted import Certificate, Tried, View
from ._frames import frame_of, has_categories
from ._labels import abstain_value, as_labels, labelled_data, with_class_weight
from ._options import documented, in_python, seed_of, shown, thread_count
from ._ratio import DensityRatio, ratio_option
from ._typing import (
    ClassWeight,
    Costs,
    Data,
    Floats,
    Labels,
    Lambda,
    Missing,
    Progress,
    RandomState,
    RatioLambda,
    Scale,
    Views,
)

if TYPE_CHECKING:
    from typing_extensions import ParamSpec, Self

    P = ParamSpec("P")


def _if_largest_potential_wins(method: Callable[P, Floats]) -> Callable[P, Floats]:
    """The method, for losses whose likeliest action is the class with the largest potential."""

    def check(self: RobustClassifier) -> bool:
        if isinstance(self.loss, str) and self.loss in ("log", "zero-one", "hinge"):
            return True
        raise AttributeError(
            "decision_function is for the losses 'log', 'zero-one' and 'hinge', where the largest "
            "potential wins; predict_proba ranks the actions, and potentials(X) gives the potentials"
        )

    return available_if(check)(method)


@documented
class RobustClassifier(ClassifierMixin, CoreEstimator):
    """A classifier for data whose inputs differ from those it was trained on.

    Learns from labelled data and the unlabelled inputs it will be used on. Where training data say
    little about those, probabilities become less certain. docs/python.md explains losses as matrices of
    costs, views as dicts and ratios as estimators.

    Parameters
    ----------
    {parameters}

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The classes, in order.
    actions_ : ndarray of shape (n_actions,)
        What ``predict`` can return and the columns of ``predict_proba``: the classes, plus ``abstain_``
        if the loss has that action; "action 1", ... for a cost matrix whose rows are neither.
    abstain_ : str or number
        What ``predict`` returns to abstain (only if the loss has that action): "abstain" if classes are
        strings; for numbers -1, or the smallest class minus one if that is less.
    method_ : str
        The method that was fitted: the row of the table of methods with this loss and assumption ("lr",
        "robust-view", ...), or "auto". Without a target, the method that ignores the shift.
    coef_ : ndarray of shape (1, n_columns) for two classes, else (n_classes, n_columns)
        With ``intercept_``: ``X @ coef_.T + intercept_`` is ``decision_function(X)``, in the units of the
        data, as in scikit-learn (for columns scaled to deviation 1, where a row is within 8 deviations
        of the mean). Columns with categories or missing values count as their encoding,
        ``feature_names_``. Only models whose potentials are linear in x have it: one component, linear
        features, and evidence that does not fade (``generalize`` "none" or "test"); others raise
        AttributeError.
    intercept_ : ndarray of shape (1,) for two classes, else (n_classes,)
        See ``coef_``.
    coef_scaled_ : ndarray of shape (n_classes, n_outputs)
        The solver's weights for the scaled columns or the outputs of the feature maps, named by
        ``feature_names_``; of a mixture, those of its largest share. Every model has them.
    intercept_scaled_ : ndarray of shape (n_classes,)
        The solver's weights for the constant feature; 0 if ``bias="none"``.
    feature_names_ : list of str
        Names of the columns of ``coef_scaled_``.
    certificate_ : Certificate
        What is promised for the target.
    views_ : list of View
        The views, each with its KL and whether it is trusted.
    choice_ : str
        Why this model, in words; empty if nothing was chosen.
    tried_ : list of Tried
        What was tried, with its held-out loss and its share in the model; 0 if it was not used.
    lam_ : float
        The regularisation used; of a mixture, that of its largest share.
    n_iter_, gap_, status_ : int, float, str
        Of the solver.
    path_ : list of tuple
        Held-out losses of the cross validation: (method, generalize, [(lam, loss, error), ...]).
    effective_sample_size_ : float or None
        Of the weighted training sample; None without a target, or if the method ignores it.
    n_features_in_ : int
        Columns of the data.
    feature_names_in_ : ndarray of shape (n_features,)
        Their names, if they have any.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> import covshift
    >>> X, y = load_wine(return_X_y=True)
    >>> X_train, X_target, y_train, y_target = covshift.biased_split(X, y, feature=8, n_target=60)
    >>> model = covshift.RobustClassifier().fit(X_train, y_train, X_target)
    >>> model.predict(X_target).shape, model.predict_proba(X_target).shape
    ((60,), (60, 3))
    >>> model.status_
    'converged'

    Logistic regression has coefficients in the units of the data:

    >>> plain = covshift.lr(lam=0.1).fit(X_train, y_train)
    >>> plain.coef_.shape, plain.intercept_.shape
    ((3, 13), (3,))
    """

    classes_: npt.NDArray[Any]
    actions_: npt.NDArray[Any]
    abstain_: Any
    method_: str
    coef_scaled_: Floats
    intercept_scaled_: Floats
    feature_names_: list[str]
    certificate_: Certificate
    views_: list[View]
    choice_: str
    tried_: list[Tried]
    lam_: float
    n_iter_: int
    gap_: float
    status_: str
    path_: list[tuple[str, str, list[tuple[float, float, float]]]]
    effective_sample_size_: float | None
    n_features_in_: int
    feature_names_in_: npt.NDArray[Any]

    def __init__(
        self,
        loss: str | Costs = "log",
        generalize: str = "auto",
        views: Views | None = None,
        generalized_views: str | Sequence[str] = "auto",
        lam: Lambda = "auto",
        ratio: str | DensityRatio | None = "logistic",
        *,
        features: str | None = None,
        view_threshold: float = 0.1,
        caution: float | None = None,
        lams: Sequence[float] | None = None,
        penalty: Literal["squared", "norm"] = "squared",
        folds: int = 5,
        ratio_lam: RatioLambda = "stable",
        scale: Scale = "standard",
        bias: Literal["joint", "test", "none"] = "joint",
        classes: Sequence[Any] | None = None,
        class_weight: ClassWeight = None,
        delta: float = 0.05,
        tol: float = 1e-6,
        max_iter: int = 0,
        time_limit: float = 0,
        dates: Sequence[str] | None = None,
        missing: Missing = "indicator",
        random_state: RandomState = 0,
        threads: int | None = None,
        n_jobs: int | None = None,
        progress: Progress = False,
        verbose: int = 0,
    ) -> None:
        self.loss = loss
        self.generalize = generalize
        self.views = views
        self.generalized_views = generalized_views
        self.lam = lam
        self.ratio = ratio
        self.features = features
        self.view_threshold = view_threshold
        self.caution = caution
        self.lams = lams
        self.penalty = penalty
        self.folds = folds
        self.ratio_lam = ratio_lam
        self.scale = scale
        self.bias = bias
        self.classes = classes
        self.class_weight = class_weight
        self.delta = delta
        self.tol = tol
        self.max_iter = max_iter
        self.time_limit = time_limit
        self.dates = dates
        self.missing = missing
        self.random_state = random_state
        self.threads = threads
        self.n_jobs = n_jobs
        self.progress = progress
        self.verbose = verbose

    # --- fitting ---

    def fit(
        self,
        X: Data,
        y: Labels,
        X_target: Data | None = None,
        sample_weight: Labels | None = None,
    ) -> Self:
        """Learns from labelled data and the unlabelled inputs of the target.

        Parameters
        ----------
        {labelled}
        X_target : like X, of shape (n_target, n_features), or Target, default=None
            Inputs from where the model will be used. Without it no shift is assumed, and "iwcv" means
            "cv"; unless ``generalize="none"`` this is a warning.
        sample_weight : array-like of shape (n_samples,), default=None
            A weight of 2 counts as the row twice, 0 as its absence.

        Returns
        -------
        self : RobustClassifier
            The fitted estimator.
        """
        X, X_target = frame_of(X), frame_of(X_target)
        options = self._core_options(X_target is not None)
        as_table = any(
            isinstance(value, str) and "column:" in value
            for value in (self.ratio, options["generalize"])
        )
        given, self.classes_, codes, named = labelled_data(
            self, X, y, X_target, order=self.classes, as_table=as_table
        )
        options.update(named, views=view_groups(self.views, given.columns))
        weight = checked_weight(sample_weight, given.X)
        weight = with_class_weight(self.class_weight, self.classes_, codes, weight)
        showing = shown(self.progress or self.verbose > 0)
        with showing as progress, refused_as_by_scikit_learn(self, X, X_target):
            self._model = _core.fit(
                given.data, given.target, given.names, codes, weight, options, progress
            )
        self._as_table = as_table or has_categories(X)
        warn_of(given.data)
        if given.target is not None:
            warn_of(given.target)
        self._describe()
        self._report(json.loads(self._model.report()))
        if self.verbose > 0:
            print(self._in_words())
        return self

    def _in_words(self) -> str:
        """What a verbose fit prints."""
        lines = [
            f"{type(self).__name__}: {self.method_}, lambda {self.lam_:.3g}, {self.status_} after "
            f"{self.n_iter_} iterations, gap {self.gap_:.2g}"
        ]
        return "\n".join([*lines, self.choice_] if self.choice_ else lines)

    def _core_options(self, shifted: bool) -> dict[str, Any]:
        """All options by name; the extension module checks them."""
        options = self.get_params(deep=False)
        for name in ("class_weight", "n_jobs", "progress", "verbose"):
            del options[name]
        options["class_costs"] = self.class_weight is not None
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
                    "fitted without X_target: assuming the model will be used on data like X; give the "
                    "inputs it will be used on, or choose generalize='none'",
                    UserWarning,
                    stacklevel=3,
                )
        options.update(
            ratio="none" if self.ratio is None else ratio_option(self.ratio),
            random_state=seed_of(self.random_state),
            threads=thread_count(self.threads, self.n_jobs),
        )
        return options

    def _describe(self) -> None:
        """Sets the attributes that a model file has too."""
        model = self._model
        self.certificate_ = Certificate(**in_python(json.loads(model.certificate())))
        self.views_ = [View(*view) for view in model.views()]
        self.lam_ = model.lam
        self.coef_scaled_, self.intercept_scaled_ = model.weights()
        self.feature_names_ = model.feature_names()
        self.method_ = model.method
        names, actions = len(self.classes_), len(model.actions)
        if hasattr(self, "abstain_"):  # of an earlier fit
            del self.abstain_
        if actions == names:
            self.actions_ = self.classes_
        elif actions == names + 1:
            self.abstain_ = abstain_value(self.classes_, model.actions[-1])
            self.actions_ = np.append(self.classes_, self.abstain_)
        else:
            self.actions_ = np.array(model.actions)

    def _report(self, report: dict[str, Any]) -> None:
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

    # --- coefficients ---

    def _linear_form(self) -> tuple[Floats, Floats]:
        """Potentials as coefficients and intercepts, one row for each class."""
        check_is_fitted(self)
        obstacle = self._model.not_linear()
        if obstacle:
            raise AttributeError(
                f"this model has no coef_ and intercept_: {obstacle}. coef_scaled_ has the solver's own "
                "weights; generalize='none' (or 'test') with features='linear' gives a linear model"
            )
        return self._model.linear_form()

    @property
    def coef_(self) -> Floats:
        coef, _ = self._linear_form()
        return coef[1:] - coef[:1] if len(coef) == 2 else coef

    @property
    def intercept_(self) -> Floats:
        _, intercept = self._linear_form()
        return intercept[1:] - intercept[:1] if len(intercept) == 2 else intercept

    # --- predicting ---

    def predict(self, X: Data) -> npt.NDArray[Any]:
        """The likeliest action of each row: a class, or ``abstain_``.

        Parameters
        ----------
        {rows}

        Returns
        -------
        actions : ndarray of shape (n_samples,)
        """
        chosen = self._ask("predict", X)
        return self.actions_[chosen]

    def predict_proba(self, X: Data) -> Floats:
        """The probability of each of ``actions_`` (usually ``classes_``).

        Parameters
        ----------
        {rows}

        Returns
        -------
        p : ndarray of shape (n_samples, n_actions)
        """
        return self._ask("probabilities", X)

    def potentials(self, X: Data) -> Floats:
        """The potential psi of each class.

        Parameters
        ----------
        {rows}

        Returns
        -------
        psi : ndarray of shape (n_samples, n_classes)
        """
        return self._ask("potentials", X)

    @_if_largest_potential_wins
    def decision_function(self, X: Data) -> Floats:
        """The potentials; for two classes, that of the second minus that of the first.

        Only for the losses "log", "zero-one" and "hinge", where the largest potential wins; for others
        the likeliest action depends on all of them (:meth:`potentials`).

        Parameters
        ----------
        {rows}

        Returns
        -------
        psi : ndarray of shape (n_samples,) for two classes, else (n_samples, n_classes)
        """
        psi = self.potentials(X)
        return psi[:, 1] - psi[:, 0] if psi.shape[1] == 2 else psi

    def log_ratio(self, X: Data) -> Floats:
        """log P_target(x)/P_train(x) of each row; 0 without a target, or if the method ignores it.

        Parameters
        ----------
        {rows}

        Returns
        -------
        log_ratio : ndarray of shape (n_samples,)
        """
        return self._ask("log_ratio", X)

    def predict_set(self, X: Data, alpha: float = 0.1) -> npt.NDArray[np.bool_]:
        """Sets of classes that hold the true one with probability 1 - alpha on the target.

        A row that the training data do not support gets every class. docs/promise.md says what is
        assumed.

        Parameters
        ----------
        {rows}
        alpha : float, default=0.1
            The probability that a set misses the true class, between 0 and 1.

        Returns
        -------
        sets : ndarray of bool of shape (n_samples, n_classes)
            True where the class, in the order of ``classes_``, is in the set.
        """
        if not isinstance(alpha, numbers.Real):
            raise TypeError(f"alpha must be a number in (0, 1), not {alpha!r}")
        sets = self._ask("prediction_sets", X, float(alpha)).astype(bool)
        doubt = self._model.doubt_about_sets(float(alpha))
        if doubt:
            warnings.warn(in_python(doubt), UserWarning, stacklevel=2)
        return sets

    if TYPE_CHECKING:  # what scikit-learn, which has no types, adds

        def score(self, X: Data, y: Labels, sample_weight: Labels | None = None) -> float: ...
        def get_params(self, deep: bool = True) -> dict[str, Any]: ...
        def set_params(self, **params: Any) -> Self: ...
        def set_fit_request(
            self, *, X_target: bool | str | None = ..., sample_weight: bool | str | None = ...
        ) -> Self: ...
        def set_score_request(self, *, sample_weight: bool | str | None = ...) -> Self: ...

    # --- files ---

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes the model file, which the program can read too, atomically.

        Parameters
        ----------
        path : str or path
            The file, usually ``model.json``.
        """
        check_is_fitted(self)
        self._model.save(os.fspath(path))

    def to_onnx(self, path: str | os.PathLike[str] | None = None) -> bytes:
        """The model as an ONNX file, which onnxruntime and other programs run without this package.

        Its input is a matrix ``X`` of float64, or a column for each of those of a table with categories;
        its outputs are ``label`` (a class as text), ``probabilities`` and ``log_ratio``. docs/export.md
        has the details.

        Parameters
        ----------
        path : str or path, default=None
            The file to write, atomically; None: none.

        Returns
        -------
        file : bytes
            The file's content. A loss without a closed form (a matrix of costs) is a ValueError.
        """
        check_is_fitted(self)
        return self._model.to_onnx(None if path is None else os.fspath(path))

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Self:
        """Reads a model file written by this package or by the program.

        Class names in a file are strings; if all are numbers, or True and False, so are ``classes_``.
        Options that are not in the file have their defaults.

        Parameters
        ----------
        path : str or path
            The file.

        Returns
        -------
        model : RobustClassifier
            Predicts the same as the one that was saved, to the last bit.
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
        self.classes_ = as_labels(model.classes)
        names = model.sources()
        self.n_features_in_ = len(names)
        if not model.numbered:
            self.feature_names_in_ = np.array(names, dtype=object)
        self._as_table = model.needs_columns or not model.numeric
        self._describe()
        return self
