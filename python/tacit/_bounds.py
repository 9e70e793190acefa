"""Public bounds of features: numbers in order, or by the features' names."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Optional, Tuple

import numpy as np
from numpy.typing import NDArray


def _entries(named: Any, names: list[str], what: str) -> Optional[dict[str, Any]]:
    """What a mapping, or a pandas object, says under which name; None: it has no names, but an order."""
    if isinstance(named, Mapping):
        return {str(name): value for name, value in named.items()}
    index = getattr(named, "index", None)
    if index is None or callable(index):  # a list's own method
        return None
    labels = [str(name) for name in index]
    if labels == [str(k) for k in range(len(names))] and set(labels) != set(names):  # the index that nobody has set
        return None
    if len(set(labels)) < len(labels):
        raise ValueError(f"{what} names a feature twice; name each once")
    return dict(zip(labels, named.to_numpy().tolist()))


def _in_order(entries: dict[str, Any], names: list[str], what: str) -> list[Any]:
    lacking = [name for name in names if name not in entries]
    if lacking:
        raise ValueError(f"{what} has nothing for feature {lacking[0]!r}; give every feature of X its own")
    more = [name for name in entries if name not in names]
    if more:
        raise ValueError(f"{what} names {more[0]!r}, which is no feature of X; correct the name, or leave it out")
    return [entries[name] for name in names]


def _sides(bounds: Any, names: list[str], what: str) -> Tuple[Any, Any]:
    if hasattr(bounds, "columns") and not isinstance(bounds, Mapping):
        if set(bounds.columns) != {"lower", "upper"}:
            raise ValueError(f"{what} as a frame needs the columns lower and upper; give a row for each feature")
        return bounds["lower"], bounds["upper"]
    entries = _entries(bounds, names, what)
    if entries is not None and set(entries) == {"lower", "upper"} != set(names):
        bounds = entries["lower"], entries["upper"]
    elif entries is not None:
        pairs = _in_order(entries, names, what)
        bounds = [pair[0] for pair in pairs], [pair[1] for pair in pairs]
    lower, upper = bounds
    return lower, upper


def interval(
    bounds: Any, count: int, what: str = "bounds", names: Optional[Iterable[Any]] = None
) -> Tuple[NDArray[Any], NDArray[Any]]:
    """Two float arrays of `count`, checked.  They are numbers: the table of parameters was asked.

    bounds: (lower, upper), each a number, numbers in order, or a mapping or Series by the features' names; or a mapping of
    names to (lower, upper); or a frame with these two columns.  names: those of the features, else "0", "1", ...
    """
    known = [str(name) for name in (range(count) if names is None else names)]
    sides = []
    for side in _sides(bounds, known, what):
        entries = _entries(side, known, what)
        sides.append(np.asarray(side if entries is None else _in_order(entries, known, what), dtype=float))
    if any(side.shape not in ((), (1,), (count,)) for side in sides):
        raise ValueError(
            f"{what} must be (lower, upper); give two numbers, or two lists of a number for each of the {count} features, in "
            "order or by name"
        )
    lower, upper = (np.broadcast_to(side, (count,)) for side in sides)
    if not (np.all(np.isfinite(lower)) and np.all(np.isfinite(upper)) and np.all(lower < upper)):
        raise ValueError(f"every lower bound in {what} must be finite and below its upper bound; correct them")
    return lower, upper
