"""Options: docstrings from the extension module's table, and what only Python does with options."""

from __future__ import annotations

import inspect
import numbers
import os
import sys
import textwrap
from contextlib import contextmanager

import numpy as np
from sklearn.utils import check_random_state

from . import _core


def store(given: dict) -> None:
    """Stores the arguments of ``__init__`` (its ``locals()``) unchanged, as scikit-learn requires."""
    vars(given.pop("self")).update(given)


def documented(thing):
    """Fills ``{parameters}`` in a docstring from the table of options, in the signature's order."""
    table, lines = _core.options()[thing.__name__], []
    for name in inspect.signature(thing).parameters:
        if name in table:
            _, values, sentence = table[name]
            lines += [f"{name} : {values or 'bool'}", textwrap.fill(sentence, 96, **_INDENT)]
    text = textwrap.indent("\n".join(lines), "    ").strip()
    if thing.__doc__:  # None under python -OO
        thing.__doc__ = thing.__doc__.replace("{parameters}", text)
    return thing


_INDENT = {"initial_indent": "    ", "subsequent_indent": "    "}


def thread_count(threads: int | None) -> int:
    """None means all cores of this process, at most OMP_NUM_THREADS, which joblib sets for workers."""
    if threads is not None:
        if not isinstance(threads, numbers.Real) or threads % 1:
            raise TypeError(f"threads must be a whole number or None (all cores), not {threads!r}")
        if threads < 1:
            raise ValueError(f"threads must be >= 1 or None (all cores), not {threads!r}")
        return int(threads)
    try:
        cores = len(os.sched_getaffinity(0))
    except AttributeError:
        cores = os.cpu_count() or 1
    try:
        return max(1, min(cores, int(os.environ["OMP_NUM_THREADS"].split(",")[0])))
    except (KeyError, ValueError):
        return cores


def seed_of(random_state) -> int:
    """An integer is the seed itself, like the program's --seed."""
    if isinstance(random_state, (int, np.integer)):
        if not 0 <= random_state < 2**64:
            raise ValueError(f"random_state must be in [0, 2**64), not {random_state}")
        return int(random_state)
    return int(check_random_state(random_state).randint(2**31 - 1))


@contextmanager
def shown(progress):
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
