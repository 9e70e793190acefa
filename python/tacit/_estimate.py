"""Bounds that nobody knows: `estimate=` takes them from the records, within the budget of the fit (docs/guide/bounds.md).

The library finds them, charges for them and scales the records.  Here arrays and frames become tables with named columns,
and the schema that is found comes back from the model.
"""

from __future__ import annotations

import ctypes
import math
from typing import Any, Optional, Tuple

import numpy as np
from scipy import sparse

from . import _arrow, _native
from ._matrix import Labelled
from ._callbacks import Callbacks
from ._model import config_of
from ._native import Facts
from ._schema import Schema


def frame_of_array(X: Any) -> _arrow.Frame:
    """A matrix as a frame, its columns borrowed where they lie one after the other."""
    if sparse.issparse(X):
        raise ValueError(
            "the zeros of a sparse matrix are not stored, so that its columns cannot be counted; give an array or a frame"
        )
    names = [f"x{j + 1}" for j in range(X.shape[1])]
    return _arrow.frame_of_columns(names, [np.ascontiguousarray(column) for column in X.T])


def open_schema(names: list[str], label: Optional[str]) -> Schema:
    """All columns are numbers whose bounds are to be estimated: what `tacit train --estimate` makes of a header."""
    columns = [{"name": name, "type": "number", "estimate": True} for name in names]
    return Schema({"columns": columns} if label is None else {"columns": columns, "label": {"name": label}})


def spend(data: Labelled, settings: Facts, callbacks: Callbacks) -> Facts:
    """Estimates and charges; the settings of the fit that follows."""
    config = config_of(settings, None, callbacks)
    with callbacks.watching():
        _native.call("tct_data_estimate", data.handle, ctypes.byref(config))
    data.shape = (data.shape[0], _native.lib.tct_data_matrix(data.handle).contents.cols)
    return {**settings, "estimate": None, "ledger": None, "epsilon": config.epsilon, "delta": config.delta}


def planned(settings: Facts, rows: int, cols: int, label: bool) -> Tuple[Facts, Facts]:
    """(settings of the fit, what the estimate promises), before any data is seen."""
    config, rest = (config_of(settings) for _ in range(2))
    told = _native.call_json("tct_estimate_json", ctypes.byref(config), rows, cols + label, 0, ctypes.byref(rest))
    norm = math.sqrt(cols + bool(settings["intercept"]))
    own = {"row_norm": norm, "estimate": None, "epsilon": rest.epsilon, "delta": rest.delta}
    return {**settings, **own, **({"label_bound": 1.0} if label else {})}, told
