"""What the estimators have in common: from parameters to a plan, to models and their certificate."""

from __future__ import annotations

import ctypes
import json
import math
import numbers
from collections.abc import Callable, Iterable
from types import SimpleNamespace
from typing import Any, NamedTuple, Optional, Tuple, TypeVar, Union

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.base import BaseEstimator

from . import _accounting, _callers, _estimate, _matrix, _native, _provenance, _repeats
from ._composition import certificate, warn
from ._inference import Inference
from ._intake import Intake
from ._matrix import Labelled, Table, View
from ._callbacks import Callbacks
from ._model import Model, Plan, amended, config_of, handed, run_settings
from ._native import Facts, Path
from ._parameters import check, checked, parameters
from ._schema import Schema, schema_of
from ._bounds import interval
from ._weights import Weighing

Shape = Tuple[int, int]  # rows, columns
_L = TypeVar("_L", bound="Linear")


def seed_of(state: Any) -> Optional[int]:
    """The seed that a random_state means; None for None."""
    if state is None:
        return None
    return int(state if isinstance(state, numbers.Integral) else state.randint(2**31))


class Ready(NamedTuple):
    """What `fit` was given, as the library takes it.  It lives as long as `fit`."""

    X: Any  # records as they came: a matrix of numbers, or a Table
    data: Union[Table, Labelled, View]  # with labels and weights, scaled by public bounds
    table: Optional[Table]  # X, if it is one
    several: Optional[int]  # classes
    notes: list[str]  # what is unaccounted for in the labels
    words: dict[str, Any]  # names and the public scale, as `amended` takes them

    def named(self, model: Model, notes: Iterable[str] = ()) -> Model:
        """The model with the names, and the scale, that its records had."""
        notes = list(notes)
        if notes or self.words:
            model = amended(model, **self.words, unaccounted=notes)
        model._files = () if self.table is None else tuple(self.table.files)
        return model


@parameters
class Linear(Intake, Inference, Weighing, BaseEstimator):
    """What the five have in common.  Subclasses give _loss_spec, _penalty_spec and the labels.

    Parameters
    ----------
    epsilon : float
        Total privacy loss of the whole fit, everything included.  No default; infinity: no privacy at all, and said so.
    delta : float
        Probability with which the promise may fail, well below one over the number of people.  No default.
    data_norm : float, optional
        Rows with a larger Euclidean norm are shortened to it.  Public knowledge; give it or `bounds`.
    bounds : (lower, upper) or mapping, optional
        Bounds of the features.  Each side is a number, numbers in order, or a mapping or Series by the features'
        names.  Or both in one: ``{"age": (0, 100), ...}``.  Values are clipped to them and scaled to [-1, 1].  Public
        knowledge.
    estimate : str, optional
        Where nobody knows the bounds: ``"bounds:budget_fraction=0.1"`` spends that part of the budget on finding them, of every
        column, or of those that the schema leaves open.  In place of `bounds` and `data_norm`.  ``"bounds,missing,
        categories"`` finds lists of categories too, which a schema leaves open.
    fit_intercept : bool, default=True
        Whether the model has an intercept; it counts as a feature of value 1.
    solver : str, default="auto"
        "auto", or a spec such as ``"dpscd:batch=500"``; ``tacit.components("solver")`` lists them.
    errors : {"none", "model", "robust"}, default="none"
        Standard errors for the weights, from a part of the same budget: `summary`, ``bse_``, `conf_int`, ``pvalues_``,
        ``cov_params_``.  "robust": also where the variance or the mean is not as the model says.
    neighbours : {"add_remove", "replace_one"}, default="add_remove"
        What two neighbouring tables differ in: with "add_remove" the number of records is public.
    rows : {"clip", "unit"}, default="clip"
        "unit" scales every row to the norm, "clip" only those that are longer.
    ledger : Ledger or path, optional
        Every fit is charged to it before the first noise.  Without one, a private fit inside a search, a
        cross-validation or another meta-estimator is refused.
    random_state : int or RandomState, optional
        Makes the noise repeatable, for tests: the model must then stay private, and a warning says so.
    n_jobs : int, optional
        Number of threads; None or negative: all processors.
    progress : bool or callable, default=False
        True for a progress line, or a function of the fraction done.
    """

    epsilon: Optional[float] = None
    delta: Optional[float] = None
    data_norm: Optional[float] = None
    bounds: Any = None
    estimate: Optional[str] = None
    fit_intercept: bool = True
    solver: str = "auto"
    errors: str = "none"
    neighbours: str = "add_remove"
    rows: str = "clip"
    ledger: Union[_accounting.Ledger, Path, None] = None
    random_state: Any = None
    n_jobs: Optional[int] = None
    progress: Union[bool, Callable[[float], object]] = False

    _labels_kind = _native.LABELS_REAL

    # ---- what a subclass gives ----

    def _loss_spec(self, n_classes: Optional[int] = None) -> str:
        """The loss for so many classes."""
        raise NotImplementedError

    def _penalty_spec(self, rows: int, cap: float) -> str:
        raise NotImplementedError

    def _label_settings(self, intercept: bool, table: Optional[Table]) -> Facts:
        return {}

    def _count(self, n_classes: Optional[int]) -> int:
        """The classes of the label; 0: it is a number."""
        return 0

    def _label_is_open(self) -> bool:
        """Are the label's bounds estimated too?"""
        return False

    def _targets(self, X: Any, y: Any) -> Tuple[Any, Tuple[str, ...]]:
        """(the labels as the loss takes them, what is unaccounted for in them)."""
        raise NotImplementedError

    def _named(self, X: Any) -> Optional[NDArray[Any]]:
        """The classes, as they are to stand in the model; None: what was read has them, or none have names."""
        return None

    # ---- settings ----

    def _check(self) -> None:
        check(self)
        for name in ("bounds", "data_norm"):
            if self.estimate is not None and getattr(self, name) is not None:
                raise ValueError(f"{name} and estimate are two answers to one question; leave one of them out")

    def _epsilon(self) -> float:
        return math.nan if self.epsilon is None else float(self.epsilon)

    def _settings(self, rows: int, cols: int, table: Optional[Table], n_classes: Optional[int] = None) -> Facts:
        """The fields of tct_config.  Everything here is public."""
        intercept = bool(self.fit_intercept)
        return {
            "loss": self._loss_spec(n_classes),
            "classes": self._count(n_classes),
            "penalty": self._penalty_spec(rows, self._cap(table)),
            "solver": self._solver_spec(),
            "errors": self.errors,
            "epsilon": self._epsilon(),
            "delta": None if self.delta is None else float(self.delta),
            "neighbours": _native.choice("neighbours", self.neighbours, _native.NEIGHBOURS),
            "rows_rule": _native.choice("rows", self.rows, _native.ROWS_RULES),
            "row_norm": self._row_norm(cols, intercept, table),
            "intercept": int(intercept),
            "threads": 0 if self.n_jobs is None or self.n_jobs < 0 else int(self.n_jobs),
            "estimate": self.estimate,
            "input_part": int(_callers.in_many_fits()),  # a fold, or columns left out
            **run_settings(self.ledger, seed_of(self.random_state)),
            **self._label_settings(intercept, table),
        }

    def _row_norm(self, cols: int, intercept: bool, table: Optional[Table]) -> Optional[float]:
        if self.data_norm is not None:
            return math.hypot(float(self.data_norm), 1.0 if intercept else 0.0)
        if self.bounds is not None:
            return math.sqrt(cols + intercept)
        if self.estimate is not None or (table is not None and table.schema is not None):
            return None  # the library takes it from the schema, which an estimate completes
        raise ValueError(
            "neither data_norm nor bounds is given, and they are not taken from the data, for that would reveal them; "
            "give data_norm=R (rows longer than R are shortened) or bounds=(lower, upper) from public knowledge, or pay "
            'for them with estimate="bounds:budget_fraction=0.1"'
        )

    def _solver_spec(self) -> str:
        weighed = self.rows_per_person is not None or (self.weight_cap is not None and self._loss_spec() == "squared")
        if weighed and self.solver == "auto" and self.errors == "none":
            return "dpgd"  # what the rule over public facts picks need not know weights or persons
        return self.solver

    # ---- plans ----

    @checked
    def plan(self, rows: int, cols: int, n_classes: Optional[int] = None) -> Facts:
        """What `fit` will do and spend on `rows` records of `cols` features, before any data is seen.

        Parameters
        ----------
        rows, cols : int
            The public numbers of records and of features.
        n_classes : int, optional
            Number of classes, where `classes` is not given.

        A dict: solver (every option resolved), epsilon, delta, neighbours, events, noise_multiplier, memory_bytes,
        and for several classes `models` and the epsilon and delta of each.  Under `estimate` the plan is the fit's, by
        what the estimate leaves it, and `estimate` is what that promises.  Where a rule chose the loss it has `loss_why`.
        """
        self._check()
        settings = self._settings(rows, cols, None, n_classes)
        if self.estimate is None:
            return _told(Plan(settings, rows, cols).facts)
        rest, estimate = _estimate.planned(settings, rows, cols, self._label_is_open())
        return {**_told(Plan(rest, rows, cols).facts), "estimate": estimate}

    @checked
    def plan_errors(
        self,
        rows: int,
        schema: Any,
        effect: Optional[Facts] = None,
        assume: Optional[Facts] = None,
        label: Optional[str] = None,
        tries: int = 10,
    ) -> Facts:
        """Errors to expect.

        Parameters
        ----------
        rows : int
            The public number of records.
        schema : Schema or path
            What the columns may hold.
        effect : dict, optional
            Weights, by their names in `params_`, whose power is wanted; the others are 0.
        assume : dict, optional
            Of a number ``[mean, deviation]``, of a category the shares of its levels, each with R2 after it or without
            (R2: how well the other columns tell it).  Of the label the share of positives or of events, the mean of
            counts or amounts and maybe their deviation, the deviation of numbers.  Without it columns are even between their bounds.
        label : str, optional
            The label's name in `assume`, where the schema has none.
        tries : int, default 10
            Fits of the table, each with other noise; what is told are medians over them.

        A dict: tries and weights, a list with name, standard_error, standard_error_most (with 0.5 for every R2 that
        nobody says), width (of the interval of 0.95), noise_part (of the variance), withheld (a share of the fits),
        detectable (with power 0.8), effect and power.
        """
        self._check()
        known = schema_of(schema)
        beside: Any = SimpleNamespace(schema=known, weight_cap=0)  # what a table by this schema would say
        settings = self._settings(rows, 0, beside, None)
        options = _matrix.options_of(known, label, None, "none", "refuse", 0, None)
        asked = {"effect": dict(effect or {}), "assume": {k: np.ravel(v).tolist() for k, v in (assume or {}).items()}}
        text = json.dumps({**asked, "tries": tries})
        config = config_of(settings)
        return _native.call_json("tct_expect_json", ctypes.byref(config), ctypes.byref(options), rows, text.encode())

    # ---- training ----

    def fit(
        self: _L, X: Any, y: Any = None, sample_weight: Any = None, groups: Any = None, schema: Any = None, formula: Any = None
    ) -> _L:
        """Trains within epsilon and delta.

        Parameters
        ----------
        X : array, SciPy CSR or CSC, data frame, Arrow table, or Table
            Records.  A table of `tacit.read` holds its labels: then no y.
        y : array-like or str
            Labels or targets, or the name of X's column of them.
        sample_weight : array-like or str, optional
            One weight for each record, cut to [0, weight_cap]; or, beside a schema, the name of the frame's column of them.
        groups : array-like or str, optional
            Whose record each row is, or the name of the frame's column that says so; needs rows_per_person.
        schema : Schema or path, optional
            What the columns of a frame may hold: the library encodes the frame by it, and the model keeps it.
        formula : str or list, optional
            The terms, in place of the schema's: ``"y ~ a*C(g) + ns(age, 3)"``, or as `Schema.with_terms` takes them.
        """
        self._check()
        if formula is not None:
            if schema is None:
                raise ValueError("a formula has columns, and their bounds are public knowledge; give their schema too")
            schema = schema_of(schema).with_terms(formula)
        before = _provenance.look_back(self.ledger, self.epsilon != math.inf)
        ready = self._ready(X, y, sample_weight, groups, schema)
        model, privacy = self._fit(ready, before)
        self._finish(model, privacy)
        _provenance.warn(privacy, stacklevel=3)
        return self

    def _with_exposure(self, schema: Any) -> Any:
        return schema

    def _ready(self, X: Any, y: Any, sample_weight: Any = None, groups: Any = None, schema: Any = None) -> "Ready":
        """What `fit` was given, as the library takes it; the estimator gets what it says of itself after a fit."""
        schema, column = self._with_exposure(schema), self._weight_column(sample_weight)
        X, y, label, names, groups = self._take(X, y, groups, schema, column)
        beside = column[0] is not None
        seed, weights, persons = seed_of(self.random_state), *self._weigh(X, sample_weight, groups, beside)
        targets, notes = self._targets(X, y)
        table: Any = X if isinstance(X, Table) else None
        several = len(self.classes_) if hasattr(self, "classes_") else None
        kind = _native.LABELS_CLASSES if (several or 0) > 2 else self._labels_kind
        records, words = X, {"features": names, "label": label, "classes": self._named(X)}
        if self.bounds is not None and table is None:
            records, words["factor"], words["shift"] = _scaled(X, *interval(self.bounds, X.shape[1], names=self._order))
        data: Union[Table, Labelled, View] = View(records, targets, kind) if table is None else table
        if table is not None and (weights is not None or persons is not None or self.estimate or table.kind == _native.LABELS_NONE):
            own = table.kind != _native.LABELS_NONE  # its labels, as it was read
            data = Labelled(table) if own else Labelled(table, targets, kind)
        if weights is not None and not isinstance(data, Table):
            data.weigh(weights, float(self.weight_cap or 1))
        if persons is not None and not isinstance(data, Table):
            data.weigh_persons(persons, int(self.rows_per_person or 1), seed)
        return Ready(X, data, table, several, list(notes), {k: v for k, v in words.items() if v is not None})

    def _fit(self, ready: "Ready", before: Iterable[str] = ()) -> Tuple[Model, Facts]:
        """Trains: the model, and its certificate.  before: what is unaccounted for beside what the library says."""
        rows, cols = ready.X.shape
        history = _repeats.History(ready.X)
        settings = self._settings(rows, cols, ready.table, ready.several)
        callbacks = Callbacks(self.progress)
        over: Any = ready.table  # what has the schema by which the settings are completed
        if self.estimate is not None and isinstance(ready.data, Labelled):
            settings, over, cols = _estimate.spend(ready.data, settings, callbacks), ready.data, ready.data.shape[1]
        plan = Plan(settings, rows, cols, over, callbacks)
        warn(plan.facts["warnings"])
        model = plan.run(ready.data)
        notes = [*ready.notes, *before]
        if self.epsilon != math.inf:
            notes = [*notes, *history.notes]
            history.warn(stacklevel=4)
        if self.ledger is None:
            history.add(self._epsilon(), self.delta, self.random_state is not None)
        model = ready.named(model, notes)
        privacy = self._bounded(certificate(model, plan.facts))
        if self.estimate is not None:
            self.schema_ = Schema(model.json["transforms"]["schema"])
        return model, privacy

    def _bounded(self, privacy: Facts) -> Facts:
        """The same with the public bounds on weights that were given."""
        more = {name: getattr(self, name) for name in ("weight_cap", "rows_per_person")}
        privacy.update({name: value for name, value in more.items() if value is not None})
        return privacy

    def _finish(self, model: Model, privacy: Facts) -> None:
        self.model_, self.privacy_ = model, privacy
        self.coef_, self.intercept_ = model.coef_, model.intercept_  # for records as they come

    @property
    def models_(self) -> list[Model]:
        """The model; of one against the rest one for each class, whose claim is that of all."""
        return self.model_.one_by_one()

    save = handed(
        f"{__name__}.Linear",
        "model_",
        Model.save,
        "Writes the model file that the command line reads (`tacit verify`, `tacit predict`).",
    )
    report = handed(
        f"{__name__}.Linear",
        "model_",
        Model.report,
        "Writes the page for people that goes with the model file, as `tacit report` does; without a path, returns it.",
    )

    def _more_tags(self) -> dict[str, Any]:
        return {"requires_y": True}

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.target_tags.required = True
        return tags


def _told(plan: Facts) -> Facts:
    """A plan's facts; of a fit for each class also the events of one."""
    return {**plan, "each": {**plan["each"], "events": plan["fits"][0]["events"]}} if "each" in plan else plan


def _scaled(X: Any, lower: NDArray[Any], upper: NDArray[Any]) -> Tuple[Any, NDArray[Any], NDArray[Any]]:
    """(X clipped to public bounds and scaled to [-1, 1], factor, shift): the one copy that bounds cost.  Sparse stays
    sparse, and is clipped to bounds that are as far below 0 as above it."""
    if sparse.issparse(X):
        reach, scaled = np.maximum(np.abs(lower), np.abs(upper)), X.astype(np.float64)
        scaled.sum_duplicates()
        column = scaled.indices if X.format == "csr" else np.repeat(np.arange(X.shape[1]), np.diff(scaled.indptr))
        np.clip(scaled.data, -reach[column], reach[column], out=scaled.data)
        scaled.data /= reach[column]
        return scaled, 1 / reach, np.zeros_like(reach)
    factor, shift = 2 / (upper - lower), lower / 2 + upper / 2
    scaled = np.clip(X, lower, upper, dtype=np.float64)
    scaled -= shift
    scaled *= factor  # in place: one copy, not two
    return scaled, factor, shift
