"""Choosing settings under privacy, at the price of every model that was trained for it and of the choice."""

from __future__ import annotations

import ctypes
import math
import numbers
import warnings
from collections.abc import Callable, Iterable, Sequence
from typing import Any, Optional, Tuple, TypeVar, cast

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, MetaEstimatorMixin, clone, is_classifier
from sklearn.model_selection import ParameterGrid
from sklearn.utils import _safe_indexing
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted, column_or_1d

from . import _accounting, _guards, _native, _provenance, _repeats
from ._base import NO_EPSILON, Linear, seed_of
from ._composition import SEED_STEP, Composition, warn
from ._frames import Coded, coded, schema_of
from ._labels import coded_places
from ._matrix import Labelled, Records, Table, View
from ._model import Plan, config_of
from ._native import Facts, Path
from ._schema import Schema
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

    def _check(self) -> None:
        for name, example in (("epsilon", "epsilon=1.0"), ("delta", "delta=1e-6")):
            if getattr(self, name) is None:
                raise ValueError(NO_EPSILON.format(name, example))
        if self.selection not in ("all", "random"):
            raise ValueError('selection must be "all" or "random"; give one of these')
        if isinstance(self.tries, bool) or not isinstance(self.tries, numbers.Integral) or self.tries < 1:
            raise ValueError("tries must be a whole number of at least 1; give e.g. tries=50")
        for name in ("share", "test_size"):
            if name == "share" and self.share is None:
                continue
            if not (isinstance(getattr(self, name), numbers.Real) and 0 < getattr(self, name) < 1):
                raise ValueError(f"{name} must lie between 0 and 1; give e.g. {name}={0.1 if name == 'share' else 0.2}")
        if not isinstance(self.estimator, Linear):
            raise ValueError(
                "the search composes this package's estimators; give one of them, and scale records before it"
            )
        if (
            self.ledger is not None
            and self.estimator.ledger is not None
            and self._ledger() != self._ledger(self.estimator)
        ):
            raise ValueError(
                "the search and its estimator name different ledgers; give one, for everything is one charge"
            )
        spent = {name for point in ParameterGrid(self.param_grid) for name in point} & _WHOLE
        if spent:
            raise ValueError(f"{sorted(spent)[0]} belongs to the whole search; take it out of param_grid")
        if is_classifier(self.estimator) and self._listed() is None:
            raise ValueError("the search needs the estimator's classes, all labels that can occur; give classes=[...]")
        if self._random():
            self._check_scored()

    def _listed(self) -> Any:
        """The public classes: the estimator's, else those of the schema of `fit`."""
        classes, schema = getattr(self.estimator, "classes", None), getattr(self, "_schema", None)
        return schema.label_values if classes is None and schema is not None else classes

    def _classes_of(self, candidate: Any) -> Optional[int]:
        """How many classes a candidate tells apart; None: it is no classifier, or its own are not listed."""
        if not is_classifier(candidate):
            return None
        own = candidate.classes if candidate.classes is not None else self._listed()
        return None if own is None else len(np.unique(np.asarray(own)))

    def _random(self) -> bool:
        """Is the number of tries random?  Without privacy every setting is trained."""
        return bool(self.selection == "random" and self.epsilon != math.inf)

    def _check_scored(self) -> None:
        """Refuses what has no private score."""
        grid = list(ParameterGrid(self.param_grid))
        losses = {clone(self.estimator).set_params(**point)._loss_spec().partition(":")[0] for point in grid}
        if any("classes" in point for point in grid):
            raise ValueError('the classes belong to the score of all tries; take them out of param_grid, or selection="all"')
        if "poisson" in losses:
            raise ValueError('a try is scored privately, and there is no such score of counts; give selection="all"')

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

    def _candidates(self, epsilon: float, delta: float) -> list[Any]:
        whole = {"epsilon": epsilon, "delta": delta, "ledger": None, "random_state": None}
        made = [clone(self.estimator).set_params(**point, **whole) for point in ParameterGrid(self.param_grid)]
        for model in made:
            self._settle_loss(model)
        return made

    def _settle_loss(self, model: Any) -> None:
        """What "auto" is for more than two classes is settled by the whole's epsilon: what is composed is what is fitted."""
        shape, count = getattr(self, "_shape", None), self._classes_of(model) or 0
        if shape is None or count < 3 or getattr(model, "loss", None) != "auto":
            return
        whole = clone(model).set_params(epsilon=self.epsilon, delta=self.delta)
        model.set_params(loss="softmax" if whole._joint(count, shape) else "logistic")

    def _composed(self, rows: int, cols: int, table: Optional[Table] = None) -> Composition:
        """What the search spends on so many records: epsilon and delta of each candidate, the price of everything.
        table: a frame under its schema, whose bounds are the schema's."""
        rows -= len(_public_split(rows, self.test_size)[1])
        self._shape: Optional[Tuple[int, int]] = (rows, cols)
        candidates = self._candidates(self.epsilon, self.delta)
        for candidate in candidates:
            candidate._check()
        counts = [self._classes_of(each) for each in candidates]
        settings = [
            (each._settings(rows, cols, table, count), each._models_for(count, (rows, cols)))
            for each, count in zip(candidates, counts)
        ]
        if self._random():
            several, alone = max(count or 0 for count in counts), [each for each, _ in settings]
            return Composition.of_tries(alone, several, int(self.tries), self._share(), rows, cols, table)
        return Composition.of_search(settings, self._share(), rows, cols, table)

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

    def _score(self, model: Any, X: Any, y: Any, counts: Any = None) -> Tuple[int, int]:
        """(a whole number, how far one record can move it, or one person).  Every record adds its own part, from 0 to the
        same number for all: a function of the released model and of that record alone.  counts: which records do, at most
        rows_per_person of each person; None: all."""
        parts, most = self._score_parts(model, X, y)
        taken = parts if counts is None else parts[counts]
        return int(np.sum(taken)), most if counts is None else most * int(model.rows_per_person)

    def _score_parts(self, model: Any, X: Any, y: Any) -> Tuple[Any, int]:
        """(what each record adds, the most that one can)."""
        if is_classifier(model):
            return np.asarray(self._right(model, X, y)), 1
        predicted, truth = model.predict(X), self._targets(model, X, y)
        low, high = model.label_bounds or (self._schema.json["label"][side] for side in ("lower", "upper"))  # type: ignore
        error = (np.clip(predicted, low, high) - np.clip(truth, low, high)) / (high - low)
        return np.floor(_GRAIN * (1 - error * error)), _GRAIN

    def _right(self, model: Any, X: Any, y: Any) -> Any:
        """Which records the model predicts rightly."""
        if getattr(self, "_schema", None) is None:
            return model.predict(X) == np.asarray(y)
        return model._best(X) == coded_places(model, self._truth(model, X, y))

    def _truth(self, model: Any, X: Any, y: Any) -> Any:
        """The labels of a frame under a schema: `Coded`, or numbers."""
        truth = model._truth(X, y)
        return truth if isinstance(truth, Coded) or not is_classifier(model) else coded(np.asarray(truth))

    def _targets(self, model: Any, X: Any, y: Any) -> NDArray[Any]:
        """Numbers, as the model's loss takes them."""
        if getattr(self, "_schema", None) is None:
            if not is_classifier(model):
                return _guards.numbers(y, "y")
            if len(model.classes_) > 2:
                return np.searchsorted(model.classes_, np.asarray(y)).astype(float)  # all are listed: `fit` looked
            return np.where(np.asarray(y) == model.classes_[1], 1.0, -1.0)
        truth = self._truth(model, X, y)
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
        self._schema: Optional[Schema] = None if schema is None else schema_of(schema)
        self._check()
        self.estimator._check_bounds(None, groups)
        if isinstance(X, Table):
            raise ValueError("the search splits the records; give an array or a data frame, not a table of tacit.read")
        table, self._groups, self._persons = None, groups, None
        if self._schema is not None:
            table, groups = self._encoded(X, y, groups)
        elif y is None or isinstance(y, str):
            raise ValueError("y names a column, or is missing, and there is no schema; give schema=..., or an array of labels")
        rows, cols = X.shape if table is None else table.shape
        if not (y is None or isinstance(y, str)) and len(y) != rows:
            raise ValueError("X and y have inconsistent numbers of samples; give one label for each row")
        if table is None:
            self._check_labels(y)
        if groups is not None:
            if isinstance(groups, str):
                raise ValueError("groups names a column, and there is no schema; give schema=..., or an array of persons")
            self._persons = _guards.persons(groups, rows)
        private, ledger = self.epsilon != math.inf, self._ledger()
        notes = _provenance.look_back(ledger, private)
        history = _repeats.History(_guards.records(X) if table is None else table)
        if private:
            notes = [*notes, *history.notes]
            history.warn(stacklevel=3)
            first = self._candidates(self.epsilon, self.delta)[0]
            whole = Plan(first._settings(rows, cols, table), rows, cols, table).facts["warnings"]
            warn([caution for caution in whole if caution["weakens"]], stacklevel=3)
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
                unit="record" if self._persons is None else "person",
                seeded=self._seed() is not None,
                unaccounted=notes,
            )
        with _repeats.composed():
            if made and self._random():
                models = [self._tried(X, y, made)]
            else:
                models, scores, change = self._trained(X, y, each)
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

    def _encoded(self, X: Any, y: Any, groups: Any) -> Tuple[Table, Any]:
        """The whole frame under the schema, and whose its rows are; its labels looked at, before anything is charged."""
        looker = clone(self.estimator)
        table, labels, _, _, persons = looker._take(X, y, groups, self._schema)
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

    def _parts(self, X: Any, y: Any, places: NDArray[Any]) -> Tuple[Any, Any]:
        """These records, and their labels or the name of the column that holds them."""
        return _part(X, places), y if y is None or isinstance(y, str) else _safe_indexing(y, places)

    def _persons_of(self, places: NDArray[Any]) -> Optional[NDArray[Any]]:
        """Whose these records are, by numbers from 0; None: every record is a person's own."""
        return None if self._persons is None else np.unique(self._persons[places], return_inverse=True)[1]

    def _fitted(self, model: Any, X: Any, y: Any, persons: Optional[NDArray[Any]]) -> Any:
        """persons: of these records.  A frame has them by the name of their column."""
        more: Facts = {} if self._schema is None else {"schema": self._schema}
        if persons is not None:
            more["groups"] = self._groups if isinstance(self._groups, str) else persons
        return model.fit(X, y, **more)

    def _trained(self, X: Any, y: Any, each: Any) -> Tuple[list[Any], list[int], int]:
        """(the candidates trained on the one part, their scores on the other, how far a record moves a score)."""
        train, held = _public_split(X.shape[0], self.test_size)
        models, scores, change, seed = self._candidates(*each), [], 1, self._seed()
        (X_train, y_train), (X_held, y_held) = self._parts(X, y, train), self._parts(X, y, held)
        persons, of_held = self._persons_of(train), self._persons_of(held)
        counts = None if of_held is None else drawn(of_held, int(self.estimator.rows_per_person), seed)
        for k, model in enumerate(models):
            if seed is not None:
                model.set_params(random_state=(seed + (k + 1) * SEED_STEP) % 2**63)
            score, change = self._score(self._fitted(model, X_train, y_train, persons), X_held, y_held, counts)
            scores.append(score)
        return models, scores, change

    def _tried(self, X: Any, y: Any, made: Composition) -> Any:
        """The best of a random number of tries.  What tells how many there were is kept from the caller: warnings,
        progress, and what the losers' certificates say."""
        train, held = _public_split(X.shape[0], self.test_size)
        (X_train, y_train), (X_held, y_held) = self._parts(X, y, train), self._parts(X, y, held)
        persons, of_held = self._persons_of(train), self._persons_of(held)
        each, seed, best = made.facts["each"], self._seed(), None
        grid = list(ParameterGrid(self.param_grid))
        for k in range(draw_tries(self.tries, seed)):
            own: list[Optional[int]] = [None if seed is None else (seed + (3 * k + part + 1) * SEED_STEP) % 2**63 for part in range(3)]
            index = choose([0.0] * len(grid), 1.0, 1.0, own[0])  # equal scores: uniform, and no record is looked at
            model = self._candidates(each["epsilon"], each["delta"])[index]
            if own[1] is not None and model._models_for(self._classes_of(model), self._shape) > 1:
                own[1] = _split_mix(own[1]) % 2**63  # the seeds of classes go on by the step that the draws of tries have
            model.set_params(progress=False, random_state=own[1])
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                try:
                    self._fitted(model, X_train, y_train, persons)
                except RuntimeError:  # the worst try, and no error: it would tell of a try that is not the best
                    continue
                score = self._private_score(model, X_held, y_held, of_held, made, own[2])
            if best is None or score > self.best_score_:
                best, self.best_index_, self.best_score_ = model, index, score
        if best is None:
            raise RuntimeError("no try made a model: the noise led out of the range of numbers; use larger penalties")
        self.best_estimator_ = best
        return best

    def _private_score(
        self, model: Any, X: Any, y: Any, persons: Optional[NDArray[Any]], made: Composition, seed: Optional[int]
    ) -> float:
        """Accuracy, or the mean squared error with its sign turned, by the noisy release that the composition priced; the
        lowest score where the noise hides it.  persons: of these records, which then weigh at most 1 together."""
        two, targets = is_classifier(model), self._targets(model, X, y)
        kind = _native.LABELS_CLASSES if two and len(model.classes_) > 2 else model._labels_kind
        if self._schema is None:
            data: Records = View(model._numbers(X, reset=False), targets, kind)
        else:
            data = Labelled(model._records(X), targets, kind)
        if persons is not None:
            most = int(model.rows_per_person)
            data.weigh(drawn(persons, most, seed).astype(float), most, persons)
        settings: Facts = {
            "epsilon": made.facts["score"]["epsilon"],
            "delta": made.facts["score"]["delta"],
            "neighbours": _native.choice("neighbours", model.neighbours, _native.NEIGHBOURS),
        }
        if seed is not None:
            settings["has_seed"], settings["seed"] = 1, seed
        budget = config_of(settings)
        whole = model._whole()  # of several classes put together, and ours alone
        figures = _native.call_json("tct_evaluate_json", whole._handle, data.handle, ctypes.byref(budget))
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
        best.models_ = [model.amended(unaccounted=notes, **whole) for model in best.models_]
        said = {"trust": best.models_[0].privacy["trust"], "unaccounted": notes}
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
