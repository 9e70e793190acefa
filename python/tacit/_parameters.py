"""Parameters of an estimator: the table of what each may be, and one constructor for all classes.

Parameters are annotated fields.  scikit-learn reads them from the constructor's signature; people and editors read them
from the docstring.  Both are put together here from the classes that an estimator inherits from.
"""

from __future__ import annotations

import functools
import inspect
import math
import numbers
import os
import sys
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar, cast

import numpy as np

_F = TypeVar("_F", bound=Callable[..., Any])
_K = TypeVar("_K", bound=type)

if TYPE_CHECKING:
    from typing_extensions import dataclass_transform
else:

    def dataclass_transform(**_: Any) -> Callable[[_K], _K]:
        return lambda decorated: decorated


# ---- the table ----


def _is_number(value: Any, test: Callable[[Any], bool] = lambda value: True) -> bool:
    real = isinstance(value, numbers.Real) and not isinstance(value, bool)
    return real and (value in (math.inf, -math.inf) or abs(value) <= sys.float_info.max) and test(value)


def _number(test: Callable[[Any], bool]) -> Callable[[Any], bool]:
    return lambda value: _is_number(value, test)


def _whole(low: int, high: int = 2**31 - 1) -> Callable[[Any], bool]:
    return lambda value: isinstance(value, numbers.Integral) and _is_number(value) and low <= int(value) <= high


def _one_of(*words: str, options: bool = False) -> tuple[str, Callable[[Any], bool]]:
    """options: what follows a colon is the library's to look at."""
    said = ", ".join(f'"{word}"' for word in words[:-1]) + f' or "{words[-1]}"'
    return said, lambda value: isinstance(value, str) and (value.partition(":")[0] if options else value) in words


def _is_text(value: Any) -> bool:
    return isinstance(value, str) and bool(value.strip())


def _is_path(value: Any) -> bool:
    return isinstance(value, (str, os.PathLike)) and os.fsencode(value) != b"" and b"\0" not in os.fsencode(value)


def _are_numbers(values: Any) -> bool:
    """One, several, or several under names."""
    if isinstance(values, Mapping):
        return bool(values) and all(_are_numbers(each) for each in values.values())
    held = np.asarray(values)
    return held.dtype.kind in "iuf" or (held.dtype == object and all(_is_number(each) for each in held.ravel().tolist()))


def _are_bounds(value: Any) -> bool:
    """A pair, pairs by name, two sides by name, or a frame of them."""
    if hasattr(value, "columns"):
        return _are_numbers(value)
    if hasattr(value, "items"):  # a mapping, or a Series
        sides = dict(value.items())
        both = set(sides) == {"lower", "upper"}
        return _are_numbers(sides) if both else bool(sides) and all(map(_are_bounds, sides.values()))
    pair = isinstance(value, (list, tuple, np.ndarray)) and len(value) == 2
    return pair and all(np.ndim(side) < 2 and _are_numbers(side) for side in value)


def _are_labels(value: Any) -> bool:
    """Two or more, all texts or all numbers or truth values; NumPy makes no list of a text or a set."""
    listed = np.asarray(value, dtype=object)
    kinds = {str if isinstance(each, str) else isinstance(each, (numbers.Real, np.bool_)) for each in listed.tolist()}
    return listed.ndim == 1 and kinds in ({str}, {True}) and all(each == each for each in listed) and len(set(listed)) > 1


def _are_texts(value: Any) -> bool:
    return isinstance(value, str) or (isinstance(value, (list, tuple)) and all(isinstance(each, str) for each in value))


def _is_estimator(value: Any) -> bool:
    from sklearn.base import BaseEstimator

    return isinstance(value, BaseEstimator) and hasattr(value, "_penalty_spec")


def _is_grid(value: Any) -> bool:
    from sklearn.model_selection import ParameterGrid

    points = list(ParameterGrid(value)) if isinstance(value, (Mapping, Sequence)) else []
    return bool(points) and all(isinstance(name, str) for point in points for name in point)


def _is_flag(value: Any) -> bool:
    return isinstance(value, (bool, np.bool_))


class Rule(NamedTuple):
    """What a parameter must be, in words and as a test, and an example."""

    what: str
    holds: Callable[[Any], bool]
    give: str


def _alike(what: str, holds: Callable[[Any], bool], examples: str) -> dict[str, Rule]:
    """One rule of several parameters, each with its example."""
    return {name: Rule(what, holds, give) for name, _, give in (each.partition("=") for each in examples.split())}


# All parameters of all estimators, and some of functions: by name, or by owner and name where one name means two things.
_TABLE = {
    **_alike("True or False", _is_flag, "fit_intercept=True multiline=True covariance=True intercept=True"),
    **_alike("True or False", _is_flag, "for_tests=False seeded=False"),
    **_alike("a number above 0", _number(lambda value: value > 0), "epsilon=1.0 C=1.0"),
    **_alike(
        "a finite number above 0", _number(lambda value: 0 < value < math.inf),
        "data_norm=2.0 weight_cap=2.0 horizon=3650 row_norm=60 label_bound=60 seconds=60 timeout=60",
    ),
    **_alike("a number between 0 and 1", _number(lambda value: 0 < value < 1), "share=0.1 test_size=0.2 level=0.95"),
    **_alike("a whole number of at least 1", _whole(1), "rows_per_person=4 tries=50 ranks=2"),
    **_alike("a whole number of at least 1", _whole(1, 2**63 - 1), "plan.rows=1000 plan_errors.rows=1000"),
    **_alike("a whole number of at least 2", _whole(2), "n_classes=3"),
    **_alike("a whole number of at least 0", _whole(0), "rank=0"),
    **_alike(
        "a whole number of at least 0", _whole(0, 2**63 - 1),
        "cols=10 max_cols=10 max_header=10 max_line=10 max_expansion=10 memory=10 seed=10",
    ),
    **_alike("a number above 0", lambda value: value != value or _is_number(value), "Ledger.charge.epsilon=1.0"),
    "delta": Rule("a number in [0, 1)", _number(lambda value: 0 <= value < 1), "1e-6"),
    "bounds": Rule("(lower, upper), each numbers in order or by name", _are_bounds, "(0, 1)"),
    "estimate": Rule("a text", _is_text, '"bounds:budget_fraction=0.1"'),
    "solver": Rule("a text, the solver and its options", _is_text, '"auto"'),
    "errors": Rule(*_one_of("none", "model", "robust"), '"model"'),
    "neighbours": Rule(*_one_of("add_remove", "replace_one"), '"add_remove"'),
    "rows": Rule(*_one_of("clip", "unit"), '"clip"'),
    "ledger": Rule("a tacit.Ledger, or the path of one", _is_path, 'tacit.Ledger("people.ledger")'),
    "random_state": Rule(
        "a whole number from 0 to 2**64 - 1, or a numpy.random.RandomState",
        lambda value: isinstance(value, np.random.RandomState) or _whole(0, 2**64 - 1)(value),
        "1",
    ),
    "n_jobs": Rule(
        "a whole number from 1 to 4096, or negative for all processors",
        lambda value: _whole(-(2**31), 4096)(value) and value != 0,
        "2",
    ),
    "progress": Rule("True, False or a function", lambda value: _is_flag(value) or callable(value), "True"),
    "classes": Rule("a list of all labels, two or more", _are_labels, "[0, 1]"),
    "PrivateLogisticRegression.loss": Rule(*_one_of("auto", "logistic", "softmax"), '"auto"'),
    "PrivateLinearSVC.loss": Rule(*_one_of("hinge", "smoothed_hinge", options=True), '"smoothed_hinge:width=0.5"'),
    "label_bounds": Rule("(lower, upper), two numbers", _are_bounds, "(0, 1)"),
    "_FromZero.label_bounds": Rule("(0, largest), two numbers", _are_bounds, "(0, 20)"),
    "alpha": Rule("a finite number of at least 0", _number(lambda value: 0 <= value < math.inf), "1.0"),
    "l1_ratio": Rule("a number in [0, 1]", _number(lambda value: 0 <= value <= 1), "0.5"),
    "exposure": Rule("a column's name", lambda value: isinstance(value, str) and bool(value), '"days"'),
    "max_mean": Rule("a number above 0 and at most 22026", _number(lambda value: 0 < value <= math.exp(10)), "20"),
    "max_ratio": Rule("a number of at least 2 and at most 1e6", _number(lambda value: 2 <= value <= 1e6), "8"),
    "estimator": Rule("an estimator of this package, and no Pipeline", _is_estimator, "tacit.PrivateRidge()"),
    "param_grid": Rule("a dict of names and lists of values, or a list of such", _is_grid, '{"solver": ["dpgd", "auto"]}'),
    "selection": Rule(*_one_of("all", "random"), '"all"'),
    "schema": Rule(
        "a tacit.Schema, the path of a schema file, or its content",
        lambda value: hasattr(value, "label_values") or isinstance(value, Mapping) or _is_path(value),
        '"people.schema.json"',
    ),
    "events": Rule("a spec of events, or a list of such", _are_texts, '["gaussian:noise=2,count=4"]'),
    "unaccounted": Rule("a list of texts", lambda value: not isinstance(value, str) and _are_texts(value), '["a note"]'),
    "account_curve.delta": Rule("a number below 1", lambda value: value != value or _is_number(value), "1e-6"),
    "points": Rule("a whole number from 2 to 10000", _whole(2, 10000), "100"),
    "path": Rule("the path of a file", _is_path, '"people.csv"'),
    "Table.__init__.path": Rule(
        "the path of a file, for arrays and data frames go into fit and predict as they are", _is_path, '"people.csv"'
    ),
    "text": Rule("the text of a model file", _is_text, "model.text"),
    "content": Rule("the text of a schema file, or a dict", lambda value: _is_text(value) or isinstance(value, Mapping), "{}"),
    "input_changed": Rule("a text, the reason", _is_text, '"rows of March added"'),
    "models": Rule(
        "a list of paths", lambda value: isinstance(value, (list, tuple)) and all(map(_is_path, value)), '["model.json"]'
    ),
    "Ledger.charge.data": Rule("a table of tacit.read", lambda value: hasattr(value, "handle"), 'tacit.read("people.csv")'),
    "shape": Rule(
        "two whole numbers, of records and of features",
        lambda value: isinstance(value, (list, tuple)) and len(value) == 2 and all(map(_whole(1), value)),
        "(24, 4)",
    ),
    "Model.evaluate.random_state": Rule("a whole number from 0 to 2**64 - 1", _whole(0, 2**64 - 1), "1"),
    "plan_errors.effect": Rule(
        "numbers under the names of weights", lambda value: value == {} or (isinstance(value, Mapping) and _are_numbers(value)),
        '{"educ": 0.05}',
    ),
    "plan_errors.assume": Rule(
        "numbers under the names of columns", lambda value: isinstance(value, Mapping) and all(map(_are_numbers, value.values())),
        '{"age": [45, 12]}',
    ),
    "plan_errors.tries": Rule("a whole number from 1 to 1000", _whole(1, 1000), "10"),
    "repeated_fits": Rule(*_one_of("warn", "ok"), '"ok"'),
}


def rule_of(kind: type, name: str) -> Rule | None:
    """The rule of a class's parameter; None: it is one of the caller's own."""
    keys = [*(f"{base.__name__}.{name}" for base in kind.__mro__), name]
    return next((_TABLE[key] for key in keys if key in _TABLE), None)


def check(estimator: Any) -> None:
    """Refuses every parameter that the table does not allow, in one sentence; None is allowed where it is the default."""
    for name, parameter in inspect.signature(type(estimator).__init__).parameters.items():
        rule, value = rule_of(type(estimator), name), getattr(estimator, name, None)
        if rule is None:
            continue
        if value is None and parameter.default is None:
            if name == "epsilon" or (name == "delta" and estimator.epsilon != math.inf):
                raise ValueError(
                    f"{name} is not given and has no default: it is your promise to the people in the data; give e.g. "
                    f"{name}={rule.give}"
                )
            continue
        _refuse_other(name, value, rule)


def _refuse_other(name: str, value: Any, rule: Rule) -> None:
    try:
        holds = rule.holds(value)
    except Exception:  # whatever it is, it says so in its own words
        holds = False
    if not holds:
        raise ValueError(f"{name} must be {rule.what}; give e.g. {name}={rule.give}")


def checked(call: _F) -> _F:
    """A function that refuses what the table does not allow of its arguments."""
    signature = inspect.signature(call)
    keys = [(name, key) for name in signature.parameters for key in (name, f"{call.__name__}.{name}", f"{call.__qualname__}.{name}")]
    rules = {name: _TABLE[key] for name, key in keys if key in _TABLE}  # the longest key is the last

    @functools.wraps(call)
    def checking(*given: Any, **named: Any) -> Any:
        for name, value in signature.bind_partial(*given, **named).arguments.items():
            if name in rules and not (value is None and signature.parameters[name].default is None):
                _refuse_other(name, value, rules[name])
        return call(*given, **named)

    setattr(checking, "rules", rules)
    return cast(_F, checking)


# ---- the constructor ----

_HEAD = "    Parameters\n    ----------\n"


def _fields(kind: type) -> dict[str, Any]:
    """Name and default of each parameter, the class's own first, then those of its bases."""
    found: dict[str, Any] = {}
    for base in kind.__mro__:
        for name in base.__dict__.get("__annotations__", {}):
            if not name.startswith("_") and name in base.__dict__:
                found.setdefault(name, base.__dict__[name])
    return found


def _described(kind: type) -> str:
    """The class's docstring, its parameters followed by those that it inherits, in numpydoc's form."""
    own, found, tail = (kind.__doc__ or "").partition(_HEAD)
    inherited = [base.__dict__.get("_parameters_doc", "") for base in kind.__mro__[1:]]
    mine, _, rest = tail.partition("\n\n") if found else ("", "", "")
    lines = "\n".join(part.rstrip() for part in [mine, *inherited] if part.strip())
    setattr(kind, "_parameters_doc", mine.rstrip())
    if not lines:
        return own
    return f"{own.rstrip()}\n\n{_HEAD}{lines}\n" + (f"\n{rest.rstrip()}\n    " if rest.strip() else "    ")


@dataclass_transform(kw_only_default=True, eq_default=False)
def parameters(kind: _K) -> _K:
    """Class decorator: the annotated fields become keyword arguments of the constructor, which stores them as they are."""
    fields = _fields(kind)

    def __init__(self: Any, **given: Any) -> None:
        for name in given:
            if name not in fields:
                raise TypeError(f"{kind.__name__} has no parameter {name!r}; it has {', '.join(fields)}")
        for name, default in fields.items():
            setattr(self, name, given.get(name, default))

    listed = [inspect.Parameter("self", inspect.Parameter.POSITIONAL_OR_KEYWORD)]
    listed += [inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=value) for name, value in fields.items()]
    __init__.__qualname__ = f"{kind.__qualname__}.__init__"
    __init__.__module__ = kind.__module__
    setattr(__init__, "__signature__", inspect.Signature(listed))
    setattr(kind, "__init__", __init__)
    kind.__doc__ = _described(kind)
    return kind
