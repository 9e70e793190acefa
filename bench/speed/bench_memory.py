"""bench_memory.py - memory that training takes beside the caller's array, for 2 GB of records.

    PYTHONPATH=python TACIT_LIBRARY=build/release/libtacit.so build/venv/bin/python bench/speed/bench_memory.py [GB (2)]

One process for each case.  extra: growth of the largest resident size from before fit to after it.  A solver that walks
rows borrows an array of C order; dpcd walks columns and borrows one of Fortran order; the other way round one conversion
is what the plan states (memory_bytes).  bounds= costs one scaled copy.
"""

import json
import resource
import subprocess
import sys
import time

CASES = {
    "C order, dpgd": ("C", "f8", "dpgd:steps=2", {}),
    "C order, 32-bit, dpgd": ("C", "f4", "dpgd:steps=2", {}),
    "C order, objpert": ("C", "f8", "objpert", {}),
    "F order, dpcd": ("F", "f8", "dpcd:passes=1", {}),
    "F order, dpgd (converts)": ("F", "f8", "dpgd:steps=2", {}),
    "C order, dpgd, bounds=": ("C", "f8", "dpgd:steps=2", {"bounds": (0, 1)}),
}
COLS = 100


def peak():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


def one(name, size):
    import numpy as np

    import tacit

    order, kind, solver, more = CASES[name]
    rows = int(size / (COLS * np.dtype(kind).itemsize))
    X, random = np.empty((rows, COLS), dtype=kind, order=order), np.random.default_rng(0)
    for first in range(0, rows, 10000):
        X[first : first + 10000] = random.random((min(10000, rows - first), COLS))
    y = (X[:, 0] > 0.5).astype(int)
    settings = {"epsilon": 1.0, "delta": 1e-6, "classes": [0, 1], "solver": solver, "n_jobs": 1}
    settings.update(more or {"data_norm": 6.0})
    model = tacit.PrivateLogisticRegression(**settings)
    said = model.plan(rows, COLS)["memory_bytes"]
    before, start = peak(), time.perf_counter()
    model.fit(X, y)
    seconds = time.perf_counter() - start
    print(json.dumps({"case": name, "array": X.nbytes, "extra": peak() - before, "plan": said, "seconds": seconds}))


def main():
    if len(sys.argv) == 3:
        return one(sys.argv[1], float(sys.argv[2]))
    size = 1e9 * float(sys.argv[1] if len(sys.argv) > 1 else 2)
    for name in CASES:
        done = subprocess.run([sys.executable, __file__, name, str(size)], stdout=subprocess.PIPE, text=True, check=True)
        row = json.loads(done.stdout)
        mega = {key: row[key] / 1e6 for key in ("array", "extra", "plan")}
        print(f"{name:28} array {mega['array']:7.0f} MB   extra {mega['extra']:7.1f} MB   planned {mega['plan']:7.1f} MB", flush=True)


if __name__ == "__main__":
    main()
