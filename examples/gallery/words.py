#!/usr/bin/env python3
"""words.py - which web pages are about a subject?  300 words, few of them on a page; scores that may be published."""

from __future__ import annotations

import math
import pathlib
import tempfile

import chart
import tacit

EPSILONS = (0.25, 0.5, 1, 2)
NORM = 6.0  # public: a page of more than 36 of the words is shortened


def study(quick: bool) -> tuple[chart.Chart, str]:
    lines = chart.text_of("w8a.libsvm").read().splitlines()
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        for part, at in (("seen", (0, 1)), ("unseen", (2,))):
            text = "\n".join(line for i, line in enumerate(lines) if i % 3 in at)
            (folder / part).write_text(text + "\n")
        table = {part: tacit.read(folder / part, cols=300, labels="binary") for part in ("seen", "unseen")}

        def scores(epsilon: float, seed: int) -> tuple[float, float, float]:
            model = tacit.PrivateLogisticRegression(epsilon=epsilon, delta=1e-6, data_norm=NORM, random_state=seed)
            whole = model.fit(table["seen"]).models_[0]
            exact = whole.evaluate(table["unseen"])["mean_loss"]
            noisy = whole.evaluate(table["unseen"], epsilon=1, delta=1e-6, random_state=seed)["mean_loss"]
            return exact, noisy["value"], noisy["standard_error"]

        got = {epsilon: scores(epsilon, 1) for epsilon in EPSILONS}
        best = scores(math.inf, 1)[0]
    picture = chart.Chart("Web pages by their words: mean loss on others", "epsilon of the model", "mean logistic loss", logarithmic=True)
    picture.line("exact score", EPSILONS, [each[0] for each in got.values()])
    picture.line("private score", EPSILONS, [each[1] for each in got.values()], [each[2] for each in got.values()])
    picture.line("without privacy", EPSILONS, [best] * len(EPSILONS))
    rows = [[f"ε = {epsilon:g}", f"{a:.4f}", f"{b:.4f} ± {c:.4f}"] for epsilon, (a, b, c) in got.items()]
    rows.append(["without privacy", f"{best:.4f}", ""])
    return picture, chart.rows_of(["model", "mean loss, exact", "mean loss, private at ε = 1"], rows)


if __name__ == "__main__":
    chart.main("words", study)
