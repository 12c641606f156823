"""Fits on a Dask cluster, to collections that need not fit on one machine.

>>> import dask.array as da
>>> import numpy as np
>>> from distributed import Client
>>> import covshift.dask
>>> rng = np.random.default_rng(0)
>>> X = rng.normal(size=(600, 3))
>>> y = (X[:, 0] + rng.normal(size=600) > 0).astype(int)
>>> X_target = rng.normal(0.5, 1, size=(400, 3))
>>> with Client(processes=False, n_workers=1, dashboard_address=None) as client:
...     model = covshift.dask.RobustClassifier(generalize="train", client=client)
...     model = model.fit(da.from_array(X, 200), da.from_array(y, 200), da.from_array(X_target, 200))
>>> model.predict(X_target).shape  # without Dask
(400,)

Workers need the same version of this package. docs/large-data.md has the whole story.
"""

from __future__ import annotations

import json
import numbers
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp
from sklearn.base import clone

try:
    import distributed
    from dask import delayed
except ImportError as _error:
    raise ImportError(
        "covshift.dask needs dask and distributed; install them with: pip install 'covshift[dask]'"
    ) from _error

from . import _classifier, _core, _diagnose, _promise
from ._cluster import check_version, connected
from ._collections import (
    Columns,
    Partitions,
    Where,
    all_classes,
    codes_of,
    is_array,
    is_collection,
    label_of,
    rows_of,
    survey,
)
from ._data import NumberedColumns, checked_weight, view_groups, warn
from ._labels import class_factors, class_name, in_order
from ._options import documented, seed_of, shown
from ._parts import Fit, Keeper, Running, Sample, columns_of, threads_here
from ._ratio import DensityRatio
from ._typing import (
    ClassWeight,
    Costs,
    Floats,
    HasPredictions,
    Lambda,
    Missing,
    Progress,
    RandomState,
    RatioLambda,
    Scale,
    Views,
)

if TYPE_CHECKING:
    from typing_extensions import Self

__all__ = ["RobustClassifier", "diagnose", "estimate"]


# --- on a worker ---


class _Plan:
    """What every part of a fit is told."""

    def __init__(
        self, parts: int, columns: Columns, options: dict[str, Any], shifted: bool,
        classes: npt.NDArray[Any], factors: Floats | None,
    ) -> None:
        self.parts, self.columns, self.options, self.shifted = parts, columns, options, shifted
        self.classes, self.factors = classes, factors
        self.version = _core.__version__


def _make_part(plan: _Plan, fit: str, part: int, where: Where, X: Any, y: Any, weight: Any) -> Keeper:
    """Starts the fit of a part: of training rows if they have classes, else of target rows."""
    check_version(plan.version)
    if y is not None and X.shape[0] != len(y):
        raise ValueError(
            f"{where} has {X.shape[0]} rows, that of y has {len(y)}; give both the same partitions"
        )
    rows = rows_of(X, plan.columns, where)
    codes = weights = None
    if y is not None and rows is not None:
        codes = codes_of(y, plan.classes)
        weights = checked_weight(None if weight is None else np.asarray(weight), X)
        if plan.factors is not None:
            weights = plan.factors[codes] if weights is None else weights * plan.factors[codes]
    options = dict(plan.options)
    if options["threads"] is None:
        options["threads"] = threads_here()
    names = [] if plan.columns.table else plan.columns.names or []
    data, target = (rows, None) if y is not None else (None, rows)
    fitting = _core.PartFit(part, plan.parts, data, target, plan.shifted, names, codes, weights, options)
    return Keeper.of(fit, part, Running(fitting))


def _answers(X: Any, model: Any, method: str, arguments: tuple[Any, ...], columns: Any, dtype: Any) -> Any:
    """The model's answers for a partition, in the form of the partition; there may be no rows."""
    frame = hasattr(X, "index") and hasattr(X, "columns")
    width = None if columns is None or isinstance(columns, str) else len(columns)
    if X.shape[0] == 0:
        found: Any = np.zeros((0,) if width is None else (0, width), dtype=dtype)
    else:
        found = getattr(model, method)(X, *arguments)
    if not frame:
        return found
    import pandas

    if width is None:
        return pandas.Series(found, index=X.index, name=columns)
    return pandas.DataFrame(found, index=X.index, columns=columns)


# --- the classifier ---


@documented
class RobustClassifier(_classifier.RobustClassifier):
    """:class:`covshift.RobustClassifier` for Dask arrays and data frames.

    Every partition stays where Dask has it: the fit goes through all of them as often as it must, in passes
    that are ordinary graphs of tasks. Workers may come, leave or die during a fit. The fitted estimator is
    an ordinary one, which saves, exports and predicts without Dask; collections it predicts lazily.

    Parameters
    ----------
    {parameters}
    client : distributed.Client, default=None
        The cluster to use. None: the one that holds the data or the current one; if there is none, threads of
        this process for as long as the call lasts.

    Attributes
    ----------
    parts_ : dict
        How the fit went: name, parts, rows, sample (which decided all that was open), passes over the
        data, and how often workers were lost.
    report_ : dict
        Every number of the fit, as ``covshift fit --json`` prints them.

    See Also
    --------
    covshift.RobustClassifier : has all other attributes.

    Examples
    --------
    >>> import dask.dataframe as dd
    >>> import pandas
    >>> import covshift.dask
    >>> frame = pandas.DataFrame(dict(size=[1.0, 2, 3, 4] * 30, color=["red", "blue"] * 60, y=[0, 1, 1, 1] * 30))
    >>> rows = dd.from_pandas(frame, npartitions=3)
    >>> model = covshift.dask.RobustClassifier(generalize="none", lam=0.1)
    >>> model = model.fit(rows[["size", "color"]], rows["y"])
    >>> model.predict_proba(rows[["size", "color"]]).compute().shape
    (120, 2)
    """

    classes_: npt.NDArray[Any]
    n_features_in_: int
    feature_names_in_: npt.NDArray[Any]
    parts_: dict[str, Any]
    report_: dict[str, Any]

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
        client: distributed.Client | None = None,
    ) -> None:
        super().__init__(
            loss, generalize, views, generalized_views, lam, ratio, features=features,
            view_threshold=view_threshold, caution=caution, lams=lams, penalty=penalty, folds=folds,
            ratio_lam=ratio_lam, scale=scale, bias=bias, classes=classes, class_weight=class_weight,
            delta=delta, tol=tol, max_iter=max_iter, time_limit=time_limit, dates=dates, missing=missing,
            random_state=random_state, threads=threads, n_jobs=n_jobs, progress=progress, verbose=verbose,
        )
        self.client = client

    def __sklearn_clone__(self) -> Self:
        own = {k: v for k, v in self.get_params(deep=False).items() if k != "client"}
        return type(self)(**{k: clone(v, safe=False) for k, v in own.items()}, client=self.client)

    def __getstate__(self) -> dict[str, Any]:
        return {**super().__getstate__(), "client": None}  # which is of this process

    @property
    def model_(self) -> _classifier.RobustClassifier:
        """The fitted model as an ordinary :class:`covshift.RobustClassifier`."""
        own = self.get_params(deep=False)
        del own["client"]
        model = _classifier.RobustClassifier(**own)
        fitted = {k: v for k, v in vars(self).items() if k not in own and k not in ("client", "parts_", "report_")}
        vars(model).update(fitted)
        return model

    # --- fitting ---

    def fit(self, X: Any, y: Any, X_target: Any = None, sample_weight: Any = None) -> Self:
        """Learns from labelled data and the unlabelled inputs of the target.

        Parameters
        ----------
        X : dask Array or DataFrame of shape (n_samples, n_features)
            Inputs: arrays of NumPy arrays or SciPy CSR matrices, or data frames, whose non-numeric columns are
            one-hot encoded. Partitions may be empty. They are read once, by the worker that keeps them for
            the fit, and again only if that worker is lost; persisted collections are in memory twice.
        y : dask Array or Series of shape (n_samples,)
            Their classes, in the same partitions.
        X_target : like X, of shape (n_target, n_features), default=None
            Inputs from where the model will be used, in any partitions.
        sample_weight : dask Array or Series of shape (n_samples,), default=None
            A weight of 2 counts as the row twice, 0 as its absence.

        Returns
        -------
        self : RobustClassifier
            The fitted estimator.
        """
        options = self._core_options(X_target is not None)
        given = {"X": X, "y": y, "X_target": X_target, "sample_weight": sample_weight}
        parts = {name: Partitions(x, name) for name, x in given.items() if x is not None}
        as_table = any(
            isinstance(value, str) and "column:" in value for value in (self.ratio, options["generalize"])
        )
        columns = _columns_of(parts["X"], parts.get("X_target"), as_table)
        for other in ("y", "sample_weight"):
            if other in parts:
                parts["X"].aligned(parts[other])
        with connected(self.client, *given.values()) as client, shown(
            self.progress or self.verbose > 0
        ) as progress:
            self._fit_on(client, parts, columns, options, label_of(y), progress)
        if self.verbose > 0:
            print(self._in_words())
        return self

    def _fit_on(
        self, client: Any, parts: dict[str, Partitions], columns: Columns, options: dict[str, Any],
        label: str, progress: Any,
    ) -> None:
        if progress is not None:
            progress("looking for the classes", 0)
        weights: list[Any] = parts["sample_weight"].delayed if "sample_weight" in parts else []
        surveys = [
            delayed(survey, pure=False)(_core.__version__, y, weights[i] if weights else None, Where("y", i))
            for i, y in enumerate(parts["y"].delayed)
        ]
        found = client.gather(client.compute(surveys, optimize_graph=True))
        self.classes_, totals = all_classes(found)
        if self.classes is not None:
            ordered = in_order(self.classes_, self.classes)
            totals = totals[np.searchsorted(self.classes_, ordered)]
            self.classes_ = ordered
        if len(self.classes_) < 2:
            raise ValueError(f"y has only one class, {self.classes_[0]!r}; a classifier needs at least two")
        names = columns.names or NumberedColumns("" if sp.issparse(parts["X"].meta) else "c", columns.width)
        while label in names:
            label += "_"
        options.update(
            label=label, classes=[class_name(c) for c in self.classes_], views=view_groups(self.views, names)
        )
        shifted = "X_target" in parts
        tasks = [("X", i) for i in range(len(parts["X"]))]
        tasks += [("X_target", i) for i in range(len(parts["X_target"]) if shifted else 0)]
        factors = None if self.class_weight is None else class_factors(self.class_weight, self.classes_, totals)
        plan = delayed(_Plan(len(tasks), columns, options, shifted, self.classes_, factors), traverse=False)

        def make(fit: str, key: str, part: int) -> Any:
            name, i = tasks[part]
            y, weight = None, None
            if name == "X":
                y, weight = parts["y"].delayed[i], weights[i] if weights else None
            return delayed(_make_part, pure=False)(
                plan, fit, part, Where(name, i), parts[name].delayed[i], y, weight, dask_key_name=key
            )

        fit = Fit(client, len(tasks), make)
        self._take([json.loads(text) for text in fit.run(progress)], columns, fit.losses)

    def _core_options(self, shifted: bool) -> dict[str, Any]:
        options = super()._core_options(shifted)
        del options["client"]
        if self.threads is None and self.n_jobs is None:
            options["threads"] = None  # those of the worker
        return options

    def _take(self, found: list[dict[str, Any]], columns: Columns, losses: int) -> None:
        self._model = _core.Model.from_text(found[0]["model"], "the model that the workers have fitted")
        self.n_features_in_ = columns.width
        if columns.names is not None:
            self.feature_names_in_ = np.array(columns.names, dtype=object)
        elif hasattr(self, "feature_names_in_"):  # of an earlier fit
            del self.feature_names_in_
        self._as_table = columns.table
        warn(dict.fromkeys(text for part in found for text in part["warnings"]), stacklevel=5)
        self._describe()
        report = json.loads(found[0]["report"])
        self.report_ = report
        self.parts_ = {**report["engine"], "losses": losses}
        self._report(report)

    # --- predicting ---

    def _lazily(self, method: str, X: Any, columns: Any, dtype: Any, *arguments: Any) -> Any:
        """The answers of the ordinary model, partition by partition, when they are asked for."""
        call = (self.model_, method, arguments, columns, np.dtype(dtype))
        if is_array(X):
            if len(X.chunks[1]) > 1:
                X = X.rechunk({1: -1})
            flat = columns is None or isinstance(columns, str)
            shape: dict[str, Any] = {"drop_axis": 1} if flat else {"chunks": (X.chunks[0], (len(columns),))}
            meta = np.zeros((0,) if flat else (0, 0), dtype=dtype)
            return X.map_blocks(_answers, *call, dtype=np.dtype(dtype), meta=meta, **shape)
        meta = _answers(X._meta, *call)
        return X.map_partitions(_answers, *call, meta=meta)

    def predict(self, X: Any) -> Any:
        """The likeliest action of each row: a class, or ``abstain_``.

        Parameters
        ----------
        X : dask Array or DataFrame, or as for :class:`covshift.RobustClassifier`
            Rows; each is treated independently of the others.

        Returns
        -------
        actions : dask Array or Series, or ndarray, of shape (n_samples,)
            Of a collection, computed when it is asked for.
        """
        if not is_collection(X):
            return super().predict(X)
        self._must_be_fitted()
        return self._lazily("predict", X, self._model.label, self.actions_.dtype)

    def predict_proba(self, X: Any) -> Any:
        """The probability of each of ``actions_`` (usually ``classes_``).

        Parameters
        ----------
        X : dask Array or DataFrame, or as for :class:`covshift.RobustClassifier`
            Rows; each is treated independently of the others.

        Returns
        -------
        p : dask Array or DataFrame, or ndarray, of shape (n_samples, n_actions)
            Of a collection, computed when it is asked for.
        """
        if not is_collection(X):
            return super().predict_proba(X)
        self._must_be_fitted()
        return self._lazily("predict_proba", X, self.actions_.tolist(), float)

    def log_ratio(self, X: Any) -> Any:
        """log P_target(x)/P_train(x) of each row; 0 without a target, or if the method ignores it.

        Parameters
        ----------
        X : dask Array or DataFrame, or as for :class:`covshift.RobustClassifier`
            Rows; each is treated independently of the others.

        Returns
        -------
        log_ratio : dask Array or Series, or ndarray, of shape (n_samples,)
            Of a collection, computed when it is asked for.
        """
        if not is_collection(X):
            return super().log_ratio(X)
        self._must_be_fitted()
        return self._lazily("log_ratio", X, "log_ratio", float)

    def predict_set(self, X: Any, alpha: float = 0.1) -> Any:
        """Sets of classes that hold the true one with probability 1 - alpha on the target.

        Parameters
        ----------
        X : dask Array or DataFrame, or as for :class:`covshift.RobustClassifier`
            Rows; each is treated independently of the others.
        alpha : float, default=0.1
            The probability that a set misses the true class, between 0 and 1.

        Returns
        -------
        sets : dask Array or DataFrame, or ndarray, of bool of shape (n_samples, n_classes)
            Of a collection, computed when it is asked for.
        """
        if not is_collection(X):
            return super().predict_set(X, alpha)
        self._must_be_fitted()
        return self._lazily("predict_set", X, self.classes_.tolist(), bool, float(alpha))

    def _must_be_fitted(self) -> None:
        from sklearn.utils.validation import check_is_fitted

        check_is_fitted(self)


def _columns_of(X: Partitions, X_target: Partitions | None, as_table: bool) -> Columns:
    columns = columns_of(X, as_table)
    if X_target is not None:
        theirs = columns_of(X_target, as_table)
        if (columns.names, columns.width) != (theirs.names, theirs.width):
            raise ValueError(
                f"X_target has the columns {theirs.names or theirs.width}, X has {columns.names or columns.width}; "
                "give both the same columns in the same order"
            )
    return columns


# --- samples ---


def _check_sample(sample: object) -> None:
    if isinstance(sample, bool) or not isinstance(sample, numbers.Integral) or sample < 1:
        raise ValueError(f"sample must be a whole number, 1 or more, not {sample!r}")


def diagnose(
    X: Any, X_target: Any, *, sample: int = 20_000, client: distributed.Client | None = None, **options: Any
) -> _diagnose.Diagnosis:
    """Compares the inputs of a training and a target sample on a cluster; see :func:`covshift.diagnose`.

    All numbers come from at most ``sample`` rows of each collection, evenly spread over it; with no more
    rows than that they are those of :func:`covshift.diagnose`.

    Parameters
    ----------
    X : dask Array or DataFrame of shape (n_samples, n_features)
        Inputs that labels exist for.
    X_target : dask Array or DataFrame of shape (n_target, n_features)
        Inputs from where a model will be used.
    sample : int, default=20000
        The most rows of each that are looked at.
    client : distributed.Client, default=None
        As for :class:`RobustClassifier`.
    **options
        Those of :func:`covshift.diagnose`.

    Returns
    -------
    diagnosis : Diagnosis
        Its ``data["sampled"]`` has the numbers of all rows; rows are named by their number in the collection.
    """
    _check_sample(sample)
    with connected(client, X, X_target) as cluster:
        seed = seed_of(options.get("random_state", 0))
        train, target = (
            Sample(cluster, sample, seed, (X, "X")), Sample(cluster, sample, seed, (X_target, "X_target")),
        )
    found = _diagnose.diagnose(train.rows[0], target.rows[0], **options)
    data = found.data
    data["sampled"] = {"train": train.total, "target": target.total}
    for item in [*data["support"]["examples"], *data["recommendation"]["label_first"]]:
        item["row"] = int(target.places[item["row"] - 1]) + 1
    listed = data["support"]["listed"]
    listed["row"] = [int(target.places[row - 1]) + 1 for row in listed["row"]]
    for item in data["largest_weights"]:
        item["row"] = int(train.places[item["row"] - 1]) + 1
    return found


def estimate(
    model: HasPredictions,
    X: Any,
    y: Any,
    X_target: Any,
    *,
    sample: int = 20_000,
    client: distributed.Client | None = None,
    **options: Any,
) -> _promise.TargetPerformance:
    """How good a classifier is on a target without labels; see :func:`covshift.estimate`.

    The estimates and their intervals come from at most ``sample`` rows of each collection, evenly spread
    over it: intervals are as wide as that many rows allow.

    Parameters
    ----------
    model : fitted classifier
        Of any package, with ``predict_proba`` and ``classes_``.
    X : dask Array or DataFrame of shape (n_samples, n_features)
        Rows that the model was not fitted to.
    y : dask Array or Series of shape (n_samples,)
        Their classes, in the same partitions.
    X_target : dask Array or DataFrame of shape (n_target, n_features)
        Inputs from where the model is used.
    sample : int, default=20000
        The most rows of each that are looked at.
    client : distributed.Client, default=None
        As for :class:`RobustClassifier`.
    **options
        Those of :func:`covshift.estimate`.

    Returns
    -------
    found : TargetPerformance
        Its ``data["sampled"]`` has the numbers of all rows.
    """
    _check_sample(sample)
    with connected(client, X, y, X_target) as cluster:
        seed = seed_of(options.get("random_state", 0))
        labelled = Sample(cluster, sample, seed, (X, "X"), (y, "y"))
        target = Sample(cluster, sample, seed, (X_target, "X_target"))
    if isinstance(model, RobustClassifier):
        model = model.model_
    rows, classes = labelled.rows
    found = _promise.estimate(model, rows, np.asarray(classes), target.rows[0], **options)
    found.data["sampled"] = {"train": labelled.total, "target": target.total}
    return found
