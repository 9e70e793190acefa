"""The shared library through ctypes: the structures and functions of tacit.h, and nothing else of it.

ctypes lets go of the interpreter lock around every call, so other threads run while a model trains.
"""

from __future__ import annotations

import ctypes
import json
import numbers
import os
import pathlib
import sys
import warnings
import weakref
from ctypes import POINTER, c_char, c_char_p, c_double, c_int, c_int32, c_int64, c_size_t, c_uint64, c_void_p
from typing import Any, NoReturn, Optional, Tuple, Union, cast

OK, E_RUN, E_USAGE, E_DATA, E_BUDGET, E_MEMORY, E_CANCELLED = range(7)
DENSE_ROWS, DENSE_COLS, CSR, CSC = range(4)
F64, F32 = range(2)
I32, I64 = range(2)
WORDS_C, WORDS_CLI, WORDS_PYTHON = range(3)
TRANSPORT_DONE, TRANSPORT_FAILED = range(2)
LABELS_NONE, LABELS_BINARY, LABELS_REAL, LABELS_CLASSES = range(4)
CLASS_TEXT, CLASS_NUMBER, CLASS_BOOLEAN = range(3)
NEIGHBOURS = {"add_remove": 0, "replace_one": 1}
ROWS_RULES = {"clip": 0, "unit": 1}
INVALID_RULES = {"refuse": 0, "zero": 1}


Path = Union[str, "os.PathLike[str]"]
Facts = dict[str, Any]  # an object of JSON


class BudgetError(Exception):
    """The privacy budget does not allow the run."""


class PrivacyWarning(UserWarning):
    """Something that the stated epsilon does not cover, or a promise that says little."""


class UtilityWarning(UserWarning):
    """A model that is likely of no use, by public facts alone."""


_RAISED: dict[int, type[BaseException]] = {
    E_USAGE: ValueError, E_DATA: ValueError, E_BUDGET: BudgetError, E_MEMORY: MemoryError,
    E_CANCELLED: KeyboardInterrupt,
}  # fmt: skip

# ctypes cuts a whole number to fit, and takes one for the address of a text.
_RANGES = {c_int32: range(-(2**31), 2**31), c_int64: range(-(2**63), 2**63), c_uint64: range(2**64), c_char_p: range(0)}


def tell(text: Optional[str], stacklevel: int) -> None:
    """Warns of what was found out after a charge.  The run is paid for, and goes on also where warnings are errors."""
    try:
        if text:
            warnings.warn(text, UserWarning, stacklevel=stacklevel)
    except UserWarning as warning:
        print(f"tacit: warning: {warning}", file=sys.stderr)


def _fitting(name: str, kind: Any, value: Any) -> Any:
    if kind in _RANGES and isinstance(value, numbers.Integral) and int(value) not in _RANGES[kind]:
        what = "a text" if kind is c_char_p else "a whole number in range"
        raise ValueError(f"{name} takes {what}, and was given another number; correct it")
    return value


def members(*groups: Tuple[Any, str]) -> list[Tuple[str, Any]]:
    """The members of a structure in their order: each type, and the names of those that have it."""
    return [(name, kind) for kind, names in groups for name in names.split()]


class Structure(ctypes.Structure):
    """One of tacit.h, whose members take no number that they cannot hold."""

    def __setattr__(self, name: str, value: Any) -> None:
        super().__setattr__(name, _fitting(name, dict(self._fields_).get(name), value))


class Owned:
    """What the library made and this object frees, once.  It stays in its process: a copy would be freed again."""

    handle: Any = None

    def _own(self, handle: Any, free: str) -> None:
        self.handle = handle
        weakref.finalize(self, getattr(lib, free), handle)

    def __reduce__(self) -> Any:
        raise TypeError(f"{type(self).__name__} lies in the memory of this process and has no copy; make it again there")


class Error(Structure):
    _fields_ = members((c_int, "status"), (c_int64, "line column"), (c_char * 256, "file"), (c_char * 768, "text"))


class Matrix(Structure):
    _fields_ = members(
        (c_int64, "rows cols"), (c_int32, "layout value_type index_type"), (c_void_p, "values"),
        (c_int64, "stride"), (c_void_p, "start index pages"),
    )  # fmt: skip


PRINT_FN = ctypes.CFUNCTYPE(None, c_void_p, c_void_p)
PROGRESS_FN = ctypes.CFUNCTYPE(None, c_double, c_void_p)
CANCEL_FN = ctypes.CFUNCTYPE(c_int, c_void_p)


class Config(Structure):
    _fields_ = members(
        (c_size_t, "size"), (c_char_p, "loss penalty solver"), (c_double, "epsilon delta"),
        (c_int32, "neighbours rows_rule"), (c_double, "row_norm label_shift label_bound"),
        (c_char_p, "scale label_scale"), (c_int32, "intercept threads has_seed input_part"), (c_uint64, "seed"),
        (c_char_p, "ledger"), (PROGRESS_FN, "progress"), (CANCEL_FN, "cancel"), (c_void_p, "user"),
        (c_char_p, "output input_changed errors"), (c_int64, "memory"), (c_char_p, "estimate"), (c_int64, "cols classes"),
    )  # fmt: skip


class ReadOptions(Structure):
    _fields_ = members(
        (c_size_t, "size"), (c_int32, "labels invalid"), (c_char_p, "label positive schema_path schema_text"),
        (c_int64, "cols"), (c_int32, "value_type threads"), (c_char_p, "key delimiter decimal"),
        (POINTER(c_char_p), "classes"), (c_int64, "classes_count max_cols max_header max_line max_expansion memory"),
        (c_char_p, "scratch"), (c_int32, "multiline reserved"), (c_char_p, "format"), (CANCEL_FN, "cancel"), (c_void_p, "user"),
        (c_char_p, "event"), (c_double, "horizon"), (c_char_p, "weights"), (c_double, "weight_cap"),
    )  # fmt: skip


class Patience(Structure):
    _fields_ = [("size", c_size_t), ("cancel", CANCEL_FN), ("user", c_void_p), ("seconds", c_double)]


_P = POINTER(Patience)
SMALLEST_FN = ctypes.CFUNCTYPE(c_int, c_void_p, POINTER(c_int32), _P)
REDUCE_FN = ctypes.CFUNCTYPE(c_int, c_void_p, POINTER(c_double), c_int64, _P)
BROADCAST_FN = ctypes.CFUNCTYPE(c_int, c_void_p, c_void_p, c_int64, c_int32, _P)
GATHER_FN = ctypes.CFUNCTYPE(c_int, c_void_p, c_void_p, c_void_p, c_int64, _P)
SINGLE_FN = ctypes.CFUNCTYPE(c_int, c_void_p, c_int32, c_void_p, c_int64, _P)
CLOSE_FN = ctypes.CFUNCTYPE(None, c_void_p, c_int32)


class Transport(Structure):
    _fields_ = members(
        (c_size_t, "size"), (c_int32, "rank ranks"), (c_void_p, "state"), (SMALLEST_FN, "smallest"),
        (REDUCE_FN, "sum sum_first largest"), (BROADCAST_FN, "broadcast"), (GATHER_FN, "gather"),
        (SINGLE_FN, "send receive"), (CLOSE_FN, "close"),
    )  # fmt: skip


class Sockets(Structure):
    _fields_ = members(
        (c_size_t, "size"), (c_char_p, "address secret_path secret_text"), (c_int32, "rank ranks"),
        (c_double, "timeout"), (c_int32, "listener"), (CANCEL_FN, "cancel"), (c_void_p, "user"),
    )  # fmt: skip


class LedgerOptions(Structure):
    _fields_ = members(
        (c_size_t, "size"), (c_char_p, "name filter"), (c_double, "epsilon delta"),
        (c_int32, "neighbours persons for_tests"), (c_char_p, "people anchor"),
    )  # fmt: skip


class Charge(Structure):
    _fields_ = members(
        (c_size_t, "size"), (c_double, "epsilon delta"), (c_int32, "neighbours persons seeded input_part"),
        (c_char_p, "what input_changed"), (c_void_p, "unaccounted data"), (c_char_p, "plan"),
    )  # fmt: skip


class PageOptions(Structure):
    _fields_ = members((c_size_t, "size"), (c_char_p, "title purpose contact audit"), (c_int32, "registry"),
                       (c_char_p, "scores policy ledger"))


class Search(Structure):
    _fields_ = members((c_size_t, "size"), (c_int64, "tries"), (c_double, "share held"), (c_int32, "persons"))


class Amendment(Structure):
    _fields_ = members(
        (c_size_t, "size"), (POINTER(c_char_p), "features"), (c_char_p, "label"), (POINTER(c_char_p), "unaccounted"),
        (c_void_p, "scale_factor scale_shift"), (POINTER(c_char_p), "classes"), (c_int64, "classes_count"),
        (c_int32, "class_kind"),
    )  # fmt: skip


_E = POINTER(Error)
_TEXTS = POINTER(c_char_p)

# (result, arguments, functions).  A text that the caller owns is a c_void_p here, so that it can be given back.
_FUNCTIONS: dict[str, Tuple[Any, list[Any]]] = {
    name: (result, arguments)
    for result, arguments, names in (
        (c_char_p, [], "tct_version"),
        (None, [_E, c_int, c_char_p, c_size_t], "tct_error_say"),
        (c_int, [c_char_p, POINTER(c_char_p), c_int, PRINT_FN, c_void_p, _E], "tct_file_write"),
        (c_void_p, [c_void_p, _E], "tct_frame_take tct_plan_json tct_composition_json tct_model_json"),
        (None, [c_void_p, POINTER(c_int64), POINTER(c_int64)], "tct_frame_shape tct_model_shape"),
        (c_char_p, [c_void_p, c_int64], "tct_frame_name tct_data_class tct_data_feature"),
        (c_void_p, [_TEXTS, c_size_t, POINTER(ReadOptions), c_void_p, _E], "tct_data_read_parts"),
        (c_void_p, [c_void_p, POINTER(ReadOptions), c_void_p, _E], "tct_data_read_frame"),
        (c_int64, [c_void_p, c_int], "tct_data_rank_rows"),
        (c_void_p, [POINTER(Transport), _E], "tct_team_over"),
        (c_void_p, [POINTER(Sockets), _E], "tct_team_sockets"),
        (c_int, [c_void_p, POINTER(c_int)], "tct_team_rank"),
        (c_int, [c_void_p, c_int, _TEXTS, _TEXTS, c_size_t, _E], "tct_team_compare"),
        (c_int, [c_void_p, c_char_p, c_void_p, POINTER(c_void_p), _E], "tct_frame_codes"),
        (c_int, [c_void_p, c_char_p, c_void_p, _E], "tct_frame_numbers"),
        (c_void_p, [POINTER(Matrix), c_void_p, c_int, _TEXTS, c_char_p, _E], "tct_data_view"),
        (c_void_p, [c_void_p, c_void_p, c_int, _TEXTS, c_int64, c_int, _E], "tct_data_relabel"),
        (c_int, [c_void_p, POINTER(Config), _E], "tct_data_estimate"),
        (c_void_p, [POINTER(Config), c_int64, c_int64, c_int64, POINTER(Config), _E], "tct_estimate_json"),
        (c_int, [c_void_p, c_void_p, c_int64, POINTER(c_uint64), _E], "tct_data_weigh_persons"),
        (c_int, [c_void_p, c_void_p, c_double, c_void_p, _E], "tct_data_weigh tct_predict_risk"),
        (POINTER(Matrix), [c_void_p], "tct_data_matrix"),
        (POINTER(c_double), [c_void_p], "tct_data_labels tct_model_coefficients tct_model_intercepts"),
        (c_int64, [c_void_p, POINTER(c_int)], "tct_data_classes"),
        (c_void_p, [c_char_p, c_char_p, c_char_p, _E], "tct_schema_draft_nonprivate tct_model_read"),
        (c_void_p, [c_char_p, c_char_p, _E], "tct_schema_check_json tct_components_json"),
        (c_void_p, [c_void_p, c_void_p, c_void_p, _E], "tct_evaluate_json"),
        (c_int, [POINTER(Config), c_void_p, c_char_p, POINTER(c_int64), _E], "tct_config_use_schema"),
        (c_int, [POINTER(Config)], "tct_config_labels"),
        (c_void_p, [POINTER(Config), c_int64, c_int64, _E], "tct_plan_new"),
        (c_void_p, [POINTER(Config), POINTER(ReadOptions), c_int64, c_char_p, _E], "tct_expect_json"),
        (c_int64, [c_int64, c_double], "tct_search_train_rows"),
        (c_void_p, [POINTER(POINTER(Config)), c_size_t, POINTER(Search), c_int64, c_int64, _E], "tct_search_plan"),
        (c_void_p, [c_void_p, c_void_p, POINTER(Config), POINTER(c_int64), POINTER(c_double), _E], "tct_fit_search"),
        (c_void_p, [c_char_p, c_int64, _E], "tct_study_plan_json"),
        (c_void_p, [c_char_p, c_char_p, c_void_p, POINTER(ReadOptions), POINTER(Config), POINTER(c_void_p), _E],
         "tct_study_run"),
        (c_void_p, [c_char_p, c_char_p, c_char_p, c_char_p, _E], "tct_lm_json"),
        (c_void_p, [c_void_p, c_int64], "tct_composition_plan"),
        (c_int, [c_void_p, POINTER(Amendment), _E], "tct_model_amend"),
        (c_void_p, [c_void_p, c_void_p, _E], "tct_fit tct_evaluate_json_nonprivate"),
        (c_int, [c_void_p, c_char_p, _E], "tct_model_write"),
        (c_int, [c_void_p, c_void_p, c_void_p, _E], "tct_predict"),
        (c_int, [c_void_p, c_void_p, c_double, c_void_p, c_void_p, _E], "tct_predict_interval"),
        (c_void_p, [c_void_p, c_double, c_int, c_void_p, c_int64, _E], "tct_summary_json"),
        (c_void_p, [c_void_p, POINTER(PageOptions), _E], "tct_report_page"),
        (c_int, [c_void_p, POINTER(PageOptions), c_char_p, _E], "tct_report_page_write"),
        (c_void_p, [POINTER(Config), c_char_p, c_int64, c_int64, c_double, c_uint64, _E], "tct_audit_json"),
        (c_void_p, [c_char_p, c_char_p, c_char_p, c_char_p, c_char_p, c_void_p, _E], "tct_verify_json"),
        (c_void_p, [_TEXTS, c_size_t, c_int, c_double, _E], "tct_account_json"),
        (c_void_p, [_TEXTS, c_size_t, c_int, c_double, c_double, _E], "tct_calibrate_json"),
        (c_void_p, [_TEXTS, c_size_t, c_int, c_double, c_int, _E], "tct_account_curve_json"),
        (c_void_p, [c_char_p, _E], "tct_ledger_json"),
        (c_void_p, [c_char_p, _TEXTS, c_size_t, _E], "tct_ledger_check_json"),
        (c_int, [c_char_p, POINTER(LedgerOptions), _E], "tct_ledger_make"),
        (c_int, [c_char_p, c_char_p, c_char_p, _E], "tct_ledger_anchor"),
        (c_void_p, [c_char_p, _TEXTS, c_size_t, POINTER(Charge), _E], "tct_ledger_charge"),
        (c_char_p, [c_void_p], "tct_model_warning"),
        (None, [c_void_p],
         "tct_text_free tct_team_free tct_frame_free tct_data_free tct_plan_free tct_composition_free "
         "tct_model_free"),
    )
    for name in names.split()
}  # fmt: skip


def _load() -> Any:
    name = "libtacit.dylib" if sys.platform == "darwin" else "libtacit.so"
    path = os.environ.get("TACIT_LIBRARY") or str(pathlib.Path(__file__).with_name(name))
    # Threads that wait for others soon sleep: OpenMP reads these when it is loaded, which another package may have done.
    waits = {"OMP_WAIT_POLICY": "passive", "GOMP_SPINCOUNT": "1000"}
    choose = not set(waits) & set(os.environ)
    if choose:
        os.environ.update(waits)
    try:
        library = ctypes.CDLL(path)
    except OSError as why:
        raise ImportError(
            f"tacit's shared library does not load ({why}); install the wheel (pip install .), "
            "or set TACIT_LIBRARY to a built libtacit.so"
        ) from None
    finally:
        for name in waits if choose else ():
            del os.environ[name]
    for function, (result, arguments) in _FUNCTIONS.items():
        entry = getattr(library, function)
        entry.restype = result
        entry.argtypes = arguments
    return library


lib = _load()


def raise_error(error: Error) -> NoReturn:
    """Raises the exception that belongs to a filled tct_error."""
    said = ctypes.create_string_buffer(1200)
    lib.tct_error_say(ctypes.byref(error), WORDS_PYTHON, said, ctypes.sizeof(said))
    text = said.value.decode("utf-8", "replace")
    where = error.file.decode("utf-8", "replace")
    if where and error.line:
        where += f":{error.line}" + (f":{error.column}" if error.column else "")
    text = f"{where}: {text}" if where else text
    raise _RAISED.get(error.status, RuntimeError)(text)


def filled(name: str, structure: Any, members: Optional[Facts] = None) -> Any:
    """A structure of the header: the library's defaults, but for what is given and not None."""
    made, sized = structure(), getattr(lib, f"{name}_default_sized")
    sized.restype = None
    sized(ctypes.byref(made), c_size_t(ctypes.sizeof(made)))
    for key, value in (members or {}).items():
        if value is not None:
            setattr(made, key, text(value) if isinstance(value, (str, os.PathLike)) else value)
    return made


def call(name: str, *arguments: Any) -> Any:
    """A function that fills an error last: its result, or the exception."""
    error, (returns, kinds) = Error(), _FUNCTIONS[name]
    result = getattr(lib, name)(*map(_fitting, [name] * len(kinds), kinds, arguments), ctypes.byref(error))
    pointer = returns is c_void_p
    if (pointer and not result) or (not pointer and result != OK):
        raise_error(error)
    return result


def call_text(name: str, *arguments: Any) -> str:
    """The same for a text that the caller owns: a str."""
    pointer = call(name, *arguments)
    try:
        return ctypes.string_at(pointer).decode("utf-8")
    finally:
        lib.tct_text_free(pointer)


def call_json(name: str, *arguments: Any) -> Facts:
    """The same for a text of JSON."""
    return cast(Facts, json.loads(call_text(name, *arguments)))


def text(value: Any) -> Optional[bytes]:
    """A str, a path or a number as C text; None stays NULL.  Nothing else: the text of a table is its records."""
    if value is None:
        return None
    if isinstance(value, os.PathLike):
        return os.fsencode(value)
    if isinstance(value, bool) or not isinstance(value, (str, numbers.Integral)):
        raise TypeError(f"a text or a path belongs here, not an object of type {type(value).__name__}; give its name")
    try:
        made = str(value).encode("utf-8", "surrogateescape")  # as paths have it that are no UTF-8
    except UnicodeEncodeError:
        made = b"\0"
    if b"\0" in made:
        raise ValueError("a text holds a character that no file can hold; remove it")
    return made


def texts(values: Any) -> Tuple[Any, int]:
    """(array, count) of C texts; one str is a list of one."""
    if isinstance(values, str):
        values = [values]
    encoded = [text(value) for value in values]
    return (c_char_p * len(encoded))(*encoded), len(encoded)


def ended(values: Any) -> Any:
    """An array of C texts that ends with NULL."""
    kept = [text(each) for each in values]
    return (c_char_p * (len(kept) + 1))(*kept, None)


def write_file(path: Any, content: Optional[str], inputs: Any = ()) -> None:
    """Writes a file as the library does: whole or not at all, and over none of the inputs.  content None: only asks."""

    def put(file: Any, _: Any) -> None:
        lib.fputs(ctypes.c_char_p((content or "").encode("utf-8")), c_void_p(file))

    listed = ended(each for each in inputs if each is not None)
    call("tct_file_write", text(path), listed, 1, PRINT_FN() if content is None else PRINT_FN(put), None)


def choice(what: str, value: str, table: dict[str, int]) -> int:
    if not isinstance(value, str) or value not in table:
        raise ValueError(f"{what} is unknown; give one of {', '.join(table)}")
    return table[value]


def components(kind: Any = None, name: Optional[str] = None) -> list[dict[str, Any]]:
    """What can be named in a spec: a list of dicts with kind, name, summary and options.

    Parameters
    ----------
    kind : {"loss", "penalty", "solver", "accountant", "reader", "event"}, optional
        None: of every kind.
    name : str, optional
        This one alone.
    """
    return cast("list[dict[str, Any]]", call_json("tct_components_json", text(kind), text(name)))


def version() -> str:
    return str(lib.tct_version().decode())
