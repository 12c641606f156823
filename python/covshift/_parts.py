"""A fit to the partitions of Dask collections, each of which stays where it is.

Every part runs the whole fit on its rows; where the fit sums over all rows it stops and hands out its share
(PartFit of the extension module). A pass is a graph: a task for each worker advances its parts and adds up
their shares, others add up those of several workers, and the client gives the total to the next pass. Tasks
come and go: there are no connections of our own and no fixed set of workers.

The running fit of a part is kept on its worker, as long as the client keeps the future of the task that made
it. If the worker is lost, Dask repeats that task elsewhere; the new part is given all totals so far and goes
through them by itself up to where the others are.

At the end: rows of all partitions in this process.
"""

from __future__ import annotations

import contextlib
import threading
import time
import uuid
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Callable

import distributed
import numpy as np
import numpy.typing as npt
import scipy.sparse as sp
from dask import delayed
from distributed.scheduler import KilledWorker

from . import _core
from ._collections import Columns, Partitions, Where, _check_columns, rows_of

_LOOK = 0.5  # seconds between looks whether a worker has left
_FAN_IN = 8  # answers that one task, or the client, adds up
_SMALL = 1 << 20  # bytes that may go to every worker by way of the scheduler
_ALONE = 60  # seconds without any worker until the fit gives up
_PAUSED = 60  # seconds for which a worker that it needs may be paused
_STATUS = 2  # seconds between looks at the status of workers
_FAREWELL = 10  # seconds for telling workers that the fit has ended
_PATIENCE = 20  # losses in one pass until the fit gives up


# --- on a worker ---


class Running:
    """A part whose fit has been advanced through ``steps`` totals."""

    def __init__(self, fit: Any) -> None:
        self.fit = fit
        self.token = uuid.uuid4().hex  # unlike that of a part that replaces it
        self.steps = -1  # not started
        self.contribution = b""
        self.lock = threading.Lock()

    def advance(self, first: int, totals: Sequence[bytes]) -> int | None:
        """Advances to the step after these totals; None if it can, else the step where it is."""
        with self.lock:
            if self.steps < 0:
                self.contribution, self.steps = self.fit.advance([]), 0
            if self.steps < first:
                return self.steps
            if first + len(totals) > self.steps:
                self.contribution = self.fit.advance(totals[self.steps - first :])
                self.steps = first + len(totals)
            return None


_running: dict[tuple[str, int], Running] = {}


class Keeper:
    """Keeps a running part alive on its worker: the result of the task that made it.

    A copy, for another worker or on disk, keeps nothing there, and the original then leaves the part to it. A copy
    that comes back from disk keeps the part again. Nobody ends a part that has replaced the own one.
    """

    def __init__(self, fit: str, part: int, token: str) -> None:
        self.key = (fit, part)
        self.token = token
        self._copied = False

    @classmethod
    def of(cls, fit: str, part: int, running: Running) -> Keeper:
        """The keeper of a part on this worker."""
        _running[fit, part] = running
        return cls(fit, part, running.token)

    def __reduce__(self) -> tuple[type[Keeper], tuple[str, int, str]]:
        self._copied = True
        return Keeper, (*self.key, self.token)

    def __del__(self) -> None:
        running = _running.get(self.key)
        if not self._copied and running is not None and running.token == self.token:
            _running.pop(self.key, None)
            running.fit.cancel()


async def forget(fit: str) -> None:
    """Ends the parts of a fit that no keeper ends: those whose keepers went to disk or to another worker."""
    for key in [key for key in list(_running) if key[0] == fit]:
        running = _running.pop(key, None)
        if running is not None:
            running.fit.cancel()


@dataclass(frozen=True)
class Totals:
    """Results of the steps from ``first`` on; not a list, which Dask would look into."""

    first: int
    results: list[bytes]


@dataclass
class Answer:
    """What the parts on one worker, or on several, contribute to a step."""

    contribution: bytes = b""
    behind: dict[int, int] = field(default_factory=lambda: dict[int, int]())  # part: its step; -1: it is not there
    progress: tuple[str, float] | None = None


def threads_here() -> int:
    """The threads of this worker."""
    return distributed.get_worker().state.nthreads


def advance(fit: str, parts: Sequence[int], totals: Totals) -> Answer:
    """Advances these parts of this worker, one after the other: each uses all of its threads."""
    answer, shares = Answer(), list[bytes]()
    for part in parts:
        running = _running.get((fit, part))
        behind = -1 if running is None else running.advance(totals.first, totals.results)
        if behind is not None:
            answer.behind[part] = behind
        elif running is not None:
            shares.append(running.contribution)
            if part == 0:
                answer.progress = running.fit.progress()
    answer.contribution = _core.combine(shares) if shares else b""
    return answer


def combine(answers: Iterable[Answer]) -> Answer:
    """Several answers in one."""
    whole, shares = Answer(), list[bytes]()
    for answer in answers:
        whole.behind.update(answer.behind)
        whole.progress = whole.progress or answer.progress
        if answer.contribution:
            shares.append(answer.contribution)
    whole.contribution = _core.combine(shares) if shares else b""
    return whole


# --- at the client ---


def _settled(futures: Sequence[Any], seconds: float) -> bool:
    """Waits until none of these futures is under way; False if that takes longer."""
    end = time.monotonic() + seconds
    while any(future.status in ("pending", "lost") for future in futures):
        if time.monotonic() > end:
            return False
        time.sleep(0.01)
    return True


class Lost(Exception):
    """A worker has left in the middle of a pass."""


class Watch:
    """Whether workers that the client waits for can work: check_workers() throws RuntimeError if they cannot for long."""

    def __init__(self, client: Any) -> None:
        self._client = client
        self._since: dict[str, float] = {}  # the address of a paused worker; none: there is no worker
        self._next = 0.0

    def check_workers(self, holders: Callable[[], Iterable[str]]) -> None:
        """To be called again and again during one wait; ``holders`` are the workers that it is for."""
        now = time.monotonic()
        if now < self._next:
            return
        self._next = now + _STATUS
        workers: dict[str, Any] = self._client.scheduler_info(n_workers=-1).get("workers", {})
        paused = {address for address, worker in workers.items() if worker.get("status") == "paused"}
        since = {address: self._since.get(address, now) for address in (paused if workers else {""})}
        self._since = since
        if not workers and now - since[""] >= _ALONE:
            raise RuntimeError(f"the cluster has had no worker for {_ALONE} s; start some")
        long = {address for address in paused if now - since[address] >= _PAUSED}
        if long and len(paused) < len(workers):
            long.intersection_update(holders())
        if long:
            raise RuntimeError(
                f"worker {min(long)} has been paused for {_PAUSED} s: it is almost out of memory, and the fit needs "
                "the rows there; give workers more memory, or use more of them"
            )


class Fit:
    """One fit: the tasks that make its parts, and the totals so far."""

    def __init__(self, client: Any, parts: int, make: Callable[[str, str, int], Any]) -> None:
        """``make(fit, key, part)``: a Delayed object with this key whose value is a Keeper."""
        self.id = uuid.uuid4().hex
        self._client = client
        self._make = make
        self._totals: list[bytes] = []
        self._pending: list[Any] = []
        self.losses = 0
        self._keepers: dict[int, Any] = {}
        self._where: dict[str, list[int]] = {}
        self._submit(range(parts))

    def _submit(self, parts: Iterable[int]) -> None:
        """Lets Dask make these parts, by tasks of their own, wherever it wants."""
        parts = list(parts)
        again = uuid.uuid4().hex[:8]
        tasks = [self._make(self.id, f"covshift-part-{self.id[:8]}-{again}-{part}", part) for part in parts]
        for part, future in zip(parts, self._client.compute(tasks, optimize_graph=True)):
            self._keepers[part] = future

    def run(self, progress: Callable[[str, float], object] | None) -> list[str]:
        """The results of all parts."""
        try:
            while True:
                answer = self._step()
                if progress is not None and answer.progress is not None and answer.progress[0]:
                    progress(*answer.progress)
                finished = _core.finished(answer.contribution)
                if finished is not None:
                    return finished
                self._totals.append(answer.contribution)
        finally:
            # Without its keeper a part on a worker stops, even in the middle of a step.
            self._client.cancel([*self._pending, *self._keepers.values()], force=True)
            self._pending, self._keepers = [], {}
            with contextlib.suppress(Exception):  # workers leave, and then have nothing left to forget
                self._client.run(forget, self.id, wait=False, on_error="ignore", callback_timeout=_FAREWELL)

    def _step(self) -> Answer:
        """The contributions of all parts to the next step, whatever happens to workers meanwhile."""
        first = max(0, len(self._totals) - 1)
        for _ in range(_PATIENCE):
            try:
                self._where = self._where or self._located()
                answer = self._ask(self._where, first)
                if not answer.behind:
                    return answer
            except Lost:
                answer = Answer(behind={})
                time.sleep(_LOOK / 5)
            self._where = {}
            self.losses += 1
            if not answer.behind:
                continue
            first = max(0, min(answer.behind.values()))
            # Dask has moved the keeper of a part without the part: make it again.
            self._submit(part for part, step in answer.behind.items() if step < 0)
        raise RuntimeError(
            f"workers were lost {_PATIENCE} times in step {len(self._totals) + 1} of the fit; look into the "
            "workers' logs (most often they run out of memory: use more or larger workers)"
        )

    def _located(self) -> dict[str, list[int]]:
        """The parts of each worker, once all are made."""
        watch = Watch(self._client)
        while True:
            keepers = list(self._keepers.values())
            # Not distributed.wait(), which asks the default client: this one need not be it.
            if not _settled(keepers, _LOOK):
                watch.check_workers(self._makers)
                continue
            for keeper in keepers:
                if keeper.status == "error":
                    keeper.result()
                if keeper.status == "cancelled":
                    raise RuntimeError("the cluster was restarted, or its scheduler has ended; fit again")
            holders = self._client.who_has(keepers)
            where: dict[str, list[int]] = {}
            for part, keeper in self._keepers.items():
                for address in list(holders[keeper.key])[:1]:
                    where.setdefault(address, []).append(part)
            if sum(map(len, where.values())) == len(keepers):
                return {address: sorted(parts) for address, parts in sorted(where.items())}
            time.sleep(_LOOK / 5)  # a worker has just left; the client will hear of it

    def _makers(self) -> set[str]:
        """The workers that have a part, or are to make one."""
        keepers = list(self._keepers.values())
        having = {address for some in self._client.who_has(keepers).values() for address in some}
        keys = {keeper.key for keeper in keepers}
        return having | {address for address, tasks in self._client.processing().items() if keys & set(tasks)}

    def _ask(self, where: Mapping[str, list[int]], first: int) -> Answer:
        """One pass. Throws Lost if a worker has left."""
        client = self._client
        totals: Any = Totals(first, self._totals[first:])
        if sum(map(len, totals.results)) > _SMALL:
            try:
                totals = client.scatter(totals, hash=False)
            except (OSError, distributed.TimeoutError) as error:  # a closed connection is an OSError
                raise Lost from error
        step = len(self._totals)
        name = f"{self.id[:8]}-{step}-{uuid.uuid4().hex[:8]}"
        # A part can be advanced nowhere else, and a task that waits for a worker that has left would wait
        # forever: _result() looks after them.
        self._pending = [
            client.submit(
                advance, self.id, parts, totals, key=f"covshift-advance-{name}-{i}", workers=[address],
                allow_other_workers=False, pure=False,
            )
            for i, (address, parts) in enumerate(where.items())
        ]
        answers = self._pending
        level = 0
        while len(answers) > _FAN_IN:
            groups = [answers[i : i + _FAN_IN] for i in range(0, len(answers), _FAN_IN)]
            answers = [
                client.submit(combine, group, key=f"covshift-combine-{name}-{level}-{i}", pure=False)
                for i, group in enumerate(groups)
            ]
            self._pending = [*self._pending, *answers]
            level += 1
        try:
            whole = combine([self._result(answer, where) for answer in answers])
        except BaseException as error:
            client.cancel(self._pending, force=True)
            if isinstance(error, (distributed.CancelledError, KilledWorker)):
                raise Lost from error
            raise
        self._pending = []
        return whole

    def _result(self, answer: Any, where: Mapping[str, list[int]]) -> Answer:
        """The result of a task of a pass; throws Lost if the parts are no longer where they were.

        Also a finished task may be lost before its result is here, and would then wait for its worker.
        """
        watch = Watch(self._client)
        while True:
            try:
                return answer.result(timeout=_LOOK)
            except distributed.TimeoutError:
                holders = self._client.who_has(list(self._keepers.values()))
                for address, parts in where.items():
                    if any(address not in holders[self._keepers[part].key] for part in parts):
                        raise Lost from None
                watch.check_workers(lambda: where)


# --- samples ---


def columns_of(X: Partitions, as_table: bool) -> Columns:
    """The columns of a collection that must have some."""
    if X.meta.ndim != 2:
        raise ValueError(f"{X.name} must have rows and columns; its number of dimensions is {X.meta.ndim}")
    return Columns.of(X, as_table)


def _some_rows(X: Any, wanted: npt.NDArray[np.int64]) -> Any:
    return X.iloc[wanted] if hasattr(X, "iloc") else X[wanted]


def _length(X: Any, expected: Columns | None, where: Where) -> int:
    """The rows of a partition; refuses other columns than expected as a fit does."""
    if expected is not None and expected.names is not None:
        _check_columns(X, expected, where)
    elif expected is not None:
        rows_of(X[:0], expected, where)
    return int(X.shape[0])


def _together(pieces: list[Any]) -> Any:
    if hasattr(pieces[0], "iloc"):
        import pandas

        return pandas.concat(pieces)
    return sp.csr_matrix(sp.vstack(pieces)) if sp.issparse(pieces[0]) else np.concatenate(pieces)


class Sample:
    """Rows of a collection in this process, and their places in it."""

    def __init__(self, client: Any, most: int, seed: int, *collections: tuple[Any, str]) -> None:
        """Others than the first collection have no columns, such as those of classes."""
        parts = [Partitions(x, name) for x, name in collections]
        columns = columns_of(parts[0], as_table=False)
        for other in parts[1:]:
            parts[0].aligned(other)
        tasks = [
            delayed(_length)(x, columns if part is parts[0] else None, Where(part.name, i))
            for part in parts
            for i, x in enumerate(part.delayed)
        ]
        counts = client.gather(client.compute(tasks))
        lengths, *others = np.reshape(counts, (len(parts), -1)).tolist()
        for other, theirs in zip(parts[1:], others):
            parts[0].same_rows(other, lengths, theirs)
        starts = np.concatenate([[0], np.cumsum(lengths)])
        self.total = int(starts[-1])
        if self.total == 0:
            raise ValueError(f"{parts[0].name} has no rows; give at least one")
        self.places = _core.sample_places(self.total, min(most, self.total), seed)
        bounds = np.searchsorted(self.places, starts)
        tasks = [
            delayed(_some_rows)(part.delayed[i], self.places[low:high] - starts[i])
            for part in parts
            for i, (low, high) in enumerate(zip(bounds, bounds[1:]))
            if high > low
        ]
        pieces = client.gather(client.compute(tasks))
        each = len(pieces) // len(parts)
        self.rows = [_together(pieces[i * each : (i + 1) * each]) for i in range(len(parts))]
