"""Seconds of a call, and the memory of this process."""

from __future__ import annotations

import contextlib
import ctypes
import gc
import signal
import time

REPEATS = 25  # of one fit in this process, while they take less than
BUDGET = 0.3  # seconds in all: fits that take long are repeated by the parent


def status(key: str) -> int:
    """Bytes from /proc/self/status: VmRSS now, VmHWM at most since the last reset."""
    with open("/proc/self/status", encoding="ascii") as file:
        for line in file:
            if line.startswith(key + ":"):
                return 1024 * int(line.split()[1])
    raise KeyError(key)


def reset_peak() -> int:
    """From here on VmHWM is new; what the process has now, without what it only keeps for later."""
    gc.collect()
    with contextlib.suppress(OSError, AttributeError):  # not every C library has it
        ctypes.CDLL(None).malloc_trim(0)
    with open("/proc/self/clear_refs", "w", encoding="ascii") as file:
        file.write("5")
    return status("VmRSS")


def timed(call):
    begin = time.perf_counter()
    result = call()
    return result, time.perf_counter() - begin


def limited(call, limit: float) -> float:
    """Seconds of the call; SIGALRM ends the process at the limit, wherever it is."""
    signal.setitimer(signal.ITIMER_REAL, limit)
    seconds = timed(call)[1]
    signal.setitimer(signal.ITIMER_REAL, 0)
    return seconds


def repeated(call, limit: float) -> list[float]:
    """Seconds of each call: one, and more of them if they are short."""
    seconds = [limited(call, limit)]
    while len(seconds) < REPEATS and sum(seconds) < BUDGET:
        seconds.append(timed(call)[1])
    return seconds
