"""Attacks on the promise of a plan: `tacit audit` in Python."""

from __future__ import annotations

import ctypes
from typing import Any, Optional

from . import _native
from ._native import Facts
from ._parameters import checked


@checked
def audit(
    loss: str,
    *,
    epsilon: float,
    delta: float = 1e-6,
    solver: Optional[str] = None,
    penalty: str = "none",
    neighbours: str = "add_remove",
    shape: tuple[int, int] = (24, 4),
    row_norm: float = 1.0,
    label_bound: Optional[float] = None,
    intercept: bool = True,
    errors: Optional[str] = None,
    seconds: float = 60,
    seed: int = 1,
) -> Facts:
    """Attacks the promise of a plan on tables that it invents; no records are needed, and none are read.

    Parameters
    ----------
    loss, penalty, solver : str
        Specs, e.g. "logistic", "l2:lambda=1e-2", "dpgd:clip=0.1".
    epsilon, delta : float
        The promise that is attacked.
    neighbours : {"add_remove", "replace_one"}, default="add_remove"
        What two neighbouring tables differ in.
    shape : (int, int), default=(24, 4)
        The public number of records and of features; small tables are attacked often.
    row_norm : float, default=1.0
        Public bound on the Euclidean norm of a row.
    label_bound : float, optional
        Public bound on the size of a label that is a number; None: 1.
    intercept : bool, default=True
        Whether the model has one.
    errors : {"model", "robust"}, optional
        Standard errors that the plan pays for, too.
    seconds : float, default=60
        How long to attack, in processor time.
    seed : int, default=1
        Of the invented tables.

    A dict, the same as that of `tacit audit --json`: audit, plan, arithmetic, behaviour, sensitivity, white_box,
    black_box, canaries, breaks (sentences), not_checked, unmoved and broken.  A library that was not built for audit leaves
    sensitivity and white_box None.  Set TACIT_LIBRARY to the libtacit_points.so of a build folder before the import to
    have them.

    >>> audit("logistic", epsilon=4, solver="dpgd:steps=2,clip=0.1", shape=(8, 2), seconds=0.5)["broken"]
    False
    """
    settings: Facts = {"loss": loss, "penalty": penalty, "solver": solver, "errors": errors, "label_bound": label_bound}
    settings["neighbours"] = _native.choice("neighbours", neighbours, _native.NEIGHBOURS)
    settings.update(epsilon=float(epsilon), delta=float(delta), row_norm=float(row_norm), intercept=int(intercept))
    config = _native.filled("tct_config", _native.Config, settings)
    if label_bound is None and _native.lib.tct_config_labels(ctypes.byref(config)) == 2:  # a number
        config.label_bound = 1.0
    rows, cols = shape
    return _native.call_json("tct_audit_json", ctypes.byref(config), None, int(rows), int(cols), float(seconds), int(seed))


def plot_audit(facts: Facts, ax: Any = None) -> Any:
    """Draws how well neighbours were told apart, beside what the promise allows; needs matplotlib.

    Parameters
    ----------
    facts : dict
        What `audit` returned.
    ax : matplotlib axes, optional
        None: new ones.

    Returns the axes.  The curves are those that were seen, without any confidence: `mu_lower` has that.
    """
    if ax is None:
        try:
            from matplotlib import pyplot
        except ImportError:
            raise ImportError("a drawing needs matplotlib; install it, or draw facts['white_box']['roc'] by other means") from None
        ax = pyplot.subplots()[1]
    for part, words in (("white_box", "all releases"), ("black_box", "final models")):
        roc = (facts.get(part) or {}).get("roc")
        if not roc:
            continue
        points = sorted(zip(roc["false_positives"], roc["true_positives"], roc["claimed"]))
        line = ax.plot([p[0] for p in points], [p[1] for p in points], label=f"{words}: seen")[0]
        ax.plot([p[0] for p in points], [p[2] for p in points], "--", color=line.get_color(), label=f"{words}: allowed")
    ax.plot([0, 1], [0, 1], ":", color="grey", label="guessing")
    ax.set_xlabel("false positives")
    ax.set_ylabel("true positives")
    ax.legend()
    return ax
