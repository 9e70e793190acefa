"""Standard errors, tests and intervals of a model that was trained with them: `tacit summary` in Python."""

from __future__ import annotations

import html
import math
from typing import TYPE_CHECKING, Any, Optional

from ._native import Facts
from ._views import rows

if TYPE_CHECKING:
    from ._model import Model

_COLUMNS = (
    ("estimate", "estimate"),
    ("standard_error", "std. error"),
    ("noise_part", "noise part"),
    ("z", "z"),
    ("p_value", "P>|z|"),
    ("lower", "lower"),
    ("upper", "upper"),
    ("noise_error", "noise error"),
)
_NOISE = "Noise was added to protect the records; errors, intervals and p-values count it."


def _cell(key: str, value: Optional[float]) -> str:
    if value is None:
        return "NA"
    if key == "noise_part":
        return f"{100 * value:.0f} %"
    if key == "p_value":
        return "<2e-16" if value < 2e-16 else f"{value:.2e}" if value < 1e-4 else f"{value:.4f}"
    return f"{value:.3f}" if key == "z" else f"{value:.5g}"


def _lines(facts: Facts) -> list[Facts]:
    """One for each weight, that of the intercept first where there is one."""
    return [*([] if facts["intercept"] is None else [facts["intercept"]]), *facts["weights"]]


def _frames() -> Any:
    try:
        import pandas
    except ImportError as error:
        raise ImportError("tables with names need pandas; install it, or read summary().facts") from error
    return pandas


class Summary:
    """The table of weights on the original scale of the columns.  `facts` is the dict of `tacit summary --json`; print
    it for text, and a notebook shows it as a table.  With `exp` the table has odds, rate or hazard ratios and the ends of
    their intervals; errors, z and p-values stay those of the logarithms."""

    def __init__(self, facts: Facts, exp: bool = False) -> None:
        if exp and facts["ratio"] is None:
            raise ValueError(f"e to the weights of the loss {facts['loss']} is no ratio; leave exp away")
        self.facts = facts
        self._exp = exp

    def _columns(self) -> list[tuple[str, str]]:
        return [(key, self.facts["ratio"] if self._exp and key == "estimate" else title) for key, title in _COLUMNS]

    def _lines(self) -> list[Facts]:
        lines = _lines(self.facts)
        return [{**line, **line["ratio"]} for line in lines] if self._exp else lines

    def _feet(self) -> list[str]:
        f = self.facts
        claim = f"epsilon {f['epsilon']:g}, delta {f['delta']:g}, {f['neighbours']}" if f["private"] else "privacy NONE"
        feet = [f"{f['rows']} records; loss {f['loss']}, penalty {f['penalty']}; {claim}; level {f['level']:g}"]
        if f["errors"] is not None:
            feet += [f"errors: {f['errors']}", f["targets"]["population"] + ".", f["targets"]["table"] + "."]
            feet += [_NOISE] if f["private"] else []
        if f["residual_scale"] is not None:
            feet.append(f"residuals: root mean square {f['residual_scale']:.4g}, as released before the last step")
        if f["noise"] is not None:
            ends = [("?" if f["noise"][end] is None else f"{f['noise'][end]:.4g}") for end in ("min", "max")]
            feet.append(f"noise: deviation of a weight, in the model's own columns, between {ends[0]} and {ends[1]}")
        if f["advice"] is not None:
            feet.append(f["advice"])
        notes: dict[str, list[str]] = {}
        for line in self._lines():
            if line["note"] is not None and f["errors"] is not None:
                notes.setdefault(line["note"], []).append(line["name"])
        return feet + [f"{', '.join(names)}: {note}" for note, names in notes.items()]

    def _rows(self) -> list[list[str]]:
        head = ["", *(title for _, title in self._columns())]
        return [head] + [[line["name"], *(_cell(key, line[key]) for key, _ in _COLUMNS)] for line in self._lines()]

    def __str__(self) -> str:
        told = self._rows()
        widths = [max(len(row[k]) for row in told) for k in range(len(told[0]))]
        table = ["  ".join([row[0].ljust(widths[0]), *(c.rjust(w) for c, w in zip(row[1:], widths[1:]))]) for row in told]
        return "\n".join([*table, "", *self._feet()])

    __repr__ = __str__

    def _repr_html_(self) -> str:
        head, *lines = self._rows()
        return rows(head, lines, "", len(lines)) + "".join(f"<p>{html.escape(text)}</p>" for text in self._feet())


def _series(name: str, key: str, what: str) -> property:
    """A property, the Series of this name: one key of each line of the summary."""

    def read(self: Inference) -> Any:
        return self._of_weights(0.95, **{name: key})[name]

    read.__doc__ = what
    return property(read)


class Inference:
    """What an estimator that was fitted with `errors` knows about its weights: pandas series and frames with their
    names, the intercept first where there is one, on the original scale of the columns, as `summary` has them.
    (``coef_`` is scikit-learn's: of the model's own columns.)  NaN where an interval is withheld; `summary` says why."""

    model_: Model

    def _one_model(self) -> Model:
        from sklearn.utils.validation import check_is_fitted

        check_is_fitted(self, "model_")
        if self.model_.coefficients.ndim > 1:
            raise ValueError("one summary is about one model, and there is one for each class; use models_[k].summary()")
        return self.model_

    def summary(self, level: float = 0.95, exp: bool = False) -> Summary:
        """The table of weights with standard errors, tests and intervals.  Costs no privacy.

        Parameters
        ----------
        level : float, default=0.95
            Part of the intervals that hold what they are about, in (0, 1).
        exp : bool, default=False
            Print odds, rate or hazard ratios, e to the weights, with their intervals.
        """
        return self._one_model().summary(level, exp=exp)

    def _of_weights(self, level: float, **keys: str) -> Any:
        """A frame with a column for each key of a line of the summary."""
        facts = self._with_errors(level)
        lines = _lines(facts)
        columns = {title: [math.nan if line[key] is None else line[key] for line in lines] for title, key in keys.items()}
        return _frames().DataFrame(columns, index=[line["name"] for line in lines])

    def _with_errors(self, level: float = 0.95, covariance: bool = False) -> Facts:
        facts = self._one_model().summary(level, covariance=covariance).facts
        if facts["errors"] is None:
            raise AttributeError(
                "the model was trained without standard errors; give errors='model' or 'robust' and fit again"
            )
        return facts

    params_ = _series("params", "estimate", "Series of the weights.")
    bse_ = _series("bse", "standard_error", "Series of the standard errors: noise and sampling.")
    noise_bse_ = _series(
        "noise_bse",
        "noise_error",
        "Series of the part of the standard errors that is privacy noise: for this table's own weights without noise.",
    )
    pvalues_ = _series("pvalues", "p_value", "Series of two-sided p-values of weights that are 0 in the population.")

    def conf_int(self, level: float = 0.95) -> Any:
        """Frame of the ends of the intervals for the population's weights, columns lower and upper.

        Parameters
        ----------
        level : float, default=0.95
            Part of the intervals that hold what they are about, in (0, 1).
        """
        return self._of_weights(level, lower="lower", upper="upper")

    @property
    def cov_params_(self) -> Any:
        """Frame of the covariances of the weights, noise and sampling."""
        facts = self._with_errors(covariance=True)
        names = facts["covariance"]["names"]
        frame = _frames().DataFrame(facts["covariance"]["population"], index=names, columns=names, dtype=float)
        order = list(range(len(names))) if facts["intercept"] is None else [len(names) - 1, *range(len(names) - 1)]
        return frame.iloc[order, order]
