"""Measures every task with every method, or takes what is cached: the target's probabilities and the time of each.

A measurement is a process of its own, forked from one that has imported the packages, with one thread and a limit of
processor time. Its key says what was measured: the task's rows, and the program or the package's version.
"""

from __future__ import annotations

import multiprocessing
import os
import resource
import time
import traceback
import warnings
from concurrent.futures import ThreadPoolExecutor
from importlib import metadata
from pathlib import Path

import numpy as np

from . import own, peers

LIMIT = 20  # seconds of processor time of one measurement
FAILED = "failed"
NOT_MEASURED = "not measured"


def version(package):
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return None


def used():
    mine, children = resource.getrusage(resource.RUSAGE_SELF), resource.getrusage(resource.RUSAGE_CHILDREN)
    return mine.ru_utime + mine.ru_stime + children.ru_utime + children.ru_stime


def measured(pipe, call, limit):
    """In the forked process: the probabilities, the time, or why there are none."""
    warnings.simplefilter("ignore")
    resource.setrlimit(resource.RLIMIT_CPU, (limit, limit + 1))
    start, clock = used(), time.perf_counter()
    try:
        p, said = call()
        answer = {"p": np.asarray(p, float), "said": said}
        if not np.all(np.isfinite(answer["p"])):
            answer = {FAILED: "probabilities that are not numbers"}
    except Exception as failure:  # whatever a package throws is its result
        text = " ".join(str(failure).split())[:160] or traceback.format_exc().splitlines()[-1]
        answer = {FAILED: f"{type(failure).__name__}: {text}"}
    pipe.send({**answer, "cpu": used() - start, "wall": time.perf_counter() - clock})


def apart(call, limit=LIMIT):
    """`call` in a process of its own."""
    fork = multiprocessing.get_context("fork")
    near, far = fork.Pipe(duplex=False)
    process = fork.Process(target=measured, args=(far, call, limit))
    process.start()
    far.close()
    try:
        answer = near.recv()
    except EOFError:
        answer = {FAILED: f"more than {limit} s of processor time"}
    process.join()
    return {**answer, "load": os.getloadavg()[0]}


class Bench:
    """Tasks, methods and the cache."""

    def __init__(self, tasks, program, cache, only=None, limit=LIMIT):
        self.tasks, self.program, self.cache = tasks, program, Path(cache)
        self.options = program.methods()
        self.methods = [*self.options, *peers.METHODS]
        unknown = sorted(set(only or ()) - set(self.methods))
        if unknown:
            raise SystemExit(f"shiftbench: no method {', '.join(unknown)}; there are {', '.join(self.methods)}")
        self.only = set(only) if only else None
        self.limit, self.stale = limit, 0

    def key(self, task, method):
        if method in self.options:
            return f"{task.digest()} {self.program.digest} {self.options[method]}"
        package = peers.METHODS[method][0]
        return f"{task.digest()} {package} {version(package)}"

    def path(self, task, method):
        safe = "".join(c if c.isalnum() or c in "+-" else "_" for c in method)
        return self.cache / f"{task.name}--{safe}.npz"

    def load(self, task, method):
        """What is cached; of a method that is not to be measured again, whatever its program was."""
        path = self.path(task, method)
        if not path.exists():
            return None
        with np.load(path, allow_pickle=True) as file:
            answer = file["answer"].item()
        fresh = answer["key"] == self.key(task, method)
        if not fresh and self.only is not None and method not in self.only and answer["key"].startswith(task.digest()):
            self.stale += 1
            return answer
        return answer if fresh else None

    def call(self, task, method):
        given = task.given  # the labels of the target stay here
        if method in self.options:
            return lambda: own.fit(self.program, given, self.options[method])

        def peer():
            X, Z = given.matrices()
            return peers.METHODS[method][1](X, given.codes(), Z, len(given.classes)), {}
        return peer

    def measure(self, task, method):
        answer = self.load(task, method)
        if answer is None and self.only is not None and method not in self.only:
            return {FAILED: NOT_MEASURED}
        if answer is None:
            answer = apart(self.call(task, method), self.limit) | {"key": self.key(task, method)}
            self.cache.mkdir(parents=True, exist_ok=True)
            # np.savez adds .npz to other names; written whole or not at all.
            part = self.path(task, method).with_suffix(".part.npz")
            np.savez(part, answer=np.array(answer, dtype=object))
            part.replace(self.path(task, method))
            said = answer.get(FAILED) or "ok"
            print(f"{task.name:28s} {method:20s} {answer.get('cpu', self.limit):7.2f} s  {said}", flush=True)
        return answer

    def all(self, jobs):
        """{task: {method: answer}}"""
        with ThreadPoolExecutor(jobs) as pool:
            waiting = {t.name: {m: pool.submit(self.measure, t, m) for m in self.methods} for t in self.tasks}
            return {t: {m: f.result() for m, f in row.items()} for t, row in waiting.items()}
