#!/usr/bin/env python3
"""audit_table.py - audits every private solver with every loss and relation that it takes, and writes the page.

usage: audit_table.py BUILD [--seconds S] [--limit MINUTES] [--only SOLVER,...] [--alarms N] [--fresh]
                      [--again ROW,...] [--ways] [-o docs/measured/audit.md]

Rows go to BUILD/audit.jsonl as they are made; a row that is there, or on the page, is not made again, so a run can be cut
and taken up.
The page has the rows that were made, and says which were not.  --alarms repeats one short audit of a tight claim, from
another seed each time, and counts bounds above the claim: an honest bound is above it in one of 1000 at most.
The default, 8 s a row, is half an hour on two cores.
--ways makes the second table anew, and none of the first: of every solver and relation what each layout, type and
weighing reached, with the first loss that it takes.  It ends with 1 where one that the solver takes moved nothing.
"""

import argparse
import collections
import concurrent.futures
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
    "dpagd": "dpagd:steps=1,budget_fraction=0.01,clip_grad=0.1,clip_obj=0.1,alpha_max=5",
    "dpfw": "dpfw:clip=0.1",
    "dpfw_parties": "dpfw_parties:parties=1,steps=1,columns=1,sketch=8,clip=0.1",
    "privgene": "privgene:scale=100,clip=0.1",
    "sgd_ma": "sgd_ma:steps=4,batch=12,noise=1,clip=0.1",
    "sgd_adv": "sgd_adv:steps=2,batch=24,clip=0.1",
    "gram_parties": "gram_parties:parties=4",
}
# Solvers whose runs take milliseconds, or whose mu is small, get so many times the seconds.
SLOW = {"dpnewton": 5, "dpmetric": 3, "dponestep": 6, "sgd_ma": 2, "outpert": 3, "gram_parties": 10, "adassp": 2, "sgd_adv": 2}
PENALTIES = ("l2:lambda=0.05", "none", "l1ball:radius=1")
EPSILON, SHAPE = "4", "24,4"
# A calibration that gives most of the budget away, and batches of one record: at 4 no number of runs tells anything.
EPSILONS = {"sgd_adv": "4000", "seqdpscd": "40"}
# By solver, or by solver and loss.  A slope is large at the minimum only where many short records and a small ridge hold
# the others' margin far off; a large ridge leaves the slope of 0, which is the largest of these losses.
RIDGES = {"outpert": ("l2:lambda=0.0003",), "objpert huber": ("l2:lambda=100",), "objpert smoothed_hinge": ("l2:lambda=100",),
          "objpert logistic": ("l2:lambda=1",), "adassp": ("l2:lambda=1",), "dpagd": ("none",), "dponestep poisson": ("none",)}
SHAPES = {"outpert": "1000,2", "dpfw": "24,1", "dpfw_parties": "24,1", "privgene": "24,1", "dpagd": "24,1", "dponestep": "24,2",
          "gram_parties": "2,4", "seqdpscd": "2,4", "dpmetric poisson": "24,2"}
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
                    args = ["--solver", SETTINGS.get(solver, solver), "--loss", loss, "--penalty", penalty, "--epsilon",
                            at(EPSILONS, EPSILON), "--neighbours", relation, "--shape", at(SHAPES, SHAPE), "--row-norm",
                            at(ROW_NORMS, "1"), "--no-intercept"]
                    plan = tacit(build, "train", "--dry-run", "--delta", "1e-6", "--label-bound", "1", *args)
                    if plan.returncode == 0 and "NONE" not in plan.stdout:
                        yield f"{solver} {loss} {relation}", args
                        break


WAYS = ("dense_rows", "dense_columns", "csr", "csc", "f64", "f32", "weights", "persons")


WAYS_HEAD = """
## What each way reached

The largest share of the planned sensitivity over the releases of a plan, for each layout, type and weighing. `w` are
weights, `p` persons of two or three records, and `-` stands where the solver takes none. There is one loss and penalty
for each solver. Made by

    tools/audit_table.py build/release --ways --seconds 3

"""


def ways_table(build, only, seconds):
    """The lines of the second table, and whether every way moved something."""
    lines, sound, seen = [], True, set()
    for key, args in cells(build, only):
        solver, loss, relation = key.split()
        if (solver, relation) in seen:
            continue
        seen.add((solver, relation))
        facts = json.loads(tacit(build, "audit", *args, "--seconds", str(seconds_of(key, seconds)), "--json").stdout)
        reached = facts["sensitivity"]["largest_share"]
        drawn = all(release["share"] is None for release in facts["sensitivity"]["releases"])
        sound = sound and not facts["broken"] and (drawn or all(reached[way] is None or reached[way] > 0 for way in WAYS))
        shown = " | ".join("-" if drawn or reached[way] is None else f"{reached[way]:.3f}" for way in WAYS)
        lines.append(f"| {solver} | {loss} | {relation} | {shown} |\n")
        print(lines[-1], end="", flush=True)
    return lines, sound


def standing_ways(path):
    """{the first cells of a line: the line} of the second table of the page."""
    text = open(path, encoding="utf-8").read() if os.path.exists(path) else ""
    part = text[text.index("## What each way reached"):] if "## What each way reached" in text else ""
    lines = [line for line in part.split("\nFalse alarms: ")[0].splitlines() if "_one |" in line or "_remove |" in line]
    return {line.rsplit(" | ", len(WAYS))[0]: line + "\n" for line in lines}


def ways_text(lines):
    head = "| solver | loss | relation | dense rows | dense columns | CSR | CSC | double | float | w | p |\n"
    return WAYS_HEAD + head + "| --- |" + " --- |" * (2 + len(WAYS)) + "\n" + "".join(lines.values())


def write_ways(path, lines):
    """The page with these lines, and those that stand of other solvers."""
    lines = {**standing_ways(path), **{line.rsplit(" | ", len(WAYS))[0]: line for line in lines}}
    text, alarms = open(path, encoding="utf-8").read(), standing_alarms(path)
    text = text[:text.index("\n## What each way reached")] if "\n## What each way reached" in text else text.replace(alarms, "")
    with open(path, "w", encoding="utf-8") as out:
        out.write(text.rstrip("\n") + "\n" + ways_text(lines) + alarms)


def seconds_of(key, seconds):
    return seconds * SLOW.get(key.split()[0], 1)


def short(value):
    return "-" if value is None else f"{value:.3g}"


def row(key, facts):
    solver, loss, relation = key.split()
    releases = facts["sensitivity"]["releases"]
    white, black = facts["white_box"] or {}, facts["black_box"] or {}
    shares = ", ".join(short(r["share"]) for r in releases)
    noise = ", ".join(short(r.get("noise_ratio")) for r in releases)
    shift = facts["claimed_shift"]
    record = facts["sensitivity"]["canary_mu"] / shift if shift and white else None
    return (f"| {solver} | {loss} | {relation} | {shares} | {noise} | {short(white.get('mu_lower'))} / "
            f"{short(white.get('mu_claimed'))} | {short(white.get('share'))} | {short(record)} | {short(black.get('share'))} | "
            f"{facts['behaviour']['pairs']} | {facts['audit']['attacks']} | {'; '.join(facts['breaks']) or 'none'} |")


HEAD = """# What `tacit audit` reached

Every private solver with every loss and relation that it takes, attacked by `tacit-audit audit` at ε = 4, δ = 1e-6, 24
records, 4 features and no intercept. The plans are those under which one record can do what its promise allows:

```text
{settings}
```

[Aims that are missed](../decisions/audit-bars.md) has what was tried and why it stops there.
[Attacking a plan](../guide/audit.md) says what the parts do. Rows are made by

    make audit

*Share* is the part of the planned sensitivity that climbing reached, for each release of the plan; above 1 is a break,
and `-` is a release that is no sum. The climb goes through all four layouts, doubles and floats, and weights and
persons where the solver takes them. *Noise* is the deviation that was seen, over the planned one. *μ* is the lower
bound of the white-box test, at an error of 0.001, beside the claim. *White* and *black* are the shares of the claim
that both tests reached. *Record* is the share that this pair of neighbours can reach at all: the root of the sum of
squared moves over deviations, against that of the plan. It is given where every release is Gaussian. *Pairs* of
neighbours were compared in what else can be seen.

A share of μ is low for three reasons. The bound is of some ten thousand runs. The worst pair for all steps together is
found by climbing, within seconds. And a claim may be loose, which *record* shows: by its sensitivity, or because no
record reaches it in every release. A logistic slope is 1 only where the others have pulled the margin far to the wrong
side, and these others then hold the minimiser of `outpert` back. Where all others are alike and pull against the
record, {outpert[0]:.3f} of its sensitivity is the most with 24 records and a ridge of 0.05. With 1000 and 0.0003 it is
{outpert[1]:.3f}. Random others, single opposites and these are what the climb begins with. Where a record is replaced,
the two are nearly opposite and all others lie against their sum.
`-` in a test says that too few runs fitted into the time.

The black box sees final weights alone. Its canary is the best of twelve, looked at for a short while. The best of
these, and that of the white box, are looked at again for longer. Weights that are a mean over
steps, or come from a noisy matrix, tell less than the releases.

What a choice tells is measured by the total variation of its two laws, so that the climb finds the scores at which a
record decides most. The noise of `gram_parties` is above the planned one: the plan counts on the noise of the parties
that an observer does not know.

"""


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


def standing(path):
    """Rows that the page has: {key: its line}; those of seconds that the page does not name are not told apart."""
    rows = {}
    if os.path.exists(path):
        for line in open(path, encoding="utf-8"):
            cells = [cell.strip() for cell in line.split("|")]
            if len(cells) == 14 and cells[3] in ("add_remove", "replace_one"):
                rows[" ".join(cells[1:4]).replace(" †", "")] = line.rstrip("\n")
    return rows


def standing_alarms(path):
    """What the page says of false alarms."""
    text = open(path, encoding="utf-8").read() if os.path.exists(path) else ""
    return text[text.index("\nFalse alarms: "):] if "\nFalse alarms: " in text else ""


def settings():
    """What differs from the usual plan, a line a solver (and loss)."""
    tables = (("", RIDGES), ("epsilon ", EPSILONS), ("shape ", SHAPES), ("row norm ", ROW_NORMS))
    keys = list(dict.fromkeys([*SETTINGS, *(key for _, table in tables for key in table)]))
    lines = []
    for key in keys:
        parts = [SETTINGS[key]] if key in SETTINGS else []
        parts += [word + (table[key] if isinstance(table[key], str) else " ".join(table[key])) for word, table in tables if key in table]
        lines.append(f"{key}: {', '.join(parts)}")
    return "\n".join(lines)


def page(done, total, seconds, path, repeated):
    lines = [HEAD.format(outpert=(outpert_reach(24, 0.05), outpert_reach(1000, 0.0003)), settings=settings())]
    slow = ".\n".join(f"{times} times that for {' and '.join(f'`{s}`' for s in SLOW if SLOW[s] == times)}"
                      for times in sorted(set(SLOW.values())))
    lines.append(f"{len(done)} of {total} rows were made, at {seconds:g} s of the processor each. Some have more:\n{slow}.\n")
    lines.append("Their runs take milliseconds, or their μ is small. A row that stands from an earlier run may have had less.\n\n")
    if any("†" in line for line in done.values()):
        lines.append("A row with † stands from an earlier attack, at 8 s of the clock and an error of 0.05: a pilot's mean over orders, and\n"
                     "a linear sum over batches. Its bounds on μ hold, and are lower than need be.\n\n")
    lines.append("| solver | loss | relation | share | noise | μ / claim | white | record | black | pairs | runs | breaks |\n")
    lines.append("| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |\n")
    lines += [line + "\n" for line in done.values()]
    cells = [line.split("|") for line in done.values()]
    shares = [float(share) for cell in cells for share in cell[4].split(",") if share.strip() not in ("-", "")]
    filled, sums = sum(share >= 0.9 for share in shares), len(shares)
    broken = sum(cell[12].strip() != "none" for cell in cells)
    lines.append(f"\nOf {sums} releases {filled} were filled to 0.9 and more. Rows with a break: {broken}.\n")
    if standing_ways(path):
        lines.append(ways_text(standing_ways(path)))
    lines.append(alarm_text(repeated) if repeated else standing_alarms(path) or alarm_text(repeated))
    with open(path, "w", encoding="utf-8") as out:
        out.writelines(lines)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build")
    parser.add_argument("--seconds", type=float, default=8)
    parser.add_argument("--limit", type=float, default=60, help="minutes; rows that do not fit are left out")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--only", default="")
    parser.add_argument("--ways", action="store_true", help="makes the second table instead")
    parser.add_argument("--fresh", action="store_true", help="makes rows again that the page has")
    parser.add_argument("--again", default="", help="rows to make again: a solver, or with its loss, as 'dpfw huber'")
    parser.add_argument("--alarms", type=int, default=0, help="repeated runs of a short audit; 0: those that are known")
    parser.add_argument("-o", "--output", default=os.path.join(ROOT, "docs/measured/audit.md"))
    args = parser.parse_args()
    os.environ["OMP_NUM_THREADS"] = "1"
    if args.ways:
        lines, sound = ways_table(args.build, set(filter(None, args.only.split(","))), args.seconds)
        write_ways(args.output, lines)
        return not sound
    kept, end = os.path.join(args.build, "audit.jsonl"), time.monotonic() + 60 * args.limit
    wanted, found = dict(cells(args.build, set(filter(None, args.only.split(","))))), {}
    made_so = lambda key, facts: (facts["audit"].get("asked"), facts["audit"].get("args")) == (seconds_of(key, args.seconds), wanted[key])
    again = tuple(row + " " for row in args.again.split(",") if row)
    if os.path.exists(kept):
        with open(kept, encoding="utf-8") as lines:
            found = {key: facts for key, facts in map(json.loads, lines)
                     if key in wanted and made_so(key, facts) and not (key + " ").startswith(again)}
    # Unless --fresh, rows that the page has stand as they are: another machine may have made them.
    stood = {key: line for key, line in standing(args.output).items() if not args.fresh and not (key + " ").startswith(again)}

    def make(key):
        if key in found or key in stood or time.monotonic() + args.seconds > end:
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
    lines = {**stood, **{key: row(key, facts) for key, facts in done.items()}}
    lines = {key: lines[key] for key in wanted if key in lines}
    page(lines, len(wanted), args.seconds, args.output, alarms(args.build, args.alarms))
    for key, facts in done.items():
        if facts["broken"]:
            print(f"BREAK {key}: {'; '.join(facts['breaks'])}")
    print(f"{len(lines)} of {len(wanted)} rows, {args.output}")
    return any(facts["broken"] for facts in done.values())


if __name__ == "__main__":
    sys.exit(main())
