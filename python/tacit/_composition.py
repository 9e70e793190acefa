"""Several fits on the same people within one budget: what each may spend, and the certificate of all together."""

from __future__ import annotations

import ctypes
import json
import warnings
from collections.abc import Iterable, Sequence
from typing import Any, Optional, Tuple

from . import _native, _provenance, _repeats
from ._model import Callbacks, Model, config_of, facts_of
from ._native import Facts
from ._views import Certificate

_PRICE = ("events", "accountant", "epsilon", "delta", "fits", "choice")
SEED_STEP = 0x9E3779B97F4A7C15  # 2^64 over the golden ratio: neighbouring seeds stay apart


def _pointers(candidates: Sequence[Facts], table: Any) -> Any:
    configs = [config_of(settings, table) for settings in candidates]
    return (ctypes.POINTER(_native.Config) * len(configs))(*map(ctypes.pointer, configs))


class Composition(_native.Owned):
    """The library's plan for several fits on the same people; the arithmetic is all there."""

    def __init__(self, handle: int) -> None:
        self._own(handle, "tct_composition_free")
        self.facts = _native.call_json("tct_composition_json", handle)

    @classmethod
    def of_classes(
        cls,
        settings: Facts,
        rows: int,
        cols: int,
        count: int,
        table: Any,
        callbacks: Optional[Callbacks] = None,
        charged: bool = True,
    ) -> Tuple[Composition, Facts]:
        """(composition, facts of the plan of each): one model for each of `count` classes.  charged: the caller charges a
        ledger, and not the fit."""
        config = config_of({**settings, "ledger": None} if charged else settings, table, callbacks)
        made = cls(_native.call("tct_compose_classes", ctypes.byref(config), count, int(rows), int(cols)))
        return made, facts_of(_native.lib.tct_composition_plan(made.handle, 0), config)

    @classmethod
    def of_search(
        cls, candidates: Sequence[Tuple[Facts, int]], share: float, rows: int, cols: int, table: Any = None
    ) -> Composition:
        """candidates: (settings, number of models) of each; table: its schema has the bounds."""
        models = (ctypes.c_int64 * len(candidates))(*(count for _, count in candidates))
        configs = _pointers([settings for settings, _ in candidates], table)
        return cls(_native.call("tct_compose_search", configs, models, len(configs), share, int(rows), int(cols)))

    @classmethod
    def of_tries(
        cls, candidates: Sequence[Facts], classes: int, mean: int, share: float, rows: int, cols: int, table: Any = None
    ) -> Composition:
        """candidates: settings of each, of which every try draws one; mean: of the number of tries."""
        tries, configs, shape = _native.Tries(mean, share), _pointers(candidates, table), (int(rows), int(cols))
        return cls(_native.call("tct_compose_tries_classes", configs, len(configs), classes, ctypes.byref(tries), *shape))

    @property
    def price(self) -> Facts:
        """What everything costs together, and by what."""
        return {key: self.facts[key] for key in _PRICE if key in self.facts}


def warn(cautions: Iterable[Facts], stacklevel: int = 4) -> None:
    """One warning for each caution of a plan, at the line that called fit.  What a promise says is, within a composition,
    the composition's to warn of."""
    for caution in cautions:
        if caution["weakens"] and _repeats.is_composed():
            continue
        category: type[Warning] = _native.PrivacyWarning if caution["weakens"] else _native.UtilityWarning
        warnings.warn(caution["text"], category, stacklevel=stacklevel)


def certificate(models: list[Model], made: Optional[Composition]) -> Certificate:
    """The privacy of all models together, which every one of them claims.  made: their plan, where there are several."""
    privacy = Certificate(json.loads(json.dumps(models[0].privacy)))
    privacy["unaccounted"] = _provenance.merged(*(model.privacy["unaccounted"] for model in models))
    if made is None:
        return privacy
    fit = privacy["fits"][0]
    privacy.update(made.price)  # its events fit by fit, so that a reader can count the fits
    privacy["models"] = len(models)
    privacy["each"] = {key: fit[key] for key in ("epsilon", "delta", "events")}
    return privacy
