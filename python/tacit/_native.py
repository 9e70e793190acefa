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
from ctypes import POINTER, c_char, c_char_p, c_double, c_int, c_int32, c_int64, c_size_t, c_uint64, c_void_p
from typing import Any, NoReturn, Optional, Tuple, Union, cast

from ._words import in_python

OK, E_RUN, E_USAGE, E_DATA, E_BUDGET, E_MEMORY, E_CANCELLED = range(7)
DENSE_ROWS, DENSE_COLS, CSR, CSC = range(4)
F64, F32 = range(2)
I32, I64 = range(2)
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


class Error(ctypes.Structure):
    _fields_ = [
        ("status", c_int),
        ("line", c_int64),
        ("column", c_int64),
        ("file", c_char * 256),
        ("text", c_char * 768),
    ]


class Matrix(ctypes.Structure):
    _fields_ = [
        ("rows", c_int64),
        ("cols", c_int64),
        ("layout", c_int32),
        ("value_type", c_int32),
        ("index_type", c_int32),
        ("reserved", c_int32),
        ("values", c_void_p),
        ("stride", c_int64),
        ("start", c_void_p),
        ("index", c_void_p),
    ]


PRINT_FN = ctypes.CFUNCTYPE(None, c_void_p, c_void_p)
PROGRESS_FN = ctypes.CFUNCTYPE(None, c_double, c_void_p)
CANCEL_FN = ctypes.CFUNCTYPE(c_int, c_void_p)


class Config(ctypes.Structure):
    _fields_ = [
        ("size", c_size_t),
        ("loss", c_char_p),
        ("penalty", c_char_p),
        ("solver", c_char_p),
        ("epsilon", c_double),
        ("delta", c_double),
        ("neighbours", c_int32),
        ("rows_rule", c_int32),
        ("row_norm", c_double),
        ("label_shift", c_double),
        ("label_bound", c_double),
        ("scale", c_char_p),
        ("label_scale", c_char_p),
        ("intercept", c_int32),
        ("threads", c_int32),
        ("has_seed", c_int32),
        ("reserved", c_int32),
        ("seed", c_uint64),
        ("ledger", c_char_p),
        ("progress", PROGRESS_FN),
        ("cancel", CANCEL_FN),
        ("user", c_void_p),
        ("output", c_char_p),
        ("input_changed", c_char_p),
        ("input_part", c_int32),
        ("reserved2", c_int32),
        ("errors", c_char_p),
        ("memory", c_int64),
        ("estimate", c_char_p),
    ]


class ReadOptions(ctypes.Structure):
    _fields_ = [
        ("size", c_size_t),
        ("labels", c_int32),
        ("invalid", c_int32),
        ("label", c_char_p),
        ("positive", c_char_p),
        ("schema_path", c_char_p),
        ("schema_text", c_char_p),
        ("cols", c_int64),
        ("value_type", c_int32),
        ("threads", c_int32),
        ("key", c_char_p),
        ("delimiter", c_char_p),
        ("decimal", c_char_p),
        ("classes", POINTER(c_char_p)),
        ("classes_count", c_int64),
        ("max_cols", c_int64),
        ("max_header", c_int64),
        ("max_line", c_int64),
        ("max_expansion", c_int64),
        ("memory", c_int64),
        ("scratch", c_char_p),
        ("multiline", c_int32),
        ("reserved", c_int32),
        ("format", c_char_p),
    ]


class Patience(ctypes.Structure):
    _fields_ = [("size", c_size_t), ("cancel", CANCEL_FN), ("user", c_void_p), ("seconds", c_double)]


_P = POINTER(Patience)
SMALLEST_FN = ctypes.CFUNCTYPE(c_int, c_void_p, POINTER(c_int32), _P)
REDUCE_FN = ctypes.CFUNCTYPE(c_int, c_void_p, POINTER(c_double), c_int64, _P)
BROADCAST_FN = ctypes.CFUNCTYPE(c_int, c_void_p, c_void_p, c_int64, c_int32, _P)
GATHER_FN = ctypes.CFUNCTYPE(c_int, c_void_p, c_void_p, c_void_p, c_int64, _P)
SINGLE_FN = ctypes.CFUNCTYPE(c_int, c_void_p, c_int32, c_void_p, c_int64, _P)
CLOSE_FN = ctypes.CFUNCTYPE(None, c_void_p, c_int32)


class Transport(ctypes.Structure):
    _fields_ = [
        ("size", c_size_t),
        ("rank", c_int32),
        ("ranks", c_int32),
        ("state", c_void_p),
        ("smallest", SMALLEST_FN),
        ("sum", REDUCE_FN),
        ("sum_first", REDUCE_FN),
        ("largest", REDUCE_FN),
        ("broadcast", BROADCAST_FN),
        ("gather", GATHER_FN),
        ("send", SINGLE_FN),
        ("receive", SINGLE_FN),
        ("close", CLOSE_FN),
    ]


class Sockets(ctypes.Structure):
    _fields_ = [
        ("size", c_size_t),
        ("address", c_char_p),
        ("secret_path", c_char_p),
        ("secret_text", c_char_p),
        ("rank", c_int32),
        ("ranks", c_int32),
        ("timeout", c_double),
        ("listener", c_int32),
        ("reserved", c_int32),
        ("cancel", CANCEL_FN),
        ("user", c_void_p),
    ]


class LedgerOptions(ctypes.Structure):
    _fields_ = [
        ("size", c_size_t),
        ("name", c_char_p),
        ("filter", c_char_p),
        ("epsilon", c_double),
        ("delta", c_double),
        ("neighbours", c_int32),
        ("persons", c_int32),
        ("for_tests", c_int32),
        ("reserved", c_int32),
        ("people", c_char_p),
        ("anchor", c_char_p),
    ]


class Charge(ctypes.Structure):
    _fields_ = [
        ("size", c_size_t),
        ("epsilon", c_double),
        ("delta", c_double),
        ("neighbours", c_int32),
        ("persons", c_int32),
        ("seeded", c_int32),
        ("input_part", c_int32),
        ("what", c_char_p),
        ("input_changed", c_char_p),
        ("unaccounted", c_void_p),
        ("data", c_void_p),
    ]


class PageOptions(ctypes.Structure):
    _fields_ = [
        ("size", c_size_t),
        ("title", c_char_p),
        ("purpose", c_char_p),
        ("contact", c_char_p),
        ("audit", c_char_p),
    ]


class Tries(ctypes.Structure):
    """tct_tries."""

    _fields_ = [("mean", c_int64), ("share", c_double)]


class Amendment(ctypes.Structure):
    _fields_ = [
        ("size", c_size_t),
        ("features", POINTER(c_char_p)),
        ("label", c_char_p),
        ("unaccounted", POINTER(c_char_p)),
        ("scale_factor", c_void_p),
        ("scale_shift", c_void_p),
        ("composition", c_void_p),
        ("ledger_head", c_char_p),
        ("ledger_run", c_char_p),
        ("for_tests", c_int32),
        ("reproducible", c_int32),
        ("classes", POINTER(c_char_p)),
        ("classes_count", c_int64),
        ("class_kind", c_int32),
        ("reserved", c_int32),
    ]


STRUCTURES = {
    "tct_amendment": Amendment,
    "tct_error": Error,
    "tct_matrix": Matrix,
    "tct_config": Config,
    "tct_read_options": ReadOptions,
    "tct_ledger_options": LedgerOptions,
    "tct_charge": Charge,
    "tct_patience": Patience,
    "tct_transport": Transport,
    "tct_sockets": Sockets,
}

_E = POINTER(Error)
_TEXTS = POINTER(c_char_p)

# name: (result, arguments).  A text that the caller owns is a c_void_p here, so that it can be given back.
_FUNCTIONS: dict[str, Tuple[Any, list[Any]]] = {
    "tct_version": (c_char_p, []),
    "tct_text_free": (None, [c_void_p]),
    "tct_file_write": (c_int, [c_char_p, POINTER(c_char_p), c_int, PRINT_FN, c_void_p, _E]),
    "tct_config_default_sized": (None, [POINTER(Config), c_size_t]),
    "tct_read_options_default_sized": (None, [POINTER(ReadOptions), c_size_t]),
    "tct_data_read": (c_void_p, [c_char_p, POINTER(ReadOptions), _E]),
    "tct_frame_take": (c_void_p, [c_void_p, _E]),
    "tct_frame_rows": (c_int64, [c_void_p]),
    "tct_frame_cols": (c_int64, [c_void_p]),
    "tct_frame_name": (c_char_p, [c_void_p, c_int64]),
    "tct_data_read_frame": (c_void_p, [c_void_p, POINTER(ReadOptions), _E]),
    "tct_data_read_frame_part": (c_void_p, [c_void_p, POINTER(ReadOptions), c_void_p, _E]),
    "tct_data_all_rows": (c_int64, [c_void_p]),
    "tct_team_over": (c_void_p, [POINTER(Transport), _E]),
    "tct_sockets_default_sized": (None, [POINTER(Sockets), c_size_t]),
    "tct_team_sockets": (c_void_p, [POINTER(Sockets), _E]),
    "tct_team_rank": (c_int, [c_void_p]),
    "tct_team_size": (c_int, [c_void_p]),
    "tct_team_agree": (c_int, [c_void_p, c_int, _E]),
    "tct_team_free": (None, [c_void_p]),
    "tct_fit_composed": (c_void_p, [c_void_p, c_void_p, _E]),
    "tct_frame_codes": (c_int, [c_void_p, c_char_p, c_void_p, POINTER(c_void_p), _E]),
    "tct_frame_numbers": (c_int, [c_void_p, c_char_p, c_void_p, _E]),
    "tct_frame_free": (None, [c_void_p]),
    "tct_data_view": (c_void_p, [POINTER(Matrix), c_void_p, c_int, _TEXTS, c_char_p, _E]),
    "tct_data_relabel": (c_void_p, [c_void_p, c_void_p, c_int, _E]),
    "tct_data_name_classes": (c_int, [c_void_p, _TEXTS, c_int64, c_int, _E]),
    "tct_data_estimate": (c_int, [c_void_p, POINTER(Config), _E]),
    "tct_estimate_json": (c_void_p, [POINTER(Config), c_int64, c_int64, POINTER(Config), _E]),
    "tct_data_weigh_persons": (c_int, [c_void_p, c_int64, POINTER(c_uint64), _E]),
    "tct_data_weigh": (c_int, [c_void_p, c_void_p, c_double, c_void_p, _E]),
    "tct_data_rows": (c_int64, [c_void_p]),
    "tct_data_cols": (c_int64, [c_void_p]),
    "tct_data_matrix": (POINTER(Matrix), [c_void_p]),
    "tct_data_labels": (POINTER(c_double), [c_void_p]),
    "tct_data_kind": (c_int, [c_void_p]),
    "tct_data_classes": (c_int64, [c_void_p]),
    "tct_data_class": (c_char_p, [c_void_p, c_int64]),
    "tct_data_feature": (c_char_p, [c_void_p, c_int64]),
    "tct_data_free": (None, [c_void_p]),
    "tct_schema_draft_nonprivate": (c_void_p, [c_char_p, c_char_p, _E]),
    "tct_schema_draft_text_nonprivate": (c_void_p, [c_char_p, c_size_t, c_char_p, _E]),
    "tct_schema_check_json": (c_void_p, [c_char_p, c_char_p, _E]),
    "tct_evaluate_json": (c_void_p, [c_void_p, c_void_p, c_void_p, _E]),
    "tct_config_use_schema": (c_int, [POINTER(Config), c_void_p, _E]),
    "tct_config_labels": (c_int, [POINTER(Config)]),
    "tct_plan_new": (c_void_p, [POINTER(Config), c_int64, c_int64, _E]),
    "tct_plan_json": (c_void_p, [c_void_p, _E]),
    "tct_plan_free": (None, [c_void_p]),
    "tct_compose_classes": (c_void_p, [POINTER(Config), c_int64, c_int64, c_int64, _E]),
    "tct_compose_search": (
        c_void_p,
        [POINTER(POINTER(Config)), POINTER(c_int64), c_size_t, c_double, c_int64, c_int64, _E],
    ),
    "tct_compose_tries_classes": (
        c_void_p,
        [POINTER(POINTER(Config)), c_size_t, c_int64, POINTER(Tries), c_int64, c_int64, _E],
    ),
    "tct_choose_loss_json": (c_void_p, [POINTER(Config), c_int64, c_int64, c_int64, _E]),
    "tct_search_split": (c_int64, [c_int64, c_double, c_void_p]),
    "tct_draw_tries": (c_int, [c_int64, POINTER(c_uint64), POINTER(c_int64), _E]),
    "tct_composition_json": (c_void_p, [c_void_p, _E]),
    "tct_composition_plan": (c_void_p, [c_void_p, c_int64]),
    "tct_composition_free": (None, [c_void_p]),
    "tct_fit_classes": (c_int, [c_void_p, c_void_p, c_void_p, c_int64, POINTER(c_void_p), _E]),
    "tct_persons_draw": (c_int, [c_void_p, c_int64, c_int64, POINTER(c_uint64), c_void_p, _E]),
    "tct_amendment_default_sized": (None, [POINTER(Amendment), c_size_t]),
    "tct_model_join": (c_void_p, [POINTER(c_void_p), _TEXTS, c_int64, c_int, _E]),
    "tct_model_amend": (c_int, [c_void_p, POINTER(Amendment), _E]),
    "tct_fit": (c_void_p, [c_void_p, c_void_p, _E]),
    "tct_model_models": (c_int64, [c_void_p]),
    "tct_model_cols": (c_int64, [c_void_p]),
    "tct_model_coefficients": (POINTER(c_double), [c_void_p]),
    "tct_model_intercept": (c_double, [c_void_p]),
    "tct_model_json": (c_void_p, [c_void_p, _E]),
    "tct_model_write": (c_int, [c_void_p, c_char_p, _E]),
    "tct_model_read": (c_void_p, [c_char_p, _E]),
    "tct_model_parse": (c_void_p, [c_char_p, _E]),
    "tct_model_schema": (c_char_p, [c_void_p]),
    "tct_model_free": (None, [c_void_p]),
    "tct_predict": (c_int, [c_void_p, c_void_p, c_void_p, _E]),
    "tct_predict_interval": (c_int, [c_void_p, c_void_p, c_double, c_void_p, c_void_p, _E]),
    "tct_summary_json": (c_void_p, [c_void_p, c_double, c_int, _E]),
    "tct_evaluate_json_nonprivate": (c_void_p, [c_void_p, c_void_p, _E]),
    "tct_page_options_default_sized": (None, [POINTER(PageOptions), c_size_t]),
    "tct_report_page": (c_void_p, [c_void_p, POINTER(PageOptions), _E]),
    "tct_report_page_write": (c_int, [c_void_p, POINTER(PageOptions), c_char_p, _E]),
    "tct_audit_json": (c_void_p, [POINTER(Config), c_int64, c_int64, c_double, c_uint64, _E]),
    "tct_verify_json": (c_void_p, [c_char_p, c_char_p, _E]),
    "tct_account_json": (c_void_p, [_TEXTS, c_size_t, c_int, c_double, _E]),
    "tct_calibrate_json": (c_void_p, [_TEXTS, c_size_t, c_int, c_double, c_double, _E]),
    "tct_account_curve_json": (c_void_p, [_TEXTS, c_size_t, c_int, c_int, c_double, c_int, _E]),
    "tct_components_json": (c_void_p, [c_char_p, c_char_p, _E]),
    "tct_choose": (c_int, [POINTER(c_double), c_int64, c_double, c_double, POINTER(c_uint64), POINTER(c_int64), _E]),
    "tct_ledger_init": (c_int, [c_char_p, c_char_p, c_char_p, c_int, c_double, c_double, _E]),
    "tct_ledger_json": (c_void_p, [c_char_p, _E]),
    "tct_ledger_check_json": (c_void_p, [c_char_p, _TEXTS, c_size_t, _E]),
    "tct_ledger_options_default_sized": (None, [POINTER(LedgerOptions), c_size_t]),
    "tct_ledger_make": (c_int, [c_char_p, POINTER(LedgerOptions), _E]),
    "tct_ledger_anchor": (c_int, [c_char_p, c_char_p, _E]),
    "tct_charge_default_sized": (None, [POINTER(Charge), c_size_t]),
    "tct_ledger_charge_run": (c_void_p, [c_char_p, _TEXTS, c_size_t, POINTER(Charge), _E]),
    "tct_model_warning": (c_char_p, [c_void_p]),
    "tct_ledger_charge": (c_void_p, [c_char_p, _TEXTS, c_size_t, c_int, c_double, c_double, _E]),
}


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
    text = in_python(error.text.decode("utf-8", "replace"))
    where = error.file.decode("utf-8", "replace")
    if where and error.line:
        where += f":{error.line}" + (f":{error.column}" if error.column else "")
    text = f"{where}: {text}" if where else text
    if error.status in (E_USAGE, E_DATA):
        raise ValueError(text)
    if error.status == E_BUDGET:
        raise BudgetError(text)
    if error.status == E_MEMORY:
        raise MemoryError(text)
    if error.status == E_CANCELLED:
        raise KeyboardInterrupt(text)
    raise RuntimeError(text)


def defaults(name: str, structure: Any) -> Any:
    """A structure of the header with the library's defaults."""
    made = structure()
    getattr(lib, f"{name}_default_sized")(ctypes.byref(made), ctypes.sizeof(made))
    return made


def call(name: str, *arguments: Any) -> Any:
    """A function that fills an error last: its result, or the exception."""
    error = Error()
    result = getattr(lib, name)(*arguments, ctypes.byref(error))
    pointer = _FUNCTIONS[name][0] is c_void_p
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
    if not isinstance(value, (str, numbers.Number)):
        raise TypeError(f"a text or a path belongs here, not an object of type {type(value).__name__}; give its name")
    return str(value).encode("utf-8")


def texts(values: Any) -> Tuple[Any, int]:
    """(array, count) of C texts; one str is a list of one."""
    if isinstance(values, str):
        values = [values]
    encoded = [text(value) for value in values]
    return (c_char_p * len(encoded))(*encoded), len(encoded)


def write_file(path: Any, content: Optional[str], inputs: Any = ()) -> None:
    """Writes a file as the library does: whole or not at all, and over none of the inputs.  content None: only asks."""
    kept = [text(each) for each in inputs if each is not None]

    def put(file: Any, _: Any) -> None:
        lib.fputs(ctypes.c_char_p((content or "").encode("utf-8")), c_void_p(file))

    listed = (c_char_p * (len(kept) + 1))(*kept, None)
    call("tct_file_write", text(path), listed, 1, PRINT_FN() if content is None else PRINT_FN(put), None)


def choice(what: str, value: str, table: dict[str, int]) -> int:
    if value not in table:
        raise ValueError(f"{what} is unknown; give one of {', '.join(table)}")
    return table[value]


def components(kind: Any = None, name: Optional[str] = None) -> list[dict[str, Any]]:
    """What can be named in a spec: a list of dicts with kind, name, summary and options.

    Parameters
    ----------
    kind : {"loss", "penalty", "solver", "accountant", "format"}, optional
        None: of every kind.
    name : str, optional
        This one alone.
    """
    return cast("list[dict[str, Any]]", call_json("tct_components_json", text(kind), text(name)))


def version() -> str:
    return str(lib.tct_version().decode())
