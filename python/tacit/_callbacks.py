"""What the library asks while it works: how far it has come, and whether it is to end."""

from __future__ import annotations

import contextlib
import signal
import threading
from collections.abc import Iterator
from typing import Any, Optional

import numpy as np

from . import _native
from ._views import Bar


class Callbacks:
    """Progress and cancellation.  An exception in a callback cannot cross the C frames: it is kept, cancels
    the run, and is raised when the run has returned."""

    def __init__(self, progress: Any = None) -> None:
        self.caught: Optional[BaseException] = None
        self.interrupted = False
        if isinstance(progress, (bool, np.bool_)):
            progress = Bar() if progress else None
        self.bar = progress if isinstance(progress, Bar) else None

        def on_progress(fraction: float, _: Any) -> None:
            try:
                progress(fraction)
            except BaseException as why:
                self.caught = self.caught or why

        def on_cancel(_: Any) -> int:
            try:
                return int(self.interrupted or self.caught is not None)
            except BaseException as why:
                self.caught = self.caught or why
                return 1

        self.progress = _native.PROGRESS_FN(on_progress) if progress else _native.PROGRESS_FN()
        self.cancel = _native.CANCEL_FN(on_cancel)

    @contextlib.contextmanager
    def watching(self) -> Iterator[None]:
        """Ctrl-C sets a flag that the run polls; the handler before is back afterwards."""
        mine = threading.current_thread() is threading.main_thread()
        mine = mine and signal.getsignal(signal.SIGINT) is signal.default_int_handler
        if mine:
            signal.signal(signal.SIGINT, lambda *_: setattr(self, "interrupted", True))
        try:
            yield
        finally:
            if self.bar is not None:
                self.bar.end()
            if mine:
                signal.signal(signal.SIGINT, signal.default_int_handler)
            caught, self.caught = KeyboardInterrupt() if self.interrupted else self.caught, None
            try:
                if caught is not None:
                    raise caught from None
            finally:
                del caught  # its traceback holds this frame, and the records in those above
