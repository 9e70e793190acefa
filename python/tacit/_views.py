"""What a notebook shows: HTML of ledgers, schemas, tables, models, certificates and verifications, and a progress bar."""

from __future__ import annotations

import contextlib
import html
import importlib
import math
import sys
from collections.abc import Iterable, Sequence
from typing import Any

from ._native import Facts

MOST_ROWS = 20  # of a list; the rest is counted


def number(value: Any) -> str:
    """A number as people read it; "infinite" and "-" for what has none."""
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return "-"
    if isinstance(value, float) and math.isinf(value):
        return "infinite" if value > 0 else "-infinite"
    return f"{value:,}" if isinstance(value, int) else f"{value:.6g}"


def _text(value: Any) -> str:
    return html.escape(number(value) if isinstance(value, (int, float)) and not isinstance(value, bool) else str(value))


def pairs(title: str, lines: Iterable[tuple[str, Any]]) -> str:
    """A head and lines of name and value; a value of None is left out."""
    body = "".join(f"<tr>{_head(name)}{_cell(value)}</tr>" for name, value in lines if value is not None)
    return f"<p><strong>{html.escape(title)}</strong></p><table><tbody>{body}</tbody></table>"


def _head(name: str) -> str:
    return f'<th style="text-align:left">{html.escape(name)}</th>'


def _cell(value: Any) -> str:
    """A cell; a long spec breaks anywhere, so that no table is wider than the page."""
    style = "text-align:left"
    if isinstance(value, str) and len(value) < 25:
        style += ";white-space:nowrap"
    elif isinstance(value, str) and " " not in value:
        style += ";overflow-wrap:anywhere;min-width:16em"
    return f'<td style="{style}">{_text(value)}</td>'


def rows(heads: Sequence[str], lines: Sequence[Sequence[Any]], what: str, most: int = MOST_ROWS) -> str:
    """A table of so many lines at most; what: the name of those that are left out."""
    if not lines:
        return ""
    head = "".join(map(_head, heads))
    body = "".join("<tr>" + "".join(map(_cell, line)) + "</tr>" for line in lines[:most])
    rest = len(lines) - most
    more = f"<p>and {rest:,} more {html.escape(what)}</p>" if rest > 0 else ""
    return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>{more}"


def alarm(text: str) -> str:
    return f'<p style="border-left:4px solid #a4161a;padding-left:.6em">{html.escape(text)}</p>'


def _budget(amount: Facts) -> str:
    return f"epsilon {number(amount['epsilon'])}, delta {number(amount['delta'])}"


def ledger(path: str, state: Facts) -> str:
    """state: `Ledger.state()`."""
    total, left = state["epsilon"], state["left"]["epsilon"]
    share = min(max(left / total, 0.0), 1.0) if total and math.isfinite(total) else 0.0
    gauge = (
        '<div style="max-width:30em;border:1px solid #888"><div style="background:#0b5f73;height:.6em;'
        f'width:{100 * share:.1f}%"></div></div><p>{100 * share:.1f} % of epsilon is left</p>'
    )
    head = pairs(
        f"Ledger {state['name'] or path}",
        [
            ("budget", f"{_budget(state)}, {state['neighbours']}"),
            ("spent", _budget(state["spent"])),
            ("left", _budget(state["left"])),
            ("filter", state["filter"]),
            ("unit", state["unit"]),
            ("people", state["people"] or None),
            ("file", path),
        ],
    )
    marks = ""
    if state["for_tests"]:
        marks += alarm("For tests: reproducible noise is taken, and no run of this ledger is a guarantee.")
    if state["unaccounted_runs"]:
        marks += alarm(f"{state['unaccounted_runs']} runs used the data in ways that no epsilon covers.")
    runs = [[run["time"].replace("T", " ").removesuffix("Z") + " UTC", run["epsilon"], run["delta"], run["what"]] for run in reversed(state["runs"])]
    return head + gauge + marks + rows(["run at", "epsilon", "delta", "what"], runs, "runs")


def _bounds(column: Facts) -> str:
    if column["type"] == "category":
        values = [str(value) for value in column.get("values", [])]
        more = f", and {len(values) - 6} more" if len(values) > 6 else ""
        return ", ".join(values[:6]) + more
    if "lower" in column and "upper" in column:
        return f"{column['lower']} to {column['upper']}"
    return ""


def schema(content: Facts) -> str:
    """content: `Schema.json`."""
    columns = content["columns"]
    used = sum(column["type"] != "ignore" for column in columns)
    label = content.get("label", {})
    head = pairs(
        "Schema",
        [
            ("columns", f"{used} used, {len(columns) - used} ignored"),
            ("terms", len(content["terms"]) if "terms" in content else None),
            ("label", label.get("name")),
            ("positive label", label.get("positive")),
            ("label bounds", f"{label['lower']} to {label['upper']}" if "lower" in label else None),
        ],
    )
    draft = "" if "not_private" not in content else alarm(
        "A draft: its values are the data's own. Replace every one by public knowledge, then delete not_private."
    )
    lines = [[column["name"], column["type"], _bounds(column)] for column in columns]
    return head + draft + rows(["column", "type", "bounds or values"], lines, "columns")


def table(shape: tuple[int, int], names: Sequence[str], labels: str, has_schema: bool) -> str:
    """What is known of a table without a look at a cell."""
    return pairs(
        "Table",
        [
            ("records", shape[0]),
            ("features", shape[1]),
            ("labels", labels),
            ("encoded by", "a schema" if has_schema else "nothing: numbers as they are"),
            ("names", ", ".join(names[:8]) + (f", and {len(names) - 8:,} more" if len(names) > 8 else "")),
        ],
    )


def certificate(privacy: Facts) -> str:
    """privacy: `privacy_` of an estimator, or `privacy` of a model."""
    if not privacy["private"]:
        return pairs("Certificate", [("privacy", "none")]) + alarm("This model has no privacy at all.")
    head = pairs(
        "Certificate",
        [
            ("epsilon", privacy["epsilon"]),
            ("delta", privacy["delta"]),
            ("what is hidden", {"add_remove": "one record's presence", "replace_one": "one record's content"}.get(
                privacy["neighbours"], privacy["neighbours"])),
            ("proved by", privacy["accountant"]),
            ("noise", privacy.get("noise")),
            ("models", privacy.get("models")),
        ],
    )
    events = rows(["events"], [[str(event)] for event in privacy.get("events", [])], "events")
    marks = "".join(alarm(f"Not covered: {line}") for line in privacy["unaccounted"])
    if privacy.get("noise") == "reproducible":
        marks += alarm("The noise can be reproduced: who knows the seed can take it away.")
    return head + marks + events


MOST_CLASSES = 6


def model(facts: Facts, weights: Sequence[Sequence[float]], privacy: str) -> str:
    """facts: `Model.json`; weights: a list for each class, or one; privacy: the certificate's HTML.  The features with the
    largest weights stand first."""
    columns = list(zip(*weights))
    names = facts["features"] or [f"x{j + 1}" for j in range(len(columns))]
    order = sorted(range(len(columns)), key=lambda j: -max(abs(each) for each in columns[j]))
    classes = [str(name) for name in facts.get("classes") or []]
    heads = [f"weight for {name}" for name in classes[:MOST_CLASSES]] if len(weights) > 1 else []
    head = pairs(
        "Model",
        [
            *((key, facts[key]) for key in ("loss", "penalty", "solver")),
            ("records", facts["rows"]),
            ("features", facts["columns"]),
            ("classes", ", ".join(classes) or None),
        ],
    )
    shown = max(len(heads), 1)
    lines = [[names[j], *(float(each) for each in columns[j][:shown])] for j in order]
    table_head = ["feature", *(heads or ["weight of the scaled feature"])]
    return head + rows(table_head, lines, "features, by size") + privacy


def verification(answer: Facts) -> str:
    """answer: `tacit.verify`."""
    lines = [["ok" if check["ok"] else "FAILED", check["name"], check["text"]] for check in answer["checks"]]
    failed = [line for line in lines if line[0] != "ok"]
    passed = [line for line in lines if line[0] == "ok"]
    return pairs("Verification", [("verdict", answer["verdict"])]) + rows(["", "check", "result"], failed + passed, "checks")


class Certificate(dict[str, Any]):
    """A certificate: the dict that the model file holds, which a notebook shows as a table."""

    def _repr_html_(self) -> str:
        return certificate(self)


def _notebook() -> bool:
    """Whether this runs in a notebook's kernel, which keeps whatever a cell has written."""
    shell = getattr(sys.modules.get("IPython"), "get_ipython", lambda: None)()
    return shell is not None and getattr(shell, "kernel", None) is not None


class _Pane:
    """A bar in a notebook: one output of the cell, which is drawn over and is empty in the end."""

    def __init__(self, **_: Any) -> None:
        from IPython.display import HTML, display

        self.html, self.n = HTML, 0
        self.output: Any = display(HTML(self._drawn()), display_id=True)

    def _drawn(self) -> str:
        return f'<progress value="{self.n}" max="100" style="width:20em"></progress> {self.n} %'

    def refresh(self) -> None:
        if self.n % 5 == 0 or self.n > 95:  # messages to the browser are dear
            self.output.update(self.html(self._drawn()))

    def close(self) -> None:
        self.output.update(self.html(""))


class _Line:
    """A bar on standard error."""

    def __init__(self, **_: Any) -> None:
        self.n = 0

    def refresh(self) -> None:
        done = round(0.4 * self.n)
        self._write(f"\rtacit [{'#' * done}{'.' * (40 - done)}] {self.n:3d} %")

    def close(self) -> None:
        self._write("\r" + " " * 54 + "\r")

    def _write(self, text: str) -> None:
        sys.stderr.write(text)
        sys.stderr.flush()


class Bar:
    """The bar of progress=True: it reaches 100 %, and is gone when the run has ended.  In a notebook it is an output that
    empties itself; elsewhere tqdm draws it where it is installed."""

    def __init__(self) -> None:
        self.drawn: Any = None
        self.make: Any = _Pane if _notebook() else _Line
        if self.make is _Line:
            with contextlib.suppress(ImportError):
                self.make = importlib.import_module("tqdm.auto").tqdm

    def __call__(self, fraction: float) -> None:
        percent = int(100 * fraction)
        if self.drawn is None:
            self.drawn = self.make(total=100, desc="tacit", unit="%", leave=False)
        elif percent == self.drawn.n:
            return
        self.drawn.n = percent
        self.drawn.refresh()

    def end(self) -> None:
        """Takes the bar away; after a run that failed, too."""
        if self.drawn is not None:
            self.drawn.close()
        self.drawn = None
