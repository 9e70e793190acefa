"""Columns of a pandas frame in Arrow's layout: borrowed where they are numbers, by their distinct values where texts.

pandas itself, or NumPy, walks over the cells; nothing here does, but for columns of mixed objects.
"""

from __future__ import annotations

import ctypes
import datetime
import numbers
from collections.abc import Iterator
from typing import Any, Optional, Tuple

import numpy as np
from numpy.typing import NDArray

from ._arrow import Column

_FORMATS = {
    "int8": b"c", "uint8": b"C", "int16": b"s", "uint16": b"S", "int32": b"i", "uint32": b"I", "int64": b"l",
    "uint64": b"L", "float16": b"e", "float32": b"f", "float64": b"g",
}  # fmt: skip
_UNKNOWN = b"other"  # no format of Arrow: the library refuses the column by its name, if it is asked for
_LOOK, _FEW = 1 << 11, 1 << 8  # objects that are looked at first; with more addresses than that they go by value
_PLAIN = ("string", "boolean", "integer", "floating", "mixed-integer-float", "decimal", "empty")


def columns(frame: Any, ignored: set[str]) -> Iterator[Tuple[str, Column]]:
    """(name, column) of each column of the frame."""
    for place, name in enumerate(frame.columns):
        name = str(name)
        if name in ignored:
            yield name, Column(b"n", len(frame))
        else:
            yield name, _told(frame.iloc[:, place])


def _told(series: Any) -> Column:
    try:
        return _column(series)
    except (TypeError, ValueError):  # lists, texts that are no Unicode
        return Column(_UNKNOWN, len(series))


def _column(series: Any) -> Column:
    dtype = series.dtype
    if hasattr(dtype, "categories"):
        codes = np.ascontiguousarray(series.cat.codes.to_numpy())
        listed = _listed(series.cat.categories.to_numpy())
        return numbers_of(codes, codes < 0)._replace(dictionary=listed)
    if hasattr(dtype, "fill_value") and hasattr(series, "sparse"):
        series, dtype = series.sparse.to_dense(), series.dtype.subtype
    if isinstance(dtype, np.dtype) and dtype.kind in "iufb":
        return numbers_of(series.to_numpy())
    if getattr(dtype, "kind", "O") in "iufb":  # pandas' own numbers, with a mask
        kind = dtype.numpy_dtype
        return numbers_of(series.to_numpy(dtype=kind, na_value=kind.type(0)), series.isna().to_numpy())
    if isinstance(dtype, np.dtype) and dtype.kind == "M":  # of no zone: whole days
        days = series.to_numpy().astype("datetime64[D]")
        missing = np.isnat(days)
        counts = np.where(missing, np.datetime64(0, "D"), days).astype(np.int64).astype(np.int32)
        return numbers_of(counts, missing)._replace(format=b"tdD")
    if dtype == object or getattr(dtype, "name", "") in ("string", "str") or "string" in str(dtype):
        return _texts(series)
    return Column(_UNKNOWN, len(series))


def _bits(values: NDArray[Any]) -> NDArray[Any]:
    return np.packbits(values, bitorder="little")


def numbers_of(values: NDArray[Any], missing: Optional[NDArray[Any]] = None) -> Column:
    """An array as a column; missing: where it has no value."""
    count = 0 if missing is None else int(np.count_nonzero(missing))
    valid = _bits(~missing) if missing is not None and count else None
    if values.dtype == bool:
        return Column(b"b", len(values), (valid, _bits(values)), count)
    if values.dtype.name not in _FORMATS or not values.dtype.isnative:
        values = values.astype(np.float64 if values.dtype.kind == "f" else values.dtype.newbyteorder("="))
    return Column(_FORMATS[values.dtype.name], len(values), (valid, np.ascontiguousarray(values)), count)


def _coded(values: NDArray[Any]) -> Tuple[NDArray[Any], NDArray[Any]]:
    from pandas import factorize

    codes, distinct = factorize(values)
    return codes, np.asarray(distinct)


def _factorized(values: NDArray[Any]) -> Tuple[NDArray[Any], NDArray[Any]]:
    """pandas' factorize of an array of objects.  Readers of files make one object of equal texts, so that a column has
    few objects.  Then their addresses are told apart, and only one object of each address is looked at."""
    if not len(values) or not values.flags.c_contiguous:
        return _coded(values)
    memory = (ctypes.c_char * values.nbytes).from_address(values.ctypes.data)
    addresses = np.frombuffer(memoryview(memory), dtype=np.uintp)
    if len(np.unique(addresses[:_LOOK])) > _FEW:
        return _coded(values)
    place, found = _coded(addresses)
    one = np.empty(len(found), dtype=np.intp)
    one[place] = np.arange(len(values))  # any row of each
    codes, distinct = _coded(values[one])
    small = codes.astype(np.min_scalar_type(-max(1, len(distinct))))  # eight bytes a row take longer to write than to find
    return np.asarray(small[place]), distinct


def _texts(series: Any) -> Column:
    """A column of objects or texts: numbers of its distinct values, and those."""
    from pandas.api.types import infer_dtype

    values = series.to_numpy(dtype=object)
    codes, distinct = _factorized(values)
    mixed = any(not isinstance(value, str) for value in distinct.tolist())
    if mixed and infer_dtype(values, skipna=True) not in _PLAIN:  # 1, 1.0 and True were one value
        values = np.array([None if is_missing(value) else text_of(value) for value in values.tolist()], dtype=object)
        codes, distinct = _factorized(values)
    return numbers_of(codes, codes < 0)._replace(dictionary=_listed(np.asarray(distinct)))


def _listed(values: NDArray[Any]) -> Column:
    """Distinct values as a column: numbers or booleans where they all are, else texts."""
    if values.dtype.kind in "iufb":
        return numbers_of(values)
    kinds = {type(value) for value in values.tolist()}
    if kinds and kinds <= {bool, np.bool_}:
        return numbers_of(values.astype(bool))
    if kinds and bool not in kinds and all(issubclass(kind, numbers.Real) for kind in kinds):
        whole = all(issubclass(kind, numbers.Integral) for kind in kinds)
        return numbers_of(np.array(values.tolist(), dtype=np.int64 if whole else np.float64))
    if values.dtype.kind not in "OU":
        raise TypeError
    encoded = [text_of(value).encode() for value in values.tolist()]
    ends = np.zeros(len(encoded) + 1, dtype=np.int64)
    np.cumsum([len(each) for each in encoded], out=ends[1:])
    return Column(b"U", len(encoded), (None, ends, np.frombuffer(b"".join(encoded), dtype=np.uint8)))


def is_missing(value: Any) -> bool:
    """Whether a single object is pandas' or Python's word for no value."""
    return value is None or type(value).__name__ in ("NAType", "NaTType") or (isinstance(value, float) and value != value)


def text_of(value: Any) -> str:
    """A single object as the text that it has in a file; TypeError for what has none."""
    if isinstance(value, str):
        return value
    if isinstance(value, (bool, np.bool_)) or not isinstance(value, (numbers.Number, np.number)):
        if isinstance(value, (bool, np.bool_)):
            return str(bool(value))
        if isinstance(value, datetime.date):  # a moment of a day, too
            return value.isoformat()
        raise TypeError
    if isinstance(value, (float, np.floating)) and float(value).is_integer():
        return str(int(value))
    return str(value)
