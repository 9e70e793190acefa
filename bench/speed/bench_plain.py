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
  peer    as fit, epsilon 1, one run, each with the options of bench/peers/peers.py: Opacus (10 epochs in batches of 1024,
          clip R, rate 2) beside auto, diffprivlib beside auto at delta 0 with replace_one; dp_accounting beside the
          command, queries of bench/peers/account_peers.py.  All in an environment of their own, PEERS, made in the
          folder --peers where it is not there: 6 GB, minutes.  Without a network these rows are left out.
  growth  the command on an NPY file of doubles, settings in SOLVERS: time at `rows` over that at a tenth of them.

--only takes shapes whose name has one of these words, separated by commas.  From 1,000,000 x 30 on it takes minutes and
up to 6 GB of memory.
"""

import argparse
import csv
import os
import resource
import shutil
import subprocess
import sys
import tempfile
import time
import venv
import warnings
from pathlib import Path

os.environ.update({name + "_NUM_THREADS": "1" for name in ("OPENBLAS", "OMP", "MKL")})

import numpy as np
import polars
import scipy.sparse
import tacit
from sklearn.linear_model import LogisticRegression

HERE = Path(__file__).resolve().parent
FIELDS = "measure,shape,program,seconds,beside,ratio,runs".split(",")
RUNS, FEW, LARGE = 3, 1, 2 * 10**7  # FEW runs from LARGE numbers on
FITS = {  # name: rows, columns, type, solvers of tacit
    "10000 x 30": (10**4, 30, "f8", "auto auto+errors objpert dpgd"),
    "100000 x 30": (10**5, 30, "f8", "auto auto+errors objpert dpgd"),
    "1000000 x 30": (10**6, 30, "f8", "auto objpert dpgd"),
    "10000000 x 30": (10**7, 30, "f8", "auto objpert"),
    "1000000 x 30 floats": (10**6, 30, "f4", "auto objpert"),
    "60000 x 600": (60000, 600, "f8", "auto objpert"),
    "100000 x 1000": (10**5, 1000, "f8", "auto"),
    "3000 x 20000": (3000, 20000, "f8", "auto"),
    "1000000 x 50000 sparse": (10**6, 50000, "sparse", "auto"),
    "100000 x 30 classes": (10**5, 30, "classes", "auto"),
}
PEERS = "numpy==1.26.4 scipy==1.11.4 scikit-learn==1.5.2 pandas==2.2.3 polars==1.12.0 torch==2.5.1 opacus==1.5.2"
PEERS += " dp-accounting==0.4.4"
BARE = "diffprivlib==0.6.6"  # asks for older packages than it needs
QUERIES = ((1.0, 4.0, 100, 1e-5), (0.01, 1.0, 1000, 1e-5), (0.01, None, 1000, 1e-5))  # rate, noise, count, delta
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


def seconds_since(before):
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def command_seconds(command):
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    return seconds_since(before)


def peer(program):
    """Inside the environment of the peers: rows of shape, program, seconds, beside, ratio and runs."""
    sys.path[:0] = [str(HERE.parent / "peers")]
    import account_peers
    import peers

    X, y = invented(10**5, 30, "f8")
    pure = {"auto": peers.ours("replace_one", delta=0.0), "diffprivlib": peers.diffprivlib()}
    for shape, fits in (("", {"auto": peers.ours("add_remove"), "opacus": peers.opacus(1, 2.0)}), (" delta 0", pure)):
        calls = {name: lambda f=fit: f(X, y, 31**0.5, 1.0, 1) for name, fit in fits.items()}
        for row in taking_turns(calls, FEW):
            yield f"100000 x 30{shape}", *row
    account_peers.theirs(0.1, 4.0, 10, 1e-5)  # it loads what it needs
    for query in QUERIES:
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        account_peers.ours(program, *query)
        own, start = seconds_since(before), time.process_time()
        account_peers.theirs(*query)
        theirs = time.process_time() - start
        shape = f"{query[2]} events of rate {query[0]:g}, " + (f"noise {query[1]:g}" if query[1] else "epsilon 1")
        yield shape, "tacit", f"{own:.4g}", "tacit", 1, 1
        yield shape, "dp_accounting", f"{theirs:.4g}", "tacit", f"{theirs / own:.3g}", 1


def from_peers(program, folder):
    """peer() in its own environment; nothing, and a word about it, where that cannot be made."""
    python = folder / "bin" / "python"
    if not python.exists():
        venv.create(folder, with_pip=True)
        install = [str(python), "-m", "pip", "install", "--quiet"]
        if any(subprocess.run([*install, *what]).returncode for what in (PEERS.split(), ["--no-deps", BARE])):
            shutil.rmtree(folder)
            return print("SKIPPED: Opacus, diffprivlib and dp_accounting could not be installed", file=sys.stderr)
    with tempfile.TemporaryDirectory() as made:
        out = Path(made) / "rows.csv"
        subprocess.run([str(python), __file__, program, str(out), "--inside"], check=True)
        return list(csv.reader(out.open()))[1:]


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
    parser.add_argument("--peers", type=Path, default=Path("build/peers"), help="folder of the peers' environment")
    parser.add_argument("--inside", action="store_true", help="this is that environment: the peers' rows alone")
    given = parser.parse_args()
    warnings.simplefilter("ignore")
    tacit.config(repeated_fits="ok")
    tasks = {("fit", shape): lambda at=at: fits(*at) for shape, at in FITS.items()}
    tasks[("read", "1000000 records")] = lambda: reading(given.program, 10**6)
    for solver in SOLVERS:
        tasks[("growth", f"100000 x 30 {solver}")] = lambda s=solver: growth(given.program, s, 10**5)
    if given.inside:
        with open(given.out, "w", newline="") as file:
            csv.writer(file).writerows([FIELDS, *(["peer", *row] for row in peer(given.program))])
        return
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
        if any(word in "peer" for word in words):
            out.writerows(from_peers(given.program, given.peers) or [])


if __name__ == "__main__":
    main()
