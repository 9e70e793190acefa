#!/usr/bin/env python3
"""audit_mutants.py - does `tacit audit` alone find small changes of the sources that make noise, batches and steps?

usage: audit_mutants.py BUILD [--count N] [--seed N] [--seconds S] [--minutes M] [--only PREFIX]... [--page FILE]

Draws mutants as tools/mutate.py does, of the sources that tests/privacy/audit_mutants.map names, puts all of a file
into one tacit-audit, and attacks the plans that the map gives, one after the other.  An audit has 5 s, and then S (60)
where these find nothing.  A mutant is found if a break is declared, or if a run ends in a crash, an error, or not at
all.  One that is not found needs its sentence in tests/privacy/audit_missed.txt; any other makes the exit status 1.
Verdicts go to BUILD/mutants/audit.jsonl as they fall, so a run can be cut and taken up.  --page writes the table.
"""
import argparse, collections, csv, json, os, resource, shlex, signal, subprocess, sys, time
import mutate

ROOT = mutate.ROOT
MAP = os.path.join(ROOT, "tests/privacy/audit_mutants.map")
MISSED = os.path.join(ROOT, "tests/privacy/audit_missed.txt")
SHORT = 5
BASE = ["--epsilon", "4", "--no-intercept", "--seed", "1"]

PAGE = """# Mutants that `tacit audit` finds alone

A handful of small changes to the sources that make noise, batches and steps, drawn by file and kind of change. Each is
attacked by `tacit-audit audit` alone, no other test: for {short} s, and for {seconds:g} s where these find nothing. The
time is the shorter of the two at which it is found. Made by

    tools/audit_mutants.py build/release --count {count} --page docs/measured/audit-mutants.md

Most changes in these sources cost utility, and break no promise: a step that is too long, another order. Those have a
sentence that says why, and so has what an audit of one plan cannot see: [audit-mutants.csv](audit-mutants.csv).
[Mutants](mutants.md) has what all tests find.

"""


def read_rules():
    """{prefix: plans}; a prefix that stands there twice has two."""
    rules = {}
    for line in open(MAP):
        words = shlex.split(line, comments=True)
        if words:
            rules.setdefault(words[0], []).append(words[1:])
    return rules


def rule_of(file, rules):
    best = max((p for p in rules if file.startswith(p)), key=len, default=None)
    return rules[best] if best else []


class Program:
    """tacit-audit with the mutants of one file in it."""

    def __init__(self, build, link, file, chosen):
        text, folder = mutate.switched(file, chosen)[0], build.include(file)
        path, self.path = build.place(file, text), f"{folder}/tacit-audit"
        done = build.compile(file, path, f"{folder} -DTCT_AUDIT", f"{folder}/audit.o", False)
        if done.returncode:
            sys.exit(f"audit_mutants.py: {file} with its mutants does not compile:\n{done.stderr[:2000]}")
        words = [w for w in link.split(" ") if not (file == "src/mech/mech.c" and "tacit_watched" in w and w.endswith("/mech.c.o"))]
        command = " ".join(words).replace(" -o tacit-audit ", f" {folder}/audit.o -o {self.path} ")
        done = subprocess.run(command, shell=True, cwd=build.folder, capture_output=True, text=True)
        if done.returncode:
            sys.exit(f"audit_mutants.py: {file} with its mutants does not link:\n{done.stderr[:2000]}")

    def attack(self, number, args, seconds):
        """(found?, how)"""
        env = dict(os.environ, TCT_MUTANT=str(number), OMP_NUM_THREADS="1")
        most = int(4 * seconds + 60)  # of the processor, as the audit's own clock: a busy machine is no endless run
        limit = lambda: resource.setrlimit(resource.RLIMIT_CPU, (most, most + 5))
        try:
            done = subprocess.run([self.path, "audit", *BASE, *args, "--seconds", str(seconds)], env=env, cwd=ROOT,
                                  capture_output=True, text=True, timeout=40 * most, preexec_fn=limit)
        except subprocess.TimeoutExpired:
            return True, "does not end"
        if -done.returncode in (signal.SIGXCPU, signal.SIGKILL):
            return True, "does not end"
        breaks = [line.split(None, 1)[1].split(":")[0] for line in done.stdout.splitlines() if line.startswith("BREAK")]
        if breaks:
            return True, "break: " + ", ".join(dict.fromkeys(breaks))
        return done.returncode != 0, "" if done.returncode == 0 else f"ends with {done.returncode}"


def sentences():
    out = {}
    for line in open(MISSED) if os.path.exists(MISSED) else ():
        parts = [p.strip() for p in line.split(" :: ")]
        if len(parts) == 3 and not line.startswith("#"):
            out[parts[0], parts[1]] = parts[2]
    return out


def page(path, rows, count, seconds, argued):
    tally = collections.Counter()
    with open(path.removesuffix(".md") + ".csv", "w", newline="") as table:
        out = csv.writer(table, lineterminator="\n")
        out.writerow(("source", "change", "found", "how, or why not"))
        for m, one in rows:
            why = one["how"] if one["seconds"] else argued.get((m.file, m.shown), "no sentence yet")
            kind = f"within {one['seconds']:g} s" if one["seconds"] else f"not in {one['tried']:g} s"
            tally["found" if one["seconds"] else "sentence" if (m.file, m.shown) in argued else "open"] += 1
            out.writerow((m.file.split("/", 1)[1], m.shown[:110], kind, why))
    with open(path, "w") as out:
        out.write(PAGE.format(short=SHORT, seconds=seconds, count=count))
        out.write(f"Of {len(rows)}: {tally['found']} found, {tally['sentence']} not found and argued, {tally['open']} open.\n")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build")
    parser.add_argument("--count", type=int, default=20)
    parser.add_argument("--seed", type=int, default=20)
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--minutes", type=float, default=1e9)
    parser.add_argument("--only", action="append", default=[])
    parser.add_argument("--page")
    options = parser.parse_args()
    build, rules, argued, began = mutate.Build(os.path.abspath(options.build)), read_rules(), sentences(), time.time()
    commands = subprocess.run(["ninja", "-C", build.folder, "-t", "commands"], capture_output=True, text=True).stdout
    link = next(line for line in commands.splitlines() if " -o tacit-audit " in line)
    files = sorted(f for f in build.compiles if f.startswith(tuple(options.only) or ("src/", "extra/")) and rule_of(f, rules))
    order = mutate.sample([m for f in files for m in mutate.mutants_of(f)], options.seed)
    chosen, _ = mutate.choose(build, order, min(options.count, len(order)))
    kept, known, rows = os.path.join(build.work, "audit.jsonl"), {}, []
    if os.path.exists(kept):
        known = {(one["mutant"], one["source"]): one for one in map(json.loads, open(kept))}
    digest = mutate.Verdicts(os.devnull, {}, False).digest
    for file in sorted(chosen):
        program, plans = None, rule_of(file, rules)
        for number, m in sorted(chosen[file].items()):
            name = (f"{m.file}:{m.start}:{m.end}:{m.new}", digest(file))
            tried = known.get(name, {"seconds": None, "tried": 0})
            if not tried["seconds"] and tried["tried"] < options.seconds:
                if time.time() - began > 60 * options.minutes:
                    continue
                if not program:
                    program = Program(build, link, file, chosen[file])
                    for args in plans:
                        found, how = program.attack(0, args, SHORT)
                        if found:
                            sys.exit(f"audit_mutants.py: {file} without a change: {how}; the plan of the map is not sound")
                for seconds in sorted({SHORT, options.seconds}):
                    if seconds <= tried["tried"]:
                        continue
                    for args in plans:
                        found, how = program.attack(number, args, seconds)
                        if found:
                            break
                    if found:
                        break
                known[name] = {"mutant": name[0], "source": name[1], "seconds": seconds if found else None, "tried": seconds, "how": how}
                with open(kept, "a") as out:
                    out.write(json.dumps(known[name]) + "\n")
            one = known[name]
            rows.append((m, one))
            print(f"{'found at ' + str(one['seconds']) + ' s' if one['seconds'] else 'NOT FOUND'} {m.file} :: {m.shown} {one['how']}", flush=True)
        if program:
            os.remove(program.path)
    if options.page:
        page(options.page, rows, options.count, options.seconds, argued)
    left = sum(map(len, chosen.values())) - len(rows)
    open_ones = [m for m, one in rows if not one["seconds"] and (m.file, m.shown) not in argued]
    print(f"{len(rows)} attacked, {len(open_ones)} open, {left} not run, in {time.time() - began:.0f} s")
    sys.exit(1 if open_ones or left else 0)


if __name__ == "__main__":
    main()
