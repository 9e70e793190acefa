"""bench_overhead.py - processor time of Python's fit beside the command line's training, the same records and settings.

    PYTHONPATH=python TACIT_LIBRARY=build/release/libtacit.so build/venv/bin/python bench/speed/bench_overhead.py PROGRAM

PROGRAM: the built `tacit`.  Records: bank, features in [0, 1], as a NumPy array and as an NPY file.  Compared is processor
time (user and system) of one thread, in turn, the least of REPEATS: of the whole of fit, from the user's arrays to coef_;
of what the command line does with a table in memory, tct_data_view, tct_plan_new and tct_fit, called here; of
the whole of `tacit train`; and of the same command with the solver majority, which starts, reads and checks as much.
"""

import ctypes
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import peers
import tacit
from tacit import _matrix, _model, _native

REPEATS = 15


def command(program, solver, norm, columns, folder):
    line = [program, "train", folder / "bank.npy", "--label", str(columns + 1), "--loss", "logistic", "--solver", solver]
    line += ["--row-norm", repr(norm), "--threads", "1", "-o", folder / "m.json"]
    if solver == "majority":
        line.append("--intercept")  # it needs one
    else:
        line += ["--no-intercept", "--penalty", "l2:lambda=1e-4", "--epsilon", "1", "--delta", "1e-6"]
    return [str(word) for word in line]


def processor_time(line):
    process = subprocess.Popen(line, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    if status:
        raise RuntimeError("tacit train failed: " + " ".join(line))
    return usage.ru_utime + usage.ru_stime


def library_time(model, X, y):
    """Seconds of the calls that `tacit train` makes once it has read, and of checking the matrix as it does in reading."""
    settings = model._settings(*X.shape, None)
    start = time.process_time()
    view = _matrix.View(X, y, _native.LABELS_BINARY)
    plan, error = _model.Plan(settings, *X.shape), _native.Error()
    trained = _native.lib.tct_fit(plan.handle, view.handle, ctypes.byref(error))
    seconds = time.process_time() - start
    _native.lib.tct_model_free(trained)
    return seconds


def fit_time(model, X, y):
    start = time.process_time()
    model.fit(X, y)
    return time.process_time() - start


def main():
    tacit.config(repeated_fits="ok")
    X, y, norm = peers.load("bank")
    folder = Path(tempfile.mkdtemp())
    np.save(folder / "bank.npy", np.column_stack([X, y]))
    for solver in ("auto", "dpgd", "dpscd", "objpert"):
        settings = {"epsilon": 1.0, "delta": 1e-6, "data_norm": norm, "classes": [-1, 1], "n_jobs": 1, "C": 1e4 / len(y)}
        model = tacit.PrivateLogisticRegression(**settings, solver=solver, fit_intercept=False)
        fits, calls, whole, idle = [], [], [], []
        for _ in range(REPEATS):
            fits.append(fit_time(model, X, y))
            calls.append(library_time(model, X, y))
            whole.append(processor_time(command(sys.argv[1], solver, norm, X.shape[1], folder)))
            idle.append(processor_time(command(sys.argv[1], "majority", norm, X.shape[1], folder)))
        fit, library, train, read = (1e3 * min(times) for times in (fits, calls, whole, idle))
        more = f"{fit - library:+.1f} ms ({fit / library - 1:+.1%})"
        print(f"{solver:8} fit {fit:.1f} ms, library {library:.1f}: {more}; tacit train {train:.1f}, reading {read:.1f}", flush=True)


if __name__ == "__main__":
    main()
