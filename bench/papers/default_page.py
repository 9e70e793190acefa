"""default_page.py - the page of default_table, and its table of ratios, from the rows of default.csv."""

import json
import math

from footing import LOOKED_AT, NO_PUBLIC, USED

LEAST = 1e-6  # excesses below count as this in ratios
FORMS = ("gd", "metric", "metric2", "quadratic")
OURS = ("dpmetric", "dpgd", "dpnewton", "objpert", "dpcd", "dpsgd", "dpscd", "adassp")
GROUPS = ("all", "used", "looked at", "untouched")

HEAD = """# {title}

`bench/papers/default_table.py` measures every cell and writes this page. [{name}.csv]({name}.csv) has the figures of
every cell and solver with seconds and settings, [{name}-ratios.csv]({name}-ratios.csv) each ratio.

Excess of the mean loss (and penalty) over its exact minimum, on the fitted records. One record is added or removed,
{delta}, means of {fits} fits. Classes: logistic loss, no penalty. Numbers: squared loss, ridge 1e-4.
Columns are scaled to [0, 1] by public bounds, or where a table says so by their minima and maxima.
"""
WORDS = """* *Used:* {used}: constants were chosen on them.
  *Looked at:* {looked}. *Untouched:* all others.
* *before:* an earlier `auto`. *best other:* the best untuned solver that `auto` did not take, by cell.
* *oracle:* tuned without a charge (`bench/papers/oracle.py`); *oracle 2* may also release its metric twice.
* *floor:* the budget in one noisy gradient at the exact minimum, then a shrunk Newton step: Euclidean noise (E), or
  noise in the exact metric (M). *constant:* the best constant, without privacy.
* *GeoClip* at its best rate of each cell, and boosted *AdaSSP* (`bench/peers/rivals.py`).
* Geometric means of `auto` (3 fits; others are older) over the other. *Above:* beyond it by two standard errors.
"""
TITLES = {"ridge": "How does `auto` compare for ridge regression?"}
TITLE = "How does `auto`, untuned, compare with oracles, floors and rivals?"
RATIOS = ("set", "bounds", "wide", "wide_label", "delta", "epsilon", "group", "other", "which", "ratio", "bound", "above")


class Cell:
    """The rows of one set at one epsilon, by method."""

    def __init__(self, key, rows):
        self.key, self.rows = key, {r["method"]: r for r in rows if r["excess"] not in ("", "inf")}
        self.name, self.bounds, self.epsilon = key[0], key[1], float(key[5])
        self.group = "used" if self.name in USED else "looked at" if self.name in LOOKED_AT else "untouched"
        self.values = {m: (max(float(r["excess"]), LEAST), float(r["error"] or 0)) for m, r in self.rows.items()}
        self.compare()

    def compare(self):
        taken = self.rows["auto"]["setting"].split(":")[0] if "auto" in self.rows else ""
        others = [m for m in OURS if m in self.values and m != taken]
        self.other = min(others, key=lambda m: self.values[m][0], default=None)
        self.best(("best other"), others)
        forms = [m for m in FORMS if m in self.values]
        tuned = {m: json.loads(self.rows[m]["setting"])["tuned"] for m in forms}
        once = [m for m in forms if m != "metric2"]
        self.form = {
            "oracle": min(once, key=tuned.get, default=None),
            "oracle 2": min(forms, key=tuned.get, default=None),
        }
        for name, form in self.form.items():
            if form and "metric" in forms and (name == "oracle" or "metric2" in forms):
                self.values[name] = self.values[form]
        if "floor" in self.rows:
            self.values["floor M"] = self.values.pop("floor")
            self.values["floor E"] = (max(json.loads(self.rows["floor"]["setting"])["euclidean"], LEAST), 0)

    def best(self, name, methods):
        if methods:
            self.values[name] = min(self.values[m] for m in methods)

    def ratio(self, other):
        return self.values["auto"][0] / self.values[other][0]

    def above(self, other, bound):
        """Is auto above bound times the other, beyond two standard errors?"""
        (a, s), (b, t) = self.values["auto"], self.values[other]
        return a - bound * b > 2 * math.hypot(s, bound * t)


BOUNDS = {"before": 1.05, "best other": 1.15, "oracle": 1.7, "oracle 2": 1.7, "constant": 1.0}
COMPARED = {**BOUNDS, "floor E": None, "floor M": None, "geoclip": 1.0, "boosted_adassp": 1.0}
NAMES = {"geoclip": "GeoClip", "boosted_adassp": "AdaSSP+"}


def geometric(ratios):
    return math.exp(sum(map(math.log, ratios)) / len(ratios))


def table(head, rows):
    return [
        "",
        "| " + " | ".join(head) + " |",
        "|" + " --- |" * len(head),
        *["| " + " | ".join(map(str, row)) + " |" for row in rows],
    ]


def ratios(cells):
    """A row for each cell and what it is compared with."""
    rows = []
    for c in cells:
        for other, bound in COMPARED.items():
            if other in c.values:
                which = c.other if other == "best other" else c.form.get(other, "")
                above = int(c.above(other, bound)) if bound else ""
                rows.append(dict(zip(RATIOS, (*c.key, c.group, NAMES.get(other, other), which, f"{c.ratio(other):.4g}", bound or "", above))))
    return rows


def summary(cells):
    rows = []
    for other, bound in COMPARED.items():
        have = [c for c in cells if other in c.values]
        if not have:
            continue
        by_group = [[c.ratio(other) for c in have if g in ("all", c.group)] for g in GROUPS]
        worst = max(have, key=lambda c: c.ratio(other))
        means = [f"{geometric(found):.2f}" if found else "-" for found in by_group]
        above = f"{sum(c.above(other, bound) for c in have)} above {bound:g}" if bound else "-"
        rows.append([NAMES.get(other, other), len(have), *means, f"{worst.ratio(other):.2f} ({worst.name}, {worst.epsilon:g})", above])
    return table(["auto over", "cells", *GROUPS, "worst (set, ε)", "above"], rows)


def wide_section(by_key, wide):
    """auto with looser bounds over auto with the right ones."""
    rows = []
    for cell in wide:
        base = by_key.get((*cell.key[:2], "1", "1", *cell.key[4:]))
        if base and "auto" in base.values and "auto" in cell.values:
            rows.append((*cell.key[2:4], cell.values["auto"][0] / base.values["auto"][0]))
    lines = []
    for kind in sorted({row[:2] for row in rows}):
        ratios = [row[2] for row in rows if row[:2] == kind]
        mean = f"geometric mean {geometric(ratios):.2f}, worst {max(ratios):.2f}, {len(ratios)} cells"
        lines.append(f"* R × {kind[0]}, Y × {kind[1]}: {mean}.")
    return lines


def page(rows, name):
    grouped = {}
    for row in rows:
        grouped.setdefault(
            tuple(row[k] for k in ("set", "bounds", "wide", "wide_label", "delta", "epsilon")), []
        ).append(row)
    by_key = {key: Cell(key, found) for key, found in grouped.items()}
    every = sorted(
        (c for c in by_key.values() if "auto" in c.values), key=lambda c: (GROUPS.index(c.group), c.name, c.epsilon)
    )
    right = [c for c in every if c.key[2:4] == ("1", "1")]
    lines = []
    for delta in sorted({c.key[4] for c in right}):
        cells = [c for c in right if c.key[4] == delta]
        main = [c for c in cells if c.bounds == "public" or c.name in NO_PUBLIC]
        beside = [c for c in cells if c not in main]
        title = "1/n²" if delta == "n2" else delta
        lines += [f"## δ = {title}, public bounds", *summary(main), ""]
        if beside:
            lines += [f"## δ = {title}, min-max bounds", *summary(beside), ""]
    wide = [c for c in every if c.key[2:4] != ("1", "1")]
    if wide:
        lines += ["## Looser bounds", *wide_section(by_key, wide), ""]
    fits = sorted({int(r["fits"]) for r in rows}) or [0]
    deltas = sorted({"1/n²" if c.key[4] == "n2" else c.key[4] for c in right})
    facts = {"title": TITLES.get(name, TITLE), "delta": "δ = " + " or ".join(deltas), "fits": " to ".join(map(str, sorted({fits[0], fits[-1]})))}
    words = "Its words are those of [default](default.md).\n" if name in TITLES else WORDS.format(used=", ".join(USED), looked=", ".join(LOOKED_AT))
    text = HEAD.format(**facts, name=name) + "\n" + words
    return text + "\n" + "\n".join(lines).rstrip() + "\n", ratios(right)
