"""Weights of records and persons who own several: public bounds first, then functions of one person's rows alone."""

from __future__ import annotations

from typing import Any, Optional, Tuple, Union

import numpy as np
from numpy.typing import NDArray

from . import _guards
from ._matrix import Labelled, Table
from ._parameters import parameters

# (weights, persons), None where there are none; of persons also the name of the column that a table was read with.
Weights = Tuple[Optional[NDArray[Any]], Union[None, str, NDArray[Any]]]


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

    def _weigh(self, X: Any, sample_weight: Any, groups: Any, beside: bool) -> Weights:
        """What each record weighs, and whose it is.  beside: they were read with their weights, from a column."""
        if beside:
            sample_weight = None
        self._check_bounds(sample_weight, groups)
        if isinstance(X, Table) and isinstance(groups, str):
            _check_column(X, groups, sample_weight)
            return None, groups
        weights = _guards.weights(sample_weight, X.shape[0])
        if weights is None and self.weight_cap is not None and not beside:
            weights = np.ones(X.shape[0])
        return weights, None if groups is None else _guards.persons(groups, X.shape[0])

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
    else:
        groups = _guards.persons(groups, len(table))
    data.weigh_persons(groups, most, seed)
    return data


def _check_column(table: Table, groups: str, sample_weight: Any) -> None:
    if table.person != groups:
        raise ValueError(f"the table was read without its persons; read it with tacit.read(..., person={groups!r})")
    if sample_weight is not None:
        raise ValueError("sample_weight goes with persons in an array; give groups as an array too")
