"""What mechanisms cost together, and the ledger that keeps the account of a data set."""

from __future__ import annotations

import ctypes
import json
import math
import os
from collections.abc import Iterable, Sequence
from typing import Any, Optional, Union

from . import _native, _views
from ._native import Facts, Path
from ._parameters import checked

Events = Union[str, Sequence[str]]


def _asked(events: Events, neighbours: str) -> tuple[Any, int, int]:
    return *_native.texts(events), _native.choice("neighbours", neighbours, _native.NEIGHBOURS)


@checked
def account(events: Events, delta: float, *, neighbours: str = "add_remove") -> Facts:
    """The epsilon of a list of mechanism events composed in any order.

    Parameters
    ----------
    events : str or list of str
        Event specs, e.g. ["sampled_gaussian:noise=1.1,rate=0.01,count=10000"].
    delta : float
        Probability with which the promise may fail, in [0, 1).
    neighbours : {"add_remove", "replace_one"}, default="add_remove"
        What two neighbouring tables differ in.

    A dict: epsilon (proved), epsilon_lower, delta, accountant (which one proved it), accountants, neighbours.

    >>> account("gaussian:noise=2,count=4", 1e-6)["accountant"]
    'gdp'
    """
    return _native.call_json("tct_account_json", *_asked(events, neighbours), float(delta))


@checked
def calibrate(events: Events, epsilon: float, delta: float, *, neighbours: str = "add_remove") -> Facts:
    """The same list with one number left out of one event: finds it for this epsilon.

    Parameters
    ----------
    events : str or list of str
        Event specs, of which one lacks one number, e.g. "gaussian:count=4" its noise.
    epsilon : float
        What all events together may cost, above 0.
    delta : float
        The delta of that cost, in [0, 1).
    neighbours : {"add_remove", "replace_one"}, default="add_remove"
        What two neighbouring tables differ in.

    A dict: the number under its name, and the cost that it leads to.

    >>> round(calibrate("gaussian:count=4", 1.0, 1e-6)["noise"], 3)
    8.449
    """
    return _native.call_json("tct_calibrate_json", *_asked(events, neighbours), float(epsilon), float(delta))


@checked
def account_curve(
    events: Events,
    *,
    against: str = "delta",
    delta: float = math.nan,
    points: int = 100,
    neighbours: str = "add_remove",
) -> Facts:
    """The cost as a curve, against delta or against the number of steps (then at this delta).

    Parameters
    ----------
    events : str or list of str
        Event specs, e.g. ["sampled_gaussian:noise=1.1,rate=0.01,count=10000"].
    against : {"delta", "steps"}, default="delta"
        What the curve runs over.
    delta : float
        Of a curve against steps; otherwise left out.
    points : int, default=100
        Number of points of the curve.
    neighbours : {"add_remove", "replace_one"}, default="add_remove"
        What two neighbouring tables differ in.
    """
    steps = _native.choice("against", against, {"delta": 0, "steps": 1})
    if steps and math.isnan(delta):
        raise ValueError("a curve against steps is of one delta; give e.g. delta=1e-6")
    delta = delta if steps else math.nan
    return _native.call_json("tct_account_curve_json", *_asked(events, neighbours), float(delta), int(points))


def _relation(neighbours: str, unit: str) -> Facts:
    """Whom a budget protects, as the members that the structures have."""
    persons = _native.choice("unit", unit, {"record": 0, "person": 1})
    return {"neighbours": _native.choice("neighbours", neighbours, _native.NEIGHBOURS), "persons": persons}


class Ledger:
    """The privacy budget of one data set over many runs: a file.

    Give it, or its path, to an estimator's `ledger`.  Cloning and pickling keep the one file, so a clone spends the
    same budget; runs of several processes are charged one after the other.  A ledger knows its rows by a fingerprint:
    where they were appended or corrected since, give the reason as `input_changed`, which becomes an entry.

    Parameters
    ----------
    path : str or path
        The ledger's file, which `Ledger.create` has made.
    input_changed : str, optional
        Why the rows are not those of the runs before.
    """

    @checked
    def __init__(self, path: Path, *, input_changed: Optional[str] = None) -> None:
        self.path = os.path.abspath(os.fspath(path))
        self.input_changed = input_changed

    @classmethod
    @checked
    def create(
        cls,
        path: Path,
        *,
        epsilon: float,
        delta: float,
        name: Optional[str] = None,
        filter: Optional[str] = None,
        neighbours: str = "add_remove",
        unit: str = "record",
        people: Optional[str] = None,
        for_tests: bool = False,
        anchor: Optional[Path] = None,
    ) -> "Ledger":
        """Makes the file.  What is settled here is fixed for ever.

        Parameters
        ----------
        path : str or path
            The file, which must not be there yet.
        epsilon, delta : float
            What all runs together may cost: epsilon above 0, delta in (0, 1).
        name : str, optional
            What the ledger is called where its state is shown.
        filter : {"mixed", "sum", "zcdp", "gdp", "rdp"}, default="mixed"
            How the costs of runs are added up.
        neighbours : {"add_remove", "replace_one"}, default="add_remove"
            What two neighbouring tables differ in, for every run.
        unit : {"record", "person"}, default="record"
            Whom the budget protects; fits that protect the other are refused.
        people : str, optional
            Whose budget this is, in words.
        for_tests : bool, default=False
            Takes fits with a random_state, too; the ledger and all its models are marked.
        anchor : str or path, optional
            A new file elsewhere that names the newest row, so that a ledger that was rolled back is noticed.
        """
        asked = {"name": name, "filter": filter, "epsilon": epsilon, "delta": delta, "people": people, "anchor": anchor}
        asked.update(_relation(neighbours, unit), for_tests=bool(for_tests))
        options = _native.filled("tct_ledger_options", _native.LedgerOptions, asked)
        _native.call("tct_ledger_make", _native.text(path), ctypes.byref(options))
        return cls(path)

    def state(self) -> Facts:
        """The ledger as a dict: name, filter, epsilon, delta, head, runs, spent, left, information, unit, people, for_tests,
        anchor, lost_anchors, changes, reservations, unaccounted_runs, seeded_runs."""
        return _native.call_json("tct_ledger_json", _native.text(self.path))

    @property
    def spent(self) -> Any:
        """What the runs so far have cost: a dict with epsilon and delta."""
        return self.state()["spent"]

    @property
    def left(self) -> Any:
        """What a further run may cost."""
        return self.state()["left"]

    @checked
    def check(self, models: Any = ()) -> Facts:
        """Was it edited, cut short or rolled back to before one of these model files, or anchors?  A dict with ok, checks.

        Parameters
        ----------
        models : list of str or path
            Model files that were charged to it, and anchors.
        """
        listed = _native.texts([os.fspath(model) for model in models])
        return _native.call_json("tct_ledger_check_json", _native.text(self.path), *listed)

    @checked
    def charge(
        self,
        events: Events,
        *,
        epsilon: float = math.nan,
        delta: float,
        neighbours: str = "add_remove",
        unit: str = "record",
        seeded: bool = False,
        unaccounted: Iterable[str] = (),
        what: Optional[str] = None,
        data: Any = None,
        plan: Optional[Facts] = None,
    ) -> Facts:
        """Charges events of a mechanism that runs elsewhere, before its first noise is drawn.

        Parameters
        ----------
        events : str or list of str
            Event specs of all that the mechanism releases.
        epsilon : float, optional
            What it claims; the events must not cost more.  Left out: what the events cost.
        delta : float
            The delta of that claim, in (0, 1).
        neighbours : {"add_remove", "replace_one"}, default="add_remove"
            What two neighbouring tables of the claim differ in; the ledger's own.
        unit : {"record", "person"}, default="record"
            Whom the claim protects; the ledger's own.
        seeded : bool, default=False
            Its noise can be reproduced: refused, but by a ledger for tests.
        unaccounted : list of str
            Facts about the data that no event pays for.
        what : str, optional
            What ran, in words.
        data : Table, optional
            The rows, as `tacit.read` or a fit holds them; without them the input is not compared.
        plan : dict, optional
            What is charged, with `fits` and `choice` as a model file has them: a file that says another is then not this run's.
        """
        facts, path = _native.ended(unaccounted), _native.text(self.path)
        asked: Facts = {"epsilon": float(epsilon), "delta": float(delta), **_relation(neighbours, unit)}
        asked.update(what=what, input_changed=self.input_changed, seeded=bool(seeded), data=getattr(data, "handle", None))
        asked.update(unaccounted=ctypes.cast(facts, ctypes.c_void_p), plan=None if plan is None else json.dumps(plan))
        run = _native.filled("tct_charge", _native.Charge, asked)
        made = _native.call_json("tct_ledger_charge", path, *_native.texts(events), ctypes.byref(run))
        _native.tell(made.get("warning"), stacklevel=3)
        return made

    @checked
    def anchor(self, path: Path, *, lost: Optional[str] = None) -> None:
        """From now on a new file elsewhere names the newest row; a ledger that falls behind it is charged no more.

        Parameters
        ----------
        path : str or path
            The new file, best on another disk.
        lost : str, optional
            How the anchor of before was lost, which becomes a row of the ledger: whether it was rolled back before that,
            nobody can tell any more.
        """
        _native.call("tct_ledger_anchor", _native.text(self.path), _native.text(path), _native.text(lost))

    def __fspath__(self) -> str:
        return self.path

    def __sklearn_clone__(self, memo: Any = None) -> "Ledger":
        return self

    __deepcopy__ = __sklearn_clone__  # how scikit-learn before 1.3 clones

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Ledger) and self.path == other.path

    def __hash__(self) -> int:
        return hash(self.path)

    def __repr__(self) -> str:
        return f"Ledger({self.path!r})"

    def _repr_html_(self) -> str:
        return _views.ledger(self.path, self.state())
