"""Weights under a public cap, and persons as the unit of privacy."""

import json

import numpy as np
import pytest

import tacit

BUDGET = {"epsilon": 1.0, "delta": 1e-5, "n_jobs": 1, "data_norm": 2.0}
FREE = {**BUDGET, "epsilon": float("inf")}


def data(rows=600, cols=4, seed=5):
    rng = np.random.default_rng(seed)
    X = rng.uniform(-1, 1, size=(rows, cols))
    return X, (X @ rng.normal(size=cols) + 0.3 * rng.normal(size=rows) > 0).astype(int)


@pytest.mark.parametrize("name", ["sample_weight", "groups"])
def test_a_bound_that_is_not_given_is_refused_with_a_sentence(name):
    X, y = data()
    with pytest.raises(ValueError, match=f"{name} needs a public bound"):
        tacit.PrivateLogisticRegression(**BUDGET).fit(X, y, **{name: np.arange(600)})
    with pytest.raises(ValueError, match="not whose rows"):
        tacit.PrivateLogisticRegression(**BUDGET, rows_per_person=2).fit(X, y)
    with pytest.raises(ValueError, match="a weight is not a number"):
        tacit.PrivateLogisticRegression(**BUDGET, weight_cap=1).fit(X, y, sample_weight=np.full(600, np.nan))
    for settings in ({"weight_cap": 0}, {"weight_cap": np.inf}, {"rows_per_person": 0}, {"rows_per_person": 1.5}):
        with pytest.raises(ValueError, match="must be"):
            tacit.PrivateLogisticRegression(**BUDGET, **settings).plan(600, 4)


def test_solvers_that_cannot_weigh_are_refused_before_the_ledger_is_charged(tmp_path):
    X, y = data()
    ledger = tacit.Ledger.create(tmp_path / "l.db", epsilon=3, delta=1e-4)
    model = tacit.PrivateLogisticRegression(**BUDGET, weight_cap=1, solver="dpscd", ledger=ledger)
    with pytest.raises(ValueError, match="cannot weigh records"):
        model.fit(X, y, sample_weight=np.ones(600))
    model = tacit.PrivateLogisticRegression(**BUDGET, rows_per_person=2, solver="objpert", ledger=ledger)
    with pytest.raises(ValueError, match="not a person's records together"):
        model.fit(X, y, groups=np.arange(600) // 2)
    assert not ledger.state()["runs"]


def test_integer_weights_are_repeated_rows_without_privacy():
    X, y = data()
    counts = np.arange(600) % 3
    repeated = np.repeat(np.arange(600), counts)
    weighed = tacit.PrivateLogisticRegression(**FREE, weight_cap=2, solver="objpert", C=0.1)
    weighed.fit(X, y, sample_weight=counts)
    plain = tacit.PrivateLogisticRegression(**FREE, solver="objpert", C=0.1).fit(X[repeated], y[repeated])
    np.testing.assert_allclose(weighed.coef_, plain.coef_, atol=1e-6)
    np.testing.assert_allclose(weighed.intercept_, plain.intercept_, atol=1e-6)


@pytest.mark.parametrize("solver", ["dpgd", "objpert"])
def test_a_weight_beyond_the_cap_counts_as_the_cap(solver):
    X, y = data()
    weights = np.linspace(0, 4, 600)
    settings = {**BUDGET, "weight_cap": 2.0, "solver": solver, "random_state": 3}
    far = tacit.PrivateLogisticRegression(**settings).fit(X, y, sample_weight=np.where(weights > 2, 1e9, weights))
    near = tacit.PrivateLogisticRegression(**settings).fit(X, y, sample_weight=np.minimum(weights, 2))
    assert np.array_equal(far.coef_, near.coef_)
    assert far.privacy_["weight_cap"] == 2.0


def test_the_model_of_persons_says_so_and_verifies(tmp_path):
    X, y = data()
    persons = np.repeat(np.arange(150), 4)
    model = tacit.PrivateLogisticRegression(**BUDGET, rows_per_person=2).fit(X, y, groups=persons)
    assert model.privacy_["unit"].startswith("One person")
    assert model.privacy_["rows_per_person"] == 2
    model.save(tmp_path / "m.json")
    assert tacit.read_model(tmp_path / "m.json").privacy["unit"].startswith("One person")
    assert tacit.verify(tmp_path / "m.json")["ok"]


def test_names_of_persons_may_be_texts_and_rows_in_any_order():
    X, y = data()
    persons = np.array([f"p{k % 100}" for k in range(600)])
    model = tacit.PrivateRidge(**BUDGET, rows_per_person=3, label_bounds=(0, 1))
    assert model.fit(X, y.astype(float), groups=persons).coef_.shape == (4,)


def test_a_person_of_many_rows_moves_a_model_no_more_than_a_person_of_one():
    """The noise is taken out by the same seed: what is left is what the person's rows moved, steps ahead or not."""
    X, y = data(rows=2000)
    settings = {**BUDGET, "rows_per_person": 4, "random_state": 5, "solver": "dpgd:steps=1", "C": np.inf}
    persons = np.r_[np.zeros(200, dtype=int), np.arange(1, 1801)]
    X[:200], y[:200] = 10.0, 1

    def moved(groups):
        absent = X.copy()
        absent[:200] = 0.0
        without = tacit.PrivateLogisticRegression(**settings, fit_intercept=False).fit(absent, y, groups=groups)
        with_them = tacit.PrivateLogisticRegression(**settings, fit_intercept=False).fit(X, y, groups=groups)
        return np.linalg.norm(with_them.coef_ - without.coef_)

    plan = tacit.PrivateLogisticRegression(**settings, fit_intercept=False).plan(2000, 4)
    step = float(plan["solver"].split("step=")[1].split(",")[0])
    clip = float(plan["solver"].split("clip=")[1].split(",")[0])
    one = moved(persons)
    assert 0.5 * step * clip / 2000 < one <= step * clip / 2000 * (1 + 1e-6)
    assert moved(np.arange(2000)) > 20 * one  # the same rows as two hundred persons


# ---- columns ----


def counted(rows=4000, seed=2):
    rng = np.random.default_rng(seed)
    frame = {"x": rng.uniform(0, 10, rows), "t": rng.uniform(0.2, 5, rows), "w": rng.uniform(0, 8, rows)}
    mean = frame["t"] * np.exp(0.12 * frame["x"] - 0.8)
    label = (frame["x"] + rng.normal(size=rows) > 5).astype(int)
    return pytest.importorskip("pandas").DataFrame({**frame, "n": rng.poisson(mean), "c": label}), mean


def described(label, *ignored):
    columns = [{"name": "x", "type": "number", "lower": 0, "upper": 10}]
    columns += [{"name": name, "type": "ignore"} for name in ignored]
    return tacit.Schema({"columns": columns, "label": label})


def test_a_column_of_weights_is_the_same_as_an_array_of_them(tmp_path):
    frame, _ = counted()
    schema = described({"name": "c", "values": ["0", "1"], "positive": "1"}, "t", "w", "n")
    settings = {"epsilon": 2.0, "delta": 1e-6, "n_jobs": 1, "random_state": 1, "solver": "dpmetric"}
    column = tacit.PrivateLogisticRegression(**settings, weight_cap=4).fit(frame, sample_weight="w", schema=schema)
    array = tacit.PrivateLogisticRegression(**settings, weight_cap=4).fit(frame, "c", sample_weight=frame["w"], schema=schema)
    frame.to_csv(tmp_path / "t.csv", index=False)
    table = tacit.read(tmp_path / "t.csv", schema=schema, weights="w", weight_cap=4)
    own = {**schema.json, "version": 2, "weight": {"of": "w", "cap": 4}}
    both = [tacit.PrivateLogisticRegression(**settings).fit(frame, schema=tacit.Schema(own)).coef_ for _ in range(2)]
    for coef in (array.coef_, tacit.PrivateLogisticRegression(**settings).fit(table).coef_):
        np.testing.assert_array_equal(column.coef_, coef)
    np.testing.assert_array_equal(*both)  # weighed, and in a schema of version 2
    assert '"cap": 4' in json.dumps(column.model_.json)
    with pytest.raises(ValueError, match="needs a public bound"):
        tacit.PrivateLogisticRegression(**settings).fit(frame, sample_weight="w", schema=schema)
    with pytest.raises(ValueError, match="names a column"):
        tacit.PrivateLogisticRegression(**settings, weight_cap=4).fit(frame[["x", "w"]], frame["c"], sample_weight="w")


def test_an_exposure_and_the_formulas_offset_are_one_model_of_rates():
    frame, mean = counted()
    schema = described({"name": "n", "lower": 0, "upper": 30}, "w", "c")
    schema.json["columns"].append({"name": "t", "type": "number", "lower": 0.2, "upper": 5})
    settings = {"epsilon": 1e4, "delta": 1e-6, "n_jobs": 1, "random_state": 1, "label_bounds": None}
    model = tacit.PrivatePoissonRegression(**settings, exposure="t").fit(frame, schema=schema)
    predicted = model.predict(frame)
    assert np.max(np.abs(np.log(predicted / mean))) < 0.15
    np.testing.assert_allclose(model.predict(frame.assign(t=frame["t"] / 2).query("t > 0.2")), predicted[frame["t"] > 0.4] / 2)
    with pytest.raises(ValueError, match="no column"):
        model.predict(frame[["x"]])
    most = float(np.median(mean))
    tight = tacit.PrivatePoissonRegression(**settings, exposure="t", max_mean=most, errors="robust").fit(frame, schema=schema)
    inside, ends = tight.predict(frame), tight.model_.predict_interval(frame)
    assert inside.max() == pytest.approx(most) and inside.min() < most / 2
    assert np.all(ends[:, 0] <= inside) and np.all(inside <= ends[:, 1]) and ends.max() == inside.max()
    assert tight.model_.evaluate(frame)["mse"] == pytest.approx(np.mean((inside - frame["n"]) ** 2))
    with pytest.raises(ValueError, match="give the frame and its schema"):
        tacit.PrivatePoissonRegression(**{**settings, "label_bounds": (0, 30)}, exposure="t").fit(frame[["x"]], frame["n"])
    with pytest.raises(ValueError, match="of counts"):
        rates = schema.with_exposure("t")
        tacit.PrivateRidge(epsilon=1, delta=1e-6, solver="dpgd").fit(frame, schema=rates)
    pytest.importorskip("formulaic")
    other = tacit.PrivatePoissonRegression(**settings).fit(frame, schema=schema, formula="n ~ x + offset(log(t))")
    np.testing.assert_array_equal(other.predict(frame), predicted)
    for formula, part in (("n ~ x + offset(log(w))", "no bounds"), ("n ~ x + offset(2*t)", "offset")):
        with pytest.raises(ValueError, match=part):
            tacit.PrivatePoissonRegression(**settings).fit(frame, schema=schema, formula=formula)


def test_errors_of_weighed_records_are_those_of_an_exact_fit_and_need_the_robust_form(tmp_path):
    X = data(rows=8000)[0]
    y = (X[:, 0] + np.random.default_rng(6).logistic(size=8000) > 0).astype(int)
    w = np.where(np.arange(8000) % 3, 1.0, 3.0)
    ledger = tacit.Ledger.create(tmp_path / "l.db", epsilon=3, delta=1e-4)
    for errors, more, match in (("model", {}, "know no weights"), ("robust", {"rows_per_person": 2}, "one row a person")):
        model = tacit.PrivateLogisticRegression(**BUDGET, weight_cap=3, errors=errors, ledger=ledger, **more)
        with pytest.raises(ValueError, match=match):
            model.fit(X, y, sample_weight=w, groups=np.arange(8000) // 2 if more else None)
    assert not ledger.state()["runs"]
    settings = {**BUDGET, "epsilon": 1e5, "C": np.inf, "errors": "robust", "random_state": 1, "data_norm": 3.0}
    model = tacit.PrivateLogisticRegression(**settings, weight_cap=3).fit(X, y, sample_weight=w)
    A, b = np.column_stack([X, np.ones(8000)]), np.zeros(5)
    for _ in range(30):
        mean = 1 / (1 + np.exp(-A @ b))
        inverse = np.linalg.inv((A * (w * mean * (1 - mean))[:, None]).T @ A)
        b = b - inverse @ A.T @ (w * (mean - y))
    exact = np.sqrt(np.diag(inverse @ ((A * (w * (mean - y))[:, None] ** 2).T @ A) @ inverse))
    np.testing.assert_allclose(np.r_[model.coef_.ravel(), model.intercept_], b, atol=0.05 * exact.min())
    np.testing.assert_allclose(np.roll(model.bse_, -1), exact, rtol=0.05)
