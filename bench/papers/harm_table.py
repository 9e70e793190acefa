"""harm_table.py - docs/measured/harm.md and harm.csv: `auto` where there is little to learn, and as epsilon grows.

    build/venv/bin/python bench/papers/harm_table.py [--build build/release] [--only few,rare] [--page]

Every section is a few runs of bench_metric, with the environment that RUNS names; nothing is tuned.  Cells are kept in
harm.csv as they are measured; a section that is named by --only is measured anew.  --page writes the page alone.
"""

import argparse
import csv
import math
import os
import subprocess
from pathlib import Path

ROOT = Path(__file__).parents[2]
FIELDS = ("section", "setting", "data", "n", "p", "epsilon", "solver", "excess", "error", "fits")
# section: (title, what is measured, [(environment, sets, epsilons, fits)])
RUNS = {
    "few": (
        "300 records",
        "The first 300 records of each set.",
        [("ROWS=300", "bank,electricity,a9a,covtype,adult-raw,phishing,california,stay", "0.05,0.1,0.3,1", 20)],
    ),
    "rare": (
        "One positive in a hundred",
        "Positives are left out until one record in a hundred is one.",
        [("POSITIVES=0.01", "bank,electricity,covtype,adult-raw,diabetes130,ipums-br", "0.1,0.3,1,3", 10)],
    ),
    "wide": (
        "More columns than records",
        "The first records of each set, fewer than its columns.",
        [
            ("ROWS=50", "phishing,adult-raw", "0.1,1,3", 20),
            ("ROWS=100", "a9a,mushrooms", "0.1,1,3", 20),
            ("ROWS=200", "w8a", "0.1,1,3", 20),
        ],
    ),
    "growing": (
        "As epsilon grows",
        "All rows of phishing have norm R, those of mushrooms nearly. The excess may not rise.",
        [("", "phishing,mushrooms,covtype", "0.1,0.3,1,3,10,30,100", 6)],
    ),
}
PAID = "dpmetric:start=0.8,norms=0,slopes=0,budget_fraction=0.0001,second=0,path_length=0.001"
HEAD = """# Does `auto` do harm where there is little to learn?

`bench/papers/harm_table.py` measures every cell and writes this page; [harm.csv](harm.csv) has the figures. Excess of
the mean loss over its exact minimum, on the records that were fitted; means and standard errors. δ = 1e-5, one record
added or removed, public bounds, nothing tuned (`bench/papers/bench_metric.c`).

* *constant:* the best constant, exact and without privacy.
* *paid:* a constant for which four fifths of the budget are paid, so about the best that the budget allows.
* *above:* by more than two standard errors.
"""


def measure(given, section):
    rows = []
    for setting, sets, epsilons, fits in RUNS[section][2]:
        environment = {**os.environ, **dict(pair.split("=") for pair in setting.split() if pair)}
        command = [given.build / "bench" / "bench_metric", sets, epsilons, str(fits), "auto"]
        command += ["constant", PAID] if section != "growing" else []
        done = subprocess.run(command, check=True, capture_output=True, text=True, env=environment, cwd=ROOT)
        for row in csv.DictReader(done.stdout.splitlines()):
            rows.append({"section": section, "setting": setting, **{k: row[k] for k in FIELDS[2:]}})
    return rows


def place(row):
    return row["setting"], row["data"], row["epsilon"]


def against_constant(rows):
    by = {name: {place(r): r for r in rows if r["solver"] == name} for name in ("auto", "constant", PAID)}
    above = {"constant": [], "paid": []}
    for key, r in by["auto"].items():
        own, error = float(r["excess"]), float(r["error"])
        best, paid = float(by["constant"][key]["excess"]), by[PAID][key]
        spread = math.hypot(error, float(paid["error"]))
        marks = {"constant": (own - best, error), "paid": (own - float(paid["excess"]), spread)}
        worse = [name for name, (by_how_much, e) in marks.items() if by_how_much > 2 * e]
        for name in worse:
            above[name].append(marks[name][0])
    counts = [f"above {n}: {len(a)} cells" + (f", by {max(a):.4f} at most" if a else "") for n, a in above.items()]
    return f"{len(by['auto'])} cells; {'; '.join(counts)}."


def growing(rows):
    rises = 0
    for name in dict.fromkeys(r["data"] for r in rows):
        of = [(float(r["excess"]), float(r["error"])) for r in rows if r["data"] == name]
        rises += sum(b[0] - a[0] > 2 * (a[1] ** 2 + b[1] ** 2) ** 0.5 for a, b in zip(of, of[1:]))
    return f"Rises beyond two standard errors: {rises}."


def page(rows):
    text = HEAD
    for section, (title, what, runs) in RUNS.items():
        of = [r for r in rows if r["section"] == section]
        if not of:
            continue
        text += f"\n## {title}\n\n{what} {runs[0][3]} fits.\n\n"
        text += (growing(of) if section == "growing" else against_constant(of)) + "\n"
    return text


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--build", type=Path, default=ROOT / "build" / "release")
    parser.add_argument("--only", default=",".join(RUNS))
    parser.add_argument("--out", type=Path, default=ROOT / "docs" / "measured")
    parser.add_argument("--page", action="store_true", help="only write the page")
    given = parser.parse_args()
    path, rows = given.out / "harm.csv", []
    if path.exists():
        with open(path, newline="") as file:
            rows = list(csv.DictReader(file))
    for section in [] if given.page else given.only.split(","):
        rows = [r for r in rows if r["section"] != section] + measure(given, section)
        rows.sort(key=lambda r: list(RUNS).index(r["section"]))
        with open(path, "w", newline="") as file:
            out = csv.DictWriter(file, FIELDS, lineterminator="\n")
            out.writeheader()
            out.writerows(rows)
    (given.out / "harm.md").write_text(page(rows))


if __name__ == "__main__":
    main()
