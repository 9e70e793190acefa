"""Tables of any library that exports the Arrow C data interface, handed to the C library without a look at a cell.

The library takes the stream over and reads its buffers.  pandas frames are exported here, column by column, from their
own NumPy memory (`_pandas`), so that pandas needs no pyarrow.
"""

from __future__ import annotations

import ctypes
import json
import weakref
from collections.abc import Iterable
from ctypes import CFUNCTYPE, POINTER, c_char_p, c_int, c_int64, c_void_p
from typing import Any, NamedTuple, Optional, Tuple

import numpy as np
from numpy.typing import NDArray

from . import _native


class ArrowSchema(ctypes.Structure):
    pass


class ArrowArray(ctypes.Structure):
    pass


class ArrowArrayStream(ctypes.Structure):
    pass


_SCHEMA_RELEASE = CFUNCTYPE(None, POINTER(ArrowSchema))
_ARRAY_RELEASE = CFUNCTYPE(None, POINTER(ArrowArray))
_STREAM_RELEASE = CFUNCTYPE(None, POINTER(ArrowArrayStream))
_GET_SCHEMA = CFUNCTYPE(c_int, POINTER(ArrowArrayStream), POINTER(ArrowSchema))
_GET_NEXT = CFUNCTYPE(c_int, POINTER(ArrowArrayStream), POINTER(ArrowArray))
_LAST_ERROR = CFUNCTYPE(c_char_p, POINTER(ArrowArrayStream))

# The published layout: https://arrow.apache.org/docs/format/CDataInterface.html
ArrowSchema._fields_ = _native.members(
    (c_char_p, "format name"), (c_void_p, "metadata"), (c_int64, "flags n_children"),
    (POINTER(POINTER(ArrowSchema)), "children"), (POINTER(ArrowSchema), "dictionary"), (_SCHEMA_RELEASE, "release"),
    (c_void_p, "private_data"),
)  # fmt: skip
ArrowArray._fields_ = _native.members(
    (c_int64, "length null_count offset n_buffers n_children"), (POINTER(c_void_p), "buffers"),
    (POINTER(POINTER(ArrowArray)), "children"), (POINTER(ArrowArray), "dictionary"), (_ARRAY_RELEASE, "release"),
    (c_void_p, "private_data"),
)  # fmt: skip
ArrowArrayStream._fields_ = _native.members(
    (_GET_SCHEMA, "get_schema"), (_GET_NEXT, "get_next"), (_LAST_ERROR, "get_last_error"), (_STREAM_RELEASE, "release"),
    (c_void_p, "private_data"),
)  # fmt: skip

_pointer_of = ctypes.pythonapi.PyCapsule_GetPointer
_pointer_of.restype, _pointer_of.argtypes = c_void_p, [ctypes.py_object, c_char_p]


class Column(NamedTuple):
    """A column in this process's memory, in Arrow's layout; None among the buffers: none."""

    format: bytes
    length: int
    buffers: Tuple[Optional[NDArray[Any]], ...] = ()
    missing: int = 0
    dictionary: Optional[Any] = None  # a Column


# ---- out: columns, or the two structures of a batch, as a stream ----


class _Export:
    """A stream of one chunk.  It holds whatever its structures point to, and must live as long as the frame."""

    def __init__(self, schema: Any, array: Any, *keep: Any) -> None:
        self._schema, self._array, self._given, self._keep = schema, array, False, keep
        self.stream = ArrowArrayStream(
            _GET_SCHEMA(self._get_schema), _GET_NEXT(self._get_next), _LAST_ERROR(), _STREAM_RELEASE(self._release)
        )

    def _get_schema(self, _: Any, out: Any) -> int:
        _move(self._schema, out.contents)
        return 0

    def _get_next(self, _: Any, out: Any) -> int:
        ctypes.memset(out, 0, ctypes.sizeof(ArrowArray))
        if not self._given:
            self._given = True
            _move(self._array, out.contents)
        return 0

    def _release(self, stream: Any) -> None:
        stream.contents.release = _STREAM_RELEASE()


def _move(source: Any, to: Any) -> None:
    """Hands a structure over, as the interface says: bit by bit, and what is left counts as released."""
    ctypes.memmove(ctypes.addressof(to), ctypes.addressof(source), ctypes.sizeof(source))
    source.release = type(source.release)()


def _released(structure: Any) -> None:
    structure.contents.release = type(structure.contents.release)()


_release_schema, _release_array = _SCHEMA_RELEASE(_released), _ARRAY_RELEASE(_released)


def _pointers(kind: Any, structures: Any, keep: list[Any]) -> Any:
    array = (POINTER(kind) * max(1, len(structures)))(*(ctypes.pointer(each) for each in structures))
    keep.append(array)
    return ctypes.cast(array, POINTER(POINTER(kind)))


def _structures(name: str, column: Column, keep: list[Any]) -> Tuple[ArrowSchema, ArrowArray]:
    schema = ArrowSchema(format=column.format, name=name.encode("utf-8", "replace"), release=_release_schema)
    addresses = [None if each is None or not each.size else each.ctypes.data for each in column.buffers]
    buffers = (c_void_p * max(1, len(addresses)))(*addresses)
    array = ArrowArray(length=column.length, null_count=column.missing, n_buffers=len(addresses))
    array.buffers, array.release = ctypes.cast(buffers, POINTER(c_void_p)), _release_array
    keep += [schema, array, buffers, column]
    if column.dictionary is not None:
        inner, values = _structures("", column.dictionary, keep)
        schema.dictionary, array.dictionary = ctypes.pointer(inner), ctypes.pointer(values)
    return schema, array


def _exported(columns: Iterable[Tuple[str, Column]], rows: int) -> _Export:
    keep: list[Any] = []
    pairs = [_structures(name, column, keep) for name, column in columns]
    schema = ArrowSchema(format=b"+s", name=b"", n_children=len(pairs), release=_release_schema)
    schema.children = _pointers(ArrowSchema, [pair[0] for pair in pairs], keep)
    array = ArrowArray(length=rows, n_buffers=1, n_children=len(pairs), release=_release_array)
    array.buffers = ctypes.cast((c_void_p * 1)(None), POINTER(c_void_p))
    array.children = _pointers(ArrowArray, [pair[1] for pair in pairs], keep)
    return _Export(schema, array, keep)


# ---- in ----


class Frame(_native.Owned):
    """A table in the library's hands: columns of equal length by name."""

    def __init__(self, stream: Any, keep: Any) -> None:
        try:
            self.handle = _native.call("tct_frame_take", stream)
        finally:
            weakref.finalize(self, _free, self.handle, keep)
        rows, cols = ctypes.c_int64(), ctypes.c_int64()
        _native.lib.tct_frame_shape(self.handle, ctypes.byref(rows), ctypes.byref(cols))
        self.shape = rows.value, cols.value
        names = [_native.lib.tct_frame_name(self.handle, j) for j in range(cols.value)]
        self.columns = [name.decode("utf-8", "replace") for name in names]

    def __len__(self) -> int:
        return self.shape[0]

    def codes(self, name: str) -> Tuple[NDArray[Any], list[Any]]:
        """(number of each row's value, -1 = missing; the distinct values: texts, numbers and booleans)."""
        code, text = np.empty(len(self), dtype=np.int64), c_void_p()
        _native.call("tct_frame_codes", self.handle, _native.text(name), code.ctypes.data, ctypes.byref(text))
        try:
            return code, json.loads(ctypes.string_at(text.value or 0))
        finally:
            _native.lib.tct_text_free(text)

    def matrix(self, names: list[str]) -> NDArray[Any]:
        """[rows, names]: columns of numbers, one after the other; NaN where one is missing."""
        out = np.empty((len(self), len(names)), order="F")
        for j, name in enumerate(names):
            _native.call("tct_frame_numbers", self.handle, _native.text(name), out[:, j].ctypes.data)
        return out

    def __getitem__(self, name: str) -> NDArray[Any]:
        """A column as an array of its values, None where one is missing."""
        code, values = self.codes(name)
        listed = np.empty(len(values) + 1, dtype=object)
        listed[:-1] = values
        return np.asarray(listed[code])


def _free(handle: Any, keep: Any) -> None:
    """keep: what the handle's memory belongs to, until now; its callbacks refer to it, and would keep it."""
    _native.lib.tct_frame_free(handle)
    vars(keep).clear() if keep is not None else None


def is_pandas(table: Any) -> bool:
    return type(table).__module__.partition(".")[0] == "pandas" and hasattr(table, "iloc") and hasattr(table, "columns")


def _exports(table: Any) -> bool:
    return hasattr(table, "__arrow_c_stream__") or hasattr(table, "__arrow_c_array__")


def is_frame(table: Any) -> bool:
    """Whether `frame` takes it: pandas, polars, pyarrow, or anything else that exports the interface."""
    return isinstance(table, Frame) or is_pandas(table) or _exports(table)


def is_arrow(table: Any) -> bool:
    """Exports the interface and is no frame that scikit-learn reads by itself."""
    return _exports(table) and not hasattr(table, "iloc") and type(table).__module__.partition(".")[0] != "polars"


def frame_of_columns(names: Iterable[str], columns: Iterable[NDArray[Any]]) -> Frame:
    """Contiguous arrays of numbers as a Frame that borrows them."""
    from . import _pandas

    told = [_pandas.numbers_of(values) for values in columns]
    export = _exported(zip(names, told), told[0].length if told else 0)
    return Frame(ctypes.byref(export.stream), export)


def _capsules(table: Any, method: str) -> Any:
    try:
        return getattr(table, method)()
    except Exception:  # whatever its library says may show values
        pass
    raise ValueError("the frame's own library cannot hand it over; cast its columns to numbers, booleans or texts")


def frame(table: Any, ignored: Iterable[str] = ()) -> Frame:
    """The table as a Frame.  ignored: columns whose values nobody will ask for."""
    if isinstance(table, Frame):
        return table
    if is_pandas(table):
        from . import _pandas

        export = _exported(_pandas.columns(table, set(ignored)), len(table))
        return Frame(ctypes.byref(export.stream), export)
    if hasattr(table, "__arrow_c_stream__"):
        capsule = _capsules(table, "__arrow_c_stream__")
        return Frame(_pointer_of(capsule, b"arrow_array_stream"), None)
    capsules = _capsules(table, "__arrow_c_array__")
    schema = ArrowSchema.from_address(_pointer_of(capsules[0], b"arrow_schema"))
    array = ArrowArray.from_address(_pointer_of(capsules[1], b"arrow_array"))
    export = _Export(schema, array, capsules)
    return Frame(ctypes.byref(export.stream), export)
