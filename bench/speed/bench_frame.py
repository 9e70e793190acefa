"""bench_frame.py - a data frame under a schema beside the CSV file of the same records: reading, and a whole fit.

    PYTHONPATH=python TACIT_LIBRARY=build/release/libtacit.so build/venv/bin/python bench/speed/bench_frame.py PROGRAM [ROWS]

PROGRAM: the built `tacit`, which invents ROWS (default 1,000,000) records of 10 columns and a label.  Given is processor
time (user and system), the least of REPEATS: of `tacit.read` of the file; of the same table from a frame of each kind;
and of fit on the frame beside fit on the table that was read.  Fits take turns, so that a busy moment meets all kinds.
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
from tacit._matrix import table_of

REPEATS = 5


def least(**calls):
    """(the least seconds of each, what it made), all in turn."""
    seconds, made = {name: [] for name in calls}, {}
    for _ in range(REPEATS):
        for name, call in calls.items():
            made[name] = None  # freed outside the clock
            start = time.process_time()
            made[name] = call()
            seconds[name].append(time.process_time() - start)
    return {name: min(each) for name, each in seconds.items()}, made


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
        frames = frames_of(path)
        encode = {name: lambda frame=frame: table_of(_arrow.frame(frame), schema, None, "binary")
                  for name, frame in frames.items()}  # fmt: skip
        encoding, made = least(read=lambda: tacit.read(path, schema=schema), **encode)
        table, read = made["read"], encoding["read"]
        for name in frames:
            if not same(table, made[name]):
                raise RuntimeError(f"{name}: not the records of the file")
        made.clear()
        fit = {name: lambda frame=frame: fitted(frame, schema=schema) for name, frame in frames.items()}
        whole, _ = least(table=lambda: fitted(table), **fit)
        print(f"{rows} records: tacit.read of the CSV {read:.3f} s, fit on that table {whole['table']:.3f} s")
        for name in frames:
            more = 100 * (whole[name] / whole["table"] - 1)
            print(f"{name:28} {encoding[name]:.3f} s, {encoding[name] / read:.2f} of tacit.read; "
                  f"fit(frame) {whole[name]:.3f} s, {more:+.1f} %")  # fmt: skip


if __name__ == "__main__":
    main(*sys.argv[1:])
