"""Estimators with scikit-learn's conventions over the library's plan and fit."""

import functools
import json
import math
import numbers
import os
import warnings

import numpy as np
from scipy import sparse
from scipy.special import expit
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin
from sklearn.utils import check_array, check_random_state
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, column_or_1d

from . import _accounting, _arrow, _callers, _guards, _native, _provenance, _repeats
from ._matrix import Table, View
from ._model import Callbacks, Plan
from ._schema import interval

try:
    from sklearn.utils.validation import validate_data as _validate_data

    _FINITE = "ensure_all_finite"
except ImportError:  # scikit-learn before 1.6 has it as a method
    _FINITE = "force_all_finite"

    def _validate_data(estimator, X, **options):
        return estimator._validate_data(X, **options)


_NOTE_CLASSES = "the classes were read from the labels of the data"
_COMPOSE_STEPS = 12  # plans tried for several classes; four are enough where the cost is a power
_COMPOSE_SLACK = 3e-3  # part of epsilon that may be left over
_SEED_STEP = 0x9E3779B97F4A7C15  # 2^64 over the golden ratio: neighbouring seeds stay apart
_NO_EPSILON = "{} is not given and has no default: it is your promise to the people in the data; give e.g. {}"


def _copies(events, count):
    return [event for _ in range(count) for event in events]


def _seed_of(state):
    """The seed that a random_state means; None for None."""
    if state is None:
        return None
    return int(state if isinstance(state, numbers.Integral) else check_random_state(state).randint(2**31)) % 2**64


class _Linear(BaseEstimator):
    """What the five have in common.  Subclasses give _loss_spec, _penalty_spec and the labels."""

    _labels_kind = _native.LABELS_REAL

    # ---- settings ----

    def _check(self):
        for name, example in (("epsilon", "epsilon=1.0"), ("delta", "delta=1e-6")):
            value = getattr(self, name)
            if value is None and not (name == "delta" and self.epsilon == math.inf):
                raise ValueError(_NO_EPSILON.format(name, example))

    def _settings(self, rows, cols, table):
        """The fields of tct_config.  Everything here is public."""
        intercept = bool(self.fit_intercept)
        settings = {
            "loss": self._loss_spec(),
            "penalty": self._penalty_spec(rows, self._cap()),
            "solver": self._solver_spec(),
            "epsilon": float(self.epsilon),
            "delta": None if self.delta is None else float(self.delta),
            "neighbours": _native.choice("neighbours", self.neighbours, _native.NEIGHBOURS),
            "rows_rule": _native.choice("rows", self.rows, _native.ROWS_RULES),
            "row_norm": self._row_norm(cols, intercept, table),
            "intercept": int(intercept),
            "threads": 0 if self.n_jobs is None or self.n_jobs < 0 else int(self.n_jobs),
            "ledger": None if self.ledger is None else os.fspath(self.ledger),
            "input_changed": getattr(self.ledger, "input_changed", None),
            "input_part": int(_callers.in_many_fits()),  # a fold, or columns left out
        }
        if self.random_state is not None:
            settings["has_seed"], settings["seed"] = 1, _seed_of(self.random_state)
        settings.update(self._label_settings(intercept, table))
        return settings

    def _row_norm(self, cols, intercept, table):
        if self.data_norm is not None:
            if not self.data_norm > 0:
                raise ValueError("data_norm must be above 0; give the largest norm that a row is to have")
            return math.hypot(float(self.data_norm), 1.0 if intercept else 0.0)
        if self.bounds is not None:
            return math.sqrt(cols + intercept)
        if table is not None and table.schema is not None:
            return None  # the library takes it from the schema
        raise ValueError(
            "neither data_norm nor bounds is given, and they are not taken from the data, for that would reveal them; "
            "give data_norm=R (rows longer than R are shortened) or bounds=(lower, upper) from public knowledge"
        )

    def _label_settings(self, intercept, table):
        return {}

    def _solver_spec(self):
        if self.solver != "auto":
            return self.solver
        if self.rows_per_person is not None or (self.weight_cap is not None and self._loss_spec() == "squared"):
            return "dpgd"  # what the rule over public facts picks need not know weights or persons
        return _automatic(self._loss_spec(), self._penalty_spec(1, 1.0))

    # ---- weights and persons ----

    def _cap(self):
        """What the weights of a record, or of a person's records together, add up to at most."""
        cap, count = self.weight_cap, self.rows_per_person
        if cap is not None and not 0 < cap < math.inf:
            raise ValueError("weight_cap must be above 0 and finite; give the largest weight that is to count")
        if count is not None and not (isinstance(count, numbers.Integral) and count >= 1):
            raise ValueError("rows_per_person must be a whole number of at least 1; give e.g. rows_per_person=4")
        return (1.0 if cap is None else float(cap)) * (1 if count is None else int(count))

    def _weigh(self, X, sample_weight, groups):
        if isinstance(X, Table) and not (sample_weight is None and groups is None):
            raise ValueError("records of tacit.read are not weighed; give an array or a data frame")
        return self._weights(X.shape[0], sample_weight, groups)

    def _weights(self, rows, sample_weight, groups):
        """(weights, persons) for the library, or None where every record counts once.

        Every function here is of one record, or of one person's records and random keys of their own: which rows of a
        person count does not depend on anybody else."""
        for value, setting, name, example in (
            (sample_weight, self.weight_cap, "sample_weight", "weight_cap=2.0, the largest weight that counts"),
            (groups, self.rows_per_person, "groups", "rows_per_person=4, the most rows that count of one person"),
        ):
            if value is not None and setting is None:
                raise ValueError(f"{name} needs a public bound that has no default; give e.g. {example}")
        if groups is None and self.rows_per_person is not None:
            raise ValueError("rows_per_person is given, but not whose rows they are; give fit(..., groups=persons)")
        if self.weight_cap is None and groups is None:
            return None
        weights = np.ones(rows) if sample_weight is None else _guards.weights(sample_weight, rows)
        if groups is None:
            return weights, None
        persons = _guards.persons(groups, rows)
        # Of each person rows_per_person rows at most, drawn by random keys.
        keys = np.random.default_rng(_seed_of(self.random_state)).random(rows)
        order = np.lexsort((keys, persons))
        first = np.r_[True, persons[order][1:] != persons[order][:-1]]
        start = np.maximum.accumulate(np.where(first, np.arange(rows), 0))
        counts = np.empty(rows, dtype=bool)
        counts[order] = np.arange(rows) - start < self.rows_per_person
        if self.weight_cap is not None:
            weights = np.where(np.isnan(weights), weights, np.clip(weights, 0, self.weight_cap))
        return np.where(counts, weights, 0.0), persons

    # ---- plans ----

    def _plans(self, settings, rows, cols, count, table=None):
        """(settings of each fit, facts of the plan, what `count` fits cost together)."""
        facts = Plan(settings, rows, cols, table).facts
        if count == 1 or not facts["private"]:
            return settings, facts, None
        whole = [w for w in facts["warnings"] if w["weakens"]]  # the promise is that of all fits together
        settings, facts, together = _compose(settings, rows, cols, count, table)
        each = [w for w in facts["warnings"] if not w["weakens"]]
        return settings, {**facts, "warnings": whole + each}, together

    def plan(self, rows, cols, n_classes=None):
        """What `fit` will do and spend on `rows` records of `cols` features, before any data is seen.

        A dict: solver (every option resolved), epsilon, delta, neighbours, events, noise_multiplier, memory_bytes,
        and for several classes `models` and the epsilon and delta of each.  n_classes: where `classes` is not given.
        """
        self._check()
        count = self._models_for(n_classes)
        settings, facts, together = self._plans(self._settings(rows, cols, None), rows, cols, count)
        if count > 1 and together:
            each = {"epsilon": facts["epsilon"], "delta": facts["delta"], "events": facts["events"]}
            facts = {**facts, **together, "models": count, "each": each}
        return facts

    def _models_for(self, n_classes):
        return 1

    # ---- training ----

    def _fit(self, X, targets, names, notes=(), label=None, weights=None):
        """Trains one model for each row of targets: a list of Model, and the certificate of all of them.  notes: what is
        unaccounted for beside what the library says."""
        table = X if isinstance(X, Table) else None
        rows, cols = X.shape
        history = _repeats.History(X)
        settings = self._settings(rows, cols, table)
        together = None
        if len(targets) > 1:
            settings, facts, together = self._plans(settings, rows, cols, len(targets), table)
            _warn(facts["warnings"])
        scale = {}
        if self.bounds is not None and table is None:
            X, scale["factor"], scale["shift"] = _scaled(X, *interval(self.bounds, cols))
        charge = None
        if together and self.ledger is not None:
            charge = _accounting.Ledger(self.ledger).charge(
                together["events"],
                epsilon=float(self.epsilon),
                delta=float(self.delta),
                neighbours=self.neighbours,
                unit="person" if self.rows_per_person is not None else "record",
                seeded=self.random_state is not None,
                unaccounted=notes,
            )
            settings = {**settings, "ledger": None}
        models = []
        for k, target in enumerate(targets):
            callbacks = Callbacks(self.progress, k / len(targets), 1 / len(targets))
            seed = (settings.get("seed", 0) + k * _SEED_STEP) % 2**64  # other noise for each class
            plan = Plan({**settings, "seed": seed}, rows, cols, table, callbacks)
            if len(targets) == 1:
                _warn(plan.facts["warnings"])
            data = table if table is not None else View(X, target, self._labels_kind)
            if weights is not None:
                data.weigh(weights[0], self._cap(), weights[1])
            models.append(callbacks.run(plan, data))
        if self.epsilon != math.inf:
            notes = [*notes, *history.notes]
            history.warn(stacklevel=4)
        if self.ledger is None:
            history.add(float(self.epsilon), self.delta, self.random_state is not None)
        if names is not None or notes or scale or label is not None:
            models = [m.amended(features=names, unaccounted=notes, label=label, **scale) for m in models]
        privacy = _certificate(models, together, charge)
        for name in ("weight_cap", "rows_per_person"):
            if getattr(self, name) is not None:
                privacy[name] = getattr(self, name)
        return models, privacy

    def _finish(self, models, privacy):
        self.models_ = models
        self.privacy_ = privacy
        if not _repeats.is_composed():
            _provenance.warn(privacy, stacklevel=4)

    def _take(self, X, y):
        """X and y as `fit` takes them: (X, y, the label's name, feature names or None)."""
        label = getattr(y, "name", None)
        if isinstance(X, Table):
            if y is not None:
                raise ValueError("a table read by tacit.read holds its labels; leave y out")
            names = X.feature_names
            self.n_features_in_, self.feature_names_in_ = X.shape[1], np.array(names, dtype=object)
            return X, X.y, None, None
        X, y, arrow = _from_arrow(X, y)
        if isinstance(y, str):
            if not hasattr(X, "columns") or y not in X.columns:
                raise ValueError("y names a column, but X has no column of that name; give a frame that has it")
            X, y, label = X[[name for name in X.columns if name != y]], X[y], y
        arrow = X.columns if arrow else None
        X = X.matrix() if arrow is not None else X
        if y is None:
            raise ValueError(
                f"This {type(self).__name__} estimator requires y to be passed, but the target y is None"
            )
        own = {_FINITE: self.bounds is not None}  # else the library looks, and one pass over the records is enough
        X = self._numbers(X, **own)
        y = _guards.without_values(lambda: column_or_1d(y, warn=True), y, "y")
        if y.shape[0] != X.shape[0]:
            raise ValueError("X and y have inconsistent numbers of samples; give one label for each row")
        if arrow is not None:
            self.feature_names_in_ = np.array(arrow, dtype=object)
        names = getattr(self, "feature_names_in_", None)
        return X, y, label if isinstance(label, str) else None, names

    def _numbers(self, X, **options):
        """Records as a matrix of numbers; an error names a column and shows no value."""
        options = {"accept_sparse": ["csr", "csc"], "accept_large_sparse": True, **options}
        kinds = [np.float64, np.float32]
        return _guards.without_values(lambda: _validate_data(self, X, dtype=kinds, **options), X)

    def _in_order(self, X):
        """An Arrow table as a matrix, its columns in the order of training; the label's may be there too."""
        names = list(getattr(self, "feature_names_in_", X.columns))
        if not set(names) <= set(X.columns):
            raise ValueError("the table lacks a column that was there in fit; give the same columns")
        return X[names].matrix()

    def _margins(self, X):
        """x.w + intercept by every model, [rows, models]."""
        check_is_fitted(self, "models_")
        if not isinstance(X, Table):
            X, _, arrow = _from_arrow(X, None)
            if arrow:
                matrix = self._in_order(X)
                X = _guards.without_values(lambda: check_array(matrix, dtype=[np.float64, np.float32]), matrix)
            else:
                X = self._numbers(X, reset=False)
            X = View(X)
        return np.column_stack([model.predict(X) for model in self.models_])

    def save(self, path):
        """Writes the model file that the command line reads (`tacit verify`, `tacit predict`)."""
        check_is_fitted(self, "models_")
        if len(self.models_) > 1:
            raise ValueError("one model file holds one model, and there is one for each class; save models_[k] each")
        self.models_[0].save(path)

    def report(self, path=None):
        """Writes the page for people that goes with the model file, as `tacit report` does; without a path, returns it."""
        check_is_fitted(self, "models_")
        if len(self.models_) > 1:
            raise ValueError("one page is about one model, and there is one for each class; report models_[k] each")
        return self.models_[0].report(path)

    def _more_tags(self):
        return {"requires_y": True}

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.target_tags.required = True
        return tags


def _from_arrow(X, y):
    """(X, y, whether X came through the Arrow interface): tables become frames, columns arrays."""
    if _arrow.is_arrow(y):
        columns = _arrow.frame(y)
        if len(columns.columns) != 1:
            raise ValueError("y is a table of more than one column; give the label's column alone, or its name")
        y = columns[columns.columns[0]]
    if isinstance(X, _arrow.Frame) or _arrow.is_arrow(X):
        return _arrow.frame(X), y, True
    return X, y, False


@functools.lru_cache(maxsize=None)
def _solvers():
    """(names of the solvers, whether the library chooses one itself)."""
    names = frozenset(entry["name"] for entry in _native.components("solver"))
    settings = {"loss": "logistic", "penalty": "l2:lambda=0.1", "epsilon": 1.0, "delta": 1e-5, "row_norm": 1.0}
    try:
        Plan(settings, 100, 2)
    except ValueError:
        return names, "auto" in names
    return names, True


def _automatic(loss, penalty):
    """The library's own choice where it has one, else a fixed solver that knows the loss and the penalty."""
    solvers, chooses = _solvers()
    if chooses:
        return "auto" if "auto" in solvers else None
    kind = penalty.partition(":")[0]
    if kind in ("l1", "elastic"):
        return "dpcd" if "dpcd" in solvers else "dpsgd"
    if loss == "squared":
        return "adassp" if "adassp" in solvers else "dpscd"
    return "objpert" if loss.partition(":")[0] in ("logistic", "smoothed_hinge", "huber") else "dpscd"


def _scaled(X, lower, upper):
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


def _price_of(events, delta, neighbours):
    """What the accountants prove for a list; epsilon infinite where none of them knows it."""
    try:
        cost = _accounting.account(events, delta, neighbours=neighbours)
    except (ValueError, _native.BudgetError):
        return {"epsilon": math.inf, "accountant": None}
    return {**cost, "epsilon": math.inf} if cost["epsilon"] is None else cost


def _within_budget(cost_at, epsilon, low, high):
    """(each, facts, cost): the largest epsilon of a single fit, between low and high, at which all together cost at most
    epsilon; None where the accountants give no price.  cost_at(each) is (facts, cost)."""
    # The cost grows nearly as a power of the single epsilon: secants in logarithms, kept in a bracket.
    low, high, best = math.log(low), math.log(high), None
    at, aim, slope, last = low, math.log(epsilon) + math.log1p(-1e-3), 1.0, None
    for _ in range(_COMPOSE_STEPS):
        facts, cost = cost_at(math.exp(at))
        if cost["epsilon"] == math.inf:
            break
        level = math.log(cost["epsilon"])
        if cost["epsilon"] <= epsilon:
            low, best = at, (math.exp(at), facts, cost)
            if level > math.log(epsilon) - _COMPOSE_SLACK:
                break
        else:
            high = at
        if last and at != last[0] and level != last[1]:
            slope = (level - last[1]) / (at - last[0])
        last = at, level
        at = at + (aim - level) / slope
        if not low < at < high:
            at = (low + high) / 2
    return best


def _compose(settings, rows, cols, count, table):
    """One epsilon for each of `count` fits on the same people, such that all together cost the whole.

    The events of all fits go through the accountants as one list; the largest epsilon of a single fit is found by
    bisection.  Where no accountant knows the list, plain division of epsilon and delta."""
    epsilon, delta = settings["epsilon"], settings["delta"]
    neighbours = {v: k for k, v in _native.NEIGHBOURS.items()}[settings["neighbours"]]

    def cost_at(each):
        facts = Plan({**settings, "epsilon": each}, rows, cols, table).facts
        return facts, _price_of(_copies(facts["events"], count), delta, neighbours)

    best = _within_budget(cost_at, epsilon, epsilon / count, epsilon)
    if best:
        each, facts, cost = best
        events = _copies(facts["events"], count)
        together = {"events": events, "accountant": cost["accountant"], "epsilon": epsilon, "delta": delta}
        together["fits"] = _copied_fits(facts, count)
        return {**settings, "epsilon": each}, facts, together
    each, part = epsilon / count * (1 - 1e-12), delta / count * (1 - 1e-12)
    settings = {**settings, "epsilon": each, "delta": part}
    facts = Plan(settings, rows, cols, table).facts
    events = _copies([f"approx:epsilon={each!r},delta={part!r}"], count)
    together = {"events": events, "accountant": "basic", "epsilon": epsilon, "delta": delta}
    return settings, facts, {**together, "fits": _copied_fits(facts, count)}


def _warn(cautions, stacklevel=4):
    """One warning for each caution of a plan, at the line that called fit.  What a promise says is, within a composition,
    the composition's to warn of."""
    for caution in cautions:
        if caution["weakens"] and _repeats.is_composed():
            continue
        category = _native.PrivacyWarning if caution["weakens"] else _native.UtilityWarning
        warnings.warn(caution["text"], category, stacklevel=stacklevel)


def _copied_fits(facts, count):
    return [{**fit, "count": count * fit["count"]} for fit in facts["fits"]]


def _certificate(models, together, charge):
    privacy = json.loads(json.dumps(models[0].privacy))
    privacy["unaccounted"] = _provenance.merged(*(model.privacy["unaccounted"] for model in models))
    if together is None:
        return privacy
    privacy.update(together)
    privacy["models"] = len(models)
    privacy["each"] = {key: models[0].privacy[key] for key in ("epsilon", "delta", "events")}
    if charge:
        privacy["ledger"] = {key: charge[key] for key in ("head", "run", "for_tests") if key in charge}
    return privacy


def _classes_of(y):
    """(the classes that the labels show, the index of each label)."""
    check_classification_targets(y)
    return np.unique(y, return_inverse=True)


class _Classifier(ClassifierMixin, _Linear):
    _labels_kind = _native.LABELS_BINARY

    def _penalty_spec(self, rows, cap):
        if not self.C > 0:
            raise ValueError("C must be above 0; give e.g. C=1.0")
        return "none" if self.C == math.inf else f"l2:lambda={1 / (self.C * rows * cap)!r}"

    def _models_for(self, n_classes):
        count = n_classes if n_classes is not None else 2 if self.classes is None else len(np.unique(self.classes))
        return count if count > 2 else 1

    def _classes(self, y):
        """(classes, notes, index of each label): the public list, or what the labels show, and then said so."""
        if self.classes is None:
            classes, codes = _guards.without_values(lambda: _classes_of(y), y, "y")
            notes = () if self.epsilon == math.inf else (_NOTE_CLASSES,)
        else:
            classes, notes = np.unique(np.asarray(self.classes)), ()
            if len(classes) == 2 and classes.dtype.kind in "iuf" and y.dtype.kind in "iuf":
                second = y == classes[1]
                whole = classes.dtype.kind != "f" or np.all(classes == np.trunc(classes))  # what y is a part of
                if whole and np.all(second | (y == classes[0])):
                    return classes, notes, second.view(np.int8)
            _guards.without_values(lambda: check_classification_targets(y), y, "y")
            codes = np.searchsorted(classes, y) if classes.dtype.kind == np.asarray(y).dtype.kind else None
            if codes is None:
                place = {value: k for k, value in enumerate(classes.tolist())}
                codes = np.array([place.get(value, -1) for value in np.asarray(y).tolist()])
            codes = np.where((codes >= 0) & (codes < len(classes)), codes, 0)
            if not np.all(classes[codes] == y):
                raise ValueError("a label is not among the classes given; list all classes, or correct the label")
        if len(classes) < 2:
            raise ValueError("a classifier needs at least two classes, and there is one class; give classes=[...]")
        return classes, notes, codes

    def fit(self, X, y=None, sample_weight=None, groups=None):
        """Trains.  X: array, SciPy CSR/CSC, data frame, Arrow table, or a table of `tacit.read` (then no y); y: labels,
        or the name of X's label column; sample_weight: cut to [0, weight_cap]; groups: whose record each row is."""
        self._check()
        before = _provenance.look_back(self.ledger, self.epsilon != math.inf)
        X, y, label, names = self._take(X, y)
        weights = self._weigh(X, sample_weight, groups)
        if isinstance(X, Table):
            if X.kind != _native.LABELS_BINARY:
                raise ValueError("the table was read with other labels; read it with labels='binary'")
            self.classes_, targets, notes = np.array([-1, 1]), [y], ()
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

    def decision_function(self, X):
        """Signed distance to each class's boundary; rows longer than the public norm are shortened as in training."""
        margins = self._margins(X)
        return margins[:, 0] if margins.shape[1] == 1 else margins

    def predict(self, X):
        margins = self.decision_function(X)
        return self.classes_[(margins > 0).astype(int) if margins.ndim == 1 else margins.argmax(axis=1)]

    def score(self, X, y=None, sample_weight=None):
        """Mean accuracy, exact: not private, for data that you may look at."""
        y = X.y if y is None and isinstance(X, Table) else y
        return _guards.without_values(lambda: super(_Classifier, self).score(X, y, sample_weight), y, "y")


class PrivateLogisticRegression(_Classifier):
    """Logistic regression under (epsilon, delta)-differential privacy.

    epsilon, delta: the total privacy loss of the whole fit, everything included.  No default.
    data_norm: rows with a larger Euclidean norm are shortened to it; or
    bounds: (lower, upper) of the features, which are clipped to them and scaled to [-1, 1].  Public knowledge, no default.
    classes: all labels that can occur, public knowledge.  None: read from the data, and said so in `privacy_`.
    neighbours: "add_remove" (n is public) or "replace_one".
    C: inverse strength of the ridge penalty, as in scikit-learn; the penalty covers the intercept.
    solver: "auto", or a spec such as "dpscd:batch=500" (`tacit.components("solver")`).
    ledger: a `tacit.Ledger` or its path; every fit is charged to it before the first noise.  Without one, a private fit
    inside a search, a cross-validation or another meta-estimator is refused.
    random_state: makes the noise repeatable, for tests: the model must then stay private, and a warning says so.
    rows: "clip", or "unit" to scale every row to the norm.  progress: True, or a function of the fraction done.
    weight_cap: for fit(..., sample_weight=w): weights, none negative, are cut to weight_cap; a weight of the cap costs what a record
    costs without weights, lighter ones are heard less.
    rows_per_person: for fit(..., groups=g): of each person at most so many rows count, drawn at random, and the unit of
    privacy is the person: all of their rows together move no sum further than one record may.

    More than two classes: one model against the rest for each, all of them together within epsilon.
    After fit, `privacy_` is the certificate.  Its list `unaccounted` names what read the records besides and is not within
    epsilon: steps of a pipeline before the estimator, a drafted schema, earlier fits on the same records without a ledger.
    """

    def __init__(
        self,
        *,
        epsilon=None,
        delta=None,
        data_norm=None,
        bounds=None,
        classes=None,
        C=1.0,
        fit_intercept=True,
        solver="auto",
        neighbours="add_remove",
        rows="clip",
        weight_cap=None,
        rows_per_person=None,
        ledger=None,
        random_state=None,
        n_jobs=None,
        progress=False,
    ):
        self.epsilon = epsilon
        self.delta = delta
        self.data_norm = data_norm
        self.bounds = bounds
        self.classes = classes
        self.C = C
        self.fit_intercept = fit_intercept
        self.solver = solver
        self.neighbours = neighbours
        self.rows = rows
        self.weight_cap = weight_cap
        self.rows_per_person = rows_per_person
        self.ledger = ledger
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.progress = progress

    def _loss_spec(self):
        return "logistic"

    def predict_proba(self, X):
        """Probability of each class; one against the rest: the logistic values, normalised."""
        margins = self._margins(X)
        if margins.shape[1] == 1:
            p = expit(margins[:, 0])
            return np.column_stack([1 - p, p])
        p = expit(margins)
        total = p.sum(axis=1, keepdims=True)
        return np.where(total > 0, p / np.where(total > 0, total, 1), 1 / p.shape[1])

    def predict_log_proba(self, X):
        return np.log(self.predict_proba(X))


class PrivateLinearSVC(_Classifier):
    """Linear support vector classification under (epsilon, delta)-differential privacy.

    loss: "hinge", or "smoothed_hinge:width=0.5" for a rounded corner.  All else as in `PrivateLogisticRegression`.
    """

    def __init__(
        self,
        *,
        epsilon=None,
        delta=None,
        data_norm=None,
        bounds=None,
        classes=None,
        C=1.0,
        loss="hinge",
        fit_intercept=True,
        solver="auto",
        neighbours="add_remove",
        rows="clip",
        weight_cap=None,
        rows_per_person=None,
        ledger=None,
        random_state=None,
        n_jobs=None,
        progress=False,
    ):
        self.epsilon = epsilon
        self.delta = delta
        self.data_norm = data_norm
        self.bounds = bounds
        self.classes = classes
        self.C = C
        self.loss = loss
        self.fit_intercept = fit_intercept
        self.solver = solver
        self.neighbours = neighbours
        self.rows = rows
        self.weight_cap = weight_cap
        self.rows_per_person = rows_per_person
        self.ledger = ledger
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.progress = progress

    def _loss_spec(self):
        return self.loss


class _Regressor(RegressorMixin, _Linear):
    def _loss_spec(self):
        return "squared"

    def _label_settings(self, intercept, table):
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

    def fit(self, X, y=None, sample_weight=None, groups=None):
        """Trains.  X: array, SciPy CSR/CSC, data frame, Arrow table, or a table of `tacit.read` (then no y); y:
        targets, or the name of X's target column; sample_weight: cut to [0, weight_cap]; groups: whose record each row
        is."""
        self._check()
        before = _provenance.look_back(self.ledger, self.epsilon != math.inf)
        X, y, label, names = self._take(X, y)
        weights = self._weigh(X, sample_weight, groups)
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

    def predict(self, X):
        """The predicted target; rows longer than the public norm are shortened as in training."""
        return self._margins(X)[:, 0]

    def score(self, X, y=None, sample_weight=None):
        """R squared, exact: not private, for data that you may look at."""
        y = X.y if y is None and isinstance(X, Table) else y
        return _guards.without_values(lambda: super(_Regressor, self).score(X, y, sample_weight), y, "y")


class PrivateRidge(_Regressor):
    """Ridge regression under (epsilon, delta)-differential privacy.

    label_bounds: (lower, upper) of the target, public knowledge; targets are clipped to it.
    alpha: strength of the penalty, as in scikit-learn's Ridge; it covers the intercept.
    All else as in `PrivateLogisticRegression`.
    """

    def __init__(
        self,
        *,
        epsilon=None,
        delta=None,
        data_norm=None,
        bounds=None,
        label_bounds=None,
        alpha=1.0,
        fit_intercept=True,
        solver="auto",
        neighbours="add_remove",
        rows="clip",
        weight_cap=None,
        rows_per_person=None,
        ledger=None,
        random_state=None,
        n_jobs=None,
        progress=False,
    ):
        self.epsilon = epsilon
        self.delta = delta
        self.data_norm = data_norm
        self.bounds = bounds
        self.label_bounds = label_bounds
        self.alpha = alpha
        self.fit_intercept = fit_intercept
        self.solver = solver
        self.neighbours = neighbours
        self.rows = rows
        self.weight_cap = weight_cap
        self.rows_per_person = rows_per_person
        self.ledger = ledger
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.progress = progress

    def _penalty_spec(self, rows, cap):
        if not self.alpha >= 0:
            raise ValueError("alpha must not be negative; give e.g. alpha=1.0")
        return f"l2:lambda={self.alpha / (rows * cap)!r}" if self.alpha > 0 else "none"


class PrivateLasso(_Regressor):
    """Lasso under (epsilon, delta)-differential privacy.

    alpha: strength of the penalty, as in scikit-learn's Lasso.  All else as in `PrivateRidge`.
    """

    def __init__(
        self,
        *,
        epsilon=None,
        delta=None,
        data_norm=None,
        bounds=None,
        label_bounds=None,
        alpha=1.0,
        fit_intercept=True,
        solver="auto",
        neighbours="add_remove",
        rows="clip",
        weight_cap=None,
        rows_per_person=None,
        ledger=None,
        random_state=None,
        n_jobs=None,
        progress=False,
    ):
        self.epsilon = epsilon
        self.delta = delta
        self.data_norm = data_norm
        self.bounds = bounds
        self.label_bounds = label_bounds
        self.alpha = alpha
        self.fit_intercept = fit_intercept
        self.solver = solver
        self.neighbours = neighbours
        self.rows = rows
        self.weight_cap = weight_cap
        self.rows_per_person = rows_per_person
        self.ledger = ledger
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.progress = progress

    def _penalty_spec(self, rows, cap):
        if not self.alpha >= 0:
            raise ValueError("alpha must not be negative; give e.g. alpha=0.01")
        return f"l1:lambda={self.alpha / cap!r}"


class PrivateElasticNet(_Regressor):
    """Elastic net under (epsilon, delta)-differential privacy.

    alpha, l1_ratio: as in scikit-learn's ElasticNet.  All else as in `PrivateRidge`.
    """

    def __init__(
        self,
        *,
        epsilon=None,
        delta=None,
        data_norm=None,
        bounds=None,
        label_bounds=None,
        alpha=1.0,
        l1_ratio=0.5,
        fit_intercept=True,
        solver="auto",
        neighbours="add_remove",
        rows="clip",
        weight_cap=None,
        rows_per_person=None,
        ledger=None,
        random_state=None,
        n_jobs=None,
        progress=False,
    ):
        self.epsilon = epsilon
        self.delta = delta
        self.data_norm = data_norm
        self.bounds = bounds
        self.label_bounds = label_bounds
        self.alpha = alpha
        self.l1_ratio = l1_ratio
        self.fit_intercept = fit_intercept
        self.solver = solver
        self.neighbours = neighbours
        self.rows = rows
        self.weight_cap = weight_cap
        self.rows_per_person = rows_per_person
        self.ledger = ledger
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.progress = progress

    def _penalty_spec(self, rows, cap):
        if not (self.alpha >= 0 and 0 <= self.l1_ratio <= 1):
            raise ValueError("alpha must not be negative and l1_ratio must lie in [0, 1]; correct them")
        return f"elastic:l1={self.alpha * self.l1_ratio / cap!r},l2={self.alpha * (1 - self.l1_ratio) / cap!r}"
