#!/usr/bin/env python3
"""audit_table.py - audits every private solver with every loss and relation that it takes, and writes the page.

usage: audit_table.py BUILD [--seconds S] [--limit MINUTES] [--only SOLVER,...] [--alarms N] [--fresh]
                      [--again ROW,...] [--ways] [-o docs/measured/audit.md]

Rows go to BUILD/audit.jsonl as they are made; a row that is there, or in the page's CSV file, is not made again, so a run
can be cut and taken up.
audit.csv has the rows that were made, audit-ways.csv the second table, and the page what is the least of each solver.  --alarms repeats one short audit of a tight claim, from
another seed each time, and counts bounds above the claim: an honest bound is above it in one of 1000 at most.
The default, 8 s a row, is half an hour on two cores.
--ways makes audit-ways.csv anew, and none of the first: of every solver and relation what each layout, type and
weighing reached, with the first loss that it takes.  It ends with 1 where one that the solver takes moved nothing.
"""

import argparse
import collections
import concurrent.futures
import csv
import json
import math
import os
import subprocess
import sys
import time

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
# Settings under which one record can do what a plan allows; all else is the default.  Records meet the clip, a canary
# takes part in a batch often, choices are between the two vertices or mutations of one column.
SETTINGS = {
    "dpgd": "dpgd:steps=4,clip=0.1",
    "dpsgd": "dpsgd:batch=12,clip=0.1,epochs=2",
    "dpnewton": "dpnewton:steps=4,clip=0.1",
    "dpscd": "dpscd:batch=12,clip=0.03,epochs=2",
    "seqdpscd": "seqdpscd:batch=1,cap=1,clip=0.001,epochs=0.5",
    "primaldpscd": "primaldpscd:batch=1,clip=0.001,passes=1",
    "dpcd": "dpcd:passes=1,clip=0.2,smoothness=public",
    "dpmetric": "dpmetric:steps=4,clip=0.1",
    "dponestep": "dponestep:steps=1,path=0.8,metric=0.03,moments=0.001",
    "dponestep logistic": "dponestep:steps=1,path=0.8,metric=0.03,moments=0.001,clip=0.3",
    "dponestep smoothed_hinge": "dponestep:steps=1,path=0.8,metric=0.03,moments=0.001,clip=0.5",
    "dponestep squared": "dponestep:steps=1,path=0.5,metric=0.03,moments=0.001,scale=0.3",
    "dponestep huber": "dponestep:steps=1,path=0.8,metric=0.03,moments=0.001,scale=0.001,clip=0.3",
    "dponestep poisson": "dponestep:steps=1,path=0.8,metric=0.03,moments=0.001,scale=0.001,clip=0.3",
    "dpagd": "dpagd:steps=1,budget_fraction=0.01,clip_grad=0.1,clip_obj=0.1,alpha_max=5",
    "dpfw": "dpfw:clip=0.1",
    "dpfw_parties": "dpfw_parties:parties=1,steps=1,columns=1,sketch=8,clip=0.1",
    "privgene": "privgene:scale=100,clip=0.1",
    "sgd_ma": "sgd_ma:steps=4,batch=12,noise=1,clip=0.1",
    "sgd_adv": "sgd_adv:steps=2,batch=24,clip=0.1",
    "gram_parties": "gram_parties:parties=4",
}
# Solvers whose runs take milliseconds, or whose mu is small, get so many times the seconds; of some with a loss.
SLOW = {"dpnewton": 5, "dpmetric": 3, "dponestep": 6, "dpmoments": 2, "sgd_ma": 2, "outpert": 3, "gram_parties": 10, "adassp": 2, "sgd_adv": 2,
        "dponestep squared": 12, "dponestep gamma": 12}
PENALTIES = ("l2:lambda=0.05", "none", "l1ball:radius=1")
EPSILON, SHAPE = "4", "24,4"
# A calibration that gives most of the budget away, and batches of one record: at 4 no number of runs tells anything.
EPSILONS = {"sgd_adv": "4000", "seqdpscd": "40"}
# By solver, or by solver and loss.  A slope is large at the minimum only where many short records and a small ridge hold
# the others' margin far off; a large ridge leaves the slope of 0, which is the largest of these losses.
RIDGES = {"outpert": ("l2:lambda=0.0003",), "objpert huber": ("l2:lambda=100",), "objpert smoothed_hinge": ("l2:lambda=100",),
          "objpert logistic": ("l2:lambda=1",), "adassp": ("l2:lambda=1",), "dpagd": ("none",), "dponestep poisson": ("none",)}
SHAPES = {"outpert": "1000,2", "dpfw": "24,1", "dpfw_parties": "24,1", "privgene": "24,1", "dpagd": "24,1",
          "dponestep": "200,2", "dpmoments": "60,2", "gram_parties": "2,4", "seqdpscd": "2,4", "dpmetric poisson": "24,2"}
ROW_NORMS = {"seqdpscd": "10"}  # a record's own dual, whose noise nobody sees, is then the smaller part of its sensitivity


def tacit(build, *args):
    return subprocess.run([os.path.join(build, "tacit-audit"), *args], capture_output=True, text=True)


def cells(build, only):
    names = {kind: [c["name"] for c in json.loads(tacit(build, "components", kind, "--json").stdout)["components"]] for kind in ("solver", "loss")}
    for solver in names["solver"]:
        if solver == "auto" or (only and solver not in only):
            continue
        for loss in (loss for loss in names["loss"] if loss != "softmax"):  # labels of an audit have two classes, or are numbers
            for relation in ("add_remove", "replace_one"):
                at = lambda table, usual: table.get(f"{solver} {loss}", table.get(solver, usual))
                for penalty in at(RIDGES, PENALTIES):
                    args = ["--solver", at(SETTINGS, solver), "--loss", loss, "--penalty", penalty, "--epsilon",
                            at(EPSILONS, EPSILON), "--neighbours", relation, "--shape", at(SHAPES, SHAPE), "--row-norm",
                            at(ROW_NORMS, "1"), "--no-intercept"]
                    plan = tacit(build, "train", "--dry-run", "--delta", "1e-6", "--label-bound", "1", *args)
                    if plan.returncode == 0 and "NONE" not in plan.stdout:
                        yield f"{solver} {loss} {relation}", args
                        break


# Weights go with robust errors alone.
WAYS_SETTINGS = {"dponestep": "dponestep:errors=robust,steps=1,path=0.8,metric=0.03,moments=0.001"}
WAYS = ("dense_rows", "dense_columns", "csr", "csc", "f64", "f32", "weights", "persons")


FIELDS = ("solver", "loss", "relation", "share", "noise", "mu_lower", "mu_claimed", "white", "record", "black", "pairs", "runs", "breaks")
KEY = FIELDS[:3]


def table_of(path, ending):
    """The CSV file beside the page."""
    return os.path.splitext(path)[0] + ending


def standing(path, ending=".csv"):
    """{key: row} of a table that is there; rows of seconds that the page does not name are not told apart."""
    if not os.path.exists(table_of(path, ending)):
        return {}
    with open(table_of(path, ending), encoding="utf-8", newline="") as lines:
        return {" ".join(row[name] for name in KEY): row for row in csv.DictReader(lines)}


def write_table(path, ending, fields, rows):
    with open(table_of(path, ending), "w", encoding="utf-8", newline="") as out:
        table = csv.DictWriter(out, fields, lineterminator="\n")
        table.writeheader()
        table.writerows(rows.values())


def ways_table(build, only, seconds):
    """The rows of the second table, and whether every way moved something."""
    rows, sound, seen = {}, True, set()
    for key, args in cells(build, only):
        solver, loss, relation = key.split()
        if (solver, relation) in seen:
            continue
        seen.add((solver, relation))
        args[1] = WAYS_SETTINGS.get(solver, args[1])
        facts = json.loads(tacit(build, "audit", *args, "--seconds", str(seconds_of(key, seconds)), "--json").stdout)
        reached = facts["sensitivity"]["largest_share"]
        drawn = all(release["share"] is None for release in facts["sensitivity"]["releases"])
        sound = sound and not facts["broken"] and (drawn or all(reached[way] is None or reached[way] > 0 for way in WAYS))
        shown = {way: "" if drawn or reached[way] is None else f"{reached[way]:.3f}" for way in WAYS}
        rows[key] = {**dict(zip(KEY, key.split())), **shown}
        print(*rows[key].values(), flush=True)
    return rows, sound


def seconds_of(key, seconds):
    solver, loss = key.split()[:2]
    return seconds * SLOW.get(f"{solver} {loss}", SLOW.get(solver, 1))


def short(value):
    return "" if value is None else f"{value:.3g}"


def row(key, facts):
    releases = facts["sensitivity"]["releases"]
    white, black = facts["white_box"] or {}, facts["black_box"] or {}
    shift = facts["claimed_shift"]
    record = facts["sensitivity"]["canary_mu"] / shift if shift and white else None
    each = lambda name: ";".join(short(release.get(name)) or "-" for release in releases)
    return dict(zip(FIELDS, (*key.split(), each("share"), each("noise_ratio"), short(white.get("mu_lower")), short(white.get("mu_claimed")),
                             short(white.get("share")), short(record), short(black.get("share")), str(facts["behaviour"]["pairs"]),
                             str(facts["audit"]["attacks"]), "; ".join(facts["breaks"]) or "none")))


HEAD = """# What does `tacit audit` reach?

Every private solver with every loss and relation that it takes, attacked by `tacit-audit audit` at ε = 4, δ = 1e-6, 24
records, 4 features and no intercept. Under its settings (`SETTINGS` in `tools/audit_table.py`) one record can do what
its promise allows. `make audit` repeats it. [Attacking a plan](../guide/audit.md) says what the parts do,
[missed aims](../decisions/audit-bars.md) what was tried.

{count} of {total} rows were made, at {seconds:g} s of the processor each or more. Of {sums} releases {filled} were
filled to 0.9 and more. Rows with a break: {broken}. The table has the least of each solver's rows.
[audit.csv](audit.csv) has all rows, [audit-ways.csv](audit-ways.csv) the largest share by layout, type and weighing.

* *share*: the part of the planned sensitivity that climbing reached; above 1 is a break.
* *white*, *black*: the part of the claimed μ that a lower bound reached, at an error of 0.001: from the releases, and
  from the final weights. Empty: too few runs fitted into the time.
* *record*: the part that this pair of neighbours can reach at all, where every release is Gaussian.
* In the CSV: *noise*, the deviation seen over the planned one, and `-` for a release that is no sum; *pairs* of
  neighbours compared in what else can be seen.

`dpmoments` has 60 records and `dponestep` 200. Beside 24, noise makes metrics in which no record fills the release
that comes next.

A low share of μ has three reasons. The bound is of some ten thousand runs. The worst pair is found by climbing, within
seconds. And a claim may be loose, or no record may reach it in every release. For `outpert` with 24 records and a ridge
of 0.05 a record reaches {outpert[0]:.3f} of the sensitivity at most; with 1000 and 0.0003 it is {outpert[1]:.3f}.

| solver | rows | share | white | record | black |
| --- | --- | --- | --- | --- | --- |
"""


def numbers(rows, name):
    return [float(part) for row in rows for part in row[name].split(";") if part not in ("-", "")]


def summary(rows):
    """A line for each solver."""
    lines = []
    for solver in dict.fromkeys(row["solver"] for row in rows):
        own = [row for row in rows if row["solver"] == solver]
        least = " | ".join(f"{min(numbers(own, name)):.3g}" if numbers(own, name) else "" for name in ("share", "white", "record", "black"))
        lines.append(f"| {solver} | {len(own)} | {least} |\n")
    return lines


def outpert_reach(records, penalty):
    """Of the claimed move of the minimiser of logistic loss with this l2 penalty and so many records, when one is added:
    the record at -1, all others at `length`, on one line.  Each minimiser is a root, found by halving."""
    def root(slope):
        low, high = -700.0, 700.0
        for _ in range(60):
            middle = (low + high) / 2
            low, high = (middle, high) if slope(middle) > 0 else (low, middle)
        return low

    most, ridge = 0, penalty * records
    for length in (math.exp(-k / 20) for k in range(141)):
        pull = lambda w: (records - 1) * length / (1 + math.exp(length * w)) - ridge * w
        most = max(most, ridge * (root(pull) - root(lambda w: pull(w) - 1 / (1 + math.exp(-w)))))
    return most


ALARMS = ["--solver", "dpgd:steps=1,clip=0.1", "--loss", "squared", "--penalty", "l2:lambda=0.05", "--epsilon", EPSILON,
          "--shape", SHAPE, "--no-intercept", "--seconds", "0.5", "--json"]


def alarms(build, count):
    """What is known of repeated runs; makes those that are missing.  Rows go to BUILD/audit_alarms.jsonl."""
    kept, rows = os.path.join(build, "audit_alarms.jsonl"), {}
    if os.path.exists(kept):
        with open(kept, encoding="utf-8") as lines:
            rows = {row["seed"]: row for row in map(json.loads, lines)}
    for seed in range(1, count + 1):
        if seed in rows:
            continue
        facts = json.loads(tacit(build, "audit", *ALARMS, "--seed", str(seed)).stdout)
        tests = [facts[test] or {} for test in ("white_box", "black_box")]
        rows[seed] = {"seed": seed, "broken": facts["broken"], "shares": [test.get("share") for test in tests]}
        with open(kept, "a", encoding="utf-8") as out:
            out.write(json.dumps(rows[seed]) + "\n")
    return rows


def alarm_text(rows):
    shares = [share for row in rows.values() for share in row["shares"] if share is not None]
    if not shares:
        return "The rate of false alarms was not measured.\n"
    above, broken = sum(share > 1 for share in shares), sum(row["broken"] for row in rows.values())
    return (f"\nFalse alarms: {len(rows)} audits of `dpgd:steps=1,clip=0.1` with squared loss, of half a second and "
            f"another seed each, gave\n{len(shares)} bounds. Of these {above} were above the claim, where 1 in 1000 may be; the largest "
            f"reached {max(shares):.3f} of it,\nthe mean {sum(shares) / len(shares):.3f}. Breaks that were declared, each "
            f"at an error of 1e-6: {broken}.\n")


def standing_alarms(path):
    """What the page says of false alarms."""
    text = open(path, encoding="utf-8").read() if os.path.exists(path) else ""
    return text[text.index("\nFalse alarms: "):] if "\nFalse alarms: " in text else ""


def page(done, total, seconds, path, repeated):
    rows = list(done.values())
    shares = numbers(rows, "share")
    head = HEAD.format(outpert=(outpert_reach(24, 0.05), outpert_reach(1000, 0.0003)), count=len(rows), total=total, seconds=seconds,
                       sums=len(shares), filled=sum(share >= 0.9 for share in shares), broken=sum(row["breaks"] != "none" for row in rows))
    repeated = alarm_text(repeated) if repeated else standing_alarms(path) or alarm_text(repeated)
    write_table(path, ".csv", FIELDS, done)
    with open(path, "w", encoding="utf-8") as out:
        out.writelines([head, *summary(rows), repeated])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build")
    parser.add_argument("--seconds", type=float, default=8)
    parser.add_argument("--limit", type=float, default=60, help="minutes; rows that do not fit are left out")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--only", default="")
    parser.add_argument("--ways", action="store_true", help="makes the second table instead")
    parser.add_argument("--fresh", action="store_true", help="makes rows again that are there")
    parser.add_argument("--again", default="", help="rows to make again: a solver, or with its loss, as 'dpfw huber'")
    parser.add_argument("--alarms", type=int, default=0, help="repeated runs of a short audit; 0: those that are known")
    parser.add_argument("-o", "--output", default=os.path.join(ROOT, "docs/measured/audit.md"))
    args = parser.parse_args()
    os.environ["OMP_NUM_THREADS"] = "1"
    if args.ways:
        made, sound = ways_table(args.build, set(filter(None, args.only.split(","))), args.seconds)
        write_table(args.output, "-ways.csv", (*KEY, *WAYS), {**standing(args.output, "-ways.csv"), **made})
        return not sound
    kept, end = os.path.join(args.build, "audit.jsonl"), time.monotonic() + 60 * args.limit
    wanted, found = dict(cells(args.build, set(filter(None, args.only.split(","))))), {}
    made_so = lambda key, facts: (facts["audit"].get("asked"), facts["audit"].get("args")) == (seconds_of(key, args.seconds), wanted[key])
    again = tuple(row + " " for row in args.again.split(",") if row)
    if os.path.exists(kept):
        with open(kept, encoding="utf-8") as lines:
            found = {key: facts for key, facts in map(json.loads, lines)
                     if key in wanted and made_so(key, facts) and not (key + " ").startswith(again)}
    # Unless --fresh, rows that are there stand as they are: another machine may have made them.
    stood = {key: made for key, made in standing(args.output).items() if not args.fresh}

    def make(key):
        if key in found or (key in stood and not (key + " ").startswith(again)) or time.monotonic() + args.seconds > end:
            return key, found.get(key)
        seconds = seconds_of(key, args.seconds)
        answer = tacit(args.build, "audit", *wanted[key], "--seconds", str(seconds), "--json")
        if not answer.stdout:
            return key, None
        facts = json.loads(answer.stdout)
        facts["audit"]["asked"], facts["audit"]["args"] = seconds, wanted[key]
        with open(kept, "a", encoding="utf-8") as out:
            out.write(json.dumps([key, facts]) + "\n")
        return key, facts

    # The first cell of every solver, then the second, and so on: a cut run has some of each.
    seen, turn = collections.Counter(), {}
    for key in wanted:
        turn[key] = seen[key.split()[0]]
        seen[key.split()[0]] += 1
    order = sorted(wanted, key=lambda key: (turn[key], key))
    with concurrent.futures.ThreadPoolExecutor(args.jobs) as pool:
        done = {key: facts for key, facts in pool.map(make, order) if facts}
    rows = {**stood, **{key: row(key, facts) for key, facts in done.items()}}
    every = {**(stood if args.only else {}), **wanted}  # an old row stays where no new one was made
    rows = {key: rows[key] for key in every if key in rows}
    page(rows, len(every), args.seconds, args.output, alarms(args.build, args.alarms))
    for key, facts in done.items():
        if facts["broken"]:
            print(f"BREAK {key}: {'; '.join(facts['breaks'])}")
    print(f"{len(rows)} of {len(every)} rows, {args.output}")
    return any(facts["broken"] for facts in done.values())


if __name__ == "__main__":
    sys.exit(main())
