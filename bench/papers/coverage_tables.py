#!/usr/bin/env python3
"""coverage_tables.py - what 95 % intervals cover when real tables are the population.

    PYTHONPATH=python TACIT_LIBRARY=build/release/libtacit.so build/venv/bin/python bench/papers/coverage_tables.py \\
        [--rows N] [--runs R] [--epsilon E] [--json] [--tables NAME,...]

Each run draws N records with replacement from the whole table, whose exact fit is the truth, and trains with
errors="robust".  Numbers are cut at their 1 and 99 % quantiles, for bounds that fit; values of categories that less
than 2 % have are left out.  Tables: bank, adult, california, nist_acs, from ../shared/data or $TACIT_DATA.
"""
import argparse
import csv
import io
import json
import lzma
import os
import pathlib
import warnings

import numpy as np
import tacit

DATA = pathlib.Path(os.environ.get("TACIT_DATA", pathlib.Path(__file__).parents[3] / "shared" / "data"))

ADULT = ("workclass", "marital_status", "occupation", "relationship", "race", "sex")
ACS = ("SEX", "MSP", "HISP", "RAC1P", "HOUSING_TYPE", "OWN_RENT", "EDU", "DREM", "DPHY", "DEYE", "DEAR")
UNUSED = ("PUMA", "NOC", "NPF", "INDP", "INDP_CAT", "PINCP_DECILE", "POVPIP", "DVET", "PWGTP", "WGTP")
TABLES = {
    "california": {"file": "california.csv.xz", "label": "MedHouseVal"},
    "bank": {"file": "bank_dpagd.csv.xz", "label": "y", "positive": lambda text: text == "1"},
    "adult": {
        "file": "adult_train.csv.xz",
        "label": "income",
        "positive": lambda text: text == ">50K",
        "drop": ("fnlwgt", "education", "native_country"),
        "categories": ADULT,
    },
    "nist_acs": {
        "file": "nist_acs_national2019.csv.xz",
        "label": "PINCP",
        "positive": lambda text: float(text) > 25000,
        "drop": UNUSED,
        "categories": ACS,
    },
}


def columns_of(rows, header, drop, categories):
    """Numbers cut at their 1 and 99 % quantiles; of categories the values that 2 % have, without the commonest."""
    out = []
    for j, name in enumerate(header):
        texts = np.array([row[j] for row in rows])
        if name in drop:
            continue
        if name in categories:
            values, counts = np.unique(texts, return_counts=True)
            values, counts = values[np.argsort(-counts)], np.sort(counts)[::-1]
            out += [(texts == v).astype(float) for v, c in zip(values[1:], counts[1:]) if c >= 0.02 * len(rows)]
        else:
            numbers = texts.astype(float)
            cut = np.clip(numbers, *np.quantile(numbers, (0.01, 0.99)))
            out += [cut] if np.ptp(cut) > 0 and np.mean(numbers != 0) > 0.02 else []
    return np.column_stack(out)


def read(file, label, positive=None, drop=(), categories=()):
    with lzma.open(DATA / file) as stream:
        rows = list(csv.reader(io.TextIOWrapper(stream)))
    at = rows[0].index(label)
    rows = [rows[0], *(row for row in rows[1:] if row[at] != "N")]
    texts = [row[at] for row in rows[1:]]
    y = np.array([float(t) if positive is None else positive(t) for t in texts], dtype=float)
    return columns_of(rows[1:], rows[0], {label, *drop}, categories), y


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


def measure(name, how, args):
    x, y = read(**how)
    x, binary = independent(x), "positive" in how
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
    row = {
        "bench": "real",
        "table": name,
        "rows": args.rows,
        "weights": len(truth),
        "epsilon": args.epsilon,
        "runs": args.runs,
        "coverage": hit.sum() / max(given.sum(), 1),
        "worst": per.min() if len(per) else None,
        "withheld": 1 - given.sum() / (args.runs * len(truth)),
    }
    print(json.dumps(row) if args.json else row, flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=20000)
    parser.add_argument("--runs", type=int, default=60)
    parser.add_argument("--epsilon", type=float, default=1.0)
    parser.add_argument("--json", action="store_true", help="one JSON line a table")
    parser.add_argument("--tables", help="names apart by commas; default all")
    args = parser.parse_args()
    for name, how in TABLES.items():
        if args.tables and name not in args.tables.split(","):
            continue
        if not (DATA / how["file"]).exists():
            print(f"skipped: no data ({how['file']})")
            continue
        measure(name, how, args)


if __name__ == "__main__":
    main()
