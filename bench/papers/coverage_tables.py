#!/usr/bin/env python3
"""coverage_tables.py - what 95 % intervals cover when real tables are the population.

    PYTHONPATH=python TACIT_LIBRARY=build/release/libtacit.so build/venv/bin/python bench/papers/coverage_tables.py \\
        [--rows N] [--runs R] [--epsilon E] [--json] [--weights] [--tables NAME,...]

Each run draws N records with replacement from the whole table, whose exact fit is the truth, and trains with
errors="robust".  Numbers have public bounds; values of categories that less than 1 % have are left out, and so is a
column that others determine.  `width` is the median half-width over 1.96 robust standard errors of an exact fit of the
same records.  `--weights`: also how often each weight is covered.  Tables: TABLES below, from ../shared/data or
$TACIT_DATA.
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

RESIDENTS = {"AGEP": (18, 99), "EDU": (1, 12), "DENSITY": (0, 5000)}
HOMES = "SEX MSP HISP RAC1P OWN_RENT DREM DPHY DEYE DEAR"
STAYS = {
    "time_in_hospital": (1, 14),
    "num_lab_procedures": (1, 120),
    "num_procedures": (0, 6),
    "num_medications": (1, 60),
    "number_diagnoses": (1, 16),
}
CARE = "race gender age admission_type_id A1Cresult insulin change diabetesMed"
PRICES = {"nswprice": (0, 1), "vicprice": (0, 1), "vicdemand": (0, 1), "transfer": (0, 1)}
HOURS = {"date": (0, 1), "day": (1, 7), "period": (0, 1)}
BLOOD = {"age": (50, 101), "male": (0, 1), "kappa": (0, 25), "creatinine": (0, 12), "mgus": (0, 1), "sampleyr": (1995, 2003)}

# Table: file, label, how it is read (a range: a number cut to it; else the positive class, or how text becomes 0 or 1),
# numbers with their public bounds, categories.
TABLES = {
    "california": ("california", "MedHouseVal", (0, 5), {"MedInc": (0, 12), "HouseAge": (0, 52), "AveRooms": (0, 12),
                   "AveBedrms": (0, 3), "Population": (0, 6000), "AveOccup": (0, 8), "Latitude": (32, 42),
                   "Longitude": (-125, -114)}, ""),
    "bank": ("bank_full", "y", "yes", {"age": (18, 95), "balance": (-3000, 20000), "day": (1, 31), "campaign": (1, 20),
             "pdays": (-1, 400), "previous": (0, 10)},
             "job marital education default housing loan contact month poutcome"),
    "adult": ("adult_train", "income", ">50K", {"age": (17, 90), "education_num": (1, 16), "capital_gain": (0, 20000),
              "capital_loss": (0, 3000), "hours_per_week": (1, 99)},
              "workclass marital_status occupation relationship race sex"),
    "nist_acs": ("nist_acs_national2019", "PINCP", lambda text: float(text) > 25000, RESIDENTS, HOMES),
    "nist_acs income": ("nist_acs_national2019", "PINCP", (0, 150000), RESIDENTS, HOMES),
    "diabetes130": ("diabetes130", "readmitted", "<30", STAYS, CARE),
    "diabetes130 inpatient": ("diabetes130", "number_inpatient", (0, 15, "counts"), STAYS, CARE),
    "diabetes130 emergency": ("diabetes130", "number_emergency", (0, 10, "counts"), STAYS, CARE),
    "electricity": ("electricity", "class", "UP", {**HOURS, **PRICES, "nswdemand": (0, 1)}, ""),
    "electricity demand": ("electricity", "nswdemand", (0, 1), {**HOURS, **PRICES}, ""),
    "flchain": ("flchain", "event", "1", {**BLOOD, "lambda": (0, 30)}, ""),
    "flchain lambda": ("flchain", "lambda", (0, 30), BLOOD, ""),
}  # fmt: skip


def cells(file, label, outcome, numbers, categories):
    """Numbers {name: (values, bounds)}, levels {name: (at, words)}, y, the kind of model.  words: what 1 % have, the
    commonest first; at: a place in them, -1 of rarer ones."""
    with lzma.open(DATA / f"{file}.csv.xz") as stream:
        rows = list(csv.DictReader(io.TextIOWrapper(stream)))
    rows = [row for row in rows if row[label] not in ("N", "")]
    texts = [row[label] for row in rows]
    known = {n: (np.clip(np.array([row[n] for row in rows], dtype=float), *ends), ends) for n, ends in numbers.items()}
    levels = {}
    for name in categories.split():
        values, at, counts = np.unique([row[name] for row in rows], return_inverse=True, return_counts=True)
        order = [k for k in np.argsort(-counts, kind="stable") if counts[k] >= 0.01 * len(rows)]
        place = np.full(len(values), -1)
        place[order] = np.arange(len(order))
        levels[name] = place[at], [str(values[k]) for k in order]
    if isinstance(outcome, tuple):
        y, kind = np.clip(np.array(texts, dtype=float), *outcome[:2]), "counts" if len(outcome) > 2 else "numbers"
    else:
        y, kind = np.array([outcome(t) if callable(outcome) else t == outcome for t in texts], dtype=float), "classes"
    return known, levels, y, kind


def read(*how):
    """x, bounds of its columns, y, the kind of model; a level's rarer values count as the commonest."""
    numbers, levels, y, kind = cells(*how)
    columns, bounds = (list(part) for part in zip(*numbers.values()))
    for at, words in levels.values():
        columns += [(at == k).astype(float) for k in range(1, len(words))]
    bounds += [(0, 1)] * (len(columns) - len(bounds))
    x, bounds = np.column_stack(columns), np.array(bounds, dtype=float)
    kept = independent(x)
    return x[:, kept], bounds[kept].T, y, kind


def independent(x):
    """Columns that those before, an intercept among them, do not determine."""
    kept, places = [np.ones(len(x))], []
    for j in range(x.shape[1]):
        base = np.column_stack(kept)
        rest = x[:, j] - base @ np.linalg.lstsq(base, x[:, j], rcond=None)[0]
        if rest.std() > 0.1 * x[:, j].std():
            kept.append(x[:, j])
            places.append(j)
    return places


def exact(x, y, kind):
    """The weights of least loss, the intercept last, and their robust standard errors."""
    z, w = np.column_stack([x, np.ones(len(x))]), np.zeros(x.shape[1] + 1)
    w[-1] = np.log(y.mean()) if kind == "counts" else 0
    for _ in range(1 if kind == "numbers" else 40):
        rest, curve = slopes(z @ w, y, kind)
        step = np.linalg.solve((z.T * curve) @ z, z.T @ rest)
        w -= step * (1 if kind == "numbers" else min(1, 3 / np.abs(z @ step).max()))
    rest, curve = slopes(z @ w, y, kind)
    inverse = np.linalg.inv((z.T * curve) @ z)
    return w, np.sqrt(np.diag(inverse @ ((z.T * rest**2) @ z) @ inverse))


def slopes(margins, y, kind):
    mean = {"classes": lambda m: 1 / (1 + np.exp(-m)), "counts": np.exp, "numbers": lambda m: m}[kind](margins)
    return mean - y, {"classes": mean * (1 - mean), "counts": mean, "numbers": np.ones_like(mean)}[kind]


def model_of(kind, outcome, run, common):
    if kind == "classes":
        return tacit.PrivateLogisticRegression(C=np.inf, classes=[0, 1], random_state=run, **common)
    if kind == "counts":
        return tacit.PrivatePoissonRegression(label_bounds=outcome[:2], random_state=run, **common)
    return tacit.PrivateRidge(alpha=0, label_bounds=outcome, random_state=run, **common)


def measure(name, how, args):
    x, bounds, y, kind = read(*how)
    truth = exact(x, y, kind)[0]
    common = {"epsilon": args.epsilon, "delta": 1e-6, "bounds": tuple(bounds), "errors": "robust"}
    width, hit = np.full((2, args.runs, len(truth)), np.nan)
    for run in range(args.runs):
        at = np.random.default_rng(run).integers(0, len(x), args.rows)
        model = model_of(kind, how[2], run, common)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            ends = np.roll(model.fit(x[at], y[at]).conf_int(), -1, axis=0)  # the intercept last
        width[run] = (ends[:, 1] - ends[:, 0]) / (2 * 1.96 * exact(x[at], y[at], kind)[1])
        hit[run] = np.where(np.isnan(width[run]), np.nan, (ends[:, 0] <= truth) & (truth <= ends[:, 1]))
    given = ~np.isnan(width)
    often = given.sum(axis=0) >= min(20, args.runs / 2)
    per = [hit[given[:, j], j].mean() for j in np.flatnonzero(often)]
    row = {
        "bench": "real",
        "table": name,
        "rows": args.rows,
        "weights": len(truth),
        "epsilon": args.epsilon,
        "runs": args.runs,
        "coverage": hit[given].mean() if given.any() else None,
        "worst": min(per) if per else None,
        "withheld": 1 - given.mean(),
        "width": np.median(width[given]) if given.any() else None,
    }
    if args.weights:
        row["each"] = [round(float(h), 2) for h in np.nanmean(np.where(given.any(axis=0), hit, 0), axis=0)]
    print(json.dumps(row) if args.json else row, flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=20000)
    parser.add_argument("--runs", type=int, default=60)
    parser.add_argument("--epsilon", type=float, default=1.0)
    parser.add_argument("--json", action="store_true", help="one JSON line a table")
    parser.add_argument("--weights", action="store_true", help="how often each weight is covered")
    parser.add_argument("--tables", help="names apart by commas; default all")
    args = parser.parse_args()
    for name, how in TABLES.items():
        if args.tables and name not in args.tables.split(","):
            continue
        if not (DATA / f"{how[0]}.csv.xz").exists():
            print(f"skipped: no data ({how[0]})")
            continue
        measure(name, how, args)


if __name__ == "__main__":
    main()
