#!/usr/bin/env python3
"""coverage.py - what 95 % intervals cover, over many kinds of tables: runs bench_coverage and writes the page.

    bench/papers/coverage.py BUILD ROWS.jsonl [--share S] [--small] [--losses NAME,...] [--sizes N,...] [--seconds S] [--real PYTHON]
                             [--page PAGE.md]

Every cell (loss, kind, n, p) has a number of tables, three epsilons on each.  The cells are measured in passes, a
twenty-fifth of the tables first, so that the command can be cut at any time (--seconds) and taken up again: what
ROWS.jsonl has is not measured again.  --share: this part of the tables is enough, for the losses and the numbers of
records named.  --small: four cells, for a look.
Then the noise alone is measured, and with --real the tables of coverage_tables.py, by that Python with numpy.  --page:
the rows of that page's tables that ROWS.jsonl has are replaced; the others stay.
"""
import argparse
import collections
import itertools
import json
import math
import os
import pathlib
import re
import subprocess
import sys
import time

KINDS = ["independent", "correlated", "skewed", "rare", "offset", "hetero", "skew_errors", "wrong", "categories"]
LOSSES = ["logistic", "squared", "poisson", "huber"]
EPSILONS = "0.5,1,4"
SHAPES = {(20000, 5): 1000, (2000, 5): 1000, (2000, 20): 1000, (20000, 20): 1000, (200000, 5): 300, (200000, 20): 300}
FIRST = 1000  # tables before this one chose the constants
PASSES = (0.04, 0.1, 0.2, 0.3, 0.5, 0.75, 1)
SMALL_TABLES = 0.25  # n = 2,000 is cheap: the first pass is longer
EXACT = {2000: 40, 20000: 40, 200000: 15}  # tables that are fitted exactly too, as in bench_coverage.c
NOISE = [("logistic", 2000), ("squared", 2000), ("poisson", 2000), ("huber", 2000)]

REAL = ("california", "bank", "adult", "nist_acs", "nist_acs income", "diabetes130", "diabetes130 inpatient")
REAL += ("diabetes130 emergency", "electricity", "electricity demand", "flchain", "flchain lambda")
PLAIN = [(kind, n, epsilon) for kind in ("independent", "correlated") for n, epsilon in ((2000, 4), (20000, 1), (20000, 4))]


# ---- measuring -------------------------------------------------------------------------------------------------------


def cells(small):
    """(loss, kind, n, p, tables): Huber loss, a relative of squared loss, has a quarter and no large tables."""
    for kind in ["independent", "correlated"] if small else KINDS:
        for n, p in [(2000, 5)] if small else SHAPES:
            for loss in LOSSES[:2] if small else LOSSES:
                if (loss != "huber" or n < 200000) and (loss, kind) != ("logistic", "skew_errors"):
                    yield loss, kind, n, p, SHAPES[n, p] // (4 if loss == "huber" else 1)


def read(path):
    return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []


def run(command, out, env=None):
    print(" ".join(map(str, command)), file=sys.stderr, flush=True)
    text = subprocess.run(list(map(str, command)), check=True, capture_output=True, text=True, env=env).stdout
    with out.open("a") as file:
        file.write(text)


def measured(rows):
    """How many tables of each cell there are, without a gap from FIRST on."""
    count = collections.Counter()
    for r in sorted((r for r in rows if r["bench"] == "coverage"), key=lambda r: r["from"]):
        key = r["loss"], r["kind"], r["n"], r["p"]
        if count[key] == r["from"] - FIRST:
            count[key] += r["runs"] if r["epsilon"] == float(EPSILONS.split(",")[-1]) else 0
    return count


def measure(args, end):
    bench = f"{args.build}/bench/bench_coverage"
    for part in PASSES:
        for loss, kind, n, p, tables in cells(args.small):
            if loss not in args.losses.split(",") or str(n) not in args.sizes.split(","):
                continue
            done = measured(read(args.rows))[loss, kind, n, p]
            now = SMALL_TABLES if n == 2000 and part < SMALL_TABLES else part
            if (n, p) == (200000, 20) and part == PASSES[0]:
                continue  # the dearest tables come in the second pass
            wanted = round(tables * min(now, args.share))
            if done < wanted and time.monotonic() < end:
                truths = ["--truths", args.rows.with_suffix("")]
                run([bench, loss, kind, n, p, EPSILONS, wanted - done, "--from", FIRST + done, *truths], args.rows)


def measure_rest(args, end):
    rows = read(args.rows)
    there = {(r["loss"], r["n"]) for r in rows if r["bench"] == "noise"}
    for loss, n in NOISE:
        if (loss, n) not in there and time.monotonic() < end:
            command = [f"{args.build}/bench/bench_coverage", "--noise", loss, "correlated", n, 5, 4, round(2000 * args.share)]
            run(command, args.rows)
    there = {(r["kind"], r["n"], r["epsilon"]) for r in rows if r["bench"] == "plain"}
    for kind, n, epsilon in PLAIN:
        if (kind, n, epsilon) not in there and time.monotonic() < end:
            run([f"{args.build}/bench/bench_coverage", "--plain", "squared", kind, n, 5, epsilon, 200], args.rows)
    there = {(r["table"], r["epsilon"]) for r in rows if r["bench"] == "real"}
    here = pathlib.Path(__file__).parent
    for epsilon, name in itertools.product((1, 4), REAL if args.real else ()):
        if (name, epsilon) not in there and time.monotonic() < end:
            env = {**os.environ, "PYTHONPATH": f"{here.parents[1]}/python", "TACIT_LIBRARY": f"{args.build}/libtacit.so"}
            options = ["--json", "--tables", name, "--runs", max(10, round(20 * args.share)), "--epsilon", epsilon]
            run([args.real, here / "coverage_tables.py", *options], args.rows, env)


# ---- the page ----------------------------------------------------------------------------------------------------------


def exact_tables(r):
    most = EXACT[r["n"]]
    return min(most, r["from"] - FIRST + r["runs"]) - min(most, r["from"] - FIRST)


def weighed(parts, name, weight):
    pairs = [(r[name], weight(r)) for r in parts if r[name] is not None and weight(r) > 0]
    return sum(v * w for v, w in pairs) / sum(w for _, w in pairs) if pairs else None


def at_most(hit, given, share):
    """The chance that at most `hit` of `given` intervals cover, if each covers with chance `share`."""
    log = math.lgamma(given + 1)
    terms = (
        log - math.lgamma(k + 1) - math.lgamma(given - k + 1) + k * math.log(share) + (given - k) * math.log1p(-share)
        for k in range(hit + 1)
    )
    return min(1, sum(map(math.exp, terms)))


def chance(hits, givens, share=0.95):
    """The chance of a weight as low as the lowest, if all cover with chance `share`, each by itself (Sidak 1967)."""
    each = [at_most(h, g, share) for h, g in zip(hits, givens) if g]
    return -math.expm1(len(each) * math.log1p(-min(min(each), 1 - 1e-12))) if each else None


def joined(rows):
    """One row a cell and epsilon."""
    groups = collections.defaultdict(list)
    for r in rows:
        if r["bench"] == "coverage" and not r["options"] and r["from"] >= FIRST:
            groups[r["loss"], r["kind"], r["n"], r["p"], r["epsilon"]].append(r)
    for key, parts in groups.items():
        add = {k: [sum(c) for c in zip(*(r[k] for r in parts))] for k in ("given", "hit", "found")}
        tables, given = sum(r["runs"] for r in parts), sum(add["given"])
        each = [h / g for h, g in zip(add["hit"], add["given"]) if g >= 50]
        null = [j for j, is_null in enumerate(parts[0]["null"]) if is_null and add["given"][j]]
        yield dict(
            zip(("loss", "kind", "n", "p", "epsilon"), key),
            tables=tables,
            hit=add["hit"],
            given=add["given"],
            nulls=[sum(add[name][j] for j in null) for name in ("found", "given")],
            coverage=sum(add["hit"]) / given if given else None,
            worst=min(each, default=None),
            chance=chance(add["hit"], add["given"]),
            withheld=1 - given / (tables * key[3]),
            width=weighed(parts, "width", exact_tables),
            noise=weighed(parts, "noise_part", lambda r: sum(r["given"])),
            null=sum(add["found"][j] for j in null) / sum(add["given"][j] for j in null) if null else None,
            excess=weighed(parts, "excess", exact_tables),
        )


def show(value, digits):
    return "–" if value is None else f"{value:.{digits}f}"


def cell_table(rows):
    yield "| loss | table | n | p | ε | tables | coverage | worst weight | chance | withheld | width | of it noise | null found | excess |"
    yield "| --- " * 14 + "|"
    order = {name: k for k, name in enumerate(LOSSES + KINDS)}
    for r in sorted(rows, key=lambda r: (r["n"], r["p"], r["epsilon"], order[r["loss"]], order[r["kind"]])):
        head = [r["loss"], r["kind"], str(r["n"]), str(r["p"]), f"{r['epsilon']:g}", str(r["tables"])]
        digits = {"coverage": 3, "worst": 3, "chance": 3, "withheld": 3, "width": 2, "noise": 2, "null": 3, "excess": 2}
        yield "| " + " | ".join(head + [show(r[k], d) for k, d in digits.items()]) + " |"


def span(rows, name, digits):
    values = [r[name] for r in rows if r[name] is not None]
    return f"{show(min(values), digits)}–{show(max(values), digits)}" if values else "–"


def share_of(pairs):
    """Of (part, whole) pairs: the sum of the parts over that of the wholes."""
    part, whole = (sum(column) for column in zip(*pairs)) if pairs else (0, 0)
    return part / whole if whole else None


def short_table(rows):
    """Over the kinds of tables in which at least a tenth of the weights have an interval."""
    yield "| loss | n | p | ε | tables | a kind | pooled | kinds | worst weight | withheld, rare | withheld, other | width | null found | excess |"
    yield "| --- " * 14 + "|"
    groups = collections.defaultdict(list)
    for r in rows:
        groups[LOSSES.index(r["loss"]), r["n"], r["p"], r["epsilon"]].append(r)
    for (loss, n, p, epsilon), part in sorted(groups.items()):
        some = [r for r in part if r["withheld"] < 0.9]
        rare = [r for r in part if r["kind"] in ("rare", "categories")]
        worst = [r["worst"] for r in some if r["worst"] is not None]
        each = sorted({r["tables"] for r in part})
        cells = [
            LOSSES[loss],
            f"{n} | {p} | {epsilon:g} | {sum(r['tables'] for r in part)}",
            f"{each[0]}{'–' + str(each[-1]) if len(each) > 1 else ''}",
            show(share_of([(sum(r["hit"]), sum(r["given"])) for r in some]), 3),
            span(some, "coverage", 3),
            show(min(worst, default=None), 3),
            show(max((r["withheld"] for r in rare), default=None), 3),
            show(max((r["withheld"] for r in part if r not in rare), default=None), 3),
            span(some, "width", 2),
            show(share_of([r["nulls"] for r in some]), 3),
            span(part, "excess", 2),
        ]
        yield "| " + " | ".join(cells) + " |"


def null_table(rows):
    """Null weights called significant at 5 %, over all kinds in which at least a tenth of the weights have an interval."""
    yield "| n | " + " | ".join(LOSSES) + " | all |"
    yield "| --- " * (len(LOSSES) + 2) + "|"
    for n in sorted({r["n"] for r in rows}):
        some = [r for r in rows if r["n"] == n and r["withheld"] < 0.9]
        shares = [share_of([r["nulls"] for r in some if r["loss"] in losses]) for losses in [[name] for name in LOSSES] + [LOSSES]]
        yield f"| {n} | " + " | ".join(show(share, 3) for share in shares) + " |"


def chance_table(rows):
    """The lowest weight that comes up in one cell of twenty although all cover with chance 0.95."""
    del rows
    yield "| tables | 5 weights | 20 weights |"
    yield "| --- | --- | --- |"
    for tables in (60, 125, 250, 1000):
        least = []
        for weights in (5, 20):
            hits = (h for h in range(tables) if chance([h] + [tables] * (weights - 1), [tables] * weights) >= 0.05)
            least.append(f"{next(hits) / tables:.3f}")
        yield f"| {tables} | {' | '.join(least)} |"


def low_table(cells, before, rows):
    """How often a lowest weight as low as seen has each chance, and the cells where that is below 1 %.  cells: all lines of
    the page's table of cells; before: this table as it was; rows: what was measured now."""
    chances = [float(value) for value in (columns(line)[8] for line in cells) if value != "–"]
    now = {tuple(columns(line)[:5]) for line in list(cell_table(rows))[2:]}
    lines = {}
    for line in before:
        key = columns(line)
        if len(key) == 10 and key[0] in LOSSES and tuple(key[:5]) not in now:
            lines[line] = float(key[7])
    for r in rows:
        if r["chance"] is not None and r["chance"] < 0.01:
            lowest = min((at_most(h, g, 0.95), h / g) for h, g in zip(r["hit"], r["given"]) if g)[1]
            head = [r["loss"], r["kind"], str(r["n"]), str(r["p"]), f"{r['epsilon']:g}", str(r["tables"]), f"{lowest:.3f}"]
            each = [f"{chance(r['hit'], r['given'], c):.2g}" for c in (0.95, 0.94, 0.9)]
            lines["| " + " | ".join(head + each) + " |"] = r["chance"]
    yield "| chance of the lowest weight below | cells expected | cells seen |"
    yield "| --- | --- | --- |"
    for limit in (0.1, 0.05, 0.01, 0.001):
        seen = sum(c < limit for c in (chances if limit > 0.01 else lines.values()))
        yield f"| {limit:g} | {limit * len(chances):.1f} | {seen} |"
    yield ""
    yield "| loss | table | n | p | ε | tables | lowest weight | chance at 0.95 | chance at 0.94 | chance at 0.9 |"
    yield "| --- " * 10 + "|"
    yield from sorted(lines, key=lambda line: lines[line])


def noise_table(rows):
    yield "| loss | table | n | p | ε | fits | least weight | largest weight |"
    yield "| --- " * 8 + "|"
    for r in rows:
        if r["bench"] == "noise":
            head = [r["loss"], r["kind"], str(r["n"]), str(r["p"]), f"{r['epsilon']:g}", str(r["runs"])]
            yield "| " + " | ".join([*head, show(r["least"], 3), show(r["largest"], 3)]) + " |"


def plain_table(rows):
    yield "| table | n | p | ε | runs | plain statistics | dponestep |"
    yield "| --- " * 7 + "|"
    for r in rows:
        if r["bench"] == "plain":
            head = [r["kind"], str(r["n"]), str(r["p"]), f"{r['epsilon']:g}", str(r["runs"])]
            yield "| " + " | ".join([*head, show(r["plain"], 2), show(r["own"], 2)]) + " |"


def real_table(rows):
    yield "| table | ε | weights | runs | coverage | worst weight | withheld | width |"
    yield "| --- " * 8 + "|"
    for r in rows:
        if r["bench"] == "real":
            head = [r["table"], f"{r['epsilon']:g}", str(r["weights"]), str(r["runs"])]
            yield "| " + " | ".join([*head, *(show(r[k], 2) for k in ("coverage", "worst", "withheld", "width"))]) + " |"


def columns(line):
    return [cell.strip() for cell in line.strip().strip("|").split("|")]


def merged(before, now, keys, order):
    """Lines of `now` in place of those of `before` with the same first `keys` columns; the others stay."""
    now = list(now)
    lines = {tuple(columns(line)[:keys]): line for line in before[2:]}
    lines.update({tuple(columns(line)[:keys]): line for line in now[2:]})
    return now[:2] + [lines[key] for key in sorted(lines, key=order)]


def place(name):
    return (LOSSES + KINDS).index(name)


def numbers(*texts):
    return tuple(map(float, texts))


def whole(rows):
    """Those of a loss, n, p and epsilon of which every kind was measured: only these are pooled anew."""
    groups = collections.defaultdict(list)
    for r in rows:
        groups[r["loss"], r["n"], r["p"], r["epsilon"]].append(r)
    kinds = {loss: len(KINDS) - (loss == "logistic") for loss in LOSSES}
    return [r for (loss, *_), part in groups.items() if len(part) == kinds[loss] for r in part]


def of_all_losses(rows):
    """Those of an n of which all was measured, Huber loss where it has tables."""
    wanted = {(loss, n, p) for loss, _, n, p, _ in cells(False)}
    there = {(r["loss"], r["n"], r["p"]) for r in rows}
    return [r for r in rows if all(w in there for w in wanted if w[1] == r["n"])]


def write_page(path, rows):
    """What rows do not have stays on the page as it was."""
    text = path.read_text()
    found = list(joined(rows))
    csv = path.with_suffix(".csv")  # every cell; the page has what they come to
    every = ["| " + " | ".join(line.split(",")) + " |" for line in csv.read_text().splitlines()]
    short, marked = whole(found), re.compile("<!-- (\\w+) -->\n(.*?)<!-- end -->", re.S)
    old = {m[1]: m[2].strip().splitlines() for m in marked.finditer(text)}
    tables = {
        "short": merged(old["short"], short_table(short), 4, lambda k: (place(k[0]), *numbers(*k[1:]))),
        "null": merged(old["null"], null_table(of_all_losses(short)), 1, lambda k: int(k[0])),
        "chance": chance_table(found),
        "noise": merged(old["noise"], noise_table(rows), 5, lambda k: (place(k[0]), *numbers(*k[2:]))),
        "plain": merged(old["plain"], plain_table(rows), 4, lambda k: (place(k[0]), *numbers(*k[1:]))),
        "real": merged(old["real"], real_table(rows), 2, lambda k: (float(k[1]), REAL.index(k[0]))),
    }
    every = merged([every[0], "", *every[1:]], cell_table(found), 5, lambda k: (*numbers(*k[2:]), place(k[0]), place(k[1])))
    csv.write_text("".join(",".join(columns(line)) + "\n" for line in every if "---" not in line))
    tables["low"] = low_table(every[2:], old["low"], found)
    path.write_text(marked.sub(lambda m: f"<!-- {m[1]} -->\n\n" + "\n".join(tables[m[1]]) + "\n\n<!-- end -->", text))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build")
    parser.add_argument("rows", type=pathlib.Path)
    parser.add_argument("--share", type=float, default=1.0)
    parser.add_argument("--losses", default=",".join(LOSSES))
    parser.add_argument("--sizes", default="2000,20000,200000")
    parser.add_argument("--small", action="store_true")
    parser.add_argument("--seconds", type=float, default=float("inf"))
    parser.add_argument("--real")
    parser.add_argument("--page", type=pathlib.Path)
    args = parser.parse_args()
    args.rows.with_suffix("").mkdir(parents=True, exist_ok=True)
    end = time.monotonic() + args.seconds
    measure(args, end)
    if not args.small:
        measure_rest(args, end)
    rows = read(args.rows)
    print("\n".join(short_table(list(joined(rows)))))
    if args.page:
        write_page(args.page, rows)


if __name__ == "__main__":
    main()
