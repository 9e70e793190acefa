"""peers.py - the same records, epsilon and objective through diffprivlib, Opacus, scikit-learn, LIBLINEAR and tacit.

    tools/setup.sh python
    build/venv/bin/python -m pip install torch==2.5.1 opacus==1.5.2
    build/venv/bin/python -m pip install --no-deps diffprivlib==0.6.6
    PYTHONPATH=python TACIT_LIBRARY=build/release/libtacit.so build/venv/bin/python bench/peers/peers.py OUT_DIR

FOOTING  Every program gets one matrix in memory: features in [0, 1] (bank, ipums-br: by the table's own minimum and
maximum, which no program here accounts for; adult, diabetes130: by public schemas), a column of ones, and rows cut to a
public norm R, the square root of the number of attributes + 1.  None adds an intercept of its own.  All are judged by
one objective on the training records,  (1/n) sum log(1 + exp(-y x.w)) + |w|^2/(2 n C),  C = 1, and by accuracy on a fifth
of the records held out.  One thread each; seconds are of processor time and of the fit alone.  Means over seeds.

GUARANTEES  diffprivlib: epsilon, delta = 0, one record replaced.  Opacus: (epsilon, delta = 1e-6) by its PRV accountant,
one record added or removed, batches sampled by Poisson.  tacit runs once for each: replace_one for the first, add_remove
for the second, with delta = 1e-6 and the solver that it chooses, and at add_remove also with objpert; and once at replace_one with delta = 0 (the solver that it chooses).  scikit-learn and
LIBLINEAR guarantee nothing; LIBLINEAR is the one inside scikit-learn.

OPTIONS  Nothing is tuned for tacit, whose options follow from public facts, or for diffprivlib.  Opacus has no default
rate, clip, batch or number of epochs: 10 epochs in batches of 1024, and of the four pairs of gradient clip and rate in
TRIED the one with the lowest mean objective is shown, without a charge for the choice.  Its seconds are those of that one fit.
"""

import argparse
import csv
import io
import lzma
import os
import sys
import time
import warnings
from pathlib import Path

# Processor time is measured: a pool of idle BLAS threads would be counted to whoever comes next.
os.environ.update(OPENBLAS_NUM_THREADS="1", OMP_NUM_THREADS="1", MKL_NUM_THREADS="1")

import numpy as np
import pandas as pd
from sklearn.linear_model import LogisticRegression

sys.path.insert(0, str(Path(__file__).parents[1] / "lib"))
import plot
import tacit

ROOT = Path(__file__).parents[2]
DATA = Path(os.environ.get("TACIT_DATA", ROOT.parent / "shared" / "data"))
EPSILONS = (0.1, 0.5, 1.0, 4.0, 8.0)
DELTA = 1e-6
EPOCHS, BATCH = 10, 1024
TRIED = ((0, 2.0), (0, 8.0), (1, 0.5), (1, 2.0))  # clip: 0 for 1, 1 for R
SETS = {"bank": ("bank_dpagd", None), "adult": ("adult_train", "examples/adult.schema.json"),
        "ipums-br": ("ipums_br_dpagd", None), "diabetes130": ("diabetes130", "bench/lib/diabetes130.schema.json")}  # fmt: skip
ATTRIBUTES = {"bank": 16, "ipums-br": 20}  # before one-hot coding


def load(name):
    """(X with its column of ones and rows of norm at most R, y of -1 and +1, R)"""
    file, schema = SETS[name]
    text = lzma.open(DATA / f"{file}.csv.xz").read()
    if schema is None:
        table = pd.read_csv(io.BytesIO(text)).to_numpy(dtype=float)
        X, y = table[:, :-1], np.where(table[:, -1] > 0, 1.0, -1.0)
        low, high = X.min(axis=0), X.max(axis=0)
        X, attributes = (X - low) / np.where(high > low, high - low, 1), ATTRIBUTES[name]
    else:
        scaler = tacit.PublicScaler(tacit.Schema.read(ROOT / schema))
        frame = pd.read_csv(io.BytesIO(text), dtype=str, keep_default_na=False)
        X = scaler.fit_transform(frame)
        label = scaler.schema_.json["label"]
        y = np.where(frame[label["name"]] == label["positive"], 1.0, -1.0)
        attributes = len(scaler.schema_.used)
    norm = (attributes + 1) ** 0.5
    X = np.hstack([X, np.ones((len(X), 1))])
    X *= np.minimum(1, norm / np.linalg.norm(X, axis=1, keepdims=True))
    return np.ascontiguousarray(X), y, norm


def objective(w, X, y):
    return np.logaddexp(0, -y * (X @ w)).mean() + w @ w / (2 * len(y))


# ---- the programs: each a function (X, y, norm, epsilon, seed) -> w --------------------------------------


def ours(neighbours, **more):
    def fit(X, y, norm, epsilon, seed):
        settings = {"delta": DELTA, "data_norm": norm, "classes": [-1, 1], "n_jobs": 1, **more, "epsilon": epsilon}
        model = tacit.PrivateLogisticRegression(**settings, fit_intercept=False, neighbours=neighbours)
        return model.fit(X, y).coef_[0]

    return fit


def diffprivlib():
    from diffprivlib.models import LogisticRegression as Theirs

    def fit(X, y, norm, epsilon, seed):
        model = Theirs(epsilon=epsilon, data_norm=norm, fit_intercept=False, max_iter=1000)
        return model.fit(X, y).coef_[0]

    return fit


def opacus(wide, rate):
    import torch
    from opacus import PrivacyEngine

    torch.set_num_threads(1)

    def fit(X, y, norm, epsilon, seed):
        torch.manual_seed(seed)
        model = torch.nn.Linear(X.shape[1], 1, bias=False)
        torch.nn.init.zeros_(model.weight)
        records = torch.utils.data.TensorDataset(torch.tensor(X, dtype=torch.float32), torch.tensor(y, dtype=torch.float32))
        loader = torch.utils.data.DataLoader(records, batch_size=BATCH)
        model, optimiser, loader = PrivacyEngine().make_private_with_epsilon(
            module=model,
            optimizer=torch.optim.SGD(model.parameters(), lr=rate),
            data_loader=loader,
            target_epsilon=epsilon,
            target_delta=DELTA,
            epochs=EPOCHS,
            max_grad_norm=norm if wide else 1.0,
        )
        for _ in range(EPOCHS):
            for rows, labels in loader:
                optimiser.zero_grad()
                torch.nn.functional.softplus(-labels * model(rows)[:, 0]).mean().backward()
                optimiser.step()
        return model._module.weight.detach().numpy()[0].astype(float)

    return fit


def free(solver):
    def fit(X, y, norm, epsilon, seed):
        return LogisticRegression(C=1.0, solver=solver, fit_intercept=False, max_iter=1000).fit(X, y).coef_[0]

    return fit


# ---- the table ------------------------------------------------------------------------------------------


def measure(fit, data, epsilon, seeds):
    """Means over the seeds: (objective, its standard error, accuracy, seconds of processor time)."""
    X, y, norm = data
    rows = []
    for seed in range(seeds):
        order = np.random.default_rng(seed).permutation(len(y))
        test, train = order[: len(y) // 5], order[len(y) // 5 :]
        X_train, y_train = np.ascontiguousarray(X[train]), y[train]
        start = time.process_time()
        w = fit(X_train, y_train, norm, epsilon, seed)
        seconds = time.process_time() - start
        rows.append((objective(w, X_train, y_train), np.mean(y[test] * (X[test] @ w) > 0), seconds))
    mean = np.mean(rows, axis=0)
    return mean[0], np.std([row[0] for row in rows]) / len(rows) ** 0.5, mean[1], mean[2]


def best_opacus(data, epsilon, seeds):
    runs = [measure(opacus(wide, rate), data, epsilon, seeds) for wide, rate in TRIED]
    return min(runs)


def programs():
    """{name: (what it guarantees, measure)}"""
    plain = lambda fit: lambda data, epsilon, seeds: measure(fit, data, epsilon, seeds)  # noqa: E731
    made = {"tacit, add_remove": ("(eps, 1e-6), add_remove", plain(ours("add_remove")))}
    fast = ours("add_remove", solver="objpert")
    made["tacit, objpert, add_remove"] = ("(eps, 1e-6), add_remove", plain(fast))
    made["Opacus"] = ("(eps, 1e-6), add_remove", best_opacus)
    made["tacit, replace_one"] = ("(eps, 1e-6), replace_one", plain(ours("replace_one")))
    pure = ours("replace_one", delta=0.0)
    made["tacit, replace_one, delta 0"] = ("(eps, 0), replace_one", plain(pure))
    made["diffprivlib"] = ("(eps, 0), replace_one", plain(diffprivlib()))
    made["scikit-learn, lbfgs"] = ("none", plain(free("lbfgs")))
    made["LIBLINEAR"] = ("none", plain(free("liblinear")))
    return made


def kept(path, sets, programs):
    """The rows of a run before this one that it does not measure again."""
    with open(path, newline="") as file:
        rows = [[row["set"], row["program"], row["guarantee"]] + [float(v) for v in list(row.values())[3:]] for row in csv.DictReader(file)]
    return [tuple(row) for row in rows if not (row[0] in sets and row[1] in (programs or [row[1]]))]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("out", type=Path)
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--sets", nargs="*", default=list(SETS))
    parser.add_argument("--programs", nargs="*")
    parser.add_argument("--keep", action="store_true", help="rows of other programs in OUT_DIR/peers.csv stay")
    given = parser.parse_args()
    warnings.simplefilter("ignore")
    tacit.config(repeated_fits="ok")
    given.out.mkdir(parents=True, exist_ok=True)
    rows = kept(given.out / "peers.csv", given.sets, given.programs) if given.keep else []
    for name in given.sets:
        data = load(name)
        print(f"\n{name}: {data[0].shape[0]} x {data[0].shape[1]}, R = {data[2]:.2f}", flush=True)
        print(f"{'':28}{'guarantee':26}" + "".join(f"{f'eps {e:g}':>22}" for e in EPSILONS))
        for program, (guarantee, run) in programs().items():
            if given.programs and program not in given.programs:
                continue
            cells = []
            for epsilon in EPSILONS if guarantee != "none" else (np.inf,):
                value, error, accuracy, seconds = run(data, epsilon, given.seeds)
                cells.append(f"{value:10.4f} {accuracy:.3f} {seconds:5.2f}s")
                rows.append((name, program, guarantee, epsilon, value, error, accuracy, seconds))
            print(f"{program:28}{guarantee:26}" + "".join(cells), flush=True)
        figures = {program: [(r[3], r[4]) for r in rows if r[:2] == (name, program) and np.isfinite(r[3])] for program in programs()}
        title = f"{name}: objective on the training records"
        text = plot.figure(title, "epsilon", "objective", {k: v for k, v in figures.items() if v}, True, True)
        (given.out / f"peers_{name}.svg").write_text(text)
        with open(given.out / "peers.csv", "w", newline="") as file:
            writer = csv.writer(file)
            writer.writerow("set program guarantee epsilon objective error accuracy cpu_seconds".split())
            writer.writerows(rows)


if __name__ == "__main__":
    main()
