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

__all__ = ["fit"]

Estimator = TypeVar("Estimator")


class _Rows:
    """Rows of numbers in a file without a name, written batch by batch."""

    def __init__(self, folder: str, width: int | None = None) -> None:
        self._file = tempfile.TemporaryFile(dir=folder)  # noqa: SIM115: open until the rows are mapped
        self._width = width
        self._rows = 0

    def append(self, batch: Any, what: str) -> int:
        try:
            rows = np.ascontiguousarray(batch, dtype=np.float64)
        except (TypeError, ValueError) as error:
            raise ValueError(
                f"batch {what} has values that are not numbers ({error}); encode them first, or fit a CSV file with "
                "`covshift fit --memory`, which learns categories"
            ) from None
        if rows.ndim == 1 and self._width == 1:
            rows = rows[:, np.newaxis]
        if rows.ndim != 2:
            raise ValueError(f"batch {what} has {rows.ndim} dimensions; it must have rows and columns")
        if self._width is None:
            self._width = rows.shape[1]
        if rows.shape[1] != self._width:
            raise ValueError(f"batch {what} has {rows.shape[1]} columns, those before it {self._width}")
        self._file.write(rows.data)
        self._rows += len(rows)
        return len(rows)

    def mapped(self) -> np.ndarray[Any, Any]:
        """All rows. The file lives as long as the array."""
        if self._rows == 0:
            raise ValueError("there are no rows: the batches are empty, or an iterator was used up before")
        self._file.flush()
        return np.memmap(self._file, dtype=np.float64, mode="r", shape=(self._rows, self._width))


def _arrow_batches(stream: Any) -> Iterator[Any]:
    import pyarrow as pa

    yield from pa.RecordBatchReader.from_stream(stream)


def _columns(batch: Any, names: list[str]) -> np.ndarray[Any, Any]:
    return np.column_stack([batch.column(name).to_numpy(zero_copy_only=False) for name in names])


def _labelled(batches: Any, label: str | None) -> Iterator[tuple[Any, Any]]:
    if not hasattr(batches, "__arrow_c_stream__"):
        if label is not None:
            raise ValueError("label names a column of an Arrow stream; give batches as pairs (X, y)")
        for number, batch in enumerate(batches, start=1):
            if not isinstance(batch, tuple) or len(batch) != 2:
                raise ValueError(f"batch {number} is not a pair (X, y)")
            yield batch
        return
    if label is None:
        raise ValueError("name the column of the class: label=...")
    for batch in _arrow_batches(batches):
        if label not in batch.schema.names:
            raise ValueError(f"there is no column {label!r}; the columns are {', '.join(batch.schema.names)}")
        yield _columns(batch, [n for n in batch.schema.names if n != label]), batch.column(label).to_numpy(zero_copy_only=False)


def _unlabelled(batches: Any, label: str | None) -> Iterator[Any]:
    if not hasattr(batches, "__arrow_c_stream__"):
        yield from batches
        return
    for batch in _arrow_batches(batches):
        yield _columns(batch, [n for n in batch.schema.names if n != label])


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
        ``__arrow_c_stream__``, for example a ``pyarrow.RecordBatchReader``; it needs pyarrow.
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
    rows = _Rows(folder)
    labels = []
    for number, (X, y) in enumerate(_labelled(batches, label), start=1):
        labels.append(np.asarray(y))
        count = rows.append(X, str(number))
        if labels[-1].shape != (count,):
            raise ValueError(f"batch {number} has {count} rows, but labels of shape {labels[-1].shape}")
    X = rows.mapped()
    X_target = None
    if target is not None:
        others = _Rows(folder, X.shape[1])
        for number, batch in enumerate(_unlabelled(target, label), start=1):
            others.append(batch, f"{number} of the target")
        X_target = others.mapped()
    with _large_vectors_in(folder):
        return estimator.fit(X, np.concatenate(labels), X_target)  # type: ignore[attr-defined,no-any-return]
