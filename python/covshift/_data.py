"""Turns user data into what the library reads, a matrix in the caller's memory or a table."""

from __future__ import annotations

import csv
import numbers
import os
import re
import shlex
import warnings
from collections.abc import Iterable, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from sklearn.base import BaseEstimator
from sklearn.utils import check_array, check_X_y
from sklearn.utils.validation import _check_sample_weight, check_is_fitted, validate_data

from . import _core
from ._frames import ArrowTable, frame_of, has_categories, is_frame, table_of
from ._options import thread_count

NUMBERS = [np.float64, np.float32]
_MATRIX = {"accept_sparse": "csr", "dtype": NUMBERS, "order": "C"}
_ANY_NUMBERS = {**_MATRIX, "ensure_all_finite": False}


def _kind(estimator, X=None) -> dict:
    """What scikit-learn should check: missing values are the estimator's own affair, but for those of a
    sparse matrix, whose missing entries are zeros."""
    allowed = getattr(estimator, "missing", "error") != "error" and not sp.issparse(X)
    return {**_MATRIX, "ensure_all_finite": "allow-nan"} if allowed else _MATRIX


def _validated(estimator, X, y="no_validation", *, reset: bool = True, **kind):
    """scikit-learn's validate_data, also for Arrow tables, whose names it does not see."""
    if not isinstance(X, ArrowTable):
        return validate_data(estimator, X, y, reset=reset, **kind)
    if reset:
        estimator.n_features_in_ = X.shape[1]
        estimator.feature_names_in_ = np.array(X.columns, dtype=object)
    else:
        _compare_names(estimator, X)
    no_y = isinstance(y, str)
    if kind.pop("skip_check_array", False):
        return X if no_y else (X, y)
    kind["estimator"] = estimator
    rows = np.asarray(X)
    return check_array(rows, input_name="X", **kind) if no_y else check_X_y(rows, y, **kind)


def _compare_names(estimator, X: ArrowTable) -> None:
    """As scikit-learn compares the columns of a DataFrame with those of the fit."""
    known = getattr(estimator, "feature_names_in_", None)
    if known is not None and list(known) != X.columns:
        extra = [name for name in X.columns if name not in known]
        absent = [name for name in known if name not in X.columns]
        parts = [f"{what}: {', '.join(names[:5])}" for what, names in
                 (("not seen at fit", extra), ("seen at fit, yet missing", absent)) if names]
        raise ValueError(
            "The feature names should match those that were passed during fit; "
            + ("; ".join(parts) or "they must be in the same order")
        )
    if X.shape[1] != estimator.n_features_in_:
        raise ValueError(
            f"X has {X.shape[1]} features, but {type(estimator).__name__} is expecting "
            f"{estimator.n_features_in_} features as input"
        )


def matrix_of(X):
    """A checked array or CSR matrix, not copied unless its index type differs from the library's."""
    if not sp.issparse(X):
        return _core.dense(X)
    try:  # SciPy does not check indices
        X.check_format(full_check=X.indices.dtype != np.int32)  # the library checks int32
        data = _sparse(X)
    except ValueError as error:
        raise ValueError(f"the sparse matrix is damaged: {error}; rebuild it") from error
    if X.has_canonical_format:
        return data
    X = X.copy()
    X.sum_duplicates()
    return _sparse(X)


def _sparse(X):
    offsets = np.ascontiguousarray(X.indptr, dtype=np.int64)
    columns = np.ascontiguousarray(X.indices, dtype=np.int32)
    return _core.sparse(offsets, columns, np.ascontiguousarray(X.data), X.shape[1])


def fast_matrix(X, n_features: int):
    """The data of a call if only its numbers need checking, which the library does; None if
    scikit-learn's checks are needed. Those take longer than predicting a row."""
    return _core.dense(X) if _plain(X) and X.shape[1] == n_features else None


def _plain(X) -> bool:
    """True for a matrix that the library can read as it is."""
    return (
        type(X) is np.ndarray
        and X.ndim == 2
        and X.dtype.char in "df"
        and X.flags.c_contiguous
        and X.dtype.isnative
        and 0 not in X.shape
    )


def plain_classes(y, rows: int) -> bool:
    return type(y) is np.ndarray and y.shape == (rows,) and y.dtype.kind in "iu"


def data_of(estimator, X, *, as_table: bool | None = None):
    """The rows of a call to a fitted estimator."""
    X = frame_of(X)
    table = has_categories(X) if as_table is None else as_table
    if table:
        if not is_frame(X):
            raise ValueError(
                f"this {type(estimator).__name__} was fitted on columns with categories or "
                "densities; give a DataFrame or Arrow table with the same columns"
            )
        if not getattr(estimator._model, "needs_columns", False):
            _validated(estimator, X, reset=False, skip_check_array=True)
        return table_of(X, "X")
    return matrix_of(_validated(estimator, X, reset=False, **_kind(estimator, X)))


_REMEDIES = {
    "drop": "X.drop(columns={})",
    "keep": "",
    "dates": "dates={}",
    "numeric": "pandas.to_numeric",
}


def _in_python(match: re.Match) -> str:
    """A flag of the program as what one writes in Python."""
    remedy = _REMEDIES[match[1]]
    names = next(csv.reader(shlex.split(match[2])))
    return f"({remedy.format(names)})" if remedy else "(keep it outside X)"


def warn_of(data, stacklevel: int = 3) -> None:
    """Warns about what looks wrong in training data, or what other data have that these have not."""
    warn(data.warnings, stacklevel + 1)


def warn(found: Iterable[str], stacklevel: int) -> None:
    for warning in found:
        text = re.sub(r"\(--(drop|keep|dates|numeric) ((?:'[^']*'|[^')])+)\)", _in_python, warning)
        warnings.warn(text, UserWarning, stacklevel=stacklevel)


class CoreEstimator(BaseEstimator):
    """What estimators around a fitted model of the extension module, ``_model``, share."""

    def _ask(self, question: str, X, *args) -> np.ndarray:
        """Calls the model's method ``question`` with the rows of X and further arguments."""
        try:
            model = self._model
        except AttributeError:
            check_is_fitted(self)  # costs too much for a prediction of one row
            raise
        data = None
        if not self._as_table and not hasattr(self, "feature_names_in_"):
            data = fast_matrix(X, self.n_features_in_)
        fast = data is not None
        if not fast:
            data = data_of(self, X, as_table=True if self._as_table else None)
        threads = 1 if data.rows <= 2048 else thread_count(self.threads, self.n_jobs)
        try:
            answer = getattr(model, question)(data, threads, *args)
        except ValueError:
            if fast:
                data_of(self, X)  # raises scikit-learn's error if it has one
            raise
        warn_of(data, stacklevel=4)
        return answer

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "_model")

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.allow_nan = getattr(self, "missing", "error") != "error"
        return tags


def checked_weight(sample_weight, X):
    """Sample weights as float64, checked; None if there are none."""
    if sample_weight is None:
        return None
    return _check_sample_weight(sample_weight, X, dtype=np.float64, ensure_non_negative=True)


class NumberedColumns(Sequence):
    """Names of the columns of a matrix without names, made on demand: there may be many."""

    def __init__(self, prefix: str, count: int):
        self._prefix, self._count = prefix, count

    def __len__(self):
        return self._count

    def __getitem__(self, column):
        return f"{self._prefix}{range(1, self._count + 1)[column]}"

    def __contains__(self, name):
        number = name.removeprefix(self._prefix)
        return number.isdecimal() and int(number) in range(1, self._count + 1) and self[int(number) - 1] == name


class Training(NamedTuple):
    """The data of a fit."""

    data: _core.Data
    target: _core.Data | None  # None: no shift
    names: list[str]  # of a matrix's columns; empty: unnamed
    columns: Sequence[str]  # the library's names of the columns
    X: object  # as checked
    y: np.ndarray | None


@contextmanager
def refused_as_by_scikit_learn(estimator, X, X_target):
    """The library finds non-finite numbers when it first reads them, with all threads. If it refuses
    to fit, raise scikit-learn's error for such data, if there is one."""
    try:
        yield
    except ValueError:
        for data, name in ((X, "X"), (X_target, "X_target")):
            if data is not None and not has_categories(data):
                check_array(data, input_name=name, estimator=estimator, **_kind(estimator, data))
        raise


def training_data(
    estimator, X, X_target, *, y="no_validation", as_table: bool = False, finite: bool = True
) -> Training:
    """Checks the data of a fit; ``finite=False`` leaves the check for finite numbers to the library."""
    kind = _kind(estimator, X) if finite else _ANY_NUMBERS
    X, X_target = frame_of(X), frame_of(X_target)
    if as_table or has_categories(X):
        if not is_frame(X):
            raise ValueError("only a DataFrame or Arrow table has named columns; give one")
        _validated(estimator, X, y, skip_check_array=True)
        if X_target is not None and not is_frame(X_target):
            raise TypeError(
                "X is a DataFrame with categories, X_target is not; give a DataFrame with the same "
                f"columns, not {type(X_target).__name__}"
            )
        _compare_columns(X, X_target)
        target = None if X_target is None else table_of(X_target, "X_target")
        columns = [str(name) for name in X.columns]
        return Training(table_of(X, "X"), target, [], columns, X, y)
    _compare_columns(X, X_target)
    if not finite and _plain(X) and plain_classes(y, len(X)):
        # Nothing is left to check, and scikit-learn's checks take as long as a small fit.
        _validated(estimator, X, skip_check_array=True)
    elif isinstance(y, str):
        X, y = _validated(estimator, X, **kind), None
    else:
        X, y = _validated(estimator, X, y, **kind)
    names = [str(name) for name in getattr(estimator, "feature_names_in_", [])]
    prefix = "" if sp.issparse(X) else "c"
    columns = names or NumberedColumns(prefix, X.shape[1])
    return Training(matrix_of(X), _target_matrix(X, X_target, kind), names, columns, X, y)


def _compare_columns(X, X_target) -> None:
    if not (is_frame(X) and is_frame(X_target)):
        return
    ours, theirs = [str(n) for n in X.columns], [str(n) for n in X_target.columns]
    if ours == theirs:
        return
    missing = [name for name in ours if name not in theirs]
    extra = [name for name in theirs if name not in ours]
    if missing or extra:
        raise ValueError(
            "X_target has different columns than X: "
            + "; ".join(
                f"{what} {', '.join(map(repr, names[:5]))}{', ...' if len(names) > 5 else ''}"
                for what, names in (("it lacks", missing), ("X lacks", extra))
                if names
            )
            + ". Give both the same columns in the same order"
        )
    raise ValueError(
        "X_target has the columns of X in a different order; use X_target[list(X.columns)]"
    )


def _target_matrix(X, X_target, kind):
    if X_target is None:
        return None
    if has_categories(X_target):
        raise ValueError("X_target has non-numeric columns, X has none; give both the same columns")
    target = X_target
    if kind is not _ANY_NUMBERS or not _plain(target):
        target = check_array(X_target, input_name="X_target", **kind)
    if target.shape[1] != X.shape[1]:
        raise ValueError(
            f"X_target has {target.shape[1]} features, X has {X.shape[1]}; give both the same "
            "columns in the same order"
        )
    if sp.issparse(X) and not sp.issparse(target):
        target = sp.csr_array(target)
    elif sp.issparse(target) and not sp.issparse(X):
        target = target.toarray(order="C")
    return matrix_of(target)


def column_differences(names: list[str], wanted: list[str]) -> str:
    """What columns lack and add; empty if they are the same in some order."""
    ours, theirs = dict.fromkeys(wanted), dict.fromkeys(names)
    return "; ".join(
        f"{what} {', '.join(map(repr, some[:5]))}{', ...' if len(some) > 5 else ''}"
        for what, some in (
            ("it lacks", [name for name in ours if name not in theirs]),
            ("it adds", [name for name in theirs if name not in ours]),
        )
        if some
    )


class Filled:
    """Rows of numbers without missing values: medians, and columns that say where values were missing."""

    def __init__(self, X, X_target):
        X, X_target = self._read(X), self._read(X_target)
        self._lacking = np.isnan(X).any(axis=0) | np.isnan(X_target).any(axis=0)
        seen = [column[~np.isnan(column)] for column in X[:, self._lacking].T]
        self._medians = np.array([np.median(values) if len(values) else 0 for values in seen])

    @staticmethod
    def _read(X):
        X = frame_of(X)
        X = X.toarray() if sp.issparse(X) else X
        return check_array(X, dtype=NUMBERS, ensure_all_finite="allow-nan")

    def __call__(self, X):
        rows = self._read(X)
        if rows.shape[1] != len(self._lacking):
            return X  # the density ratio refuses it
        _refuse_newly_missing(np.isnan(rows[:, ~self._lacking]).any())
        if not self._lacking.any():
            return X
        missing = np.isnan(rows[:, self._lacking])
        rows = rows.copy()
        rows[:, self._lacking] = np.where(missing, self._medians, rows[:, self._lacking])
        return np.hstack([rows, missing])


class FilledTable:
    """The same of a pandas table with categories, where a missing one is a category of its own."""

    def __init__(self, X, X_target):
        X, X_target = X.rename(columns=str), X_target.rename(columns=str)
        lacking = X.columns[X.isna().any() | X_target.isna().any()]
        self._fills = {
            name: "missing" if has_categories(X[[name]]) else np.nan_to_num(X[name].astype(float).median())
            for name in lacking
        }

    def __call__(self, X):
        X = frame_of(X)
        if not hasattr(X, "isna"):
            return X  # for an Arrow table; the density ratio refuses anything else
        X = X.rename(columns=str)
        _refuse_newly_missing(X.drop(columns=list(self._fills)).isna().any(axis=None))
        for name, fill in self._fills.items():
            missing = X[name].isna()
            X[f"{name} missing"] = missing
            X[name] = X[name].astype(object if fill == "missing" else float).where(~missing, fill)
        return X


def _refuse_newly_missing(found: bool) -> None:
    if found:
        raise ValueError(
            "X has missing values in a column that had none in fit, so the density ratio of such rows is "
            "unknown; fill them in, or fit with such rows"
        )


def filled(X, X_target) -> Filled | FilledTable | None:
    """What fills in missing values; None for data that must not have any."""
    X, X_target = frame_of(X), frame_of(X_target)
    if has_categories(X):
        return FilledTable(X, X_target) if hasattr(X, "isna") and hasattr(X_target, "isna") else None
    return None if sp.issparse(X) else Filled(X, X_target)


def one_column(y, what: str):
    """Labels, also those of a column that is a table of its own."""
    shape = np.shape(y)
    if len(shape) == 2 and shape[1] == 1:
        return np.asarray(y).ravel()
    if len(shape) != 1:
        given = "None" if y is None else f"the shape {shape}"
        raise ValueError(f"{what} must be a list of classes, one for each row, not {given}")
    return y


def view_groups(views, columns: list[str]):
    """Views for the extension module: a string, or a name, columns and maps of each."""
    if views is None or isinstance(views, (str, os.PathLike)):
        return views if views is None else os.fspath(views)
    if not isinstance(views, Mapping):
        raise TypeError(
            "views must be 'all', 'each', the path of a file or a dict of names to lists of columns, "
            f"not {type(views).__name__}"
        )
    if not views:
        raise ValueError("views is empty; name some, or use 'all' or 'each'")

    def name_of(column) -> str:
        if isinstance(column, str):
            return column
        if not isinstance(column, numbers.Integral):
            raise TypeError(f"views: {column!r} must be the name or number of a column")
        if not 0 <= column < len(columns):
            raise ValueError(f"views: there is no column {column}; columns are 0 to {len(columns) - 1}")
        return columns[column]

    groups = []
    for name, members in views.items():
        maps = ""
        if isinstance(members, Mapping):
            unknown = set(members) - {"columns", "features"}
            if unknown or "columns" not in members:
                raise ValueError(
                    f"views[{name!r}] must have 'columns' and may have 'features', not {sorted(members)}"
                )
            members, maps = members["columns"], str(members.get("features") or "")
        members = [members] if isinstance(members, (str, int, np.integer)) else members
        groups.append((str(name), [name_of(member) for member in members], maps))
    return groups
