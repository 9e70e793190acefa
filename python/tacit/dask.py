"""Fits on a Dask cluster: every worker sums over the partitions that it holds, and no row leaves it.

This process is rank 0 and has no rows.  It draws the noise, opens the ledger and receives sums.  The workers connect to
it over sockets that are encrypted under a secret of this run.  The secret travels in the tasks: give the cluster TLS
where others can read its network.
"""

from __future__ import annotations

import contextlib
import socket
import threading
from typing import Any, Optional

from . import ranks
from ._base import Linear
from ._model import Model
from ._schema import schema_of

__all__ = ["fit"]


def _work(parts: list[Any], together: dict[str, Any], rank: int, given: dict[str, Any]) -> None:
    """On a worker: the partitions are there, as Dask hands them to a task."""
    import pandas

    def records() -> Any:
        return parts[0] if len(parts) == 1 else pandas.concat(parts, ignore_index=True)

    with ranks.Sockets(rank=rank, **together) as team:
        ranks.fit(team, records, **given)


def _own_host(towards: str) -> str:
    """The address of this host that leads to another; no packet is sent."""
    host = towards.split("://")[-1].rsplit(":", 1)[0].strip("[]") or "127.0.0.1"
    with contextlib.suppress(OSError):
        family = socket.getaddrinfo(host, 9)[0][0]
        with socket.socket(family, socket.SOCK_DGRAM) as probe:
            probe.connect((host, 9))
            return str(probe.getsockname()[0])
    return "127.0.0.1"


def _shares(client: Any, frame: Any, workers: list[str], in_order: bool) -> dict[str, list[Any]]:
    """What each worker sums over, as futures: partitions where they lie, or contiguous runs in their order."""
    import distributed

    parts = list(frame.to_delayed())
    if in_order:
        count = min(len(workers), len(parts))
        runs = [parts[len(parts) * k // count : len(parts) * (k + 1) // count] for k in range(count)]
        there = {"allow_other_workers": False}
        return {worker: client.compute(run, workers=[worker], **there) for worker, run in zip(workers, runs)}
    held = client.compute(parts, workers=workers)
    settle: Any = distributed.wait  # it has no annotations
    settle(held)
    places = client.who_has(held)
    shares: dict[str, list[Any]] = {worker: [] for worker in workers}
    for part in held:
        near = [place for place in places.get(part.key, ()) if place in shares] or workers
        shares[min(near, key=lambda place: len(shares[place]))].append(part)
    return {worker: own for worker, own in shares.items() if own}


def fit(
    client: Any,
    frame: Any,
    label: Optional[str] = None,
    *,
    schema: Any,
    estimator: Linear,
    workers: Optional[list[str]] = None,
    host: Optional[str] = None,
    timeout: float = 60,
) -> Model:
    """Trains on a Dask data frame.

    Parameters
    ----------
    client : distributed.Client
    frame : dask.dataframe.DataFrame
        The records.  Without a seed every partition that is in a worker's memory is used there.  With random_state the
        workers take runs of partitions in their order, so that the model is that of one process; some then move from
        worker to worker.
    label, schema, estimator : as in `tacit.ranks.fit`
        A ledger is a file of this process.
    workers : list of str, optional
        Addresses of the workers that take part; None: all.
    host : str, optional
        Address of this host as the workers reach it; None: the one that leads to the scheduler.
    timeout : float, default=60
        Seconds until all workers must have come, and that a host may be out of reach.

    Returns
    -------
    Model
    """
    ranks.check(estimator)
    schema = schema_of(schema)
    found = list(client.nthreads()) if workers is None else list(workers)
    if not found:
        raise ValueError("the cluster has no workers; start one, or wait for it")
    shares = _shares(client, frame, sorted(found), estimator.random_state is not None)
    own = host or _own_host(client.scheduler.address)
    ear = socket.create_server((own, 0), family=socket.AF_INET6 if ":" in own else socket.AF_INET)
    together = ranks.meeting(own, ear, len(shares), timeout)
    given = {"label": label, "schema": schema, "estimator": ranks.theirs(estimator)}
    tasks = [
        client.submit(_work, held, together, rank, given, workers=[worker], allow_other_workers=False, pure=False)
        for rank, (worker, held) in enumerate(shares.items(), 1)
    ]
    failed = threading.Event()  # a task that ends before all have met has failed
    for task in tasks:
        task.add_done_callback(lambda done: failed.set())
    try:
        with ranks.Sockets(rank=0, listener=ear, cancel=failed.is_set, **together) as team:
            return ranks.fit(team, frame._meta, label, schema=schema, estimator=estimator)
    except ranks.NotMet:
        raise RuntimeError("a worker could not begin; look at its log, and whether it reaches this host") from None
    finally:
        client.cancel(tasks, force=True)
