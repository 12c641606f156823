"""From the data people have to what the library looks at: a matrix in their memory, or a table."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import NamedTuple

import numpy as np
import scipy.sparse as sp
from sklearn.utils import check_array, check_random_state
from sklearn.utils.validation import validate_data

from . import _core
from ._scoring import Target

NUMBERS = [np.float64, np.float32]
_MATRIX = {"accept_sparse": "csr", "dtype": NUMBERS, "order": "C"}


def is_frame(X) -> bool:
    """A pandas or polars DataFrame (neither is imported for the question)."""
    return hasattr(X, "columns") and type(X).__module__.split(".")[0] in ("pandas", "polars")


def _is_polars(X) -> bool:
    return type(X).__module__.split(".")[0] == "polars"


def _numeric(column) -> bool:
    dtype = column.dtype
    if _is_polars(column):
        return dtype.is_numeric() or str(dtype) == "Boolean"
    if getattr(dtype, "kind", "O") in "biuf":
        return not hasattr(dtype, "categories")
    return False


def has_categories(X) -> bool:
    """A frame with a column that is no numbers, to be one-hot encoded."""
    return is_frame(X) and not all(_numeric(column) for _, column in _columns(X))


def _columns(X):
    names = [str(name) for name in X.columns]
    if len(set(names)) < len(names):
        twice = next(name for name in names if names.count(name) > 1)
        raise ValueError(f"two columns are named {twice!r}; rename one")
    if _is_polars(X):
        return [(name, X[name]) for name in names]
    return [(name, X.iloc[:, i]) for i, name in enumerate(names)]


def _codes(values) -> tuple[np.ndarray, list[str]]:
    """Categories numbered in the order in which they appear; -1 where one is missing."""
    levels: dict[str, int] = {}
    codes = np.empty(len(values), dtype=np.int32)
    for i, value in enumerate(values):
        missing = value is None or value != value or str(value) == "<NA>"
        codes[i] = -1 if missing else levels.setdefault(str(value), len(levels))
    return codes, list(levels)


def table_of(X, source: str):
    """A frame as a table of the library: numbers are copied, categories are numbered."""
    columns = []
    for name, column in _columns(X):
        if _numeric(column):
            if _is_polars(X):
                numbers = column.cast(float).to_numpy()
            else:
                numbers = column.to_numpy(dtype=np.float64, na_value=np.nan)
            columns.append((name, np.ascontiguousarray(numbers, dtype=np.float64)))
        else:
            columns.append((name, *_codes(column.to_list())))
    return _core.table(source, columns)


def matrix_of(X):
    """A checked array or CSR matrix, in place; only index types that the library lacks are copied."""
    if not sp.issparse(X):
        return _core.dense(X)
    if not X.has_canonical_format:  # entries of the same place add up
        X = X.copy()
        X.sum_duplicates()
    return _core.sparse(
        np.ascontiguousarray(X.indptr, dtype=np.int64),
        np.ascontiguousarray(X.indices, dtype=np.int32),
        np.ascontiguousarray(X.data),
        X.shape[1],
    )


def fast_matrix(X, n_features: int):
    """The data of a call where nothing is left to check but the numbers, which the library does;
    None where scikit-learn's checks are needed. They take longer than a prediction of a row."""
    if (
        type(X) is np.ndarray
        and X.ndim == 2
        and X.dtype.char in "df"
        and X.flags.c_contiguous
        and X.dtype.isnative
        and X.shape[1] == n_features
        and X.shape[0] > 0
    ):
        return _core.dense(X)
    return None


def data_of(estimator, X, *, as_table: bool | None = None):
    """The rows of a call to a fitted estimator."""
    table = has_categories(X) if as_table is None else as_table
    if table:
        if not is_frame(X):
            raise ValueError(
                f"this {type(estimator).__name__} was fitted on columns with categories or "
                "densities; give a pandas or polars DataFrame with the same columns"
            )
        if not getattr(estimator._model, "needs_columns", False):
            validate_data(estimator, X, reset=False, skip_check_array=True)
        return table_of(X, "X")
    return matrix_of(validate_data(estimator, X, reset=False, **_MATRIX))


class Training(NamedTuple):
    """What a fit learns from."""

    data: _core.Data
    target: _core.Data | None  # none: no shift
    names: list[str]  # of a matrix' columns; empty: they have none
    columns: list[str]  # what the library calls the columns
    X: object  # as checked
    y: np.ndarray | None


def training_data(estimator, X, X_target, *, y="no_validation", as_table: bool = False) -> Training:
    if isinstance(X_target, Target):
        X_target = X_target.X
    if as_table or has_categories(X):
        if not is_frame(X):
            raise ValueError("columns can be named only of a pandas or polars DataFrame; give one")
        validate_data(estimator, X, y, skip_check_array=True)
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
    if isinstance(y, str):
        X, y = validate_data(estimator, X, **_MATRIX), None
    else:
        X, y = validate_data(estimator, X, y, **_MATRIX)
    names = [str(name) for name in getattr(estimator, "feature_names_in_", [])]
    prefix = "" if sp.issparse(X) else "c"
    columns = names or [f"{prefix}{c + 1}" for c in range(X.shape[1])]
    return Training(matrix_of(X), _target_matrix(X, X_target), names, columns, X, y)


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
            "X_target has other columns than X: "
            + "; ".join(
                f"{what} {', '.join(map(repr, names[:5]))}{', ...' if len(names) > 5 else ''}"
                for what, names in (("it lacks", missing), ("X lacks", extra))
                if names
            )
            + ". Give both the same columns in the same order"
        )
    raise ValueError(
        "X_target has the columns of X in another order; use X_target[list(X.columns)]"
    )


def _target_matrix(X, X_target):
    if X_target is None:
        return None
    if has_categories(X_target):
        raise ValueError("X_target has columns that are no numbers, X has none; give both alike")
    target = check_array(X_target, input_name="X_target", **_MATRIX)
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


def view_groups(views, columns: list[str]):
    """Views as the extension module takes them: a text, or pairs of a name and its columns."""
    if isinstance(views, (str, os.PathLike)):
        return os.fspath(views)
    if not isinstance(views, Mapping):
        raise TypeError(
            "views must be 'all', 'each', the path of a file or a dict of names to lists of columns, "
            f"not {type(views).__name__}"
        )

    def name_of(column) -> str:
        if isinstance(column, str):
            return column
        if not 0 <= column < len(columns):
            raise ValueError(f"views: there is no column {column}; columns are 0 to {len(columns) - 1}")
        return columns[column]

    groups = []
    for name, members in views.items():
        members = [members] if isinstance(members, (str, int, np.integer)) else members
        groups.append((str(name), [name_of(member) for member in members]))
    return groups


def thread_count(threads: int | None) -> int:
    """As many as this process may use; OMP_NUM_THREADS, which joblib sets for its workers, counts."""
    if threads is not None:
        if threads != int(threads) or threads < 1:
            raise ValueError(f"threads must be a positive number or None (all), not {threads!r}")
        return int(threads)
    try:
        cores = len(os.sched_getaffinity(0))
    except AttributeError:
        cores = os.cpu_count() or 1
    try:
        return max(1, min(cores, int(os.environ["OMP_NUM_THREADS"].split(",")[0])))
    except (KeyError, ValueError):
        return cores


def seed_of(random_state) -> int:
    """An integer is the seed itself, as the program's --seed is."""
    if isinstance(random_state, (int, np.integer)):
        if random_state < 0:
            raise ValueError(f"random_state must not be negative, but is {random_state}")
        return int(random_state)
    return int(check_random_state(random_state).randint(2**31 - 1))
