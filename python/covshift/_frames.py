"""Tables with named columns: pandas DataFrames, and whatever speaks Arrow's C data interface, such as tables
of pyarrow, polars and duckdb. None of these libraries is imported."""

from __future__ import annotations

import numpy as np

from . import _core
from ._scoring import Target


def _is_pandas(X) -> bool:
    return hasattr(X, "columns") and type(X).__module__.split(".")[0] == "pandas"


def _speaks_arrow(X) -> bool:
    """A table, not a single column, that hands over its memory."""
    shares = hasattr(X, "__arrow_c_stream__") or hasattr(X, "__arrow_c_array__")
    return shares and (hasattr(X, "columns") or hasattr(X, "schema"))


def is_frame(X) -> bool:
    return isinstance(X, ArrowTable) or _is_pandas(X) or _speaks_arrow(X)


class ArrowTable:
    """An Arrow table, read once."""

    def __init__(self, X):
        self._frame = _core.ArrowFrame(X)
        self.columns = self._frame.names
        self.shape = (self._frame.rows, len(self.columns))

    def __len__(self) -> int:
        return self.shape[0]

    @property
    def numeric(self) -> bool:
        return self._frame.numeric

    def table(self, source: str):
        return self._frame.table(source)

    def __array__(self, dtype=None, copy=None):
        if not self.numeric:
            raise TypeError("the table has columns that are not numbers")
        return np.asarray(self._frame.matrix(), dtype=dtype)


def frame_of(X):
    """Arrow tables in the form that the package reads; everything else as it is. A Target's rows."""
    if isinstance(X, Target):
        X = X.X
    if type(X).__name__ == "LazyFrame":
        raise TypeError("a polars LazyFrame has no rows yet; collect() it")
    # pandas hands over its memory only where pyarrow is installed, and its row names as a column.
    return ArrowTable(X) if _speaks_arrow(X) and not _is_pandas(X) else X


def _numeric(column) -> bool:
    dtype = column.dtype
    if hasattr(dtype, "categories"):
        return False
    if dtype == object:  # may hold numbers, as an array of objects may
        from pandas.api.types import infer_dtype

        return infer_dtype(column) in ("boolean", "integer", "floating", "mixed-integer-float", "decimal")
    return dtype.kind in "biuf"


def has_categories(X) -> bool:
    """True for a table with a column of anything but numbers; categories are one-hot encoded."""
    X = frame_of(X)
    if isinstance(X, ArrowTable):
        return not X.numeric
    return is_frame(X) and not all(_numeric(column) for _, column in _columns(X))


def _columns(X):
    names = [str(name) for name in X.columns]
    if len(set(names)) < len(names):
        twice = next(name for name in names if names.count(name) > 1)
        raise ValueError(f"two columns are named {twice!r}; rename one")
    return [(name, X.iloc[:, i]) for i, name in enumerate(names)]


def _codes(column) -> tuple[np.ndarray, list[str]]:
    """Categories numbered in order of appearance; -1 if missing, also by the words that mean it in a file."""
    import pandas

    if getattr(column.dtype, "tz", None) is not None:
        column = column.dt.tz_convert("UTC").dt.tz_localize(None)
    codes, values = pandas.factorize(column)
    levels: dict[str, int] = {}
    place = [
        -1 if _core.is_missing(text) else levels.setdefault(text, len(levels))
        for text in map(str, values)
    ]
    return np.array([*place, -1], dtype=np.int32)[codes], list(levels)


def table_of(X, source: str):
    """A table of the library: numbers are copied, categories are numbered, dates are text."""
    X = frame_of(X)
    if len(X) == 0:
        raise ValueError(f"{source} has no rows; give at least one")
    if isinstance(X, ArrowTable):
        return X.table(source)
    columns = []
    for name, column in _columns(X):
        if _numeric(column):
            numbers = column.to_numpy(dtype=np.float64, na_value=np.nan)
            columns.append((name, np.ascontiguousarray(numbers, dtype=np.float64)))
        elif not hasattr(column.dtype, "categories") and column.dtype.kind in "mc":
            raise TypeError(
                f"column {name!r} of {source} is of type {column.dtype}, neither numbers, categories nor "
                "dates; convert it, or drop it"
            )
        else:
            try:
                columns.append((name, *_codes(column)))
            except TypeError as error:  # lists, dicts and the like
                raise TypeError(
                    f"column {name!r} of {source} holds values that are neither numbers, categories nor dates "
                    f"({error}); convert it, or drop it"
                ) from error
    return _core.table(source, columns)
