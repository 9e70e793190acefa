#!/usr/bin/env python3
"""classes_table.py - softmax against one against the rest at equal epsilon: held-out accuracy on eleven tables.

usage: classes_table.py TACIT DATA [RUNS [TABLE...]]     TACIT: the program; DATA: the folder of data sets

Prints the rows of docs/measured/classes.csv: the three that the rules were chosen on, or those named (`judges` for the
eight that they are judged on).  Both are by dpmetric, what auto takes for either.  Schemas hold public bounds and code
books; every run shuffles the records anew and holds every fourth out.  All settings are the defaults, with a ridge of 1e-5.
"""
import csv, io, json, lzma, math, os, random, statistics, subprocess, sys, tempfile

TACIT, DATA = os.path.abspath(sys.argv[1]), sys.argv[2]
RUNS = int(sys.argv[3]) if len(sys.argv) > 3 else 10
EPSILONS = {"choose": (0.1, 0.3, 1, 3), "judge": (0.03, 0.1, 1, 10)}
LOSSES = ("logistic", "softmax")
MOST = 20000  # records of a table


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


def category(name, rows):
    return {"name": name, "type": "category", "values": sorted({r[name] for r in rows})}


def some(rows, used, label):
    """At most MOST of the rows, with the columns that are used."""
    rows = random.Random(7).sample(rows, min(MOST, len(rows)))
    return [{name: row[name] for name in (*used, label)} for row in rows]


def of_columns(rows, bounds, categories, label, values=None):
    columns = [number(name, *each) for name, each in bounds.items()]
    rows = some(rows, [*bounds, *categories], label)
    columns += [category(name, rows) for name in categories]
    return rows, columns, label, values or sorted({r[label] for r in rows})


def occupation():
    rows = [r for r in rows_of("adult_train.csv.xz") if r["occupation"] != "?"]
    bounds = {"age": (17, 90), "education_num": (1, 16), "hours_per_week": (0, 99)}
    return of_columns(rows, bounds, "workclass marital_status relationship race sex income".split(), "occupation")


def marital():
    rows = [r for r in rows_of("nist_acs_national2019.csv.xz") if r["MSP"] != "N"]
    names = "SEX HISP RAC1P NOC NPF HOUSING_TYPE OWN_RENT INDP_CAT EDU DREM DPHY PINCP_DECILE".split()
    return of_columns(rows, {"AGEP": (15, 100)}, names, "MSP")


def industry():
    """Ten kinds, and what they are told by."""
    rows = [r for r in rows_of("nist_acs_national2019.csv.xz") if r["INDP_CAT"] != "N"]
    names = "SEX HISP RAC1P NOC NPF HOUSING_TYPE OWN_RENT MSP EDU DREM DPHY PINCP_DECILE".split()
    return of_columns(rows, {"AGEP": (15, 100)}, names, "INDP_CAT")


def decile():
    rows = [r for r in rows_of("nist_acs_national2019.csv.xz") if r["PINCP_DECILE"] != "N"]
    names = "SEX HISP RAC1P NOC NPF HOUSING_TYPE OWN_RENT MSP EDU DREM DPHY INDP_CAT".split()
    return of_columns(rows, {"AGEP": (15, 100)}, names, "PINCP_DECILE")


def readmitted():
    bounds = {"time_in_hospital": (1, 14), "num_lab_procedures": (0, 130), "num_procedures": (0, 6), "num_medications": (0, 80),
              "number_outpatient": (0, 10), "number_emergency": (0, 10), "number_inpatient": (0, 10), "number_diagnoses": (1, 16)}
    names = "race gender age A1Cresult insulin change diabetesMed admission_type_id".split()
    return of_columns(rows_of("diabetes130.csv.xz"), bounds, names, "readmitted")


def attacks():
    kinds = {"dos": "back land neptune pod smurf teardrop", "probe": "ipsweep nmap portsweep satan", "normal": "normal"}
    kind = {name: key for key, names in kinds.items() for name in names.split()}
    rows = rows_of("kddcup99_10pct.csv.xz")
    for row in rows:
        row["kind"] = kind.get(row["label"], "intrusion")
    bounds = {"duration": (0, 60000), "src_bytes": (0, 1e6), "dst_bytes": (0, 1e6), "hot": (0, 30), "count": (0, 511),
              "srv_count": (0, 511), "dst_host_count": (0, 255), "dst_host_srv_count": (0, 255)}
    bounds |= {name: (0, 1) for name in rows[0] if name.endswith("_rate") or name in ("logged_in", "is_guest_login")}
    return of_columns(rows, bounds, ["protocol_type", "flag"], "kind")


def drawn(names, sizes, count, scale, seed):
    """Records whose labels follow a softmax model; column j is spread over [-sizes[j], sizes[j]] of bounds [-1, 1]."""
    draw = random.Random(seed)
    weights = [[scale * draw.gauss(0, 1) / size for size in sizes] for _ in names]
    rows = []
    for _ in range(count):
        x = [draw.uniform(-size, size) for size in sizes]
        z = [sum(a * b for a, b in zip(w, x)) - math.log(-math.log(draw.random())) for w in weights]
        rows.append({**{f"x{j}": f"{v:.6f}" for j, v in enumerate(x)}, "fruit": names[z.index(max(z))]})
    return rows, [number(f"x{j}", -1, 1) for j in range(len(sizes))], "fruit", names


FRUITS = ["apple", "pear", "plum", "fig", "kiwi", "lime"]


def six():
    return drawn(FRUITS, [1] * 8, 20000, 2, 1)


def few():
    return drawn(FRUITS, [1] * 8, 2000, 2, 2)


def twenty():
    return drawn([f"kind{k:02d}" for k in range(20)], [1] * 4 + [0.3] * 4 + [0.1] * 4, 20000, 1.5, 3)


CHOOSE = covtype, education, six
JUDGE = occupation, marital, industry, decile, readmitted, attacks, few, twenty


def write(path, rows):
    with open(path, "w", newline="") as out:
        table = csv.DictWriter(out, list(rows[0]))
        table.writeheader()
        table.writerows(rows)


def accuracy(loss, epsilon):
    train = [TACIT, "train", "train.csv", "--schema", "s.json", "--loss", loss, "--penalty", "l2:lambda=1e-5",
             "--solver", "dpmetric", "--epsilon", str(epsilon), "--delta", "1e-6", "-o", "m.json"]
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
    print(f"{name},{classes},{epsilon:g},{statistics.mean(rest):.4f},{statistics.mean(soft):.4f},{mean:+.4f},{error:.4f},{better}", flush=True)


def main():
    print("table,classes,epsilon,one_against_the_rest,softmax,difference,error,better")
    named = sys.argv[4:]
    for make in CHOOSE if not named else JUDGE if named == ["judges"] else [f for f in CHOOSE + JUDGE if f.__name__ in named]:
        epsilons = EPSILONS["choose" if make in CHOOSE else "judge"]
        found = {(loss, epsilon): [] for loss in LOSSES for epsilon in epsilons}
        with tempfile.TemporaryDirectory() as folder:
            os.chdir(folder)
            for run in range(RUNS):
                classes = split(make, run)
                for loss, epsilon in found:
                    found[loss, epsilon].append(accuracy(loss, epsilon))
            os.chdir("/")
        for epsilon in epsilons:
            line(make.__name__, classes, epsilon, *(found[loss, epsilon] for loss in LOSSES))


os.environ["TACIT_REGISTRY"] = "none"
main()
