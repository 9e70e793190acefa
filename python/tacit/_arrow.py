"""Tables of any library that exports the Arrow C data interface, read through its three structures alone.

Numbers, booleans, texts and dictionaries of these; a missing value is NaN, or None among texts.  Columns that Arrow keeps
apart become one matrix, column after column: the one copy that this costs."""

from __future__ import annotations

import ctypes
from ctypes import CFUNCTYPE, POINTER, c_char_p, c_int, c_int64, c_void_p
from typing import Any, Optional, Tuple

import numpy as np
from numpy.typing import NDArray


class ArrowSchema(ctypes.Structure):
    pass


class ArrowArray(ctypes.Structure):
    pass


class ArrowArrayStream(ctypes.Structure):
    pass


# The published layout: https://arrow.apache.org/docs/format/CDataInterface.html
ArrowSchema._fields_ = [
    ("format", c_char_p),
    ("name", c_char_p),
    ("metadata", c_void_p),
    ("flags", c_int64),
    ("n_children", c_int64),
    ("children", POINTER(POINTER(ArrowSchema))),
    ("dictionary", POINTER(ArrowSchema)),
    ("release", CFUNCTYPE(None, POINTER(ArrowSchema))),
    ("private_data", c_void_p),
]
ArrowArray._fields_ = [
    ("length", c_int64),
    ("null_count", c_int64),
    ("offset", c_int64),
    ("n_buffers", c_int64),
    ("n_children", c_int64),
    ("buffers", POINTER(c_void_p)),
    ("children", POINTER(POINTER(ArrowArray))),
    ("dictionary", POINTER(ArrowArray)),
    ("release", CFUNCTYPE(None, POINTER(ArrowArray))),
    ("private_data", c_void_p),
]
ArrowArrayStream._fields_ = [
    ("get_schema", CFUNCTYPE(c_int, POINTER(ArrowArrayStream), POINTER(ArrowSchema))),
    ("get_next", CFUNCTYPE(c_int, POINTER(ArrowArrayStream), POINTER(ArrowArray))),
    ("get_last_error", CFUNCTYPE(c_char_p, POINTER(ArrowArrayStream))),
    ("release", CFUNCTYPE(None, POINTER(ArrowArrayStream))),
    ("private_data", c_void_p),
]

_NUMBERS = {
    "c": np.int8, "C": np.uint8, "s": np.int16, "S": np.uint16, "i": np.int32, "I": np.uint32, "l": np.int64,
    "L": np.uint64, "e": np.float16, "f": np.float32, "g": np.float64,
}  # fmt: skip
_TEXT_OFFSETS = {"u": np.int32, "U": np.int64}
_VIEW_INLINE = 12  # bytes of a text that a string view holds itself

_pointer_of = ctypes.pythonapi.PyCapsule_GetPointer
_pointer_of.restype, _pointer_of.argtypes = c_void_p, [ctypes.py_object, c_char_p]


def _structure(capsule: Any, kind: Any, name: bytes) -> Any:
    return ctypes.cast(_pointer_of(capsule, name), POINTER(kind)).contents


def _release(structure: Any) -> None:
    if structure.release:
        structure.release(ctypes.byref(structure))


def _buffer(array: Any, k: int, kind: Any, count: int) -> NDArray[Any]:
    """`count` entries of a buffer as an array that borrows it; a missing buffer is one of zeros."""
    address = array.buffers[k] if k < array.n_buffers else None
    if not address or not count:
        return np.zeros(count, dtype=kind)
    size = int(count) * np.dtype(kind).itemsize
    return np.frombuffer(memoryview((ctypes.c_char * size).from_address(address)), dtype=kind)


def _bits(array: Any, k: int, first: int, count: int) -> NDArray[Any]:
    bytes_ = _buffer(array, k, np.uint8, (first + count + 7) // 8)
    return np.unpackbits(bytes_, bitorder="little")[first : first + count].astype(bool)


def _valid(array: Any) -> Optional[NDArray[Any]]:
    """Which values are there, or None where all are."""
    if array.null_count == 0 or array.n_buffers == 0 or not array.buffers[0]:
        return None
    return _bits(array, 0, array.offset, array.length)


def _views(array: Any) -> list[str]:
    """Texts of the string view layout: 16 bytes each, with the text itself or where it lies."""
    first, count = array.offset, array.length
    views = _buffer(array, 1, np.uint8, 16 * (first + count)).reshape(-1, 16)[first:]
    out = []
    for view in views:
        size, data = int(view[:4].view(np.int32)[0]), view.tobytes()
        if size <= _VIEW_INLINE:
            out.append(data[4 : 4 + size].decode())
        else:
            which, start = (int(part) for part in view[8:].view(np.int32))
            out.append(ctypes.string_at(array.buffers[2 + which] + start, size).decode())
    return out


def _texts(array: Any, kind: Any) -> NDArray[Any]:
    if kind == "vu":
        texts = _views(array)
    else:
        first, count = array.offset, array.length
        ends = _buffer(array, 1, _TEXT_OFFSETS[kind], first + count + 1)
        base = array.buffers[2]
        at = [(int(ends[i]), int(ends[i + 1])) for i in range(first, first + count)]
        texts = [ctypes.string_at(base + a, b - a).decode() if b > a else "" for a, b in at]
    out = np.empty(array.length, dtype=object)
    out[:] = texts
    valid = _valid(array)
    if valid is not None:
        out[~valid] = None
    return out


def _column(array: Any, schema: Any) -> NDArray[Any]:
    """One chunk of one column as an array of its own."""
    kind = schema.format.decode()
    if schema.dictionary:
        codes, values = _plain(array, kind), _column(array.dictionary.contents, schema.dictionary.contents)
        valid = _valid(array)
        if not len(values):
            values = np.array([None], dtype=object)
        taken = values[np.where(True if valid is None else valid, codes, 0).astype(np.int64)]
        if valid is None or valid.all():
            return taken
        taken = taken.astype(object if taken.dtype == object else np.float64)
        taken[~valid] = None if taken.dtype == object else np.nan
        return taken
    if kind in _TEXT_OFFSETS or kind == "vu":
        return _texts(array, kind)
    out, valid = _plain(array, kind), _valid(array)
    if valid is None or valid.all():
        return out
    out = out.astype(np.float32 if out.dtype == np.float32 else np.float64)
    out[~valid] = np.nan
    return out


def _plain(array: Any, kind: Any) -> NDArray[Any]:
    if kind == "b":
        return _bits(array, 1, array.offset, array.length)
    if kind not in _NUMBERS:
        raise ValueError(
            "a column is neither numbers, booleans nor texts; cast it to numbers, or drop it, before it comes here"
        )
    return _buffer(array, 1, _NUMBERS[kind], array.offset + array.length)[array.offset :].copy()


def _chunks(stream: Any) -> Tuple[ArrowSchema, list[ArrowArray]]:
    """(schema, arrays) of a stream; the caller releases each."""
    schema = ArrowSchema()
    arrays: list[ArrowArray] = []
    if stream.get_schema(ctypes.byref(stream), ctypes.byref(schema)):
        raise ValueError("the Arrow stream gives no schema; read the table again")
    while True:
        array = ArrowArray()
        if stream.get_next(ctypes.byref(stream), ctypes.byref(array)):
            raise ValueError("the Arrow stream broke off; read the table again")
        if not array.release:
            return schema, arrays
        arrays.append(array)


class Frame:
    """Columns of equal length by name; what the estimators need of a data frame."""

    def __init__(self, columns: Any) -> None:
        self._columns = dict(columns)
        lengths = {len(values) for values in self._columns.values()} or {0}
        if len(lengths) > 1:
            raise ValueError("the columns differ in length; read the table again")
        self.shape = (lengths.pop(), len(self._columns))

    @property
    def columns(self) -> list[str]:
        return list(self._columns)

    def __getitem__(self, key: Any) -> Any:
        if isinstance(key, list):
            return Frame((name, self._columns[name]) for name in key)
        return self._columns[key]

    def __len__(self) -> int:
        return self.shape[0]

    def matrix(self) -> NDArray[Any]:
        """[rows, columns], column after column; 32-bit where all columns are."""
        small = self._columns and all(values.dtype == np.float32 for values in self._columns.values())
        out = np.empty(self.shape, dtype=np.float32 if small else np.float64, order="F")
        for j, (name, values) in enumerate(self._columns.items()):
            if values.dtype == object:
                raise ValueError(f"column {name!r} holds texts; encode it, e.g. with tacit.PublicScaler and a schema")
            out[:, j] = values
        return out


def is_arrow(table: Any) -> bool:
    """Exports the interface and is no frame that scikit-learn reads by itself."""
    if hasattr(table, "iloc") or type(table).__module__.partition(".")[0] == "polars":
        return False
    return hasattr(table, "__arrow_c_stream__") or hasattr(table, "__arrow_c_array__")


def _frame(schema: Any, arrays: Any) -> "Frame":
    if schema.format != b"+s":
        raise ValueError("the Arrow object is no table but a single column; give a table of named columns")
    columns = []
    for j in range(schema.n_children):
        child = schema.children[j].contents
        parts = []
        for array in arrays:
            part = _column(array.children[j].contents, child)
            parts.append(part[array.offset : array.offset + array.length])
        columns.append((child.name.decode(), np.concatenate(parts) if parts else np.empty(0)))
    return Frame(columns)


def frame(table: Any) -> "Frame":
    """The table as a Frame: numbers are copied once, and the exporter's memory is let go of."""
    if isinstance(table, Frame):
        return table
    if hasattr(table, "__arrow_c_stream__"):
        capsule = table.__arrow_c_stream__()
        stream = _structure(capsule, ArrowArrayStream, b"arrow_array_stream")
        schema, arrays = _chunks(stream)
        owned = [schema, *arrays]  # the stream's capsule releases itself
    else:
        capsule = table.__arrow_c_array__()
        schema = _structure(capsule[0], ArrowSchema, b"arrow_schema")
        arrays, owned = [_structure(capsule[1], ArrowArray, b"arrow_array")], []
    try:
        return _frame(schema, arrays)
    except UnicodeDecodeError:
        pass  # it holds bytes of the data; what is raised here would carry it along
    finally:
        for structure in owned:
            _release(structure)
    raise ValueError("a text of the Arrow table is not UTF-8; write it in UTF-8")
