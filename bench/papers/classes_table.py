#!/usr/bin/env python3
"""classes_table.py - softmax against one against the rest at equal epsilon: held-out accuracy on three tables.

usage: classes_table.py TACIT DATA [RUNS]     TACIT: the program; DATA: the folder of data sets

Prints the table of docs/measured/classes.md.  Schemas hold public bounds and code books; every fourth part of the
shuffled records is held out.  All settings are the defaults, with a ridge of 1e-5.
"""
import csv, io, json, lzma, math, os, random, subprocess, sys, tempfile

TACIT, DATA = os.path.abspath(sys.argv[1]), sys.argv[2]
RUNS = int(sys.argv[3]) if len(sys.argv) > 3 else 3
EPSILONS = (0.3, 1, 3)


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


def main():
    print("| table | classes | epsilon | one against the rest | softmax |\n| --- | --- | --- | --- | --- |")
    for make in (covtype, education, six):
        rows, columns, label, values = make()
        random.Random(7).shuffle(rows)
        held_out = rows[::4]
        with tempfile.TemporaryDirectory() as folder:
            os.chdir(folder)
            write("test.csv", held_out)
            write("train.csv", [r for k, r in enumerate(rows) if k % 4])
            schema = {"columns": columns, "label": {"name": label, "values": values}, "scale": "symmetric"}
            with open("s.json", "w") as out:
                json.dump(schema, out)
            for epsilon in EPSILONS:
                mean = {}
                for loss in ("logistic", "softmax"):
                    mean[loss] = sum(accuracy(loss, epsilon) for _ in range(RUNS)) / RUNS
                print(f"| {make.__name__} | {len(values)} | {epsilon:g} | {mean['logistic']:.3f} | {mean['softmax']:.3f} |",
                      flush=True)
            os.chdir("/")


os.environ["TACIT_REGISTRY"] = "none"
main()
