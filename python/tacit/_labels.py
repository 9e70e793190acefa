"""Labels: classes and targets, and the predictions that belong to them."""

from __future__ import annotations

import math
from typing import Any, Optional, Tuple, TypeVar

import numpy as np
from numpy.typing import NDArray
from sklearn.base import ClassifierMixin, RegressorMixin
from sklearn.utils import check_array
from sklearn.utils.multiclass import check_classification_targets

from . import _guards, _native, _provenance
from ._base import Linear, seed_of
from ._matrix import Table
from ._native import Facts
from ._parameters import parameters
from ._schema import interval

_NOTE_CLASSES = "the classes were read from the labels of the data"

_C = TypeVar("_C", bound="Classifier")
_R = TypeVar("_R", bound="Regressor")


def _classes_of(y: Any) -> Tuple[NDArray[Any], NDArray[Any]]:
    """(the classes that the labels show, the index of each label)."""
    check_classification_targets(y)
    classes, codes = np.unique(y, return_inverse=True)
    return classes, codes


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
        if not self.C > 0:
            raise ValueError("C must be above 0; give e.g. C=1.0")
        return "none" if self.C == math.inf else f"l2:lambda={1 / (self.C * rows * cap)!r}"

    def _models_for(self, n_classes: Optional[int]) -> int:
        count = n_classes if n_classes is not None else 2 if self.classes is None else len(np.unique(self.classes))
        return count if count > 2 else 1

    def _classes(self, y: Any) -> Tuple[NDArray[Any], Tuple[str, ...], NDArray[Any]]:
        """(classes, notes, index of each label): the public list, or what the labels show, and then said so."""
        notes: Tuple[str, ...] = ()
        if self.classes is None:
            classes, codes = _guards.without_values(lambda: _classes_of(y), y, "y")
            notes = () if self.epsilon == math.inf else (_NOTE_CLASSES,)
        else:
            classes = np.unique(np.asarray(self.classes))
            if len(classes) == 2 and classes.dtype.kind in "iuf" and y.dtype.kind in "iuf":
                second = y == classes[1]
                whole = classes.dtype.kind != "f" or np.all(classes == np.trunc(classes))  # what y is a part of
                if whole and np.all(second | (y == classes[0])):
                    return classes, notes, second.view(np.int8)
            _guards.without_values(lambda: check_classification_targets(y), y, "y")
            if classes.dtype.kind == np.asarray(y).dtype.kind:
                codes = np.searchsorted(classes, y)
            else:
                place = {value: k for k, value in enumerate(classes.tolist())}
                codes = np.array([place.get(value, -1) for value in np.asarray(y).tolist()])
            codes = np.where((codes >= 0) & (codes < len(classes)), codes, 0)
            if not np.all(classes[codes] == y):
                raise ValueError("a label is not among the classes given; list all classes, or correct the label")
        if len(classes) < 2:
            raise ValueError("a classifier needs at least two classes, and there is one class; give classes=[...]")
        return classes, notes, codes

    def fit(self: _C, X: Any, y: Any = None, sample_weight: Any = None, groups: Any = None) -> _C:
        """Trains within epsilon and delta.

        Parameters
        ----------
        X : array, SciPy CSR or CSC, data frame, Arrow table, or Table
            Records.  A table of `tacit.read` holds its labels: then no y.
        y : array-like or str
            Labels, or the name of X's label column.
        sample_weight : array-like, optional
            One weight for each record, cut to [0, weight_cap].
        groups : array-like, optional
            Whose record each row is; needs rows_per_person.
        """
        self._check()
        before = _provenance.look_back(self.ledger, self.epsilon != math.inf)
        X, y, label, names = self._take(X, y)
        weights = self._weigh(X, sample_weight, groups, seed_of(self.random_state))
        notes: Tuple[str, ...] = ()
        if isinstance(X, Table):
            if X.kind != _native.LABELS_BINARY:
                raise ValueError("the table was read with other labels; read it with labels='binary'")
            self.classes_, targets = np.array([-1, 1]), [y]
        else:
            self.classes_, notes, codes = self._classes(y)
            positive = [1] if len(self.classes_) == 2 else range(len(self.classes_))
            targets = [np.where(codes == k, 1.0, -1.0) for k in positive]
        models, privacy = self._fit(X, targets, names, [*notes, *before], label, weights)
        folded = [model.folded() for model in models]
        self.coef_ = np.array([weights for weights, _ in folded])
        self.intercept_ = np.array([intercept for _, intercept in folded])
        self._finish(models, privacy)
        return self

    def decision_function(self, X: Any) -> NDArray[Any]:
        """Signed distance to each class's boundary; rows longer than the public norm are shortened as in training."""
        margins = self._margins(X)
        return margins[:, 0] if margins.shape[1] == 1 else margins

    def predict(self, X: Any) -> NDArray[Any]:
        """The likeliest class of each row."""
        margins = self.decision_function(X)
        best = (margins > 0).astype(int) if margins.ndim == 1 else margins.argmax(axis=1)
        return np.asarray(self.classes_[best])

    def score(self, X: Any, y: Any = None, sample_weight: Any = None) -> float:
        """Mean accuracy, exact: not private, for data that you may look at."""
        y = X.y if y is None and isinstance(X, Table) else y
        return float(_guards.without_values(lambda: super(Classifier, self).score(X, y, sample_weight), y, "y"))


@parameters
class Regressor(RegressorMixin, Linear):
    """A private regression with squared loss.  Subclasses give _penalty_spec.

    Parameters
    ----------
    label_bounds : (lower, upper)
        Bounds of the target, public knowledge; targets are clipped to them.  No default.
    """

    label_bounds: Any = None

    def _loss_spec(self) -> str:
        return "squared"

    def _label_settings(self, intercept: bool, table: Optional[Table]) -> Facts:
        if self.label_bounds is None:
            if table is not None and table.schema is not None:
                return {}  # the library takes them from the schema
            raise ValueError(
                "label_bounds is not given and has no default; give (lower, upper) of the target from public knowledge"
            )
        lower, upper = (float(side[0]) for side in interval(self.label_bounds, 1, "label_bounds"))
        if intercept:
            return {"label_shift": (lower + upper) / 2, "label_bound": (upper - lower) / 2}
        return {"label_bound": max(abs(lower), abs(upper))}

    def fit(self: _R, X: Any, y: Any = None, sample_weight: Any = None, groups: Any = None) -> _R:
        """Trains within epsilon and delta.

        Parameters
        ----------
        X : array, SciPy CSR or CSC, data frame, Arrow table, or Table
            Records.  A table of `tacit.read` holds its labels: then no y.
        y : array-like or str
            Targets, or the name of X's target column.
        sample_weight : array-like, optional
            One weight for each record, cut to [0, weight_cap].
        groups : array-like, optional
            Whose record each row is; needs rows_per_person.
        """
        self._check()
        before = _provenance.look_back(self.ledger, self.epsilon != math.inf)
        X, y, label, names = self._take(X, y)
        weights = self._weigh(X, sample_weight, groups, seed_of(self.random_state))
        if isinstance(X, Table):
            if X.kind != _native.LABELS_REAL:
                raise ValueError("the table was read with other labels; read it with labels='real'")
        else:
            y = _guards.without_values(
                lambda: check_array(y, ensure_2d=False, dtype=np.float64, input_name="y"), y, "y"
            )
        models, privacy = self._fit(X, [y], names, before, label, weights)
        self.coef_, self.intercept_ = models[0].folded()
        self._finish(models, privacy)
        return self

    def predict(self, X: Any) -> NDArray[Any]:
        """The predicted target; rows longer than the public norm are shortened as in training."""
        return self._margins(X)[:, 0]

    def score(self, X: Any, y: Any = None, sample_weight: Any = None) -> float:
        """R squared, exact: not private, for data that you may look at."""
        y = X.y if y is None and isinstance(X, Table) else y
        return float(_guards.without_values(lambda: super(Regressor, self).score(X, y, sample_weight), y, "y"))
