"""Classes: their codes, their names in a model file, and what stands for abstaining."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from sklearn.utils import column_or_1d
from sklearn.utils.class_weight import compute_class_weight
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_consistent_length

from ._data import Training, plain_classes, training_data
from ._typing import ClassWeight, Floats


class LabelledData(NamedTuple):
    """The data of a fit with classes."""

    given: Training
    classes: npt.NDArray[Any]
    codes: npt.NDArray[Any]  # of the rows
    options: dict[str, Any]  # for the extension module: the names of the label and the classes


def labelled_data(
    estimator: Any, X: Any, y: Any, X_target: Any, *, order: Sequence[Any] | None = None, as_table: bool = False
) -> LabelledData:
    """Checks the data as scikit-learn does and numbers the classes, sorted or in the given order."""
    label = str(getattr(y, "name", None) or "label")
    refuse_missing(y)
    given = training_data(estimator, X, X_target, y=y, as_table=as_table, finite=False)
    if not plain_classes(y, given.X.shape[0]):
        y = column_or_1d(y, warn=True)
        check_consistent_length(given.X, y)
        if y.dtype.kind not in "iub":  # which are always classes
            check_classification_targets(y)
    while label in given.columns:
        label += "_"
    classes, codes = encode(y, order)
    names = [class_name(c) for c in classes]
    return LabelledData(given, classes, codes, {"label": label, "classes": names})


def refuse_missing(y: object) -> None:
    values = np.asarray(y)
    if values.ndim == 0 or values.dtype != object:
        return  # scikit-learn reports a missing number or y
    for row, label in enumerate(values.ravel()):
        if label is None or type(label).__name__ == "NAType" or label != label:
            raise ValueError(f"y: the class of row {row + 1} is missing; fill it in or drop the row")


def numbered(y: npt.NDArray[Any]) -> tuple[npt.NDArray[Any], npt.NDArray[Any]]:
    """np.unique with the inverse, without sorting for integers in a small range."""
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


def encode(y: Any, order: Sequence[Any] | None) -> tuple[npt.NDArray[Any], npt.NDArray[Any]]:
    """The classes, sorted or in the given order, and the number of each row's class."""
    classes, codes = numbered(y)
    if order is not None:
        given = in_order(classes, order)
        place = {c: i for i, c in enumerate(given.tolist())}
        codes = np.array([place[c] for c in classes.tolist()])[codes]
        classes = given
    return classes, np.ascontiguousarray(codes, dtype=np.int32)


def in_order(classes: npt.NDArray[Any], order: Sequence[Any]) -> npt.NDArray[Any]:
    """The classes that y has, in the caller's order."""
    given = np.asarray(order)
    if len(given) != len(classes) or set(given.tolist()) != set(classes.tolist()):
        raise ValueError(f"classes is {list(given)}, but y has {list(classes)}; give each class once")
    return given.astype(classes.dtype)


def with_class_weight(
    class_weight: ClassWeight, classes: npt.NDArray[Any], codes: npt.NDArray[Any], weight: Floats | None
) -> Floats | None:
    """The weights of the rows times those of their classes. Rows that count twice do so in "balanced"."""
    if class_weight is None:
        return weight
    totals = np.bincount(codes, weights=weight, minlength=len(classes))
    factors = class_factors(class_weight, classes, totals)
    return factors[codes] if weight is None else weight * factors[codes]


def class_factors(class_weight: ClassWeight, classes: npt.NDArray[Any], totals: npt.NDArray[Any]) -> Floats:
    """What multiplies the weights of each class, given their totals."""
    if not isinstance(class_weight, str):
        return compute_class_weight(class_weight, classes=classes, y=classes)
    if class_weight != "balanced":
        raise ValueError(f"class_weight must be a dict, 'balanced' or None, not {class_weight!r}")
    return totals.sum() / (len(classes) * np.where(totals > 0, totals, 1.0))


def class_name(label: Any) -> str:
    return str(label.item() if isinstance(label, np.generic) else label)


_WHOLE = r"[-+]?(0|[1-9]\d*)"


def as_labels(names: list[str]) -> npt.NDArray[Any]:
    """Numbers if all names are numbers, except Python-only spellings ("1_0", "nan") and codes ("007")."""
    if set(names) <= {"False", "True"}:
        return np.array([name == "True" for name in names])
    for kind, pattern in ((int, _WHOLE), (float, _WHOLE + r"(\.\d*)?([eE][-+]?\d+)?")):
        if all(re.fullmatch(pattern, name) for name in names):
            return np.array([kind(name) for name in names])
    return np.array(names)


def abstain_value(classes: npt.NDArray[Any], name: str) -> Any:
    if classes.dtype.kind not in "biuf":
        return name
    return min(-1, classes.min().item() - 1)
