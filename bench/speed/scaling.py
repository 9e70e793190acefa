"""scaling.py - what R ranks cost, measured here and modelled beyond this machine (docs/measured/scaling.md).

    python3 bench/speed/scaling.py BUILD [--rows N] [--file FILE] [--ranks 2,4]

Makes an invented table (42 million records are 2.2 GB; about 6 GiB of memory), trains on it with one rank and with
several, one thread each, and prints one JSON line per measurement and per prediction.  Wall time is disturbed by other
work on the machine, so processor time stands beside it; ranks that wait poll, which counts as processor time.
"""

import argparse
import json
import math
import os
import resource
import subprocess
import tempfile
import time

PEOPLE = ["--loss", "logistic", "--epsilon", "1", "--delta", "1e-6", "--seed", "3", "--threads", "1"]
STEPS = 10


def train(tacit, ranks, folder, data, arguments):
    """One run: its JSON, wall seconds and processor seconds."""
    out = os.path.join(folder, f"model{ranks}.json")
    command = [tacit, "train", *data, *PEOPLE, *arguments, "-o", out, "--json"]
    if ranks > 1:
        command = ["mpirun", "-n", str(ranks), *command]
    environment = dict(os.environ, OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1")
    if ranks > (os.cpu_count() or 1):
        environment["OMPI_MCA_rmaps_base_oversubscribe"] = "1"
    before, start = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic()
    text = subprocess.run(command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=True).stdout
    wall, after = time.monotonic() - start, resource.getrusage(resource.RUSAGE_CHILDREN)
    with open(out, "rb") as file:
        model = file.read()
    processor = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return json.loads(text), wall, processor, model


def say(**fields):
    print(json.dumps(fields), flush=True)


def gate_seconds(tacit, folder, ranks, small, schema):
    """Seconds that one release over ranks adds: coordinate descent releases one number a step."""
    settings = ["--schema", schema, "--intercept", "--penalty", "none", "--solver", "dpcd:outer=100,inner=200"]
    seconds = {r: min(train(tacit, r, folder, [small], settings)[0]["seconds"]["train"] for _ in range(3)) for r in (1, ranks)}
    return (seconds[ranks] - seconds[1]) / 20000


def byte_seconds(tacit, folder, ranks):
    """Seconds that a byte of a released vector adds, there and back: a million features, few of them filled."""
    wide = os.path.join(folder, "wide.libsvm")
    with open(wide, "w") as file:
        for i in range(1024):
            file.write(f"{i % 2} {1 + i}:1 {1000000 - i}:0.5\n")
    settings = ["--penalty", "none", "--row-norm", "1", "--no-intercept", "--solver", "dpgd:steps=20"]
    seconds = {r: min(train(tacit, r, folder, [wide], settings)[0]["seconds"]["train"] for _ in range(2)) for r in (1, ranks)}
    return (seconds[ranks] - seconds[1]) / (20 * 8e6)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("build")
    parser.add_argument("--rows", type=float, default=4.2e7)
    parser.add_argument("--file", help="a table of `tacit generate` with its schema beside it; default: a new one")
    parser.add_argument("--ranks", default="2")
    options = parser.parse_args()
    tacit = os.path.join(options.build, "tacit")
    ranks = [int(r) for r in options.ranks.split(",")]
    with tempfile.TemporaryDirectory() as folder:
        data = options.file or os.path.join(folder, "people.csv")
        if not options.file:
            subprocess.run([tacit, "generate", "--rows", str(int(options.rows)), "--seed", "9", "-o", data],
                           check=True, stdout=subprocess.DEVNULL)
        schema = os.path.splitext(data)[0] + ".schema.json"
        small = os.path.join(folder, "small.csv")
        subprocess.run([tacit, "generate", "--rows", "512", "-o", small], check=True, stdout=subprocess.DEVNULL)
        size = os.path.getsize(data)
        settings = ["--schema", schema, "--intercept", "--penalty", "none", "--solver", f"dpgd:steps={STEPS}"]

        one, wall_one, processor_one, model_one = train(tacit, 1, folder, [data], settings)
        rows, p = one["rows"], one["columns"] + 1
        say(measured="run", ranks=1, bytes=size, rows=rows, wall=wall_one, processor=processor_one, seconds=one["seconds"])
        read = one["seconds"]["read"] / size
        row = one["seconds"]["train"] / (rows * STEPS)
        empty_one = train(tacit, 1, folder, [small], settings)[1]
        for r in ranks:
            gate, byte = gate_seconds(tacit, folder, r, small, schema), byte_seconds(tacit, folder, r)
            empty = min(train(tacit, r, folder, [small], settings)[1] for _ in range(3))
            many, wall, processor, model = train(tacit, r, folder, [data], settings)
            say(measured="run", ranks=r, rank_rows=many["rank_rows"], wall=wall, processor=processor, seconds=many["seconds"],
                same_bits=model == model_one, speedup=wall_one / wall, speedup_processor=processor_one / (processor / r))
            predicted = empty + size * read / r + rows * STEPS * row / r + STEPS * (gate + 8 * p * byte)
            say(measured="constants", ranks=r, read_seconds_per_gb=read * 1e9, seconds_per_record_and_pass=row,
                release_seconds=gate, seconds_per_gb_released=byte * 1e9, start_seconds=empty - empty_one,
                predicted_wall=predicted, wall=wall)
        hop = max(gate, 1e-6) / math.log2(max(r, 2))
        for r in (1, 2, 4, 8, 16, 64, 256, 1024):
            releases = hop * math.log2(r) * STEPS if r > 1 else 0
            total = (empty if r > 1 else 0) + (size * read + rows * STEPS * row) / r + releases
            say(predicted="run", ranks=r, seconds=total, speedup=(size * read + rows * STEPS * row) / total)


if __name__ == "__main__":
    main()
