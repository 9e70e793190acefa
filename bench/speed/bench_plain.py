"""bench_plain.py - processor time of training beside scikit-learn's lbfgs (tol 1e-4, default iterations) and `objpert`.

    PYTHONPATH=python TACIT_LIBRARY=build/release/libtacit.so build/venv/bin/python bench/speed/bench_plain.py [--rows N]

Invented records, normal features, labels from a logistic model, arrays in memory, one thread.  All fits of a shape take
turns.  Printed: the median processor time (user and system) of RUNS turns, and the median of the turns' ratios to
scikit-learn's fit of the same array.
"""

import argparse
import os
import time

os.environ.update(OPENBLAS_NUM_THREADS="1", OMP_NUM_THREADS="1", MKL_NUM_THREADS="1")

import numpy as np
import tacit
from sklearn.linear_model import LogisticRegression

SHAPES = ((10**6, 30), (10**5, 1000), (60000, 600))
RUNS = 5


def invented(rows, columns, kind):
    draw = np.random.default_rng(1)
    X = draw.standard_normal((rows, columns)).astype(kind)
    w = 2 * draw.standard_normal(columns) / np.sqrt(columns)
    return X, np.where(draw.random(rows) < 1 / (1 + np.exp(-(X @ w))), 1, -1)


def processor_time(model, X, y):
    start = time.process_time()
    model.fit(X, y)
    return time.process_time() - start


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, help="only the shape of so many rows")
    parser.add_argument("--solvers", default="auto,objpert,dpgd")
    parser.add_argument("--runs", type=int, default=RUNS)
    given = parser.parse_args()
    tacit.config(repeated_fits="ok")
    for rows, columns in SHAPES:
        if given.rows not in (None, rows):
            continue
        for kind in (np.float64, np.float32):
            X, y = invented(rows, columns, kind)
            norm = float(np.sqrt(columns + 1))
            models = {"sklearn": LogisticRegression(tol=1e-4, n_jobs=1)}
            for solver in given.solvers.split(","):
                settings = {"epsilon": 1.0, "delta": 1e-7, "data_norm": norm, "classes": [-1, 1], "n_jobs": 1}
                models[solver] = tacit.PrivateLogisticRegression(**settings, solver=solver, random_state=1)
            turns = np.array([[processor_time(m, X, y) for m in models.values()] for _ in range(given.runs)])
            times, ratios = np.median(turns, axis=0), np.median(turns / turns[:, :1], axis=0)
            said = ", ".join(f"{name} {t:.2f} s ({r:.2f})" for name, t, r in zip(models, times, ratios))
            print(f"{rows} x {columns} {np.dtype(kind).name}: {said}", flush=True)


if __name__ == "__main__":
    main()
