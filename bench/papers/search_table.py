#!/usr/bin/env python3
"""search_table.py - what a private search with a random number of tries costs, finds and gains.

usage: PYTHONPATH=python TACIT_LIBRARY=libtacit.so search_table.py DATA [RUNS [EPSILON...]]

DATA: the folder of data sets; with epsilons the third table alone

Prints three tables as CSV: the first two stand in docs/measured/search.md, the third in search.csv.  Every run draws 10,000 records anew and holds every fourth out.
"""
import csv, io, lzma, math, os, sys, warnings

import numpy as np

import tacit

DATA, RUNS = sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 5
EPSILONS = [float(text) for text in sys.argv[3:]] or [0.1, 1.0, 3.0]  # of the third table
MEAN, DELTA = 50, 1e-5
RECORDS = 10000
GRID = {"C": [1e-3, 0.1, 10.0], "solver": ["auto", "dpgd", "dpgd:clip=0.2"]}


def one_try(epsilon, delta):
    """(epsilon of the whole as proved, of a try's fit at the same delta, of its score)."""
    base = tacit.PrivateLogisticRegression(data_norm=1.0, classes=[0, 1], solver="dpgd:steps=20")
    search = tacit.PrivateSearchCV(base, {"C": [1.0]}, epsilon=epsilon, delta=delta, selection="random", tries=MEAN)
    plan = search.plan(20000, 10)
    score = dict(part.split("=") for part in plan["choice"].partition(":")[2].split(","))["score"]
    lists = plan["fits"][0]["events"], [f"gaussian:noise={score}"]
    return plan["epsilon"], *(tacit.account(events, delta)["epsilon"] for events in lists)


def price():
    """What the best of the tries costs where the fit of one costs 0.1, 1 and 3; its score reads other records."""
    print("fit,score,delta,best_of_50,ratio")
    for target in (0.1, 1, 3):
        for delta in (1e-5, 1e-6):
            asked = 2 * target
            for _ in range(6):  # the cost is nearly a power of a fit's
                whole, fit, score = one_try(asked, delta)
                asked *= target / fit
            print(f"{fit:.3f},{score:.3f},{delta:g},{whole:.3f},{whole / fit:.2f}", flush=True)


def missed():
    """The chance that a geometric number of tries draws none of the five best of so many settings."""
    print("\nsettings,none_of_five_best,never_the_best")
    for settings in (10, 25, 50, 100, 200):
        chance = [(1 - k / settings) / MEAN / (1 - (1 - 1 / MEAN) * (1 - k / settings)) for k in (5, 1)]
        print(f"{settings},{chance[0]:.3f},{chance[1]:.3f}")


def rows_of(name):
    with lzma.open(os.path.join(DATA, name)) as packed:
        return list(csv.reader(io.TextIOWrapper(packed)))[1:]


def electricity():
    rows = rows_of("electricity.csv.xz")
    X = np.array([[float(v) for v in row[:8]] for row in rows])
    return X, np.array([row[8] == "UP" for row in rows]).astype(int), ([0, 1, 0, 0, 0, 0, 0, 0], [1, 7, 1, 1, 1, 1, 1, 1])


def bank():
    rows = np.array(rows_of("bank_dpagd.csv.xz"), dtype=float)
    upper = np.ones(32)
    upper[[0, 17, 22, 23, 24]] = 100, 10000, 1000, 1000, 20  # age, balance, duration and the like: public guesses
    return rows[:, :32], rows[:, 32].astype(int), ([0] * 32, upper.tolist())


def skin():
    rows = np.array(rows_of("skin_nonskin.csv.xz"), dtype=float)
    return rows[:, :3], (rows[:, 3] == 1).astype(int), ([0, 0, 0], [255, 255, 255])


def accuracies(X, y, bounds, epsilon):
    """[plain auto, the winner of the tries] on the held-out part."""
    order = np.random.default_rng().permutation(len(y))[:RECORDS]
    test, train = order[::4], np.setdiff1d(order, order[::4])
    base = tacit.PrivateLogisticRegression(bounds=bounds, classes=[0, 1], n_jobs=1)
    budget = {"epsilon": epsilon, "delta": DELTA}
    plain = tacit.PrivateLogisticRegression(bounds=bounds, classes=[0, 1], n_jobs=1, **budget)
    tried = tacit.PrivateSearchCV(base, GRID, **budget, selection="random", tries=MEAN)
    return [model.fit(X[train], y[train]).score(X[test], y[test]) for model in (plain, tried)]


def gain():
    print("\ntable,epsilon,auto,best_of_tries,difference,error,better")
    for epsilon in EPSILONS:
        for make in (electricity, bank, skin):
            X, y, bounds = make()
            found = np.array([accuracies(X, y, bounds, epsilon) for _ in range(RUNS)])
            difference = found[:, 1] - found[:, 0]
            mean, error = difference.mean(), difference.std(ddof=1) / math.sqrt(RUNS)
            better = "neither" if abs(mean) < 2 * error else "the search" if mean > 0 else "auto"
            plain, tried = found.mean(axis=0)
            print(f"{make.__name__},{epsilon:g},{plain:.4f},{tried:.4f},{mean:+.4f},{error:.4f},{better}", flush=True)


os.environ["TACIT_REGISTRY"] = "none"
warnings.simplefilter("ignore")
with tacit.config(repeated_fits="ok"):
    if len(sys.argv) < 4:  # with epsilons the third table alone
        price()
        missed()
    gain()
