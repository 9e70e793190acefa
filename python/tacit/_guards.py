"""What comes in: refused with a sentence of our own, which shows no value of the data.

NumPy and scikit-learn put values into some of their texts.  Every conversion of records goes through here; what is
raised instead has no link to the exception that was caught.
"""

from __future__ import annotations

import datetime
import re
from collections.abc import Callable
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import check_array

from . import _arrow

_T = TypeVar("_T")

# Beginnings of texts that hold shapes, counts, types and column names alone; all others are replaced.
_SAFE = re.compile(
    r"Input \w+ contains (NaN|infinity)|Found array with|Found input variables|"
    r"X has \d+ features, but|The feature names should match|y should be a 1d array|Sparse (data|matrix)|"
    r"y cannot be None|This \w+ estimator requires y|Unknown label type: \(?'?(continuous|multilabel|unknown)|"
    r"Accept only sparse|Only sparse matrices with|The least populated|bad input shape|y \(shape|Sample weights must be"
)
_KINDS = {"y": "a number, or a class", "groups": "a number, or a text"}
_NO_NUMBERS = "encode it as numbers, e.g. with tacit.PublicScaler and a schema, or leave it out"


def _is_number_column(values: Any) -> bool:
    try:
        np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError):
        return False
    return True


def _culprit(X: Any) -> str:
    """The first column that is not numbers, in words."""
    try:
        if hasattr(X, "columns"):
            bad = [name for name in X.columns if not _is_number_column(X[name])]
            if bad:
                return f"column {str(bad[0])!r}"
        elif isinstance(X, (list, tuple, np.ndarray)) and np.ndim(X) == 2:
            values = np.asarray(X, dtype=object)
            bad = [j for j in range(values.shape[1]) if not _is_number_column(values[:, j])]
            if bad:
                return f"column {bad[0]}"
    except Exception:  # whatever it is, it is no table of numbers
        pass
    return "a column"


def _dates(X: Any, what: str) -> str:
    """What of X holds dates or times, in words, or nothing: NumPy would make a number of nanoseconds of each."""
    if hasattr(X, "columns") and hasattr(X, "head"):  # polars' types have no kind, but its empty columns do
        for name, dtype in zip(X.columns, X.dtypes):
            if (getattr(dtype, "kind", None) or np.asarray(X.head(0)[name]).dtype.kind) in "mM":
                return f"column {str(name)!r} of {what}"
        return ""
    held = X if hasattr(X, "dtype") else np.asarray(X)
    if held.dtype == object and hasattr(held, "ravel"):
        cells = held.ravel()[: None if held.ndim > 1 else 1]  # a list of labels is of one kind
        return what if any(isinstance(cell, (np.datetime64, np.timedelta64, datetime.date)) for cell in cells) else ""
    return what if getattr(held.dtype, "kind", "O") in "mM" else ""


def _sentence(why: Exception, X: Any, what: str) -> str:
    text = str(why)
    if text.startswith("Complex data not supported"):  # and the array after it
        return f"Complex data not supported in {what}; give real numbers"
    if _SAFE.match(text):
        return text
    found = re.match(r"Expected 2D array, got (1D|scalar) array instead", text)
    if found:
        return (
            f"{found[0]}. Reshape your data: array.reshape(-1, 1) if it has a single feature, "
            "array.reshape(1, -1) if it is a single record"
        )
    kind = re.fullmatch(r"float\(\) argument must be a string or a (real )?number, not '[\w.]+'", text)
    if kind:
        return f"{_culprit(X) if what == 'X' else what}: {text}"  # the type alone
    if what == "X":
        return f"{_culprit(X)} of X cannot be read as numbers; {_NO_NUMBERS}"
    return f"{what} cannot be read; give one plain value for each row of X: {_KINDS.get(what, 'a number')}"


def without_values(call: Callable[[], _T], X: Any, what: str = "X") -> _T:
    """call(), its ValueError and TypeError in words that hold no value of `X`, which `what` names."""
    kind: type[Exception] = ValueError
    try:
        dates = "" if what == "groups" else _dates(X, what)
        if not dates:
            return call()
        text = f"{dates} holds dates or times, which are no numbers; give the days since a public date, or leave it out"
    except (TypeError, ValueError) as why:
        kind, text = TypeError if isinstance(why, TypeError) else ValueError, _sentence(why, X, what)
    raise kind(text)  # outside of the handler, so that it does not carry the other one along


def records(X: Any, sparse: bool = True) -> Any:
    """X as a matrix of finite numbers: an array or, unless told otherwise, SciPy CSR or CSC."""
    if _arrow.is_arrow(X) or isinstance(X, _arrow.Frame):
        X = _arrow.frame(X)
        X = X.matrix(X.columns)
    options = {"dtype": [np.float64, np.float32], "accept_sparse": ["csr", "csc"] if sparse else False}
    return without_values(lambda: check_array(X, input_name="X", **options), X)


def weights(values: Any, rows: int) -> NDArray[Any] | None:
    """sample_weight as one number for each row: none negative, not all 0; NaN is the library's to refuse.  None: none."""
    if values is None:
        return None
    given: NDArray[Any] = without_values(lambda: np.asarray(values, dtype=np.float64), values, "sample_weight")
    if given.shape != (rows,):
        raise ValueError("sample_weight must hold one number for each row of X; check its shape")
    if np.any(given < 0):
        raise ValueError("a sample_weight is negative; leave that record out, or correct its weight")
    if not np.any(given):
        raise ValueError("every sample_weight is zero, so that no record counts; give at least one a weight")
    return given


def is_nobody(value: Any) -> bool:
    """None, NaN, NaT and NA, also where a conversion has made texts of them."""
    if value is None or type(value).__name__ in ("NAType", "NaTType"):
        return True
    return value in ("", "nan", "None", "NaT", "<NA>") if isinstance(value, str) else bool(value != value)


def _ids(groups: Any) -> NDArray[Any]:
    """One id for each row, as they came: NumPy would make the text 'nan' of a NaN among texts."""
    if hasattr(groups, "to_numpy"):
        groups = groups.to_numpy()
    if isinstance(groups, np.ma.MaskedArray):
        ids = np.asarray(groups.data.astype(object))
        ids[np.broadcast_to(groups.mask, groups.shape)] = None
        return ids
    if isinstance(groups, np.ndarray):
        return groups
    listed = list(groups)
    ids = np.empty(len(listed), dtype=object)
    for i, value in enumerate(listed):
        ids[i] = value
    return ids


def _numbered(ids: NDArray[Any]) -> NDArray[Any]:
    """Numbers from 0 for ids of any kind; -1 where one is missing."""
    if ids.dtype.kind in "biufMm":
        gone = np.isnat(ids) if ids.dtype.kind in "Mm" else np.isnan(ids)
        return np.asarray(np.where(gone, -1, np.unique(ids, return_inverse=True)[1].reshape(-1)), dtype=np.int64)
    place: dict[Any, int] = {}
    return np.array(
        [-1 if is_nobody(value) else place.setdefault(value, len(place)) for value in ids.tolist()], dtype=np.int64
    )


def persons(groups: Any, rows: int) -> NDArray[Any]:
    """Whose record each row is, as numbers from 0.  A missing id is refused: its rows may be anybody's."""
    if isinstance(groups, (str, bytes)) or not np.iterable(groups):
        raise ValueError("groups must name one person for each row of X; give a list, or the name of a column")
    ids = _ids(groups)
    if ids.shape != (rows,):
        raise ValueError("groups must name one person for each row of X; check its shape")
    codes = without_values(lambda: _numbered(ids), groups, "groups")
    if np.any(codes < 0):
        raise ValueError("a row of groups names no person; give every row its person, or leave the row out")
    return codes
