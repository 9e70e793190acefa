#!/usr/bin/env python3
"""estimate_table.py - what bounds cost that are estimated, beside bounds that are known, too wide, or taken from the data.

usage: estimate_table.py PROGRAM DATA [FITS [SET...]] > table.md

PROGRAM: the tacit program; DATA: folder of the data sets; FITS: runs of each cell (5).  Five tables of numbers, solver
auto, delta 1e-6, no penalty.  A figure is the mean loss over the table above its minimum without privacy, as a part of
what the best constant has above that minimum: 0 is as good as without privacy, 1 as good as nothing.  Each cell is the
median over the runs.
"""
import csv, io, json, lzma, math, os, subprocess, sys, tempfile

import numpy as np

# Bounds that a code book or common sense gives, written down before any run.
SETS = {
    "adult": ("adult_train.csv.xz", "income", ">50K", {
        "age": (0, 120), "fnlwgt": (0, 2e6), "education_num": (1, 16), "capital_gain": (0, 1e5),
        "capital_loss": (0, 5000), "hours_per_week": (0, 100)}),
    "california": ("california.csv.xz", "MedHouseVal", None, {
        "MedInc": (0, 15), "HouseAge": (0, 52), "AveRooms": (0, 150), "AveBedrms": (0, 40), "Population": (0, 40000),
        "AveOccup": (0, 1300), "Latitude": (32, 42), "Longitude": (-125, -114), "MedHouseVal": (0, 5)}),
    "covtype": ("covtype_20k.csv.xz", "Cover_Type", "2", {
        "Elevation": (0, 4500), "Aspect": (0, 360), "Slope": (0, 90), "Horizontal_Distance_To_Hydrology": (0, 10000),
        "Vertical_Distance_To_Hydrology": (-1000, 1000), "Horizontal_Distance_To_Roadways": (0, 10000),
        "Hillshade_9am": (0, 255), "Hillshade_Noon": (0, 255), "Hillshade_3pm": (0, 255),
        "Horizontal_Distance_To_Fire_Points": (0, 10000)}),
    "electricity": ("electricity.csv.xz", "class", "UP", {
        "day": (1, 7), "period": (0, 1), "nswprice": (0, 1), "nswdemand": (0, 1), "vicprice": (0, 1),
        "vicdemand": (0, 1), "transfer": (0, 1)}),
    "skin": ("skin_nonskin.csv.xz", "class", "1", {"B": (0, 255), "G": (0, 255), "R": (0, 255)}),
}
WAYS = ("public", "ten times", "of the data", "estimated")
EPSILONS = (0.3, 1, 3)


def load(folder, name):
    file, label, positive, bounds = SETS[name]
    rows = list(csv.reader(io.TextIOWrapper(lzma.open(os.path.join(folder, file)), encoding="utf-8")))
    head = rows[0] if label in rows[0] else rows[0][:-1] + [label]
    columns = [c for c in bounds if c != label]
    x = np.array([[float(r[head.index(c)]) for c in columns] for r in rows[1:]])
    y = [r[head.index(label)] for r in rows[1:]]
    y = np.array([float(v) for v in y]) if positive is None else np.where(np.array(y) == positive, 1.0, -1.0)
    return columns, x, y


def write(columns, x, y):
    with open("t.csv", "w", newline="") as out:
        table = csv.writer(out)
        table.writerow([*columns, "y"])
        for row, label in zip(x, y):
            table.writerow([*(repr(float(v)) for v in row), repr(float(label)) if REAL else int(label)])


def schema(way, columns, x, y, bounds, label):
    """The file's name, or None: all columns are open."""
    if way == "estimated":
        return None
    described = []
    for name, values in [*zip(columns, x.T), ("y", y)]:
        low, high = bounds[label if name == "y" else name] if name != "y" or REAL else (0, 1)
        if way == "of the data":
            low, high = float(values.min()), float(values.max())
        if way == "ten times" and not (name == "y" and not REAL):
            low, high = low - 4.5 * (high - low), high + 4.5 * (high - low)
        described.append({"name": name, "type": "number", "lower": low, "upper": high})
    last = described.pop()
    end = {"name": "y", "lower": last["lower"], "upper": last["upper"]} if REAL else {"name": "y"}
    with open("s.json", "w") as out:
        json.dump({"columns": described, "label": end}, out)
    return "s.json"


def loss_of(z, y):
    return float(np.mean((z - y) ** 2) if REAL else np.mean(np.logaddexp(0, -y * z)))


def minimum(x, y):
    """Without privacy, by Newton's method on standardised columns."""
    design = np.hstack([(x - x.mean(0)) / x.std(0), np.ones((len(x), 1))])
    if REAL:
        return loss_of(design @ np.linalg.lstsq(design, y, rcond=None)[0], y)
    w = np.zeros(design.shape[1])
    for _ in range(40):
        p = 1 / (1 + np.exp(np.clip(y * (design @ w), -500, 500)))
        curve = design.T @ (design * (p * (1 - p))[:, None]) + 1e-9 * len(x) * np.eye(len(w))
        step = np.linalg.solve(curve, design.T @ (y * p))
        while loss_of(design @ (w + step), y) > loss_of(design @ w, y) and np.abs(step).max() > 1e-12:
            step /= 2
        w += step
    return loss_of(design @ w, y)


def constant(y):
    if REAL:
        return float(np.var(y))
    share = np.mean(y > 0)
    return float(-share * math.log(share) - (1 - share) * math.log(1 - share))


def run(program, way, file, epsilon):
    settings = ["--label", "y", "--loss", "squared" if REAL else "logistic", "--epsilon", str(epsilon), "--delta", "1e-6"]
    settings += ["--estimate", "bounds:budget_fraction=0.1"] if file is None else ["--schema", file]
    for command in (["train", "t.csv", *settings, "-o", "m.json"], ["predict", "m.json", "t.csv", "-o", "z.txt"]):
        subprocess.run([program, *command], check=True, capture_output=True)
    return np.loadtxt("z.txt")


program, folder = os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2])
fits = int(sys.argv[3]) if len(sys.argv) > 3 else 5
os.chdir(tempfile.mkdtemp())
os.environ["TACIT_REGISTRY"] = "none"
print("set,rows,columns,epsilon", *WAYS, sep=",")
for name in sys.argv[4:] or SETS:
    REAL = SETS[name][2] is None
    columns, x, y = load(folder, name)
    write(columns, x, y)
    best, nothing = minimum(x, y), constant(y)
    for epsilon in EPSILONS:
        cells = []
        for way in WAYS:
            file = schema(way, columns, x, y, SETS[name][3], SETS[name][1])
            losses = [loss_of(run(program, way, file, epsilon), y) for _ in range(fits)]
            cells.append(f"{(np.median(losses) - best) / (nothing - best):.3f}")
        print(name, len(y), len(columns), epsilon, *cells, sep=",", flush=True)
