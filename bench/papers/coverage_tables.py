#!/usr/bin/env python3
"""coverage_tables.py - what 95 % intervals cover when real tables are the population.

    PYTHONPATH=python TACIT_LIBRARY=build/release/libtacit.so build/venv/bin/python bench/papers/coverage_tables.py \\
        [--rows N] [--runs R] [--epsilon E]

Each run draws N records with replacement from the whole table, whose exact fit is the truth, and trains with
errors="robust".  Columns are cut at their 1 and 99 % quantiles, for bounds that fit; numbers and columns of 0 and 1
that at least 2 % have.  Tables: bank, california, from ../shared/data or $TACIT_DATA.
"""
import argparse
import csv
import io
import lzma
import os
import pathlib
import warnings

import numpy as np
import tacit

DATA = pathlib.Path(os.environ.get("TACIT_DATA", pathlib.Path(__file__).parents[3] / "shared" / "data"))


def read(name):
    with lzma.open(DATA / name) as file:
        rows = list(csv.reader(io.TextIOWrapper(file)))
    a = np.array(rows[1:], dtype=float)
    x, y = a[:, :-1], a[:, -1]
    x = x[:, [j for j in range(x.shape[1]) if 0.02 < np.mean(x[:, j] != 0) and np.ptp(x[:, j]) > 0]]
    low, high = np.quantile(x, 0.01, axis=0), np.quantile(x, 0.99, axis=0)
    return np.clip(x, low, high)[:, low < high], y


def independent(x):
    """Without columns that the ones before determine, an intercept among them."""
    kept = [np.ones(len(x))]
    places = []
    for j in range(x.shape[1]):
        base = np.column_stack(kept)
        rest = x[:, j] - base @ np.linalg.lstsq(base, x[:, j], rcond=None)[0]
        if rest.std() > 0.05 * x[:, j].std():
            kept.append(x[:, j])
            places.append(j)
    return x[:, places]


def exact(x, y, binary):
    z, w = np.column_stack([x, np.ones(len(x))]), np.zeros(x.shape[1] + 1)
    for _ in range(40 if binary else 1):
        mean = 1 / (1 + np.exp(-z @ w)) if binary else z @ w
        curve = mean * (1 - mean) if binary else np.ones(len(z))
        w -= np.linalg.solve((z.T * curve) @ z, z.T @ (mean - y))
    return w


def measure(name, file, binary, args):
    x, y = read(file)
    x = independent(x)
    truth, bounds = exact(x, y, binary), (x.min(axis=0), x.max(axis=0))
    common = {"epsilon": args.epsilon, "delta": 1e-6, "bounds": bounds, "errors": "robust"}
    hit, given = np.zeros(len(truth)), np.zeros(len(truth))
    for run in range(args.runs):
        at = np.random.default_rng(run).integers(0, len(x), args.rows)
        if binary:
            model = tacit.PrivateLogisticRegression(C=np.inf, classes=[0, 1], random_state=run, **common)
        else:
            model = tacit.PrivateRidge(alpha=0, label_bounds=(y.min(), y.max()), random_state=run, **common)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            ends = model.fit(x[at], y[at]).conf_int()
        there = ~np.isnan(ends[:, 0])
        given += there
        hit += there & (ends[:, 0] <= truth) & (truth <= ends[:, 1])
    per = hit[given >= 20] / given[given >= 20]
    print(
        f"{name}: n {args.rows}, {len(truth)} weights, epsilon {args.epsilon:g}, {args.runs} runs: coverage "
        f"{hit.sum() / max(given.sum(), 1):.3f}, worst weight {per.min(initial=1):.3f}, withheld "
        f"{1 - given.sum() / (args.runs * len(truth)):.3f}",
        flush=True,
    )


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=20000)
    parser.add_argument("--runs", type=int, default=60)
    parser.add_argument("--epsilon", type=float, default=1.0)
    args = parser.parse_args()
    for name, file, binary in (("california", "california.csv.xz", False), ("bank", "bank_dpagd.csv.xz", True)):
        if not (DATA / file).exists():
            print(f"skipped: no data ({file})")
            continue
        measure(name, file, binary, args)


if __name__ == "__main__":
    main()
