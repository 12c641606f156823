"""A constructor for each row of the table of methods: a loss and a generalization assumption.

Those written here are known to type checkers; any other row gets its own by ``add_untyped``.
"""

from __future__ import annotations

import inspect
from typing import TYPE_CHECKING, Any, Callable

from . import _core
from ._classifier import RobustClassifier

if TYPE_CHECKING:
    from typing_extensions import ParamSpec

    P = ParamSpec("P")

_OPTIONS: dict[str, dict[str, Any]] = {
    name.replace("-", "_"): {"loss": loss, "generalize": generalize}
    for name, loss, generalize, _ in _core.methods()
}
_OPTIONS["auto"] = {"generalize": "auto"}


def estimator_for(method: str, **options: Any) -> RobustClassifier:
    """The estimator of a method that the library names, with further options."""
    own = {"generalize": "temper:auto"} if method == "tempered" else _OPTIONS[method.replace("-", "_")]
    return RobustClassifier(**own, **options)


def as_call(estimator: RobustClassifier) -> str:
    """The estimator as Python: what differs from the defaults, in the signature's order."""
    own = estimator.get_params(deep=False)
    chosen = [
        f"{name}={own[name]!r}"
        for name, parameter in inspect.signature(RobustClassifier).parameters.items()
        if not (isinstance(own[name], type(parameter.default)) and own[name] == parameter.default)
    ]
    return f"RobustClassifier({', '.join(chosen)})"


def _like(
    base: Callable[P, RobustClassifier],
) -> Callable[[Callable[[], None]], Callable[P, RobustClassifier]]:
    """Makes a function a constructor like ``base``, with the options of its row as defaults."""

    def made(named: Callable[[], None]) -> Callable[P, RobustClassifier]:
        own = _OPTIONS[named.__name__]
        signature = inspect.signature(base)
        signature = signature.replace(
            parameters=[
                p.replace(default=own.get(p.name, p.default)) for p in signature.parameters.values()
            ]
        )

        def constructor(*args: P.args, **options: P.kwargs) -> RobustClassifier:
            given = signature.bind(*args, **options)
            return RobustClassifier(**{**own, **given.arguments})

        constructor.__name__ = constructor.__qualname__ = named.__name__
        constructor.__module__ = "covshift"
        constructor.__doc__ = named.__doc__ and (
            f"{named.__doc__}\n\nTakes the options of :class:`RobustClassifier`."
        )
        vars(constructor)["__signature__"] = signature
        return constructor

    return made


def add_untyped(module: dict[str, Any]) -> None:
    """Adds the rows of the table for which no constructor is written below, unknown to type checkers."""
    for name, _, _, summary in _core.methods():
        name = name.replace("-", "_")
        if name not in module:
            named = lambda: None  # noqa: E731
            named.__name__, named.__doc__ = name, f"{summary[:1].upper()}{summary[1:]}."
            module[name] = _like(RobustClassifier)(named)
            module["__all__"].append(name)


@_like(RobustClassifier)
def lr() -> None:
    """Logistic regression; ignores the shift."""


@_like(RobustClassifier)
def iw() -> None:
    """Importance-weighted logistic regression."""


@_like(RobustClassifier)
def robust() -> None:
    """Robust to the shift in all inputs, log loss."""


@_like(RobustClassifier)
def robust_view() -> None:
    """Robust, trusting the views that hardly shift, log loss."""


@_like(RobustClassifier)
def overlap() -> None:
    """Fades evidence where training data are scarce, log loss."""


@_like(RobustClassifier)
def adv01() -> None:
    """Adversarial zero-one classifier; ignores the shift."""


@_like(RobustClassifier)
def robust01() -> None:
    """Robust to the shift in all inputs, zero-one loss."""


@_like(RobustClassifier)
def robust01_view() -> None:
    """Robust, trusting stable views, zero-one loss."""


@_like(RobustClassifier)
def overlap01() -> None:
    """Like overlap, zero-one loss."""


@_like(RobustClassifier)
def svm() -> None:
    """Multiclass SVM (Crammer-Singer); ignores the shift."""


@_like(RobustClassifier)
def iw_svm() -> None:
    """Importance-weighted multiclass SVM."""


@_like(RobustClassifier)
def auto() -> None:
    """What held-out rows support: a mixture for log loss, else one method."""
