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


def test_private_scores_are_charged_and_refused_beyond_the_budget(tmp_path, monkeypatch):
    monkeypatch.setenv("TACIT_REGISTRY", "none")
    model = fitted()
    ledger = tacit.Ledger.create(tmp_path / "l", epsilon=1.0, delta=1e-5)
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
