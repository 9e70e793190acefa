"""bench_busy.py - what a second thread gains on an idle machine, and costs on a busy one.

    python3 bench/speed/bench_busy.py build/release/tacit [idle|busy|csv|all] [runs (3)]

Training time alone (reading left out), the middle of the runs.  idle: time of one thread over that of two, at least 1.8
is the aim.  machine: twice the time of one thread over that of two such runs beside each other.  They share processors,
caches and the bandwidth of memory, and wait for nothing.  Two threads of one run get no more than that.  busy: with another process on every processor, time of two threads over that of one, at most 1.2.  csv:
wall time of reading 300 MB with two threads over that of one, on an idle machine, at most 0.6.  all: the three, and a
last line that says how many aims are met.  load: that of the last minute before a line was measured; idle figures of a
machine with load say little.
"""

import json
import os
import subprocess
import sys
import tempfile

from bench_stream import write_csv

SOLVERS = {
    "dpgd": "dpgd:steps=60",
    "dpmetric": "dpmetric",
    "objpert": "objpert",
    "dpagd": "dpagd",
    "dpscd": "dpscd",
}
# Solvers that are through with 200,000 people in less than a second get a million.
ROWS = {"dpgd": "1000000", "dpmetric": "1000000", "objpert": "1000000", "dpagd": "200000", "dpscd": "200000"}


def seconds(program, folder, solver, threads, beside=1):
    """Of training; the longest of `beside` runs that start together."""
    table = os.path.join(folder, ROWS[solver])
    command = [program, "train", table + ".csv", "--schema", table + ".schema.json"]
    command += ["--loss", "logistic", "--penalty", "l2:lambda=0.001", "--solver", SOLVERS[solver], "--epsilon", "1"]
    command += ["--delta", "1e-6", "--seed", "1", "--json", "--threads", str(threads)]
    runs = []
    for k in range(beside):
        own = command + ["-o", os.path.join(folder, f"m{k}.json")]
        runs.append(subprocess.Popen(own, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True))
    told = [run.communicate() for run in runs]
    for run, (_, why) in zip(runs, told):
        if run.returncode:
            raise SystemExit(why)
    return max(json.loads(text)["seconds"]["train"] for text, _ in told)


def middle(values):
    return sorted(values)[len(values) // 2]


def tables(program, folder):
    for rows in sorted(set(ROWS.values())):
        command = [program, "generate", "--rows", rows, "--seed", "1", "-o", os.path.join(folder, rows + ".csv")]
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)


def say(name, one, two, mode, met, more=""):
    ratio = one / two if mode == "idle" else two / one
    print(f"{mode:5} {name:10} one {one:7.3f} s   two {two:7.3f} s   ratio {ratio:.2f}   {'met' if met(ratio) else 'MISSED'}"
          f"   load {os.getloadavg()[0]:.1f}{more}", flush=True)
    return met(ratio)


def solvers(program, folder, mode, runs):
    """The aims that are met, one truth value for each solver."""
    others, found = [], []
    met = (lambda ratio: ratio >= 1.8) if mode == "idle" else (lambda ratio: ratio <= 1.2)
    try:
        if mode == "busy":
            others = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(len(os.sched_getaffinity(0)))]
        for solver in SOLVERS:
            both = [(seconds(program, folder, solver, 1), seconds(program, folder, solver, 2)) for _ in range(runs)]
            one, two, more = middle([b[0] for b in both]), middle([b[1] for b in both]), ""
            if mode == "idle":
                pair = middle([seconds(program, folder, solver, 1, 2) for _ in range(runs)])
                more = f"   machine {2 * one / pair:.2f}"
            found.append(say(solver, one, two, mode, met, more))
    finally:
        for other in others:
            other.kill()
            other.wait()
    return found


def reading(program, folder, runs):
    path = os.path.join(folder, "wide.csv")
    write_csv(path, 300e6, 100)
    times = {1: [], 2: []}
    for _ in range(runs):
        for threads in times:
            command = [program, "train", path, "--label", "y", "--loss", "logistic", "--solver", "dpgd:steps=1", "--epsilon",
                       "1", "--delta", "1e-6", "--row-norm", "5", "--seed", "1", "--json", "--threads", str(threads)]
            command += ["-o", os.path.join(folder, "m.json")]
            done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True)
            times[threads].append(json.loads(done.stdout)["seconds"]["read"])
    os.unlink(path)
    return [say("csv", middle(times[1]), middle(times[2]), "csv", lambda ratio: ratio <= 0.6)]


def main():
    program, mode = sys.argv[1], sys.argv[2] if len(sys.argv) > 2 else "idle"
    runs = int(sys.argv[3]) if len(sys.argv) > 3 else 3
    found = []
    with tempfile.TemporaryDirectory() as folder:
        tables(program, folder)
        for each in ("idle", "csv", "busy") if mode == "all" else (mode,):
            found += reading(program, folder, runs) if each == "csv" else solvers(program, folder, each, runs)
    print(f"{sum(found)} of {len(found)} aims met", flush=True)


if __name__ == "__main__":
    main()
