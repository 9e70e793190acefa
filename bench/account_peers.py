"""account_peers.py - our accountant as a whole process beside dp_accounting in a warm interpreter.

    python -m venv peers && peers/bin/pip install dp-accounting
    peers/bin/python bench/account_peers.py build/release/tacit [REPEATS]

Prints one JSON line per query: milliseconds of both, their ratio, and what both found.  Ours is timed from
the start of the process to its end; theirs is the call alone, after one call to warm up.
"""

import json
import statistics
import subprocess
import sys
import time

import dp_accounting
from dp_accounting import mechanism_calibration
from dp_accounting.pld import PLDAccountant

# rate, noise (None: calibrate for epsilon 1), count, delta
QUERIES = [
    (1.0, 4.0, 100, 1e-5),
    (0.01, 1.0, 1000, 1e-5),
    (0.01, 1.0, 10000, 1e-5),
    (0.001, 0.8, 10000, 1e-6),
    (0.1, 4.0, 1000, 1e-5),
    (0.5, 4.0, 100, 1e-5),
    (0.01, None, 1000, 1e-5),
    (0.1, None, 100, 1e-5),
    (1.0, None, 100, 1e-5),
]


def event(rate, noise, count):
    step = dp_accounting.GaussianDpEvent(noise)
    if rate < 1:
        step = dp_accounting.PoissonSampledDpEvent(rate, step)
    return dp_accounting.SelfComposedDpEvent(step, count)


def theirs(rate, noise, count, delta):
    if noise is not None:
        return PLDAccountant().compose(event(rate, noise, count)).get_epsilon(delta)
    return mechanism_calibration.calibrate_dp_mechanism(
        PLDAccountant,
        lambda value: event(rate, value, count),
        1.0,
        delta,
        mechanism_calibration.ExplicitBracketInterval(0.1, 100.0),
        tol=1e-6,
    )


def ours(program, rate, noise, count, delta):
    noise_text = "?" if noise is None else repr(noise)
    spec = f"gaussian:noise={noise_text},count={count}"
    if rate < 1:
        spec = f"sampled_gaussian:noise={noise_text},rate={rate!r},count={count}"
    command = [program, "account", spec, "--delta", repr(delta), "--json"]
    if noise is None:
        command += ["--epsilon", "1"]
    answer = json.loads(subprocess.run(command, check=True, capture_output=True).stdout)
    return answer["noise" if noise is None else "epsilon"]


def median_ms(call, repeats):
    times = []
    for _ in range(repeats):
        start = time.perf_counter()
        value = call()
        times.append(1e3 * (time.perf_counter() - start))
    return statistics.median(times), value


def main():
    program = sys.argv[1]
    repeats = int(sys.argv[2]) if len(sys.argv) > 2 else 3
    theirs(0.1, 4.0, 10, 1e-5)  # warm up
    failed = False
    for query in QUERIES:
        our_ms, our_value = median_ms(lambda: ours(program, *query), max(repeats, 5))
        their_ms, their_value = median_ms(lambda: theirs(*query), repeats)
        calibration = query[1] is None
        # Noise multipliers: never above, to the seventh digit, beyond which theirs is not resolved.  A plain
        # epsilon is asked for at a relative precision of 1e-3.
        near = our_value <= their_value * (1 + (1e-6 if calibration else 1e-3))
        ok = near and their_ms >= (100 if calibration else 50) * our_ms
        failed |= not ok
        row = dict(zip(("rate", "noise", "count", "delta"), query))
        row.update(
            query="calibrate" if calibration else "epsilon",
            tacit_ms=round(our_ms, 3),
            dp_accounting_ms=round(their_ms, 3),
            ratio=round(their_ms / our_ms, 1),
            tacit=our_value,
            dp_accounting=their_value,
            ok=ok,
        )
        print(json.dumps(row), flush=True)
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
