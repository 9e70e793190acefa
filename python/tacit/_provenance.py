"""What read the table before this package's own fit: refused, or said in the certificate."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import numpy as np
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
from ._callers import Callers, callers
from ._schema import PublicScaler, is_draft

REFUSAL = (
    "{} would train on the same people many times and spend epsilon each time, or choose by exact figures, without an "
    "account of it; use tacit.PrivateSearchCV to choose settings, give ledger=tacit.Ledger(...) so that every fit is "
    "charged, tune on public data with epsilon=float('inf'), or fit this estimator by itself"
)


# ---- steps before the estimator ----


def _given_categories(step: Any) -> bool:
    listed = not isinstance(step.categories, str)
    return listed and getattr(step, "min_frequency", None) is None and getattr(step, "max_categories", None) is None


# Steps whose `fit` keeps nothing of the records beyond their number and that of the columns: class, and on what terms.
_PUBLIC_STEPS: dict[type, Callable[[Any], bool]] = {
    **dict.fromkeys(
        (AdditiveChi2Sampler, Binarizer, FeatureHasher, GaussianRandomProjection, HashingVectorizer, Normalizer,
         PolynomialCountSketch, PolynomialFeatures, PublicScaler, SkewedChi2Sampler, SparseRandomProjection),
        lambda step: True,  # the scaler's drafted schema is a line of its own
    ),
    **dict.fromkeys((OneHotEncoder, OrdinalEncoder), _given_categories),
    FunctionTransformer: lambda step: step.func is None or isinstance(step.func, np.ufunc),
}  # fmt: skip


def _steps(step: Any) -> Iterator[Any]:
    """A step and what it holds, the containers themselves left out."""
    held: Iterable[Any] = ()
    if isinstance(step, (Pipeline, FeatureUnion)):
        held = [each for _, each in (step.steps if isinstance(step, Pipeline) else step.transformer_list)]
    elif isinstance(step, ColumnTransformer):
        held = [*(each for _, each, _ in step.transformers), step.remainder]
        if any(callable(columns) for _, _, columns in step.transformers):
            yield step  # its columns were chosen by a look at the table
    elif step is not None and not isinstance(step, str):  # "passthrough" and "drop"
        yield step
    for each in held:
        yield from _steps(each)


def _step_notes(pipelines: Iterable[Pipeline]) -> list[str]:
    before = [
        each for pipeline in reversed(list(pipelines)) for step in pipeline.steps[:-1] for each in _steps(step[1])
    ]
    public = [_PUBLIC_STEPS.get(type(step), lambda step: False)(step) for step in before]
    names = merged(type(step).__name__ for step, known in zip(before, public) if not known)
    notes = []
    if any(isinstance(step, PublicScaler) and is_draft(step.schema) for step in before):
        notes.append(
            "the schema is a draft made from data: its bounds, categories and label values are not public knowledge"
        )
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
    within what fits many times, unless a ledger is charged."""
    if not private:
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
    """The lists as one, each line once."""
    return list(dict.fromkeys(line for each in lists for line in each))
