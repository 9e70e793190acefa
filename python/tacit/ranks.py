"""One fit over several processes, each with its part of the rows: `Sockets`, or a `Transport` of your own.

Every process makes its rank and calls `fit` with its records.  The model is that of one process with all of them.
tacit.dask and tacit.spark do this on the workers of a cluster.  The ranks are one trusted curator: what passes between
them is not private.
"""

from __future__ import annotations

import ctypes
import secrets
import socket
from collections.abc import Callable
from typing import Any, Optional

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone

from . import _arrow, _native
from ._base import Linear
from ._composition import warn
from ._frames import in_public_order
from ._matrix import Table, options_of
from ._callbacks import Callbacks
from ._model import Model, Plan
from ._parameters import checked
from ._schema import schema_of

__all__ = ["NotMet", "Rank", "Sockets", "Transport", "fit"]


class NotMet(RuntimeError):
    """`cancel` ended the wait before all ranks had come."""


class Rank(_native.Owned):
    """One process of a run.  Use it in a `with` statement: leaving it by an exception ends the other ranks too."""

    caught: Optional[BaseException] = None

    @property
    def rank(self) -> int:
        """The number of this one, from 0."""
        return int(_native.lib.tct_team_rank(self.handle, None))

    @property
    def ranks(self) -> int:
        """How many there are."""
        ranks = ctypes.c_int()
        _native.lib.tct_team_rank(self.handle, ctypes.byref(ranks))
        return ranks.value

    def close(self) -> None:
        """Waits for the other ranks to close too, unless the run has failed."""
        handle, self.handle = self.handle, None
        if handle:
            _native.lib.tct_team_free(handle)

    def __enter__(self) -> "Rank":
        return self

    def __exit__(self, kind: Optional[type], *_: object) -> None:
        if kind is not None and self.handle:
            error = _native.Error(status=_native.E_RUN)
            error.text = f"rank {self.rank} has failed ({kind.__name__}); look at what it says".encode()
            _native.lib.tct_team_compare(self.handle, _native.E_RUN, None, None, 0, ctypes.byref(error))  # if it is not over already
        self.close()


class Sockets(Rank):
    """Ranks that meet over TCP: rank 0 listens, the others connect to it.  Waits until all have come.

    Parameters
    ----------
    address : str
        HOST:PORT where rank 0 listens.
    rank, ranks : int
        The number of this one, from 0, and of all.
    secret : str
        At least 32 characters that only the ranks have; all that passes is encrypted with keys from it.
    timeout : float, default=60
        Seconds until all must have come, and that a host may be out of reach.
    listener : socket, optional
        Rank 0: a socket that listens already; it is taken over.
    cancel : callable, optional
        Asked while the others are awaited; true ends the wait.
    """

    @checked
    def __init__(
        self,
        address: Optional[str],
        *,
        rank: int,
        ranks: int,
        secret: str,
        timeout: float = 60,
        listener: Optional[socket.socket] = None,
        cancel: Optional[Callable[[], bool]] = None,
    ) -> None:
        members = {"address": address, "secret_text": secret, "rank": rank, "ranks": ranks, "timeout": timeout}
        options: _native.Sockets = _native.filled("tct_sockets", _native.Sockets, members)
        caught: list[BaseException] = []

        def asked(_: Any) -> int:
            try:
                return int(cancel is not None and cancel())
            except BaseException as why:  # Ctrl-C comes here too
                caught.append(why)
                return 1

        options.cancel = _native.CANCEL_FN(asked)
        if listener is not None:
            options.listener = listener.detach()
        error = _native.Error()
        self.handle = _native.lib.tct_team_sockets(ctypes.byref(options), ctypes.byref(error))
        if self.handle:
            return
        if caught:
            raise caught[0]
        if error.status == _native.E_CANCELLED:
            raise NotMet("the wait for the other ranks was cancelled")
        _native.raise_error(error)


class Transport(Rank):
    """Ranks over an engine of your own.  A subclass gives the five calls below, and then calls `begin`.

    All ranks make the same calls in the same order.  An exception in a call ends the run on all ranks, as does a
    result of another length, or one that lacks what the library sent along.
    """

    def smallest(self, x: int) -> int:
        """The smallest over the ranks, on all of them."""
        raise NotImplementedError

    def sum(self, x: NDArray[Any]) -> Any:
        """The sum of float64 arrays over the ranks, on all of them; in any order."""
        raise NotImplementedError

    def largest(self, x: NDArray[Any]) -> Any:
        """The same for the largest."""
        raise NotImplementedError

    def broadcast(self, x: bytes, root: int) -> bytes:
        """The bytes of rank `root`, on all ranks; x is of that length everywhere."""
        raise NotImplementedError

    def gather(self, x: bytes) -> list[bytes]:
        """Everybody's bytes in the order of ranks, on all of them."""
        raise NotImplementedError

    def closed(self, clean: bool) -> None:
        """Called last.  clean: all ranks got here; else this one has failed, and the others must not wait for it."""

    def begin(self, rank: int, ranks: int) -> None:
        """rank: the number of this one, from 0; ranks: how many there are, 2 to 4096."""

        def guarded(act: Callable[..., None]) -> Callable[..., int]:
            def call(*given: Any) -> int:
                try:
                    act(*given[1:-1])
                    return _native.TRANSPORT_DONE
                except BaseException as why:  # it cannot cross the C frames
                    self.caught = self.caught or why
                    return _native.TRANSPORT_FAILED

            return call

        def smallest(x: Any) -> None:
            x[0] = int(self.smallest(int(x[0])))

        def reduce(call: Callable[[NDArray[Any]], Any]) -> Callable[[Any, int], None]:
            def act(x: Any, count: int) -> None:
                own = np.ctypeslib.as_array(x, (count,))
                made = np.asarray(call(own.copy()), dtype=np.float64)
                if made.shape != own.shape:
                    raise ValueError("a transport gave back another number of values; give one for each")
                own[:] = made

            return act

        def broadcast(to: int, size: int, root: int) -> None:
            got = self.broadcast(ctypes.string_at(to, size), root)
            if len(got) != size:
                raise ValueError("a transport gave back another number of bytes; give them all")
            ctypes.memmove(to, got, size)

        def gather(own: int, to: int, size: int) -> None:
            got = list(self.gather(ctypes.string_at(own, size)))
            if len(got) != ranks or any(len(each) != size for each in got):
                raise ValueError("a transport gave back another number of bytes; give those of every rank")
            ctypes.memmove(to, b"".join(got), size * ranks)

        self._calls = _native.Transport(
            size=ctypes.sizeof(_native.Transport),
            rank=rank,
            ranks=ranks,
            smallest=_native.SMALLEST_FN(guarded(smallest)),
            sum=_native.REDUCE_FN(guarded(reduce(lambda x: self.sum(x)))),
            largest=_native.REDUCE_FN(guarded(reduce(lambda x: self.largest(x)))),
            broadcast=_native.BROADCAST_FN(guarded(broadcast)),
            gather=_native.GATHER_FN(guarded(gather)),
            close=_native.CLOSE_FN(lambda _, clean: self.closed(bool(clean))),
        )
        self.handle = _native.call("tct_team_over", ctypes.byref(self._calls))


class _Part(Table):
    """This rank's part of a table: `shape` is that of the whole."""

    def __init__(self, handle: int, schema: Any) -> None:
        self.person = None
        self._take(handle, schema)

    @property
    def shape(self) -> tuple[int, int]:
        return int(_native.lib.tct_data_rank_rows(self.handle, -1)), super().shape[1]


def _part(team: Rank, frame: Any, schema: Any, label: Optional[str], estimator: Linear) -> _Part:
    """frame: a data frame, or a function that makes it."""
    error = _native.Error()
    taken: Optional[_arrow.Frame] = None
    try:
        records = frame() if callable(frame) else frame
        taken = _arrow.frame(records, set(schema.ignored) - {label})
    except Exception as why:  # its text may hold values
        error.status = _native.E_RUN
        error.text = f"rank {team.rank} could not make its records ({type(why).__name__}); look at its log".encode()
        if isinstance(why, ValueError) and str(why):
            error.status, error.text = _native.E_DATA, str(why).encode()[:700]
    kind = "real" if estimator._labels_kind == _native.LABELS_REAL else "classes"
    classes = in_public_order(getattr(estimator, "classes", None), schema) if kind == "classes" else None
    options = options_of(schema, label, None, kind, "refuse", 0, classes)
    given = None if taken is None else taken.handle
    handle = _native.lib.tct_data_read_frame(given, ctypes.byref(options), team.handle, ctypes.byref(error))
    if not handle:
        _native.raise_error(error)
    return _Part(handle, schema)


# ---- what clusters share ----


def meeting(host: str, ear: socket.socket, workers: int, timeout: float) -> dict[str, Any]:
    """What all ranks are told: this process, which listens, is rank 0, and there are so many others."""
    port = ear.getsockname()[1]
    address = f"[{host}]:{port}" if ":" in host else f"{host}:{port}"
    return {"address": address, "ranks": workers + 1, "secret": secrets.token_hex(32), "timeout": timeout}


def theirs(estimator: Linear) -> Linear:
    """The estimator as the others get it: progress is shown here, and the ledger opened here."""
    made: Linear = clone(estimator)
    made.progress = False
    return made


# ---- the fit ----


def check(estimator: Linear) -> None:
    """What can be found wrong before any process starts."""
    estimator._check()
    if estimator.bounds is not None:
        raise ValueError("over ranks the bounds of the columns come from a schema; give schema, and leave bounds out")
    if estimator.rows_per_person is not None or estimator.weight_cap is not None:
        raise ValueError("over ranks records are not weighed, and persons not bounded; fit in one process for that")


def fit(rank: Rank, frame: Any, label: Optional[str] = None, *, schema: Any, estimator: Linear) -> Model:
    """Trains with the records of all ranks.  Called by every rank, with the same arguments but for the records.

    Parameters
    ----------
    rank : Rank
        This process, from `Sockets` or a `Transport`.
    frame : data frame, Arrow table, or a function that returns one
        The records of this rank, which may be none; the columns are those of all ranks.  The records of the whole are
        those of rank 0, then of rank 1, and so on.
    label : str, optional
        The label's column; None: the schema's.
    schema : Schema, path or dict
        What the columns may hold, public knowledge.
    estimator : an estimator of tacit
        Its parameters are the settings; it is not fitted.  Rank 0 alone opens the ledger and draws the noise.

    Returns
    -------
    Model
        The same on every rank.
    """
    check(estimator)
    schema = schema_of(schema)
    callbacks = Callbacks(estimator.progress if rank.rank == 0 else False)
    try:
        part = _part(rank, frame, schema, label if label is not None else schema.label, estimator)
        rows, cols = part.shape
        classes = int(_native.lib.tct_data_classes(part.handle, None)) if part.kind == _native.LABELS_CLASSES else None
        settings = {**estimator._settings(rows, cols, part, classes), "input_part": 0}
        plan = Plan(settings, rows, cols, part, callbacks)
        if rank.rank == 0:
            warn(plan.facts["warnings"])
        return plan.run(part)
    except BaseException as why:
        caught, rank.caught = rank.caught, None  # its traceback holds the records
        try:
            raise (caught or why) from (None if caught is None else why)
        finally:
            del caught
