#!/usr/bin/env python3
"""cox_tables.py - private Cox regression on five tables of patients, beside R's survival and lifelines.

    apt-get install r-cran-survival; python3 -m venv build/cox && build/cox/bin/pip install lifelines==0.30.0
    build/cox/bin/python bench/papers/cox_tables.py build/release/tacit > docs/measured/cox.csv

usage: cox_tables.py TACIT [RUNS [PICTURE.svg]]

R's coxph (ties by Breslow) and lifelines' CoxPHFitter see the table without noise.  Each private run has --errors model,
delta 1e-6, one person added or removed.  flchain, support2 and rotterdam set the constants of dpcox; mgus2 and colon set
none.  Bounds and horizons are public guesses, typed by hand.  Columns:
  c_r, c_lifelines, c_private   the C-index on the table itself, the last the mean over runs
  apart    the largest difference between R's weights and lifelines', in standard errors
  kept     of the weights that R finds significant at 5 %, the share of runs in which they are so too, with the same sign
  wrong    significant weights of the wrong sign, of all
  given, width   the share of weights with an interval, and the median of their standard errors over R's
  band, wide, off   survival: the share of points whose band holds Kaplan-Meier's curve, the mean width, the largest
                    mean error, where more than 5 % are at risk
"""
import csv, io, json, lzma, math, os, subprocess, sys, tempfile
from pathlib import Path

import numpy as np
import pandas as pd
from lifelines import CoxPHFitter
from lifelines.utils import concordance_index

ROOT = Path(__file__).parents[2]
DATA = Path(os.environ.get("TACIT_DATA", ROOT.parent / "shared" / "data"))
TACIT, RUNS = os.path.abspath(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 10
SETS = {
    "flchain": (5200, dict(age=(50, 105), male=(0, 1), kappa=(0, 10), **{"lambda": (0, 10)}, creatinine=(0, 5), mgus=(0, 1), sampleyr=(1995, 2003))),
    "support2": (2100, dict(age=(18, 105), male=(0, 1), **{"num.co": (0, 9)}, scoma=(0, 100), meanbp=(0, 200), hrt=(0, 300), resp=(0, 90), temp=(30, 43),
                            crea=(0, 20), sod=(100, 190), diabetes=(0, 1), dementia=(0, 1), ca_met=(0, 1), ca_yes=(0, 1))),
    "rotterdam": (5500, dict(age=(20, 95), meno=(0, 1), size2=(0, 1), size3=(0, 1), grade3=(0, 1), nodes=(0, 30), pgr=(0, 1000), er=(0, 1000), hormon=(0, 1),
                             chemo=(0, 1))),
    "mgus2": (430, dict(age=(20, 100), male=(0, 1), hgb=(5, 20), creat=(0, 10), mspike=(0, 3))),
    "colon": (3400, dict(lev=(0, 1), lev5fu=(0, 1), sex=(0, 1), age=(18, 90), obstruct=(0, 1), perfor=(0, 1), adhere=(0, 1), nodes=(0, 30), differ=(1, 3),
                         extent=(1, 4), surg=(0, 1), node4=(0, 1))),
}  # fmt: skip
R = """library(survival); d <- read.csv("t.csv", check.names = FALSE)
f <- coxph(Surv(time, event) ~ ., d, ties = "breslow"); s <- summary(f)
write.csv(data.frame(w = coef(f), se = sqrt(diag(vcov(f))), c = s$concordance[1]), "r.csv", row.names = FALSE)"""


def load(name):
    """The table, cut to its bounds, with the columns time and event."""
    horizon, bounds = SETS[name]
    frame = pd.read_csv(io.StringIO(lzma.open(DATA / f"{name}.csv.xz", "rt").read()))
    if name == "support2":
        frame["male"], frame["ca_met"], frame["ca_yes"] = (frame.sex == "male") * 1, (frame.ca == "metastatic") * 1, (frame.ca == "yes") * 1
        frame["time"], frame["event"] = frame["d.time"], frame["death"]
    frame = frame[list(bounds) + ["time", "event"]].dropna()
    frame["event"] = ((frame.event == 1) & (frame.time <= horizon)).astype(int)
    frame["time"] = frame.time.clip(1e-9, horizon)
    for column, (low, high) in bounds.items():
        frame[column] = frame[column].clip(low, high).astype(float)
    return frame, horizon, bounds


def kaplan_meier(frame, at):
    order = np.argsort(frame.time.values, kind="stable")
    time, event = frame.time.values[order], frame.event.values[order]
    alive = np.cumprod(1 - event / (len(time) - np.searchsorted(time, time)))
    return np.r_[1.0, alive][np.searchsorted(time, at, side="right")]


def private(folder, epsilon):
    """(summary, model) of one run."""
    run = lambda *words: subprocess.run([TACIT, *words], cwd=folder, capture_output=True, text=True, check=True, env={**os.environ, "TACIT_REGISTRY": "none"}).stdout
    run("train", "t.csv", "--schema", "t.json", "--loss", "cox", "--epsilon", str(epsilon), "--delta", "1e-6", "-o", "m.json")
    return json.loads(run("summary", "m.json", "--json")), json.loads((folder / "m.json").read_text())


def measure(name, folder, panels):
    frame, horizon, bounds = load(name)
    frame.to_csv(folder / "t.csv", index=False)
    columns = [{"name": c, "type": "number", "lower": low, "upper": high} for c, (low, high) in bounds.items()]
    (folder / "t.json").write_text(json.dumps({"columns": columns, "label": {"time": "time", "event": "event", "horizon": horizon}}))
    subprocess.run(["Rscript", "-e", R], cwd=folder, check=True, capture_output=True)
    exact = pd.read_csv(folder / "r.csv")
    x, w, error = frame[list(bounds)].values, exact.w.values, exact.se.values
    other = CoxPHFitter().fit(frame, "time", "event")
    index = lambda score: concordance_index(frame.time, -score, frame.event)
    apart = np.max(np.abs(other.params_.values - w) / error)
    for epsilon in (1, 4):
        runs = [private(folder, epsilon) for _ in range(RUNS)]
        own = np.array([[line["estimate"] for line in s["weights"]] for s, _ in runs])
        errors = np.array([[line["standard_error"] or math.nan for line in s["weights"]] for s, _ in runs], float)
        found, true = np.abs(own / errors) > 1.96, np.abs(w / error) > 1.96
        same = np.sign(own) == np.sign(w)
        curves = [m["inference"]["survival"] for _, m in runs]
        at = np.array(curves[0]["time"])
        at = at[[np.mean(frame.time >= t) > 0.05 for t in at]]
        known, low, high, said = kaplan_meier(frame, at), *(np.array([c[k][: len(at)] for c in curves]) for k in ("lower", "upper", "estimate"))
        yield [name, len(frame), int(frame.event.sum()), len(w), epsilon, f"{exact.c[0]:.4f}", f"{index(x @ other.params_.values):.4f}",
               f"{np.mean([index(x @ one) for one in own]):.4f}", f"{apart:.2f}", f"{(found & same)[:, true].mean():.3f}", f"{(found & ~same).mean():.3f}",
               f"{np.isfinite(errors).mean():.3f}", f"{np.nanmedian(errors / error):.2f}", f"{((low <= known) & (known <= high)).mean():.3f}",
               f"{(high - low).mean():.4f}", f"{np.abs(said - known).mean(0).max():.4f}"]  # fmt: skip
        if epsilon == 1:
            panels.append((name, list(bounds), w, error, own[0], errors[0]))


def picture(panels):
    """Each weight in its exact standard errors from 0: R's interval above, that of one private run below."""
    lines, y, scale, middle = [], 20, 6, 330
    place = lambda v: middle + scale * float(np.clip(v, -40, 60))
    for name, columns, w, error, own, noisy in panels:
        lines.append(f'<text x="8" y="{y}" font-weight="bold">{name}</text>')
        for j, column in enumerate(columns):
            y += 16
            lines.append(f'<text x="16" y="{y + 4}">{column}</text>')
            for shift, colour, value, half in ((-3, "#888", w[j], 1.96 * error[j]), (3, "#0b6e99", own[j], 1.96 * noisy[j])):
                if math.isfinite(half):
                    a, b = place((value - half) / error[j]), place((value + half) / error[j])
                    lines.append(f'<line x1="{a:.1f}" x2="{b:.1f}" y1="{y + shift}" y2="{y + shift}" stroke="{colour}" stroke-width="2"/>')
                lines.append(f'<circle cx="{place(value / error[j]):.1f}" cy="{y + shift}" r="2.5" fill="{colour}"/>')
        y += 30
    axis = f'<line x1="{middle}" x2="{middle}" y1="6" y2="{y - 20}" stroke="#bbb"/>'
    words = '<text x="8" y="{0}">Weights in their exact standard errors, with 95 % intervals. Grey: R, without noise. Blue: one private run.</text>'
    return (f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 720 {y + 10}" font-family="sans-serif" font-size="11">'
            f'<rect width="720" height="{y + 10}" fill="white"/>{axis}{"".join(lines)}{words.format(y)}</svg>\n')  # fmt: skip


def main():
    out, panels = csv.writer(sys.stdout, lineterminator="\n"), []
    out.writerow("table,n,events,p,epsilon,c_r,c_lifelines,c_private,apart,kept,wrong,given,width,band,wide,off".split(","))
    for name in SETS:
        with tempfile.TemporaryDirectory() as folder:
            for row in measure(name, Path(folder), panels):
                out.writerow(row)
                sys.stdout.flush()
    if len(sys.argv) > 3:
        Path(sys.argv[3]).write_text(picture(panels))


main()
