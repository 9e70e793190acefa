"""Fits on Spark in barrier mode: every task sums over the partitions that it reads, and no row comes to the driver.

The driver is rank 0 and has no rows.  It draws the noise, opens the ledger and receives sums.  The tasks connect to it
over sockets that are encrypted under a secret of this run.  The secret travels in the tasks: give the cluster its own
encryption where others can read its network.
"""

from __future__ import annotations

import contextlib
import secrets
import socket
import threading
from collections.abc import Iterator
from typing import Any, Optional

from . import ranks
from ._base import Linear
from ._model import Model
from ._schema import schema_of

__all__ = ["fit"]


def _batches(frame: Any) -> Any:
    """The schema's columns as Arrow has them, without a record."""
    from pyspark.sql.pandas.types import to_arrow_schema

    return to_arrow_schema(frame.schema).empty_table()


def _work(together: dict[str, Any], given: dict[str, Any], columns: Any) -> Any:
    """What a task does with its partition."""

    def work(batches: Iterator[Any]) -> Iterator[Any]:
        import pyarrow
        from pyspark import BarrierTaskContext

        here = BarrierTaskContext.get()

        def records() -> Any:
            held = list(batches)
            return pyarrow.Table.from_batches(held) if held else columns.schema.empty_table()

        with ranks.Sockets(rank=1 + here.partitionId(), **together) as team:
            ranks.fit(team, records, **given)
        yield from ()

    return work


def fit(
    frame: Any,
    label: Optional[str] = None,
    *,
    schema: Any,
    estimator: Linear,
    tasks: Optional[int] = None,
    host: Optional[str] = None,
    timeout: float = 120,
) -> Model:
    """Trains on a Spark data frame, in one barrier stage: all tasks run at once.

    Parameters
    ----------
    frame : pyspark.sql.DataFrame
        The records.  Each of its partitions is one task's; the model is that of one process with the partitions in
        their order.
    label, schema, estimator : as in `tacit.ranks.fit`
        A ledger is a file of the driver.
    tasks : int, optional
        So many tasks, each with whole partitions; None: one for each slot of the cluster, or for each partition.
    host : str, optional
        Address of the driver as the executors reach it; None: spark.driver.host.
    timeout : float, default=120
        Seconds until all tasks must have come, and that a host may be out of reach.

    Returns
    -------
    Model
    """
    ranks.check(estimator)
    schema, session = schema_of(schema), frame.sparkSession
    count = min(frame.rdd.getNumPartitions(), tasks or session.sparkContext.defaultParallelism)
    own = host or session.conf.get("spark.driver.host")
    ear = socket.create_server(("", 0))
    together = ranks.meeting(own, ear, count, timeout)
    given = {"label": label, "schema": schema, "estimator": ranks.theirs(estimator)}
    empty = _batches(frame)
    job = frame.coalesce(count).mapInArrow(_work(together, given, empty), "done int", barrier=True)
    context, group = session.sparkContext, f"tacit-{secrets.token_hex(8)}"
    failed = threading.Event()

    def run() -> None:
        context.setJobGroup(group, "tacit.spark.fit", interruptOnCancel=True)
        with contextlib.suppress(Exception):  # Spark's log has it
            job.collect()  # no row: every task yields none
        failed.set()

    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    try:
        with ranks.Sockets(rank=0, listener=ear, cancel=failed.is_set, **together) as team:
            return ranks.fit(team, empty, label, schema=schema, estimator=estimator)
    except BaseException as why:
        context.cancelJobGroup(group)  # Spark would start a stage that lost a task again, for a run that is over
        if isinstance(why, ranks.NotMet):
            raise RuntimeError("a task could not begin; look at its log, and whether it reaches the driver") from None
        raise
    finally:
        thread.join(timeout)
