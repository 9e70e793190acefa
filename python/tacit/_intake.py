"""What `fit`, `predict` and `score` were given becomes what the library takes: matrices, or tables."""

from __future__ import annotations

from typing import Any, Optional, Tuple

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import check_array
from sklearn.utils.validation import check_is_fitted, column_or_1d

from . import _arrow, _estimate, _frames, _guards, _native
from ._frames import in_order
from ._matrix import Table, View
from ._model import Model
from ._schema import Schema, schema_of

try:
    from sklearn.utils.validation import validate_data as _validate_data

    _FINITE = "ensure_all_finite"
except ImportError:  # scikit-learn before 1.6 has it as a method
    _FINITE = "force_all_finite"

    def _validate_data(estimator: Any, X: Any, **options: Any) -> Any:
        return estimator._validate_data(X, **options)


class Intake:
    """The part of an estimator that takes records and labels in."""

    bounds: Any
    estimate: Optional[str]
    model_: Model
    _labels_kind: int

    def _take(
        self, X: Any, y: Any, groups: Any, schema: Any, weights: _frames.Weighed = (None, 0)
    ) -> Tuple[Any, Any, Optional[str], Any, Any]:
        """What `fit` was given: (X, y, the label's name, feature names or None, groups).  X comes back as a matrix or a
        Table; y of a frame under a schema as `Coded`, or in the Table."""
        self.schema_: Optional[Schema] = None
        self.label_: Optional[str] = None
        _check_order(X, y, "y")
        _check_order(X, groups, "groups")
        if schema is not None:
            return self._take_frame(X, y, groups, schema_of(schema), weights)
        if weights[0] is not None:
            raise ValueError(
                "sample_weight names a column; give the frame's schema too, or read the table with weights="
                f"{weights[0]!r}, or give the weights as an array"
            )
        if y is None and not isinstance(X, Table):
            raise ValueError(f"This {type(self).__name__} estimator requires y to be passed, but the target y is None")
        if self.estimate is not None and not isinstance(X, Table):
            return self._take_open(X, y, groups)
        label = getattr(y, "name", None)
        if isinstance(X, Table):
            self._refuse_bounds("a table of tacit.read is scaled by its schema")
            if y is not None:
                raise ValueError("a table read by tacit.read holds its labels; leave y out")
            self.n_features_in_, self.feature_names_in_ = X.shape[1], np.array(X.feature_names, dtype=object)
            return X, X.y, None, None, groups
        X, y, label, groups, names = _named_columns(X, y, label, groups)
        # Bounds go by name also where names are no texts, which scikit-learn does not take for names.
        self._order: Any = list(X.columns) if hasattr(X, "columns") else names
        own = {_FINITE: self.bounds is not None}  # else the library looks, and one pass over the records is enough
        X = self._numbers(X, **own)
        y = _guards.without_values(lambda: column_or_1d(y, warn=True), y, "y")
        if y.shape[0] != X.shape[0]:
            raise ValueError("X and y have inconsistent numbers of samples; give one label for each row")
        if names is not None:
            self.feature_names_in_ = np.array(names, dtype=object)
        self.label_ = label if isinstance(label, str) else None
        return X, y, self.label_, getattr(self, "feature_names_in_", None), groups

    def _take_open(self, X: Any, y: Any, groups: Any) -> Tuple[Any, Any, Optional[str], Any, Any]:
        """Records whose bounds will be estimated: a frame's columns by name, an array's by number."""
        by_name = _arrow.is_frame(X)
        frame = _arrow.frame(X) if by_name else _estimate.frame_of_array(self._numbers(X))
        label = y if isinstance(y, str) else getattr(y, "name", None)
        named = [name for name in (y, groups) if isinstance(name, str)]
        schema = _estimate.open_schema([name for name in frame.columns if name not in named], label)
        taken = self._take_frame(frame, y, groups, schema)
        if not by_name:
            del self.feature_names_in_
        return taken

    def _take_frame(
        self, X: Any, y: Any, groups: Any, schema: Schema, weights: _frames.Weighed = (None, 0)
    ) -> Tuple[Any, Any, Optional[str], Any, Any]:
        if isinstance(X, Table):
            raise ValueError("a table of tacit.read was read under its own schema; leave schema out, or give the frame")
        self._refuse_bounds("the schema has the bounds of every column")
        real = self._labels_kind == _native.LABELS_REAL
        table, self.schema_, y, self.label_, groups = _frames.taken(X, y, groups, schema, real, weights)
        self.feature_names_in_ = np.array([column["name"] for column in self.schema_.used], dtype=object)
        self.n_features_in_ = len(self.feature_names_in_)
        if self.label_ is None:
            y = _guards.without_values(lambda: column_or_1d(y, warn=True), y, "y")
        return table, y, self.label_, None, groups

    def _refuse_bounds(self, why: str) -> None:
        if self.bounds is not None:
            raise ValueError(f"bounds has no place here, for {why}; leave bounds out")

    def _numbers(self, X: Any, **options: Any) -> Any:
        """Records as a matrix of numbers; an error names a column and shows no value."""
        options = {"accept_sparse": ["csr", "csc"], "accept_large_sparse": True, **options}
        kinds = [np.float64, np.float32]
        return _guards.without_values(lambda: _validate_data(self, X, dtype=kinds, **options), X)

    def _records(self, X: Any) -> Any:
        """Records for a prediction, as the library takes them: columns of a frame go by name."""
        check_is_fitted(self, "model_")
        if isinstance(X, Table):
            return X
        if self.schema_ is not None and not hasattr(self, "feature_names_in_"):
            X = _estimate.frame_of_array(self._numbers(X, reset=False))  # as `fit` had it: an array
        if self.schema_ is not None:
            return _frames.frame_table(X, self.schema_, self.label_)
        if _arrow.is_arrow(X):
            matrix = in_order(_arrow.frame(X), list(getattr(self, "feature_names_in_", [])))
            return View(_guards.without_values(lambda: check_array(matrix, dtype=[np.float64, np.float32]), matrix))
        known = getattr(self, "feature_names_in_", ())
        if self.label_ is not None and self.label_ not in known and self.label_ in getattr(X, "columns", ()):
            X = X[[name for name in X.columns if name != self.label_]]  # a table as `fit` had it
        return View(self._numbers(X, reset=False))

    def margins(self, X: Any) -> NDArray[Any]:
        """The linear predictor x.w + intercept by every model, [rows, models]: of counts the logarithm of the mean.

        Parameters
        ----------
        X : array, SciPy CSR or CSC, data frame, Arrow table, or Table
            Records, [rows, features].
        """
        X = self._records(X)
        return self.model_.margins(X)

    def predict(self, X: Any) -> NDArray[Any]:
        """The prediction for each row, [rows]: the likeliest class, the target, or of counts their mean.  Rows longer than
        the public norm are shortened as in training.

        Parameters
        ----------
        X : array, SciPy CSR or CSC, data frame, Arrow table, or Table
            Records, [rows, features].
        """
        return self._predicted(X)

    def _predicted(self, X: Any) -> NDArray[Any]:
        X = self._records(X)
        return self.model_.predict(X)

    def _truth(self, X: Any, y: Any) -> Any:
        """The labels to score against: y itself, or a column of X by its name, that of `fit` where y is None.  Classes of
        a frame under a schema come as `Coded`."""
        check_is_fitted(self, "model_")
        _check_order(X, y, "y")
        name = self.label_ if y is None else y
        if not isinstance(name, str) or isinstance(X, Table) or not _arrow.is_frame(X):
            return y
        frame = _arrow.frame(X)
        if name not in frame.columns:
            raise ValueError(f"there is no column {name!r} to score against; give y, or a frame that has it")
        if self._labels_kind == _native.LABELS_REAL:
            return frame.matrix([name])[:, 0]
        return _frames.labels_of(frame, name, self.schema_ or Schema({"columns": []}))


def _check_order(X: Any, values: Any, name: str) -> None:
    """A Series goes with the rows by position, as everywhere.  One whose index has the rows' names in another order was
    meant otherwise."""
    if not _arrow.is_pandas(X) or not hasattr(values, "iloc") or len(values) != len(X):
        return
    rows, own = X.index, values.index
    if rows.equals(own) or not (rows.is_unique and own.is_unique) or not own.isin(rows).all():
        return
    raise ValueError(
        f"the index of {name} has the rows of X in another order; give {name}.loc[X.index], or {name}.to_numpy() if they "
        "go by position"
    )


def _named_columns(X: Any, y: Any, label: Any, groups: Any) -> Tuple[Any, Any, Any, Any, Optional[list[str]]]:
    """(X, y, the label's name, groups, names of an Arrow table's columns): columns that y and groups name are taken out
    of X, and tables of other libraries become arrays."""
    if _arrow.is_arrow(y):
        column = _arrow.frame(y)
        if len(column.columns) != 1:
            raise ValueError("y is a table of more than one column; give the label's column alone, or its name")
        y = _plain(column[column.columns[0]])
    named = [name for name in (y, groups) if isinstance(name, str)]
    arrow = _arrow.frame(X) if _arrow.is_arrow(X) else None
    columns = arrow.columns if arrow is not None else list(getattr(X, "columns", []))
    for what, name in (("y", y), ("groups", groups)):
        if isinstance(name, str) and name not in columns:
            raise ValueError(f"{what} names a column, but X has no column of that name; give a frame that has it")
    rest = [name for name in columns if name not in named]
    if isinstance(y, str):
        label, y = y, X[y] if arrow is None else _plain(arrow[y])
    if isinstance(groups, str):
        groups = X[groups] if arrow is None else _frames.persons_of(arrow, groups)
    if arrow is not None:
        return in_order(arrow, rest), y, label, groups, rest
    return X[rest] if named else X, y, label, groups, None


def _plain(values: NDArray[Any]) -> NDArray[Any]:
    """An array of objects as one of numbers, booleans or texts where it is one."""
    found = np.array(values.tolist())
    return found if found.ndim == 1 and None not in values.tolist() else values
