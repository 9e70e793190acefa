"""What fits on clusters share."""

from __future__ import annotations

import secrets
import socket
from typing import Any

from sklearn.base import clone

from ._base import Linear


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
