#!/usr/bin/env python3
"""hospital.py - who dies in hospital?  Weights with standard errors that count the noise, beside those without noise."""

from __future__ import annotations

import math

import chart
import numpy as np
import pandas as pd
import tacit

# Public knowledge: what a physician expects to see, not what this table holds.
BOUNDS = {
    "age": (18, 100),
    "num.co": (0, 9),
    "scoma": (0, 100),
    "meanbp": (20, 180),
    "hrt": (20, 220),
    "resp": (5, 60),
    "temp": (33, 42),
    "diabetes": (0, 1),
    "dementia": (0, 1),
}
WORDS = {"num.co": "diseases", "scoma": "coma score", "meanbp": "blood pressure", "hrt": "heart rate", "resp": "breaths"}


def study(quick: bool) -> tuple[chart.Chart, str]:
    patients = pd.read_csv(chart.text_of("support2.csv"))
    died = patients["hospdead"].to_numpy()
    middle = {name: (low + high) / 2 for name, (low, high) in BOUNDS.items()}
    X = patients[list(BOUNDS)].fillna(middle)  # a gap becomes a public value
    common = {"delta": 1e-6, "bounds": BOUNDS, "classes": [0, 1], "errors": "model", "random_state": 1}
    private = tacit.PrivateLogisticRegression(epsilon=2, **common).fit(X, died)
    exact = tacit.PrivateLogisticRegression(epsilon=math.inf, **common).fit(X, died)
    half = np.array([(high - low) / 2 for low, high in BOUNDS.values()])  # from one unit to half of the public range
    rows, order = [], np.argsort(-np.abs(exact.coef_[0] * half))
    names = [WORDS.get(name, name) for name in BOUNDS]
    picture = chart.Chart("Death in hospital: weights and 95 % intervals", "weight, half a public range", "", names=[names[j] for j in order])
    for model, words in ((exact, "without privacy"), (private, "epsilon 2")):
        weight, error = (model.coef_[0] * half)[order], 1.96 * (model.bse_[: len(half)] * half)[order]
        picture.line(words, np.nan_to_num(weight), range(len(order)), np.nan_to_num(error))
    for j in order:
        cells = [f"{m.coef_[0][j] * half[j]:.2f} ± {1.96 * m.bse_[j] * half[j]:.2f}" for m in (exact, private)]
        rows.append([names[j], *cells])
    return picture, chart.rows_of(["column", "without privacy", "ε = 2"], rows)


if __name__ == "__main__":
    chart.main("hospital", study)
