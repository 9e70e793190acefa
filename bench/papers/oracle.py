"""oracle.py - what noisy linear models could reach if tuning were free: the yardstick of default_table.

    from oracle import FORMS, search, measure, floors

Plain numpy noise under the Gaussian mechanism's exact cost (mu): it shows utility and proves nothing about privacy.
One record added or removed, n public, as add_remove has it.

FORMS  gd          gradient descent over all records, clip and noise Euclidean
       metric      clip and noise in the metric of G = sum x x' + noise, released once: A = (h/n)(G + r I) + lambda I
                   = L L', z = L^-1 x, steps release sum clip(l' z, C) + noise; h = 1/4 logistic, 1 squared loss
       metric2     the metric is released once more, of images z cut to length rho
       quadratic   G and sum x y' released once, the minimiser of a quadratic upper bound of the loss

GRIDS  Paths (clip, length F, which share of the steps is averaged) are tried all; T = 3 sqrt(F) steps of momentum
       1 - T/F travel as far as F steps without, F below T takes steps of size F/T.  Options of a metric (the budget's
       part, ridge r, rows cut before G, and for metric2 part, ridge and rho) are changed one at a time from the best
       so far.  Then clip, length and steps are refined together around the best.  The signal d = sum l/(l + r) over
       the released eigenvalues l gives clips their unit, sqrt(d/h).

TUNING is uncharged.  It happens on random parts of the records, with noise per record as for all n: the grid on PART
       records in SCREEN draws, then the best path of the best few options, and the refinement, on FINE records in AGAIN
       draws.  A part misses rare records, which steep directions are made of: the best few are therefore tried on all
       records, in AGAIN draws of other noise, and the best of them is run with fresh noise.  These last runs are shown.

FLOOR  of a shape: the whole budget in one noisy gradient at the exact minimum, then a Newton step with the exact
       Jacobian J of the clipped gradient, shrunk towards 0 by a ridge in the shape: (J + r A)^-1 (J w - noisy
       gradient).  Expected excess to second order on FINE records, at the best clip and ridge.  Two shapes: Euclidean
       (A = I), and the exact G plus the best multiple of I.
"""

import json
import math

import numpy as np
from footing import mean_loss, minimum

FORMS = ("gd", "metric", "metric2", "quadratic")
PART, SCREEN, KEPT, FINE, AGAIN, CHECKED = 2000, 2, 5, 5000, 6, 4
CLIPS = {"gd": (0.03, 0.1, 0.2, 0.4, 0.7, 1.0), "metric": (0.2, 0.4, 0.7, 1.1, 1.8, 3.0)}
LENGTHS = {"gd": (20, 200, 2000), "metric": (6, 30, 120, 480)}
STEPS = 3.0  # T is this times sqrt(F)
NEARBY = {"clip": (0.7, 1.0, 1.4), "length": (0.5, 1.0, 2.0), "steps": (0.6, 1.0, 1.7)}  # factors of the refinement
AVERAGES = (0.0, 0.3, 0.7)  # share of the steps that is not averaged
FIRST = {"part": (0.05, 0.02, 0.15), "ridge": (1.0, 0.3, 3.0), "cut": (0.7, 0.95, 1.0)}
SECOND = {"part2": (0.05, 0.02, 0.15), "ridge2": (1.5, 0.5, 4.0), "reach2": (2.25, 0.6, 8.0)}
QUADRATIC = {
    "part": (0.3, 0.6, 0.9),
    "ridge": (0.1, 0.3, 1.0, 3.0),
    "cut": (0.7, 1.0),
    "curve": (1.0, 0.7, 0.45),
    "label": (1.0, 0.5, 0.25),
}


class Rows:
    """Records as the tuning sees them: means over these rows, noise as for n records."""

    def __init__(self, problem, rows=None):
        self.X = problem.X if rows is None else problem.X[rows]
        self.y = problem.y if rows is None else problem.y[rows]
        self.n, self.p = problem.X.shape
        self.problem, self.h, self.lam, self.squared = problem, problem.h, problem.lam, problem.squared
        self.R, self.Y = problem.R * problem.wide, problem.Y * problem.wide_label
        self.norms = np.linalg.norm(self.X, axis=1)
        self.least = self.value(minimum(self.X, self.y, self.squared, self.lam))

    def value(self, W):
        return mean_loss(self.X @ W, self.y, self.squared) + self.lam / 2 * (W * W).sum(axis=0)

    def excess(self, W):
        with np.errstate(all="ignore"):
            found = self.value(W) - self.least
        return np.where(np.isfinite(found), found, np.inf)


# ---- metrics ------------------------------------------------------------------------------------------------


def noisy_moment(Z, reach2, mu, n, rng):
    """Mean of z z' with the noise that n records of |z|^2 <= reach2 need, and the deviation of that noise."""
    p, deviation = Z.shape[1], reach2 / (mu * n)
    E = np.triu(rng.standard_normal((p, p)))
    E = (np.triu(E, 1) + np.triu(E, 1).T) / math.sqrt(2) + np.diag(np.diag(E))
    return Z.T @ Z / len(Z) + deviation * E, deviation


def cut(Z, length, reach):
    return Z * np.minimum(1, reach / np.maximum(length, 1e-300))[:, None]


def factor(M, r, h, lam, inverse):
    """L^-1 of A = h (M + r I) + lam I in the first coordinates, and d."""
    p, l = len(M), np.linalg.eigvalsh(M)
    A = h * (M + max(r, r / 16 - l[0]) * np.eye(p)) + lam * inverse @ inverse.T
    l = np.maximum(l, 0)
    return np.linalg.solve(np.linalg.cholesky(A), inverse), max((l / (l + r)).sum(), 1.0)


def metric(rows, mu, option, rng):
    """(L^-1, d, mu^2 that is left as a share).  gd: A is the greatest curvature, which is not charged."""
    p = rows.p
    if not option:
        top = rows.h * np.linalg.eigvalsh(rows.X.T @ rows.X / len(rows.X))[-1] + rows.lam
        return np.eye(p) / math.sqrt(top), rows.R**2 / (top / rows.h), 1.0
    reach = rows.R if option["cut"] >= 1 else min(rows.R, np.quantile(rows.norms, option["cut"]))
    M, deviation = noisy_moment(cut(rows.X, rows.norms, reach), reach**2, mu * math.sqrt(option["part"]), rows.n, rng)
    inverse, d = factor(M, option["ridge"] * math.sqrt(2 * p) * deviation, rows.h, rows.lam, np.eye(p))
    left = 1 - option["part"]
    if "part2" in option:
        Z = rows.X @ inverse.T
        reach2 = option["reach2"] * d / rows.h
        K = cut(Z, np.linalg.norm(Z, axis=1), math.sqrt(reach2))
        M, deviation = noisy_moment(K, reach2, mu * math.sqrt(option["part2"]), rows.n, rng)
        inverse, d = factor(M, option["ridge2"] * math.sqrt(2 * p) * deviation, rows.h, rows.lam, inverse)
        left -= option["part2"]
    return inverse, d, left


# ---- paths --------------------------------------------------------------------------------------------------


def slopes(S, y, length, C, squared):
    """l' of margins S, cut so that |l' z| <= C; S is overwritten."""
    if squared:
        S -= y[:, None]
        size = np.abs(S)
    else:
        S *= y[:, None]
        np.clip(S, -60, 60, out=S)
        np.exp(S, out=S)
        S += 1
        np.divide(-y[:, None], S, out=S)
        size = np.abs(S)
    size *= length[:, None]
    np.maximum(size, 1e-30, out=size)
    np.divide(C[None, :], size, out=size)
    np.minimum(size, 1, out=size)
    S *= size
    return S


def descend(rows, inverse, d, left, mu, paths, rng):
    """Weights [p, k, averages] of k paths (clip, F, T) of one T, in the metric that `inverse` stands for."""
    Z = (rows.X @ inverse.T).astype(np.float32)
    y, length = rows.y.astype(np.float32), np.linalg.norm(Z, axis=1)
    T, p, k = paths[0][2], Z.shape[1], len(paths)
    C = np.array([c * rows.Y * math.sqrt(d / rows.h) for c, _, _ in paths], dtype=np.float32)
    F = np.array([f for _, f, _ in paths], dtype=float)
    momentum, size = np.maximum(0, 1 - T / F), np.minimum(1, F / T)
    deviation = math.sqrt(T / left) / (mu * rows.n) * C
    penalty = rows.lam * inverse @ inverse.T
    w, u = np.zeros((p, k)), np.zeros((p, k))
    sums, counts = [np.zeros((p, k)) for _ in AVERAGES], [0] * len(AVERAGES)
    for t in range(T):
        g = Z.T @ slopes(Z @ u.astype(np.float32), y, length, C, rows.squared) / len(Z)
        v, w = w, u - size * (g + deviation * rng.standard_normal((p, k)) + penalty @ u)
        u = w + momentum * (w - v)
        for a, share in enumerate(AVERAGES):
            if t >= int(T * share):
                sums[a] += w
                counts[a] += 1
    return np.stack([inverse.T @ (s / c) for s, c in zip(sums, counts)], axis=2)


def path(clip, F, steps=STEPS):
    return (clip, F, max(1, math.ceil(steps * math.sqrt(F))))


def paths_of(form):
    kind = "gd" if form == "gd" else "metric"
    return [path(c, F) for c in CLIPS[kind] for F in LENGTHS[kind]]


def paths_near(at):
    clip, F, T = at
    steps = T / math.sqrt(F)
    return [path(clip * c, F * f, steps * s) for c in NEARBY["clip"] for f in NEARBY["length"] for s in NEARBY["steps"]]


def try_paths(rows, mu, option, paths, rng):
    """{(path, average): excess} of one draw of the metric and of the noise."""
    inverse, d, left = metric(rows, mu, option, rng)
    found = {}
    for T in sorted({path[2] for path in paths}):
        group = [path for path in paths if path[2] == T]
        with np.errstate(all="ignore"):
            W = descend(rows, inverse, d, left, mu, group, rng)
        E = rows.excess(W.reshape(len(W), -1)).reshape(len(group), len(AVERAGES))
        found.update({(path, AVERAGES[a]): E[k, a] for k, path in enumerate(group) for a in range(len(AVERAGES))})
    return found


def screened(rows, mu, option, paths, seed):
    """Mean excess of every path over SCREEN draws, the same noise for every option."""
    draws = [try_paths(rows, mu, option, paths, np.random.default_rng((seed, s))) for s in range(SCREEN)]
    return {key: float(np.mean([draw[key] for draw in draws])) for key in draws[0]}


def search_paths(rows, mu, form, seed, start):
    """The best path of the KEPT best options; metric2 starts from those of metric."""
    axes = {} if form == "gd" else FIRST if form == "metric" else SECOND if start else {**FIRST, **SECOND}
    option, paths, tried = {**start, **{axis: values[0] for axis, values in axes.items()}}, paths_of(form), []

    def run(option):
        found = screened(rows, mu, option, paths, seed)
        best_of = sorted((e, path, average) for (path, average), e in found.items())
        tried.append([(e, dict(option), path, average) for e, path, average in best_of])
        return best_of[0][0]

    best = run(option)
    for axis, values in axes.items():
        for value in values[1:]:
            other = {**option, axis: value}
            e = run(other)
            if e < best:
                best, option = e, other
    if len(tried) == 1:
        return tried[0][:KEPT]
    return sorted((found[0] for found in tried), key=lambda f: f[0])[:KEPT]


# ---- the quadratic form -------------------------------------------------------------------------------------


def quadratic(rows, mu, option, rng):
    """Weights of the minimiser of the released quadratic.  logistic: log 2 - y z/2 + curve/8 z^2."""
    reach = rows.R if option["cut"] >= 1 else min(rows.R, np.quantile(rows.norms, option["cut"]))
    X, p = cut(rows.X, rows.norms, reach), rows.p
    M, deviation = noisy_moment(X, reach**2, mu * math.sqrt(option["part"]), rows.n, rng)
    Y = rows.Y * option["label"] if rows.squared else 0.5
    b = X.T @ (np.clip(rows.y, -Y, Y) if rows.squared else rows.y / 2) / len(X)
    b = b + reach * Y / (mu * math.sqrt(1 - option["part"]) * rows.n) * rng.standard_normal(p)
    r = option["ridge"] * math.sqrt(2 * p) * deviation
    r = max(r, r / 16 - np.linalg.eigvalsh(M)[0])
    return np.linalg.solve(rows.h * option["curve"] * (M + r * np.eye(p)) + rows.lam * np.eye(p), b)


def search_quadratic(rows, mu, seed):
    axes = {**QUADRATIC, "curve": (1.0,)} if rows.squared else {**QUADRATIC, "label": (1.0,)}
    grid = [{}]
    for axis, values in axes.items():
        grid = [{**option, axis: value} for option in grid for value in values]
    found = []
    for option in grid:
        W = np.stack([quadratic(rows, mu, option, np.random.default_rng((seed, s))) for s in range(SCREEN)], axis=1)
        found.append((float(rows.excess(W).mean()), option, None, None))
    return sorted(found, key=lambda f: f[0])[:KEPT]


# ---- search and measure -------------------------------------------------------------------------------------


def weights(rows, mu, option, path, average, rng):
    if path is None:
        return quadratic(rows, mu, option, rng)
    inverse, d, left = metric(rows, mu, option, rng)
    return descend(rows, inverse, d, left, mu, [path], rng)[:, 0, AVERAGES.index(average)]


def fresh(rows, mu, found, seed):
    """A setting with its mean excess over AGAIN draws that the grid has not seen."""
    _, option, path, average = found
    W = [weights(rows, mu, option, path, average, np.random.default_rng((seed, 100 + s))) for s in range(AGAIN)]
    return float(rows.excess(np.stack(W, axis=1)).mean()), option, path, average


def refined(rows, mu, best, seed):
    """The best path near that of `best`, or `best` itself."""
    _, option, at, _ = best
    draws = [try_paths(rows, mu, option, paths_near(at), np.random.default_rng((seed, 200 + s))) for s in range(AGAIN)]
    near = [(float(np.mean([draw[key] for draw in draws])), option, *key) for key in draws[0]]
    return min([best, *near], key=lambda f: f[0])


def search(problem, mu, form, start=None, seed=1):
    """(mean excess on the tuning's rows, setting) of the best setting of a form.

    start: for metric2 the setting that was found for metric, whose options are kept; None: all are searched.
    """
    first = json.loads(start)[0] if start and form == "metric2" else {}
    order = np.random.default_rng(seed).permutation(len(problem.y))
    rows, fine = Rows(problem, order[-PART:]), Rows(problem, order[:FINE])
    kept = search_quadratic(rows, mu, seed) if form == "quadratic" else search_paths(rows, mu, form, seed, first)
    again = sorted((fresh(fine, mu, found, seed) for found in kept), key=lambda f: f[0])
    if form != "quadratic":
        again = [refined(fine, mu, again[0], seed), *again]
    every = Rows(problem)
    best = min((fresh(every, mu, found, seed + 1) for found in again[:CHECKED]), key=lambda f: f[0])
    return best[0], json.dumps(best[1:])


def measure(rows, mu, setting, seed):
    """Excess over all records of one run with fresh noise."""
    option, path, average = json.loads(setting)
    w = weights(rows, mu, option, path and tuple(path), average, np.random.default_rng((seed, 7)))
    return float(rows.excess(w))


# ---- floors -------------------------------------------------------------------------------------------------


def floors(problem, mu):
    """(Euclidean, in the best metric G + ridge), at the exact minimum over FINE records."""
    rows = np.random.default_rng(1).permutation(len(problem.y))[:FINE]
    X, y, p = problem.X[rows], problem.y[rows], problem.X.shape[1]
    w, penalty = minimum(X, y, problem.squared, problem.lam), problem.lam * np.eye(p)
    z = X @ w
    slope = z - y if problem.squared else -y / (1 + np.exp(np.clip(y * z, -700, 700)))
    slope_curve = slope, np.ones(len(y)) if problem.squared else np.abs(slope) * (1 - np.abs(slope))
    G = X.T @ X / len(y)
    shapes = [G + r * np.linalg.eigvalsh(G)[-1] * np.eye(p) for r in (1e-7, 1e-5, 1e-4, 1e-3, 1e-2, 0.1)]
    noise = 1 / (mu * len(problem.y))
    euclidean = floor(X, w, slope_curve, penalty, np.eye(p), noise)
    return euclidean, min(euclidean, *(floor(X, w, slope_curve, penalty, shape, noise) for shape in shapes))


def floor(X, w, slope_curve, penalty, shape, noise):
    """Expected excess of the shrunk Newton step, at the best clip and ridge."""
    (slope, curve), (m, p), best, L = slope_curve, X.shape, math.inf, np.linalg.cholesky(shape)
    l, V = np.linalg.eigh((X.T * curve) @ X / m + penalty)
    root = np.sqrt(np.maximum(l, 0))[:, None] * V.T
    length = np.abs(slope) * np.linalg.norm(np.linalg.solve(L, X.T), axis=0)
    for C in np.quantile(length, (0.5, 0.7, 0.85, 0.95, 1)):
        bias = X.T @ (slope * np.minimum(1, C / np.maximum(length, 1e-300))) / m + penalty @ w
        J = (X.T * np.where(length <= C, curve, 0)) @ X / m + penalty
        scale = np.trace(np.linalg.solve(shape, J)) / p
        for r in scale * np.array([1e-7, 1e-4, 1e-3, 1e-2, 0.03, 0.1, 0.3, 1, 3]):
            solved = np.linalg.solve(J + r * shape, np.column_stack([bias + r * shape @ w, L * C * noise]))
            best = min(best, np.sum((root @ solved) ** 2) / 2)
    return float(best)
