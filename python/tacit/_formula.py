"""A formula's text becomes the terms of a schema.  Nothing in it is evaluated, and no record is looked at."""

from __future__ import annotations

import ast
import math
import re
from typing import Any, Optional, Tuple

from ._native import Facts

_FUNCTIONS = {"log": 1, "log2": 1, "log10": 1, "log1p": 1, "sqrt": 1, "missing": 1, "year": 1, "month": 1, "weekday": 1,
              "quarter": 1, "years_between": 2, "days_between": 2}  # fmt: skip
_SPLINES = {"ns": "natural", "cr": "natural", "bs": "bspline"}
_READERS = ("scale", "center", "standardize", "cc", "te", "hashed", "lag", "factor")
_KNOTS = "knots evenly between the bounds, where R takes quantiles of the records"


def wrong(what: str) -> ValueError:
    return ValueError(f"the formula: {what}")


def parse(text: str) -> Tuple[Optional[str], list[list[str]]]:
    """(the outcome's column, the factors of each term)."""
    try:
        from formulaic.parser import DefaultFormulaParser
    except ImportError:
        raise ImportError("formulas need formulaic; install tacit[formula], or give a list of terms") from None
    try:
        sides = DefaultFormulaParser().get_terms(text)._to_dict()
        left = [(factor.expr, factor.eval_method.value) for term in sides.get("lhs", ()) for factor in term.factors]
        right = [[f.expr for f in term.factors] for term in sides.get("rhs", sides.get("root", ()))]
    except Exception as why:  # of many classes, with colours in their texts
        if "`.` operator" in str(why):
            raise wrong('"." stands for what the table holds; name the columns') from None
        raise wrong("it is not well formed; write it as y ~ a + b") from None
    if len(left) > 1 or (left and left[0][1] != "lookup"):
        raise wrong("its outcome is no column; name one, and put a function of it into the table")
    if ["1"] not in right:
        raise wrong("terms are coded beside an intercept; leave 0 and -1 away, and set fit_intercept")
    return (left[0][0] if left else None), [factors for factors in right if factors != ["1"]]


def bounded(columns: list[Facts], name: str) -> Facts:
    """A column of an exposure or offset, with its bounds."""
    own = next((column for column in columns if column["name"] == name), {})
    if not isinstance(own.get("lower"), (int, float)) or not isinstance(own.get("upper"), (int, float)):
        raise ValueError(f"the column {name!r} has no bounds in the schema, and an exposure or offset needs them; describe it there")
    return {"of": name, "lower": own["lower"], "upper": own["upper"]}


class Reading:
    """Factors as parts of terms.  What they ask of categories is in `references`, by column."""

    def __init__(self, columns: list[Facts]) -> None:
        self.columns = {str(column["name"]): column for column in columns}
        self.references: dict[str, str] = {}
        self.quoted: dict[str, str] = {}

    def terms(self, factors: list[list[str]]) -> list[Any]:
        """The terms as a schema has them.  A column and its square are one curve: the weights are the same, and noise in
        its basis hides them less."""
        made = [[self.part(self.tree(each)) for each in term] for term in factors]
        terms = [term[0] if len(term) == 1 else {"product": term} for term in made]
        inner = [part for term in made if len(term) > 1 for part in term]
        for name in [each for each in terms if isinstance(each, str)]:
            square = {"of": name, "as": "square"}
            if square in terms and square not in inner and name not in inner:
                terms[terms.index(name)] = {"of": name, "as": "power", "degree": 2}
                terms.remove(square)
        return terms

    def offset(self, factors: list[list[str]]) -> Tuple[Facts, list[list[str]]]:
        """(what offset(log(t)) or offset(o) says, the other factors)."""
        found = [term for term in factors if len(term) == 1 and term[0].startswith("offset(")]
        if not found:
            return {}, factors
        _, given, _ = _call(self.tree(found[0][0]))
        name, of, _ = _call(given[0]) if given else (None, [], {})
        if len(found) > 1 or not given or not isinstance(of[0] if name == "log" and of else given[0], ast.Name):
            raise wrong("an offset is one column, or the logarithm of one; write offset(log(t))")
        key, column = ("exposure", self.name(of[0])) if name == "log" else ("offset", self.name(given[0]))
        return {key: bounded(list(self.columns.values()), column)}, [term for term in factors if term not in found]

    def tree(self, text: str) -> ast.expr:
        """The factor's text, names in `backticks` kept aside."""

        def aside(found: Any) -> str:
            name = f"__{len(self.quoted)}"
            self.quoted[name] = found[1]
            return name

        if text in self.columns:
            text = f"`{text}`"
        try:
            return ast.parse(re.sub("`([^`]*)`", aside, text), mode="eval").body
        except SyntaxError:
            raise self._unknown(text) from None

    def name(self, node: ast.expr) -> str:
        if not isinstance(node, ast.Name):
            raise self._unknown(ast.unparse(node))
        return self.quoted.get(node.id, node.id)

    def part(self, node: ast.expr) -> Any:
        name, given, named = _call(node)
        if name == "C" and given:
            return self._levels(given, named)
        if name == "poly" and given:
            if _value(named.get("raw")) is not True:
                raise wrong("poly() takes its basis from the records; write poly(x, 2, raw=True), of the same curve")
            return {"of": self.number(given[0]), "as": "power", "degree": _value(*given[1:2], named.get("degree"))}
        if name in _SPLINES and given:
            return self._spline(name, given, named)
        if name == "cut" and given:
            low, high = self._bounds(given[0])
            breaks = [each for each in _list(*given[1:2], named.get("breaks")) if low < each < high]
            return {"of": self.number(given[0]), "as": "cut", "breaks": breaks}
        return self.number(node)

    def number(self, node: ast.expr) -> Any:
        """A column, or a function of one or two."""
        name, given, _ = _call(node)
        if name == "I" and len(given) == 1:
            return self.number(given[0])
        if name is not None and len(given) == _FUNCTIONS.get(name):
            of = [self.number(each) for each in given]
            return {"of": of[0] if len(of) == 1 else of, "as": name}
        if name in _READERS:
            raise wrong(f"{name}() reads the records; numbers are centred and scaled by their public bounds, and levels "
                        "are those of the schema: write the column alone")  # fmt: skip
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Pow) and _value(node.right) == 2:
            return {"of": self.number(node.left), "as": "square"}
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Div):
            below = self.number(node.right)
            if _value(node.left) == 1:
                return {"of": below, "as": "reciprocal"}
            return {"of": [self.number(node.left), below], "as": "ratio"}
        return self.name(node)

    def _levels(self, given: list[ast.expr], named: dict[str, ast.expr]) -> Any:
        of, coding = self.part(given[0]), named.get("contrasts", given[1] if given[1:] else None)
        if "levels" in named:
            raise wrong('levels are public; list them under "values" in the schema')
        if coding is not None:
            name, base, more = _call(coding)
            value = _value(*base[:1], more.get("base", more.get("reference")))
            if name not in ("contr.treatment", "Treatment", "treatment") or not isinstance(of, str) or value is None:
                raise wrong('levels are compared with one of them; write C(g, contr.treatment("a"))')
            self.references[of] = str(value)
        return of

    def _spline(self, name: str, given: list[ast.expr], named: dict[str, ast.expr]) -> Any:
        kind, degree = _SPLINES[name], _value(named.get("degree", ast.Constant(3)))
        made = {"of": self.number(given[0]), "as": "spline", "kind": kind}
        if kind == "bspline":
            made["degree"] = degree
        if "knots" in named:
            return {**made, "knots": _list(named["knots"])}
        df = _value(*given[1:2], named.get("df"))
        inner = df - (1 if kind == "natural" else degree) if isinstance(df, int) and isinstance(degree, int) else 0
        low, high = self._bounds(given[0])
        if not 0 < inner <= 30 or high == math.inf:
            raise wrong(f"knots are public; write e.g. {name}(x, knots=[2, 5]) within the bounds, or more df of a column")
        return {**made, "knots": [low + (high - low) * (k + 1) / (inner + 1) for k in range(inner)], "comment": _KNOTS}

    def _bounds(self, node: ast.expr) -> Tuple[float, float]:
        """Of a column; of what is computed they are the library's to find."""
        column = self.columns.get(self.name(node), {}) if isinstance(node, ast.Name) else {}
        ends = [column.get("lower"), column.get("upper")]
        low, high = (float(each) if isinstance(each, (int, float)) else math.nan for each in ends)
        return (low, high) if low < high else (-math.inf, math.inf)

    def _unknown(self, text: str) -> ValueError:
        words = ", ".join([*_FUNCTIONS, *_SPLINES, "poly, cut, C, I(x**2), I(a/b)"])
        return wrong(f"{text} is no function that can be public; there are {words}")


def _call(node: Optional[ast.expr]) -> Tuple[Optional[str], list[ast.expr], dict[str, ast.expr]]:
    """(the function's name, its arguments, those by name) of a call; of anything else (None, [], {})."""
    if not isinstance(node, ast.Call):
        return None, [], {}
    name = ast.unparse(node.func)
    return name[3:] if name.startswith("np.") else name, node.args, {str(each.arg): each.value for each in node.keywords}


def _value(*nodes: Optional[ast.expr]) -> Any:
    """The constant or list of constants that stands there, the first that does; None: none."""
    node = next((each for each in nodes if each is not None), None)
    try:
        return None if node is None else ast.literal_eval(node)
    except ValueError:
        return None


def _list(*nodes: Optional[ast.expr]) -> list[float]:
    found = _value(*nodes)
    if not isinstance(found, (list, tuple)) or not all(isinstance(each, (int, float)) for each in found):
        raise wrong("knots and breaks are public; write them as a list of numbers")
    return [float(each) for each in found]
