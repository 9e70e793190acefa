"""outputs.py - every output of every verb, as `tacit help --json` lists them, against every file of the same run and
against what is no file: one sentence, and no byte of any file is other than before.

    outputs.py TACIT    in an empty folder

With TCT_SAMPLE above 1 every third refusal is asked for, others each day.
"""

import hashlib
import itertools
import json
import os
import socket
import subprocess
import sys
import time

TACIT = sys.argv[1]
EVERY = 3 if int(os.environ.get("TCT_SAMPLE", "1")) > 1 else 1
turn = itertools.count(int(time.time() / 86400))
wrong, asked = [], 0


def tacit(*args):
    """It never comes back from what blocks: then the limit ends it, with a code that no run has."""
    line = ["timeout", "-k", "1", "300", TACIT, *args]
    with open(os.devnull) as nothing:
        return subprocess.run(line, capture_output=True, text=True, stdin=nothing)


def must(*args):
    run = tacit(*args)
    if run.returncode:
        sys.exit(f"{args}: {run.stderr}")


def seen():
    """All that lies in this folder: kinds, permissions, names, contents."""
    found = {}
    for folder, folders, files in os.walk("."):
        for name in folders + files:
            path = os.path.join(folder, name)
            at = os.lstat(path)
            whole = open(path, "rb").read() if os.path.isfile(path) and not os.path.islink(path) else b""
            found[path] = at.st_mode, hashlib.sha256(whole).hexdigest()
    return found


def refused(what, args, codes=(1, 2), before=None):
    """Exits with one sentence, says nothing else and changes nothing."""
    global asked
    if next(turn) % EVERY:
        return
    asked += 1
    before = before or seen()
    run = tacit(*args)
    if run.returncode not in codes:
        wrong.append(f"{what}: exit {run.returncode}: {run.stderr[:200]}")
    elif run.stderr.count("\n") != 1 or not run.stderr.startswith("tacit: ") or run.stdout:
        wrong.append(f"{what}: not one sentence: {run.stderr[:300]}{run.stdout[:100]}")
    after = seen()
    if after != before:
        changed = sorted(name for name in before.keys() | after.keys() if before.get(name) != after.get(name))
        wrong.append(f"{what}: changed {changed}")
        if any(name in before for name in changed):
            sys.exit("\n".join(wrong))  # what comes next would not be what it says


# ---- the files of the runs ----
os.mkdir("new")
os.environ["TACIT_REGISTRY"] = os.path.abspath("tables")
fit = ["--schema", "people.schema.json", "--loss", "logistic", "--epsilon", "0.1", "--delta", "1e-6"]
must("generate", "--rows", "300", "-o", "people.csv")
must("ledger", "people.ledger", "--init", "--epsilon", "9", "--delta", "1e-3", "--anchor", os.path.abspath("people.anchor"))
must("train", "people.csv", *fit, "--ledger", "people.ledger", "-o", "model.json")
json.dump({"penalty": ["l2:lambda=0.1"], "solver": ["dpgd"]}, open("grid.json", "w"))
label = json.load(open("people.schema.json"))["label"]["name"]
json.dump({"epsilon": 0.1, "delta": 1e-6, "stages": [{"name": "a", "kind": "fit", "label": label, "loss": "logistic"},
                                                     {"name": "b", "kind": "score", "of": "a"}]}, open("plan.json", "w"))
for name in ("secret", "own.pem", "key.pem", "ca.pem", "crl.pem", "audit.json", "scores.json", "policy.json"):
    open(name, "w").write("what is in it is not looked at: " + name)
assert open("tables").read().startswith("tacit-tables ")

value = {"--schema": "people.schema.json", "--ledger": "people.ledger", "--candidates": "grid.json", "--plan": "plan.json", "--secret": "secret",
         "--cert": "own.pem", "--private-key": "key.pem", "--ca": "ca.pem", "--crl": "crl.pem", "--audit": "audit.json",
         "--scores": "scores.json", "--policy": "policy.json"}
end = {"--curve": ".svg"}
agreed = ["--loss", "squared", "--epsilon", "1", "--delta", "1e-6", "--timeout", "9"]
# verb: its operands, and what it needs beside files
usual = {"train": (["people.csv"], fit[2:]), "search": (["people.csv"], [*fit[2:], "--tries", "2"]),
         "study": (["people.csv"], []), "moments": (["people.csv"], ["--epsilon", "0.1", "--delta", "1e-6"]),
         "describe": (["people.csv"], ["--epsilon", "0.1", "--delta", "1e-6"]),
         "predict": (["model.json", "people.csv"], []), "account": ([], ["gaussian:noise=1", "--delta", "1e-6"]),
         "schema": (["people.csv"], []), "generate": ([], ["--rows", "9"]), "ledger": (["people.ledger"], []),
         "export": (["model.json"], ["--liblinear"]), "report": (["model.json"], []),
         "serve": ([], [*agreed, "--penalty", "l1ball:radius=1", "--listen", "127.0.0.1:0", "--parties", "1", "--row-norm", "1"]),
         "party": (["people.csv"], [*agreed, "--connect", "127.0.0.1:1", "--key", "age"])}
runs_alone = {"train", "search", "study", "moments", "describe", "predict", "account", "schema", "generate", "export", "report"}
needs = {"generate": ["-o"], "train": ["-o"], "search": ["-o"], "study": ["-o"], "moments": ["-o"], "describe": ["-o"], "serve": ["-o"]}
apart = {("train", "--secret"), ("describe", "--from")} # of ranks that meet, and of a table that is there already
optional = {"--ledger", "--audit", "--crl", "--secret", "--scores", "--policy"}

tables = json.loads(tacit("help", "--json").stdout)["verbs"]
kinds = {verb["name"]: {o["name"]: o["kind"] for o in verb["options"]} for verb in tables}
outputs = {verb: [o for o, kind in options.items() if kind in ("output", "output_or_-", "stream")]
           for verb, options in kinds.items()}
inputs = {verb: [o for o, kind in options.items() if kind == "input"] for verb, options in kinds.items()}


def line(verb, given, alone=False):
    """A run of the verb with all its inputs and the outputs that are given."""
    operands, rest = usual[verb]
    args = [verb, *operands, *rest]
    for o in inputs[verb]:
        if not (alone and o in optional) and (verb, o) not in apart:
            args += [o, value[o]]
    for o in needs.get(verb, []):
        if o not in given:
            args += [o, "new/other"]
    return args + [word for o, to in given.items() for word in (o, to)]


# ---- without a clash every run that can be made alone is right ----
for verb, options in outputs.items():
    if options and verb not in usual:
        wrong.append(f"{verb} writes a file and is not asked about here")
    if verb not in runs_alone:
        continue
    for o in options:
        to = "new/made" + end.get(o, "")
        run = tacit(*line(verb, {o: to}, alone=True))
        if run.returncode or not os.path.getsize(to):
            wrong.append(f"{verb} {o}: cannot be asked: {run.stderr}")
        for name in os.listdir("new"):
            os.remove("new/" + name)


# ---- an output that is a file of the same run, by any of its names ----
def names_of(file):
    """Ways to write the name of a file that is there."""
    for name, make in (("hard", os.link), ("soft", os.symlink)):
        if os.path.lexists("new/" + name):
            os.remove("new/" + name)
        make(os.path.abspath(file), "new/" + name)
    return file, "./" + file, "up/" + file, "new/../" + file, os.path.abspath(file), "new/hard", "new/soft"


os.symlink(".", "up")
pairs = 0
for verb in usual:
    for o in outputs[verb]:
        files = {**{value[i]: i for i in inputs[verb] if (verb, i) not in apart},
                 **dict.fromkeys(usual[verb][0], "an operand")}
        for file, i in files.items():
            pairs += 1
            for name in names_of(file):
                if o in end:
                    continue  # its name has an ending of its own
                refused(f"{verb} {o} {name}, which is {i}", line(verb, {o: name}), codes=(2,))
        for name in names_of("people.anchor") + names_of("tables"):
            if o not in end:
                refused(f"{verb} {o} {name}", line(verb, {o: name}), codes=(2,))
        if o not in end:
            refused(f"{verb} {o} as the ledger's journal", line(verb, {o: "people.ledger-journal"}), codes=(2,))
    for o, other in itertools.permutations(outputs[verb], 2):
        if (verb, {o, other}) == ("report", {"-o", "--output"}):
            continue  # two names of one option
        pairs += 1
        for name in ("new/x", "new/../new/x", "up/new/x", os.path.abspath("new/x")):
            refused(f"{verb} {o} and {other} {name}", line(verb, {o: "new/x", other: name}), codes=(2,))
for name in ("new/hard", "new/soft"):
    os.remove(name)

# Ranks that meet have the secret as an input, and the first of them asks.
port = socket.create_server(("127.0.0.1", 0))
address = "127.0.0.1:%d" % port.getsockname()[1]
port.close()
open("secret", "w").write("x" * 40)
meeting = [*line("train", {"-o": "secret"}), "--secret", "secret", "--meet", address, "--ranks", "2", "--meet-timeout", "30"]
before = seen()
ranks = [subprocess.Popen([TACIT, *meeting, "--rank", str(k)], stderr=subprocess.PIPE, text=True) for k in (0, 1)]
said = [rank.communicate()[1] for rank in ranks]
pairs += 1
if seen() != before or any(rank.returncode != 2 for rank in ranks) or "another output" not in said[0]:
    wrong.append(f"train -o as the secret of ranks: {said}")

# ---- an output that is no file to write ----
server = socket.socket(socket.AF_UNIX)
server.bind("new/socket")
os.mkfifo("new/pipe")
os.symlink("pipe", "new/to_pipe")
os.symlink("nowhere", "new/lost")
os.symlink("loop", "new/loop")
open("new/kept", "w").write("kept")
os.chmod("new/kept", 0o444)
os.mkdir("new/folder")
os.mkdir("new/closed")
os.chmod("new/closed", 0o555)
os.mkdir("new/shared")
os.chmod("new/shared", 0o1777)
os.symlink("../../people.csv", "new/shared/file")
os.symlink("../..", "new/shared/up")
for name in ("folder", "pipe", "to_pipe", "socket", "lost", "loop", "kept"):
    os.symlink(name, "new/" + name + ".svg")
hostile = ["new/folder", ".", "new/", "new/pipe", "new/to_pipe", "new/socket", "new/lost", "new/loop", "new/kept",
           "new/kept/x", "new/absent/x", "new/fresh/", "new/" + "x" * 300, "/proc/x", "/dev/fd/99", "new/shared/file",
           "new/shared/up/fresh", "people.ledger", "people.ledger-wal", "tables", "new/shared", "/dev/fd/0"]
if os.geteuid():
    hostile.append("new/closed/x")
for verb in usual:
    for o in outputs[verb]:
        kind, before = kinds[verb][o], seen()
        more = ["/dev/full", "/dev/null"] if kind != "stream" else []
        more += ["-", "/dev/stdout"] if kind == "output" else []
        for name in hostile + more:
            if o not in end or os.path.islink(name + end[o]):
                refused(f"{verb} {o} {name[:40]}", line(verb, {o: name + end.get(o, "")}), before=before)
        if kind == "stream":
            refused(f"{verb} {o} /dev/full", line(verb, {o: "/dev/full"}, alone=True), codes=(1,), before=before)

# ---- what is printed does not go over a file of the run either, and streams still flow ----
for verb in runs_alone - {"generate", "account"}:
    for file in usual[verb][0]:
        before = seen()
        with open(file, "a") as sink:
            run = subprocess.run([TACIT, *line(verb, {}, alone=True)], stdout=sink, stderr=subprocess.PIPE, text=True)
        if seen() != before or run.returncode != 2:
            wrong.append(f"{verb} >> {file}: exit {run.returncode}: {run.stderr}")
for verb in ("predict", "schema", "export", "report"):
    plain = tacit(*line(verb, {}, alone=True)).stdout
    for name in ("-", "/dev/stdout", "/dev/fd/1", "/proc/self/fd/1"):
        if not plain or tacit(*line(verb, {"-o": name}, alone=True)).stdout != plain:
            wrong.append(f"{verb} -o {name} is not what it prints")
    with open("new/stream", "w") as sink:
        subprocess.run([TACIT, *line(verb, {"-o": "/dev/stdout"}, alone=True)], stdout=sink, stderr=subprocess.DEVNULL)
    if open("new/stream").read() != plain:
        wrong.append(f"{verb} -o /dev/stdout into a file")
    os.remove("new/stream")

for each in wrong:
    print(each)
sampled = ", every third by the day; TCT_SAMPLE=1 asks for all" if EVERY > 1 else ""
print(f"{pairs} pairs of options, {asked} runs refused{sampled}, {len(wrong)} wrong")
sys.exit(bool(wrong) or pairs < 50)
