"""bench_peak.py - peak of memory of `tacit train` over the bytes of the values that it keeps.

    python3 bench/speed/bench_peak.py build/release/tacit [MB of values (256)]

One run for each format.  values: 8 bytes a number, and 4 more for its column where the table is sparse.  peak: the
largest resident size (VmHWM) less that of a run on a table of 100 records.
"""

import os
import resource
import subprocess
import sys
import tempfile

COLS = 50
SETTINGS = "--loss logistic --solver dpgd:steps=2 --epsilon 1 --delta 1e-6 --row-norm 5 --seed 1 --threads 2".split()


def write_npy(path, rows):
    header = "{'descr': '<f8', 'fortran_order': False, 'shape': (%d, %d)}" % (rows, COLS + 1)
    header = header.ljust(117) + "\n"
    import array

    block = 1000
    values = array.array("d", [((i * 37) % 101) / 101 for i in range(block * (COLS + 1))])
    for i in range(block):
        values[i * (COLS + 1)] = 1 if i % 2 else -1
    with open(path, "wb") as out:
        out.write(b"\x93NUMPY\x01\0" + len(header).to_bytes(2, "little") + header.encode())
        for first in range(0, rows, block):
            values[: min(block, rows - first) * (COLS + 1)].tofile(out)
    return rows * COLS * 8, ["--label", "1"]


def write_csv(path, rows):
    line = lambda i: ",".join([str(i % 2)] + ["0.%d" % ((i * 7 + j * 13) % 97) for j in range(COLS)]) + "\n"
    block = "".join(line(i) for i in range(1000))
    with open(path, "w") as out:
        out.write(",".join(["y"] + ["c%d" % j for j in range(COLS)]) + "\n")
        for _ in range(0, rows, 1000):
            out.write(block)
    return (rows + 999) // 1000 * 1000 * COLS * 8, ["--label", "y"]


def write_libsvm(path, rows):
    line = lambda i: " ".join([str(i % 2)] + ["%d:0.%d" % (j + 1, (i * 7 + j * 13) % 97 + 1) for j in range(COLS)]) + "\n"
    block = "".join(line(i) for i in range(1000))
    with open(path, "w") as out:
        for _ in range(0, rows, 1000):
            out.write(block)
    return (rows + 999) // 1000 * 1000 * COLS * 12, ["--cols", str(COLS)]


def peak(program, path, more, folder):
    command = [program, "train", path, *more, *SETTINGS, "-o", os.path.join(folder, "m.json")]
    pid = os.fork()
    if pid == 0:
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        os.dup2(1, 2)
        os.execv(command[0], command)
    _, status, used = os.wait4(pid, 0)
    if status:
        raise SystemExit("failed: " + " ".join(command))
    return used.ru_maxrss * 1024


def main():
    program, size = sys.argv[1], float(sys.argv[2] if len(sys.argv) > 2 else 256) * 1e6
    with tempfile.TemporaryDirectory() as folder:
        for name, write in (("npy", write_npy), ("csv", write_csv), ("libsvm", write_libsvm)):
            path = os.path.join(folder, "table." + name)
            _, more = write(path, 1000)
            base = peak(program, path, more, folder)
            values, more = write(path, int(size / (COLS * (12 if name == "libsvm" else 8))))
            most = peak(program, path, more, folder)
            print(f"{name:7} values {values / 1e6:7.1f} MB   peak {(most - base) / 1e6:7.1f} MB   ratio {(most - base) / values:.3f}", flush=True)
            os.unlink(path)


if __name__ == "__main__":
    main()
