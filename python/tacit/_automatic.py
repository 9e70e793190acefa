"""The solver where none was named."""

from __future__ import annotations

import functools
from typing import FrozenSet, Optional, Tuple

from . import _native
from ._model import Plan


@functools.lru_cache(maxsize=None)
def _solvers() -> Tuple[FrozenSet[str], bool]:
    """(names of the solvers, whether the library chooses one itself)."""
    names = frozenset(entry["name"] for entry in _native.components("solver"))
    settings = {"loss": "logistic", "penalty": "l2:lambda=0.1", "epsilon": 1.0, "delta": 1e-5, "row_norm": 1.0}
    try:
        Plan(settings, 100, 2)
    except ValueError:
        return names, "auto" in names
    return names, True


def automatic(loss: str, penalty: str) -> Optional[str]:
    """The library's own choice where it has one, else a fixed solver that knows the loss and the penalty."""
    solvers, chooses = _solvers()
    if chooses:
        return "auto" if "auto" in solvers else None
    kind = penalty.partition(":")[0]
    if kind in ("l1", "elastic"):
        return "dpcd" if "dpcd" in solvers else "dpsgd"
    if loss == "squared":
        return "adassp" if "adassp" in solvers else "dpscd"
    return "objpert" if loss.partition(":")[0] in ("logistic", "smoothed_hinge", "huber") else "dpscd"
