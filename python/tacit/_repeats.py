"""Earlier fits of this process on the same records, which no ledger holds: remembered by a keyed fingerprint.

The fingerprint is a sum over rows, so that it does not depend on their order, of a hash with a key that lives as long as
the process.  It is never written anywhere.
"""

from __future__ import annotations

import contextlib
import math
import secrets
import threading
import warnings
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from . import _native
from ._matrix import Table
from ._parameters import checked

_BLOCK = 1 << 16  # numbers hashed at a time: a block stays in the cache
_KEY = secrets.randbits(128)

_MARK = "in this process on the same records without a ledger"

_lock = threading.Lock()
_fits: dict[tuple[int, int, int], list[tuple[float, float, bool]]] = {}  # each one's epsilon, delta, and was it seeded
_warned: set[tuple[int, int, int]] = set()
_settings = {"repeated_fits": "warn"}


# ---- settings ----


@checked
def config(*, repeated_fits: str | None = None) -> contextlib.ExitStack:
    """Settings of this process; as `with tacit.config(...):` of a block.

    Parameters
    ----------
    repeated_fits : {"warn", "ok"}, default="warn"
        "warn": a second fit on the same records without a ledger warns, once for a table.  "ok": it does not, for benches
        and public data.  Either way the certificate names the earlier fits and their sum.
    """
    restore = contextlib.ExitStack()  # at the end of a `with` block, if there is one
    restore.callback(_settings.update, dict(_settings))
    if repeated_fits is not None:
        _settings["repeated_fits"] = repeated_fits
    return restore


# ---- the fingerprint ----


def _mixed(values: NDArray[Any]) -> NDArray[Any]:
    """A number's bits, the upper half also in the lower: round numbers have nothing there.  Those of 0 are 0, so that a
    sparse matrix has the fingerprint of the dense one."""
    bits = np.asarray(values, dtype=np.float64).view(np.uint64)
    mixed = bits >> np.uint64(32)
    mixed ^= bits
    return mixed


def _total(rows: NDArray[Any]) -> int:
    """The sum of the rows' hashes, each mixed once more: a sum of products alone would be that of the columns."""
    rows ^= rows >> np.uint64(31)
    rows *= np.uint64(_KEY & (2**64 - 1) | 1)
    rows ^= rows >> np.uint64(30)
    return int(rows.sum(dtype=np.uint64))


def _products(X: Any, factors: NDArray[Any]) -> NDArray[Any]:
    """Of each row the sum of its numbers, mixed, each times the factor of its column."""
    if sparse.issparse(X):
        return np.asarray(type(X)((_mixed(X.data), X.indices, X.indptr), shape=(X.shape[0], len(factors))) @ factors)
    return np.asarray(factors @ _mixed(X.T) if X.flags.f_contiguous else _mixed(X) @ factors)  # along the memory


def fingerprint(X: Any) -> tuple[int, int, int]:
    """(rows, columns, hash) of numeric records: an array, SciPy CSR or CSC, or a table of `tacit.read`."""
    X = X.array() if isinstance(X, Table) else X
    rows, cols = X.shape
    # Sparse rows need no more of them than their largest index says, however many columns are declared.
    by_rows = sparse.issparse(X) and X.format == "csr"
    count = int(X.indices.max(initial=-1)) + 1 if by_rows else cols
    factors = np.random.Generator(np.random.PCG64(_KEY)).integers(2**64, size=count, dtype=np.uint64) | np.uint64(1)
    step = rows if sparse.issparse(X) and not by_rows else _BLOCK * rows // max(1, X.nnz if by_rows else rows * cols)
    with np.errstate(over="ignore"):
        parts = (X[first : first + max(1, step)] for first in range(0, rows, max(1, step)))
        return rows, cols, sum(_total(_products(part, factors)) for part in parts) % 2**64


# ---- what was fitted before ----


def is_of_earlier_fits(line: str) -> bool:
    """Whether a line of `unaccounted` is of this module, which warns of it by itself."""
    return _MARK in line


def _said(before: list[tuple[float, float, bool]]) -> str:
    epsilon, delta, seeded = map(math.fsum, zip(*before))
    each = "1 earlier fit" if len(before) == 1 else f"{len(before)} earlier fits"
    tail = f"; the noise of {seeded:g} came from a seed" if seeded else ""
    return f"{each} {_MARK}, epsilon {epsilon:g} and delta {delta:g} in sum{tail}"


class History:
    """The earlier fits on some records, as they are when this is made.

    notes: the lines that a certificate gets.
    """

    def __init__(self, X: Any) -> None:
        self._mark = fingerprint(X)
        with _lock:
            before = list(_fits.get(self._mark, ()))
        self.notes = [_said(before)] if before else []

    def warn(self, stacklevel: int) -> None:
        """Warns of earlier fits: once for these records, and not where `config` says that they are ok."""
        if not self.notes or _settings["repeated_fits"] == "ok":
            return
        with _lock:
            first = self._mark not in _warned
            _warned.add(self._mark)
        if first:
            text = (
                f"the stated epsilon is of this fit alone: there was {self.notes[0]}; a tacit.Ledger keeps the account"
            )
            warnings.warn(text, _native.PrivacyWarning, stacklevel=stacklevel + 1)

    def add(self, epsilon: float, delta: float | None, seeded: bool) -> None:
        """One more fit without a ledger, after its noise was drawn."""
        with _lock:
            _fits.setdefault(self._mark, []).append((epsilon, delta or 0.0, seeded))


def forget() -> None:
    """Forgets all fits, as a new process does: for tests."""
    with _lock:
        _fits.clear()
        _warned.clear()
