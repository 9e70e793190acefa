"""What mechanisms cost together, and the ledger that keeps the account of a data set."""

import math
import os

from . import _native


def account(events, delta, *, neighbours="add_remove"):
    """The epsilon of a list of mechanism events composed in any order.

    events: event specs, e.g. ["sampled_gaussian:noise=1.1,rate=0.01,count=10000"].
    A dict: epsilon (proved), epsilon_lower, delta, accountant (which one proved it), accountants, neighbours.

    >>> account("gaussian:noise=2,count=4", 1e-6)["accountant"]
    'gdp'
    """
    array, count = _native.texts(events)
    relation = _native.choice("neighbours", neighbours, _native.NEIGHBOURS)
    return _native.call_json("tct_account_json", array, count, relation, math.nan, float(delta))


def calibrate(events, epsilon, delta, *, neighbours="add_remove"):
    """The same list with one number left out of one event: finds it for this epsilon.

    >>> round(calibrate("gaussian:count=4", 1.0, 1e-6)["noise"], 3)
    8.449
    """
    array, count = _native.texts(events)
    relation = _native.choice("neighbours", neighbours, _native.NEIGHBOURS)
    return _native.call_json("tct_account_json", array, count, relation, float(epsilon), float(delta))


def account_curve(events, *, against="delta", delta=math.nan, points=100, neighbours="add_remove"):
    """The cost as a curve, against delta or against the number of steps (then at this delta)."""
    array, count = _native.texts(events)
    relation = _native.choice("neighbours", neighbours, _native.NEIGHBOURS)
    return _native.call_json(
        "tct_account_curve_json", array, count, relation, _native.text(against), float(delta), int(points)
    )


class Ledger:
    """The privacy budget of one data set over many runs: a file.

    Give it, or its path, to an estimator's `ledger`.  Cloning and pickling keep the one file, so a clone spends the
    same budget; runs of several processes are charged one after the other.
    """

    def __init__(self, path):
        self.path = os.path.abspath(os.fspath(path))

    @classmethod
    def create(cls, path, *, epsilon, delta, name=None, filter=None, neighbours="add_remove"):
        """Makes the file.  filter: "sum" (default), "zcdp", "gdp" or "rdp"; fixed for ever."""
        relation = _native.choice("neighbours", neighbours, _native.NEIGHBOURS)
        _native.call(
            "tct_ledger_init", _native.text(path), _native.text(name), _native.text(filter), relation, epsilon, delta
        )
        return cls(path)

    def state(self):
        """The ledger as a dict: name, filter, epsilon, delta, head, runs, spent, left, information."""
        return _native.call_json("tct_ledger_json", _native.text(self.path))

    @property
    def spent(self):
        return self.state()["spent"]

    @property
    def left(self):
        return self.state()["left"]

    def check(self, models=()):
        """Was it edited, cut short or rolled back to before one of these model files?  A dict with ok and checks."""
        array, count = _native.texts([os.fspath(model) for model in models])
        return _native.call_json("tct_ledger_check_json", _native.text(self.path), array, count)

    def charge(self, events, *, epsilon=math.nan, delta, neighbours="add_remove"):
        """Charges events of a mechanism that runs elsewhere, before its first noise is drawn."""
        array, count = _native.texts(events)
        relation = _native.choice("neighbours", neighbours, _native.NEIGHBOURS)
        return _native.call_json(
            "tct_ledger_charge", _native.text(self.path), array, count, relation, float(epsilon), float(delta)
        )

    def __fspath__(self):
        return self.path

    def __sklearn_clone__(self):
        return self

    def __deepcopy__(self, memo):  # how scikit-learn before 1.3 clones
        return self

    def __eq__(self, other):
        return isinstance(other, Ledger) and self.path == other.path

    def __hash__(self):
        return hash(self.path)

    def __repr__(self):
        return f"Ledger({self.path!r})"
