"""Scores of a model from Python, and what a reviewer finds in a schema."""

import numpy as np
import pandas as pd
import pytest

import tacit

SCHEMA = {
    "columns": [
        {"name": "age", "type": "number", "lower": 0, "upper": 100},
        {"name": "work", "type": "category", "values": ["a", "b"]},
    ],
    "label": {"name": "ill", "values": ["no", "yes"], "positive": "yes"},
}


def people(count=4000):
    rng = np.random.default_rng(1)
    age, work = rng.uniform(0, 100, count), rng.choice(["a", "b"], count)
    ill = np.where(age / 50 + (work == "a") + rng.normal(size=count) > 1.5, "yes", "no")
    return pd.DataFrame({"age": age, "work": work, "ill": ill})


def fitted():
    estimator = tacit.PrivateLogisticRegression(epsilon=5.0, delta=1e-6, random_state=1)
    return estimator.fit(people(), "ill", schema=tacit.Schema(SCHEMA)).models_[0]


def test_private_scores_of_a_frame_lie_near_the_exact_ones_and_say_how_near():
    model, frame = fitted(), people()
    exact = model.evaluate(frame)
    assert exact["private"] is False and exact["rows"] == len(frame)
    scores = model.evaluate(frame, epsilon=2.0, delta=1e-6, random_state=3)
    assert scores["private"] and scores["reproducible"]
    for name in ("accuracy", "auc", "mean_loss"):
        assert abs(scores[name]["value"] - exact[name]) < 5 * scores[name]["noise_error"] + 0.003, name
        assert scores[name]["lower"] < scores[name]["value"] < scores[name]["upper"]
    assert model.evaluate(frame, epsilon=2.0, delta=1e-6)["accuracy"]["value"] != scores["accuracy"]["value"]


def test_persons_are_scored_by_a_frames_column_by_an_array_and_by_a_tables_column(tmp_path):
    model, frame = fitted(), people()
    frame["who"] = np.arange(len(frame)) // 3
    budget = {"epsilon": 2.0, "delta": 1e-6, "random_state": 3, "rows_per_person": 2}
    by_name = model.evaluate(frame, groups="who", **budget)
    assert by_name["unit"] == "person"
    assert by_name == model.evaluate(frame.drop(columns="who"), groups=frame["who"], **budget)
    frame.to_csv(tmp_path / "t.csv", index=False)
    columns = [*SCHEMA["columns"], {"name": "who", "type": "ignore"}]
    table = tacit.read(tmp_path / "t.csv", schema=tacit.Schema({**SCHEMA, "columns": columns}), person="who")
    assert by_name["accuracy"].keys() == model.evaluate(table, groups="who", **budget)["accuracy"].keys()
    plain = model.evaluate(frame.drop(columns="who"), epsilon=2.0, delta=1e-6, random_state=3)
    assert plain["unit"] == "record" and plain["accuracy"]["noise_error"] < by_name["accuracy"]["noise_error"]
    assert abs(by_name["accuracy"]["value"] - model.evaluate(frame.drop(columns="who"))["accuracy"]) < 0.05
    with pytest.raises(ValueError, match="belong together"):
        model.evaluate(frame, groups="who", epsilon=1.0, delta=1e-6)
    with pytest.raises(ValueError, match="give epsilon too"):
        model.evaluate(frame, groups="who", rows_per_person=2)


def test_several_classes_have_private_accuracy_and_log_loss():
    frame = people().rename(columns={"ill": "kind"})
    frame["kind"] = np.array(["low", "mid", "high"])[np.digitize(frame["age"], [30, 70])]
    schema = {**SCHEMA, "label": {"name": "kind", "values": ["low", "mid", "high"]}}
    estimator = tacit.PrivateLogisticRegression(epsilon=8.0, delta=1e-6, random_state=1, loss="softmax")
    model = estimator.fit(frame, "kind", schema=tacit.Schema(schema)).models_[0]
    scores, exact = model.evaluate(frame, epsilon=2.0, delta=1e-6, random_state=3), model.evaluate(frame)
    for name, truth in (("accuracy", exact["accuracy"]), ("log_loss", exact["mean_loss"])):
        assert abs(scores[name]["value"] - truth) < 5 * scores[name]["noise_error"] + 0.003, name


def test_private_scores_are_charged_and_refused_beyond_the_budget(tmp_path, monkeypatch):
    monkeypatch.setenv("TACIT_REGISTRY", "none")
    model = fitted()
    ledger = tacit.Ledger.create(tmp_path / "l", filter="sum", epsilon=1.0, delta=1e-5)
    model.evaluate(people(), epsilon=0.7, delta=1e-6, ledger=ledger)
    with pytest.raises(tacit.BudgetError):
        model.evaluate(people(), epsilon=0.7, delta=1e-6, ledger=ledger)


@pytest.mark.parametrize(
    "settings, words",
    [
        ({"delta": 1e-6}, "give epsilon too"),
        ({"epsilon": 1.0}, "delta is missing"),
        ({"epsilon": 0.0, "delta": 1e-6}, "above 0"),
        ({"epsilon": 1.0, "delta": 0.0}, "between 0 and 1"),
        ({"epsilon": 1.0, "delta": 1e-6, "neighbours": "all"}, "neighbours"),
    ],
)
def test_settings_of_scores_that_do_not_fit_are_refused(settings, words):
    with pytest.raises(ValueError, match=words):
        fitted().evaluate(people(), **settings)


def test_scores_need_labels():
    with pytest.raises(ValueError, match="scores need labels"):
        fitted().evaluate(np.zeros((3, 3)))


def test_a_draft_of_a_frame_is_found_by_its_check_and_works_once_it_is_public():
    frame = people(200).assign(code=np.arange(200) % 3 + 1.0, id=np.arange(200))
    draft = tacit.Schema.draft(frame, label="ill")
    assert [each["level"] for each in draft.check()].count("must") == 1
    types = {column["name"]: column["type"] for column in draft.json["columns"]}
    assert types == {"age": "number", "work": "category", "code": "category", "id": "ignore"}
    del draft.json["not_private"]
    assert all(each["level"] == "look" for each in draft.check())
    estimator = tacit.PrivateLogisticRegression(epsilon=5.0, delta=1e-6, random_state=1)
    assert estimator.fit(frame, "ill", schema=draft).score(frame) > 0.5
