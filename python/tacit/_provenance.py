"""What read the table before this package's own fit: found on the call stack, and said in the certificate.

Three kinds of callers are looked for.  Pipelines: their earlier steps have read the records.  Meta-estimators and model
selection: they fit more than once, and compare, calibrate or select by exact figures.  Workers of joblib: what the
calling process did is out of sight there.
"""

from __future__ import annotations

import dataclasses
import sys
import warnings
from collections.abc import Callable, Iterable, Iterator
from types import FrameType
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, MetaEstimatorMixin
from sklearn.compose import ColumnTransformer
from sklearn.feature_extraction import FeatureHasher
from sklearn.feature_extraction.text import HashingVectorizer
from sklearn.kernel_approximation import AdditiveChi2Sampler, PolynomialCountSketch, SkewedChi2Sampler
from sklearn.pipeline import FeatureUnion, Pipeline
from sklearn.preprocessing import (
    Binarizer,
    FunctionTransformer,
    Normalizer,
    OneHotEncoder,
    OrdinalEncoder,
    PolynomialFeatures,
)
from sklearn.random_projection import GaussianRandomProjection, SparseRandomProjection

from . import _native, _repeats
from ._schema import PublicScaler, is_draft

ROOM = 8  # lines that a model file's `unaccounted` holds

# Modules of scikit-learn that call `fit` once for each call of their own.  All its others fit many times, or choose.
_TRANSPARENT = ("sklearn.pipeline", "sklearn.base", "sklearn.compose._column_transformer", "sklearn._config")
_TRANSPARENT_PARTS = ("sklearn.utils.", "sklearn.externals.")

_SCORES = "chooses or reports by exact scores on records, which no epsilon covers"
_MODULES = {  # the beginning of a module's name: what its callers do with the records beside the fits
    "sklearn.model_selection.": _SCORES,
    "sklearn.feature_selection._rfe": "fits many times and drops features in between; RFECV chooses by exact scores",
    "sklearn.feature_selection._sequential": _SCORES,
    "sklearn.calibration": "calibrates on exact predictions of records, which no epsilon covers",
    "sklearn.multiclass": "reads the classes and their records from the labels, which no epsilon covers",
    "sklearn.multioutput": "fits once for each target; the stated epsilon is of one of these fits",
    "sklearn.ensemble._weight_boosting": "weighs records by exact errors, which no epsilon covers",
    "sklearn.ensemble._bagging": "draws records for each fit; one that is drawn twice counts twice",
    "sklearn.ensemble._stacking": "trains on predictions of the same records, which no epsilon covers",
    "sklearn.ensemble._voting": "reads the classes from the labels, and fits more than one model",
    "sklearn.compose._target": "transforms the target by what it read from it, which no epsilon covers",
    "sklearn.linear_model._ransac": "chooses records by exact errors, which no epsilon covers",
}
_OTHER = "fits on the same records; what it computes from them is not covered by epsilon"

REFUSAL = (
    "{} would train on the same people many times and spend epsilon each time, or choose by exact figures, without an "
    "account of it; use tacit.PrivateSearchCV to choose settings, give ledger=tacit.Ledger(...) so that every fit is "
    "charged, tune on public data with epsilon=float('inf'), or fit this estimator by itself"
)


@dataclasses.dataclass
class Callers:
    """What the call stack shows above a fit."""

    metas: dict[str, str]  # name of each meta-estimator or function of model selection: what it does
    pipelines: list[Pipeline]  # those that are being fitted
    worker: bool  # in a worker of joblib: the stack of the calling process is not here


def _frames() -> Iterator[FrameType]:
    frame = sys._getframe(2)
    while frame is not None:
        yield frame
        frame = frame.f_back


def _self_of(frame: FrameType, module: str) -> Any:
    """The object whose method runs in a frame, or None.  Only methods are asked: a look at a frame's variables makes
    them live as long as the frame."""
    names = frame.f_code.co_varnames
    return frame.f_locals.get("self") if names[:1] == ("self",) and not module.startswith("tacit.") else None


def _what_it_does(module: str) -> str:
    return next((what for start, what in _MODULES.items() if module.startswith(start)), _OTHER)


def _is_meta(kind: type) -> bool:
    """Says itself that it fits other estimators, whoever wrote it."""
    own = kind.__module__.partition(".")[0] == "tacit"
    return issubclass(kind, MetaEstimatorMixin) and not own and not issubclass(kind, (Pipeline, ColumnTransformer))


def _of_scikit_learn(module: str) -> bool:
    """Code of scikit-learn that may fit more than once."""
    return module.startswith("sklearn.") and not (module in _TRANSPARENT or module.startswith(_TRANSPARENT_PARTS))


def callers() -> Callers:
    """Walks the stack upward from the caller of this function."""
    found, batch, whole = Callers({}, [], False), False, False
    functions: dict[str, str] = {}  # public ones of scikit-learn; the last is the outermost
    helpers: dict[str, str] = {}
    for frame in _frames():
        module = frame.f_globals.get("__name__", "")
        me, function = _self_of(frame, module), frame.f_code.co_name
        if isinstance(me, Pipeline):
            if not any(me is seen for seen in found.pipelines):
                found.pipelines.append(me)
        elif me is not None and (_is_meta(type(me)) or (_of_scikit_learn(module) and isinstance(me, BaseEstimator))):
            found.metas.setdefault(type(me).__name__, _what_it_does(type(me).__module__))
        elif _of_scikit_learn(module) and not function.startswith("_") and function in frame.f_globals:
            functions[function] = _what_it_does(module)
        elif _of_scikit_learn(module):
            helpers.setdefault("scikit-learn's " + module.split(".")[1], _what_it_does(module))
        batch = batch or type(me).__name__ == "BatchedCalls"
        whole = whole or type(me).__name__ == "Parallel"
    found.metas.update(list(functions.items())[-1:])
    found.metas = found.metas or helpers
    found.worker = batch and not whole
    return found


# ---- steps before the estimator ----


def _given_categories(step: Any) -> bool:
    listed = not isinstance(step.categories, str)
    return listed and step.min_frequency is None and step.max_categories is None


# Steps whose `fit` keeps nothing of the records beyond their number and that of the columns: class, and on what terms.
_PUBLIC_STEPS: dict[type, Callable[[Any], bool]] = {
    AdditiveChi2Sampler: lambda step: True,
    Binarizer: lambda step: True,
    FeatureHasher: lambda step: True,
    FunctionTransformer: lambda step: step.func is None or isinstance(step.func, np.ufunc),
    GaussianRandomProjection: lambda step: True,
    HashingVectorizer: lambda step: True,
    Normalizer: lambda step: True,
    OneHotEncoder: _given_categories,
    OrdinalEncoder: _given_categories,
    PolynomialCountSketch: lambda step: True,
    PolynomialFeatures: lambda step: True,
    PublicScaler: lambda step: True,  # whose drafted schema is a line of its own
    SkewedChi2Sampler: lambda step: True,
    SparseRandomProjection: lambda step: True,
}


def _inner(step: Any) -> Iterable[Any] | None:
    """The steps that a container holds, or None."""
    if isinstance(step, Pipeline):
        return [each for _, each in step.steps]
    if isinstance(step, FeatureUnion):
        return [each for _, each in step.transformer_list]
    if isinstance(step, ColumnTransformer):
        return [*(each for _, each, _ in step.transformers), step.remainder]
    return None


def _steps(step: Any) -> Iterator[Any]:
    """A step and what it holds, the containers themselves left out."""
    held = _inner(step)
    if held is None:
        if step is not None and not isinstance(step, str):  # "passthrough" and "drop"
            yield step
        return
    if isinstance(step, ColumnTransformer) and any(callable(columns) for _, _, columns in step.transformers):
        yield step  # its columns were chosen by a look at the table
    for each in held:
        yield from _steps(each)


def _is_public(step: Any) -> bool:
    terms = _PUBLIC_STEPS.get(type(step))
    return terms is not None and terms(step)


def _step_notes(pipelines: Iterable[Pipeline]) -> list[str]:
    before = [each for pipeline in reversed(list(pipelines)) for step in pipeline.steps[:-1] for each in _steps(step[1])]
    names = list(dict.fromkeys(type(step).__name__ for step in before if not _is_public(step)))
    notes = []
    if any(isinstance(step, PublicScaler) and is_draft(step.schema) for step in before):
        notes.append("the schema is a draft made from data: its bounds, categories and label values are not public knowledge")
    if names:
        notes.append("steps before the estimator read the records, or may have: " + ", ".join(names))
    return notes


# ---- the certificate ----


def notes(found: Callers) -> list[str]:
    """The lines of `unaccounted` that the callers of a fit give rise to."""
    lines = _step_notes(found.pipelines)
    lines += [f"inside {name}, which {what}" for name, what in found.metas.items()]
    if found.worker:
        lines.append("the fit ran in a worker of joblib, where steps of the calling process cannot be seen")
    return lines


def look_back(ledger: Any, private: bool) -> list[str]:
    """Called at the beginning of a fit: the lines that its certificate gets for what called it.  Refuses a private fit
    within what fits many times, unless a ledger is charged.  Within a composition both are done by that."""
    if not private or _repeats.is_composed():
        return []
    found = callers()
    if found.metas and ledger is None:
        raise ValueError(REFUSAL.format(" and ".join(found.metas)))
    return notes(found)


def warn(privacy: dict[str, Any], stacklevel: int) -> None:
    """One warning for each kind of thing that the certificate's epsilon does not cover."""
    lines = [line for line in privacy["unaccounted"] if not _repeats.is_of_earlier_fits(line)]
    said = ["the stated epsilon does not cover this: " + "; ".join(lines)] if lines else []
    if not privacy["private"]:
        said.append("this model has no privacy at all")
    elif privacy["noise"] == "reproducible":
        said.append(
            "random_state makes the noise reproducible: who knows the seed can take it away; do not publish this model"
        )
    for text in said:
        warnings.warn(text, _native.PrivacyWarning, stacklevel=stacklevel)


def merged(*lists: Iterable[str]) -> list[str]:
    """The lists as one, each line once; more than a model file holds share the last line."""
    lines = list(dict.fromkeys(line for each in lists for line in each))
    if len(lines) > ROOM:
        lines[ROOM - 1 :] = ["; ".join(lines[ROOM - 1 :])]
    return lines


def refuse_draft_alone(schema: Any) -> None:
    """A drafted schema may scale records inside a pipeline that ends in a model, whose certificate can name it.  By
    hand it may not: nothing would be left of it when the scaled records come to `fit`."""
    if not is_draft(schema):
        return
    if not any(hasattr(pipeline.steps[-1][1], "predict") for pipeline in callers().pipelines):
        raise ValueError(
            "the schema is a draft: its values are the data's own; replace every one by public knowledge and delete the "
            "key not_private, or put PublicScaler and the estimator into one Pipeline, whose model then names the draft"
        )
