#!/usr/bin/env python3
"""two_parties.py - a tax office and a land registry hold different columns: alone, together without trust, together."""

from __future__ import annotations

import chart
import numpy as np
import pandas as pd
import tacit

EPSILONS = (0.25, 0.5, 1, 2, 4)
TAX = {"MedInc": (0, 15), "HouseAge": (0, 52), "AveOccup": (0, 10), "Population": (0, 5000)}
LAND = {"Latitude": (32.5, 42), "Longitude": (-124.5, -114), "AveRooms": (0, 20), "AveBedrms": (0, 5)}
VALUE = (0.0, 5.00001)


def study(quick: bool) -> tuple[chart.Chart, str]:
    homes = pd.read_csv(chart.text_of("california.csv"))
    bounds = {**TAX, **LAND}
    low, high = (np.array([side[end] for side in bounds.values()], float) for end in (0, 1))
    X = np.clip((homes[list(bounds)].to_numpy() - low) / (high - low), 0, 1)
    X = np.hstack([X[:, :4], X[:, 4:] - 0.5])
    y = np.clip(homes["MedHouseVal"].to_numpy(), *VALUE) - VALUE[1] / 2
    X = np.hstack([0.5 * np.ones((len(X), 1)), X])  # a column of the tax office stands for the intercept
    held = np.arange(len(X)) % 3 == 0
    ends = (-VALUE[1] / 2, VALUE[1] / 2)

    def fit(columns: slice, solver: str, epsilon: float, seed: int) -> float:
        part = X[:, columns]
        model = tacit.PrivateRidge(
            alpha=1.0, epsilon=epsilon, delta=1e-6, data_norm=2.0, label_bounds=ends, fit_intercept=False, solver=solver, random_state=seed
        )
        return float(model.fit(part[~held], y[~held]).score(part[held], y[held]))

    seeds = range(1, 2 if quick else 6)
    ways = {
        "tax office alone": (slice(0, 5), "adassp"),
        "both, by secure sums": (slice(0, 9), "gram_parties:parties=2"),
        "one curator with all": (slice(0, 9), "adassp"),
    }
    got = {way: [np.mean([fit(*what, epsilon, s) for s in seeds]) for epsilon in EPSILONS] for way, what in ways.items()}
    picture = chart.Chart("Values of homes: R² on other districts", "epsilon", "R²", logarithmic=True)
    for way, each in got.items():
        picture.line(way, EPSILONS, each)
    rows = [[f"ε = {epsilon:g}", *(f"{got[way][k]:.3f}" for way in ways)] for k, epsilon in enumerate(EPSILONS)]
    return picture, chart.rows_of(["", *ways], rows)


if __name__ == "__main__":
    chart.main("two_parties", study)
