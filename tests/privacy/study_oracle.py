#!/usr/bin/env python3
"""study_oracle.py - exact laws of small studies, held below every bound that the library gives (docs/proofs/study.md).

usage: study_oracle.py libtacit_open.so [--short]

Everything here is discrete: a law is an array of probabilities, and a Gaussian release is one on a grid, which is what
follows from it by rounding.  So each figure is a true lower bound of what a mechanism of the library shows, and no
quadrature stands between it and the bound.  It shares no code with the library.
"""
import ctypes
import math
import sys

try:
    import numpy as np
except ImportError:
    print("skipped: no numpy")
    sys.exit(77)

SHORT = "--short" in sys.argv
failed = []


def check(name, holds, *figures):
    print(("ok    " if holds else "FAIL  ") + name.ljust(66), *(f"{f:.4g}" for f in figures))
    if not holds:
        failed.append(name)


# ---- the library ---------------------------------------------------------------------------------------------------


class Event(ctypes.Structure):
    _fields_ = [("kind", ctypes.c_int)] + [(k, ctypes.c_double) for k in "noise rate epsilon delta rho shift".split()] + [("count", ctypes.c_int64)]


class Events(ctypes.Structure):
    _fields_ = [("at", ctypes.POINTER(Event)), ("len", ctypes.c_int64), ("cap", ctypes.c_int64)]


class Cost(ctypes.Structure):
    _fields_ = [("epsilon", ctypes.c_double), ("lower", ctypes.c_double), ("delta", ctypes.c_double), ("winner", ctypes.c_void_p)]


class Spend(ctypes.Structure):
    _fields_ = [("mu2", ctypes.c_double), ("epsilon", ctypes.c_double), ("delta", ctypes.c_double)]


class Tries(ctypes.Structure):
    _fields_ = [("fit", ctypes.POINTER(Events)), ("count", ctypes.c_size_t), ("score", ctypes.c_double), ("mean", ctypes.c_int64), ("apart", ctypes.c_bool)]


class Mixed(ctypes.Structure):
    _fields_ = [
        ("epsilon", ctypes.c_double), ("delta", ctypes.c_double), ("mu2", ctypes.c_double),
        ("epsilon_spent", ctypes.c_longdouble), ("delta_spent", ctypes.c_longdouble), ("begun", ctypes.c_bool),
        ("step_mu2", ctypes.c_double * 4), ("step_epsilon", ctypes.c_longdouble * 4),
        ("delta_most", ctypes.c_longdouble), ("share", ctypes.c_double),
    ]  # fmt: skip


lib = ctypes.CDLL([a for a in sys.argv[1:] if a != "--short"][0])
lib.tct_selection_epsilon.argtypes = [ctypes.POINTER(Events), ctypes.c_size_t, ctypes.c_int, ctypes.c_int64, ctypes.c_double, ctypes.c_void_p, ctypes.c_void_p]
lib.tct_tries_epsilon.argtypes = [ctypes.POINTER(Tries), ctypes.c_int, ctypes.c_double, ctypes.c_void_p, ctypes.c_void_p]
lib.tct_account_epsilon.argtypes = [ctypes.POINTER(Events), ctypes.c_int, ctypes.c_double, ctypes.c_double, ctypes.c_void_p, ctypes.c_void_p]
lib.tct_mixed_init.argtypes = [ctypes.POINTER(Mixed), ctypes.c_double, ctypes.c_double]
lib.tct_mixed_spend.argtypes = [ctypes.POINTER(Mixed), ctypes.POINTER(Spend * 3)]
lib.tct_mixed_init.restype = None


def gaussian(mu):
    """The list of one Gaussian event of this mu, for add_remove."""
    event = (Event * 1)(Event(0, 1 / mu, 0, 0, 0, 0, 0, 1))
    return Events(event, 1, 1)


def price(events, delta):
    cost = Cost()
    assert lib.tct_account_epsilon(ctypes.byref(events), 0, delta, 1e-4, ctypes.byref(cost), None) == 0
    return cost.epsilon


def selection(mu, mean, delta):
    out = ctypes.c_double()
    assert lib.tct_selection_epsilon(ctypes.byref(gaussian(mu)), 1, 0, mean, delta, ctypes.byref(out), None) == 0
    return out.value


def search(fit, score, mean, delta, apart):
    """What tries cost whose fit has this mu, and whose score has that."""
    out, tries = ctypes.c_double(), Tries(ctypes.pointer(gaussian(fit)), 1, 1 / score, mean, apart)
    assert lib.tct_tries_epsilon(ctypes.byref(tries), 0, delta, ctypes.byref(out), None) == 0
    return out.value


# ---- laws ----------------------------------------------------------------------------------------------------------


def normal(x):
    return 0.5 * np.vectorize(math.erfc)(-np.asarray(x, dtype=float) / math.sqrt(2))


def cells(edges, mean):
    """Chances of the cells between edges, and of both tails, without loss in the upper tail."""
    e = np.asarray(edges) - mean
    lower, upper = normal(e), normal(-e)
    inner = np.where(e[:-1] > 0, upper[:-1] - upper[1:], lower[1:] - lower[:-1])
    return np.concatenate([[lower[0]], inner, [upper[-1]]])


def divergence(p, q, epsilon):
    return max(np.maximum(p - math.exp(epsilon) * q, 0).sum(), np.maximum(q - math.exp(epsilon) * p, 0).sum())


def epsilon_of(p, q, delta):
    low, high = 0.0, 50.0
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (low, middle) if divergence(p, q, middle) <= delta else (middle, high)
    return low


def best(law, f):
    """The law of the best of K tries; law[score, rest] ascending in the score, ties by a coin, f(z) = E z^K."""
    level = law.sum(axis=1)
    above = np.cumsum(level[::-1])[::-1]  # chance of this level or a better one: exact where it is small
    beyond = np.concatenate([above[1:], [0.0]])
    won = f(beyond) - f(above)
    return law * np.where(level > 0, won / np.where(level > 0, level, 1), 0)[:, None]


def geometric(mean):
    g = 1 / mean
    return lambda tail: g * (1 - tail) / (g + (1 - g) * tail)  # E (1 - tail)^K


def exactly(number):
    return lambda tail: (1 - tail) ** number


def trial(train, held, slope, mu=0.3, width=0.05, reach=7.0, model=None):
    """law[score, model]: the model is a cell of N(train mu, 1), the score N(slope(model) + held mu, 1).  train, held: 1 or
    0 for a mu of that part, or how many times mu it has."""
    edges = np.arange(-reach, reach + width / 2, width)
    rough = np.arange(-reach, reach + 0.05, 0.1) if model is None else model
    models = cells(rough, train * mu)
    middles = np.concatenate([[rough[0]], (rough[:-1] + rough[1:]) / 2, [rough[-1]]])
    shift = slope(middles)
    where = np.arange(edges[0] + min(shift.min(), 0), edges[-1] + max(shift.max(), 0) + width, width)
    return np.stack([models[k] * cells(where, shift[k] + held * mu) for k in range(len(models))], axis=1)


def tries(train, held, slope, f, delta=1e-5, **how):
    return epsilon_of(best(trial(train, held, slope, **how), f).ravel(), best(trial(0, 0, slope, **how), f).ravel(), delta)


def of_tries():
    f, delta = geometric(10), 1e-5
    bound, both = selection(0.3, 10, delta), selection(0.3 * math.sqrt(2), 10, delta)
    flat = tries(0, 1, lambda y: 0 * y, f)
    level = tries(1, 0, lambda y: y, f)
    check("ten tries: a held-out record, all models alike", flat <= bound, flat, bound)
    check("ten tries: a training record, the score is the model with noise", level <= bound, level, bound)
    joint = tries(1, 1, lambda y: y, f)
    check("rows in both parts cost more than either part's bound", bound < joint <= both, joint, both)
    # Parts that cost differently: each below the price of both, which is the dearer one's.
    for fit, score in ((0.5, 0.2), (0.2, 0.5)):
        claim, mine = search(fit, score, 10, delta, True), {}
        for name, part in (("training", (fit / 0.3, 0)), ("held-out", (0, score / 0.3))):
            mine[name] = max(tries(*part, slope, f) for slope in (lambda y: 0 * y, lambda y: y, lambda y: 20 * y, lambda y: np.where(y < -1, 30.0, y)))
            check(f"fits of mu {fit}, scores of {score}: a {name} record", mine[name] <= claim, mine[name], claim)
        check("the price is the dearer part's", claim == selection(max(fit, score), 10, delta), claim)
        check("and the cheaper one alone would not hold", max(mine.values()) > selection(min(fit, score), 10, delta), max(mine.values()))
        joint = tries(fit / 0.3, score / 0.3, lambda y: y, f)
        check("rows in both parts cost no more than one list", joint <= search(fit, score, 10, delta, False), joint)
    # The split is drawn: a mixture of both parts costs no more than either.
    p = [best(trial(*part, lambda y: y), f) for part in ((1, 0), (0, 1))]
    q = best(trial(0, 0, lambda y: y), f)
    size = max(len(each) for each in (*p, q))
    p, q = [np.pad(each, ((0, size - len(each)), (0, 0))) for each in p], np.pad(q, ((0, size - len(q)), (0, 0)))
    mixed = epsilon_of((0.8 * p[0] + 0.2 * p[1]).ravel(), q.ravel(), delta)
    check("a record whose part is drawn", mixed <= max(level, tries(0, 1, lambda y: y, f)) <= bound, mixed, bound)
    fixed = tries(0, 1, lambda y: 0 * y, exactly(10))
    check("a fixed number of tries costs more than the bound", fixed > bound, fixed, bound)
    rng, worst = np.random.default_rng(35), {"train": 0.0, "held": 0.0}
    rough = np.linspace(-5, 5, 21)
    for k in range(6 if SHORT else 300):
        # Any function of the model: steps, rising, falling or at random, with scores near or far apart.
        steps = np.cumsum(rng.choice([0, 1, rng.normal()], size=len(rough) + 1) * rng.exponential() * rng.choice([-1, 0.2, 1, 5]))
        slope = (lambda s: lambda y: s)(np.clip(steps - steps.mean(), -40, 40))
        for part in worst:
            own = tries(part == "train", part == "held", slope, f, model=rough, width=0.1)
            worst[part] = max(worst[part], own)
    check("any dependence of the score on the model: training record", worst["train"] <= bound, worst["train"], bound)
    check("any dependence of the score on the model: held-out record", worst["held"] <= bound, worst["held"], bound)
    # Without noise in the score the order of the models is all.  Low ones first, then the highest: they are moved most.
    edges, most = np.arange(-8, 8.01, 0.02), 0.0
    moved, plain = cells(edges, 0.3), cells(edges, 0)
    for cut in np.arange(-2, 0, 0.5 if SHORT else 0.05):
        order = np.argsort(np.concatenate([[-9], edges]) < cut, kind="stable")
        own = [best(law[order][:, None], f).ravel() for law in (moved, plain)]
        most = max(most, epsilon_of(*own, delta))
    check("a training record, models below a cut first", flat < most <= bound, most, bound)
    check("no random dependence costs more than these two", max(worst.values()) <= most, worst["train"], worst["held"], most)
    for mean in (1, 2, 64) if SHORT else (1, 2, 5, 64, 1000):
        for mu in (0.05, 0.3, 1.5):
            own = epsilon_of(best(cells(np.arange(-9, 9.01, 0.02), mu)[:, None], geometric(mean)).ravel(), best(cells(np.arange(-9, 9.01, 0.02), 0)[:, None], geometric(mean)).ravel(), delta)
            check(f"{mean} tries on average at mu {mu}", own <= selection(mu, mean, delta), own, selection(mu, mean, delta))


# ---- games: the mechanism is chosen after each output -----------------------------------------------------------------


class Game:
    """The largest E (1 - exp(epsilon - x))+ that a player reaches, x the log likelihood ratio, under the true law.

    x lies on a grid.  Each move of the player is a law of steps of x whose likelihood ratio is exactly exp(step), so a
    game is one of true mechanisms, and its value is reached by one."""

    def __init__(self, epsilon, unit, step=0.01, reach=4.0):
        self.x = np.arange(-reach, reach + step / 2, step)
        self.stop = np.maximum(0, 1 - np.exp(epsilon - self.x))
        # A Gaussian of mu^2 = unit, in bins of its log ratio.
        n, mu = int(8 * math.sqrt(unit) / step), math.sqrt(unit)
        edges = (np.arange(-n, n + 1) + 0.5) * step / mu
        p, q = cells(edges, mu / 2), cells(edges, -mu / 2)
        self.matrix = self.moves(np.log(p / q), p)

    def moves(self, steps, chances):
        """matrix[x, x']: to the grid point below, and what falls off its lower end is dropped.  A value rises with x, so
        that both only lose."""
        step, size = self.x[1] - self.x[0], len(self.x)
        out = np.zeros((size, size))
        for s, c in zip(steps, chances):
            at = np.minimum(np.arange(size) + math.floor(s / step + 1e-9), size - 1)
            out[np.arange(size)[at >= 0], at[at >= 0]] += c
        return out

    def pure(self, epsilon):
        p = math.exp(epsilon) / (1 + math.exp(epsilon))
        return self.moves([epsilon, -epsilon], [p, 1 - p])


def delta_gaussian(mu, epsilon):
    return float(normal(-epsilon / mu + mu / 2) - math.exp(epsilon) * normal(-epsilon / mu - mu / 2))


def of_reserves():
    """Gaussian steps of any size, chosen by the past, within sum mu^2 <= b: never above the one Gaussian of sqrt(b)."""
    for epsilon, units, unit in ((0.5, 8, 0.02), (1.0, 6, 0.05), (2.0, 4, 0.3)):
        reach = 4 + 4 * math.sqrt(units * unit)
        games = [Game(epsilon, unit * k, reach=reach) for k in range(1, units + 1)]
        value = [games[0].stop]
        for left in range(1, units + 1):
            value.append(np.max([value[-1]] + [games[k - 1].matrix @ value[left - k] for k in range(1, left + 1)], axis=0))
        own, bound = float(np.interp(0, games[0].x, value[-1])), delta_gaussian(math.sqrt(units * unit), epsilon)
        check(f"a reserve of mu^2 = {units * unit:.2g} at epsilon {epsilon}", 0.8 * bound < own <= bound, own, bound)
        check("the same by the accountants", epsilon <= price(gaussian(math.sqrt(units * unit)), own), epsilon)


def of_filters():
    """Runs chosen by earlier results on one ledger: Gaussian, pure, and approximate, in any order."""
    for epsilon, delta in ((1.0, 0.01),) if SHORT else ((1.0, 0.01), (0.5, 0.003), (1.5, 0.05)):
        full = max(m for m in np.linspace(0.05, 3, 3000) if delta_gaussian(m, epsilon) <= delta) ** 2
        unit, pure, approx = full / 8, epsilon / 8, delta / 6
        game = Game(epsilon, unit)
        moves = {"g": (game.matrix, Spend(unit, 0, 0)), "p": (game.pure(pure), Spend(0, pure, 0)), "a": (None, Spend(0, 0, approx))}

        def value_of(first, after):
            known = {}

            def value(state, key):
                if key not in known:
                    options = [game.stop]
                    for name, (matrix, spend) in moves.items():
                        then = after(state, name, spend)
                        if then is None:
                            continue
                        rest = value(*then)
                        options.append(approx + (1 - approx) * rest if matrix is None else matrix @ rest)
                    known[key] = np.max(options, axis=0)
                return known[key]

            return float(np.interp(0, game.x, value(*first)))

        def ledger(state, name, spend):
            own = Mixed.from_buffer_copy(state)
            if lib.tct_mixed_spend(ctypes.byref(own), ctypes.byref((Spend * 3)(spend, spend, spend))) != 0:
                return None
            key = (own.mu2, float(own.epsilon_spent), float(own.delta_spent), float(own.delta_most), tuple(own.step_mu2))
            return bytes(own), key

        def priced(state, name, spend):
            """What costs at most epsilon at delta as a list fixed in advance: the region without shares."""
            b, e, d = state[0] + (name == "g"), state[1] + (name == "p"), state[2] + (name == "a")
            rest = epsilon - e * pure
            if rest < -1e-9 or d * approx > delta * (1 + 1e-9):
                return None
            if b and (rest <= 0 or delta_gaussian(math.sqrt(b * unit), rest) + d * approx > delta):
                return None
            return (b, e, d), (b, e, d)

        new = Mixed()
        lib.tct_mixed_init(ctypes.byref(new), epsilon, delta)
        own, free = value_of((bytes(new), None), ledger), value_of(((0, 0, 0), (0, 0, 0)), priced)
        check(f"a ledger of ({epsilon}, {delta}), chosen by earlier results", 0.5 * delta < own <= delta, own, delta)
        check("the same by the price of the list so far is not within it", free > 1.1 * delta, free, delta)


def of_regions():
    """Gaussian and pure runs in the region that the first Gaussian run fixes, without failures: the most that its steps
    show together is their shares of delta, and a step that is too wide shows more."""
    units, pieces = (8, 8) if SHORT else (16, 12)
    for epsilon, delta in ((1.0, 0.01),) if SHORT else ((1.0, 0.01), (0.5, 0.003), (3.0, 1e-3)):
        f, tiny = Mixed(), Spend(1e-12, 0, 0)
        lib.tct_mixed_init(ctypes.byref(f), epsilon, delta)
        lib.tct_mixed_spend(ctypes.byref(f), ctypes.byref((Spend * 3)(tiny, tiny, tiny)))
        steps = [(b, float(t)) for b, t in zip(f.step_mu2, f.step_epsilon)]
        shares = sum(delta_gaussian(math.sqrt(b), epsilon - t) for b, t in steps)
        wide = max(m for m in np.linspace(0.05, 5, 5000) if delta_gaussian(m, epsilon) <= 2 * shares) ** 2

        def shown(steps):
            unit, piece = max(b for b, _ in steps) / units, epsilon / pieces
            games = [Game(epsilon, unit * k, step=0.005 if SHORT else 0.0025, reach=2 + 2 * epsilon) for k in range(1, units + 1)]
            fits = lambda a, e: any(a * unit <= b * (1 + 1e-9) and e * piece <= t + 1e-9 for b, t in steps)  # noqa: E731
            pure, known = games[0].pure(piece), {}
            for a in range(units, -1, -1):
                for e in range(pieces, -1, -1):
                    if fits(a, e):
                        moves = [games[0].stop] + [games[k - 1].matrix @ known[a + k, e] for k in range(1, units - a + 1) if (a + k, e) in known]
                        known[a, e] = np.max(moves + ([pure @ known[a, e + 1]] if (a, e + 1) in known else []), axis=0)
            return float(np.interp(0, games[0].x, known[0, 0]))

        own, wrong = shown(steps), shown([(wide, 0.0)] + steps[1:])
        check(f"the region of a ledger of ({epsilon}, {delta})", 0.6 * shares < own <= shares, own, shares)
        check("a step of twice the shares is seen", wrong > shares, wrong, shares)


# ---- parts -----------------------------------------------------------------------------------------------------------


def of_parts():
    """Stages of two parts that look at each other's outputs: random laws, the record in one of them."""
    rng, worst = np.random.default_rng(7), 0.0
    for _ in range(50 if SHORT else 2000):
        sizes, eps = rng.integers(2, 5, size=4), rng.uniform(0.05, 1, size=4)
        laws = {}
        for which in (0, 1):  # the part of the record
            p, q = np.ones(1), np.ones(1)
            for stage in range(4):
                reads = stage % 2 == which
                base = rng.dirichlet(np.ones(sizes[stage]), size=len(p))  # another law for every past
                move = np.exp(eps[stage] * rng.uniform(-0.5, 0.5, size=base.shape)) if reads else np.ones(base.shape)
                moved = base * move
                moved /= moved.sum(axis=1, keepdims=True)
                p, q = (p[:, None] * moved).ravel(), (q[:, None] * base).ravel()
            laws[which] = (p, q)
        for which in (0, 1):
            own = eps[which] + eps[which + 2]
            worst = max(worst, epsilon_of(*laws[which], 0.0) / own)
    check("parts that look at each other's outputs cost what one part does", worst <= 1 + 1e-9, worst)


def of_persons():
    """Rows in both parts: both lists in one, not the larger."""
    mu = 0.5
    law = np.outer(cells(np.arange(-8, 8.01, 0.1), mu), cells(np.arange(-8, 8.01, 0.1), mu)).ravel()
    plain = np.outer(cells(np.arange(-8, 8.01, 0.1), 0), cells(np.arange(-8, 8.01, 0.1), 0)).ravel()
    own, one, two = epsilon_of(law, plain, 1e-5), price(gaussian(mu), 1e-5), price(gaussian(mu * math.sqrt(2)), 1e-5)
    check("a person in both parts costs more than either", one < own <= two, own, one, two)


for part in (of_tries, of_reserves, of_filters, of_regions, of_parts, of_persons):
    part()
sys.exit(1 if failed else 0)
