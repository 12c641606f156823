"""A constructor for each row of the table of methods: a loss and a generalization assumption."""

from __future__ import annotations

from . import _core
from ._classifier import RobustClassifier


def _constructor(name: str, summary: str, **own):
    def method(**options) -> RobustClassifier:
        return RobustClassifier(**{**own, **options})

    method.__name__ = method.__qualname__ = name
    method.__module__ = "covshift"
    method.__doc__ = f"{summary}. Takes the options of :class:`RobustClassifier` by name."
    return method


METHODS = {
    name.replace("-", "_"): _constructor(
        name.replace("-", "_"), summary[0].upper() + summary[1:], loss=loss, generalize=generalize
    )
    for name, loss, generalize, summary in _core.methods()
}
METHODS["auto"] = _constructor(
    "auto", "What held-out rows support: a mixture for log loss, else one method", generalize="auto"
)
