"""Cox regression of follow-up times, with the labels of scikit-survival and the columns of lifelines."""

from __future__ import annotations

import math
from typing import Any, Optional, Tuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from . import _arrow, _native
from ._base import Linear
from ._matrix import Table
from ._native import Facts
from ._parameters import parameters
from ._schema import schema_of

_C = TypeVar("_C", bound="PrivateCox")
_SHORTEST = 2.0**-40  # of the horizon: an event at time 0 has a sign too


def _signed(event: Any, time: Any, horizon: float) -> NDArray[np.float64]:
    """Times as the library takes them, above 0 an event and below 0 a follow-up that ended without one."""
    time = np.asarray(time, dtype=np.float64)
    if not np.all(time >= 0):
        raise ValueError("a follow-up time is below 0 or missing; correct it")
    within = np.clip(time, _SHORTEST * horizon, 2 * horizon)
    return np.asarray(np.where(event, within, -within), dtype=np.float64)


@parameters
class PrivateCox(Linear):
    """Cox regression of the time until an event, under (epsilon, delta)-differential privacy.

    One row is one person.  ``coef_`` are log hazard ratios; `summary` has their errors, which come with every fit.

    Parameters
    ----------
    horizon : float, optional
        When follow-up ends for all, public knowledge; a longer time is a follow-up that ended there.  None: the schema's.
    """

    horizon: Optional[float] = None

    def _loss_spec(self, n_classes: Optional[int] = None) -> str:
        return "cox"

    def _penalty_spec(self, rows: int, cap: float) -> str:
        return "none"

    def _label_settings(self, intercept: bool, table: Optional[Table]) -> Facts:
        if table is not None and table.schema is not None and "label" in table.schema.json:
            return {}
        if self.horizon is None:
            raise ValueError("horizon is not given and has no default; give the time at which follow-up ends for all")
        return {"label_bound": float(self.horizon)}

    def _targets(self, X: Any, y: Any) -> Tuple[Any, Tuple[str, ...]]:
        return np.asarray(y, dtype=np.float64), ()

    def fit(
        self: _C,
        X: Any,
        y: Any = None,
        sample_weight: None = None,
        groups: None = None,
        schema: Any = None,
        formula: Any = None,
        *,
        duration_col: Optional[str] = None,
        event_col: Optional[str] = None,
    ) -> _C:
        """Trains within epsilon and delta.

        Parameters
        ----------
        X, schema, formula : as the other estimators' `fit` takes them
            One row for each person; the schema's label may be the follow-up, with the horizon.
        y : structured array, optional
            An event (bool) and a time for each row, in this order, as scikit-survival has them.
        sample_weight, groups : None
            Not taken: one row is one person, and all count alike.
        duration_col, event_col : str, optional
            The frame's columns of the time and of the event, as lifelines has them, in place of y.
        """
        self._check()
        if sample_weight is not None or groups is not None:
            raise ValueError("Cox regression counts one row for one person; leave sample_weight and groups out")
        if (duration_col is None) != (event_col is None) or (y is not None and duration_col is not None):
            raise ValueError("a follow-up has a time and an event; name both duration_col and event_col, or give y")
        if duration_col is not None:
            X, y, schema = self._columns(X, duration_col, event_col, schema)
        elif y is not None and not isinstance(y, str):
            self._label_settings(True, None)
            fields: Tuple[str, ...] = getattr(getattr(y, "dtype", None), "names", None) or ()
            if len(fields) != 2 or y[fields[0]].dtype.kind != "b" or y[fields[1]].dtype.kind not in "iuf":
                raise ValueError(
                    "y must be a structured array of an event (bool) and a time; or name duration_col and event_col"
                )
            y = _signed(y[fields[0]], y[fields[1]], float(self.horizon or math.nan))
        elif schema is not None and y is None:
            y = schema_of(schema).json.get("label", {}).get("time")
        return super().fit(X, y, schema=schema, formula=formula)

    def _columns(self, X: Any, time: str, event: Any, schema: Any) -> Tuple[Any, Any, Any]:
        """(records, y, schema): by a schema its label is made of these columns, else they are taken out of the frame."""
        if schema is not None:
            content = dict(schema_of(schema).json)
            horizon = self.horizon if self.horizon is not None else content.get("label", {}).get("horizon")
            content["label"] = {**content.get("label", {}), "time": time, "event": event, "horizon": horizon}
            return X, time, schema_of(content)
        frame = _arrow.frame(X)
        for name in (time, event):
            if name not in frame.columns:
                raise ValueError(f"the frame has no column {name!r}; name the follow-up's columns as the frame does")
        seen = frame.matrix([event])[:, 0]
        if not np.all((seen == 0) | (seen == 1)):
            raise ValueError(f"column {event!r} of the event must be 0 or 1, or true or false; correct it")
        self._label_settings(True, None)
        y = _signed(seen == 1, frame.matrix([time])[:, 0], float(self.horizon or 0))
        return X[[name for name in frame.columns if name not in (time, event)]], y, None

    def _predicted(self, X: Any) -> NDArray[Any]:
        """The linear predictor, as scikit-survival's risk score."""
        return np.asarray(self.margins(X)[:, 0])

    def predict_survival(self, X: Any, at: Any) -> NDArray[Any]:
        """The chance that a person of each row has no event up to each time, [rows, times].

        Parameters
        ----------
        X : array, SciPy CSR or CSC, data frame, Arrow table, or Table
            Records, [rows, features].
        at : float or array of shape [times]
            Times above 0 and within the horizon.
        """
        data = self.model_._records(self._records(X))
        out = np.empty((data.shape[0], len(np.atleast_1d(at))), order="F")
        for k, each in enumerate(np.atleast_1d(np.asarray(at, dtype=np.float64))):
            _native.call("tct_predict_risk", self.model_.handle, data.handle, float(each), out[:, k].ctypes.data)
        return 1 - out
