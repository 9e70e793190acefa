"""metric_table.py - docs/measured/metric.md and metric.csv from runs of bench_metric.

    S=ipums-br,bank,california,covtype,adult-raw,phishing,skin,mushrooms
    build/release/bench/bench_metric $S 0.1,0.4,1.6,8 3 auto dpgd dpnewton objpert dpcd > now.csv
    ...the same with auto alone and the library of an earlier revision > before.csv
    python3 bench/papers/metric_table.py now.csv before.csv docs/measured

Excesses below FLOOR, where the optimum that they are measured from is itself known no better, count as FLOOR in ratios.
"""

import csv
import math
import sys
from pathlib import Path

GROUPS = {
    "used: constants were chosen on them": ("ipums-br", "bank", "a9a", "electricity", "california"),
    "looked at: seen while the rule of the path was changed": ("phishing", "mushrooms", "covtype"),
}
REST = "untouched: all others"
SOLVERS = ("auto", "dpgd", "dpnewton", "objpert", "dpcd")
FLOOR = 1e-6


def rows_of(path):
    with open(path, newline="") as file:
        return [row for row in csv.DictReader(file) if row["epsilon"] != "epsilon"]


def group_of(data):
    return next((text for text, sets in GROUPS.items() if data in sets), REST)


def excess(row):
    return max(float(row["excess"]), FLOOR)


def geometric(ratios):
    return math.exp(sum(map(math.log, ratios)) / len(ratios))


def summary(cells, keys):
    lines = ["| sets | cells | auto over auto before | largest | cells above 1 | auto over the best of the rest |", "| --- | --- | --- | --- | --- | --- |"]
    for group in ("all", *GROUPS, REST):
        chosen = [cells[k] for k in keys if group in ("all", group_of(k[0]))]
        if not chosen:
            continue
        ratios = [excess(c["auto"]) / excess(c["before"]) for c in chosen]
        best = [excess(c["auto"]) / min(excess(c[s]) for s in SOLVERS[1:] if s in c) for c in chosen]
        lines.append(
            f"| {group} | {len(ratios)} | {geometric(ratios):.2f} | {max(ratios):.2f} | {sum(r > 1 for r in ratios)} | {geometric(best):.2f} |"
        )
    return lines


def main(now_path, before_path, folder):
    cells = {}
    now, before = rows_of(now_path), rows_of(before_path)
    for row in now:
        cells.setdefault((row["data"], float(row["epsilon"])), {})[row["solver"]] = row
    for row in before:
        cells.setdefault((row["data"], float(row["epsilon"])), {})["before"] = row
    keys = [k for k, c in cells.items() if "auto" in c and "before" in c and len(c) > 2]
    folder = Path(folder)
    lines = [
        "# How much better is `auto` with `dpmetric`?",
        "",
        "Mean excess objective over the exact optimum, 3 fits, untuned, δ = 1e-5, add_remove, ε = 0.1, 0.4, 1.6 and 8. A solver",
        "is run again when its rules change, so rows may be of different runs. [metric.csv](metric.csv) has every cell.",
        "`bench/papers/bench_metric.c` says how sets and bounds are made, `bench/papers/metric_table.py` how this page is.",
        "",
        *summary(cells, keys),
    ]
    (folder / "metric.md").write_text("\n".join(lines) + "\n")
    with open(folder / "metric.csv", "w", newline="") as file:
        out = csv.DictWriter(file, ["build", *now[0]], lineterminator="\n")
        out.writeheader()
        out.writerows([{"build": "before", **row} for row in before] + [{"build": "now", **row} for row in now])


if __name__ == "__main__":
    main(*sys.argv[1:])
