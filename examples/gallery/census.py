#!/usr/bin/env python3
"""census.py - who earns more than 25,000 dollars?  What each budget gives, on people whom the model has not seen."""

from __future__ import annotations

import math

import chart
import numpy as np
import pandas as pd
import tacit

EPSILONS = (0.1, 0.3, 1, 3)
SCHEMA = {
    "format": "tacit-schema",
    "version": 1,
    "label": {"name": "earns", "values": ["no", "yes"], "positive": "yes"},
    "columns": [
        {"name": "AGEP", "type": "number", "lower": 0, "upper": 99},
        {"name": "EDU", "type": "category", "values": [str(k) for k in range(1, 13)], "other": "zero"},
        {"name": "SEX", "type": "category", "values": ["1", "2"], "drop_first": True},
        {"name": "MSP", "type": "category", "values": ["1", "2", "3", "4", "5", "6"], "other": "zero"},
        {"name": "OWN_RENT", "type": "category", "values": ["0", "1", "2"], "other": "zero"},
        {"name": "DPHY", "type": "category", "values": ["1", "2"], "drop_first": True, "other": "zero"},
    ],
}


def study(quick: bool) -> tuple[chart.Chart, str]:
    people = pd.read_csv(chart.text_of("nist_acs_national2019.csv"), dtype=str, keep_default_na=False)
    people = people[people["PINCP"] != "N"]
    people["earns"] = np.where(people["PINCP"].astype(float) > 25000, "yes", "no")
    people = people[[column["name"] for column in SCHEMA["columns"]] + ["earns"]]
    held = np.arange(len(people)) % 3 == 0
    seen, unseen = people[~held], people[held]

    def accuracy(epsilon: float, seed: int) -> float:
        model = tacit.PrivateLogisticRegression(epsilon=epsilon, delta=1e-6, random_state=seed)
        return model.fit(seen, "earns", schema=tacit.Schema(SCHEMA)).score(unseen)

    seeds = range(1, 3 if quick else 9)
    got = {epsilon: [accuracy(epsilon, seed) for seed in seeds] for epsilon in EPSILONS}
    exact, floor = accuracy(math.inf, 1), max(unseen["earns"].value_counts(normalize=True))
    mean = {epsilon: float(np.mean(each)) for epsilon, each in got.items()}
    error = {epsilon: float(np.std(each, ddof=1) / math.sqrt(len(each))) for epsilon, each in got.items()}
    picture = chart.Chart("More than 25,000 dollars a year: accuracy on others", "epsilon", "accuracy", logarithmic=True)
    picture.line("private", EPSILONS, list(mean.values()), list(error.values()))
    picture.line("without privacy", EPSILONS, [exact] * len(EPSILONS))
    rows = [[f"ε = {epsilon:g}", f"{mean[epsilon]:.4f} ± {error[epsilon]:.4f}"] for epsilon in EPSILONS]
    rows += [["without privacy", f"{exact:.4f}"], ["always the same answer", f"{floor:.4f}"]]
    return picture, chart.rows_of(["model", "accuracy"], rows)


if __name__ == "__main__":
    chart.main("census", study)
