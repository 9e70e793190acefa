#!/usr/bin/env python3
"""parties_network.py - gram_parties between processes: wall time, processor time and memory, with delay or without.

    parties_network.py BUILD [--rows N] [--columns P] [--parties K] [--delay MS] [--mbit RATE]
                             [--model FILE]

Without delay all ends are on loopback.  With --delay or --mbit every party and the server sit in a network namespace of
their own, and all traffic goes through a relay that keeps each byte back for MS milliseconds and lets RATE Mbit/s pass
per connection and direction.  It needs the right to make namespaces (root), and says so where that is missing.
Prints one JSON object; --model keeps what was trained.  Needs numpy and openssl.
"""

import argparse
import collections
import json
import os
import pathlib
import selectors
import shutil
import socket
import subprocess
import sys
import tempfile
import time

CHUNK = 1 << 16


def openssl(*arguments):
    subprocess.run(["openssl", *arguments], check=True, capture_output=True)


def certificates(names, address_of):
    curve = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"]
    openssl("req", "-x509", *curve, "-keyout", "ca.key", "-out", "ca.pem", "-subj", "/CN=ca", "-days", "2")
    for name in names:
        openssl("req", *curve, "-keyout", name + ".key", "-out", name + ".csr", "-subj", "/CN=" + name)
        pathlib.Path(name + ".ext").write_text("subjectAltName=IP:" + address_of(name))
        openssl("x509", "-req", "-in", name + ".csr", "-CA", "ca.pem", "-CAkey", "ca.key", "-CAcreateserial", "-out",
                name + ".pem", "-days", "2", "-extfile", name + ".ext")


def tables(rows, columns, parties):
    """Records by position; the label is the last column of each party's table.

    Made in a process of their own: the kernel counts what a program's starter held into the peak of the program, so
    NumPy and a table here would be read as a party's memory."""
    if pid := os.fork():
        if os.waitpid(pid, 0)[1]:
            sys.exit("parties_network.py: the tables could not be written")
        return
    import numpy as np

    generator = np.random.default_rng(1)
    label = generator.uniform(-1, 1, rows)
    for k in range(parties):
        wide = columns * (k + 1) // parties - columns * k // parties
        table = np.empty((rows, wide + 1), np.float32)
        for at in range(0, rows, 100000):
            part = slice(at, min(rows, at + 100000))
            table[part, :wide] = generator.uniform(-1, 1, (part.stop - at, wide)) + 0.1 * label[part, None]
            table[part, wide] = label[part]
        np.save(f"p{k}.npy", table)
    os._exit(0)


class Relay:
    """Byte streams between (host, port) pairs, kept back and slowed down."""

    def __init__(self, delay, rate):
        self.delay, self.rate = delay, rate
        self.select = selectors.DefaultSelector()

    def listen(self, here, there):
        listener = socket.create_server(here)
        listener.setblocking(False)
        self.select.register(listener, selectors.EVENT_READ, ("listen", there))

    def accept(self, listener, there):
        near = listener.accept()[0]
        try:
            far = socket.create_connection(there, timeout=5)
        except OSError:
            near.close()
            return
        for a, b in ((near, far), (far, near)):
            a.setblocking(False)
            a.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            way = {"to": b, "queue": collections.deque(), "free": 0.0, "open": True}
            self.select.register(a, selectors.EVENT_READ, ("way", way))

    def take(self, source, way):
        """What has come is due a delay later, and after what is before it at the rate."""
        try:
            got = source.recv(CHUNK)
        except BlockingIOError:
            return
        except OSError:
            got = b""
        now = time.monotonic()
        way["free"] = max(now, way["free"]) + len(got) / self.rate
        way["queue"].append((way["free"] + self.delay, got))
        if not got:
            self.select.unregister(source)
            way["open"] = False
            self.ended.append(way)

    def give(self, way, now):
        while way["queue"] and way["queue"][0][0] <= now:
            due, got = way["queue"].popleft()
            try:
                if not got:
                    way["to"].shutdown(socket.SHUT_WR)
                    continue
                sent = way["to"].send(got)
                if sent < len(got):
                    way["queue"].appendleft((now, got[sent:]))
                    return
            except BlockingIOError:
                way["queue"].appendleft((due, got))
                return
            except OSError:
                way["queue"].clear()

    def run(self):
        self.ended = []
        while True:
            for key, _ in self.select.select(0.001):
                kind, what = key.data
                if kind == "listen":
                    self.accept(key.fileobj, what)
                elif len(what["queue"]) < 400:  # a sender of more waits, as on a line
                    self.take(key.fileobj, what)
            now = time.monotonic()
            for key in list(self.select.get_map().values()):
                if key.data[0] == "way":
                    self.give(key.data[1], now)
            for way in self.ended:
                self.give(way, now)


def ip(*arguments):
    subprocess.run(["ip", *arguments], check=True, capture_output=True)


class Hosts:
    """A namespace for each end, joined by a bridge in which the relay runs."""

    def __init__(self, names):
        self.tag = f"tct{os.getpid() % 10000}"
        self.names = names
        self.made = []
        self.add("hub")
        self.inside("hub", "link", "add", "name", "bridge", "type", "bridge")
        self.inside("hub", "addr", "add", "10.77.0.254/24", "dev", "bridge")
        self.inside("hub", "link", "set", "bridge", "up")
        for i, name in enumerate(names):
            self.add(name)
            ip("-n", self.space(name), "link", "add", "e0", "type", "veth", "peer", "name", f"v{i}", "netns", self.space("hub"))
            self.inside("hub", "link", "set", f"v{i}", "master", "bridge")
            self.inside("hub", "link", "set", f"v{i}", "up")
            self.inside(name, "addr", "add", self.address(name) + "/24", "dev", "e0")
            self.inside(name, "link", "set", "e0", "up")
            self.inside(name, "link", "set", "lo", "up")

    def space(self, name):
        return f"{self.tag}{name}"

    def add(self, name):
        ip("netns", "add", self.space(name))
        self.made.append(self.space(name))

    def inside(self, name, *arguments):
        ip("-n", self.space(name), *arguments)

    def address(self, name):
        return f"10.77.0.{1 + self.names.index(name)}"

    def command(self, name):
        return ["ip", "netns", "exec", self.space(name)]

    def close(self):
        for space in self.made:
            subprocess.run(["ip", "netns", "del", space], capture_output=True)


def end_of(process):
    _, status, used = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    return {"exit": process.returncode, "seconds": round(used.ru_utime + used.ru_stime, 2), "peak_mb": used.ru_maxrss // 1024}


def wait_until_it_listens(process, port):
    """A relay takes a connection before it knows whether anybody answers behind it."""
    while process.poll() is None:
        for line in pathlib.Path(f"/proc/{process.pid}/net/tcp").read_text().splitlines()[1:]:
            words = line.split()
            if words[1].endswith(f":{port:04X}") and words[3] == "0A":
                return
        time.sleep(0.02)


def run(options, build, hosts):
    names = ["server"] + [f"p{k}" for k in range(options.parties)]
    slow = hosts is not None
    host = hosts.address if slow else lambda name: "127.0.0.1"
    port = {name: 7443 + i if slow else 20000 + os.getpid() % 20000 + i for i, name in enumerate(names)}
    hub = "10.77.0.254"
    certificates(names, lambda name: hub if slow else "127.0.0.1")
    pathlib.Path("secret").write_bytes(os.urandom(32))
    tables(options.rows, options.columns, options.parties)
    reached = lambda name: f"{hub}:{port[name]}" if slow else f"{host(name)}:{port[name]}"
    relay = None
    if slow:
        there = ",".join(f"{port[name]}={host(name)}:{port[name]}" for name in names)
        relay = subprocess.Popen(hosts.command("hub") + [sys.executable, __file__, "relay", str(options.delay / 1000),
                                                        str(options.mbit * 125000), there], stdout=subprocess.PIPE)
        relay.stdout.readline()
    own = lambda name: ["--cert", name + ".pem", "--private-key", name + ".key", "--ca", "ca.pem", "--timeout", "120"]
    common = ["--loss", "squared", "--epsilon", "1", "--delta", "1e-6"]
    wrap = hosts.command if slow else lambda name: []
    started = time.monotonic()
    process = {"server": subprocess.Popen(
        wrap("server") + [str(build / "tacit"), "serve", "--listen", f"{host('server')}:{port['server']}", "--parties",
                          str(options.parties), *own("server"), *common, "--penalty", "l2:lambda=0.001", "--row-norm", "9",
                          "--label-bound", "1", "--solver", "gram_parties", "-o", "model.json", "--json"],
        stdout=subprocess.PIPE)}
    wait_until_it_listens(process["server"], port["server"])
    for k, name in enumerate(names[1:]):
        wide = options.columns * (k + 1) // options.parties - options.columns * k // options.parties
        process[name] = subprocess.Popen(
            wrap(name) + [str(build / "tacit"), "party", f"p{k}.npy", "--connect", reached("server"), *own(name), *common,
                          "--secret", "secret", "--label", str(wide + 1), "--f32", "--solver", "gram_parties", "--listen",
                          f"{host(name)}:{port[name]}", "--announce", reached(name), "--json"], stdout=subprocess.PIPE)
    said = process["server"].stdout.read()
    ends = {name: end_of(each) for name, each in process.items()}
    wall = time.monotonic() - started
    if relay:
        relay.kill()
        relay.wait()
    if any(end["exit"] for end in ends.values()):
        sys.exit(f"parties_network.py: a process failed: {ends} {said[:300]}")
    parts = [ends[name] for name in names[1:]]
    return {"bench": "parties_network", "rows": options.rows, "columns": options.columns, "parties": options.parties,
            "delay_ms": options.delay if slow else 0, "mbit": options.mbit if slow else None, "wall_seconds": round(wall, 2),
            "party_seconds": max(p["seconds"] for p in parts), "party_peak_mb": max(p["peak_mb"] for p in parts),
            "server_seconds": ends["server"]["seconds"], "server_peak_mb": ends["server"]["peak_mb"]}


def main():
    if sys.argv[1:2] == ["relay"]:
        relay = Relay(float(sys.argv[2]), float(sys.argv[3]))
        for each in sys.argv[4].split(","):
            port, there = each.split("=")
            host, to = there.split(":")
            relay.listen(("10.77.0.254", int(port)), (host, int(to)))
        print("ready", flush=True)
        relay.run()
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("--rows", type=int, default=20000)
    parser.add_argument("--columns", type=int, default=400)
    parser.add_argument("--parties", type=int, default=4)
    parser.add_argument("--delay", type=float, default=0)
    parser.add_argument("--mbit", type=float, default=0)
    parser.add_argument("--model", type=pathlib.Path)
    options = parser.parse_args()
    build = options.build.resolve()
    options.model = options.model and options.model.resolve()
    hosts = None
    options.mbit = options.mbit or 1e5
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        try:
            if options.delay or options.mbit < 1e5:
                hosts = Hosts(["server"] + [f"p{k}" for k in range(options.parties)])
            print(json.dumps(run(options, build, hosts)))
            if options.model:
                shutil.copy("model.json", options.model)
        except subprocess.CalledProcessError as failed:
            if failed.cmd[0] != "ip":
                raise
            sys.exit(f"skipped: network namespaces are not allowed here ({failed.stderr.decode().strip()})")
        finally:
            if hosts:
                hosts.close()
            os.chdir("/")


main()
