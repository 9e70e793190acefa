"""account_peers.py - our accountant as a whole process beside dp_accounting in a warm interpreter.

    python -m venv peers && peers/bin/pip install dp-accounting
    peers/bin/python bench/peers/account_peers.py build/release/tacit [REPEATS]

Prints one JSON line per query: milliseconds of both, their ratio, and what both found.  Ours is timed from
the start of the process to its end; theirs is the call alone, after one call to warm up.  Beside the times on
the clock stand those of the processor (user and system, children included), which other work on the
machine disturbs less; a row is ok by them.
"""

import json
import resource
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


def cpu_seconds(who):
    used = resource.getrusage(who)
    return used.ru_utime + used.ru_stime


def median_ms(call, repeats, who):
    """Medians of the milliseconds on the clock and of the processor, and the last value."""
    wall, cpu = [], []
    for _ in range(repeats):
        start, cpu_start = time.perf_counter(), cpu_seconds(who)
        value = call()
        wall.append(1e3 * (time.perf_counter() - start))
        cpu.append(1e3 * (cpu_seconds(who) - cpu_start))
    return statistics.median(wall), statistics.median(cpu), value


def main():
    program = sys.argv[1]
    repeats = int(sys.argv[2]) if len(sys.argv) > 2 else 3
    theirs(0.1, 4.0, 10, 1e-5)  # warm up
    failed = False
    for query in QUERIES:
        our_ms, our_cpu, our_value = median_ms(lambda: ours(program, *query), max(repeats, 9), resource.RUSAGE_CHILDREN)
        their_ms, their_cpu, their_value = median_ms(lambda: theirs(*query), repeats, resource.RUSAGE_SELF)
        calibration = query[1] is None
        # Noise multipliers: never above.  A plain epsilon is asked for at a relative precision of 1e-3.
        near = our_value <= their_value * (1 if calibration else 1 + 1e-3)
        ok = near and their_cpu >= (100 if calibration else 50) * our_cpu
        failed |= not ok
        row = dict(zip(("rate", "noise", "count", "delta"), query))
        row.update(
            query="calibrate" if calibration else "epsilon",
            tacit_ms=round(our_ms, 3),
            tacit_cpu_ms=round(our_cpu, 3),
            dp_accounting_ms=round(their_ms, 3),
            dp_accounting_cpu_ms=round(their_cpu, 3),
            ratio=round(their_ms / our_ms, 1),
            cpu_ratio=round(their_cpu / our_cpu, 1),
            tacit=our_value,
            dp_accounting=their_value,
            ok=ok,
        )
        print(json.dumps(row), flush=True)
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
