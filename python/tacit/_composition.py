"""Several fits on the same people within one budget: what each may spend, and the certificate of all together."""

from __future__ import annotations

import json
import math
import warnings
from collections.abc import Callable, Iterable
from typing import Any, Optional, Tuple

from . import _accounting, _native, _provenance, _repeats
from ._matrix import Table
from ._model import Model, Plan
from ._native import Facts

_COMPOSE_STEPS = 12  # plans tried for several classes; four are enough where the cost is a power
_COMPOSE_SLACK = 3e-3  # part of epsilon that may be left over
SEED_STEP = 0x9E3779B97F4A7C15  # 2^64 over the golden ratio: neighbouring seeds stay apart


def _copies(events: list[str], count: int) -> list[str]:
    return [event for _ in range(count) for event in events]


def _copied_fits(facts: Facts, count: int) -> list[Facts]:
    return [{**fit, "count": count * fit["count"]} for fit in facts["fits"]]


def price_of(events: list[str], delta: float, neighbours: str) -> Facts:
    """What the accountants prove for a list; epsilon infinite where none of them knows it."""
    try:
        cost = _accounting.account(events, delta, neighbours=neighbours)
    except (ValueError, _native.BudgetError):
        return {"epsilon": math.inf, "accountant": None}
    return {**cost, "epsilon": math.inf} if cost["epsilon"] is None else cost


def within_budget(
    cost_at: Callable[[float], Tuple[Any, Facts]], epsilon: float, low: float, high: float
) -> Optional[Tuple[float, Any, Facts]]:
    """(each, facts, cost): the largest epsilon of a single fit, between low and high, at which all together cost at most
    epsilon; None where the accountants give no price.  cost_at(each) is (facts, cost)."""
    # The cost grows nearly as a power of the single epsilon: secants in logarithms, kept in a bracket.
    low, high, best = math.log(low), math.log(high), None
    at, aim, slope = low, math.log(epsilon) + math.log1p(-1e-3), 1.0
    last: Optional[Tuple[float, float]] = None
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


def compose(settings: Facts, rows: int, cols: int, count: int, table: Optional[Table]) -> Tuple[Facts, Facts, Facts]:
    """One epsilon for each of `count` fits on the same people, such that all together cost the whole.

    The events of all fits go through the accountants as one list; the largest epsilon of a single fit is found by
    bisection.  Where no accountant knows the list, plain division of epsilon and delta."""
    epsilon, delta = settings["epsilon"], settings["delta"]
    neighbours = {v: k for k, v in _native.NEIGHBOURS.items()}[settings["neighbours"]]

    def cost_at(each: float) -> Tuple[Facts, Facts]:
        facts = Plan({**settings, "epsilon": each}, rows, cols, table).facts
        return facts, price_of(_copies(facts["events"], count), delta, neighbours)

    best = within_budget(cost_at, epsilon, epsilon / count, epsilon)
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


def warn(cautions: Iterable[Facts], stacklevel: int = 4) -> None:
    """One warning for each caution of a plan, at the line that called fit.  What a promise says is, within a composition,
    the composition's to warn of."""
    for caution in cautions:
        if caution["weakens"] and _repeats.is_composed():
            continue
        category: type[Warning] = _native.PrivacyWarning if caution["weakens"] else _native.UtilityWarning
        warnings.warn(caution["text"], category, stacklevel=stacklevel)


def certificate(models: list[Model], together: Optional[Facts], charge: Optional[Facts]) -> Facts:
    """The privacy of all models together."""
    privacy: Facts = json.loads(json.dumps(models[0].privacy))
    privacy["unaccounted"] = _provenance.merged(*(model.privacy["unaccounted"] for model in models))
    if together is None:
        return privacy
    privacy.update(together)
    privacy["models"] = len(models)
    privacy["each"] = {key: models[0].privacy[key] for key in ("epsilon", "delta", "events")}
    if charge:
        privacy["ledger"] = {key: charge[key] for key in ("head", "run", "for_tests") if key in charge}
    return privacy
