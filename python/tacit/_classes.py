"""What the classes of a label are called, in the library's words and in Python's."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from typing import Any, Optional, Tuple

import numpy as np
from numpy.typing import NDArray

from . import _native


def named(classes: NDArray[Any]) -> Optional[Tuple[list[str], int]]:
    """(names, tct_class_kind) for the library; None: they have no names that tell them apart."""
    values = classes.tolist()
    if all(isinstance(value, bool) for value in values):
        return [json.dumps(value) for value in values], _native.CLASS_BOOLEAN
    numbers = all(isinstance(value, (int, float)) and not isinstance(value, bool) for value in values)
    if numbers and all(math.isfinite(value) and abs(value) < 2**63 for value in values):
        return [json.dumps(value) for value in values], _native.CLASS_NUMBER
    texts = [str(value) for value in values]
    return (texts, _native.CLASS_TEXT) if all(texts) and len(set(texts)) == len(texts) else None


def array_of(labels: Sequence[Any]) -> NDArray[Any]:
    """Labels as an array of their kind; of texts and others as they are."""
    alike = len({isinstance(each, str) for each in labels}) < 2 and None not in labels
    return np.array(labels) if alike else np.array(labels, dtype=object)


def listed(names: Sequence[Any]) -> NDArray[Any]:
    """Names out of a model file or a table as `classes_`; a first one of two that is None is all that is not the
    second."""
    if names[0] is None:
        return np.array([f"not {names[1]}", str(names[1])])
    return array_of(names)


def read(names: Sequence[Optional[str]]) -> list[Any]:
    """Texts of a public list as the kind that the library takes them for: numbers or truth values where all are."""
    try:
        values = [None if name is None else json.loads(name) for name in names]
    except ValueError:
        return list(names)
    there = [value for value in values if value is not None]
    same = all(json.dumps(value) == name for value, name in zip(values, names) if name is not None)
    kinds: set[type] = {bool} if isinstance(there[-1], bool) else {int, float}
    return values if same and {type(value) for value in there} <= kinds else list(names)
