"""Labels keep their names in classes_, in predictions and in one file for all classes; classes= is never ignored."""

import json

import numpy as np
import pandas as pd
import pytest

import tacit

BUDGET = {"epsilon": 4.0, "delta": 1e-4, "data_norm": 2.0, "n_jobs": 1}
SIX = ["ash", "birch", "cedar", "elm", "fir", "oak"]


def data(labels, rows=900, seed=3):
    rng = np.random.default_rng(seed)
    k = rng.integers(0, len(labels), rows)
    X = rng.normal(size=(rows, 4)) * 0.1
    X[:, 0] += np.cos(2 * np.pi * k / len(labels)) / 2
    X[:, 1] += np.sin(2 * np.pi * k / len(labels)) / 2
    return X, np.array(labels)[k]


@pytest.mark.parametrize(
    "labels", [SIX, [1, 2, 3], [1.0, 2.0, 3.0], ["no", "yes"], [0, 1], [False, True], [-1.0, 2.0], ["0", "1"]]
)
def test_a_file_keeps_the_names_and_the_kind_of_the_labels(labels, tmp_path):
    X, y = data(labels)
    model = tacit.PrivateLogisticRegression(**BUDGET, classes=labels).fit(X, y)
    model.save(tmp_path / "m.json")
    again = tacit.read_model(tmp_path / "m.json")
    assert np.array_equal(again.classes_, labels) and again.classes_.dtype == model.classes_.dtype
    assert again.predict(X).dtype == y.dtype and np.array_equal(again.predict(X), model.predict(X))
    np.testing.assert_array_equal(again.coef_, model.coef_)
    np.testing.assert_array_equal(again.intercept_, model.intercept_)
    np.testing.assert_allclose(again.decision_function(X), model.decision_function(X), atol=1e-12)
    assert tacit.verify(tmp_path / "m.json")["ok"]
    assert again.privacy["epsilon"] == model.privacy_["epsilon"] <= 4.0


def test_six_classes_are_one_file_one_page_one_claim_and_one_charge(tmp_path):
    X, y = data(SIX)
    ledger = tacit.Ledger.create(tmp_path / "l.db", epsilon=5.0, filter="sum", delta=1e-3)
    frame = pd.DataFrame(X, columns=list("abcd")).assign(tree=y)
    model = tacit.PrivateLogisticRegression(**BUDGET, classes=SIX, ledger=ledger).fit(frame, "tree")
    model.save(tmp_path / "m.json")
    again = tacit.read_model(tmp_path / "m.json")
    assert again.coef_.shape == (6, 4) and again.intercept_.shape == (6,)
    assert again.features == list("abcd") and again.json["label"] == "tree"
    assert len(ledger.state()["runs"]) == 1 and ledger.spent["epsilon"] == pytest.approx(4.0)
    verdict = tacit.verify(tmp_path / "m.json", ledger=ledger.path)
    assert verdict["ok"] and verdict.verdict is tacit.Verdict.VERIFIED
    limits = {"format": "tacit-policy", "max_epsilon": 4, "units": ["person"], "require_ledger": True}
    said = tacit.verify(tmp_path / "m.json", ledger=ledger.path, policy=limits)["policy"]
    assert [rule["ok"] for rule in said["rules"]] == [True, False, True] and not said["ok"]
    page = model.report()
    assert page == again.report() and all(name in page for name in SIX)
    assert np.array_equal(again.predict(frame[["d", "tree", "a", "b", "c"]]), model.predict(X))
    assert np.mean(again.predict(frame) == y) > 0.4


def test_bounds_of_several_classes_go_into_the_file(tmp_path):
    X, y = data(SIX)
    settings = {**BUDGET, "data_norm": None, "bounds": (-1, [1, 2, 1, 1])}
    model = tacit.PrivateLogisticRegression(**settings, classes=SIX).fit(X, y)
    model.save(tmp_path / "m.json")
    again = tacit.read_model(tmp_path / "m.json")
    np.testing.assert_allclose(again.coef_, model.coef_)
    np.testing.assert_allclose(again.intercept_, model.intercept_)
    assert np.array_equal(again.predict(X), model.predict(X))


def test_a_regression_predicts_numbers_and_has_no_classes(tmp_path):
    X, _ = data(SIX)
    model = tacit.PrivateRidge(**BUDGET, label_bounds=(-1, 1)).fit(X, X[:, 0])
    model.save(tmp_path / "m.json")
    again = tacit.read_model(tmp_path / "m.json")
    assert again.classes_ is None and again.coef_.shape == (4,) and isinstance(again.intercept_, float)
    assert np.array_equal(again.predict(X), model.predict(X))


@pytest.fixture
def trees(tmp_path):
    X, y = data(SIX)
    pd.DataFrame(X, columns=list("abcd")).assign(tree=y).to_csv(tmp_path / "trees.csv", index=False)
    columns = [{"name": name, "type": "number", "lower": -1, "upper": 1} for name in "abcd"]
    return tmp_path / "trees.csv", {"label": {"name": "tree", "values": SIX}, "columns": columns}


def test_a_table_of_six_classes_and_the_frame_of_its_file_are_one_model(trees, tmp_path):
    path, content = trees
    schema, frame = tacit.Schema(content), pd.read_csv(path, float_precision="round_trip")
    table = tacit.read(path, schema=schema)
    assert table.classes == SIX and set(table.y) == set(range(6))
    settings = {"epsilon": 4.0, "delta": 1e-4, "n_jobs": 1, "random_state": 2}
    one = tacit.PrivateLogisticRegression(**settings).fit(table)
    two = tacit.PrivateLogisticRegression(**settings).fit(frame, schema=schema)
    assert list(one.classes_) == list(two.classes_) == SIX and np.array_equal(one.coef_, two.coef_)
    assert one.score(table) == two.score(frame) == np.mean(two.predict(frame) == frame["tree"])
    two.save(tmp_path / "m.json")
    again = tacit.read_model(tmp_path / "m.json")
    assert np.array_equal(again.predict(frame), two.predict(frame)) and np.array_equal(again.predict(table), one.predict(table))


def test_a_table_has_the_names_of_its_two_labels(tmp_path):
    (tmp_path / "t.csv").write_text("a,y\n" + "".join(f"0.{k},{'yn'[k % 2]}\n" for k in range(10)) * 30)
    schema = {"columns": [{"name": "a", "type": "number", "lower": 0, "upper": 1}],
              "label": {"name": "y", "positive": "n", "values": ["n", "y"]}}  # fmt: skip
    settings = {"epsilon": 1.0, "delta": 1e-4, "random_state": 1}
    table = tacit.read(tmp_path / "t.csv", schema=tacit.Schema(schema))
    model = tacit.PrivateLogisticRegression(**settings).fit(table)
    assert list(model.classes_) == ["y", "n"] and set(model.predict(table)) <= {"y", "n"}
    assert list(tacit.PrivateLogisticRegression(**settings, classes=["y", "n"]).fit(table).classes_) == ["y", "n"]
    for classes, sentence in (
        (["n", "y"], "wrong order: of two labels the positive one comes second"),
        (["y", "m"], "classes and the table's labels differ"),
        (["y", "n", "m"], "classes and the table's labels differ"),
    ):
        with pytest.raises(ValueError, match=sentence):
            tacit.PrivateLogisticRegression(**settings, classes=classes).fit(table)
    unnamed = tacit.read(tmp_path / "t.csv", schema=tacit.Schema({**schema, "label": {"name": "y"}}), positive="y")
    assert list(tacit.PrivateLogisticRegression(**settings).fit(unnamed).classes_) == ["not y", "y"]
    with pytest.raises(ValueError, match="no names, so that classes cannot be compared"):
        tacit.PrivateLogisticRegression(**settings, classes=["n", "y"]).fit(unnamed)


@pytest.mark.parametrize(
    "labels, classes, sentence",
    [
        (["no", "yes"], ["yes", "no"], "classes must be in order"),
        (["no", "yes"], ["n", "y"], "a label is not among the classes"),
        (["no", "yes"], ["maybe", "no"], "a label is not among the classes"),
        (["no", "yes"], ["no"], "a label is not among the classes|two or more"),
        ([0, 1], [1, 0], "classes must be in order"),
        ([0, 1], [0, 2], "a label is not among the classes"),
        (SIX, SIX[:5], "a label is not among the classes"),
    ],
)
def test_classes_that_are_not_those_of_the_data_are_refused(labels, classes, sentence):
    X, y = data(labels)
    frame, schema = pd.DataFrame(X, columns=list("abcd")).assign(tree=y), {"columns": [
        {"name": name, "type": "number", "lower": -1, "upper": 1} for name in "abcd"]}  # fmt: skip
    model = tacit.PrivateLogisticRegression(**BUDGET, classes=classes)
    for call in (lambda: model.fit(X, y), lambda: model.fit(frame, "tree"), lambda: model.fit(frame, "tree", schema=schema)):
        with pytest.raises(ValueError, match=sentence):
            call()
    listed = {**schema, "label": {"name": "tree", "values": [str(label) for label in labels]}}
    with pytest.raises(ValueError, match="classes"):
        model.fit(frame, schema=listed)


def test_the_winner_of_a_search_over_classes_is_one_file(tmp_path):
    X, y = data(SIX)
    search = tacit.PrivateSearchCV(
        tacit.PrivateLogisticRegression(data_norm=2.0, classes=SIX), {"C": [0.1, 1.0]}, epsilon=4.0, delta=1e-4
    ).fit(X, y)
    search.save(tmp_path / "m.json")
    assert tacit.verify(tmp_path / "m.json")["ok"]
    text = json.loads((tmp_path / "m.json").read_text())
    assert text["classes"] == SIX and len(text["coefficients"]) == 6 and text["privacy"]["epsilon"] <= 4.0


@pytest.mark.parametrize("labels", [SIX, [1, 2, 3]])
def test_softmax_is_one_fit_with_a_row_for_each_class(labels, tmp_path):
    X, y = data(labels, rows=3000)
    ledger = tacit.Ledger.create(tmp_path / "l.db", epsilon=5.0, filter="sum", delta=1e-3)
    model = tacit.PrivateLogisticRegression(**BUDGET, loss="softmax", classes=labels, ledger=ledger).fit(X, y)
    assert model.coef_.shape == (len(labels), 4) and model.intercept_.shape == (len(labels),)
    assert np.mean(model.predict(X) == y) > 0.6
    shares = model.predict_proba(X)
    np.testing.assert_allclose(shares.sum(axis=1), 1)
    np.testing.assert_allclose(np.log(shares[:, 0] / shares[:, 1]), np.subtract(*model.decision_function(X).T[:2]))
    model.save(tmp_path / "m.json")
    again = tacit.read_model(tmp_path / "m.json")
    assert again.json["loss"] == f"softmax:classes={len(labels)}"
    assert again.privacy["fits"][0]["count"] == 1 and ledger.spent["epsilon"] == pytest.approx(4.0)
    assert tacit.verify(tmp_path / "m.json", ledger=ledger.path)["ok"]
    assert np.array_equal(again.classes_, labels) and np.array_equal(again.predict(X), model.predict(X))
    np.testing.assert_array_equal(again.coef_, model.coef_)


def test_softmax_is_planned_by_how_many_classes_are_public():
    model = tacit.PrivateLogisticRegression(**BUDGET, loss="softmax", classes=SIX)
    assert model.plan(900, 4)["solver"].startswith("dpmetric:") and "models" not in model.plan(900, 4)
    assert model.plan(900, 4) == model.plan(900, 4, n_classes=6)
    two = model.set_params(classes=["no", "yes"]).fit(*data(["no", "yes"]))
    assert two.models_[0].json["loss"] == "logistic"
    with pytest.raises(ValueError, match='"auto", "logistic" or "softmax"'):
        model.set_params(loss="multinomial").fit(*data(["no", "yes"]))
    with pytest.raises(ValueError, match="one class at a time"):
        model.set_params(loss="softmax", classes=SIX, solver="objpert").fit(*data(SIX))


def test_softmax_takes_bounds_frames_and_persons(tmp_path):
    X, y = data(SIX, rows=3000)
    frame = pd.DataFrame(X, columns=list("abcd")).assign(tree=y, who=np.arange(3000) // 2)
    settings = {"epsilon": 4.0, "delta": 1e-4, "bounds": (-1, 1), "n_jobs": 1, "classes": SIX}
    model = tacit.PrivateLogisticRegression(**settings, loss="softmax", rows_per_person=2)
    model.fit(frame, "tree", groups="who").save(tmp_path / "m.json")
    again = tacit.read_model(tmp_path / "m.json")
    assert tacit.verify(tmp_path / "m.json")["ok"] and again.coef_.shape == (6, 4)
    assert np.array_equal(again.predict(frame[list("abcd")]), model.predict(frame[list("abcd")]))
    np.testing.assert_allclose(X @ model.coef_.T + model.intercept_, model.decision_function(X), atol=1e-9)


def test_auto_takes_softmax_wherever_one_fit_of_all_is_measured():
    X, y = data(SIX, rows=3000)
    budget = {**BUDGET, "delta": 1e-6, "classes": SIX}
    one = tacit.PrivateLogisticRegression(**{**budget, "epsilon": 0.1})
    assert one.plan(3000, 4)["loss"] == "softmax:classes=6" and "one fit of all" in one.plan(3000, 4)["loss_why"]
    one.fit(X, y)
    assert len(one.models_) == 1 and one.models_[0].json["solver"].startswith("dpmetric:")
    margins = one.decision_function(X)
    np.testing.assert_allclose(np.log(one.predict_proba(X)[:, 0] / one.predict_proba(X)[:, 1]), margins[:, 0] - margins[:, 1])
    named = tacit.PrivateLogisticRegression(**budget, solver="dpgd")
    assert named.plan(3000, 4)["models"] == 6 and "was named" in named.plan(3000, 4)["loss_why"]
    assert len(tacit.PrivateLogisticRegression(**{**budget, "epsilon": 0.1}, loss="logistic").fit(X, y).models_) == 6
    assert "loss_why" not in tacit.PrivateLogisticRegression(**{**budget, "classes": [0, 1]}).plan(3000, 4)
