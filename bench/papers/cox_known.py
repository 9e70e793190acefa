#!/usr/bin/env python3
"""cox_known.py - coverage of private Cox regression where the hazards are known.

usage: build/cox/bin/python bench/papers/cox_known.py TACIT [RUNS [EPSILON,... [n,... [p,... [events,...]]]]]

Rows of docs/measured/cox-known.csv (cox_tables.py says how to make build/cox).  Proportional hazards with a Weibull
baseline, horizon 1, even censoring; half of the columns lognormal, two binary (one half and 15 %), the rest normal;
every fourth weight is 0.  `events`: the share of persons whose event is seen.  delta 1e-6.  cover: intervals that hold
the true weight; given: weights with an interval; width: the median error over lifelines' without noise; worst: the
largest of the columns' medians; found: type I errors.
"""
import csv, json, math, os, subprocess, sys, tempfile
from pathlib import Path

import numpy as np
import pandas as pd
from lifelines import CoxPHFitter

TACIT = os.path.abspath(sys.argv[1])
RUNS = int(sys.argv[2]) if len(sys.argv) > 2 else 100
EPSILONS, SIZES, COLUMNS, SHARES = (
    [float(v) for v in (sys.argv[k] if len(sys.argv) > k else default).split(",")]
    for k, default in ((3, "1,4"), (4, "2000,20000,100000"), (5, "5,10"), (6, "0.05,0.3,0.7"))
)


def table(n, p, level, rng):
    """(columns, margins' weights, time, event); level: of the logarithm of the hazard."""
    e = rng.standard_normal((n, p))
    x, spread = np.clip(e / 4, -1, 1), np.full(p, 0.25)
    x[:, : p // 2] = np.clip(np.exp(0.8 * e[:, : p // 2]) / 6, 0, 1) * 2 - 1
    x[:, p // 2 : p // 2 + 2] = 2 * (rng.random((n, 2)) < [0.5, 0.15]) - 1
    spread[: p // 2], spread[p // 2], spread[p // 2 + 1] = 0.3, 1, 0.71
    b = np.resize([0.8, -0.5, 0.3, 0.0], p)
    w = b / math.sqrt(b @ b) * 0.8 / spread
    time = (rng.exponential(1, n) * np.exp(-x @ w - level)) ** (1 / 1.3)
    end = np.minimum(rng.random(n) * 1.2 + 0.2, 1)
    return x, w, np.maximum(np.minimum(time, end), 1e-9), (time <= end).astype(int)


def level_of(p, share):
    low, high = -15.0, 10.0
    for _ in range(30):
        middle = (low + high) / 2
        low, high = (middle, high) if table(60000, p, middle, np.random.default_rng(0))[3].mean() < share else (low, middle)
    return low


def run(folder, *words):
    done = subprocess.run([TACIT, *words], cwd=folder, capture_output=True, text=True, check=True, env={**os.environ, "TACIT_REGISTRY": "none"})
    return done.stdout


def cell(folder, n, p, share, epsilon):
    level, cover, given, width, found = level_of(p, share), [], [], [], []
    names = [f"x{j}" for j in range(p)]
    columns = [{"name": name, "type": "number", "lower": -1, "upper": 1} for name in names]
    (folder / "s.json").write_text(json.dumps({"columns": columns, "label": {"time": "time", "event": "event", "horizon": 1}}))
    for k in range(RUNS):
        x, w, time, event = table(n, p, level, np.random.default_rng([n, p, int(100 * share), k]))
        frame = pd.DataFrame(x, columns=names).assign(time=time, event=event)
        frame.to_csv(folder / "t.csv", index=False, float_format="%.7g")
        if k < 3:
            exact = CoxPHFitter().fit(frame, "time", "event").standard_errors_.values
        run(folder, "train", "t.csv", "--schema", "s.json", "--loss", "cox", "--epsilon", str(epsilon), "--delta", "1e-6", "-o", "m.json")
        lines = json.loads(run(folder, "summary", "m.json", "--json"))["weights"]
        own = np.array([[line[key] if line[key] is not None else math.nan for key in ("lower", "upper", "standard_error")] for line in lines], float)
        ok = np.isfinite(own[:, 2])
        cover += list(((own[:, 0] <= w) & (w <= own[:, 1]))[ok])
        found += list(((own[:, 0] > 0) | (own[:, 1] < 0))[ok & (w == 0)])
        given.append(ok)
        width.append(own[:, 2] / exact)
    mean = lambda values, form: form % np.mean(values) if len(values) else ""
    seen = np.isfinite(width).any(0)
    median = np.nanmedian(np.array(width)[:, seen], 0) if seen.any() else []
    return [n, p, share, epsilon, RUNS, mean(cover, "%.3f"), mean(given, "%.3f"), f"{np.nanmedian(width):.2f}" if seen.any() else "",
            f"{max(median):.2f}" if seen.any() else "", mean(found, "%.3f")]  # fmt: skip


def main():
    out = csv.writer(sys.stdout, lineterminator="\n")
    out.writerow("n,p,events,epsilon,runs,cover,given,width,worst,found".split(","))
    for n in map(int, SIZES):
        for p in map(int, COLUMNS):
            for share in SHARES:
                for epsilon in EPSILONS:
                    with tempfile.TemporaryDirectory() as folder:
                        out.writerow(cell(Path(folder), n, p, share, epsilon))
                    sys.stdout.flush()


main()
