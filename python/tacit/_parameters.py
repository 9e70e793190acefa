"""Parameters of an estimator as annotated fields: one constructor for all classes, with the signature of each.

scikit-learn reads the parameters from the constructor's signature; people and editors read them from the docstring.
Both are put together here from the classes that an estimator inherits from.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar

_K = TypeVar("_K", bound=type)

if TYPE_CHECKING:
    from typing_extensions import dataclass_transform
else:

    def dataclass_transform(**_: Any) -> Callable[[_K], _K]:
        return lambda decorated: decorated


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
