#!/usr/bin/env python3
"""fuzz_account.py - the accountants against closed forms in high precision and against another composition.

  tools/fuzz_account.py LIBRARY [--seconds S | --corners N --lists M --whole W] [--seed K]

LIBRARY is libtacit.so.  Needs numpy and mpmath.  Shares no code with src/.
Corners: one sampled step, noise 1e-2..1e2, rate 1e-12..1, delta 1e-1..1e-300, both relations; every accountant's
value must be at least the true epsilon, and the answer at most 0.1 % above it where delta >= 1e-15 and it is at
least 1e-3.  The truth is delta(epsilon) from its definition, with 60 digits and more.
Lists: mixed events, bracketed by losses rounded up and down to a grid and convolved by FFT.
Whole: events of all kinds, up to 1e6 times, delta down to 1e-100.  The answer is infinite only where failures take
all of delta, and at most the sum of the parts.  For kinds whose worst law is known, and delta >= 1e-12, it is at most
1 % above the composition here.  Prints the slowest in processor seconds, and how many of those lists have a proved
lower end within 1 %; --undecided prints the others.
"""
import argparse
import ctypes
import json
import math
import random
import sys
import time

import mpmath
import numpy as np

ADD_REMOVE, REPLACE_ONE = 0, 1


class Library:
    def __init__(self, path):
        self.lib = ctypes.CDLL(path)
        self.ask = self.lib.tct_account_json
        self.ask.restype = ctypes.c_void_p
        self.ask.argtypes = [ctypes.POINTER(ctypes.c_char_p), ctypes.c_size_t, ctypes.c_int, ctypes.c_double,
                             ctypes.c_void_p]
        self.libc = ctypes.CDLL(None)
        self.libc.free.argtypes = [ctypes.c_void_p]

    def __call__(self, events, relation, delta):
        error = ctypes.create_string_buffer(4096)
        words = (ctypes.c_char_p * len(events))(*[e.encode() for e in events])
        text = self.ask(words, len(events), relation, delta, error)
        if not text:
            raise SystemExit(f"refused: {events}, delta={delta!r}")
        answer = json.loads(ctypes.string_at(text))
        self.libc.free(text)
        return answer


# ---- one sampled step, from the definition -----------------------------------------------------------------------


def tail(x):
    return mpmath.erfc(x / mpmath.sqrt(2)) / 2


def delta_of_step(noise, rate, relation, epsilon):
    """The larger hockey-stick divergence of (P, Q) and (Q, P), in mpmath numbers of the working precision."""
    s, q, e = mpmath.mpf(noise), mpmath.mpf(rate), mpmath.exp(epsilon)
    if relation == ADD_REMOVE:
        x = s * s * mpmath.log((e - 1 + q) / q) + mpmath.mpf(1) / 2
        best = (1 - q) * tail(x / s) + q * tail((x - 1) / s) - e * tail(x / s)
        if 1 / e > 1 - q:  # the reverse: N(0) against the mixture, below the root
            x = s * s * mpmath.log((1 / e - 1 + q) / q) + mpmath.mpf(1) / 2
            other = tail(-x / s) - e * ((1 - q) * tail(-x / s) + q * tail((1 - x) / s))
            best = max(best, other)
        return best
    # (1-q) + q e^{(2x-1)/2s^2} = e ((1-q) + q e^{(-2x-1)/2s^2}): a quadratic in e^{x/s^2}
    c = q * mpmath.exp(-1 / (2 * s * s))
    b = (1 - q) * (e - 1)
    u = (b + mpmath.sqrt(b * b + 4 * c * c * e)) / (2 * c)
    x = s * s * mpmath.log(u)
    p = (1 - q) * tail(x / s) + q * tail((x - 1) / s)
    r = (1 - q) * tail(x / s) + q * tail((x + 1) / s)
    return p - e * r


def digits_for(noise, delta):
    """What cancels: the tails are of the size of delta times the loss's range."""
    return int(60 - math.log10(delta) + 0.5 / noise**2 / math.log(10) / 2 + 60)


def log_uniform(rng, low, high):
    return math.exp(rng.uniform(math.log(low), math.log(high)))


def check_corner(ask, rng, found):
    noise, rate, delta = log_uniform(rng, 1e-2, 1e2), log_uniform(rng, 1e-12, 1), log_uniform(rng, 1e-300, 1e-1)
    if rng.random() < 0.3:
        delta = log_uniform(rng, 1e-15, 1e-1)
    relation = rng.randrange(2)
    event = f"sampled_gaussian:noise={noise!r},rate={rate!r}"
    answer = ask([event], relation, delta)
    what = f"{event} delta={delta!r} {answer['neighbours']}"
    mpmath.mp.dps = digits_for(noise, delta)
    truth = lambda epsilon: delta_of_step(noise, rate, relation, mpmath.mpf(epsilon))
    if answer["epsilon_lower"] is None and answer["epsilon"] is not None:
        found.append(f"{what}: a lower end of null")
    for name, epsilon in answer["accountants"].items():
        if epsilon is not None and truth(epsilon) > delta:
            found.append(f"{what}: {name} says {epsilon!r}, which is below the truth")
    lower = answer["epsilon_lower"]
    if lower and truth(lower) < mpmath.mpf(delta) * (1 - mpmath.mpf(10) ** -9) and truth(lower * (1 - 1e-9)) < delta:
        found.append(f"{what}: the lower end {lower!r} is above the truth")
    epsilon = answer["epsilon"]
    if epsilon is None:
        found.append(f"{what}: infinite")
    elif delta >= 1e-15 and epsilon >= 1.001e-3 and truth(epsilon / 1.001) <= delta:
        found.append(f"{what}: {epsilon!r} is more than 0.1 % above the truth")
    return epsilon is not None


# ---- lists: losses rounded to a grid, convolved by FFT ------------------------------------------------------------


def normal_cdf(x):
    return 0.5 * np.vectorize(math.erfc)(-np.asarray(x, dtype=float) / math.sqrt(2))


def cdf_of(event, relation, reverse):
    """P[loss <= l] as a function, with the range that holds all of it but 1e-17."""
    kind, a = event["kind"], event
    reach = 2 if relation == REPLACE_ONE else 1
    if kind == "gaussian":
        mu = reach / a["noise"]
        return (lambda l: normal_cdf((l - mu * mu / 2) / mu)), mu * mu / 2 - 9 * mu, mu * mu / 2 + 9 * mu
    if kind in ("laplace", "pure"):
        e0 = reach / a["noise"] if kind == "laplace" else a["epsilon"]
        if kind == "pure":
            p = 1 / (1 + math.exp(-e0))
            return (lambda l: np.where(l >= e0, 1.0, np.where(l >= -e0, 1 - p, 0.0))), -e0, e0
        inside = lambda l: 0.5 * np.exp((np.clip(l, -e0, e0) - e0) / 2)
        return (lambda l: np.where(l >= e0, 1.0, np.where(l >= -e0, inside(l), 0.0))), -e0, e0
    s, q = a["noise"], a["rate"]
    if relation == ADD_REMOVE:
        loss = lambda x: np.log1p(q * np.expm1((2 * x - 1) / (2 * s * s)))

        def root(l):
            with np.errstate(divide="ignore", invalid="ignore"):
                inner = np.log((np.exp(l) - 1 + q) / q)
            return np.where(np.exp(l) > 1 - q, s * s * inner + 0.5, -np.inf)

        low, high = float(loss(-9 * s)), float(loss(1 + 9 * s))
        if reverse:
            return (lambda l: normal_cdf(-root(-l) / s)), -high, -low
        return (lambda l: (1 - q) * normal_cdf(root(l) / s) + q * normal_cdf((root(l) - 1) / s)), low, high

    def root2(l):
        e, c = np.exp(np.abs(l)), q * math.exp(-1 / (2 * s * s))
        b = (1 - q) * (e - 1)
        u = (b + np.sqrt(b * b + 4 * c * c * e)) / (2 * c)
        return np.sign(l) * s * s * np.log(u)

    edge = lambda x: math.log1p(q * math.expm1((2 * x - 1) / (2 * s * s))) - math.log1p(
        q * math.expm1((-2 * x - 1) / (2 * s * s)))
    high = edge(1 + 9 * s)
    return (lambda l: (1 - q) * normal_cdf(root2(l) / s) + q * normal_cdf((root2(l) - 1) / s)), -high, high


def rounded(part, h, up):
    """Losses on multiples of h, rounded up or down, and their masses."""
    cdf, low, high, _ = part
    grid = np.arange(math.floor(low / h) - 1, math.ceil(high / h) + 2)
    mass = np.maximum(np.diff(np.concatenate([[0.0], cdf(grid * h)])), 0)  # in (g-1, g] h
    return (grid if up else grid - 1), mass


def ends(parts, h, up, log_mass=-30.0):
    """Chernoff: the composed loss lies between these but for e^log_mass at each end."""
    low, high = -math.inf, math.inf
    points = [(g[m > 0] * h, m[m > 0], part[3]) for part in parts for g, m in [rounded(part, h, up)]]
    for t in np.geomspace(1e-2, 300, 40):
        for sign in (1, -1):
            moment = 0.0
            for loss, mass, count in points:
                peak = np.max(sign * t * loss)
                moment += count * (peak + math.log(np.sum(mass * np.exp(sign * t * loss - peak))))
            edge = (moment - log_mass) / t
            low, high = (low, min(high, edge)) if sign > 0 else (max(low, -edge), high)
    most, least = sum(p[3] * p[2] for p in parts), sum(p[3] * p[1] for p in parts)
    spare = 4 * h * sum(p[2] for p in points)  # each step is rounded by up to two points
    return max(low, least - spare), min(high, most + spare)


def one_way(events, relation, reverse, delta, up):
    """Epsilon at delta of the rounded, composed loss: an upper or lower bound, up to the FFT's noise."""
    parts = [cdf_of(e, relation, reverse) + (e["count"],) for e in events]
    size = 2**18
    h = sum(count * (high - low) for _, low, high, count in parts) / 2**14
    for _ in range(2):
        bottom, top = ends(parts, h, up)
        h = (top - bottom) / (0.95 * size)
    bottom, top = ends(parts, h, up)
    product, first = np.ones(size // 2 + 1, dtype=complex), math.floor(bottom / h)
    origin = 0
    for part in parts:
        grid, mass = rounded(part, h, up)
        full = np.bincount((grid - grid[0]) % size, weights=mass, minlength=size)
        product *= np.fft.rfft(full) ** part[3]
        origin += part[3] * int(grid[0])
    mass = np.maximum(np.roll(np.fft.irfft(product, size), origin - first), 0)
    loss = (first + np.arange(size)) * h
    keep = loss > 0
    loss, mass = loss[keep], mass[keep]
    lost = (1e-13 * sum(e["count"] for e in events) + 2e-13) * (1 if up else -1)
    low, high = 0.0, float(loss[-1]) if len(loss) else 0.0
    curve = lambda epsilon: lost + float(np.sum(mass * -np.expm1(np.minimum(epsilon - loss, 0))))
    if curve(0.0) <= delta:
        return 0.0
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if curve(middle) > delta else (low, middle)
    return high if up else low


def random_list(rng):
    events = []
    for _ in range(rng.randint(1, 4)):
        kind = rng.choice(["gaussian", "sampled_gaussian", "laplace", "pure"])
        count = int(log_uniform(rng, 1, 60))
        e = {"kind": kind, "count": count, "noise": log_uniform(rng, 0.4, 30) * count**0.4}
        if kind == "sampled_gaussian":
            e["rate"] = log_uniform(rng, 1e-3, 0.9)
        if kind == "pure":
            e["epsilon"] = log_uniform(rng, 1e-2, 2) / count**0.5
        events.append(e)
    return events


def spec(e):
    words = {"gaussian": ["noise"], "laplace": ["noise"], "pure": ["epsilon"], "sampled_gaussian": ["noise", "rate"]}
    return e["kind"] + ":" + ",".join(f"{k}={e[k]!r}" for k in words[e["kind"]]) + f",count={e['count']}"


def check_list(ask, rng, found):
    events, relation, delta = random_list(rng), rng.randrange(2), log_uniform(rng, 1e-8, 1e-2)
    answer = ask([spec(e) for e in events], relation, delta)
    ways = [False, True] if relation == ADD_REMOVE else [False]
    low = max(one_way(events, relation, way, delta, False) for way in ways)
    high = max(one_way(events, relation, way, delta, True) for way in ways)
    what = f"{' '.join(map(spec, events))} delta={delta!r} {answer['neighbours']} in [{low!r}, {high!r}]"
    epsilon, lower = answer["epsilon"], answer["epsilon_lower"]
    for name, value in answer["accountants"].items():
        if value is not None and value < low * (1 - 1e-9):
            found.append(f"{what}: {name} says {value!r}")
    if epsilon is None or epsilon > high * 1.002 + 1e-6:
        found.append(f"{what}: the answer {epsilon!r} is loose")
    if lower is None or lower > high * (1 + 1e-9) + 1e-12:
        found.append(f"{what}: the lower end is {lower!r}")


# ---- whole lists: every kind, many times ----------------------------------------------------------------------------

KEYS = {"gaussian": ["noise"], "sampled_gaussian": ["noise", "rate"], "laplace": ["noise"], "exponential": ["epsilon"],
        "pure": ["epsilon"], "approx": ["epsilon", "delta"], "zcdp": ["rho"], "objpert": ["noise", "shift"]}
PURE = ("laplace", "exponential", "pure", "approx")
KNOWN = ("gaussian", "sampled_gaussian", "laplace", "pure")  # the worst law of the kind is one law
LEAST = 1e-6  # below it epsilon counts as 0


def whole_event(rng, delta, kinds):
    kind, wild = rng.choice(kinds), rng.random() < 0.1
    count = 1 if rng.random() < 0.3 else int(log_uniform(rng, 1, 1e6))
    epsilon = log_uniform(rng, 1e-6, 1e2) if wild else log_uniform(rng, 1e-2, 3) / count**0.5
    e = {"kind": kind, "count": count, "epsilon": epsilon, "wild": wild}
    e["noise"] = log_uniform(rng, 1e-2, 1e3) if wild else log_uniform(rng, 0.4, 30) * count**0.5
    if kind == "sampled_gaussian":
        e["rate"] = log_uniform(rng, 1e-6, 1)
        e["noise"] = e["noise"] if wild else log_uniform(rng, 0.4, 8)
    if kind == "laplace" and not wild:
        e["noise"] = 1 / epsilon
    e["delta"] = min(1.0, log_uniform(rng, 1e-4, 3) * delta / count)
    e["rho"] = log_uniform(rng, 1e-8, 10) if wild else log_uniform(rng, 1e-4, 1) / count
    e["shift"] = log_uniform(rng, 1e-4, 1)
    return e


def whole_spec(e):
    return e["kind"] + ":" + ",".join(f"{k}={e[k]!r}" for k in KEYS[e["kind"]] + ["count"])


def check_whole(ask, rng, found, seen):
    delta = log_uniform(rng, 1e-100, 0.5) if rng.random() < 0.3 else log_uniform(rng, 1e-12, 0.5)
    kinds = rng.choice([list(KEYS), list(KNOWN) + ["exponential"]])
    events, relation = [whole_event(rng, delta, kinds) for _ in range(rng.randint(1, 6))], rng.randrange(2)
    began = time.process_time()
    answer = ask([whole_spec(e) for e in events], relation, delta)
    took = time.process_time() - began
    what = f"{' '.join(map(whole_spec, events))} delta={delta!r} {answer['neighbours']}"
    if took > seen["slowest"][0]:
        seen["slowest"] = (took, what)
    failing = [e for e in events if e["kind"] == "approx"]
    failure = -math.expm1(sum(e["count"] * math.log1p(-e["delta"]) if e["delta"] < 1 else -math.inf for e in failing))
    parts = [e for e in events if e["kind"] not in PURE]
    epsilon, lower = answer["epsilon"], answer["epsilon_lower"]
    if epsilon is None:
        if failure < delta * (1 - 1e-9):
            found.append(f"{what}: infinite")
        return
    reach = 2 if relation == REPLACE_ONE else 1
    total = sum(e["count"] * (reach / e["noise"] if e["kind"] == "laplace" else e["epsilon"])
                for e in events if e["kind"] in PURE)
    for e in parts:
        alone = ask([whole_spec(e)], relation, (delta - failure) / len(parts) / (1 - failure))["epsilon"]
        total += math.inf if alone is None else alone
    if failure < delta and epsilon > total * 1.003:  # each answer is one to a precision of 1e-3
        found.append(f"{what}: {epsilon!r} is more than the sum of its parts, {total!r}")
    if delta < 1e-12 or any(e["kind"] not in KNOWN or e["wild"] for e in events):
        return
    ways = [False, True] if relation == ADD_REMOVE else [False]
    if epsilon <= LEAST or epsilon <= 1.01 * lower:
        seen["within"] += 1
    elif epsilon <= 1.01 * max(one_way(events, relation, way, delta, False) for way in ways):
        seen["within"] += 1
    elif epsilon > 1.01 * max(one_way(events, relation, way, delta, True) for way in ways) + LEAST:
        found.append(f"{what}: {epsilon!r} is loose")
    else:
        seen["undecided"].append(what)


def exact_epsilon(noise, rate, relation, delta):
    mpmath.mp.dps = digits_for(noise, delta)
    low, high = mpmath.mpf(0), mpmath.mpf(1)
    if delta_of_step(noise, rate, relation, low) <= delta:
        return 0.0
    while delta_of_step(noise, rate, relation, high) > delta:
        low, high = high, 2 * high
    for _ in range(70):
        middle = (low + high) / 2
        low, high = (middle, high) if delta_of_step(noise, rate, relation, middle) > delta else (low, middle)
    return float(high)


def print_golden():
    """The rows of tests/privacy/test_golden_replace.c: noise, rate, count, delta, bracket of the true epsilon."""
    for noise in (0.5, 1.0, 3.0):
        for rate in (0.001, 0.05, 0.5):
            for count, delta in ((1, 1e-4), (1, 1e-12), (20, 1e-5), (200, 1e-6)):
                if count == 1:
                    low = high = exact_epsilon(noise, rate, REPLACE_ONE, delta)
                else:
                    event = {"kind": "sampled_gaussian", "noise": noise, "rate": rate, "count": count}
                    low, high = (one_way([event], REPLACE_ONE, False, delta, up) for up in (False, True))
                print(f"    {{{noise!r}, {rate!r}, {count}, {delta!r}, {low!r}, {high!r}}},")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("library")
    parser.add_argument("--seconds", type=float)
    parser.add_argument("--corners", type=int, default=10000)
    parser.add_argument("--lists", type=int, default=2000)
    parser.add_argument("--whole", type=int, default=1000)
    parser.add_argument("--seed", type=int)
    parser.add_argument("--undecided", action="store_true")
    parser.add_argument("--golden", action="store_true", help="print the rows of test_golden_replace.c and end")
    args = parser.parse_args()
    if args.golden:
        print_golden()
        return 0
    seed = args.seed if args.seed is not None else random.randrange(2**31)
    rng, ask, found, began = random.Random(seed), Library(args.library), [], time.monotonic()
    seen = {"slowest": (0.0, ""), "within": 0, "undecided": []}
    checks = [(check_corner, args.corners, ()), (check_list, args.lists, ()), (check_whole, args.whole, (seen,))]
    asked = [0, 0, 0]
    while len(found) < 20 and not (args.seconds is not None and time.monotonic() - began > args.seconds):
        due = [k for k in range(3) if asked[k] < checks[k][1]]
        if not due:
            break
        k = min(due, key=lambda k: asked[k] / checks[k][1])  # all end together
        check, _, more = checks[k]
        check(ask, rng, found, *more)
        asked[k] += 1
    for line in found:
        print(line)
    if asked[2]:
        print("slowest: {:.2f} s, {}".format(*seen["slowest"]))
        print(f"within 1 %: {seen['within']}, undecided: {len(seen['undecided'])}")
    for line in seen["undecided"] if args.undecided else []:
        print("undecided:", line)
    print(f"fuzz_account: seed {seed}, {asked[0]} single steps, {asked[1]} lists, {asked[2]} whole, {len(found)} findings")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
