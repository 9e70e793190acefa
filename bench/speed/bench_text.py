"""bench_text.py - reading CSV: processor and wall time of `tacit` for 1 and 2 threads, beside another reader.

    python3 bench/speed/bench_text.py build/release/tacit [--mb 300] [--runs 5] [--polars PYTHON]

The least of several runs, each in a process of its own; the file is in the page cache.  tacit: time up to the end of
reading, as `tacit train` says it, and the processor time of the whole process, which takes one step of training too.
PYTHON: an interpreter that has polars; its time to import it is taken off.  On a busy machine wall times say little.
"""

import argparse
import os
import re
import resource
import subprocess
import tempfile

from bench_stream import write_csv

READ = "import polars as p, sys; print(p.read_csv(sys.argv[1]).shape)"


def used(command, environment=None):
    """Processor seconds of one process, and what it printed."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, check=True,
                          env={**os.environ, **(environment or {})})
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, done.stdout


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("program")
    parser.add_argument("--mb", type=float, default=300)
    parser.add_argument("--cols", type=int, default=100)
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--polars", metavar="PYTHON")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "table.csv")
        write_csv(path, given.mb * 1e6, given.cols)
        train = [given.program, "train", path, "--label", "y", "--loss", "logistic", "--solver", "dpgd:steps=1", "--epsilon", "1",
                 "--delta", "1e-6", "--row-norm", "5", "--seed", "1", "-o", os.path.join(folder, "m.json")]
        for threads in ("1", "2"):
            runs = [used([*train, "--threads", threads]) for _ in range(given.runs)]
            wall = min(float(re.search(r"seconds +([0-9.]+) reading", said).group(1)) for _, said in runs)
            print(f"tacit, {threads} threads: processor {min(run[0] for run in runs):.2f} s, reading {wall:.2f} s", flush=True)
        if given.polars:
            for threads in ("1", "2"):
                one = {"POLARS_MAX_THREADS": threads}
                idle = min(used([given.polars, "-c", "import polars"], one)[0] for _ in range(given.runs))
                whole = min(used([given.polars, "-c", READ, path], one)[0] for _ in range(given.runs))
                print(f"polars, {threads} threads: processor {whole - idle:.2f} s", flush=True)


if __name__ == "__main__":
    main()
