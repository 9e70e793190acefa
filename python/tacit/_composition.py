"""Several fits on the same people within one budget: what each may spend, and the certificate of all together."""

from __future__ import annotations

import ctypes
import json
import warnings
from collections.abc import Iterable, Sequence
from typing import Any

from . import _native, _repeats
from ._model import Model, config_of
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
    def of_search(cls, candidates: Sequence[Facts], share: float, rows: int, cols: int, table: Any = None) -> Composition:
        """candidates: settings of each; table: its schema has the bounds."""
        configs = _pointers(candidates, table)
        return cls(_native.call("tct_compose_search", configs, len(configs), share, int(rows), int(cols)))

    @classmethod
    def of_tries(
        cls, candidates: Sequence[Facts], mean: int, share: float, rows: int, cols: int, table: Any = None
    ) -> Composition:
        """candidates: settings of each, of which every try draws one; mean: of the number of tries."""
        configs = _pointers(candidates, table)
        return cls(_native.call("tct_compose_tries", configs, len(configs), mean, share, int(rows), int(cols)))

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


def certificate(model: Model, plan: Facts) -> Certificate:
    """The model's privacy; of a fit for each class also what one of them has."""
    privacy = Certificate(json.loads(json.dumps(model.privacy)))
    if "models" in plan and plan["private"]:
        fit = privacy["fits"][0]
        privacy.update(events=plan["events"], models=plan["models"])  # fit by fit, so that a reader can count the fits
        privacy["each"] = {key: fit[key] for key in ("epsilon", "delta", "events")}
    return privacy
