#!/usr/bin/env python3
"""same_bits_python.py - seeded fits through every estimator, and both searches: the models' files into a folder.

usage: same_bits_python.py TABLES OUT        (same_bits_doors.sh calls it)
"""
import sys

import numpy as np
import pandas as pd
import tacit

tables, out = sys.argv[1:]
budget = {"epsilon": 2.0, "delta": 1e-5, "random_state": 7}
people, real = pd.read_csv(f"{tables}/p.csv"), pd.read_csv(f"{tables}/r.csv")
fruit, visits = pd.read_csv(f"{tables}/c.csv"), pd.read_csv(f"{tables}/v.csv")
schemas = {name: tacit.Schema.read(f"{tables}/{name}") for name in ("p.schema.json", "r.schema.json", "c.json", "v.json")}
draw = np.random.default_rng(5)
X = draw.uniform(-1, 1, (800, 4))
y = (X @ [1.0, -1, 0.5, 0] + draw.normal(0, 0.5, 800) > 0).astype(int)
k = np.digitize(X[:, 0] + draw.normal(0, 0.2, 800), [-0.3, 0.3])
counts = draw.poisson(np.exp(X[:, 0]))


def keep(name, fit):
    """The model's file of one fit, or the sentence that refused it."""
    try:
        model = fit()
        model.save(f"{out}/py_{name}.json")
        shown = model.predict(X) if model.n_features_in_ == X.shape[1] and not hasattr(model, "feature_names_in_") else []
        np.savetxt(f"{out}/py_{name}.txt", np.asarray(shown, dtype=object), fmt="%s")
    except ValueError as refused:
        with open(f"{out}/py_{name}.json", "w") as file:
            file.write(f"refused: {refused}\n")


classes = {"classes": [0, 1], "data_norm": 2.5}
keep("logistic", lambda: tacit.PrivateLogisticRegression(**budget, **classes).fit(X, y))
keep("svc", lambda: tacit.PrivateLinearSVC(**budget, **classes).fit(X, y))
keep("ridge", lambda: tacit.PrivateRidge(**budget, data_norm=2.5, label_bounds=(-3, 3)).fit(X, X[:, 0] * 2 + 0.3))
keep("lasso", lambda: tacit.PrivateLasso(**budget, data_norm=2.5, label_bounds=(-3, 3)).fit(X, X[:, 0] * 2 + 0.3))
keep("net", lambda: tacit.PrivateElasticNet(**budget, data_norm=2.5, label_bounds=(-3, 3)).fit(X, X[:, 0] * 2 + 0.3))
keep("poisson", lambda: tacit.PrivatePoissonRegression(**budget, data_norm=2.5, label_bounds=(0, 20)).fit(X, counts))
keep("classes", lambda: tacit.PrivateLogisticRegression(**budget, classes=[0, 1, 2], data_norm=2.5).fit(X, k))
keep("softmax", lambda: tacit.PrivateLogisticRegression(**budget, classes=[0, 1, 2], data_norm=2.5, loss="softmax").fit(X, k))
keep("errors", lambda: tacit.PrivateLogisticRegression(**budget, **classes, errors="robust").fit(X, y))
keep("weights", lambda: tacit.PrivateLogisticRegression(**budget, **classes, weight_cap=1.0).fit(X, y, sample_weight=np.linspace(0.1, 1, 800)))
keep("persons", lambda: tacit.PrivateLogisticRegression(**budget, **classes, rows_per_person=2).fit(X, y, groups=np.arange(800) // 3))
keep("frame", lambda: tacit.PrivateLogisticRegression(**budget).fit(people, "high_income", schema=schemas["p.schema.json"]))
keep("frame_real", lambda: tacit.PrivateRidge(**budget).fit(real, "income", schema=schemas["r.schema.json"]))
keep("frame_classes", lambda: tacit.PrivateLogisticRegression(**budget).fit(fruit, "fruit", schema=schemas["c.json"]))

for selection in ("all", "random"):
    grid = {"C": [0.01, 1.0], "solver": ["auto", "dpgd:steps=10"]}
    search = {"epsilon": 2.0, "delta": 1e-5, "selection": selection, "tries": 4, "random_state": 7}
    two = tacit.PrivateLogisticRegression(classes=[0, 1], data_norm=2.5)
    three = tacit.PrivateLogisticRegression(classes=[0, 1, 2], data_norm=2.5)
    number = tacit.PrivateRidge(data_norm=2.5, label_bounds=(-3, 3))
    keep(f"search_{selection}", lambda: tacit.PrivateSearchCV(two, grid, **search).fit(X, y).best_estimator_)
    keep(f"search_{selection}_classes", lambda: tacit.PrivateSearchCV(three, grid, **search).fit(X, k).best_estimator_)
    keep(f"search_{selection}_real", lambda: tacit.PrivateSearchCV(number, {"alpha": [0.01, 1.0]}, **search).fit(X, X[:, 0] * 2).best_estimator_)
