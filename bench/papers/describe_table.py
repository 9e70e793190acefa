#!/usr/bin/env python3
"""describe_table.py - a private Table 1 beside the exact one: what it is off, and how often its intervals cover.

usage: describe_table.py TACIT DATA [RUNS [EPSILON]]

TACIT: the program; DATA: the folder of data sets.  Prints docs/measured/describe.csv.  Half of the runs are
of the table itself, with intervals about it; half are of tables drawn from it with replacement, with intervals about
whom they were drawn from.
"""
import bisect, collections, csv, io, json, lzma, math, os, random, subprocess, sys, tempfile

TACIT, DATA = map(os.path.abspath, sys.argv[1:3])
RUNS, EPSILON = int(sys.argv[3]) if len(sys.argv) > 3 else 20, sys.argv[4] if len(sys.argv) > 4 else "0.2"
# Bounds were typed by hand, as what such columns cannot leave; lists are the texts that occur in the tables.
ADULT = {"age": (17, 90), "fnlwgt": (0, 1500000), "education_num": (1, 16), "capital_gain": (0, 100000),
         "capital_loss": (0, 5000), "hours_per_week": (1, 99)}
STAY = {"time_in_hospital": (1, 14), "num_lab_procedures": (1, 132), "num_procedures": (0, 6), "num_medications": (1, 81),
        "number_outpatient": (0, 42), "number_emergency": (0, 76), "number_inpatient": (0, 21), "number_diagnoses": (1, 16)}
TABLES = {"adult": (("adult_train", "adult_test"), ADULT, (), "sex,income"),
          "diabetes130": (("diabetes130",), STAY, ("encounter_id", "patient_nbr", "diag_1", "diag_2", "diag_3"), "gender,readmitted")}


def table(files):
    rows = []
    for name in files:
        own = list(csv.reader(io.TextIOWrapper(lzma.open(os.path.join(DATA, name + ".csv.xz")))))
        head, rows = own[0], rows + own[1:]
    return head, rows


class Exact:
    """What the table has."""

    def __init__(self, head, rows, bounds, lists, cross):
        self.numbers, self.counts, self.n = {}, {}, len(rows)
        at = {name: j for j, name in enumerate(head)}
        for name, (low, high) in bounds.items():
            own = sorted(min(max(float(r[at[name]]), low), high) for r in rows if r[at[name]] not in ("?", ""))
            mean = math.fsum(own) / len(own)
            self.numbers[name] = own, mean, math.sqrt(math.fsum((x - mean) ** 2 for x in own) / len(own)), high - low
        for name in lists:
            self.counts[name] = collections.Counter(r[at[name]] for r in rows)
        self.pairs = collections.Counter((r[at[cross[0]]], r[at[cross[1]]]) for r in rows)


class Seen:
    """What runs were off, and which intervals covered."""

    def __init__(self):
        self.off, self.cover = collections.defaultdict(list), collections.defaultdict(list)

    def interval(self, what, figure, true):
        self.cover[what].append(figure["lower"] <= true <= figure["upper"])

    def number(self, said, exact, n):
        own, mean, deviation, width = exact
        wide = deviation >= 0.15 * width
        error = abs(said["mean"]["value"] - mean)
        self.off["mean, in deviations" if wide else "mean of a narrow column, in stated errors"].append(
            error / deviation if wide else error / said["mean"]["noise"])
        self.interval("means", said["mean"], mean)
        self.interval("deviations", said["deviation"], deviation)
        self.interval("missing shares", said["missing"], 1 - len(own) / n)
        for q in said["quantiles"]:
            below, upto = (side(own, q["value"]) / len(own) for side in (bisect.bisect_left, bisect.bisect_right))
            self.off["quantile, in rank"].append(max(below - q["at"], q["at"] - upto, 0))
            true = own[min(math.ceil(q["at"] * len(own)), len(own)) - 1]
            self.interval("quantiles of columns with more than 100 values" if len(set(own)) > 100 else
                          "quantiles of columns with fewer", q, true)

    def levels(self, said, counts, n):
        missing = counts["?"] + counts[""]
        self.off["share missing"].append(abs(said["missing"]["value"] - missing / n))
        self.interval("missing shares", said["missing"], missing / n)
        for each in said["levels"]:
            true = 0 if each["name"] == "(other)" else counts[each["name"]]
            error = abs(each["share"]["value"] - true / (n - missing))
            self.off["share" if missing < n / 2 else "share in a column of gaps"].append(error)
            if missing >= n / 2:
                self.off["share in a column of gaps, in stated errors"].append(error / each["share"]["noise"])
            self.interval("shares" if true else "shares of what is not there", each["share"], true / (n - missing))

    def cross(self, said, pairs, n):
        for row, cells in zip(said["rows"], said["cells"]):
            for column, cell in zip(said["columns"], cells):
                true = pairs[row, column] / n
                self.off["cell of a cross-table"].append(abs(cell["share"]["value"] - true))
                if true:
                    self.interval("cells of a cross-table", cell["share"], true)


def run(folder, head, rows, cross, about_table, seed):
    with open(os.path.join(folder, "t.csv"), "w") as out:
        csv.writer(out, lineterminator="\n").writerows([head, *rows])
    command = [TACIT, "describe", "t.csv", "--schema", "s.json", "--epsilon", EPSILON, "--delta", "1e-6", "--cross", cross,
               "--seed", str(seed), "--json", "-o", f"{seed}.json", *["--this-table"] * about_table]
    said = subprocess.run(command, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=True).stdout
    os.remove(os.path.join(folder, f"{seed}.json"))
    return json.loads(said)


def measure(files, bounds, left_out, cross):
    head, rows = table(files)
    lists = [name for name in head if name not in bounds and name not in left_out]
    exact = Exact(head, rows, bounds, lists, cross.split(","))
    columns = [dict(name=name, type="ignore") for name in left_out]
    columns += [dict(name=name, type="number", lower=low, upper=high) for name, (low, high) in bounds.items()]
    columns += [dict(name=name, type="category", values=sorted(set(exact.counts[name]) - {"?", ""})) for name in lists]
    seen, draw = (Seen(), Seen()), random.Random(1)
    with tempfile.TemporaryDirectory() as folder:
        json.dump(dict(columns=columns, missing_values=["?"]), open(os.path.join(folder, "s.json"), "w"))
        for seed in range(RUNS):
            drawn = seed % 2
            own = draw.choices(rows, k=len(rows)) if drawn else rows
            said = run(folder, head, own, cross, not drawn, seed + 1)
            for column in said["columns"]:
                if column["kind"] == "number":
                    seen[drawn].number(column, exact.numbers[column["name"]], exact.n)
                else:
                    seen[drawn].levels(column, exact.counts[column["name"]], exact.n)
            seen[drawn].cross(said["cross"][0], exact.pairs, exact.n)
    return exact.n, len(columns) - len(left_out), seen


measured = {name: measure(*how) for name, how in TABLES.items()}
print("what,table,largest,95th of 100,about,cover,intervals")
for what in measured["diabetes130"][2][0].off:
    for name, (_, _, (own, _)) in measured.items():
        values = sorted(own.off[what])
        if values:
            print(f'"{what}",{name},{values[-1]:.4f},{values[int(0.95 * len(values))]:.4f},,,')
for drawn, about in enumerate(("the table", "whom it is drawn from")):
    for what in measured["adult"][2][drawn].cover:
        for name, (_, _, seen) in measured.items():
            if c := seen[drawn].cover[what]:
                print(f"{what},{name},,,{about},{100 * sum(c) / len(c):.1f},{len(c)}")
