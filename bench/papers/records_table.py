"""records_table.py - docs/measured/records.md, records.csv and figures/records.svg: how many records epsilon = 1 needs.

    build/venv/bin/python bench/papers/records_table.py [--build build/release] [--page]

`auto` beside the better of two fits without privacy, on the first n records of ten tables; accuracy on the last quarter
of each (bench_metric with HELD).  Nothing is tuned.  --page writes the page and the picture from records.csv alone.
"""

import argparse
import csv
import io
import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT / "bench" / "lib"))
import plot  # noqa: E402

TABLES = "adult-raw,bank,covtype,diabetes130,electricity,ipums-br,mushrooms,nist_acs,phishing,skin"
RECORDS = (25000, 10000, 4000, 1500, 600, 250)
FITS, POINT = 6, 0.01
FIELDS = ("data", "n", "p", "solver", "accuracy")
HEAD = """# How many records does ε = 1 need?

`bench/papers/records_table.py` measures this page in one run; [records.csv](records.csv) has every cell. `auto` at
ε = 1, δ = 1e-6, one record added or removed, public bounds or the table's own range, nothing tuned. Logistic loss on
the first n records, the mean of {fits} fits. Accuracy on the last quarter of the table, which no fit has seen.

*Exact:* the better of two fits without privacy on the same records, with and without a ridge of 10/n. *Enough:* the
least n that was tried from which on privacy costs less than one point of accuracy. *Constant:* the accuracy of the
more frequent class. Where it is nearly the exact one, there is little to lose, and few records are enough.

| table | columns | enough | cost there, points | exact | constant |
| --- | --- | --- | --- | --- | --- |
"""
TAIL = """
![What ε = 1 costs in points of accuracy, by the number of records](figures/records.svg)

At another ε about so many times 1/ε records have the same cost, as noise goes with n·ε
([choosing ε](../guide/choosing-epsilon.md)).
"""


def measure(given):
    environment = {**os.environ, "HELD": "0.25", "DELTA": "1e-6", "ROWS": ",".join(map(str, RECORDS))}
    command = [given.build / "bench" / "bench_metric", TABLES, "1", str(FITS), "auto", "exact", "constant"]
    done = subprocess.run(command, check=True, capture_output=True, text=True, env=environment, cwd=ROOT)
    rows = [{k: row[k] for k in FIELDS} for row in csv.DictReader(io.StringIO(done.stdout))]
    return sorted(rows, key=lambda r: (r["data"], int(r["n"])))


def costs(rows, name):
    """{n: (cost, exact, constant, columns)} of a table."""
    of = {}
    for r in rows:
        if r["data"] == name:
            of.setdefault(int(r["n"]), {"p": r["p"]})[r["solver"]] = float(r["accuracy"])
    return {n: (c["exact"] - c["auto"], c["exact"], c["constant"], c["p"]) for n, c in sorted(of.items())}


def page(rows):
    text = HEAD.format(fits=FITS)
    for name in sorted({r["data"] for r in rows}):
        of = costs(rows, name)
        enough = next((n for n in of if all(of[m][0] < POINT for m in of if m >= n)), None)
        last = enough or max(of)
        cost, exact, constant, columns = of[last]
        said = f"{enough:,}" if enough else f"above {last:,}"
        text += f"| {name} | {columns} | {said} | {100 * cost:.1f} | {100 * exact:.1f} | {100 * constant:.1f} |\n"
    return text + TAIL


def picture(rows):
    series = {name: [(n, 100 * c[0]) for n, c in costs(rows, name).items()] for name in sorted({r["data"] for r in rows})}
    return plot.figure("What ε = 1 costs", "records", "points of accuracy lost", series, True, False)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--build", type=Path, default=ROOT / "build" / "release")
    parser.add_argument("--out", type=Path, default=ROOT / "docs" / "measured")
    parser.add_argument("--page", action="store_true", help="only write the page and the picture")
    given = parser.parse_args()
    path = given.out / "records.csv"
    if not given.page:
        rows = measure(given)
        with open(path, "w", newline="") as file:
            out = csv.DictWriter(file, FIELDS, lineterminator="\n")
            out.writeheader()
            out.writerows(rows)
    with open(path, newline="") as file:
        rows = list(csv.DictReader(file))
    (given.out / "records.md").write_text(page(rows))
    (given.out / "figures" / "records.svg").write_text(picture(rows))


if __name__ == "__main__":
    main()
