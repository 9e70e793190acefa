"""bench_overhead.py - processor time of Python's fit beside the command line's training, the same records and settings.

    PYTHONPATH=python TACIT_LIBRARY=build/release/libtacit.so build/venv/bin/python bench/bench_overhead.py PROGRAM

PROGRAM: the built `tacit`.  Records: bank, features in [0, 1], as a NumPy array and as an NPY file.  Compared is processor
time (user and system): of the whole of fit, from the user's arrays to coef_, and of `tacit train` less that of the same
command with the solver majority, which starts, reads and checks as much and then does nothing.  One thread, in turn, the
least of REPEATS.
"""

import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import peers
import tacit

REPEATS = 9


def command(program, solver, norm, columns, folder):
    line = [program, "train", folder / "bank.npy", "--label", str(columns + 1), "--loss", "logistic", "--solver", solver]
    line += ["--row-norm", repr(norm), "--threads", "1", "-o", folder / "m.json"]
    if solver == "majority":
        line.append("--intercept")  # it asks for one
    else:
        line += ["--penalty", "l2:lambda=1e-4", "--epsilon", "1", "--delta", "1e-6"]
    return [str(word) for word in line]


def processor_time(line):
    process = subprocess.Popen(line, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    if status:
        raise RuntimeError("tacit train failed: " + " ".join(line))
    return usage.ru_utime + usage.ru_stime


def main():
    X, y, norm = peers.load("bank")
    folder = Path(tempfile.mkdtemp())
    np.save(folder / "bank.npy", np.column_stack([X, y]))
    for solver in ("dpscd", "dpgd", "objpert"):
        settings = {"epsilon": 1.0, "delta": 1e-6, "data_norm": norm, "classes": [-1, 1], "n_jobs": 1, "C": 1e4 / len(y)}
        model = tacit.PrivateLogisticRegression(**settings, solver=solver, fit_intercept=False)
        mine, theirs, idle = [], [], []
        for _ in range(REPEATS):
            start = time.process_time()
            model.fit(X, y)
            mine.append(time.process_time() - start)
            theirs.append(processor_time(command(sys.argv[1], solver, norm, X.shape[1], folder)))
            idle.append(processor_time(command(sys.argv[1], "majority", norm, X.shape[1], folder)))
        trained = min(theirs) - min(idle)
        more = f"{1e3 * (min(mine) - trained):+.1f} ms ({min(mine) / trained - 1:+.1%})"
        print(f"{solver:8}  fit {min(mine):.4f} s   tacit train {trained:.4f} s   {more}", flush=True)


if __name__ == "__main__":
    main()
