"""default_page.py - the page of default_table from the rows of default.csv."""

import json
import math

from footing import LOOKED_AT, NO_PUBLIC, USED

SHOWN = 0.8  # the epsilon whose cells the page has; the table beside it has all others
LEAST = 1e-6  # excesses below count as this in ratios
FORMS = ("gd", "metric", "metric2", "quadratic")
OURS = ("dpmetric", "dpgd", "dpnewton", "objpert", "dpcd", "dpsgd", "dpscd", "adassp")
GROUPS = ("all", "used", "looked at", "untouched")

HEAD = """# {title}

`bench/papers/default_table.py` measures every cell and writes this page; [{name}.csv]({name}.csv) has the figures
of every cell and solver, with seconds and settings.

Excess of the mean loss (and penalty) over its exact minimum, on the records that were fitted. One record added or
removed, {delta}, means and standard errors of {fits} fits. Classes: logistic loss, no penalty. california,
stay, income, synthetic, hours, demand: squared loss, ridge 1e-4. Columns are scaled by public bounds to [0, 1] unless a
row says min-max; R is the square root of the number of attributes plus one (`bench/lib/footing.py`).

* *Used:* {used}: constants of `auto` and `dpmetric` were chosen on them.
  *Looked at:* {looked}. *Untouched:* all others.
* *auto, dpmetric:* with tacit's own intercept, as users get it. The others were measured with a column of ones in
  its place, which the squared loss penalises.
* *before:* `auto` of an earlier build. *best other:* the best untuned solver that `auto` did not take, cell by cell.
* *oracle:* tuned without a charge on other splits, run again with fresh noise (`bench/papers/oracle.py`): gradient
  descent, a metric released once, quadratic statistics; *oracle 2* may also release its metric twice.
* *floor:* the whole budget in one noisy gradient at the exact minimum, then a shrunk Newton step: Euclidean noise
  (E), or noise in the exact metric (M).
* *constant:* the best constant prediction, without privacy.
* *GeoClip, AdaSSP+:* GeoClip (2025) at its best rate of each cell, and boosted AdaSSP (2023), as
  `bench/peers/rivals.py` has them from their papers.
"""

TITLES = {"ridge": "Ridge regression: auto, untuned, beside auto as it was before"}
TITLE = "auto, untuned, beside oracles, floors and rivals"


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


def figures(cells, other, bound):
    """One table cell: geometric mean, (worst), cells above the bound."""
    have = [c for c in cells if other in c.values]
    if not have:
        return "-"
    worst = max(have, key=lambda c: c.ratio(other))
    text = f"{geometric([c.ratio(other) for c in have]):.2f} (n {len(have)}; "
    text += f"worst {worst.ratio(other):.2f}, {worst.name} {worst.epsilon:g}"
    return text + (f"; above {bound:g}: {sum(c.above(other, bound) for c in have)})" if bound else ")")


def table(head, rows):
    return [
        "| " + " | ".join(head) + " |",
        "|" + " --- |" * len(head),
        *["| " + " | ".join(map(str, row)) + " |" for row in rows],
    ]


def summary(cells):
    groups = {g: [c for c in cells if g in ("all", c.group)] for g in GROUPS}
    compared = {o: bound for o, bound in COMPARED.items() if any(o in c.values for c in cells)}
    rows = [[f"auto / {NAMES.get(o, o)}", *[figures(groups[g], o, b) for g in GROUPS]] for o, b in compared.items()]
    return table(["geometric mean (cells; worst; above the bound beyond two standard errors)", *GROUPS], rows)


def shown(cell, method):
    if method not in cell.values:
        return "-"
    value, error = cell.values[method]
    text = f"{value:.2g}" if value < 1e-3 else f"{value:.4f}"
    return f"{text} ± {error:.1g}" if error else text


def main_table(cells):
    methods = ("auto", "before", "best other", "oracle", "oracle 2", "floor E", "floor M", "constant", *NAMES)
    methods = [m for m in methods if any(m in c.values for c in cells)]
    rows = []
    for c in cells:
        row = c.rows["auto"]
        marks = {
            "auto": row["setting"].split(":")[0],
            "best other": c.other,
            "oracle": c.form["oracle"],
            "oracle 2": c.form["oracle 2"],
        }
        texts = [shown(c, m) + (f" {marks[m]}" if marks.get(m) and m in c.values else "") for m in methods]
        name = c.name + (" (min-max)" if c.bounds == "min-max" else "")
        rows.append([name, f"{row['n']} × {row['p']}", f"{c.epsilon:g}", *texts])
    return table(["data", "n × p", "ε", *[NAMES.get(m, m) for m in methods]], rows)


def weak(cells):
    found = []
    for c in cells:
        why = [f"{c.ratio(o):.2f} times {o}" for o, b in BOUNDS.items() if o in c.values and c.above(o, b)]
        if why:
            found.append(f"* {c.name}, ε = {c.epsilon:g}: {', '.join(why)}")
    return found or ["None."]


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
        lines += [
            f"## δ = {title}, public bounds",
            "",
            *summary(main),
            "",
            "### Cells above a bound beyond two standard errors",
            "",
            *weak(main),
            "",
        ]
        lines += ["### One epsilon", "", *main_table([c for c in main if c.epsilon == SHOWN]), ""]
        if beside:
            lines += [f"## δ = {title}, min-max bounds", "", *summary(beside), ""]
    wide = [c for c in every if c.key[2:4] != ("1", "1")]
    if wide:
        lines += ["## Looser bounds", "", *wide_section(by_key, wide), ""]
    fits = sorted({int(r["fits"]) for r in rows}) or [0]
    deltas = sorted({"1/n²" if c.key[4] == "n2" else c.key[4] for c in right})
    facts = {"title": TITLES.get(name, TITLE), "delta": "δ = " + " or ".join(deltas), "fits": " to ".join(map(str, sorted({fits[0], fits[-1]})))}
    return (
        HEAD.format(**facts, name=name, used=", ".join(USED), looked=", ".join(LOOKED_AT))
        + "\n"
        + "\n".join(lines).rstrip()
        + "\n"
    )
