"""opacus_grid.py - `auto`, untuned, beside Opacus at the best cell of a grid: docs/measured/opacus.md and opacus.csv.

    tools/setup.sh python
    build/venv/bin/python -m pip install torch==2.5.1 opacus==1.5.2
    export PYTHONPATH=python TACIT_LIBRARY=build/release/libtacit.so
    build/venv/bin/python bench/peers/opacus_grid.py [--sets bank,..] [--eps 0.1,..]

FOOTING  bench/lib/footing.py, delta = 1e-5, one record added or removed; objective: mean logistic loss over the
records, no penalty.  Sets above 50,000 records are cut to that.

GRID  Opacus has no default clip, rate, batch or number of epochs.  All of CLIPS x RATES x BATCHES x EPOCHS are tried,
without a charge, in a numpy form of the same algorithm (Poisson batches, per-record clip, Gaussian noise, plain SGD
from 0), whose noise is the accountant's of tacit.  The best few are tried on three more seeds, and the best of them is
run by Opacus itself, with its own PRV accountant, on --fits fresh seeds: those are the figures.  auto has as many fits.

TIME  Seconds of processor time of one fit, one thread, from arrays in memory to weights, calibration of the noise
included.  Opacus's search is not counted.

RESUMED  A cell that is in opacus.csv is not measured again; --only grid|opacus|auto|page does one part.
"""

import argparse
import csv
import json
import math
import sys
import time
import warnings
from pathlib import Path

ROOT = Path(__file__).parents[2]
sys.path[:0] = [str(ROOT / "bench" / "lib"), str(ROOT / "bench" / "peers")]
import footing

footing.environment()
import numpy as np
import rivals

SETS = "bank,ipums-br,adult-raw,diabetes130,covtype,electricity"
DELTA, ROWS = 1e-5, 50000
CLIPS = (0.1, 0.3, 1.0, 3.0)
RATES = (0.5, 2.0, 8.0, 32.0, 128.0)
BATCHES, EPOCHS = (512, 4096), (5, 20)
KEPT = 6
FIELDS = ("set", "epsilon", "program", "objective", "error", "seconds", "setting")


def loss(problem, W):
    with np.errstate(all="ignore"):
        found = footing.objective(problem, W)
    return np.where(np.isfinite(found), found, np.inf)


def dpsgd(problem, noise, batch, epochs, clips, rates, seed):
    """Weights [p, k] of k pairs (clip, rate), on the same batches."""
    rng, (n, p) = np.random.default_rng(seed), problem.X.shape
    X, y = problem.X.astype(np.float32), problem.y.astype(np.float32)
    length = np.linalg.norm(X, axis=1)
    clips, rates = np.array(clips, dtype=np.float32), np.array(rates)
    W = np.zeros((p, len(clips)))
    for _ in range(round(epochs * n / batch)):
        chosen = np.flatnonzero(rng.random(n) < batch / n)
        Z, t = X[chosen], y[chosen, None]
        slope = -t / (1 + np.exp(np.clip(t * (Z @ W.astype(np.float32)), -60, 60)))
        slope *= np.minimum(1, clips / np.maximum(np.abs(slope) * length[chosen, None], 1e-30))
        W -= rates * (Z.T @ slope + noise * clips * rng.standard_normal(W.shape)) / batch
    return W


def search(problem, program, epsilon):
    """The best cell of the grid, as a dictionary; the best few of one run each are run three times more."""
    n, pairs, found = len(problem.y), [(c, r) for c in CLIPS for r in RATES], []
    for batch in BATCHES:
        for epochs in EPOCHS:
            noise = rivals.sampled_noise(program, batch / n, round(epochs * n / batch), epsilon, DELTA)
            values = loss(problem, dpsgd(problem, noise, batch, epochs, *zip(*pairs), 1))
            found += [(float(v), *pair, batch, epochs, noise) for v, pair in zip(values, pairs)]
    again = []
    for _, clip, rate, batch, epochs, noise in sorted(found)[:KEPT]:
        W = dpsgd(problem, noise, batch, epochs, [clip] * 3, [rate] * 3, 2)
        again.append((float(loss(problem, W).mean()), clip, rate, batch, epochs))
    return dict(zip(("objective", "clip", "rate", "batch", "epochs"), min(again)))


def opacus(problem, epsilon, setting, seed):
    """(weights, seconds) of one fit of Opacus itself."""
    import torch
    from opacus import PrivacyEngine

    torch.set_num_threads(1)
    torch.manual_seed(seed)
    X, y = torch.tensor(problem.X, dtype=torch.float32), torch.tensor(problem.y, dtype=torch.float32)
    start = time.process_time()
    model = torch.nn.Linear(X.shape[1], 1, bias=False)
    torch.nn.init.zeros_(model.weight)
    loader = torch.utils.data.DataLoader(torch.utils.data.TensorDataset(X, y), batch_size=setting["batch"])
    model, optimiser, loader = PrivacyEngine().make_private_with_epsilon(
        module=model,
        optimizer=torch.optim.SGD(model.parameters(), lr=setting["rate"]),
        data_loader=loader,
        target_epsilon=epsilon,
        target_delta=DELTA,
        epochs=setting["epochs"],
        max_grad_norm=setting["clip"],
    )
    for _ in range(setting["epochs"]):
        for rows, labels in loader:
            optimiser.zero_grad()
            torch.nn.functional.softplus(-labels * model(rows)[:, 0]).mean().backward()
            optimiser.step()
    return model._module.weight.detach().numpy()[0].astype(float), time.process_time() - start


def auto(problem, epsilon, seed):
    """(weights, seconds) of one untuned fit of tacit's Python module."""
    import tacit

    settings = {
        "epsilon": epsilon,
        "delta": DELTA,
        "data_norm": problem.R,
        "classes": [-1, 1],
        "n_jobs": 1,
        "random_state": seed,
    }
    start = time.process_time()
    model = tacit.PrivateLogisticRegression(**settings, C=math.inf, fit_intercept=False, neighbours="add_remove").fit(
        problem.X, problem.y
    )
    return model.coef_[0], time.process_time() - start


def summarised(problem, fits):
    values = [float(loss(problem, w)) for w, _ in fits]
    return np.mean(values), np.std(values, ddof=1) / math.sqrt(len(values)), np.mean([s for _, s in fits])


class Store:
    def __init__(self, path):
        self.path, self.rows = path, {}
        if path.exists():
            with open(path, newline="") as file:
                self.rows = {(r["set"], r["epsilon"], r["program"]): r for r in csv.DictReader(file)}

    def put(self, *values):
        row = dict(zip(FIELDS, values))
        self.rows[row["set"], row["epsilon"], row["program"]] = row
        with open(self.path, "w", newline="") as file:
            out = csv.DictWriter(file, FIELDS, lineterminator="\n")
            out.writeheader()
            out.writerows(sorted(self.rows.values(), key=lambda r: (r["set"], float(r["epsilon"]), r["program"])))
        print(*values, flush=True)


def measure(given, store, problem):
    program, seeds = given.build / "tacit", range(1, given.fits + 1)
    for epsilon in given.eps:
        key = (problem.name, f"{epsilon:g}")
        if given.only in ("all", "grid") and (*key, "grid") not in store.rows:
            best = search(problem, program, epsilon)
            store.put(*key, "grid", f"{best['objective']:.6f}", "", "", json.dumps(best))
        if given.only in ("all", "opacus") and (*key, "Opacus") not in store.rows:
            setting = json.loads(store.rows[(*key, "grid")]["setting"])
            mean, error, seconds = summarised(problem, [opacus(problem, epsilon, setting, s) for s in seeds])
            store.put(*key, "Opacus", f"{mean:.6f}", f"{error:.6f}", f"{seconds:.3f}", json.dumps(setting))
        if given.only == "auto" or (given.only == "all" and (*key, "auto") not in store.rows):
            mean, error, seconds = summarised(problem, [auto(problem, epsilon, s) for s in seeds])
            store.put(*key, "auto", f"{mean:.6f}", f"{error:.6f}", f"{seconds:.4f}", "")


HEAD = """# Is `auto`, untuned, better than Opacus at the best cell of a grid?

Mean logistic loss over the fitted records, means and standard errors of {fits} fits; (ε, 1e-5), one record added or
removed. `auto` has nothing tuned. Opacus 1.5.2 has the best of {cells} cells of clip × rate × batch × epochs, chosen
without a charge. Seconds are of processor time, one thread. `bench/peers/opacus_grid.py` makes this page;
[opacus.csv](opacus.csv) has every cell with errors, seconds and the setting that was chosen.

"""


def page(store, fits):
    lines, above, times = [], [], []
    for (name, epsilon, program), a in store.rows.items():
        o = store.rows.get((name, epsilon, "Opacus"))
        if program != "auto" or not o:
            continue
        times.append(float(o["seconds"]) / float(a["seconds"]))
        if float(a["objective"]) - float(o["objective"]) > 2 * math.hypot(float(a["error"]), float(o["error"])):
            above.append(f"{name} at ε = {epsilon}")
    if times:
        which = ": " + ", ".join(above) if above else ""
        lines += [f"auto is above Opacus beyond two standard errors in {len(above)} of {len(times)} cells{which}."]
        lines += [f"Opacus takes {min(times):.0f} to {max(times):.0f} times the processor time of auto."]
    return HEAD.format(fits=fits, cells=len(CLIPS) * len(RATES) * len(BATCHES) * len(EPOCHS)) + "\n".join(lines) + "\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sets", default=SETS)
    parser.add_argument("--eps", default="0.1,0.5,1,4")
    parser.add_argument("--fits", type=int, default=3)
    parser.add_argument("--only", default="all", choices=("all", "grid", "opacus", "auto", "page"))
    parser.add_argument("--build", type=Path, default=ROOT / "build" / "release")
    parser.add_argument("--out", type=Path, default=ROOT / "docs" / "measured")
    parser.add_argument("--scratch", type=Path, default=ROOT / "build" / "bench_tables")
    given = parser.parse_args()
    given.eps = [float(e) for e in given.eps.split(",")]
    warnings.simplefilter("ignore")
    store = Store(given.out / "opacus.csv")
    facts = {} if given.only == "page" else footing.tables(given.build, given.scratch, given.sets.split(","), ROWS)
    for fact in facts.values():
        problem = footing.load(given.scratch, fact, "public") or footing.load(given.scratch, fact, "min-max")
        measure(given, store, problem)
    (given.out / "opacus.md").write_text(page(store, given.fits))


if __name__ == "__main__":
    main()
