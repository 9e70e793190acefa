"""Who calls a fit, as the call stack shows it.

Three kinds are looked for.  Pipelines: their earlier steps have read the records.  Meta-estimators and model selection:
they fit more than once, and compare, calibrate or select by exact figures.  Workers of joblib: what the calling process
did is out of sight there.
"""

from __future__ import annotations

import dataclasses
import sys
from types import FrameType
from typing import Any

from sklearn.base import BaseEstimator, MetaEstimatorMixin
from sklearn.compose import ColumnTransformer
from sklearn.pipeline import Pipeline

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


@dataclasses.dataclass
class Callers:
    """What the call stack shows above a fit."""

    metas: dict[str, str]  # name of each meta-estimator or function of model selection: what it does
    pipelines: list[Pipeline]  # those that are being fitted
    worker: bool  # in a worker of joblib: the stack of the calling process is not here


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
    frame: FrameType | None = sys._getframe(1)
    while frame is not None:
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
        frame = frame.f_back
    found.metas.update(list(functions.items())[-1:])
    found.metas = found.metas or helpers
    found.worker = batch and not whole
    return found


def in_pipeline_with_model() -> bool:
    """Whether a pipeline that ends in a model is being fitted."""
    return any(hasattr(pipeline.steps[-1][1], "predict") for pipeline in callers().pipelines)


def in_many_fits() -> bool:
    """Whether something that fits more than once is calling: the rows of a fit are then a part of a table, or made of it."""
    found = callers()
    return bool(found.metas) or found.worker
