"""Types of the public interface. Aliases are built with Union: Python 3.9 has no ``|`` at run time."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import Any, Callable, Literal, Protocol, Union

import numpy as np
import numpy.typing as npt


class HasShape(Protocol):
    """A NumPy array, a SciPy sparse matrix, a pandas or polars DataFrame, a Target."""

    @property
    def shape(self) -> tuple[int, ...]: ...


class HasArrow(Protocol):
    """A table that offers its columns by the Arrow PyCapsule interface."""

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object: ...


class HasPredictions(Protocol):
    """A fitted classifier with probabilities, of any package."""

    @property
    def classes_(self) -> Any: ...
    def predict_proba(self, X: Any, /) -> Any: ...


class HasWeights(Protocol):
    """A fitted density ratio."""

    def weights(self, X: Any, /) -> npt.NDArray[Any]: ...


Data = Union[HasShape, HasArrow, Sequence[Sequence[Any]]]
Labels = npt.ArrayLike
Floats = npt.NDArray[np.float64]

Column = Union[str, int]
ViewColumns = Union[Column, Sequence[Column], Mapping[str, Any]]
Views = Union[str, "os.PathLike[str]", Mapping[str, ViewColumns]]

Costs = Union[npt.NDArray[Any], Sequence[Sequence[float]]]
Lambda = Union[float, Literal["auto", "cv", "iwcv"]]
RatioLambda = Union[float, Literal["stable", "cv", "paper"]]
NumberOrCV = Union[float, Literal["cv"]]
Scale = Literal["unit", "standard", "none"]
Missing = Literal["error", "impute", "indicator"]
RandomState = Union[int, np.random.RandomState, None]
Progress = Union[bool, Callable[[str, float], object]]
ClassWeight = Union[Mapping[Any, float], Literal["balanced"], None]
