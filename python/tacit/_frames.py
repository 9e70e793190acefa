"""Frames under a schema: what `fit`, `predict` and `score` make of pandas, polars and Arrow tables.

The library encodes them.  Columns go by name; the schema goes into the model.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any, NamedTuple, Optional, Tuple

import numpy as np
from numpy.typing import NDArray

from . import _arrow, _guards
from ._matrix import Table, table_of
from ._schema import Schema, ignoring

_NUMBER = re.compile(r"[ \t]*[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?[ \t]*", re.ASCII)
_FLAGS = {False: ("false", "False", "FALSE", "0"), True: ("true", "True", "TRUE", "1")}


class Coded(NamedTuple):
    """Labels by their distinct values: codes[i] is the place of row i's label among values, -1 where it is missing."""

    codes: NDArray[Any]
    values: list[Any]


def coded(y: NDArray[Any]) -> Coded:
    """The same of an array."""
    values, codes = np.unique(y, return_inverse=True)
    return Coded(codes.reshape(-1), values.tolist())


# ---- which labels are the same ----


def _keys(value: Any) -> Tuple[Any, ...]:
    """Labels that share a key are one: 1, 1.0 and "1"; True and "true"."""
    if isinstance(value, bool):
        return tuple(key for word in _FLAGS[value] for key in _keys(word))
    if isinstance(value, str):
        return (float(value), value) if _NUMBER.fullmatch(value) else (value,)
    return (float(value),) if isinstance(value, (int, float)) else (value,)


def places(values: Iterable[Any], listed: Iterable[Any]) -> NDArray[Any]:
    """Where in the list each value stands; -1: nowhere; and one -1 more, for what is missing."""
    place: dict[Any, int] = {}
    for k, each in enumerate(listed):
        for key in _keys(each):
            place.setdefault(key, k)
    found = (next((place[key] for key in _keys(value) if key in place), -1) for value in values)
    return np.array([*found, -1])


def typed(listed: list[Any], values: list[Any]) -> list[Any]:
    """Listed texts as the data's own kind of label, where every one of them is one."""
    kinds = {type(value) for value in values}
    if kinds == {bool} and all(any(each in words for words in _FLAGS.values()) for each in listed):
        return [each in _FLAGS[True] for each in listed]
    if kinds and kinds <= {int, float} and all(isinstance(each, str) and _NUMBER.fullmatch(each) for each in listed):
        numbers = [float(each) for each in listed]
        return [int(each) for each in numbers] if kinds == {int} else list(numbers)
    return listed


def in_public_order(classes: Any, schema: Schema) -> Optional[list[Any]]:
    """The public labels, those of `classes`, the schema's, or both, which must agree; None: nobody says.  Where the schema
    names the positive one of two, it comes second."""
    given: Optional[list[Any]] = None if classes is None else np.asarray(classes).tolist()
    listed, positive = schema.label_values, schema.positive
    if listed is not None and positive is not None and len(listed) > 2:
        raise ValueError(
            'the schema names a positive label among more than two; remove "positive", and every label is told apart'
        )
    if listed is not None and positive is not None:
        listed = sorted(listed, key=lambda each: bool(each == positive))
    if given is None:
        return listed
    if len(set(given)) < len(given):
        raise ValueError("classes names a label twice; name each once")
    if listed is not None and sorted(places(given, listed)[:-1]) != list(range(len(listed))):
        raise ValueError("classes and the schema's label values differ; give the same labels, or leave classes out")
    if len(given) == 2 and positive is not None and places(given, [positive])[1] != 0:
        raise ValueError(
            "classes is in the wrong order: of two labels the positive one, as the schema has it, comes second; turn them round"
        )
    return given


# ---- frames ----


Weighed = Tuple[Optional[str], float]  # the weights' column, None: the schema's; and its cap, 0: the schema's


def frame_of(X: Any, schema: Schema, wanted: Iterable[Optional[str]] = ()) -> _arrow.Frame:
    if not _arrow.is_frame(X):
        raise ValueError(
            "a schema describes columns by name, and X has none; give a pandas, polars or Arrow table with these columns"
        )
    return _arrow.frame(X, set(schema.ignored) - set(wanted) - set(schema.beside))


def frame_table(X: Any, schema: Schema, label: Optional[str]) -> Table:
    """The frame for a prediction; its label column, if it is there, is left out."""
    return table_of(frame_of(X, schema), schema, label)


def in_order(frame: _arrow.Frame, names: list[str]) -> NDArray[Any]:
    """Columns of numbers as a matrix, in this order."""
    lacking = [name for name in names if name not in frame.columns]
    if lacking:
        raise ValueError(f"the table lacks a column that was there in fit, {lacking[0]!r}; give the same columns")
    return frame.matrix(names)


def persons_of(frame: _arrow.Frame, name: str) -> NDArray[Any]:
    """The persons of a column, as numbers from 0; a missing one is refused: its rows may be anybody's."""
    if name not in frame.columns:
        raise ValueError(f"groups names column {name!r}, which X does not have; name a column as the frame does")
    codes, values = frame.codes(name)
    gone = np.array([*map(_guards.is_nobody, values), True])
    if np.any(gone[codes]):
        raise ValueError(f"a row of column {name!r} names no person; give every row its person, or leave the row out")
    return codes


def taken(
    X: Any, y: Any, groups: Any, schema: Schema, real: bool, weights: Weighed = (None, 0)
) -> Tuple[Table, Schema, Any, Optional[str], Any]:
    """(the frame as a table under the schema, the schema, y, the label's name, groups); real: labels are numbers, else
    they come as `Coded`."""
    label = y if isinstance(y, str) else schema.label if y is None else None
    if y is None and label is None:
        raise ValueError('no label is named; give fit(frame, "column"), or let the schema name its label')
    if isinstance(y, str) and schema.label not in (None, y):
        raise ValueError(f"y names column {y!r} and the schema's label is {schema.label!r}; give one of them")
    if weights[0] is None and "weight" in schema.json:
        weights = (schema.json["weight"].get("of"), 0)  # read here, where labels are looked up afterwards
    frame = frame_of(X, schema, (label, weights[0], groups if isinstance(groups, str) else None))
    if label is not None and label not in frame.columns:
        raise ValueError(f"the frame has no column {label!r} for the label; name the label as the frame does")
    if isinstance(groups, str):
        if groups == label:
            raise ValueError(f"groups and y both name column {groups!r}; a person is no label: name two columns")
        groups, schema = persons_of(frame, groups), ignoring(schema, groups)
    kind = "real" if real and label is not None else "none"
    table = table_of(frame, schema, label, kind, weights=weights[0], weight_cap=weights[1])
    if label is not None:
        y = table.y if real else labels_of(frame, label, schema)
    return table, schema, y, label, groups


def labels_of(frame: _arrow.Frame, label: str, schema: Schema) -> Coded:
    """A label column by its distinct values; a missing label is refused."""
    codes, values = frame.codes(label)
    gone = np.array([*(found >= 0 for found in places(values, ["", *schema.json.get("missing_values", ())])[:-1]), True])
    if np.any(gone[codes]):
        raise ValueError(f"column {label!r}: a label is missing; complete the record or remove it")
    return Coded(codes, values)
