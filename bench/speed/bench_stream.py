"""bench_stream.py - training on a table that exceeds --memory: peak, and time over what the disk needs for the bytes.

    python3 bench/speed/bench_stream.py build/release/tacit [--gb 8] [--memory 1G] [--folder /tmp] ...

One run for each format and solver, on invented numbers.  Before a run the input leaves the page cache.  While it runs,
the pages that the process has given back leave it too (--warm lets them stay): every pass reads the disk, as on a
machine whose memory is small.  disk: the rate of plain reads of the same file with a cold cache, the mean of one before
and one after the run.  ratio: the wall time over (bytes that the run read from the disk / that rate).  processor: its
time over the number of threads, over the same: what the ratio would be if nobody else used the processors and nothing
waited.  --same trains in memory as well and compares the models' bytes.
"""

import argparse
import array
import filecmp
import os
import random
import stat
import threading
import time

BLOCK = 1000  # rows that are written again and again
SETTINGS = "--loss logistic --penalty l2:lambda=1e-3 --epsilon 1 --delta 1e-6 --row-norm 8 --seed 1 --classes 0,1".split()


def rows_of_numbers(cols):
    draw = random.Random(1)
    return [[i % 2] + [round(draw.random(), 6) for _ in range(cols)] for i in range(BLOCK)]


def write_npy(path, size, cols):
    blocks = max(1, int(size / (BLOCK * (cols + 1) * 8)))
    header = "{'descr': '<f8', 'fortran_order': False, 'shape': (%d, %d)}" % (blocks * BLOCK, cols + 1)
    header = header.ljust(117) + "\n"
    block = array.array("d", [value for row in rows_of_numbers(cols) for value in row]).tobytes()
    with open(path, "wb") as out:
        out.write(b"\x93NUMPY\x01\0" + len(header).to_bytes(2, "little") + header.encode())
        for _ in range(blocks):
            out.write(block)
    return ["--label", "1"]


def write_csv(path, size, cols):
    block = "".join(",".join([str(row[0])] + ["%.6f" % value for value in row[1:]]) + "\n" for row in rows_of_numbers(cols))
    with open(path, "w") as out:
        out.write(",".join(["y"] + ["c%d" % j for j in range(cols)]) + "\n")
        for _ in range(max(1, int(size / len(block)))):
            out.write(block)
    return ["--label", "y"]


def forget(path):
    """The file's clean pages that nobody maps leave the page cache; what is no file (a pipe, a device) is let be."""
    try:
        if not stat.S_ISREG(os.stat(path).st_mode):
            return
        file = os.open(path, os.O_RDONLY)
    except OSError:
        return
    os.posix_fadvise(file, 0, 0, os.POSIX_FADV_DONTNEED)
    os.close(file)


def disk_rate(path, most):
    """Bytes a second of plain reads, cold."""
    forget(path)
    file, got, start = os.open(path, os.O_RDONLY), 0, time.perf_counter()
    while got < most:
        block = os.read(file, 1 << 20)
        if not block:
            break
        got += len(block)
    os.close(file)
    return got / (time.perf_counter() - start)


def watch(pid, ended, cold, seen):
    """Keeps the count of bytes from the disk, and the cache cold."""
    while not ended.is_set():
        try:
            with open(f"/proc/{pid}/io") as text:
                counts = dict(line.split(": ") for line in text)
            seen.update(read=int(counts["read_bytes"]), written=int(counts["write_bytes"]))
            for name in os.listdir(f"/proc/{pid}/fd") if cold else ():
                forget(f"/proc/{pid}/fd/{name}")
            for name in os.listdir(f"/proc/{pid}/map_files") if cold else ():
                forget(f"/proc/{pid}/map_files/{name}")
        except (OSError, KeyError):
            pass
        ended.wait(0.25)


def run(command, cold):
    pid = os.fork()
    if pid == 0:
        os.dup2(os.open(command[-1] + ".said", os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), 1)
        os.dup2(1, 2)
        os.execv(command[0], command)
    seen, ended, start = {"read": 0, "written": 0}, threading.Event(), time.perf_counter()
    thread = threading.Thread(target=watch, args=(pid, ended, cold, seen))
    thread.start()
    _, status, used = os.wait4(pid, 0)
    wall = time.perf_counter() - start
    ended.set()
    thread.join()
    with open(command[-1] + ".said") as said:
        words = said.read()
    os.unlink(command[-1] + ".said")
    if status:
        raise SystemExit("failed: " + " ".join(command) + "\n" + words)
    seen["phases"] = next((line[7:].strip() for line in words.splitlines() if line.startswith("seconds")), "")
    return wall, used, seen


def one(given, name, path, more, solver):
    model = os.path.join(given.folder, "stream.json")
    fixed = [given.program, "train", path, *more, *SETTINGS, "--solver", solver, "--threads", str(given.threads)]
    limits = ["--memory", given.memory, "--scratch", given.folder]
    size = os.path.getsize(path)
    rates = [disk_rate(path, min(size, 1 << 30))]
    forget(path)
    wall, used, seen = run([*fixed, *limits, "-o", model], not given.warm)
    rates.append(disk_rate(path, min(size, 1 << 30)))
    rate = sum(rates) / 2
    peak = used.ru_maxrss * 1024
    limit = int(given.memory[:-1]) << {"K": 10, "M": 20, "G": 30}[given.memory[-1]]
    processor, wanted = used.ru_utime + used.ru_stime, max(seen["read"], 1) / rate
    print(f"{name}  {size / 1e9:.2f} GB  {solver}  peak {peak / 2**20:.1f} MiB  over limit {peak / limit:.3f}"
          f"  wall {wall:.1f} s ({seen['phases']})  processor {processor:.1f} s  disk {rate / 1e6:.0f} MB/s"
          f"  read {seen['read'] / 1e9:.2f} GB  written {seen['written'] / 1e9:.2f} GB"
          f"  ratio {wall / wanted:.2f}  processor {processor / given.threads / wanted:.2f}", flush=True)
    if given.same:
        run([*fixed, "-o", model + ".memory"], False)
        print("same bytes as in memory:", filecmp.cmp(model, model + ".memory", shallow=False), flush=True)
        os.unlink(model + ".memory")
    os.unlink(model)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("program")
    parser.add_argument("--gb", type=float, default=8)
    parser.add_argument("--memory", default="1G")
    parser.add_argument("--cols", type=int, default=200)
    parser.add_argument("--folder", default=os.environ.get("TMPDIR", "/tmp"))
    parser.add_argument("--formats", default="npy,csv")
    parser.add_argument("--solvers", default="dpmetric:steps=8 objpert", help="separated by blanks")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--warm", action="store_true")
    parser.add_argument("--same", action="store_true")
    given = parser.parse_args()
    for name in given.formats.split(","):
        path = os.path.join(given.folder, "stream." + name)
        try:
            more = {"npy": write_npy, "csv": write_csv}[name](path, given.gb * 1e9, given.cols)
            os.sync()
            for solver in given.solvers.split():
                one(given, name, path, more, solver)
        finally:
            os.unlink(path)


if __name__ == "__main__":
    main()
