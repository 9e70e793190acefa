"""Choosing settings under privacy, at the price of every model that was trained for it and of the choice."""

from __future__ import annotations

import ctypes
import math
import warnings
from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple, Optional, Tuple, TypeVar, cast

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, MetaEstimatorMixin, clone, is_classifier
from sklearn.model_selection import ParameterGrid
from sklearn.utils import _safe_indexing
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted, column_or_1d

from . import _accounting, _guards, _native, _provenance, _repeats
from ._base import Shape, seed_of
from ._composition import SEED_STEP, Composition, warn
from ._frames import Coded, coded
from ._labels import coded_places
from ._matrix import Labelled, Records, Table, View
from ._model import Plan, config_of
from ._native import Facts, Path
from ._parameters import check, checked
from ._schema import Schema, schema_of
from ._views import Certificate
from ._weights import drawn

_F = TypeVar("_F", bound=Callable[..., Any])

_WHOLE = {"epsilon", "delta", "ledger", "random_state", "neighbours", "rows_per_person"}  # one for all candidates
_GRAIN = 1 << 20  # a record's part of a regression's score is a whole number of 0 to this


def _where(check: Callable[[Any], bool]) -> Callable[[_F], _F]:
    """scikit-learn's available_if, with its type said."""
    return cast("Callable[[_F], _F]", available_if(check))


def choose(scores: Sequence[float], change: float, epsilon: float, seed: Optional[int] = None) -> int:
    """Index j with probability proportional to exp(epsilon*scores[j]/(2*change)), exactly.  Scores are whole numbers that
    one record moves by at most change; the cost is the event exponential:epsilon."""
    each = (ctypes.c_double * len(scores))(*(float(score) for score in scores))
    index = ctypes.c_int64(-1)
    key = None if seed is None else ctypes.byref(ctypes.c_uint64(seed))
    _native.call("tct_choose", each, len(scores), float(change), float(epsilon), key, ctypes.byref(index))
    return index.value


def draw_tries(mean: int, seed: Optional[int] = None) -> int:
    """How many tries a search makes: geometric with this mean, exactly, and secret."""
    tries = ctypes.c_int64(0)
    key = None if seed is None else ctypes.byref(ctypes.c_uint64(seed))
    _native.call("tct_draw_tries", int(mean), key, ctypes.byref(tries))
    return tries.value


def _split_mix(seed: int) -> int:
    """The library's next 64 bits of a public sequence."""
    mixed = (seed + SEED_STEP) % 2**64
    mixed = (mixed ^ (mixed >> 30)) * 0xBF58476D1CE4E5B9 % 2**64
    mixed = (mixed ^ (mixed >> 27)) * 0x94D049BB133111EB % 2**64
    return mixed ^ (mixed >> 31)


def _part(X: Any, places: NDArray[Any]) -> Any:
    """These records of an array or a frame."""
    if hasattr(X, "iloc") or isinstance(X, np.ndarray) or not hasattr(X, "__arrow_c_stream__"):
        return _safe_indexing(X, places)
    return X.take(places) if hasattr(X, "take") else X[places]  # pyarrow, polars


def _public_split(rows: int, test_size: float) -> Tuple[NDArray[Any], NDArray[Any]]:
    """(training rows, validation rows): a function of the two numbers and of nothing else, the library's."""
    held = np.zeros(rows, dtype=np.uint8)
    if _native.lib.tct_search_split(rows, float(test_size), held.ctypes.data) < 0:
        raise ValueError("a search trains on some records and scores on others; give two records or more")
    return np.flatnonzero(held == 0), np.flatnonzero(held)


class _Part(NamedTuple):
    """Records that candidates are trained on, or scored on.  They live as long as `fit`, and the search keeps none."""

    X: Any
    y: Any  # labels, or the name of the column that holds them
    schema: Optional[Schema]
    persons: Optional[NDArray[Any]]  # whose the records are, by numbers from 0; None: every record is a person's own
    column: Optional[str]  # that says so in a frame

    def at(self, rows: NDArray[Any]) -> "_Part":
        named = self.y is None or isinstance(self.y, str)
        persons = None if self.persons is None else np.unique(self.persons[rows], return_inverse=True)[1]
        return self._replace(X=_part(self.X, rows), y=self.y if named else _safe_indexing(self.y, rows), persons=persons)

    def fitted(self, model: Any) -> Any:
        more: Facts = {} if self.schema is None else {"schema": self.schema}
        if self.persons is not None:
            more["groups"] = self.persons if self.column is None else self.column
        return model.fit(self.X, self.y, **more)

    def drawn(self, model: Any, seed: Optional[int]) -> Optional[NDArray[Any]]:
        """Which records count: at most rows_per_person of each person; None: all."""
        return None if self.persons is None else drawn(self.persons, int(model.rows_per_person), seed)


class PrivateSearchCV(MetaEstimatorMixin, BaseEstimator):
    """Chooses among settings under (epsilon, delta)-differential privacy, and keeps the model that it chose.

    Trains one model for each point of the grid on a public part of the records, then makes one choice by the exponential
    mechanism on the others.  A candidate's score is its number of right predictions, or, for regressions, follows from its
    squared errors within the label bounds.  The whole, all models and the choice, costs epsilon and delta: the budget is composed over the
    models by the accountants, never divided where they know the events.  More candidates mean more noise in each, so a
    short grid is a good one.  The winner is not trained again, which would cost again.

    The winner's certificate is the union over all candidates: what any of them read unaccounted for is in it.

    best_estimator_, best_params_, best_index_ are released; the candidates' scores are not, because they are exact.

    With ``selection="random"`` the price does not grow with the grid.  The search makes a random number of tries, each
    of a setting drawn at random, scores each try privately, and keeps the best.  How many tries it made stays secret, and
    so must the time that it took, which is not protected.  A setting that is drawn twice runs twice.  ``best_score_`` is
    the winner's noisy score (accuracy, or the mean squared error with its sign turned), which being the best is too high.

    Parameters
    ----------
    estimator : estimator
        One of this package's; its epsilon and delta are set by the search, and its ledger and random_state are the
        search's where that has none.  Classifiers need `classes`.
    param_grid : dict or list of dict
        As in scikit-learn's GridSearchCV; the neighbour relation is one for all candidates.
    epsilon, delta : float
        The total.  No default.
    selection : {"all", "random"}, default="all"
        "all": every setting is trained once, and all are paid for.  "random": a random number of tries, of classes or a
        number as the label.
    tries : int, default=50
        With "random": the mean number of tries.  More tries cost more, slowly.
    share : float, optional
        The part of epsilon for the choice, in (0, 1); None: 0.1.  With "random": the part of a try's epsilon for its
        score; None: 0.3.
    test_size : float, default=0.2
        The part of the records that the choice is made on, in (0, 1).
    ledger : Ledger or path, optional
        Charged once, for everything, before the first model.
    random_state : int or RandomState, optional
        Makes the noise repeatable, for tests: the model must then stay private, and a warning says so.
    """

    def __init__(
        self,
        estimator: Any,
        param_grid: Any,
        *,
        epsilon: Optional[float] = None,
        delta: Optional[float] = None,
        selection: str = "all",
        tries: int = 50,
        share: Optional[float] = None,
        test_size: float = 0.2,
        ledger: Any = None,
        random_state: Any = None,
    ) -> None:
        self.estimator = estimator
        self.param_grid = param_grid
        self.epsilon: Any = epsilon
        self.delta: Any = delta
        self.selection = selection
        self.tries = tries
        self.share: Any = share
        self.test_size = test_size
        self.ledger = ledger
        self.random_state = random_state

    # ---- the price ----

    def _check(self, schema: Optional[Schema] = None) -> None:
        check(self)
        points = list(ParameterGrid(self.param_grid))
        spent = {name for point in points for name in point} & _WHOLE
        if spent:
            raise ValueError(f"{sorted(spent)[0]} belongs to the whole search; take it out of param_grid")
        for point in points:
            candidate = clone(self.estimator).set_params(**point, epsilon=self.epsilon, delta=self.delta)
            candidate._check()
            if self._random() and "classes" in point:
                raise ValueError('the classes belong to the score of all tries; take them out of param_grid, or selection="all"')
            if self._random() and candidate._loss_spec() == "poisson":
                raise ValueError('a try is scored privately, and there is no such score of counts; give selection="all"')
        if self.ledger is not None and self.estimator.ledger is not None and self._ledger() != self._ledger(self.estimator):
            raise ValueError(
                "the search and its estimator name different ledgers; give one, for everything is one charge"
            )
        if is_classifier(self.estimator) and self._listed(schema) is None:
            raise ValueError("the search needs the estimator's classes, all labels that can occur; give classes=[...]")

    def _listed(self, schema: Optional[Schema]) -> Any:
        """The public classes: the estimator's, else the schema's."""
        classes = getattr(self.estimator, "classes", None)
        return schema.label_values if classes is None and schema is not None else classes

    def _classes_of(self, candidate: Any, schema: Optional[Schema]) -> Optional[int]:
        """How many classes a candidate tells apart; None: it is no classifier, or its own are not listed."""
        if not is_classifier(candidate):
            return None
        own = candidate.classes if candidate.classes is not None else self._listed(schema)
        return None if own is None else len(np.unique(np.asarray(own)))

    def _random(self) -> bool:
        """Is the number of tries random?  Without privacy every setting is trained."""
        return bool(self.selection == "random" and self.epsilon != math.inf)

    def _share(self) -> float:
        return float(self.share) if self.share is not None else 0.3 if self._random() else 0.1

    def _ledger(self, of: Any = None) -> Optional[_accounting.Ledger]:
        """The ledger that the search charges, or None: its own, else the estimator's."""
        ledger = self.ledger if of is None else of.ledger
        if ledger is None and of is None:
            return self._ledger(self.estimator)
        return None if ledger is None else _accounting.Ledger(ledger)

    def _seed(self) -> Optional[int]:
        """Of the search, else of the estimator; None: the system's noise."""
        return seed_of(self.estimator.random_state if self.random_state is None else self.random_state)

    def _candidates(self, epsilon: float, delta: float, made: Optional[Composition] = None) -> list[Any]:
        """made: settles by the whole's epsilon what a loss leaves open; what is composed is what is fitted."""
        whole = {"epsilon": epsilon, "delta": delta, "ledger": None, "random_state": None}
        models = [clone(self.estimator).set_params(**point, **whole) for point in ParameterGrid(self.param_grid)]
        for model, fit in zip(models, made.facts["fits"] if made else ()):
            if getattr(model, "loss", None) == "auto":
                model.set_params(loss=fit["asked"]["loss"].partition(":")[0])
        return models

    def _composed(self, rows: int, cols: int, table: Optional[Table] = None) -> Composition:
        """What the search spends on so many records: epsilon and delta of each candidate, the price of everything.
        table: a frame under its schema, whose bounds are the schema's."""
        rows -= len(_public_split(rows, self.test_size)[1])
        schema = None if table is None else table.schema
        candidates = self._candidates(self.epsilon, self.delta)
        settings = [each._settings(rows, cols, table, self._classes_of(each, schema)) for each in candidates]
        if self._random():
            return Composition.of_tries(settings, int(self.tries), self._share(), rows, cols, table)
        return Composition.of_search(settings, self._share(), rows, cols, table)

    @checked
    def plan(self, rows: int, cols: int) -> Facts:
        """What `fit` will spend on `rows` records of `cols` features, before any data is seen.

        Parameters
        ----------
        rows, cols : int
            The public numbers of records and of features.

        A dict.  Of the whole it has epsilon, delta, events, accountant, neighbours, train_rows and validation_rows.  Of the
        parts it has models (their number), each (the epsilon that every one of them is trained at) and choice (the event
        of the choice).
        """
        self._check()
        train, held = (len(part) for part in _public_split(rows, self.test_size))
        facts = {"models": len(ParameterGrid(self.param_grid)), "train_rows": train, "validation_rows": held}
        if self.epsilon == math.inf:
            return {**facts, "private": False, "epsilon": math.inf, "delta": self.delta, "each": math.inf, "events": []}
        made, relation = self._composed(rows, cols), self.estimator.neighbours
        return {**facts, **made.price, "private": True, "each": made.facts["each"]["epsilon"], "neighbours": relation}

    # ---- the choice ----

    def _score(self, model: Any, part: _Part, counts: Any = None) -> Tuple[int, int]:
        """(a whole number, how far one record can move it, or one person).  Every record adds its own part, from 0 to the
        same number for all: a function of the released model and of that record alone.  counts: as `_Part.drawn`."""
        parts, most = self._score_parts(model, part)
        taken = parts if counts is None else parts[counts]
        return int(np.sum(taken)), most if counts is None else most * int(model.rows_per_person)

    def _score_parts(self, model: Any, part: _Part) -> Tuple[Any, int]:
        """(what each record adds, the most that one can)."""
        if is_classifier(model) and part.schema is None:
            return np.asarray(model.predict(part.X) == np.asarray(part.y)), 1
        if is_classifier(model):
            return np.asarray(model._best(part.X) == coded_places(model, self._truth(model, part))), 1
        predicted, truth = model.predict(part.X), self._targets(model, part)
        low, high = model._label_ends(part.schema)
        error = (np.clip(predicted, low, high) - np.clip(truth, low, high)) / (high - low)
        return np.floor(_GRAIN * (1 - error * error)), _GRAIN

    def _truth(self, model: Any, part: _Part) -> Any:
        """The labels of a frame under a schema: `Coded`, or numbers."""
        truth = model._truth(part.X, part.y)
        return truth if isinstance(truth, Coded) or not is_classifier(model) else coded(np.asarray(truth))

    def _targets(self, model: Any, part: _Part) -> NDArray[Any]:
        """Numbers, as the model's loss takes them."""
        if part.schema is None:
            if not is_classifier(model):
                return _guards.numbers(part.y, "y")
            if len(model.classes_) > 2:
                return np.searchsorted(model.classes_, np.asarray(part.y)).astype(float)  # all are listed: `fit` looked
            return np.where(np.asarray(part.y) == model.classes_[1], 1.0, -1.0)
        truth = self._truth(model, part)
        if is_classifier(model):
            places = coded_places(model, truth)
            return np.where(places == 1, 1.0, -1.0) if len(model.classes_) == 2 else places.astype(float)
        return np.asarray(_guards.numbers(truth, "y"))

    def fit(self, X: Any, y: Any = None, schema: Any = None, groups: Any = None) -> "PrivateSearchCV":
        """Trains all candidates and chooses one, within epsilon and delta.

        Parameters
        ----------
        X : array, SciPy CSR or CSC, or data frame
            Records, [rows, features]; no table of `tacit.read`, which cannot be split.
        y : array of shape [rows] or str
            Labels or targets; with a schema, the name of the frame's label column too.
        schema : Schema or path, optional
            What the columns of a frame may hold, as in the estimator's `fit`.
        groups : array-like or str, optional
            Whose record each row is, or with a schema the frame's column that says so; needs the estimator's
            rows_per_person.  Then persons are protected.
        """
        schema = None if schema is None else schema_of(schema)
        self._check(schema)
        self.estimator._check_bounds(None, groups)
        if isinstance(X, Table):
            raise ValueError("the search splits the records; give an array or a data frame, not a table of tacit.read")
        table, column = None, groups if isinstance(groups, str) and schema is not None else None
        if schema is not None:
            table, groups = self._encoded(X, y, groups, schema)
        elif y is None or isinstance(y, str):
            raise ValueError("y names a column, or is missing, and there is no schema; give schema=..., or an array of labels")
        if table is None and len(getattr(X, "shape", ())) != 2:
            X = _guards.records(X)
        rows, cols = X.shape if table is None else table.shape
        if not (y is None or isinstance(y, str)) and len(y) != rows:
            raise ValueError("X and y have inconsistent numbers of samples; give one label for each row")
        if table is None:
            self._check_labels(y)
        if groups is not None:
            if isinstance(groups, str):
                raise ValueError("groups names a column, and there is no schema; give schema=..., or an array of persons")
            groups = _guards.persons(groups, rows)
        whole = _Part(X, y, schema, groups, column)
        private, ledger = self.epsilon != math.inf, self._ledger()
        notes = _provenance.look_back(ledger, private)
        history = _repeats.History(_guards.records(X) if table is None else table)
        if private:
            notes = [*notes, *history.notes]
            history.warn(stacklevel=3)
            first = self._candidates(self.epsilon, self.delta)[0]
            cautions = Plan(first._settings(rows, cols, table), rows, cols, table).facts["warnings"]
            warn([caution for caution in cautions if caution["weakens"]], stacklevel=3)
        each, made, charge = (math.inf, self.delta), None, None
        if private:
            made = self._composed(rows, cols, table)
            each = (made.facts["each"]["epsilon"], made.facts["each"]["delta"])
        if made and ledger is not None:
            charge = ledger.charge(
                made.facts["events"],
                epsilon=made.facts["epsilon"],
                delta=made.facts["delta"],
                neighbours=self.estimator.neighbours,
                unit="record" if groups is None else "person",
                seeded=self._seed() is not None,
                unaccounted=notes,
                plan=made.facts,
            )
        with _repeats.composed():
            if made and self._random():
                models = [self._tried(whole, (rows, cols), made)]
            else:
                models, scores, change = self._trained(whole, (rows, cols), each, made)
        if ledger is None:
            history.add(self.epsilon, self.delta, self._seed() is not None)
        if not self._random():
            paid = float(made.facts["choice"].partition("=")[2]) if made else math.inf
            self.best_index_ = choose(scores, change, paid, self._seed())
            self.best_estimator_ = models[self.best_index_]
        self.best_params_ = list(ParameterGrid(self.param_grid))[self.best_index_]
        self._claim(models, made, charge, notes)
        _provenance.warn(self.privacy_, stacklevel=3)
        self.n_features_in_ = self.best_estimator_.n_features_in_
        if hasattr(self.best_estimator_, "feature_names_in_"):
            self.feature_names_in_ = self.best_estimator_.feature_names_in_
        return self

    def _encoded(self, X: Any, y: Any, groups: Any, schema: Schema) -> Tuple[Table, Any]:
        """The whole frame under the schema, and whose its rows are; its labels looked at, before anything is charged."""
        looker = clone(self.estimator)
        table, labels, _, _, persons = looker._take(X, y, groups, schema)
        if is_classifier(looker):
            looker._classes(labels)
        return cast(Table, table), persons

    def _check_labels(self, y: Any) -> None:
        """Refuses labels that a candidate would refuse, before anything is charged."""
        y = _guards.without_values(lambda: column_or_1d(y), y, "y")
        if is_classifier(self.estimator):
            self.estimator._classes(y)
        else:
            _guards.numbers(y, "y")

    def _trained(
        self, whole: _Part, shape: Shape, each: Any, made: Optional[Composition]
    ) -> Tuple[list[Any], list[int], int]:
        """(the candidates trained on the one part, their scores on the other, how far a record moves a score)."""
        rows, others = _public_split(shape[0], self.test_size)
        train, held, seed, scores, change = whole.at(rows), whole.at(others), self._seed(), [], 1
        models = self._candidates(each[0], each[1], made)
        counts = held.drawn(self.estimator, seed)
        for k, model in enumerate(models):
            if seed is not None:
                model.set_params(random_state=(seed + (k + 1) * SEED_STEP) % 2**63)
            score, change = self._score(train.fitted(model), held, counts)
            scores.append(score)
        return models, scores, change

    def _tried(self, whole: _Part, shape: Shape, made: Composition) -> Any:
        """The best of a random number of tries.  What tells how many there were is kept from the caller: warnings,
        progress, and what the losers' certificates say."""
        rows, others = _public_split(shape[0], self.test_size)
        train, held = whole.at(rows), whole.at(others)
        each, seed, best = made.facts["each"], self._seed(), None
        grid = list(ParameterGrid(self.param_grid))
        for k in range(draw_tries(self.tries, seed)):
            own: list[Optional[int]] = [None if seed is None else (seed + (3 * k + part + 1) * SEED_STEP) % 2**63 for part in range(3)]
            index = choose([0.0] * len(grid), 1.0, 1.0, own[0])  # equal scores: uniform, and no record is looked at
            model = self._candidates(each["epsilon"], each["delta"], made)[index]
            if own[1] is not None and made.facts["fits"][index]["count"] > 1:
                own[1] = _split_mix(own[1]) % 2**63  # the seeds of classes go on by the step that the draws of tries have
            model.set_params(progress=False, random_state=own[1])
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                try:
                    train.fitted(model)
                except RuntimeError:  # the worst try, and no error: it would tell of a try that is not the best
                    continue
                score = self._private_score(model, held, made, own[2])
            if best is None or score > self.best_score_:
                best, self.best_index_, self.best_score_ = model, index, score
        if best is None:
            raise RuntimeError("no try made a model: the noise led out of the range of numbers; use larger penalties")
        self.best_estimator_ = best
        return best

    def _private_score(self, model: Any, part: _Part, made: Composition, seed: Optional[int]) -> float:
        """Accuracy, or the mean squared error with its sign turned, by the noisy release that the composition priced; the
        lowest score where the noise hides it.  A person's records weigh at most 1 together."""
        two, targets = is_classifier(model), self._targets(model, part)
        kind = _native.LABELS_CLASSES if two and len(model.classes_) > 2 else model._labels_kind
        if part.schema is None:
            data: Records = View(model._numbers(part.X, reset=False), targets, kind)
        else:
            data = Labelled(model._records(part.X), targets, kind)
        counts = part.drawn(model, seed)
        if counts is not None:
            data.weigh(counts.astype(float), int(model.rows_per_person), part.persons)
        settings: Facts = {
            "epsilon": made.facts["score"]["epsilon"],
            "delta": made.facts["score"]["delta"],
            "neighbours": _native.choice("neighbours", model.neighbours, _native.NEIGHBOURS),
        }
        if seed is not None:
            settings["has_seed"], settings["seed"] = 1, seed
        budget = config_of(settings)
        figures = _native.call_json("tct_evaluate_json", model.model_.handle, data.handle, ctypes.byref(budget))
        value = figures["accuracy" if two else "mse"]["value"]
        return -math.inf if value is None else float(value) if two else -float(value)

    def _claim(
        self, models: list[Any], made: Optional[Composition], charge: Optional[Facts], notes: Iterable[str]
    ) -> None:
        """What the winner's certificates say is what the whole search spent, and what any candidate leaves out."""
        best = self.best_estimator_
        claim: Facts = dict(made.price) if made else {}
        if charge:
            claim["ledger"] = {key: charge[key] for key in ("head", "run", "for_tests") if key in charge}
        seeded = any(model.privacy_["noise"] == "reproducible" for model in models)
        if seeded:
            claim["noise"] = "reproducible"
        notes = _provenance.merged(*(model.privacy_["unaccounted"] for model in models), notes)
        whole = {"composition": made.handle if made else None, "charge": charge, "reproducible": seeded}
        best.model_ = best.model_.amended(unaccounted=notes, **whole)
        said = {"trust": best.model_.privacy["trust"], "unaccounted": notes}
        said["candidates"] = len(ParameterGrid(self.param_grid))
        best.privacy_ = Certificate({**best.privacy_, **claim, **said})
        self.privacy_ = best.privacy_

    # ---- the winner ----

    def _best(self) -> Any:
        check_is_fitted(self, "best_estimator_")
        return self.best_estimator_

    def predict(self, X: Any) -> Any:
        """The winner's predictions, [rows].

        Parameters
        ----------
        X : array, SciPy CSR or CSC, or data frame
            Records, [rows, features].
        """
        return self._best().predict(X)

    def score(self, X: Any, y: Any) -> float:
        """The winner's score, exact: not private, for data that you may look at.

        Parameters
        ----------
        X : array, SciPy CSR or CSC, or data frame
            Records, [rows, features].
        y : array of shape [rows]
            Labels or targets.
        """
        return float(self._best().score(X, y))

    @_where(lambda self: hasattr(self.estimator, "predict_proba"))
    def predict_proba(self, X: Any) -> NDArray[Any]:
        """The winner's probability of each class, [rows, classes].

        Parameters
        ----------
        X : array, SciPy CSR or CSC, or data frame
            Records, [rows, features].
        """
        return np.asarray(self._best().predict_proba(X))

    @_where(lambda self: hasattr(self.estimator, "decision_function"))
    def decision_function(self, X: Any) -> NDArray[Any]:
        """The winner's signed distance to each class's boundary, [rows] or [rows, classes].

        Parameters
        ----------
        X : array, SciPy CSR or CSC, or data frame
            Records, [rows, features].
        """
        return np.asarray(self._best().decision_function(X))

    @property
    def classes_(self) -> NDArray[Any]:
        """The labels of the winner's classes."""
        return np.asarray(self._best().classes_)

    @property
    def _estimator_type(self) -> Optional[str]:
        kind: Optional[str] = getattr(self.estimator, "_estimator_type", None)
        return kind

    def save(self, path: Path) -> None:
        """Writes the winner's model file; its certificate is that of the whole search.

        Parameters
        ----------
        path : str or path
            The file; what is there is replaced.
        """
        self._best().save(path)

    def report(self, path: Optional[Path] = None) -> Optional[str]:
        """Writes the page for people that goes with the winner's model file; without a path, returns it.

        Parameters
        ----------
        path : str or path, optional
            The page, one HTML file; None: it is returned as a str.
        """
        page: Optional[str] = self._best().report(path)
        return page
