"""bench_frame.py - a data frame under a schema beside the CSV file of the same records: reading, and a whole fit.

    PYTHONPATH=python TACIT_LIBRARY=build/release/libtacit.so build/venv/bin/python bench/speed/bench_frame.py PROGRAM [ROWS]

PROGRAM: the built `tacit`, which invents ROWS (default 1,000,000) records of 10 columns and a label.  Given is processor
time (user and system), the least of REPEATS: of `tacit.read` of the file; of the same table from a frame of each kind;
and of fit on the frame beside fit on the table that was read.
"""

import subprocess
import sys
import tempfile
import time
import warnings
from pathlib import Path

import numpy as np
import pandas
import polars
import pyarrow
import tacit
from tacit import _arrow
from tacit._matrix import Table

REPEATS = 5


def least(call):
    seconds = []
    for _ in range(REPEATS):
        start = time.process_time()
        made = call()
        seconds.append(time.process_time() - start)
    return min(seconds), made


def frames_of(path):
    frame = pandas.read_csv(path)
    texts = {name: "category" for name in frame.columns if frame[name].dtype == object}
    return {
        "pandas, texts as objects": frame,
        "pandas, texts as categories": frame.astype(texts),
        "polars": polars.from_pandas(frame),
        "pyarrow": pyarrow.Table.from_pandas(frame, preserve_index=False),
    }


def same(a, b):
    a, b = (x.toarray() if hasattr(x, "toarray") else x for x in (a.array(), b.array()))
    return np.array_equal(a, b)


def fitted(X, *more, **schema):
    model = tacit.PrivateLogisticRegression(epsilon=1.0, delta=1e-7, n_jobs=1)
    return model.fit(X, *more, **schema)


def main(program, rows="1000000"):
    warnings.simplefilter("ignore")
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "people.csv"
        subprocess.run([program, "generate", "--rows", rows, "-o", path], check=True, stdout=subprocess.DEVNULL)
        schema = tacit.Schema.read(path.with_suffix(".schema.json"))
        seconds, table = least(lambda: tacit.read(path, schema=schema))
        fit, _ = least(lambda: fitted(table))
        print(f"{rows} records: tacit.read of the CSV {seconds:.3f} s, fit on that table {fit:.3f} s")
        for name, frame in frames_of(path).items():
            own, made = least(lambda frame=frame: Table.of_frame(_arrow.frame(frame), schema, None, "binary"))
            whole, _ = least(lambda frame=frame: fitted(frame, schema=schema))
            if not same(table, made):
                raise RuntimeError(f"{name}: not the records of the file")
            print(f"{name:28} {own:.3f} s, {own / seconds:.2f} of tacit.read; fit(frame) {whole:.3f} s")


if __name__ == "__main__":
    main(*sys.argv[1:])
