"""bench_busy.py - what a second thread gains on an idle machine, and costs on a busy one.

    python3 bench/speed/bench_busy.py build/release/tacit [idle|busy] [runs (3)]

Training time alone (reading left out), the middle of the runs.  idle: time of one thread over that of two.  busy: with
another process on every processor, time of two threads over that of one.
"""

import json
import os
import subprocess
import sys
import tempfile

SOLVERS = {
    "dpgd": "dpgd:steps=60",
    "dpmetric": "dpmetric",
    "objpert": "objpert",
    "dpagd": "dpagd",
    "dpscd": "dpscd",
}


def seconds(program, folder, solver, threads):
    command = [program, "train", os.path.join(folder, "t.csv"), "--schema", os.path.join(folder, "t.schema.json")]
    command += ["--loss", "logistic", "--penalty", "l2:lambda=0.001", "--solver", SOLVERS[solver], "--epsilon", "1"]
    command += ["--delta", "1e-6", "--seed", "1", "--json", "--threads", str(threads)]
    command += ["-o", os.path.join(folder, "m.json")]
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    if done.returncode:
        raise SystemExit(done.stderr)
    return json.loads(done.stdout)["seconds"]["train"]


def middle(values):
    return sorted(values)[len(values) // 2]


def main():
    program, mode = sys.argv[1], sys.argv[2] if len(sys.argv) > 2 else "idle"
    runs = int(sys.argv[3]) if len(sys.argv) > 3 else 3
    with tempfile.TemporaryDirectory() as folder:
        table = os.path.join(folder, "t.csv")
        subprocess.run([program, "generate", "--rows", "200000", "--seed", "1", "-o", table], check=True, stdout=subprocess.DEVNULL)
        others = []
        try:
            if mode == "busy":
                others = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(len(os.sched_getaffinity(0)))]
            for solver in SOLVERS:
                both = [(seconds(program, folder, solver, 1), seconds(program, folder, solver, 2)) for _ in range(runs)]
                one, two = middle([b[0] for b in both]), middle([b[1] for b in both])
                ratio = two / one if mode == "busy" else one / two
                print(f"{solver:10} one {one:7.3f} s   two {two:7.3f} s   {mode} ratio {ratio:.2f}", flush=True)
        finally:
            for other in others:
                other.kill()


if __name__ == "__main__":
    main()
