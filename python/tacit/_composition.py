"""Several fits on the same people within one budget: what each may spend, and the certificate of all together."""

from __future__ import annotations

import ctypes
import json
import warnings
from collections.abc import Iterable, Sequence
from typing import Any, Tuple

from . import _native
from ._callbacks import Callbacks
from ._model import Model, config_of, trained
from ._native import Facts
from ._views import Certificate

_PRICE = ("events", "accountant", "epsilon", "delta", "fits", "choice")


class Composition(_native.Owned):
    """The library's plan of a search: several fits on the same people, and the choice among them."""

    def __init__(self, candidates: Sequence[Facts], how: Facts, rows: int, cols: int, table: Any) -> None:
        """candidates: settings of each; how: the fields of tct_search; table: whose schema has the bounds, or None."""
        search = _native.filled("tct_search", _native.Search, how)
        configs = [config_of(settings, table) for settings in candidates]
        given = (ctypes.POINTER(_native.Config) * len(configs))(*map(ctypes.pointer, configs))
        made = _native.call("tct_search_plan", given, len(configs), ctypes.byref(search), int(rows), int(cols))
        self._own(made, "tct_composition_free")
        self.facts, self.parts = _native.call_json("tct_composition_json", made), len(configs)

    def fit(self, table: int, settings: Facts, callbacks: Callbacks) -> Tuple[Model, int, float]:
        """Runs the search: (the model that it keeps, the number of its candidate, its score).  table: its handle;
        settings: the fields of tct_config that a run has."""
        config, index, score = config_of(settings, None, callbacks), ctypes.c_int64(), ctypes.c_double()
        model = trained("tct_fit_search", callbacks, self.handle, table, *map(ctypes.byref, (config, index, score)))
        return model, index.value, score.value

    def plan(self, part: int) -> Facts:
        """The plan of one candidate."""
        return _native.call_json("tct_plan_json", _native.lib.tct_composition_plan(self.handle, part))

    @property
    def cautions(self) -> list[Facts]:
        """What any candidate's model may be of little use for, each said once."""
        said = {caution["text"]: caution for part in range(self.parts) for caution in self.plan(part)["warnings"]}
        return [caution for caution in said.values() if not caution["weakens"]]

    @property
    def price(self) -> Facts:
        """What everything costs together, and by what."""
        return {key: self.facts[key] for key in _PRICE if key in self.facts}


def warn(cautions: Iterable[Facts], stacklevel: int = 4) -> None:
    """One warning for each caution of a plan, at the line that called fit."""
    for caution in cautions:
        category: type[Warning] = _native.PrivacyWarning if caution["weakens"] else _native.UtilityWarning
        warnings.warn(caution["text"], category, stacklevel=stacklevel)


def certificate(model: Model, plan: Facts, part: int = 0) -> Certificate:
    """The model's privacy; of a fit for each class also what one of them has.  part: the number of the fit in the file."""
    privacy = Certificate(json.loads(json.dumps(model.privacy)))
    if "models" in plan and plan["private"]:
        fit = privacy["fits"][part]
        privacy.update(events=plan["events"], models=plan["models"])  # fit by fit, so that a reader can count the fits
        privacy["each"] = {key: fit[key] for key in ("epsilon", "delta", "events")}
    return privacy
