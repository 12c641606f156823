"""Options as users write them to what the library takes, or an error with the option's name."""

from __future__ import annotations

import numbers
import os
import sys
from contextlib import contextmanager

import numpy as np
from sklearn.utils import check_random_state


def real(name: str, value) -> float:
    if not isinstance(value, numbers.Real):
        raise TypeError(f"{name} must be a number, not {value!r}")
    return float(value)


def whole(name: str, value) -> int:
    if real(name, value) % 1 != 0:
        raise ValueError(f"{name} must be a whole number, not {value!r}")
    return int(value)


def text_or_number(name: str, value) -> str:
    if isinstance(value, str):
        return value
    if not isinstance(value, numbers.Real):
        raise TypeError(f"{name} must be a number or a text, not {value!r}")
    return repr(float(value))


def text(name: str, value) -> str:
    if not isinstance(value, str):
        raise TypeError(f"{name} must be a text, not {type(value).__name__}")
    return value


def thread_count(threads: int | None) -> int:
    """As many as this process may use; OMP_NUM_THREADS, which joblib sets for its workers, counts."""
    if threads is not None:
        if whole("threads", threads) < 1:
            raise ValueError(f"threads must be a positive number or None (all), not {threads!r}")
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
    """An integer is the seed itself, as the program's --seed is."""
    if isinstance(random_state, (int, np.integer)):
        if not 0 <= random_state < 2**64:
            raise ValueError(f"random_state must be below 2**64 and not negative, not {random_state}")
        return int(random_state)
    return int(check_random_state(random_state).randint(2**31 - 1))


@contextmanager
def shown(progress):
    """What the library may call with a text and the share that is done; True: a line on stderr."""
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
