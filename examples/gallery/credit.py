#!/usr/bin/env python3
"""credit.py - three questions to one bank's clients, and the ledger that says when no further one may be asked."""

from __future__ import annotations

import pathlib
import tempfile

import chart
import numpy as np
import pandas as pd
import tacit
from sklearn.metrics import roc_auc_score

BOUNDS = {"age": (18, 95), "balance": (-5000, 20000), "day": (1, 31), "campaign": (1, 20), "previous": (0, 10)}
YES = ("housing", "loan", "default", "y")
QUESTIONS = (("y", 0.5), ("housing", 0.5), ("loan", 0.75), ("default", 0.5))


def study(quick: bool) -> tuple[chart.Chart, str]:
    clients = pd.read_csv(chart.text_of("bank_full.csv"))
    for name in YES:
        clients[name] = (clients[name] == "yes").astype(float)
    rows, spent, left = [], [0.0], [2.0]
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "clients.ledger"
        tacit.Ledger.create(path, filter="sum", epsilon=2, delta=1e-5, for_tests=True)
        ledger = tacit.Ledger(path, input_changed="another question to the same clients")
        for label, epsilon in QUESTIONS:
            bounds = {**BOUNDS, **{name: (0, 1) for name in YES if name != label}}
            X = clients[list(bounds)]
            model = tacit.PrivateLogisticRegression(
                epsilon=epsilon, delta=1e-6, bounds=bounds, classes=[0.0, 1.0], ledger=ledger, random_state=1
            )
            try:
                model.fit(X, clients[label])
                score = f"{roc_auc_score(clients[label], model.decision_function(X)):.3f}"
            except tacit.BudgetError:
                score = "refused: the budget is spent"
            spent.append(ledger.spent["epsilon"])
            left.append(ledger.left["epsilon"])
            rows.append([f"`{label}`", f"{epsilon:g}", score, f"{spent[-1]:.3f}"])
    picture = chart.Chart("One ledger, four questions", "runs asked for", "epsilon")
    picture.line("spent", range(len(spent)), spent)
    picture.line("the ledger's budget", range(len(spent)), [2.0] * len(spent))
    assert np.all(np.diff(spent) >= 0)
    return picture, chart.rows_of(["label", "ε asked", "AUC on the same clients", "ε spent so far"], rows)


if __name__ == "__main__":
    chart.main("credit", study)
