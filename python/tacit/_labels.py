"""Labels: classes and targets, and the predictions that belong to them."""

from __future__ import annotations

import math
from typing import Any, Optional, Tuple

import numpy as np
from numpy.typing import NDArray
from sklearn.base import ClassifierMixin, RegressorMixin
from sklearn.metrics import r2_score
from sklearn.utils import check_array
from sklearn.utils.multiclass import check_classification_targets

from . import _guards, _native
from ._base import Linear
from ._classes import array_of
from ._classes import listed as class_names
from ._frames import Coded, coded, in_public_order, places, typed
from ._matrix import Table
from ._model import Model, best_of
from ._native import Facts
from ._parameters import parameters
from ._schema import schema_of
from ._bounds import interval

_NOTE_CLASSES = "the classes were read from the labels of the data"
_ORDER = "classes must be in order, as in classes_: of two labels the second is the positive one; turn them round"


def _check_count(classes: Any) -> None:
    if len(classes) < 2:
        raise ValueError("a classifier needs at least two classes, and there is one class; give classes=[...]")


def _sorted(labels: list[Any]) -> list[Any]:
    """As np.unique sorts them; labels of several kinds as texts."""
    alike = len({isinstance(each, str) for each in labels}) < 2
    return sorted(labels, key=None if alike else str)


def _classes_of(y: Any) -> Tuple[NDArray[Any], NDArray[Any]]:
    """(the classes that the labels show, the index of each label)."""
    check_classification_targets(y)
    classes, codes = np.unique(y, return_inverse=True)
    return classes, codes


def score(self: Any, X: Any, y: Any = None, sample_weight: Any = None) -> float:
    """Mean accuracy of classes, R squared of numbers, of counts the part of the deviance explained; exact: not private,
    for data that you may look at.

    Parameters
    ----------
    X : array, SciPy CSR or CSC, data frame, Arrow table, or Table
        Records, [rows, features].
    y : array of shape [rows] or str, optional
        Labels or targets, or the name of the frame's column of them.  None: the column, or the table's labels, that
        were there in `fit`.
    sample_weight : array of shape [rows], optional
        How much each record counts in the score.
    """
    return float(self._scored(X, y, sample_weight))


@parameters
class Classifier(ClassifierMixin, Linear):
    """A private classifier.  Subclasses give _loss_spec.

    Parameters
    ----------
    classes : array-like, optional
        All labels that can occur, public knowledge.  None: read from the data, and said so in ``privacy_``.
    C : float, default=1.0
        Inverse strength of the ridge penalty, as in scikit-learn; the penalty covers the intercept.
    """

    classes: Any = None
    C: float = 1.0

    _labels_kind = _native.LABELS_BINARY

    def _penalty_spec(self, rows: int, cap: float) -> str:
        return "none" if self.C == math.inf else f"l2:lambda={1 / (float(self.C) * rows * cap)!r}"

    def _count(self, n_classes: Optional[int]) -> int:
        return n_classes if n_classes is not None else 2 if self.classes is None else len(np.unique(self.classes))

    def _classes(self, y: Any) -> Tuple[NDArray[Any], Tuple[str, ...], NDArray[Any]]:
        """(classes, notes, index of each label): the public list, or what the labels show, and then said so.  y: an
        array, or a frame's label column as `Coded`."""
        schema = getattr(self, "schema_", None)
        if isinstance(y, Coded) or (schema is not None and schema.label_values is not None):
            return self._listed_classes(y if isinstance(y, Coded) else coded(y), schema)
        notes: Tuple[str, ...] = ()
        if self.classes is None:
            classes, codes = _guards.without_values(lambda: _classes_of(y), y, "y")
            notes = () if self.epsilon == math.inf else (_NOTE_CLASSES,)
        else:
            classes = np.unique(np.asarray(self.classes))
            if len(np.asarray(self.classes)) == 2 and not np.array_equal(classes, np.asarray(self.classes)):
                raise ValueError(_ORDER)
            if len(classes) == 2 and classes.dtype.kind in "iuf" and y.dtype.kind in "iuf":
                second = y == classes[1]
                whole = classes.dtype.kind != "f" or np.all(classes == np.trunc(classes))  # what y is a part of
                if whole and np.all(second | (y == classes[0])):
                    return classes, notes, second.view(np.int8)
            _guards.without_values(lambda: check_classification_targets(y), y, "y")
            place, own = {value: k for k, value in enumerate(classes.tolist())}, coded(np.asarray(y))
            codes = np.array([place.get(value, -1) for value in own.values], dtype=np.int64)[own.codes]
            if np.any(codes < 0):
                raise ValueError("a label is not among the classes given; list all classes, or correct the label")
        _check_count(classes)
        return classes, notes, codes

    def _named(self, X: Any) -> Optional[NDArray[Any]]:
        return None if isinstance(X, Table) and self.schema_ is None else self.classes_

    def _table_classes(self, table: Table) -> NDArray[Any]:
        """The labels of a table of `tacit.read`, of two the negative one first; -1 and 1 where they have no names."""
        names = table.classes
        given = None if self.classes is None else np.asarray(self.classes).tolist()
        if given is None:
            return np.array([-1, 1]) if names is None else class_names(names)
        if names is None and any(np.array_equal(places(given, two), [0, 1, -1]) for two in ([-1, 1], [0, 1])):
            return np.array([-1, 1])
        if names is None or names[0] is None:
            raise ValueError(
                "the table's labels have no names, so that classes cannot be compared with them; give classes to "
                "tacit.read, or leave them out"
            )
        if sorted(places(given, names)[:-1]) != list(range(len(names))):
            raise ValueError("classes and the table's labels differ; give the same labels, or leave classes out")
        if len(names) == 2 and places(given, names)[0] != 0:
            raise ValueError("classes is in the wrong order: of two labels the positive one comes second; turn them round")
        return class_names(names)

    def _listed_classes(self, y: Coded, schema: Any) -> Tuple[NDArray[Any], Tuple[str, ...], NDArray[Any]]:
        """The same of labels by their distinct values: classes and the schema's list are one list under two names."""
        notes: Tuple[str, ...] = ()
        listed = in_public_order(self.classes, schema)
        if listed is None:
            listed, notes = _sorted(y.values), () if self.epsilon == math.inf else (_NOTE_CLASSES,)
            if schema.positive is not None and len(listed) == 2:
                listed.sort(key=lambda each: bool(places([each], [schema.positive])[0] == 0))
        elif self.classes is None:
            listed = typed(listed, y.values)
        if len(listed) > 2 or schema.positive is None:
            if self.classes is not None and len(listed) == 2 and listed != _sorted(listed):
                raise ValueError(_ORDER)
            listed = _sorted(listed)
        place = places(y.values, listed)
        codes = place[y.codes]
        if np.any(codes < 0):
            where = f"column {self.label_!r}: " if self.label_ is not None else ""
            raise ValueError(f"{where}a label is not among the classes listed; list all of them, or correct the label")
        if schema.positive is not None and not np.any(places([schema.positive], listed)[:1] >= 0):
            raise ValueError('the schema\'s "positive" is not a label of the frame; correct it, or list "values" there')
        _check_count(listed)
        return array_of(listed), notes, codes

    def _targets(self, X: Any, y: Any) -> Tuple[Any, Tuple[str, ...]]:
        notes: Tuple[str, ...] = ()
        if isinstance(X, Table) and self.schema_ is None:
            if X.kind not in (_native.LABELS_BINARY, _native.LABELS_CLASSES):
                raise ValueError("the table was read with other labels; read it with labels='classes'")
            self.classes_ = self._table_classes(X)
            return y, notes
        self.classes_, notes, codes = self._classes(y)
        if len(self.classes_) == 2:
            return np.where(codes == 1, 1.0, -1.0), notes
        return np.asarray(codes, dtype=np.float64), notes

    decision_function = Model.decision_function

    def _predicted(self, X: Any) -> NDArray[Any]:
        best = best_of(self.margins(X))
        return np.asarray(self.classes_[best])

    score = score

    def _scored(self, X: Any, y: Any, sample_weight: Any) -> float:
        if isinstance(X, Table) and y is None:
            several = X.kind == _native.LABELS_CLASSES
            y = None if X.y is None else self.classes_[X.y.astype(int) if several else (X.y > 0).astype(int)]
        y = self._truth(X, y)
        if isinstance(y, Coded):
            right = places(y.values, self.classes_.tolist())[y.codes] == best_of(self.margins(X))
            return float(np.average(right, weights=_guards.weights(sample_weight, len(right))))
        return float(_guards.without_values(lambda: super(Classifier, self).score(X, y, sample_weight), y, "y"))


@parameters
class Regressor(RegressorMixin, Linear):
    """A private regression with squared loss.  Subclasses give _penalty_spec.

    Parameters
    ----------
    label_bounds : (lower, upper)
        Bounds of the target, public knowledge; targets are clipped to them.  No default, but `estimate` finds them.
    """

    label_bounds: Any = None

    def _loss_spec(self, n_classes: Optional[int] = None) -> str:
        return "squared"

    def _label_is_open(self) -> bool:
        return self.label_bounds is None

    def _label_settings(self, intercept: bool, table: Optional[Table]) -> Facts:
        ends = self._label_ends(None)
        if ends is None:
            if self.estimate is not None or (table is not None and table.schema is not None):
                return {}  # the library takes them from the schema
            raise ValueError(
                "label_bounds is not given and has no default; give (lower, upper) of the target from public knowledge"
            )
        if intercept:
            return {"label_shift": (ends[0] + ends[1]) / 2, "label_bound": (ends[1] - ends[0]) / 2}
        return {"label_bound": max(abs(ends[0]), abs(ends[1]))}

    def _label_ends(self, schema: Any) -> Optional[Tuple[float, float]]:
        """The public bounds of the target: those given, else the schema's; None: nobody says."""
        if self.label_bounds is not None:
            lower, upper = (float(side[0]) for side in interval(self.label_bounds, 1, "label_bounds"))
            return lower, upper
        label = {} if schema is None else schema_of(schema).json.get("label", {})
        return (float(label["lower"]), float(label["upper"])) if {"lower", "upper"} <= set(label) else None

    def _targets(self, X: Any, y: Any) -> Tuple[Any, Tuple[str, ...]]:
        if isinstance(X, Table) and self.schema_ is None:
            if X.kind != _native.LABELS_REAL:
                raise ValueError("the table was read with other labels; read it with labels='real'")
            return y, ()
        return _guards.without_values(
            lambda: check_array(y, ensure_2d=False, dtype=np.float64, input_name="y"), y, "y"
        ), ()

    score = score

    def _scored(self, X: Any, y: Any, sample_weight: Any) -> float:
        y = X.y if y is None and isinstance(X, Table) else self._truth(X, y)
        return _guards.without_values(lambda: self._figure(y, self.predict(X), sample_weight), y, "y")

    def _figure(self, y: Any, predicted: NDArray[Any], sample_weight: Any) -> float:
        return float(r2_score(y, predicted, sample_weight=sample_weight))
