"""Dask collections as lists of partitions, and their checks: what the client knows, and what only a worker sees."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp
from dask.base import is_dask_collection
from sklearn.utils import check_array

from ._cluster import check_version
from ._data import _ANY_NUMBERS, column_differences, matrix_of
from ._frames import _is_pandas, _numeric, table_of
from ._labels import numbered, refuse_missing


def is_collection(X: Any) -> bool:
    return bool(is_dask_collection(X)) and hasattr(X, "to_delayed")


def is_array(X: Any) -> bool:
    return is_collection(X) and hasattr(X, "chunks")


class Partitions:
    """The rows of a collection, one Delayed object for each partition."""

    def __init__(self, X: Any, name: str) -> None:
        if not is_collection(X):
            raise TypeError(
                f"{name} must be a Dask array or data frame, not {type(X).__name__}; for data in memory use "
                "covshift.RobustClassifier, or make it one with dask.array.from_array"
            )
        self.name = name
        self.frame = not is_array(X)
        self.meta = X._meta
        self.columns: list[str] | None = None
        self.lengths: tuple[float, ...] | None = None  # of an array: rows of each chunk, nan if not known
        if self.frame:
            if hasattr(self.meta, "columns"):
                self.columns = [str(column) for column in self.meta.columns]
            # Optimised, columns that are read from small Parquet files join partitions, each collection in its
            # own way: rows of X and y would no longer meet.
            self.delayed: list[Any] = list(X.to_delayed(optimize_graph=False))
        else:
            if X.ndim == 2 and len(X.chunks[1]) > 1:
                X = X.rechunk({1: -1})
            self.lengths = X.chunks[0]
            self.width = X.shape[1] if X.ndim == 2 else 1
            self.delayed = list(X.to_delayed().ravel())

    def __len__(self) -> int:
        return len(self.delayed)

    def aligned(self, other: Partitions) -> None:
        """Refuses another collection whose rows cannot be those of this one."""
        if len(self) != len(other):
            raise ValueError(
                f"{self.name} has {len(self)} partitions, {other.name} has {len(other)}; give both the same, by "
                f"rechunk or repartition, or take both from one collection"
            )
        if self.lengths is not None and other.lengths is not None:
            self.same_rows(other, self.lengths, other.lengths)

    def same_rows(self, other: Partitions, lengths: Sequence[float], theirs: Sequence[float]) -> None:
        """The same by the rows of all partitions, nan where they are not known."""
        for i, (n, m) in enumerate(zip(lengths, theirs)):
            if n != m and n == n and m == m:
                chunks = f"chunks: {other.name}.rechunk({self.name}.chunks[0])"
                remedy = "partitions, or take both from one collection" if self.frame or other.frame else chunks
                raise ValueError(
                    f"partition {i + 1} of {self.name} has {n} rows, that of {other.name} {m}; give both the same "
                    f"{remedy}"
                )


def label_of(y: Any) -> str:
    """The name of the classes; that of an array is only the key of its graph."""
    if is_array(y):
        return "label"
    names = list(y._meta.columns) if hasattr(y._meta, "columns") else [y._meta.name]
    return str(names[0] or "label") if len(names) == 1 else "label"


class Columns(NamedTuple):
    """What every partition must have."""

    names: list[str] | None  # of a data frame
    numeric: list[bool | None]  # by name: numbers, anything else, or unknown
    width: int
    table: bool  # has columns of anything but numbers, or is to be read by name

    @staticmethod
    def of(X: Partitions, as_table: bool) -> Columns:
        if X.columns is None:
            if as_table:
                raise ValueError("only a data frame has named columns; give one")
            return Columns(None, [], X.width, False)
        kinds = [_kind(X.meta.iloc[:, i]) for i in range(len(X.columns))]
        return Columns(X.columns, kinds, len(X.columns), as_table or not all(kinds))


def _kind(column: Any) -> bool | None:
    """Numbers, anything else; None for objects, whose values tell."""
    return None if column.dtype == object else _numeric(column)


@dataclass(frozen=True)
class Where:
    """The partition that a message is about."""

    name: str
    number: int

    def __str__(self) -> str:
        return f"partition {self.number + 1} of {self.name}"


def rows_of(X: Any, expected: Columns, where: Where) -> Any:
    """The rows of a partition for the extension module; None if there are none."""
    if expected.names is not None:
        _check_columns(X, expected, where)
    elif X.shape[1] != expected.width:
        raise ValueError(f"{where} has {X.shape[1]} columns, others have {expected.width}; give all the same")
    if X.shape[0] == 0:
        return None
    if expected.table:
        return table_of(X, str(where))
    if _is_pandas(X):
        X = X.to_numpy(dtype=np.float64, na_value=np.nan)
    elif sp.issparse(X):
        X = sp.csr_matrix(X)
    return matrix_of(check_array(X, input_name=str(where), **_ANY_NUMBERS))


def _check_columns(X: Any, expected: Columns, where: Where) -> None:
    names = [str(name) for name in X.columns]
    if names != expected.names:
        other = column_differences(names, expected.names or [])
        raise ValueError(
            f"{where} has other columns than the collection says: {other or 'another order'}. Give all "
            "partitions the same columns in the same order"
        )
    for name, numeric, (_, column) in zip(names, expected.numeric, X.items()):
        if numeric is None or (column.dtype == object and column.isna().all()):
            continue
        if _numeric(column) != numeric:
            kinds = "numbers", "text, categories or dates"
            raise TypeError(
                f"column {name!r} of {where} is of type {column.dtype}, but the collection says that it holds "
                f"{kinds[not numeric]}; give all partitions the same types, for example with "
                f"astype({{{name!r}: ...}}) or, for files, a dtype when reading"
            )


# --- classes ---


class Survey(NamedTuple):
    """The classes of a partition."""

    rows: int
    classes: npt.NDArray[Any]
    totals: npt.NDArray[np.float64]  # of the weights of each class


def survey(version: str, y: Any, weight: Any, where: Where) -> Survey:
    """The first task of a fit, for a client of this version."""
    check_version(version)
    refuse_missing(y)
    values = np.asarray(y)
    if values.ndim == 2 and values.shape[1] == 1:
        values = values[:, 0]
    if values.ndim != 1:
        raise ValueError(f"{where} has the shape {values.shape}; give one class for each row")
    if values.dtype.kind == "f" and not np.isfinite(values).all():
        raise ValueError(f"{where}: the class of row {int(np.isfinite(values).argmin()) + 1} is missing")
    if weight is not None and len(weight) != len(values):
        raise ValueError(f"{where} has {len(values)} rows, its sample_weight {len(weight)}")
    classes, codes = numbered(values)
    given = None if weight is None else np.asarray(weight, dtype=np.float64)
    return Survey(len(values), classes, np.bincount(codes, weights=given, minlength=len(classes)).astype(float))


def all_classes(found: Sequence[Survey]) -> tuple[npt.NDArray[Any], npt.NDArray[np.float64]]:
    """The union of the partitions' classes, sorted, and the total weight of each."""
    kinds: dict[str, int] = {}
    for i, part in enumerate(found):
        if part.rows:
            kinds.setdefault("numbers" if part.classes.dtype.kind in "biuf" else "text", i)
    if len(kinds) > 1:
        raise TypeError(
            f"y holds numbers in partition {kinds['numbers'] + 1} and text in partition {kinds['text'] + 1}; "
            "give all partitions the same type"
        )
    some = [part.classes for part in found if part.rows]
    if not some:
        raise ValueError("y has no rows")
    classes = np.unique(np.concatenate(some))
    totals = np.zeros(len(classes))
    for part in found:
        if part.rows:
            totals[np.searchsorted(classes, part.classes)] += part.totals
    return classes, totals


def codes_of(y: Any, classes: npt.NDArray[Any]) -> npt.NDArray[np.int32]:
    """Places in the given classes, which need not be sorted."""
    own, codes = numbered(np.asarray(y).reshape(-1))
    place = {label: i for i, label in enumerate(classes.tolist())}
    return np.array([place[label] for label in own.tolist()], dtype=np.int32)[codes]

