#!/usr/bin/env python3
"""plan_table.py - does a plan keep its word?  The errors that --dry-run expects, over those of fits of real tables.

    PYTHONPATH=python TACIT_LIBRARY=build/release/libtacit.so build/venv/bin/python bench/papers/plan_table.py \\
        build/release/tacit [--rows N] [--runs R] [--epsilon E] [--tables NAME,...]

The plan is told the table's own facts: means, deviations, shares, rate, R2 and effects.  Each run draws N records from
the table (coverage_tables.py).  Rows with a value that less than 1 % have are left out.
"""
import argparse
import csv
import json
import os
import pathlib
import subprocess
import tempfile

import numpy as np
from coverage_tables import TABLES, cells, exact

LOSS = {"classes": "logistic", "counts": "poisson", "numbers": "squared"}


def explained(x, own):
    """The part of the variance of columns `own` that all others explain."""
    base = np.column_stack([np.ones(len(x)), np.delete(x, own, axis=1)])
    rest = x[:, own] - base @ np.linalg.lstsq(base, x[:, own], rcond=None)[0]
    return min(max(0, 1 - rest.var(axis=0).sum() / x[:, own].var(axis=0).sum()), 0.95)


def tacit(args, *words):
    made = subprocess.run([args.tacit, *map(str, words)], capture_output=True, text=True, env={**os.environ, "TACIT_REGISTRY": "none"})
    if made.returncode:
        raise SystemExit(made.stderr)
    return json.loads(made.stdout) if "--json" in words else None


def measure(name, args, folder):
    numbers, levels, y, kind = cells(*TABLES[name])
    common = np.all([np.full(len(y), True), *(at >= 0 for at, _ in levels.values())], axis=0)
    numbers = {column: (values[common], bounds) for column, (values, bounds) in numbers.items()}
    levels, y = {column: (at[common], words) for column, (at, words) in levels.items()}, y[common]
    parts = [values for values, _ in numbers.values()]
    columns, assumed, names = [], [], list(numbers)
    for column, (_, bounds) in numbers.items():
        columns.append({"name": column, "type": "number", "lower": bounds[0], "upper": bounds[1]})
    for column, (at, words) in levels.items():
        columns.append({"name": column, "type": "category", "values": words, "reference": words[0], "drop_first": True})
        parts += [(at == k).astype(float) for k in range(1, len(words))]
        names += [f"{column}={word}" for word in words[1:]]
    x, first = np.column_stack(parts), len(numbers)
    for j, column in enumerate(numbers):
        assumed.append(f"{column}={x[:, j].mean()}:{x[:, j].std()}:{explained(x, [j])}")
    for column, (at, words) in levels.items():
        own = list(range(first, first + len(words) - 1))
        shares = ":".join(str(np.mean(at == k)) for k in range(len(words)))
        assumed.append(f"{column}={shares}:{explained(x, own)}")
        first += len(own)
    facts = {"numbers": [y.std()], "classes": [y.mean()], "counts": [y.mean(), y.std()]}[kind]
    assumed.append(f"outcome={':'.join(map(str, facts))}")
    label = {"positive": "1", "values": ["0", "1"]} if kind == "classes" else dict(zip(("lower", "upper"), TABLES[name][2]))
    schema, table, model = folder / "schema.json", folder / "table.csv", folder / "model.json"
    kept = {"format": "tacit-schema", "version": 1, "scale": "symmetric", "label": {"name": "outcome", **label}, "columns": columns}
    schema.write_text(json.dumps(kept))
    asked = ["train", "--schema", schema, "--loss", LOSS[kind], "--errors", "robust", "--epsilon", args.epsilon, "--delta", "1e-6"]
    effects = ",".join(f"{column}={effect}" for column, effect in zip(names, exact(x, y, kind)[0]))
    plan = tacit(args, *asked, "--dry-run", "--records", args.rows, "--json", "--effect", effects, "--assume", ",".join(assumed))
    found = {column: [] for column in names}
    for run in range(args.runs):
        rows = np.random.default_rng(run).integers(0, len(y), args.rows)
        with table.open("w", newline="") as file:
            out = csv.writer(file)
            out.writerow([*numbers, *levels, "outcome"])
            for i in rows:
                row = [values[i] for values, _ in numbers.values()] + [words[at[i]] for at, words in levels.values()]
                out.writerow([*row, int(y[i]) if kind == "classes" else y[i]])
        tacit(args, *asked, "-o", model, table)
        for weight in tacit(args, "summary", model, "--json")["weights"]:
            if weight["name"] in found:
                found[weight["name"]].append(weight["standard_error"] or np.nan)
    ratios, withheld = [], []
    for weight in plan["expected"]["weights"]:
        errors = np.array(found.get(weight["name"], [np.nan]), dtype=float)
        if weight["name"] in found:
            withheld.append((weight["withheld"], np.isnan(errors).mean()))
        if weight["standard_error"] and not np.isnan(errors).all():
            ratios.append(weight["standard_error"] / np.nanmedian(errors))
    ratios = np.array(ratios)
    planned, seen = np.mean(withheld, axis=0)
    print(
        f"{name}, epsilon {args.epsilon:g}: expected over found {np.median(ratios):.2f}, within 1.3 "
        f"{np.mean(abs(np.log(ratios)) < np.log(1.3)):.2f} of {len(ratios)}, withheld {planned:.2f} expected, {seen:.2f} found"
    )


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("tacit", type=os.path.abspath)
    parser.add_argument("--rows", type=int, default=20000)
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--epsilon", type=float, default=1)
    parser.add_argument("--tables", default=",".join(TABLES))
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        for name in args.tables.split(","):
            measure(name, args, pathlib.Path(folder))


if __name__ == "__main__":
    main()
