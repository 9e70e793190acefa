"""footing.py - one footing for benches in Python: data sets under public bounds, the objective, its exact minimum, mu.

Tables come from bench_tables.  Two kinds of bounds for the columns:

  public   a schema's, or what is known of such columns without these records: of 0/1 tables nothing else is needed; for
           bank, covtype, skin and electricity the bounds are below.  Values are clipped to them.
  min-max  the least and the greatest value of each column in the table itself, which nobody here accounts for.

Every column is scaled to [0, 1] and a column of ones is appended (synthetic: neither; its rows have norm 1).  Rows are
cut to R, the square root of the number of attributes plus one.  Real labels are clipped to their public range and
shifted by its middle; Y is half of it.  Penalty: none for classes, lambda = 1e-4 for the squared loss.
"""

import json
import math
import os
import subprocess
from dataclasses import dataclass

import numpy as np

USED = ("ipums-br", "bank", "a9a", "electricity", "california")
LOOKED_AT = ("phishing", "mushrooms", "covtype", "skin", "diabetes130", "adult-raw")
NO_PUBLIC = ("ipums-br",)  # its columns have no code book

# Columns of bank: age in years, 17 columns of 0/1, balance in euros, 4 of 0/1, 30 * month + day, seconds of the call,
# contacts, called before or not, days since the last contact, earlier contacts, 2 of 0/1.
BANK = {0: (17, 100), 18: (-10000, 100000), 23: (30, 391), 24: (0, 3600), 25: (1, 64), 27: (0, 1000), 28: (0, 64)}
# Columns of covtype: metres above the sea in Colorado, degrees, degrees, four distances in metres, three shades.
COVTYPE = {0: (1500, 4400), 1: (0, 360), 2: (0, 90), 3: (0, 2000), 4: (-500, 1000), 5: (0, 10000), 6: (0, 255),
           7: (0, 255), 8: (0, 255), 9: (0, 10000)}  # fmt: skip
PHISHING = {j: (0, 0.18257) for j in range(68)}  # 0/1, divided by the root of 30 in the file
PUBLIC = {
    "phishing": PHISHING,
    "bank": BANK,
    "covtype": COVTYPE,
    "skin": {0: (0, 255), 1: (0, 255), 2: (0, 255)},
    "electricity": {1: (1, 7)},
}

LAMBDA = 1e-4


@dataclass
class Problem:
    name: str
    bounds: str
    X: np.ndarray
    y: np.ndarray
    R: float
    Y: float  # 1 for classes
    squared: bool
    lam: float
    low: float
    high: float
    rows_of: int

    @property
    def group(self):
        return "used" if self.name in USED else "looked at" if self.name in LOOKED_AT else "untouched"

    @property
    def h(self):
        return 1.0 if self.squared else 0.25


def tables(programs, folder, names, rows):
    """Runs bench_tables for the sets that the folder lacks at this number of rows; {name: its public facts}."""
    folder.mkdir(parents=True, exist_ok=True)
    facts = {}
    for name in names:
        note = folder / f"{name}.{rows}.json"
        if not note.exists():
            command = [str(programs / "bench" / "bench_tables"), str(folder), str(rows), name]
            note.write_text(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
        if note.read_text():
            facts[name] = json.loads(note.read_text())
    return facts


def scaled(raw, name, bounds):
    low, high = np.zeros(raw.shape[1]), np.ones(raw.shape[1])
    for j, (a, b) in PUBLIC.get(name, {}).items():
        low[j], high[j] = a, b
    if bounds == "min-max":
        low, high = raw.min(axis=0), raw.max(axis=0)
    return (np.clip(raw, low, high) - low) / np.where(high > low, high - low, 1)


def load(folder, fact, bounds):
    """The problem, or None where these bounds do not exist or say nothing new."""
    name = fact["name"]
    if bounds == "public" and name in NO_PUBLIC:
        return None
    table = np.load(folder / f"{name}.npy")
    raw, y = table[:, :-1], table[:, -1].copy()
    real = fact["low"] < fact["high"]
    if fact["attributes"] == 0:
        X, R = raw / np.linalg.norm(raw, axis=1, keepdims=True), 1.0
        if bounds == "min-max":
            return None
    else:
        X = scaled(raw, name, bounds)
        if bounds == "min-max" and name not in NO_PUBLIC and np.array_equal(X, scaled(raw, name, "public")):
            return None
        X, R = np.hstack([X, np.ones((len(X), 1))]), math.sqrt(fact["attributes"] + 1)
        X *= np.minimum(1, R / np.linalg.norm(X, axis=1, keepdims=True))
    low, high = (fact["low"], fact["high"]) if real else (-1, 1)
    if real:
        y = np.clip(y, low, high) - (low + high) / 2
    Y = (high - low) / 2 if real else 1.0
    return Problem(name, bounds, X, y, R, Y, real, LAMBDA if real else 0.0, low, high, fact["of"])


def mean_loss(Z, y, squared):
    """Mean loss of margins [n] or [n, k]."""
    y = y.reshape(-1, *[1] * (Z.ndim - 1))
    return ((Z - y) ** 2 / 2 if squared else np.logaddexp(0, -y * Z)).mean(axis=0)


def objective(problem, W):
    """Mean loss plus penalty of weights [p] or [p, k] over all records."""
    return mean_loss(problem.X @ W, problem.y, problem.squared) + problem.lam / 2 * (W * W).sum(axis=0)


def minimum(X, y, squared, lam):
    """Exact minimiser by damped Newton steps.  Classes that can be parted get a ridge of 1e-9, so that there is one."""
    n, p = X.shape
    if squared:
        return np.linalg.solve(X.T @ X / n + (lam + 1e-12) * np.eye(p), X.T @ y / n)
    ridge, w = max(lam, 1e-9), np.zeros(p)
    value = lambda w: mean_loss(X @ w, y, False) + ridge / 2 * w @ w
    for _ in range(100):
        s = 1 / (1 + np.exp(np.clip(y * (X @ w), -700, 700)))
        g = -(X.T @ (y * s)) / n + ridge * w
        d = np.linalg.solve((X.T * (s * (1 - s))) @ X / n + (ridge + 1e-12) * np.eye(p), g)
        t = 1.0
        while value(w - t * d) > value(w) - 1e-4 * t * (g @ d) and t > 1e-9:
            t /= 2
        w = w - t * d
        if g @ d < 1e-13:
            break
    return w


def best_constant(problem):
    """Mean loss of the best constant prediction, which no model should be worse than."""
    if problem.squared:
        return float(np.var(problem.y) / 2)
    share = float(np.mean(problem.y > 0))
    return -sum(s * math.log(s) for s in (share, 1 - share) if s > 0)


def tail(x):
    return math.erfc(x / math.sqrt(2)) / 2


def mu_of(epsilon, delta):
    """The Gaussian mechanism's mu = sensitivity/deviation that costs exactly (epsilon, delta) (Balle and Wang 2018)."""
    low, high = 0.0, 50.0
    for _ in range(200):
        mu = (low + high) / 2
        cost = tail(epsilon / mu - mu / 2) - math.exp(epsilon) * tail(epsilon / mu + mu / 2)
        low, high = (mu, high) if cost < delta else (low, mu)
    return low


def environment():
    """One thread in BLAS: processor time is what is counted."""
    os.environ.update(OPENBLAS_NUM_THREADS="1", OMP_NUM_THREADS="1", MKL_NUM_THREADS="1")
