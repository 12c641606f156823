"""Options: docstrings from the extension module's table, and what only Python does with options."""

from __future__ import annotations

import inspect
import numbers
import os
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
# Beside the table: parameters of several classes and functions.
_COMMON = {
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
    if isinstance(default, str) and default not in words:
        words.append(default)
    types = [_TYPES[word] for word in words if word in _TYPES]
    named = ", ".join(f'"{word}"' for word in words if word not in _TYPES)
    return " or ".join([*types, *([f"{{{named}}}"] if named else [])])


def documented(thing: Documented) -> Documented:
    """Fills ``{parameters}`` in a docstring from the table of options, in the signature's order."""
    if not thing.__doc__:  # under python -OO
        return thing
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
            textwrap.fill(sentence.rstrip(".") + ".", 96, **_INDENT),
        ]
    indent = "    "
    thing.__doc__ = thing.__doc__.replace(
        indent + "{parameters}", textwrap.indent("\n".join(lines), indent)
    )
    return thing


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
