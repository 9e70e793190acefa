"""Weights of records and persons who own several: public bounds first, then functions of one person's rows alone."""

from __future__ import annotations

import ctypes
from typing import Any, Optional, Tuple, Union

import numpy as np
from numpy.typing import NDArray

from . import _guards, _native
from ._matrix import Labelled, Table
from ._parameters import parameters

# (weights, persons), or the column of persons that a table was read with.
Weights = Union[None, str, Tuple[NDArray[Any], Optional[NDArray[Any]]]]


@parameters
class Weighing:
    """Parameters for fit(..., sample_weight=..., groups=...).

    Parameters
    ----------
    weight_cap : float, optional
        For ``fit(..., sample_weight=w)``: weights, none negative, are cut to weight_cap.  A weight of the cap costs what
        a record costs without weights; lighter ones are heard less.  Public knowledge, no default.
    rows_per_person : int, optional
        For ``fit(..., groups=g)``: of each person at most so many rows count, drawn at random.  The unit of privacy is
        then the person: all of their rows together move no sum further than one record may.
    """

    weight_cap: float | None = None
    rows_per_person: int | None = None

    def _cap(self, table: Any = None) -> float:
        """What the weights of a record, or of a person's records together, add up to at most."""
        own = self.weight_cap or getattr(table, "weight_cap", 0) or 1
        return float(own) * int(self.rows_per_person or 1)

    def _weight_column(self, sample_weight: Any) -> Tuple[Optional[str], float]:
        """The column of weights and its cap, where a column is named."""
        if not isinstance(sample_weight, str):
            return None, 0
        self._check_bounds(sample_weight, None if self.rows_per_person is None else True)
        return sample_weight, float(self.weight_cap or 1)

    def _weigh(self, X: Any, sample_weight: Any, groups: Any, seed: int | None, column: bool = False) -> Weights:
        """column: the records have their weights already."""
        self._check_bounds(sample_weight, groups)
        cap = None if column else self.weight_cap
        if isinstance(X, Table) and isinstance(groups, str):
            _check_column(X, groups, sample_weight)
            return groups
        if cap is None and groups is None:
            return None
        rows = X.shape[0]
        given = _guards.weights(sample_weight, rows)
        weights = np.ones(rows) if given is None else given
        if groups is None:
            return weights, None
        persons = _guards.persons(groups, rows)
        counts = drawn(persons, int(self.rows_per_person or 1), seed)
        if cap is not None:
            weights = np.where(np.isnan(weights), weights, np.clip(weights, 0, cap))
        return np.where(counts, weights, 0.0), persons

    def _check_bounds(self, sample_weight: Any, groups: Any) -> None:
        for value, setting, name, example in (
            (sample_weight, self.weight_cap, "sample_weight", "weight_cap=2.0, the largest weight that counts"),
            (groups, self.rows_per_person, "groups", "rows_per_person=4, the most rows that count of one person"),
        ):
            if value is not None and setting is None:
                raise ValueError(f"{name} needs a public bound that has no default; give e.g. {example}")
        if groups is None and self.rows_per_person is not None:
            raise ValueError("rows_per_person is given, but not whose rows they are; give fit(..., groups=persons)")


def of_persons(table: Table, groups: Any, most: int, seed: int | None) -> Labelled:
    """The table's records, at most `most` of each person drawn; groups: as `fit` takes them."""
    data = Labelled(table)
    if isinstance(groups, str):
        _check_column(table, groups, None)
        data.weigh_persons(most, seed)
    else:
        persons = _guards.persons(groups, len(table))
        data.weigh(drawn(persons, most, seed).astype(float), most, persons)
    return data


def _check_column(table: Table, groups: str, sample_weight: Any) -> None:
    if table.person != groups:
        raise ValueError(f"the table was read without its persons; read it with tacit.read(..., person={groups!r})")
    if sample_weight is not None:
        raise ValueError("sample_weight goes with persons in an array; give groups as an array too")


def drawn(persons: NDArray[Any], most: int, seed: int | None) -> NDArray[Any]:
    """Which rows count: of each person `most` at most, drawn by the library, so that it depends on nobody else."""
    counts = np.zeros(len(persons), dtype=np.uint8)
    key = None if seed is None else ctypes.byref(ctypes.c_uint64(seed))
    persons = np.ascontiguousarray(persons, dtype=np.int64)
    _native.call("tct_persons_draw", persons.ctypes.data, len(persons), most, key, counts.ctypes.data)
    return counts.astype(bool)
