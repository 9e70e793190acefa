"""The caller's arrays as a tct_matrix: borrowed where the library can walk them, converted once where not."""

from __future__ import annotations

import ctypes
import inspect
import os
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Optional, Tuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from . import _arrow, _native, _views
from ._callbacks import Callbacks
from ._classes import named
from ._classes import read as read_names
from ._native import Path
from ._parameters import checked

if TYPE_CHECKING:
    from typing_extensions import ParamSpec

    _P = ParamSpec("_P")

_VALUES = {np.dtype(np.float64): _native.F64, np.dtype(np.float32): _native.F32}


def _pointer(array: Any) -> Optional[int]:
    return array.ctypes.data if array.size else None


def _dense(x: Any) -> Tuple[NDArray[Any], int, int]:
    """(array, layout, stride): x itself if its rows or its columns are contiguous, else one copy of it."""
    item = x.dtype.itemsize
    down, across = x.strides
    rows, cols = x.shape
    if (across == item or cols == 1) and (rows == 1 or (down % item == 0 and down >= cols * item)):
        return x, _native.DENSE_ROWS, (down // item if rows > 1 else cols)
    if (down == item or rows == 1) and (cols == 1 or (across % item == 0 and across >= rows * item)):
        return x, _native.DENSE_COLS, (across // item if cols > 1 else rows)
    x = np.ascontiguousarray(x)
    return x, _native.DENSE_ROWS, cols


def _sparse(x: Any) -> Tuple[Any, NDArray[Any], NDArray[Any]]:
    if not x.has_canonical_format:
        x = x.copy()
        x.sum_duplicates()
    if x.indptr.dtype != x.indices.dtype or x.indices.dtype not in (np.dtype(np.int32), np.dtype(np.int64)):
        indptr, indices = x.indptr.astype(np.int64), x.indices.astype(np.int64)
    else:
        indptr, indices = x.indptr, x.indices
    return x, indptr, indices


def _labels(y: Any, rows: int) -> Tuple[Any, Optional[int]]:
    """(one number for each row, where they lie), or (None, None)."""
    if y is None:
        return None, None
    y = np.ascontiguousarray(y, dtype=np.float64)
    if y.shape != (rows,):
        raise ValueError("y must hold one label for each row of X; check their lengths")
    return y, y.ctypes.data


class Records(_native.Owned):
    """A tct_data of ours, which may be weighed."""

    def weigh(self, weights: Any, cap: float) -> None:
        """Cuts the weights to [0, cap]."""
        weights = np.ascontiguousarray(weights, dtype=np.float64)
        _native.call("tct_data_weigh", self.handle, _pointer(weights), float(cap), None)

    def weigh_persons(self, persons: Any, count: int, seed: Optional[int]) -> None:
        """`count` rows of each person at most, drawn by the library.  persons: numbers from 0, or the name of the column
        that a table was read with."""
        key = None if seed is None else ctypes.byref(ctypes.c_uint64(seed))
        numbers = None if isinstance(persons, str) else np.ascontiguousarray(persons, dtype=np.int64)
        given = None if numbers is None else _pointer(numbers)
        _native.call("tct_data_weigh_persons", self.handle, given, int(count), key)


class View(Records):
    """A tct_data over arrays of the caller; keeps them alive as long as itself."""

    def __init__(self, x: Any, y: Any = None, kind: int = _native.LABELS_NONE) -> None:
        keep: Tuple[Any, ...]
        m = _native.Matrix(rows=x.shape[0], cols=x.shape[1])
        if x.dtype not in _VALUES or x.dtype.byteorder not in "=|<":
            x = x.astype(np.float64)
        m.value_type = _VALUES[x.dtype]
        if isinstance(x, np.ndarray):
            x, m.layout, m.stride = _dense(x)
            m.values = _pointer(x)
            keep = (x,)
        else:
            x, indptr, indices = _sparse(x)
            data = np.ascontiguousarray(x.data)
            m.layout = _native.CSR if x.format == "csr" else _native.CSC
            m.index_type = _native.I64 if indices.dtype == np.int64 else _native.I32
            m.values, m.start, m.index = _pointer(data), _pointer(indptr), _pointer(indices)
            keep = (x, data, indptr, indices)
        y, labels = _labels(y, x.shape[0])
        self.keep = keep + (y, m)
        self.source = x
        self._own(_native.call("tct_data_view", ctypes.byref(m), labels, kind, None, None), "tct_data_free")

    @property
    def shape(self) -> Tuple[int, int]:
        rows, cols = self.source.shape
        return rows, cols


def options_of(
    schema: Any, label: Optional[str], positive: Any, labels: str, invalid: str, cols: int, classes: Any, **more: Any
) -> _native.ReadOptions:
    """more: members of the structure; those that are None keep their defaults."""
    kinds = {"none": 0, "classes": _native.LABELS_CLASSES, "real": 2, "binary": _native.LABELS_BINARY}
    asked = {"labels": _native.choice("labels", labels, kinds), "cols": cols, **more}
    asked["invalid"] = _native.choice("invalid", invalid, _native.INVALID_RULES)
    options: _native.ReadOptions = _native.filled("tct_read_options", _native.ReadOptions, asked)
    if classes is not None:
        words = named(np.asarray(classes))
        options.classes, options.classes_count = _native.texts(words[0] if words else [str(each) for each in classes])
    options.label, options.positive = _native.text(label), _native.text(positive)
    options.schema_text = _native.text(getattr(schema, "text", None))
    options.schema_path = None if options.schema_text else _native.text(schema)
    return options


class Table(_native.Owned):
    """Records read by `tacit.read`: labels, names and, with a schema, encoded columns.

    Its parameters are those of `read`.
    """

    @checked
    def __init__(
        self,
        path: Path,
        *,
        schema: Any = None,
        label: Optional[str] = None,
        positive: Optional[str] = None,
        labels: str = "classes",
        invalid: str = "refuse",
        cols: int = 0,
        format: Optional[str] = None,
        delimiter: Optional[str] = None,
        decimal: Optional[str] = None,
        multiline: bool = False,
        classes: Any = None,
        person: Optional[str] = None,
        weights: Optional[str] = None,
        weight_cap: float = 0,
        max_cols: int = 0,
        max_header: int = 0,
        max_line: int = 0,
        max_expansion: int = 0,
        memory: int = 0,
        scratch: Optional[Path] = None,
    ) -> None:
        callbacks, self.person = Callbacks(), person
        options = options_of(
            schema, label, positive, labels, invalid, cols, classes, format=format, delimiter=delimiter,
            decimal=decimal, multiline=bool(multiline), key=person, weights=weights, weight_cap=weight_cap, max_cols=max_cols,
            max_header=max_header, max_line=max_line, max_expansion=max_expansion, memory=memory, scratch=scratch,
            cancel=callbacks.cancel,
        )  # fmt: skip
        with callbacks.watching():
            self._take(_native.call("tct_data_read_parts", *_native.texts([path]), ctypes.byref(options), None), schema, weight_cap)
        self.files.append(os.path.abspath(path))

    def _take(self, handle: int, schema: Any, weight_cap: float = 0) -> None:
        self.weight_cap = weight_cap or getattr(schema, "json", {}).get("weight", {}).get("cap", 0)
        file = schema if isinstance(schema, (str, os.PathLike)) else getattr(schema, "_file", None)
        self.files = [] if file is None else [os.path.abspath(file)]  # no model of it is written over these
        self._own(handle, "tct_data_free")
        kind = ctypes.c_int()
        _native.lib.tct_data_classes(handle, ctypes.byref(kind))
        self.schema, self.kind = schema, kind.value

    @property
    def shape(self) -> Tuple[int, int]:
        """(records, features)."""
        m = _native.lib.tct_data_matrix(self.handle).contents
        return m.rows, m.cols

    @property
    def classes(self) -> Optional[list[Any]]:
        """The labels by the codes of `y`: those of -1 and +1, or of 0, 1, 2, ...  None: they have no names.  The first of
        two may be None: all that is not the second."""
        count = _native.lib.tct_data_classes(self.handle, None)
        names = [_native.lib.tct_data_class(self.handle, k) for k in range(count)]
        return read_names([None if name is None else name.decode() for name in names]) if count else None

    @property
    def feature_names(self) -> list[str]:
        """Names of the columns; x1, x2, ... where the file has none."""
        names = [_native.lib.tct_data_feature(self.handle, j) for j in range(self.shape[1])]
        return [name.decode() if name else f"x{j + 1}" for j, name in enumerate(names)]

    @property
    def y(self) -> Optional[NDArray[Any]]:
        """The labels (two classes: -1 and +1, more: 0, 1, 2, ...), a copy; None where there are none."""
        labels = _native.lib.tct_data_labels(self.handle)
        return np.ctypeslib.as_array(labels, (self.shape[0],)).copy() if labels else None

    def array(self) -> Any:
        """The records, borrowed: a NumPy array, SciPy CSR or CSC.  The table lives as long as they do."""
        m = _native.lib.tct_data_matrix(self.handle).contents
        kind = np.dtype(np.float64 if m.value_type == _native.F64 else np.float32)

        def borrowed(address: int | None, dtype: np.dtype[Any], count: int) -> NDArray[Any]:
            if not address or not count:
                return np.zeros(0, dtype=dtype)
            memory = (ctypes.c_char * (count * dtype.itemsize)).from_address(address)
            setattr(memory, "table", self)
            return np.frombuffer(memoryview(memory), dtype=dtype)

        if m.layout in (_native.DENSE_ROWS, _native.DENSE_COLS):
            outer, inner = (m.rows, m.cols) if m.layout == _native.DENSE_ROWS else (m.cols, m.rows)
            flat = borrowed(m.values, kind, (outer - 1) * m.stride + inner if outer else 0)
            shaped = np.lib.stride_tricks.as_strided(flat, (outer, inner), (m.stride * kind.itemsize, kind.itemsize))
            return shaped if m.layout == _native.DENSE_ROWS else shaped.T
        index = np.dtype(np.int64 if m.index_type == _native.I64 else np.int32)
        starts = borrowed(m.start, index, (m.rows if m.layout == _native.CSR else m.cols) + 1)
        count = int(starts[-1]) if len(starts) else 0
        form = sparse.csr_matrix if m.layout == _native.CSR else sparse.csc_matrix
        parts = (borrowed(m.values, kind, count), borrowed(m.index, index, count), starts)
        return form(parts, shape=(m.rows, m.cols))

    def __len__(self) -> int:
        return self.shape[0]

    def _repr_html_(self) -> str:
        kinds = {_native.LABELS_NONE: "none", _native.LABELS_BINARY: "two classes", _native.LABELS_REAL: "numbers"}
        return _views.table(self.shape, self.feature_names, kinds.get(self.kind, "classes"), self.schema is not None)


def table_of(
    frame: _arrow.Frame, schema: Any = None, label: Optional[str] = None, labels: str = "none", classes: Any = None,
    weights: Optional[str] = None, weight_cap: float = 0,
) -> Table:  # fmt: skip
    """The table that `read` makes of a file with the frame's records; weights, weight_cap: None and 0: the schema's."""
    options = options_of(schema, label, None, labels, "refuse", 0, classes, weights=weights, weight_cap=weight_cap)
    made = Table.__new__(Table)
    made.person = None
    made._take(_native.call("tct_data_read_frame", frame.handle, ctypes.byref(options), None), schema, weight_cap)
    return made


class Labelled(Records):
    """A table's records, which may have labels of the caller's (y is not None) and be weighed by themselves."""

    def __init__(self, table: Table, y: Any = None, kind: int = _native.LABELS_NONE) -> None:
        y, labels = _labels(y, len(table))
        self.keep, self.shape = (table, y), table.shape
        self._own(_native.call("tct_data_relabel", table.handle, labels, kind, None, 0, 0), "tct_data_free")


def _reader(make: Callable[_P, Table]) -> Callable[_P, Table]:
    def read(*path: _P.args, **settings: _P.kwargs) -> Table:
        """Reads CSV, JSON Lines, Stata files, LIBSVM text, NPY, or NPZ (arrays X and y), also compressed, as `tacit train`.

        The result goes into the `fit` and `predict` of the estimators in place of X.  A file that asks for too much is
        refused before memory is taken for it; 0 is the default of each limit.

        Parameters
        ----------
        path : str or path
            The file.
        schema : Schema or path, optional
            What the columns may hold; then they are encoded.
        label : str, optional
            The label's column: its name, or its number from 1.
        positive : str, optional
            The label's text that means +1.
        labels : {"classes", "binary", "real", "none"}, default="classes"
            What labels are: classes, two classes alone, numbers; or there are none.
        invalid : {"refuse", "zero"}, default="refuse"
            A malformed record stops the read, or contributes nothing.
        cols : int, default=0
            Number of features of LIBSVM text; 0: the largest found.
        format : {"csv", "jsonl", "libsvm", "npy", "dta"}, optional
            Of the file; None: told by its first bytes, which for JSON Lines and LIBSVM text ``invalid="zero"`` does not
            take.
        delimiter, decimal : str, optional
            Of CSV; None: the delimiter that the first line holds most often, and ".".
        multiline : bool, default=False
            Of CSV: a quoted field may hold line ends.  Else a quote that is open ends with its line, and the record is
            malformed.
        classes : list, optional
            All labels that can occur; None: those that the schema lists.
        person : str, optional
            The column that says whose record each row is, for ``fit(table, groups=...)`` with the same name.
        weights : str, optional
            The column of the records' weights, none below 0, which is no feature; None: the schema's, or none.
        weight_cap : float, default=0
            Larger weights are cut to it, and a weight of it counts as a record without weights; public.  0: the schema's.
        max_cols : int
            Columns that the file itself may set, 2**20.
        max_header : int
            Bytes of a CSV header, 2**24.
        max_line : int
            Bytes of a line, 2**25.
        max_expansion : int
            Unpacked bytes per stored byte from 16 MiB on, 250.
        memory : int
            Bytes that the process may take, 0: any.  Records beyond a quarter lie in a file without a name.
        scratch : str or path, optional
            Folder of that file; None: $TMPDIR, else /tmp.
        """
        return make(*path, **settings)

    setattr(read, "__signature__", inspect.signature(make))
    read.__qualname__ = "read"
    return read


read = _reader(Table)
