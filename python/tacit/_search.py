"""Choosing settings under privacy: what scikit-learn expects of a search, around the library's own."""

from __future__ import annotations

import functools
import math
import os
from typing import Any, Optional

from sklearn.base import BaseEstimator, MetaEstimatorMixin, clone, is_classifier
from sklearn.model_selection import ParameterGrid
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from . import _callers, _native, _provenance, _repeats
from ._base import Linear, Ready, seed_of
from ._callbacks import Callbacks
from ._composition import Composition, certificate, warn
from ._estimators import PrivateLogisticRegression
from ._labels import Classifier
from ._model import Model, Plan, handed, run_settings
from ._native import Facts
from ._parameters import check, checked
from ._schema import Schema, schema_of
from ._views import Certificate

# One for all candidates, which read one table.
_WHOLE = {"epsilon", "delta", "ledger", "random_state", "neighbours", "rows_per_person", "bounds", "classes", "weight_cap",
          "exposure"}  # fmt: skip


_of_winner = functools.partial(handed, f"{__name__}.PrivateSearchCV", "best_estimator_")


class PrivateSearchCV(MetaEstimatorMixin, BaseEstimator):
    """Chooses among settings under (epsilon, delta)-differential privacy, and keeps the model that it chose.

    Trains one model for each point of the grid on a part of the records, then makes one choice by the exponential
    mechanism on the others.  A candidate's score is its number of right predictions, or, for regressions, follows from its
    squared errors within the label bounds.  The whole costs epsilon and delta: the accountants compose all fits and the
    choice.  So a short grid is a good one.  The winner is not trained again, which would cost again.  Its certificate is
    the union over all candidates: what any of them read unaccounted for is in it.  best_estimator_, best_params_ and
    best_index_ are released; the candidates' scores are not, because they are exact.

    With ``selection="random"`` the price does not grow with the grid.  The search makes a random number of tries, each
    of a setting drawn at random, scores each try privately, and keeps the best.  How many tries it made stays secret, and
    so must the time that it took, which is not protected.  A setting that is drawn twice runs twice.  ``best_score_`` is
    the winner's noisy score (accuracy, the mean squared error with its sign turned, or the C-index of follow-up times, for
    which there are random tries alone; NaN where the noise hides it), which being the best is too high.

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
        The part of epsilon for the choice, in (0, 1); None: 0.1.  With "random" and persons the part of a try's epsilon
        for its score; None: 0.3.  Of records leave it None: fits and scores read different ones, and share nothing.
    test_size : float, default=0.2
        The part of the records that the choice is made on, in (0, 1).
    ledger : Ledger or path, optional
        Charged once, for everything, before the first model.
    random_state : int or RandomState, optional
        Makes the noise repeatable, for tests: the model must then stay private, and a warning says so.
    """

    def __init__(
        self, estimator: Any, param_grid: Any, *, epsilon: Optional[float] = None, delta: Optional[float] = None,
        selection: str = "all", tries: int = 50, share: Optional[float] = None, test_size: float = 0.2, ledger: Any = None,
        random_state: Any = None,
    ) -> None:  # fmt: skip
        self.estimator, self.param_grid, self.selection, self.tries = estimator, param_grid, selection, tries
        self.epsilon: Any = epsilon
        self.delta: Any = delta
        self.share, self.test_size, self.ledger, self.random_state = share, test_size, ledger, random_state

    # ---- the price ----

    def _check(self, schema: Optional[Schema] = None) -> None:
        check(self)
        points = list(ParameterGrid(self.param_grid))
        for name in sorted({name for point in points for name in point} & _WHOLE):
            raise ValueError(f"{name} belongs to the whole search; take it out of param_grid")
        for point in points:
            candidate = clone(self.estimator).set_params(**point, epsilon=self.epsilon, delta=self.delta)
            candidate._check()
            if self._random() and candidate._loss_spec().startswith(("poisson", "gamma")):
                raise ValueError('a try is scored privately, and there is no such score of counts or amounts; give selection="all"')
        paths = {os.fspath(each.ledger) for each in (self, self.estimator) if each.ledger is not None}
        if len(paths) > 1:
            raise ValueError("the search and its estimator name different ledgers; give one, for everything is one charge")
        listed = getattr(self.estimator, "classes", None) is not None or (schema is not None and schema.label_values is not None)
        if is_classifier(self.estimator) and not listed:
            raise ValueError("the search needs the estimator's classes, all labels that can occur; give classes=[...]")

    def _random(self) -> bool:
        """Is the number of tries random?  Without privacy every setting is trained."""
        return bool(self.selection == "random" and self.epsilon != math.inf)

    def _own(self, name: str) -> Any:
        """The ledger or the random_state of the search, else of the estimator; or None."""
        return getattr(self.estimator if getattr(self, name) is None else self, name)

    def _each(self, **more: Any) -> list[Any]:
        """The candidates, with the whole's epsilon and delta."""
        whole = {"epsilon": self.epsilon, "delta": self.delta, "ledger": None, "random_state": None, **more}
        return [clone(self.estimator).set_params(**point, **whole) for point in ParameterGrid(self.param_grid)]

    def _composed(self, rows: int, cols: int, persons: bool, ready: Optional[Ready] = None) -> Composition:
        """What the search spends on so many records.  ready: what was read, whose schema has the bounds."""
        train, table = _native.lib.tct_search_train_rows(rows, float(self.test_size)), ready.table if ready else None
        settings = [
            each._settings(max(train, 1), cols, table, ready.several if ready else each._count(None) or None) for each in self._each()
        ]
        share = math.nan if self.share is None else float(self.share)
        tries = int(self.tries) if self._random() else 0
        how = {"persons": int(persons), "tries": tries, "share": share, "held": float(self.test_size)}
        return Composition(settings, how, rows, cols, table)

    @checked
    def plan(self, rows: int, cols: int) -> Facts:
        """What `fit` will spend on `rows` records of `cols` features, before any data is seen.

        Parameters
        ----------
        rows, cols : int
            The public numbers of records and of features.

        A dict.  Of the whole it has epsilon, delta, events, accountant, neighbours, train_rows and validation_rows; of the
        parts models (their number), each (the epsilon of every fit) and choice (its event).
        """
        self._check()
        made = self._composed(rows, cols, self.estimator.rows_per_person is not None)
        told = {name: made.facts[name] for name in ("private", "train_rows", "neighbours")}
        told.update(models=made.parts, validation_rows=made.facts["scored_rows"])
        price = made.price if told["private"] else {"epsilon": math.inf, "delta": self.delta, "events": []}
        return {**told, **price, "each": made.facts["each"]["epsilon"] if told["private"] else math.inf}

    # ---- the choice ----

    def fit(self, X: Any, y: Any = None, schema: Any = None, groups: Any = None) -> "PrivateSearchCV":
        """Trains all candidates and chooses one, within epsilon and delta.

        Parameters
        ----------
        X, y, schema, groups : as the estimator's `fit` takes them
            With groups, which need its rows_per_person, persons are protected.
        """
        schema = None if schema is None else schema_of(schema)
        self._check(schema)
        private, ledger, seed = self.epsilon != math.inf, self._own("ledger"), seed_of(self._own("random_state"))
        notes = _provenance.look_back(ledger, private)
        taker = self._each(random_state=seed)[0]  # what a candidate read all have
        ready = taker._ready(X, y, None, groups, schema)
        rows, cols = ready.X.shape
        history = _repeats.History(ready.X)
        if private:
            notes = [*notes, *history.notes]
            history.warn(stacklevel=3)
            cautions = Plan(taker._settings(rows, cols, ready.table), rows, cols, ready.table).facts["warnings"]
            warn([caution for caution in cautions if caution["weakens"]], stacklevel=3)
        made = self._composed(rows, cols, groups is not None, ready)
        warn([] if self._random() else made.cautions, stacklevel=3)
        model = self._searched(made, ready, ledger, seed)
        if ledger is None:
            history.add(self.epsilon, self.delta, seed is not None)
        self._keep(taker, ready, model, made, notes)
        _provenance.warn(self.privacy_, stacklevel=3)
        return self

    def _searched(self, made: Composition, ready: Ready, ledger: Any, seed: Optional[int]) -> Model:
        """The model that the library's search keeps; sets best_index_ and, of random tries, best_score_."""
        jobs = self.estimator.n_jobs
        settings = run_settings(ledger if made.facts["private"] else None, seed)
        settings.update(threads=0 if jobs is None or jobs < 0 else int(jobs), input_part=int(_callers.in_many_fits()))
        callbacks = Callbacks(False if self._random() else self.estimator.progress)
        model, self.best_index_, score = made.fit(ready.data.handle, settings, callbacks)
        if self._random():
            self.best_score_ = score
        return model

    def _keep(self, best: Any, ready: Ready, model: Model, made: Composition, notes: list[str]) -> None:
        """What a fit leaves behind: the winner's certificate is that of the search."""
        index, each = self.best_index_, made.facts["each"]
        self.best_params_ = list(ParameterGrid(self.param_grid))[index]
        budget = each if made.facts["private"] else {"epsilon": math.inf, "delta": self.delta}
        best.set_params(**self.best_params_, **budget, random_state=None)
        if getattr(best, "loss", None) == "auto":
            best.set_params(loss=made.facts["fits"][index]["asked"]["loss"].partition(":")[0])
        named = ready.named(model, _provenance.merged(ready.notes, notes))
        said = {**made.price, "candidates": made.parts} if made.facts["private"] else {"candidates": made.parts}
        best._finish(named, Certificate({**best._bounded(certificate(named, made.plan(index), index)), **said}))
        self.best_estimator_, self.privacy_, self.n_features_in_ = best, best.privacy_, best.n_features_in_
        if hasattr(best, "feature_names_in_"):
            self.feature_names_in_ = best.feature_names_in_

    # ---- the winner ----

    predict = _of_winner(Linear.predict, "The winner's predictions, [rows].")
    predict_proba = available_if(lambda self: hasattr(self.estimator, "predict_proba"))(
        _of_winner(PrivateLogisticRegression.predict_proba, "The winner's probability of each class, [rows, classes].")
    )
    decision_function = available_if(lambda self: hasattr(self.estimator, "decision_function"))(
        _of_winner(Classifier.decision_function, "The winner's signed distance to each class's boundary.")
    )
    score = _of_winner(Classifier.score, "The winner's score, exact: not private, for data that you may look at.")
    save = _of_winner(Linear.save, "Writes the winner's model file; its certificate is that of the whole search.")
    report = _of_winner(Linear.report, "Writes the page for people that goes with the winner's file; without a path, returns it.")

    @property
    def classes_(self) -> Any:
        """The labels of the winner's classes."""
        check_is_fitted(self, "best_estimator_")
        return self.best_estimator_.classes_

    @property
    def _estimator_type(self) -> Optional[str]:
        return getattr(self.estimator, "_estimator_type", None)
