"""Which Dask cluster does the work."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import distributed

from . import _core


@contextmanager
def connected(client: Any, *collections: Any) -> Iterator[Any]:
    """The client to use: the given one, the current one, or one of a local cluster that ends with the call."""
    given = [x for x in collections if x is not None]
    if client is None:
        owners = {id(f.client): f.client for x in given for f in distributed.futures_of(x)}
        if len(owners) == 1:  # the data are there
            client = next(iter(owners.values()))
        else:
            client = distributed.Client.current(allow_global=True) if _has_client() else None
    if client is not None:
        _check_client(client, given)
        with _same_version():
            yield client
        return
    # Threads of this process: the work is done outside the interpreter's lock, and nothing is copied.
    with distributed.LocalCluster(
        n_workers=1, processes=False, dashboard_address=None
    ) as cluster, distributed.Client(cluster, set_as_default=False) as own:
        yield own


def _has_client() -> bool:
    try:
        distributed.Client.current(allow_global=True)
    except ValueError:
        return False
    return True


def _check_client(client: Any, collections: list[Any]) -> None:
    if getattr(client, "asynchronous", False):
        raise ValueError("the client is asynchronous; give one made with asynchronous=False")
    for x in collections:
        for future in distributed.futures_of(x):
            if future.client is not client and future.client.scheduler.address != client.scheduler.address:
                raise ValueError(
                    "the data were persisted on another cluster, at "
                    f"{future.client.scheduler.address}, than the client's, {client.scheduler.address}; "
                    "give the client of that cluster"
                )


@contextmanager
def _same_version() -> Iterator[None]:
    try:
        yield
    except ModuleNotFoundError as error:
        if (error.name or "").split(".")[0] != "covshift":
            raise
        raise RuntimeError(
            f"a worker cannot import covshift ({error}); install covshift=={_core.__version__} on all workers"
        ) from error


def check_version(clients: str) -> None:
    """On a worker: refuses to work for a client of another version."""
    if clients != _core.__version__:
        raise RuntimeError(
            f"this worker has covshift {_core.__version__}, the client has {clients}; install covshift=={clients} on "
            "all workers"
        )
