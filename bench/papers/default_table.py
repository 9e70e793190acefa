"""default_table.py - docs/measured/default.md, default.csv and its ratios: `auto` beside every other untuned solver, an earlier
`auto`, oracles whose tuning is free, floors, and methods of other papers.

    cmake --preset release && cmake --build build/release && tools/setup.sh python
    build/venv/bin/python bench/papers/default_table.py --old PATH/TO/EARLIER/tacit
    build/venv/bin/python bench/papers/default_table.py --sets bank,skin --eps 0.4 --methods auto,dpmetric --again
    build/venv/bin/python bench/papers/default_table.py --name ridge --sets california,stay,income,synthetic,hours,demand \
        --bounds public --eps 0.1,0.5,1,2 --methods auto,before,constant --fits 5 --old PATH/TO/EARLIER/tacit

FOOTING  bench/lib/footing.py: sets, public bounds, R, Y, penalty.  Larger sets are cut to --rows records by the bench's
permutation.  delta is --delta (n2: 1/n^2); one record added or removed.  The first releases come from tacit itself, one
process a fit, nothing tuned, with tacit's own intercept.  Weights are judged by the exact objective less its exact
minimum over the same records; the intercept is not penalised there.  The earlier `auto` and the oracles get a column of
ones in its place, which the squared loss penalises.
Means over --fits runs with other noise, and their standard errors.  What the methods are: oracle.py,
bench/peers/rivals.py.

RESUMED  Every cell is kept in default.csv as soon as it is measured, and a cell that is there is not measured again;
--again measures the given methods anew.  --page writes the page from the file alone (default_page.py).
"""

import argparse
import csv
import functools
import json
import math
import os
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).parents[2]
sys.path[:0] = [str(ROOT / "bench" / "lib"), str(ROOT / "bench" / "peers")]
import footing

footing.environment()
import default_page
import numpy as np
import oracle
import rivals

SETS = (
    "ipums-br,bank,a9a,electricity,california,phishing,covtype,adult-raw,nist_acs,diabetes130,skin,mushrooms,w8a,"
    "stay,income,synthetic"
)
OURS = ("auto", "dpmetric", "dpgd", "dpnewton", "objpert", "dpcd", "dpsgd", "dpscd", "adassp")
METHODS = ("auto", "before", *OURS[1:], *oracle.FORMS, "constant", "floor", "geoclip", "boosted_adassp")
SQUARED_ONLY, CLASSES_ONLY = ("adassp", "dpscd", "boosted_adassp"), ("objpert",)
KEY = ("set", "bounds", "wide", "wide_label", "delta", "epsilon", "method")
FIELDS = (*KEY, "n", "of", "p", "R", "fits", "excess", "error", "seconds", "setting")


class Store:
    """default.csv as {key: row}.  It is read again before every write, so that several runs may fill it at a time."""

    def __init__(self, path):
        self.path, self.rows = path, {}
        self.read()

    def read(self):
        if self.path.exists():
            with open(self.path, newline="") as file:
                self.rows = {tuple(row[k] for k in KEY): row for row in csv.DictReader(file)}

    def put(self, row):
        self.read()
        self.rows[tuple(row[k] for k in KEY)] = row
        place = lambda r: (*[r[k] for k in KEY[:5]], float(r["epsilon"]), METHODS.index(r["method"]))
        self.path.parent.mkdir(parents=True, exist_ok=True)
        aside = self.path.with_suffix(f".{os.getpid()}")
        with open(aside, "w", newline="") as file:
            out = csv.DictWriter(file, FIELDS, lineterminator="\n")
            out.writeheader()
            out.writerows(sorted(self.rows.values(), key=place))
        aside.replace(self.path)


def key_of(given, problem, epsilon, method):
    wide = (f"{problem.wide:g}", f"{problem.wide_label:g}")
    return (problem.name, problem.bounds, *wide, given.delta, f"{epsilon:g}", method)


@functools.cache
def without_intercept(program):
    """The option that keeps a program from adding a column of ones; an early tacit adds none and lacks the option."""
    told = subprocess.run([str(program), "train", "--help"], check=True, capture_output=True, text=True).stdout
    return ["--no-intercept"] if "--no-intercept" in told else []


class Cell:
    """One set under one kind of bounds at one epsilon."""

    def __init__(self, given, problem, minimiser, epsilon, delta, array):
        self.given, self.problem, self.epsilon, self.delta, self.array = given, problem, epsilon, delta, array
        self.mu, self.minimiser = footing.mu_of(epsilon, delta), minimiser
        self.least, self.settings = float(footing.objective(problem, minimiser)), {}
        self.measured = {}  # rows of this run; a solver that `auto` took is not run again

    def own_excess(self, w):
        """Excess of weights whose last is tacit's own intercept."""
        q = self.problem
        if not q.squared or not q.ones:
            return self.excess(w)
        penalty = np.diag(np.append(np.full(len(w) - 1, q.lam), 0))
        least = np.linalg.solve(q.X.T @ q.X / len(q.y) + penalty, q.X.T @ q.y / len(q.y))
        value = lambda v: float(footing.mean_loss(q.X @ v, q.y, True) + v @ penalty @ v / 2)
        found = value(w) - value(least)
        return found if math.isfinite(found) else math.inf

    def excess(self, w):
        with np.errstate(all="ignore"):
            found = float(footing.objective(self.problem, w)) - self.least
        return found if math.isfinite(found) else math.inf

    def train(self, program, solver, seed):
        """(weights, the solver that ran, seconds of training) of one fit of a tacit program."""
        q, model = self.problem, self.array.with_suffix(".model.json")
        own = q.ones and program != self.given.old
        array = self.array.with_suffix(".own.npy") if own else self.array
        options = {"label": q.X.shape[1] + (not own), "epsilon": repr(self.epsilon), "delta": repr(self.delta), "threads": 1}
        options.update(seed=seed, loss="squared" if q.squared else "logistic")
        options["row-norm"] = repr(q.R * q.wide * (1 + 1e-12))  # rows of norm R stay as they are
        if q.squared:
            options.update(
                {"penalty": f"l2:lambda={q.lam!r}", "label-bound": repr(q.Y * q.wide_label), "label-shift": 0}
            )
        if solver != "auto":
            options["solver"] = solver
        command = [str(program), "train", str(array), "--json", "-o", str(model)]
        command += [] if own else without_intercept(program)
        command += [text for name, value in options.items() for text in (f"--{name}", str(value))]
        done = subprocess.run(command, check=False, capture_output=True, text=True)
        if done.returncode:
            raise RuntimeError(done.stderr.strip().splitlines()[-1])
        told = json.loads(done.stdout)
        told_weights = json.loads(model.read_text())
        w = np.array(told_weights["coefficients"] + ([told_weights["intercept"]] if own else []))
        return w, told["solver"], told["seconds"]["train"]

    def fits(self, method):
        """(excesses, seconds of one fit, setting)"""
        seeds, start = range(1, self.given.fits + 1), time.process_time()
        if method in OURS or method == "before":
            before = method == "before"
            program = self.given.old if before else self.given.build / "tacit"
            runs = [self.train(program, "auto" if before else method, s) for s in seeds]
            excess = self.excess if before else self.own_excess
            return [excess(w) for w, _, _ in runs], float(np.mean([r[2] for r in runs])), runs[0][1]
        if method in oracle.FORMS:
            tuned, setting = oracle.search(self.problem, self.mu, method, self.settings.get("metric"))
            self.settings[method] = setting
            rows = oracle.Rows(self.problem)
            runs = [oracle.measure(rows, self.mu, setting, s) for s in seeds]
            return runs, time.process_time() - start, json.dumps({"tuned": tuned, "setting": json.loads(setting)})
        if method == "geoclip":
            sigma = rivals.geoclip_noise(self.given.build / "tacit", len(self.problem.y), self.epsilon, self.delta)
            found, setting = rivals.tuned_geoclip(self.problem, sigma, seeds)
            return [self.excess(w) for w in found], time.process_time() - start, setting
        q = self.problem
        runs = [self.excess(rivals.boosted_adassp(q, self.mu, q.R * q.wide, q.Y * q.wide_label, s)) for s in seeds]
        return runs, (time.process_time() - start) / len(seeds), ""

    def row(self, method):
        q = self.problem
        row = dict(zip(KEY, key_of(self.given, q, self.epsilon, method)))
        row.update(n=len(q.y), of=q.rows_of, p=q.X.shape[1], R=f"{q.R:.4g}", fits=self.given.fits)
        if method == "constant":
            excess = footing.best_constant(q) - self.least
            return {**row, "excess": f"{excess:.5g}", "error": 0, "seconds": 0, "setting": ""}
        if method == "floor" and self.least < 1e-3:
            return {**row, "excess": "", "error": "", "seconds": "", "setting": "classes can be parted: no floor"}
        if method == "floor":
            euclidean, shaped = oracle.floors(q, self.mu)
            return {
                **row,
                "excess": f"{shaped:.4g}",
                "error": 0,
                "seconds": 0,
                "setting": json.dumps({"euclidean": euclidean}),
            }
        try:
            excesses, seconds, setting = self.fits(method)
        except RuntimeError as error:
            return {**row, "excess": "", "error": "", "seconds": "", "setting": str(error)}
        several = len(excesses) > 1 and np.isfinite(excesses).all()
        error = np.std(excesses, ddof=1) / math.sqrt(len(excesses)) if several else 0
        return {
            **row,
            "excess": f"{np.mean(excesses):.5g}",
            "error": f"{error:.3g}",
            "seconds": f"{seconds:.3g}",
            "setting": setting,
        }


def wanted(given, store, problem, epsilon):
    """The methods of a cell that are still to be measured."""
    for method in given.methods:
        key = key_of(given, problem, epsilon, method)
        apart = method in CLASSES_ONLY if problem.squared else method in SQUARED_ONLY
        if not apart and (method != "before" or given.old) and (given.again or key not in store.rows):
            yield method


def measure_set(given, store, fact, bounds):
    problem = footing.load(given.scratch, fact, bounds)
    if problem is None:
        return
    problem.wide, problem.wide_label, problem.ones = given.wide, given.wide_label, fact["attributes"] != 0
    left = [(e, list(wanted(given, store, problem, e))) for e in given.eps]
    if not any(methods for _, methods in left):
        return
    array = given.scratch / f"{problem.name}.{bounds}.{os.getpid()}.npy"
    np.save(array, np.column_stack([problem.X, problem.y]))
    if problem.ones:  # tacit cuts rows to R itself
        np.save(array.with_suffix(".own.npy"), np.column_stack([problem.X[:, :-1] / problem.X[:, -1:], problem.y]))
    minimiser = footing.minimum(problem.X, problem.y, problem.squared, problem.lam)
    for epsilon, methods in left:
        delta = 1 / len(problem.y) ** 2 if given.delta == "n2" else float(given.delta)
        cell = Cell(given, problem, minimiser, epsilon, delta, array)
        for method in methods:
            same = auto["setting"].startswith(f"{method}:") if (auto := cell.measured.get("auto")) else False
            row = {**auto, "method": method} if same else cell.row(method)
            cell.measured[method] = row
            store.put(row)
            print(problem.name, bounds, f"{epsilon:g}", method, row["excess"], row["error"], row["setting"], flush=True)
    array.unlink()
    array.with_suffix(".own.npy").unlink(missing_ok=True)


def arguments():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sets", default=SETS)
    parser.add_argument("--bounds", default="public,min-max")
    parser.add_argument("--eps", default="0.05,0.1,0.2,0.4,0.8,1.6,3,8")
    parser.add_argument("--delta", default="1e-5", help="a number, or n2 for 1/n^2")
    parser.add_argument("--methods", default=",".join(METHODS))
    parser.add_argument("--fits", type=int, default=10)
    parser.add_argument("--rows", type=int, default=50000)
    parser.add_argument("--wide", type=float, default=1, help="R is given this many times too wide")
    parser.add_argument("--wide-label", type=float, default=1)
    parser.add_argument("--build", type=Path, default=ROOT / "build" / "release")
    parser.add_argument("--old", type=Path, help="an earlier tacit, for the column `before`")
    parser.add_argument("--out", type=Path, default=ROOT / "docs" / "measured")
    parser.add_argument("--name", default="default", help="of the page and the table of figures")
    parser.add_argument("--scratch", type=Path, default=ROOT / "build" / "bench_tables")
    parser.add_argument("--again", action="store_true", help="measure the given methods anew")
    parser.add_argument("--page", action="store_true", help="only write the page")
    given = parser.parse_args()
    given.eps = [float(e) for e in given.eps.split(",")]
    given.methods = given.methods.split(",")
    unknown = set(given.methods) - set(METHODS)
    if unknown:
        parser.error(f"there is no method {', '.join(sorted(unknown))}; use {', '.join(METHODS)}")
    return given


def main():
    given = arguments()
    store = Store(given.out / f"{given.name}.csv")
    if not given.page:
        facts = footing.tables(given.build, given.scratch, given.sets.split(","), given.rows)
        for fact in facts.values():
            for bounds in given.bounds.split(","):
                measure_set(given, store, fact, bounds)
    page, ratios = default_page.page(list(store.rows.values()), given.name)
    (given.out / f"{given.name}.md").write_text(page)
    with open(given.out / f"{given.name}-ratios.csv", "w", newline="") as file:
        out = csv.DictWriter(file, default_page.RATIOS, lineterminator="\n")
        out.writeheader()
        out.writerows(ratios)


if __name__ == "__main__":
    main()
