"""breast_cancer.py - private logistic regression, untuned, on scikit-learn's breast cancer data.

    PYTHONPATH=python TACIT_LIBRARY=build/release/libtacit.so build/venv/bin/python bench/peers/breast_cancer.py [--repeats 30]

Features are standardised by the data's own mean and deviation, as users of diffprivlib do; that reads the data and is
accounted for by nobody here.  Each library then brings the rows to its norm 1: diffprivlib shortens them, tacit scales
them with the intercept's 1 (rows="unit").  70/30 splits, delta 1e-5 (diffprivlib: pure epsilon).  diffprivlib 0.6.6 is run where it
is installed (pip install --no-deps diffprivlib==0.6.6); its guarantee is stated for replace_one, so the last two rows
are the comparison.  Means of the test accuracy and their standard errors.
"""

import argparse
import time
import warnings

import numpy as np
from sklearn.datasets import load_breast_cancer
from sklearn.model_selection import train_test_split

import tacit

EPSILONS = (0.1, 0.5, 1.0, 3.0)


def ours(neighbours):
    def make(epsilon):
        return tacit.PrivateLogisticRegression(
            epsilon=epsilon, delta=1e-5, data_norm=1.0, rows="unit", classes=[0, 1], neighbours=neighbours, n_jobs=1
        )

    return make


def theirs():
    try:
        from diffprivlib.models import LogisticRegression
    except ImportError:
        return None
    return lambda epsilon: LogisticRegression(epsilon=epsilon, data_norm=1.0)


def accuracy(make, epsilon, X, y, repeats):
    scores, seconds = [], 0.0
    for seed in range(repeats):
        train, test, y_train, y_test = train_test_split(X, y, test_size=0.3, random_state=seed)
        start = time.perf_counter()
        model = make(epsilon).fit(train, y_train)
        seconds += time.perf_counter() - start
        scores.append(model.score(test, y_test))
    return np.mean(scores), np.std(scores) / np.sqrt(repeats), seconds / repeats


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--repeats", type=int, default=30)
    repeats = parser.parse_args().repeats
    warnings.simplefilter("ignore")
    tacit.config(repeated_fits="ok")
    X, y = load_breast_cancer(return_X_y=True)
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    rows = {"tacit add_remove": ours("add_remove"), "tacit replace_one": ours("replace_one"), "diffprivlib": theirs()}
    print(f"{'':18}" + "".join(f"   epsilon {e:<9g}" for e in EPSILONS) + "   ms a fit")
    for name, make in rows.items():
        if make is None:
            print(f"{name:18}   is not installed")
            continue
        cells = [accuracy(make, e, X, y, repeats) for e in EPSILONS]
        milliseconds = 1e3 * np.mean([cell[2] for cell in cells])
        print(f"{name:18}" + "".join(f"   {mean:.3f} +- {error:.3f}   " for mean, error, _ in cells) + f"   {milliseconds:.1f}")


if __name__ == "__main__":
    main()
