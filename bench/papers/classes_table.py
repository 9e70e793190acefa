#!/usr/bin/env python3
"""classes_table.py - softmax against one against the rest at equal epsilon: held-out accuracy on three tables.

usage: classes_table.py TACIT DATA [RUNS]     TACIT: the program; DATA: the folder of data sets

Prints the table of docs/measured/classes.md.  Schemas hold public bounds and code books; every run shuffles the
records anew and holds every fourth out.  All settings are the defaults, with a ridge of 1e-5.
"""
import csv, io, json, lzma, math, os, random, statistics, subprocess, sys, tempfile

TACIT, DATA = os.path.abspath(sys.argv[1]), sys.argv[2]
RUNS = int(sys.argv[3]) if len(sys.argv) > 3 else 10
EPSILONS = (0.3, 1, 3)
LOSSES = ("logistic", "softmax")


def rows_of(name):
    with lzma.open(os.path.join(DATA, name)) as packed:
        return list(csv.DictReader(io.TextIOWrapper(packed)))


def number(name, lower, upper):
    return {"name": name, "type": "number", "lower": lower, "upper": upper}


def covtype():
    rows = rows_of("covtype_20k.csv.xz")
    names = list(rows[0])
    bounds = [(1800, 3900), (0, 360), (0, 70), (0, 1500), (-200, 700), (0, 7200), (0, 255), (0, 255), (0, 255), (0, 7200)]
    for row in rows:  # 4 areas and 40 soils stand there as columns of 0 and 1
        row["area"] = str([row.pop(n) for n in names[10:14]].index("1"))
        row["soil"] = str([row.pop(n) for n in names[14:54]].index("1"))
    columns = [number(n, *b) for n, b in zip(names, bounds)]
    columns += [{"name": n, "type": "category", "values": [str(k) for k in range(c)]} for n, c in (("area", 4), ("soil", 40))]
    return rows, columns, names[-1], [str(k) for k in range(1, 8)]


def education():
    rows = [r for r in rows_of("nist_acs_national2019.csv.xz") if r["EDU"] != "N"]
    columns = [number("AGEP", 18, 100)]
    for name in ("SEX MSP HISP RAC1P NOC NPF HOUSING_TYPE OWN_RENT INDP_CAT DVET DREM DPHY DEYE DEAR PINCP_DECILE".split()):
        columns.append({"name": name, "type": "category", "values": sorted({r[name] for r in rows})})
    used = {c["name"] for c in columns}
    columns += [{"name": n, "type": "ignore"} for n in rows[0] if n not in used and n != "EDU"]
    return rows, columns, "EDU", sorted({r["EDU"] for r in rows}, key=int)


def six():
    draw = random.Random(1)
    names = ["apple", "pear", "plum", "fig", "kiwi", "lime"]
    weights = [[2 * draw.gauss(0, 1) for _ in range(8)] for _ in names]
    rows = []
    for _ in range(20000):
        x = [draw.uniform(-1, 1) for _ in range(8)]
        z = [sum(a * b for a, b in zip(w, x)) - math.log(-math.log(draw.random())) for w in weights]
        rows.append({**{f"x{j}": f"{v:.6f}" for j, v in enumerate(x)}, "fruit": names[z.index(max(z))]})
    return rows, [number(f"x{j}", -1, 1) for j in range(8)], "fruit", names


def write(path, rows):
    with open(path, "w", newline="") as out:
        table = csv.DictWriter(out, list(rows[0]))
        table.writeheader()
        table.writerows(rows)


def accuracy(loss, epsilon):
    train = [TACIT, "train", "train.csv", "--schema", "s.json", "--loss", loss, "--penalty", "l2:lambda=1e-5",
             "--epsilon", str(epsilon), "--delta", "1e-6", "-o", "m.json"]
    subprocess.run(train, check=True, capture_output=True)
    scores = subprocess.run([TACIT, "evaluate", "m.json", "test.csv", "--json"], check=True, capture_output=True)
    return json.loads(scores.stdout)["accuracy"]


def split(make, run):
    """Writes the tables and the schema of one shuffle to the current folder."""
    rows, columns, label, values = make()
    random.Random(100 + run).shuffle(rows)
    write("test.csv", rows[::4])
    write("train.csv", [r for k, r in enumerate(rows) if k % 4])
    with open("s.json", "w") as out:
        json.dump({"columns": columns, "label": {"name": label, "values": values}, "scale": "symmetric"}, out)
    return len(values)


def line(name, classes, epsilon, rest, soft):
    """Means over the shuffles; the error is that of the mean difference, both fits being of the same shuffle."""
    differences = [b - a for a, b in zip(rest, soft)]
    error = statistics.stdev(differences) / math.sqrt(RUNS)
    mean = statistics.mean(differences)
    better = "neither" if abs(mean) < 2 * error else "softmax" if mean > 0 else "one against the rest"
    print(f"| {name} | {classes} | {epsilon:g} | {statistics.mean(rest):.4f} | {statistics.mean(soft):.4f} "
          f"| {mean:+.4f} | {error:.4f} | {better} |", flush=True)


def main():
    print("| table | classes | ε | one against the rest | softmax | difference | its standard error | better |")
    print("| --- | --- | --- | --- | --- | --- | --- | --- |")
    for make in (covtype, education, six):
        found = {(loss, epsilon): [] for loss in LOSSES for epsilon in EPSILONS}
        with tempfile.TemporaryDirectory() as folder:
            os.chdir(folder)
            for run in range(RUNS):
                classes = split(make, run)
                for loss, epsilon in found:
                    found[loss, epsilon].append(accuracy(loss, epsilon))
            os.chdir("/")
        for epsilon in EPSILONS:
            line(make.__name__, classes, epsilon, *(found[loss, epsilon] for loss in LOSSES))


os.environ["TACIT_REGISTRY"] = "none"
main()
