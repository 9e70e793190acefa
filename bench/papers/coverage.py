#!/usr/bin/env python3
"""coverage.py - what 95 % intervals cover, over many kinds of tables: bench_coverage, cell by cell.

    bench/papers/coverage.py BUILD OUT.jsonl [--runs R] [--cells all|paper|small] [--losses NAME,...] [--seconds S]

R tables a cell at n = 2,000, two fifths of it at 20,000 and a tenth at 200,000.  Cells that OUT.jsonl already has are
not run again, so that the command can be cut and taken up; after S seconds it starts no further cell.  It ends with a
table of what OUT.jsonl has.  paper: the cells of docs/measured/coverage.md.
"""
import argparse
import json
import pathlib
import subprocess
import sys
import time

KINDS = ["independent", "correlated", "skewed", "rare", "offset", "hetero", "skew_errors", "wrong", "categories"]
LOSSES = ["logistic", "squared", "huber", "poisson"]
LARGE = ("independent", "rare", "wrong")
PAPER = [(2000, 5, 4), (20000, 5, 1), (2000, 20, 4), (20000, 20, 1), (200000, 5, 1)]


def cells(which):
    """(loss, kind, n, p, epsilon), the cheap ones first."""
    if which == "small":
        return [(loss, kind, 2000, 5, 4) for loss in LOSSES for kind in ("independent", "correlated")]
    shapes = PAPER
    if which == "all":
        shapes = [(n, p, e) for n in (2000, 20000, 200000) for p in (5, 20) for e in (4, 1, 0.5)]
    found = [(loss, kind, *shape) for shape in shapes for kind in KINDS for loss in LOSSES]
    return [c for c in found if which == "all" or c[2] < 200000 or c[1] in LARGE]


def tables_of(runs, n):
    return max(1, runs * {2000: 10, 20000: 4, 200000: 1}[n] // 10)


def key(cell):
    return json.dumps([str(part) if isinstance(part, str) else float(part) for part in cell])


def known(path):
    rows = [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []
    return {key((r["loss"], r["kind"], r["n"], r["p"], r["epsilon"])): r for r in rows}


def table(rows):
    print("| loss | table | n | p | ε | tables | coverage | worst weight | withheld | width | of it noise | null found |")
    print("| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |")
    for r in rows:
        shown = [r[k] for k in ("coverage", "worst_weight", "withheld", "width", "noise_part", "null_found")]
        numbers = ["–" if v is None else f"{v:.3f}" if k < 3 or k > 4 else f"{v:.2f}" for k, v in enumerate(shown)]
        print("|", " | ".join([r["loss"], r["kind"], str(r["n"]), str(r["p"]), f"{r['epsilon']:g}", str(r["runs"]), *numbers]), "|")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build")
    parser.add_argument("out", type=pathlib.Path)
    parser.add_argument("--runs", type=int, default=300)
    parser.add_argument("--cells", choices=["all", "paper", "small"], default="paper")
    parser.add_argument("--losses", default=",".join(LOSSES))
    parser.add_argument("--seconds", type=float, default=float("inf"))
    args = parser.parse_args()
    end = time.monotonic() + args.seconds
    done = known(args.out)
    for cell in cells(args.cells):
        if cell[0] not in args.losses.split(",") or key(cell) in done or time.monotonic() > end:
            continue
        command = [f"{args.build}/bench/bench_coverage", *map(str, cell), str(tables_of(args.runs, cell[2]))]
        line = subprocess.run(command, check=True, capture_output=True, text=True).stdout
        with args.out.open("a") as file:
            file.write(line)
        print(line, end="", file=sys.stderr)
    table(known(args.out).values())


if __name__ == "__main__":
    main()
