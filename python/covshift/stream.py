"""Fits to batches of rows that need not fit in memory.

>>> import covshift, numpy as np
>>> X = np.arange(400.0).reshape(200, 2)
>>> halves = ((X[i::2], X[i::2, 0] > 200) for i in range(2))
>>> covshift.stream.fit(covshift.lr(lam=0.01), halves).predict([[0.0, 1.0], [398.0, 399.0]])
array([False,  True])
"""

from __future__ import annotations

import contextlib
import os
import tempfile
from collections.abc import Iterable, Iterator
from typing import Any, TypeVar

import numpy as np

from . import _core
from ._data import column_differences
from ._frames import ArrowTable, _is_pandas, _numeric

__all__ = ["fit"]

Estimator = TypeVar("Estimator")


# --- one batch ---


def _names(batch: Any, label: str | None) -> list[str] | None:
    """The names of the columns other than the label; None if columns have none."""
    arrow = type(batch).__module__.split(".")[0] == "pyarrow"  # its columns are the values
    names = list(batch.schema.names if arrow else getattr(batch, "columns", [None]))
    return [name for name in names if name != label] if all(isinstance(name, str) for name in names) else None


def _numbers(values: Any, where: str) -> np.ndarray[Any, Any]:
    try:
        found = np.asarray(values)
        if found.dtype.kind in "US" or found.dtype == object and any(isinstance(value, (str, bytes)) for value in found.flat):
            raise TypeError("there is text")
        if found.dtype.kind not in "biufO":
            raise TypeError(f"they are of type {found.dtype}")
        return np.ascontiguousarray(values, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise ValueError(
            f"{where} has values that are not numbers ({error}); encode them first, or fit a CSV file with "
            "`covshift fit --memory`, which learns categories"
        ) from None


def _by_name(batch: Any, names: list[str], what: str) -> np.ndarray[Any, Any]:
    columns = []
    for name in names:
        column = batch[name]
        if _is_pandas(batch) and _numeric(column):
            column = column.to_numpy(dtype=np.float64, na_value=np.nan)
        columns.append(_numbers(column, f"column {name!r} of batch {what}"))
    return np.ascontiguousarray(np.column_stack(columns))


# --- all batches ---


class _Rows:
    """Rows of numbers in a file without a name, written batch by batch."""

    def __init__(self, folder: str, label: str | None, like: _Rows | None = None) -> None:
        try:
            self._file = tempfile.TemporaryFile(dir=folder)  # noqa: SIM115: open until the rows are mapped
        except OSError as error:
            raise type(error)(f"cache_dir must be a folder that files can be written to, not {folder!r}: {error.strerror}") from None
        self._label = label
        self._width = like._width if like else None
        self.names = like.names if like else None  # of the columns, in the order of the first batch
        self._rows = 0

    def append(self, batch: Any, what: str) -> int:
        names = _names(batch, self._label)
        if names is None:
            rows = _numbers(batch, f"batch {what}")
        else:
            rows = _by_name(batch, self._order(names, what), what)
        if rows.ndim == 1 and self._width == 1:
            rows = rows[:, np.newaxis]
        if rows.ndim != 2:
            raise ValueError(f"batch {what} has {rows.ndim} dimensions; it must have rows and columns")
        if self._width is None:
            self._width, self.names = rows.shape[1], names
        if rows.shape[1] != self._width:
            raise ValueError(f"batch {what} has {rows.shape[1]} columns, those before it {self._width}")
        self._file.write(rows.data)
        self._rows += len(rows)
        return len(rows)

    def _order(self, names: list[str], what: str) -> list[str]:
        """The columns of a batch with these names, in the order of the first batch."""
        if not names:
            raise ValueError(f"batch {what} has no columns")
        if len(set(names)) < len(names):
            twice = next(name for name in names if names.count(name) > 1)
            raise ValueError(f"batch {what} has two columns named {twice!r}; rename one")
        if self.names is None:
            return names
        if other := column_differences(names, self.names):
            raise ValueError(f"batch {what} has other columns than batch 1: {other}. Give all batches the same columns")
        return self.names

    def mapped(self) -> np.ndarray[Any, Any]:
        """All rows. The file lives as long as the array."""
        if self._rows == 0:
            raise ValueError("there are no rows: the batches are empty, or an iterator was used up before")
        self._file.flush()
        return np.memmap(self._file, dtype=np.float64, mode="r", shape=(self._rows, self._width))

    def named(self) -> Any:
        """All rows, with the names of their columns if they have any."""
        return self.mapped() if self.names is None else _NamedRows(self.mapped(), self.names)


class _NamedRows(ArrowTable):
    """Rows that an estimator takes for an Arrow table of numbers: its columns have names."""

    numeric = True

    def __init__(self, rows: np.ndarray[Any, Any], names: list[str]) -> None:
        self._rows, self.columns, self.shape = rows, names, rows.shape

    def table(self, source: str) -> Any:
        raise ValueError(f"'column:NAME' needs {source} in memory; call fit of the estimator with a data frame")

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray[Any, Any]:
        return np.asarray(self._rows, dtype=dtype)


class _Labels:
    """Labels of all batches: numbers or text, not both."""

    def __init__(self) -> None:
        self._batches: list[np.ndarray[Any, Any]] = []
        self._first: dict[str, int] = {}  # the first batch with labels of a kind

    def append(self, y: Any, number: int, rows: int) -> None:
        labels = np.asarray(y)
        if labels.shape != (rows,):
            raise ValueError(f"batch {number} has {rows} rows, but labels of shape {labels.shape}")
        self._batches.append(labels)
        kinds = {labels.dtype.type} if labels.dtype != object else set(map(type, labels.tolist())) - {type(None)}
        if rows and kinds:
            text = any(issubclass(kind, (str, bytes)) for kind in kinds)
            self._first.setdefault("text" if text else "numbers", number)
        if len(self._first) > 1:
            raise ValueError(
                f"the labels are numbers in batch {self._first['numbers']} and text in batch {self._first['text']}; "
                "give all batches the same type"
            )

    def together(self) -> np.ndarray[Any, Any]:
        return np.concatenate(self._batches)


# --- the batches that are given ---


def _tables(stream: Any) -> Iterator[Any]:
    if _is_pandas(stream):  # as an Arrow stream, its row names may be a column
        yield stream
        return
    import pyarrow as pa

    yield from pa.RecordBatchReader.from_stream(stream)


def _is_stream(batches: Any) -> bool:
    return hasattr(batches, "__arrow_c_stream__") or _is_pandas(batches)


def _labelled(batches: Any, label: str | None) -> Iterator[tuple[Any, Any]]:
    if not _is_stream(batches):
        if label is not None:
            raise ValueError("label names a column of an Arrow stream; give batches as pairs (X, y)")
        for number, batch in enumerate(batches, start=1):
            if not isinstance(batch, tuple) or len(batch) != 2:
                raise ValueError(f"batch {number} is not a pair (X, y)")
            yield batch
        return
    if label is None:
        raise ValueError("name the column of the class: label=...")
    for batch in _tables(batches):
        names = list(batch.columns if _is_pandas(batch) else batch.schema.names)
        if label not in names:
            raise ValueError(f"there is no column {label!r}; the columns are {', '.join(map(str, names))}")
        yield batch, batch[label]


def _unlabelled(batches: Any) -> Iterator[Any]:
    if _is_stream(batches):
        yield from _tables(batches)
        return
    if getattr(batches, "ndim", None) == 2:
        raise ValueError("target must be batches of rows, not one array; give target=[X]")
    yield from batches


@contextlib.contextmanager
def _large_vectors_in(folder: str) -> Iterator[None]:
    _core.keep_large_vectors_in(folder)
    try:
        yield
    finally:
        _core.keep_large_vectors_in("")


def fit(
    estimator: Estimator,
    batches: Iterable[Any],
    target: Iterable[Any] | None = None,
    *,
    label: str | None = None,
    cache_dir: str | None = None,
) -> Estimator:
    """Fits an estimator of this package to batches of rows, such as those of a generator or an Arrow reader.

    The batches are read once and written to files on disk, which have no names and vanish with the process; the fit makes its
    passes over these, and the system keeps as much of them in memory as there is. What an estimator keeps of each row, whatever the
    number of columns, stays in memory: about 48 bytes and 32 for each class.

    Parameters
    ----------
    estimator : RobustClassifier
        With its options; it is fitted in place.
    batches : iterable of pairs (X, y), or an Arrow stream
        X: numbers (n_rows, n_features), NaN where missing; y: labels. An Arrow stream is any object with
        ``__arrow_c_stream__``, for example a ``pyarrow.RecordBatchReader``; it needs pyarrow. Columns with names
        are taken by name, in the order of the first batch; all batches must have the same.
    target : iterable of X, or an Arrow stream, default=None
        Inputs from where the model will be used.
    label : str, default=None
        The column of the class, for an Arrow stream. A target may have it, too: there it is ignored.
    cache_dir : str, default=None
        The folder of the files; None: TMPDIR, or what tempfile.gettempdir() says.

    Returns
    -------
    estimator
        An ordinary model: it predicts, is saved and exported like any other.

    Examples
    --------
    >>> import covshift, numpy as np
    >>> rng = np.random.default_rng(0)
    >>> def batches():
    ...     for _ in range(5):
    ...         X = rng.normal(size=(200, 3))
    ...         yield X, X[:, 0] > 0
    >>> model = covshift.stream.fit(covshift.lr(lam=0.01), batches())
    >>> model.predict([[2, 0, 0], [-2, 0, 0]]).tolist()
    [True, False]
    """
    folder = os.fspath(cache_dir) if cache_dir is not None else tempfile.gettempdir()
    rows, labels = _Rows(folder, label), _Labels()
    for number, (X, y) in enumerate(_labelled(batches, label), start=1):
        labels.append(y, number, rows.append(X, str(number)))
    X, X_target = rows.named(), None
    if target is not None:
        others = _Rows(folder, label, rows)
        for number, batch in enumerate(_unlabelled(target), start=1):
            others.append(batch, f"{number} of the target")
        X_target = others.named()
    with _large_vectors_in(folder):
        return estimator.fit(X, labels.together(), X_target)  # type: ignore[attr-defined,no-any-return]
