#!/usr/bin/env python3
"""hostile_files.py - each kind of file in each place, every verb that opens it there; see hostile_files.sh.

usage: hostile_files.py LIMIT [KIND...]

In each place lies a good file first, and a kind is made of it.  After every command the ledger is looked at through a
path of its own, with everything undone: what it was charged with has made a model.
"""
import fcntl, json, os, shutil, signal, socket, sqlite3, stat, subprocess, sys, tempfile

LIMIT, only = float(sys.argv[1]), sys.argv[2:]
TACIT = os.environ["TACIT"]
work = tempfile.mkdtemp()
os.chmod(work, 0o755)
os.chdir(work)
os.environ.update(OMP_NUM_THREADS="1", TACIT_REGISTRY="none")
failures, ran, skipped = [], 0, set()
LONG = 1 << 40
PATIENCE = 5  # seconds, with another program that is in the middle of writing the ledger

def tacit(*words, nobody=False, more=0, **env):
    """(exit code, standard error); a command that does not end is killed and fails."""
    global ran
    ran += 1
    who = ["setpriv", "--reuid", "65534", "--regid", "65534", "--clear-groups"] if nobody and os.getuid() == 0 else []
    try:
        done = subprocess.run([*who, TACIT, *map(str, words)], stdin=subprocess.DEVNULL, capture_output=True, text=True,
                              timeout=LIMIT + more, env={**os.environ, **env})
    except subprocess.TimeoutExpired:
        return "no end", ""
    return done.returncode, done.stderr

def must(*words):
    code, said = tacit(*words, more=60)
    assert code == 0, (words, said)

# ---- kinds: each makes the good file at `path` into something else, and may return what undoes it ----

def away(path):
    if os.path.lexists(path):
        os.unlink(path)

def fifo(path):
    away(path)
    os.mkfifo(path)

def socket_file(path):
    away(path)
    here = socket.socket(socket.AF_UNIX)
    folder = os.getcwd()
    os.chdir(os.path.dirname(path))  # the name of a socket is short
    here.bind(os.path.basename(path))
    os.chdir(folder)
    return here.close

def folder(path):
    away(path)
    os.mkdir(path)

def link_to(target):
    def make(path):
        away(path)
        os.symlink(target, path)
    return make

def device(minor):
    def make(path):
        away(path)
        os.mknod(path, stat.S_IFCHR | 0o666, os.makedev(1, minor))
        os.chmod(path, 0o666)
    return make

def link_to_fifo(path):
    away(path)
    os.mkfifo(path + ".fifo")
    os.symlink(path + ".fifo", path)

def content(make):
    def write(path):
        with open(path, "rb") as file:
            good = file.read()
        with open(path, "wb") as file:
            make(file, good)
    return write

def sparse(file, good):
    file.truncate(LONG)

def longer(file, good):
    file.write(good)
    file.truncate(LONG)

def no_permission(path):
    os.chmod(path, 0)
    return lambda: os.chmod(path, 0o600)

def of_another(path):
    os.chmod(path, 0o600)

def read_only(path):
    os.chmod(path, 0o444)
    return lambda: os.chmod(path, 0o600)

def read_only_folder(path):
    os.chmod(path, 0o666)
    os.chmod(os.path.dirname(path), 0o555)
    return lambda: os.chmod(os.path.dirname(path), 0o777)

def immutable(path):
    if subprocess.run(["chattr", "+i", path], capture_output=True).returncode:
        raise PermissionError
    return lambda: subprocess.run(["chattr", "-i", path], check=True)

def elsewhere(program):
    """A process that holds the file, and says when it does."""
    def make(path):
        child = subprocess.Popen([sys.executable, "-c", "import fcntl, sqlite3, sys, time\npath = sys.argv[1]\n" + program +
                                  "\nprint(1, flush=True)\ntime.sleep(1000)", path], stdout=subprocess.PIPE)
        child.stdout.readline()
        def end():
            child.kill()
            child.wait()
            child.stdout.close()
        return end
    return make

flocked = elsewhere("f = open(path, 'r+'); fcntl.flock(f, fcntl.LOCK_EX)")
locked = elsewhere("f = open(path, 'r+'); fcntl.lockf(f, fcntl.LOCK_EX)")
exclusive = elsewhere("d = sqlite3.connect(path, isolation_level=None); d.execute('BEGIN EXCLUSIVE')")
reserved = elsewhere("d = sqlite3.connect(path, isolation_level=None); d.execute('BEGIN IMMEDIATE')")
read = elsewhere("d = sqlite3.connect(path, isolation_level=None); d.execute('BEGIN'); d.execute('SELECT * FROM head').fetchall()")
written = elsewhere("d = sqlite3.connect(path, isolation_level=None); d.execute('BEGIN EXCLUSIVE'); d.execute('UPDATE head SET seq = 0')")

def beside(suffix, make):
    def both(path):
        undo = make(path + suffix)
        def end():
            if undo:
                undo()
            at = path + suffix
            shutil.rmtree(at) if os.path.isdir(at) and not os.path.islink(at) else away(at)
        return end
    return both

def hard_link(of):
    def make(path):
        away(path)
        os.link(of, path)
    return make

def copy_of(of):
    def make(path):
        away(path)
        shutil.copyfile(of, path)
    return make

GOOD = ("flocked", "locked", "exclusive", "reserved", "read", "written", "immutable", "no permission", "read only", "read-only folder",
        "of another user")  # the file is whole: undone, it is as it was
KINDS = {
    "pipe": fifo, "socket": socket_file, "folder": folder, "link to nothing": link_to("nowhere"), "link to a pipe": link_to_fifo,
    "link to itself": lambda path: link_to(path)(path), "device null": device(3), "device zero": device(5),
    "device full": device(7), "kernel messages": link_to("/proc/kmsg"), "terminal": link_to("/dev/ptmx"),
    "empty": content(lambda file, good: None), "all holes": content(sparse), "good, then holes": content(longer),
    "cut in half": content(lambda file, good: file.write(good[: len(good) // 2])),
    "random": content(lambda file, good: file.write(os.urandom(20000))),
    "one byte changed": content(lambda file, good: file.write(good[:-9] + bytes([good[-9] ^ 1]) + good[-8:])),
    "the table": copy_of("p.csv"), "the table's other name": hard_link("p.csv"), "the model": copy_of("m.json"),
    "another ledger": copy_of("other"), "another's anchor": copy_of("other.anchor"), "absent": away,
    "no permission": no_permission, "of another user": of_another, "read only": read_only, "read-only folder": read_only_folder,
    "immutable": immutable, "flocked": flocked, "locked": locked,
}
# Of a ledger alone: a database that another process holds, and what lies beside it.
HELD = {"exclusive": exclusive, "reserved": reserved, "read": read, "written": written}
JOURNAL = {f"{name} as {suffix[1:]}": beside(suffix, make) for suffix in ("-journal", "-wal", "-shm") for name, make in (
    ("pipe", fifo), ("socket", socket_file), ("folder", folder), ("link to a pipe", link_to_fifo), ("device zero", device(5)),
    ("link to nothing", link_to("nowhere")))}
NOBODY = ("no permission", "of another user", "read only", "read-only folder")

# ---- the places ----

TRAIN = ["train", "p.csv", "--label", "y", "--loss", "logistic", "--solver", "dpgd:steps=5", "--penalty", "l2:lambda=0.1",
         "--row-norm", "2", "--epsilon", "0.5", "--delta", "1e-6"]

def prepare():
    """A folder in which everybody may write, with a ledger, one with an anchor, and a registry."""
    for name in ("place", "place/out", "place/anchor", "place/registry"):
        os.mkdir(name)
    must("ledger", f"{work}/place/L", "--init", "--epsilon", 5, "--delta", 1e-3)
    must("ledger", f"{work}/place/W", "--init", "--epsilon", 5, "--delta", 1e-3, "--anchor", f"{work}/place/anchor/A")
    shutil.copyfile("registry", "place/registry/R")
    os.rename("place", "kept")

def fresh():
    shutil.rmtree("place", ignore_errors=True)
    shutil.copytree("kept", "place")
    for top, folders, files in os.walk("place"):
        os.chmod(top, 0o777)
        for name in files:
            os.chmod(f"{top}/{name}", 0o666)
    return f"{work}/place"

def charges(ledger):
    database = sqlite3.connect(f"file:{ledger}?mode=ro", uri=True)
    runs = [row[0] for row in database.execute("SELECT id FROM runs ORDER BY seq")]
    database.close()
    return runs

def complain(*words):
    failures.append(" | ".join(map(str, words)))

def asked(place, kind, verb, code, said):
    if code == "no end":
        return complain(place, kind, verb, f"had no end within {LIMIT:g} s")
    if not 0 <= code <= 5:
        complain(place, kind, verb, f"exit code {code}", said[:300])
    lines = [line for line in said.splitlines() if line.startswith("tacit: ")]
    if code and (len(lines) != 1 or "Traceback" in said):
        complain(place, kind, verb, "is not told in one sentence", said[:300])

def one(place, kind, make, folder, ledger, target, verb, words, env={}):
    """Makes the kind, runs the verb, undoes the kind, and looks at the ledger."""
    nobody = kind in NOBODY
    model = f"{folder}/out/m.json"
    away(model)
    before = charges(ledger)
    undo = make(target)
    try:
        code, said = tacit(*words, nobody=nobody, more=PATIENCE * (kind == "written"), **env)
    finally:
        if undo:
            undo()
    asked(place, kind, verb, code, said)
    if target == ledger and kind not in GOOD and " as " not in kind:
        return code, said
    after = charges(ledger)
    if verb == "train" and code == 0:
        run = json.load(open(model))["privacy"]["ledger"]["run"]
        if after != before + [run]:
            complain(place, kind, verb, "made a model, and was charged", len(after) - len(before), "times")
    elif after != before:
        complain(place, kind, verb, "was charged and made no model", said[:300])
    elif os.path.exists(model):
        complain(place, kind, verb, "failed and left a model")
    return code, said

def try_all(place, name, kinds, verbs, env={}):
    told = {}
    for kind, make in kinds.items():
        if only and kind not in only:
            continue
        for verb, words in verbs.items():
            folder = fresh()
            ledger = f"{folder}/{'W' if place == 'anchor' else 'L'}"
            try:
                told[kind, verb] = one(place, kind, make, folder, ledger, f"{folder}/{name}", verb,
                                       [word.replace("@", folder) if isinstance(word, str) else word for word in words],
                                       {key: value.replace("@", folder) for key, value in env.items()})
            except PermissionError:
                skipped.add(kind)
                subprocess.run(["chmod", "-R", "u+rwX", folder])
    return told

with open("p.csv", "w") as table:
    table.write("a,b,y\n" + "".join(f"{i % 7 / 7:.3f},{i % 5 / 5:.3f},{i % 3 % 2}\n" for i in range(300)))
must("ledger", "other", "--init", "--epsilon", 5, "--delta", 1e-3, "--anchor", f"{work}/other.anchor")
os.environ["TACIT_REGISTRY"] = f"{work}/registry"
must(*TRAIN, "--ledger", "other", "-o", "m.json")
os.environ["TACIT_REGISTRY"] = "none"
os.chmod("p.csv", 0o644)
prepare()
if os.getuid() == 0 and subprocess.run(["setpriv", "--reuid", "65534", "--regid", "65534", "--clear-groups", TACIT, "--version"],
                                       capture_output=True).returncode:
    for kind in NOBODY:
        skipped.add(kind), KINDS.pop(kind)

OUT = ["-o", "@/out/m.json"]
told = try_all("ledger", "L", {**KINDS, **HELD, **JOURNAL}, {
    "train": [*TRAIN, "--ledger", "@/L", *OUT], "show": ["ledger", "@/L"], "check": ["ledger", "@/L", "--check"],
    "verify": ["verify", "m.json", "--ledger", "@/L"], "init": ["ledger", "@/L", "--init", "--epsilon", 1, "--delta", 1e-5],
    "anchor": ["ledger", "@/L", "--anchor", "@/out/A"]})
for kind in ("pipe", "socket", "folder", "device zero", *JOURNAL):
    for verb in ("train", "show"):
        if told.get((kind, verb), (1, ""))[0] == 0:
            complain("ledger", kind, verb, "was taken")
told = try_all("anchor", "anchor/A", KINDS, {
    "train": [*TRAIN, "--ledger", "@/W", *OUT], "show": ["ledger", "@/W"], "check": ["ledger", "@/W", "--check"],
    "check it": ["ledger", "@/W", "--check", "@/anchor/A"], "another": ["ledger", "@/W", "--anchor", "@/out/A"],
    "lost": ["ledger", "@/W", "--anchor", "@/out/A", "--anchor-lost", "its disk broke"],
    "make": ["ledger", "@/N", "--init", "--epsilon", 1, "--delta", 1e-5, "--anchor", "@/anchor/A"]})
whole = ("flocked", "locked", "immutable", "good, then holes", "one byte changed", *NOBODY)
for (kind, verb), (code, said) in told.items():
    if verb == "train" and code == 0 and (kind not in whole or kind == "one byte changed"):
        complain("anchor", kind, "was charged without an anchor")
    if verb == "lost" and kind not in whole and code != 0:
        complain("anchor", kind, "has no way out", said[:300])
READ = ("flocked", "locked", "read-only folder", "one byte changed")  # it knows that the table was charged elsewhere
BEGUN = ("absent", "empty", "link to nothing", "cut in half")
told = try_all("registry", "registry/R", KINDS, {"train": [*TRAIN, "--ledger", "@/L", *OUT]}, {"TACIT_REGISTRY": "@/registry/R"})
for (kind, verb), (code, said) in told.items():
    if code != 0:
        complain("registry", kind, "ended a run, which it may not", said[:300])
    told_of = "another ledger before" in said, "cannot be used" in said
    if told_of != (kind in READ, kind not in READ + BEGUN):
        complain("registry", kind, "is told otherwise than it is", said[:300])

print(f"{ran} commands, {len(KINDS)} kinds of file, {len(HELD)} and {len(JOURNAL)} more of a ledger; skipped: {', '.join(sorted(skipped)) or 'none'}")
for line in failures:
    print("FAIL", line)
shutil.rmtree(work, ignore_errors=True)
sys.exit(1 if failures else 0)
