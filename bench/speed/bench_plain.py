"""bench_plain.py - processor time of training and reading beside other programs, and what ten times the rows cost.

    PYTHONPATH=python TACIT_LIBRARY=build/release/libtacit.so \
        build/venv/bin/python bench/speed/bench_plain.py build/release/tacit docs/measured/speed.csv [--only WORDS]

Invented records, one thread.  A row of the CSV is one program at one shape: the median processor time (user and system)
of its runs, and the median of the runs' ratios to the program named in `beside`.  All programs of a shape take turns,
so a busy moment meets all.

  fit     arrays in memory, normal features, labels of a logistic model; tacit at epsilon 1, delta 1e-7, C 1, the rows'
          norm cut to sqrt(columns + 1).  lbfgs: scikit-learn's LogisticRegression, tol 1e-4, C 1, at most 100 passes.
          liblinear: LIBLINEAR 2.x within it, with the same settings.  auto+errors: errors="robust".
          `classes`: ten of them.  `sparse`: CSR, ten features a record.
  read    a CSV file of `tacit generate`, under its schema; polars: read_csv.
  growth  the command on an NPY file of doubles, settings in SOLVERS: time at `rows` over that at a tenth of them.

--only takes shapes whose name has one of these words, separated by commas.  1,000,000 x 30 and what is beyond 1 GB of
memory take some minutes.  diffprivlib and Opacus: bench/peers/peers.py; dp_accounting: bench/peers/account_peers.py.
"""

import argparse
import csv
import os
import resource
import subprocess
import sys
import tempfile
import time
import warnings
from pathlib import Path

os.environ.update({name + "_NUM_THREADS": "1" for name in ("OPENBLAS", "OMP", "MKL")})

import numpy as np
import polars
import scipy.sparse
import tacit
from sklearn.linear_model import LogisticRegression

FIELDS = "measure,shape,program,seconds,beside,ratio,runs".split(",")
RUNS, FEW, LARGE = 3, 1, 2 * 10**7  # FEW runs from LARGE numbers on
FITS = {  # name: rows, columns, type, solvers of tacit
    "10000 x 30": (10**4, 30, "f8", "auto auto+errors objpert dpgd"),
    "100000 x 30": (10**5, 30, "f8", "auto auto+errors objpert dpgd"),
    "1000000 x 30": (10**6, 30, "f8", "auto objpert dpgd"),
    "1000000 x 30 floats": (10**6, 30, "f4", "auto objpert"),
    "60000 x 600": (60000, 600, "f8", "auto objpert"),
    "100000 x 1000": (10**5, 1000, "f8", "auto"),
    "3000 x 20000": (3000, 20000, "f8", "auto"),
    "1000000 x 50000 sparse": (10**6, 50000, "sparse", "auto"),
    "100000 x 30 classes": (10**5, 30, "classes", "auto"),
}
RIDGE = ("logistic", "l2:lambda=1e-4")
SOLVERS = {name: ("logistic", "none") for name in "auto dpgd dpnewton dpsgd dpagd dpcd privgene".split()}
SOLVERS |= {"objpert": RIDGE, "outpert": RIDGE, "dpscd": RIDGE, "dpfw": ("logistic", "l1ball:radius=5")}
SOLVERS |= {"dpmoments": ("squared", "none"), "adassp": ("squared", "l2:lambda=1e-4")}


def invented(rows, columns, kind):
    draw = np.random.default_rng(1)
    if kind == "sparse":
        where = draw.integers(0, columns, (rows, 10)).ravel()
        value, start = draw.standard_normal(rows * 10), np.arange(0, rows * 10 + 1, 10)
        X = scipy.sparse.csr_matrix((value, where, start), (rows, columns))
        X.sum_duplicates()
    else:
        X = draw.standard_normal((rows, columns)).astype(kind if kind[0] == "f" else "f8")
    if kind == "classes":
        return X, np.argmax(X @ draw.standard_normal((columns, 10)) + draw.gumbel(size=(rows, 10)), axis=1)
    w = 2 * draw.standard_normal(columns) / np.sqrt(10 if kind == "sparse" else columns)
    return X, np.where(draw.random(rows) < 1 / (1 + np.exp(-(X @ w))), 1, -1)


def taking_turns(calls, runs=RUNS):
    """Rows of program, seconds, beside and ratio; the first of `calls` is what the others stand beside."""
    times = np.empty((runs, len(calls)))
    for turn in times:
        for k, call in enumerate(calls.values()):
            start = time.process_time()
            call()
            turn[k] = time.process_time() - start
    first = next(iter(calls))
    for name, t, r in zip(calls, np.median(times, axis=0), np.median(times / times[:, :1], axis=0)):
        yield name, f"{t:.4g}", first, f"{r:.3g}", runs


def fits(rows, columns, kind, solvers):
    X, y = invented(rows, columns, kind)
    models = {"lbfgs": LogisticRegression(tol=1e-4)}
    if kind != "classes" and rows * min(columns, 10) <= 10**6:  # beyond it takes minutes
        models["liblinear"] = LogisticRegression(tol=1e-4, solver="liblinear")
    for solver in solvers.split():
        name, _, errors = solver.partition("+")
        models[solver] = tacit.PrivateLogisticRegression(
            epsilon=1.0, delta=1e-7, data_norm=float(np.sqrt(columns + 1)), classes=list(np.unique(y)), n_jobs=1,
            solver=name, errors="robust" if errors else "none")  # fmt: skip
    calls = {name: lambda m=m: m.fit(X, y) for name, m in models.items()}
    return taking_turns(calls, RUNS if X.size < LARGE else FEW)


def reading(program, rows):
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "people.csv")
        subprocess.run([program, "generate", "--rows", str(rows), "-o", path], check=True, stdout=subprocess.DEVNULL)
        schema = path.replace(".csv", ".schema.json")
        calls = {"polars": lambda: polars.read_csv(path), "tacit.read": lambda: tacit.read(path, schema=schema)}
        yield from taking_turns(calls)


def command_seconds(command):
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def growth(program, solver, rows):
    loss, penalty = SOLVERS[solver]
    settings = f"--label 1 --loss {loss} --penalty {penalty} --solver {solver} --row-norm 5.6 --threads 1"
    settings += " --epsilon 1 --delta 1e-7" + (" --label-bound 1" if loss == "squared" else "")
    with tempfile.TemporaryDirectory() as folder:
        times = []
        for n in (rows // 10, rows):
            X, y = invented(n, 30, "f8")
            np.save(f"{folder}/{n}.npy", np.column_stack([y, X]))
        for _ in range(RUNS):
            command = lambda n: [program, "train", f"{folder}/{n}.npy", *settings.split(), "-o", f"{folder}/m.json"]
            times.append([command_seconds(command(n)) for n in (rows // 10, rows)])
    times = np.array(times)
    seconds = np.median(times, axis=0)
    yield solver, f"{seconds[1]:.4g}", f"{rows // 10} rows", f"{np.median(times[:, 1] / times[:, 0]):.3g}", RUNS


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("program")
    parser.add_argument("out", type=Path)
    parser.add_argument("--only", default="", help="words of a measure, shape or solver")
    given = parser.parse_args()
    warnings.simplefilter("ignore")
    tacit.config(repeated_fits="ok")
    tasks = {("fit", shape): lambda at=at: fits(*at) for shape, at in FITS.items()}
    tasks[("read", "1000000 records")] = lambda: reading(given.program, 10**6)
    for solver in SOLVERS:
        tasks[("growth", f"100000 x 30 {solver}")] = lambda s=solver: growth(given.program, s, 10**5)
    words = given.only.split(",")
    with open(given.out, "w", newline="") as file:
        out = csv.writer(file, lineterminator="\n")
        out.writerow(FIELDS)
        for (measure, shape), task in tasks.items():
            if not any(word in f"{measure} {shape}" for word in words):
                continue
            for row in task():
                out.writerow([measure, shape, *row])
                print(measure, shape, *row, file=sys.stderr, flush=True)
            file.flush()


if __name__ == "__main__":
    main()
