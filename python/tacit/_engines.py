"""What fits on clusters share."""

from __future__ import annotations

import socket

from sklearn.base import clone

from ._base import Linear


def address_of(host: str, ear: socket.socket) -> str:
    """HOST:PORT of a socket that listens."""
    port = ear.getsockname()[1]
    return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"


def theirs(estimator: Linear) -> Linear:
    """The estimator as the others get it: progress is shown here, and the ledger opened here."""
    made: Linear = clone(estimator)
    made.progress = False
    return made
