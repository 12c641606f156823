"""Options: docstrings from the extension module's table, and what only Python does with options."""

from __future__ import annotations

import inspect
import numbers
import os
import re
import sys
import textwrap
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Callable, TypeVar

import numpy as np
from sklearn.utils import check_random_state

from . import _core
from ._typing import Progress, RandomState

Documented = TypeVar("Documented", bound=Callable[..., Any])

_INDENT = {"initial_indent": "    ", "subsequent_indent": "    "}
_TYPES = {"": "bool", "NUMBER": "float", "N": "int", "FILE": "path", "a,b": "list", "a,b,c": "list"}
_TYPES["LOW HIGH"] = "(float, float)"
# Parameters that are not in the table, as several docstrings have them: {labelled}, {target}, {rows}, {ax}.
_PARAGRAPHS = {
    "labelled": """\
X : array-like, CSR matrix, DataFrame or Arrow table of shape (n_samples, n_features)
    Inputs. A contiguous float64 or float32 matrix is not copied. Non-numeric columns of a table (of
    pandas, polars, pyarrow, duckdb, ...) are one-hot encoded.
y : array-like of shape (n_samples,)
    Their classes.""",
    "target": """\
X_target : like X, of shape (n_target, n_features)
    Inputs from where a model will be used.""",
    "rows": """\
X : as for ``fit``, of shape (n_samples, n_features)
    Rows; each is treated independently of the others.""",
    "ax": """\
ax : matplotlib Axes, default=None
    Where to draw; None makes a new figure.

Returns
-------
ax : matplotlib Axes
    With the picture.""",
}
_COMMON = {
    "class_weight": (
        'dict or "balanced"',
        "Multiplies the weights of the rows of a class, as if sample_weight did: a dict of classes to "
        'factors (1 if a class is not in it), or "balanced": classes weigh the same in total.',
    ),
    "verbose": ("int", "Above 0, fit shows its progress and prints what it chose."),
    "n_jobs": (
        "int",
        "The number of threads in scikit-learn's words: -1 means all cores, -2 all but one. None leaves "
        "it to threads; give one of the two.",
    ),
    "progress": (
        "bool or callable",
        "True prints a line on stderr; a callable is called with the stage and the share done.",
    ),
}


def type_in_words(values: str, default: object = None) -> str:
    """The values of an option, as numpydoc writes types: ``float or {"auto", "cv"}``."""
    words = values.split("|")
    if len(words) == 1 and "," in values and values not in _TYPES:  # any of these
        return "list of {" + ", ".join(f'"{word}"' for word in values.split(",")) + "}"
    if isinstance(default, str) and default not in words:
        words.append(default)
    types = [_TYPES[word] for word in words if word in _TYPES]
    named = ", ".join(f'"{word}"' for word in words if word not in _TYPES)
    return " or ".join([*types, *([f"{{{named}}}"] if named else [])])


def _parameters(thing: Callable[..., Any]) -> str:
    """The options of a class or function, in the signature's order."""
    table, lines = _core.options()[thing.__name__], []
    for name, parameter in inspect.signature(thing).parameters.items():
        if name in table:
            _, values, sentence = table[name]
            kind = type_in_words(values, parameter.default)
        elif name in _COMMON:
            kind, sentence = _COMMON[name]
        else:
            continue
        default = repr(parameter.default).replace("'", '"')
        lines += [
            f"{name} : {kind}, default={default}",
            textwrap.fill(in_python(sentence).rstrip(".") + ".", 96, **_INDENT),
        ]
    return "\n".join(lines)


def documented(thing: Documented) -> Documented:
    """Fills the placeholders, lines of their own, in the docstring of a function, or of a class and its
    methods: ``{parameters}`` from the table of options, others from the paragraphs above."""

    def fill(match: re.Match[str]) -> str:
        name = match[2]
        return textwrap.indent(_parameters(thing) if name == "parameters" else _PARAGRAPHS[name], match[1])

    for one in [thing, *(vars(thing).values() if inspect.isclass(thing) else ())]:
        own = getattr(one, "fget", None) or getattr(one, "fn", None) or one  # available_if keeps its fn
        if getattr(own, "__doc__", None) and (own is thing or inspect.isfunction(own)):  # no docs: python -OO
            own.__doc__ = re.sub(r"(?m)^( *)\{(\w+)\}$", fill, own.__doc__)
    return thing


Told = TypeVar("Told", str, "dict[str, Any]")
_FLAG = re.compile(r"--([a-z][a-z-]*) ([\w.:]+)")


def in_python(told: Told) -> Told:
    """Texts of the library, and those within numbers of its, with keyword arguments for flags."""

    def argument(match: re.Match[str]) -> str:
        name, value = match[1].replace("-", "_").replace("lambda", "lam"), match[2]
        return f"{name}={value}" if value.replace(".", "").isdecimal() else f"{name}='{value}'"

    def walk(part: Any) -> Any:
        if isinstance(part, str):
            return _FLAG.sub(argument, part) if "--" in part else part
        if isinstance(part, dict):
            return {key: walk(value) for key, value in part.items()}
        return [walk(value) for value in part] if isinstance(part, list) else part

    return walk(told)


def cores() -> int:
    """The cores of this process, at most OMP_NUM_THREADS, which joblib sets for workers."""
    try:
        count = len(os.sched_getaffinity(0))
    except AttributeError:
        count = os.cpu_count() or 1
    try:
        return max(1, min(count, int(os.environ["OMP_NUM_THREADS"].split(",")[0])))
    except (KeyError, ValueError):
        return count


def thread_count(threads: int | None, n_jobs: int | None = None) -> int:
    """Of threads and n_jobs at most one is given; neither means all cores."""
    if threads is not None and n_jobs is not None:
        raise ValueError(f"threads is {threads} and n_jobs is {n_jobs}; give one of them")
    if n_jobs is not None:
        if not isinstance(n_jobs, numbers.Integral) or n_jobs == 0:
            raise ValueError(f"n_jobs must be a whole number other than 0, or None, not {n_jobs!r}")
        return int(n_jobs) if n_jobs > 0 else max(1, cores() + 1 + int(n_jobs))
    if threads is None:
        return cores()
    if not isinstance(threads, numbers.Real) or threads % 1:
        raise TypeError(f"threads must be a whole number or None (all cores), not {threads!r}")
    if threads < 1:
        raise ValueError(f"threads must be >= 1 or None (all cores), not {threads!r}")
    return int(threads)


def seed_of(random_state: RandomState) -> int:
    """An integer is the seed itself, like the program's --seed."""
    if isinstance(random_state, (int, np.integer)):
        if not 0 <= random_state < 2**64:
            raise ValueError(f"random_state must be in [0, 2**64), not {random_state}")
        return int(random_state)
    return int(check_random_state(random_state).randint(2**31 - 1))


@contextmanager
def shown(progress: Progress | None) -> Iterator[Callable[[str, float], object] | None]:
    """The progress callback, called with a stage and the share done; True prints a line on stderr."""
    if progress is None or progress is False or callable(progress):
        yield progress or None
        return
    if progress is not True:
        raise TypeError(f"progress must be True, False or a callable, not {progress!r}")

    def show(stage: str, share: float) -> None:
        print(f"\r{stage} {100 * share:3.0f}%\x1b[K", end="", file=sys.stderr, flush=True)

    try:
        yield show
    finally:
        print("\r\x1b[K", end="", file=sys.stderr, flush=True)
