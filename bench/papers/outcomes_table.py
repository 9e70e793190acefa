"""outcomes_table.py - docs/measured/outcomes*.csv: every column of real tables in turn the outcome of a linear model.

    cmake --preset release && cmake --build build/release && tools/setup.sh python
    build/venv/bin/python bench/papers/outcomes_table.py --old PATH/TO/EARLIER/tacit
    build/venv/bin/python bench/papers/outcomes_table.py --sets bank --eps 1 --fits 2 --every 3

Columns are cut to public bounds and scaled to [-1, 1]; a missing value is the lower bound.  The other columns and an
intercept explain the outcome, without a penalty.  R is the root of the columns plus one, Y = 1, delta 1e-6, one record
added or removed.  The figure is the R^2 that a fit loses against exact least squares on the same records, the mean over
--fits seeds for each outcome; over outcomes the geometric mean and the worst.  --stress: a table's outcome under the
label bound, bounds, columns and intercepts that users bring.

--moments: one release of the table's moments, epsilon in total for all outcomes (bench_moments); with --intervals tables
are drawn again from the real one with replacement, and the whole one is the population: how many slopes' 95 % intervals
hold its weights, and their width over that of exact robust errors.
"""

import argparse
import csv
import io
import json
import lzma
import math
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

ROOT = Path(__file__).parents[2]
DATA = Path(os.environ.get("TACIT_DATA", ROOT.parent / "shared" / "data"))
DELTA = 1e-6
# What is printed goes to outcomes.csv, outcomes-intervals.csv and outcomes-stress.csv.
HEADS = {
    "outcomes": "asked,table,epsilon,who,geometric,worst,worst column",
    "intervals": "table,epsilon,errors,cover,width",
    "stress": "table,case,epsilon,who,lost",
}

BOUNDS = {
    "california": dict(MedInc=(0, 15), HouseAge=(0, 52), AveRooms=(0, 20), AveBedrms=(0, 5), Population=(0, 6000), AveOccup=(0, 10),
                       Latitude=(32, 42), Longitude=(-125, -114), MedHouseVal=(0, 5)),
    "bank": dict(age=(18, 95), balance=(-2000, 20000), day=(1, 31), duration=(0, 2000), campaign=(1, 20), pdays=(-1, 500), previous=(0, 20)),
    "nist_acs": dict(AGEP=(0, 99), SEX=(1, 2), NOC=(0, 8), NPF=(2, 12), EDU=(1, 12), PINCP=(-5000, 200000), POVPIP=(0, 501), DVET=(0, 6),
                     DPHY=(1, 2), DEYE=(1, 2), DEAR=(1, 2), OWN_RENT=(0, 2), PWGTP=(1, 400), DENSITY=(0, 12000)),
    "adult": dict(age=(17, 90), education_num=(1, 16), hours_per_week=(1, 99), capital_gain=(0, 99999), capital_loss=(0, 4356), sex=(0, 1),
                  marital_status=(0, 1), race=(0, 1), native_country=(0, 1), workclass=(0, 1), income=(0, 1)),
    "diabetes130": dict(time_in_hospital=(1, 14), num_lab_procedures=(1, 130), num_procedures=(0, 6), num_medications=(1, 60),
                        number_outpatient=(0, 10), number_emergency=(0, 10), number_inpatient=(0, 10), number_diagnoses=(1, 16), age=(0, 90)),
    # These chose no rule and no constant.
    "support2": dict([("age", (18, 100)), ("num.co", (0, 10)), ("edu", (0, 30)), ("slos", (3, 365)), ("scoma", (0, 100)), ("avtisst", (0, 90)), ("sps", (0, 100)),
                      ("aps", (0, 150)), ("meanbp", (0, 200)), ("wblc", (0, 200)), ("hrt", (0, 300)), ("resp", (0, 90)), ("temp", (30, 43)), ("crea", (0, 25)),
                      ("sod", (110, 180)), ("adlsc", (0, 7))]),
    "flchain": dict(time=(0, 6000), event=(0, 1), age=(50, 105), male=(0, 1), kappa=(0, 30), creatinine=(0, 15), mgus=(0, 1), sampleyr=(1995, 2003)) | {"lambda": (0, 30)},
    "rotterdam": dict(time=(0, 8000), event=(0, 1), age=(20, 100), meno=(0, 1), size2=(0, 1), size3=(0, 1), grade3=(0, 1), nodes=(0, 40), pgr=(0, 5000),
                      er=(0, 5000), hormon=(0, 1), chemo=(0, 1)),
    "covtype_20k": dict(Elevation=(1800, 3900), Aspect=(0, 360), Slope=(0, 70), Horizontal_Distance_To_Hydrology=(0, 1500), Vertical_Distance_To_Hydrology=(-200, 700),
                        Horizontal_Distance_To_Roadways=(0, 7200), Hillshade_9am=(0, 255), Hillshade_Noon=(0, 255), Hillshade_3pm=(0, 255),
                        Horizontal_Distance_To_Fire_Points=(0, 7200)),
    "electricity": dict(date=(0, 1), day=(1, 7), period=(0, 1), nswprice=(0, 1), nswdemand=(0, 1), vicprice=(0, 1), vicdemand=(0, 1), transfer=(0, 1)),
}  # fmt: skip
FILES = {"bank": "bank_full", "nist_acs": "nist_acs_national2019", "adult": "adult_train"}
# Words of adult that count as 1, by how they begin.
ONES = {"sex": "Male", "marital_status": "Married", "race": "White", "native_country": "United-States", "workclass": "Self", "income": ">50K"}


def number(name, text):
    """The number in a field, NaN for none."""
    if name in ONES:
        return float(text.strip().startswith(ONES[name]))
    found = re.match(r"\[(\d+)-", text)  # an age of diabetes130
    try:
        return float(found.group(1) if found else text)
    except ValueError:
        return math.nan


def table(name):
    """[n, columns] in [-1, 1], and the columns' names."""
    text = lzma.open(DATA / f"{FILES.get(name, name)}.csv.xz", "rt").read()
    rows = csv.DictReader(io.StringIO(text))
    bounds = BOUNDS[name]
    x = np.array([[number(c, row[c]) for c in bounds] for row in rows])
    low, high = np.array(list(bounds.values()), float).T
    return 2 * (np.clip(np.where(np.isnan(x), low, x), low, high) - low) / (high - low) - 1, list(bounds)


def lost(x, y, w):
    """R^2 lost against least squares on [x, 1]."""
    full = np.column_stack([x, np.ones(len(y))])
    gram, both = full.T @ full, full.T @ y
    off = w - np.linalg.lstsq(gram, both, rcond=None)[0]
    return float(off @ gram @ off / (y @ y - y.sum() ** 2 / len(y)))


class Runner:
    def __init__(self, folder):
        self.folder = Path(folder)

    def save(self, x):
        np.save(self.folder / "x.npy", x)

    def fit(self, tacit, column, norm, bound, eps, seed, loss="squared", solver=None, intercept=True):
        """(weights with the intercept last, the solver); column: from 0"""
        model = self.folder / "model.json"
        command = [str(tacit), "train", str(self.folder / "x.npy"), "--json", "-o", str(model)]
        options = dict(label=column + 1, epsilon=eps, delta=DELTA, seed=seed, loss=loss, penalty="none", threads=1)
        options.update({"row-norm": norm, "label-bound": bound, "label-shift": 0})
        if solver:
            options["solver"] = solver
        command += [text for k, v in options.items() for text in (f"--{k}", str(v))] + ([] if intercept else ["--no-intercept"])
        done = subprocess.run(command, capture_output=True, text=True, env={**os.environ, "TACIT_REGISTRY": "none"})
        if done.returncode:
            raise RuntimeError(done.stderr)
        told = json.loads(model.read_text())
        return np.array(told["coefficients"] + ([told["intercept"]] if intercept else [0.0])), json.loads(done.stdout)["solver"]


def geometric(values):
    return math.exp(np.log(np.maximum(values, 1e-12)).mean())


def outcomes(given, run, programs):
    rows = []
    for name in given.sets.split(","):
        x, names = table(name)
        run.save(x)
        columns = range(0, len(names), given.every)
        for eps in given.eps.split(","):
            found = {}
            for who, (tacit, solver) in programs.items():
                found[who] = []
                for k in columns:
                    rest, y = np.delete(x, k, 1), x[:, k]
                    norm = math.sqrt(x.shape[1]) * (1 + 1e-12)
                    fits = [lost(rest, y, run.fit(tacit, k, norm, 1, eps, s, given.loss, solver)[0]) for s in range(1, given.fits + 1)]
                    found[who].append(float(np.mean(fits)))
                worst = int(np.argmax(found[who]))
                print(f"outcomes,{name},{eps},{who},{geometric(found[who]):.5f},{max(found[who]):.4f},{names[columns[worst]]}", flush=True)
                rows.append((name, eps, who, geometric(found[who]), max(found[who]), names[columns[worst]]))
            if len(found) == 2:
                old, new = list(found.values())
                over = [f"{names[k]} {a:.4f} -> {b:.4f}" for k, a, b in zip(columns, old, new) if b > 1.5 * a and b >= 0.001]
                print(f"{name} at {eps}: above 1.5 times: {', '.join(over) or 'none'}", file=sys.stderr)
    return rows


def released(given, folder, x, eps, runs, first=1):
    """[runs][columns] of the models of one release each, of seeds from the first on."""
    np.save(Path(folder) / "x.npy", x)
    command = [str(given.build / "bench" / "bench_moments"), str(Path(folder) / "x.npy"), eps, str(DELTA), str(runs), str(first), *(["robust"] if given.robust else [])]
    lines = subprocess.run(command, capture_output=True, text=True, check=True).stdout.splitlines()
    models = [json.loads(line) for line in lines]
    return [models[k : k + x.shape[1]] for k in range(0, len(models), x.shape[1])]


def moments(given, folder):
    for name in given.sets.split(","):
        x, names = table(name)
        for eps in given.eps.split(","):
            runs = released(given, folder, x, eps, given.fits)
            each = [np.mean([lost(np.delete(x, k, 1), x[:, k], np.array(r[k]["shrunk"])) for r in runs]) for k in range(len(names))]
            print(f"moments,{name},{eps},,{geometric(each):.5f},{max(each):.4f},{names[int(np.argmax(each))]}", flush=True)


def least_squares(x, k):
    """Weights of column k on the others and a constant, and their robust errors."""
    full, y = np.column_stack([np.delete(x, k, 1), np.ones(len(x))]), x[:, k]
    inverse = np.linalg.inv(full.T @ full)
    w = inverse @ (full.T @ y)
    rows = full * (y - full @ w)[:, None]
    return w, np.sqrt(np.diag(inverse @ (rows.T @ rows) @ inverse))


def intervals(given, folder):
    for name in given.sets.split(","):
        x, names = table(name)
        exact = [least_squares(x, k) for k in range(len(names))]
        for eps in given.eps.split(","):
            hit, width, rng = [], [], np.random.default_rng(2)
            for k in range(given.fits):
                (models,) = released(given, folder, x[rng.integers(0, len(x), len(x))], eps, 1, k + 1)
                for (w, error), m in zip(exact, models):
                    hit.append(np.abs(np.array(m["w"]) - w)[:-1] < 1.96 * np.array(m["error"])[:-1])
                    width.append((np.array(m["error"]) / error)[:-1])
            form = "robust" if given.robust else "elliptic"
            print(f"{name},{eps},{form},{np.mean(hit):.3f},{np.median(width):.2f}", flush=True)


def hard_cases(x, j):
    """(label, features, R, outcome, Y, own intercept)"""
    rest, y, ones = np.delete(x, j, 1), x[:, j], np.ones((len(x), 1))
    p, rng = rest.shape[1], np.random.default_rng(5)
    yield "plain", rest, p + 1, y, 1, True
    yield "label bound 10 times too wide", rest, p + 1, y, 10, True
    yield "labels far from 0 (y + 20, Y = 22)", rest, p + 1, y + 20, 22, True
    yield "own column of ones, no intercept", np.hstack([rest, ones]), p + 1, y, 1, False
    yield "own column of ones, y + 20", np.hstack([rest, ones]), p + 1, y + 20, 22, False
    yield "columns five times", np.tile(rest, 5), 5 * p + 1, y, 1, True
    yield "ten constant columns", np.hstack([rest, np.full((len(x), 10), 0.3)]), p + 11, y, 1, True
    yield "all bounds 5 times too wide", rest / 5, p + 1, y / 5, 1, True
    yield "192 columns of noise", np.hstack([rest, rng.uniform(-1, 1, (len(x), 192))]), p + 193, y, 1, True


def stress(given, run, programs):
    for name, j in (("california", 8), ("adult", 2)):
        x, _ = table(name)
        for label, rest, square, y, bound, own in hard_cases(x, j):
            run.save(np.column_stack([rest, y]))
            for who, (tacit, solver) in programs.items():
                for eps in given.eps.split(","):
                    fits = [lost(rest, y, run.fit(tacit, rest.shape[1], math.sqrt(square) * (1 + 1e-12), bound, eps, s, given.loss, solver, own)[0])
                            for s in range(1, given.fits + 1)]  # fmt: skip
                    print(f'{name},"{label}",{eps},{who},{np.mean(fits):.5f}', flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=Path, default=ROOT / "build" / "release")
    parser.add_argument("--old", type=Path, help="an earlier tacit, to be compared with")
    parser.add_argument("--solver", help="in place of auto, of this build")
    parser.add_argument("--sets", default="california,bank,nist_acs,adult,diabetes130")
    parser.add_argument("--eps", default="0.1,0.4,1")
    parser.add_argument("--loss", default="squared")
    parser.add_argument("--fits", type=int, default=5)
    parser.add_argument("--every", type=int, default=1, help="of so many columns one")
    parser.add_argument("--stress", action="store_true")
    parser.add_argument("--moments", action="store_true")
    parser.add_argument("--intervals", action="store_true")
    parser.add_argument("--robust", action="store_true", help="with fourth moments, from the same epsilon")
    given = parser.parse_args()
    programs = {"before": (given.old, None)} if given.old else {}
    programs["auto"] = (given.build / "tacit", given.solver)
    with tempfile.TemporaryDirectory() as folder:
        run = Runner(folder)
        asked = "intervals" if given.intervals else "stress" if given.stress and not given.moments else "outcomes"
        print(HEADS[asked])
        if given.moments or given.intervals:
            (intervals if given.intervals else moments)(given, folder)
        else:
            (stress if given.stress else outcomes)(given, run, programs)
    return 0


if __name__ == "__main__":
    sys.exit(main())
