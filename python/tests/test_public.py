"""Accounting, the ledger, schemas and public scaling."""

import json
import math

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.base import clone

import tacit


def test_account_and_calibrate_are_inverse():
    noise = tacit.calibrate("sampled_gaussian:rate=0.01,count=1000", 1.0, 1e-6)["noise"]
    answer = tacit.account([f"sampled_gaussian:noise={noise!r},rate=0.01,count=1000"], 1e-6)
    assert answer["epsilon"] == pytest.approx(1.0, rel=2e-3) and answer["epsilon_lower"] <= answer["epsilon"]
    both = [tacit.account("gaussian:noise=3", 1e-6, neighbours=n)["epsilon"] for n in ("add_remove", "replace_one")]
    assert both[0] < both[1]
    with pytest.raises(ValueError, match="neighbours"):
        tacit.account("gaussian:noise=3", 1e-6, neighbours="both")
    curve = tacit.account_curve("gaussian:noise=3", points=5)["points"]
    assert [p["epsilon"] for p in curve] == sorted((p["epsilon"] for p in curve), reverse=True)


def test_a_ledger_keeps_the_account_and_clones_to_itself(tmp_path):
    ledger = tacit.Ledger.create(tmp_path / "l", epsilon=1.0, delta=1e-4, name="people")
    assert clone(ledger, safe=False) is ledger
    assert tacit.Ledger(ledger.path) == ledger
    ledger.charge("gaussian:noise=10", delta=1e-6)
    with pytest.raises(tacit.BudgetError):
        ledger.charge("gaussian:noise=1", delta=1e-6)
    state = ledger.state()
    assert state["name"] == "people" and len(state["runs"]) == 1 and ledger.check()["ok"]
    with pytest.raises((ValueError, RuntimeError)):
        tacit.Ledger.create(tmp_path / "l", epsilon=9.0, delta=1e-4)


def test_a_lost_anchor_becomes_a_row_of_the_ledger(tmp_path):
    ledger = tacit.Ledger.create(tmp_path / "l", epsilon=1.0, delta=1e-4)
    with pytest.raises(ValueError, match="no anchor that could be lost"):
        ledger.anchor(tmp_path / "a", lost="the disk broke")
    ledger.anchor(tmp_path / "a")
    (tmp_path / "a").unlink()
    with pytest.raises(RuntimeError, match="say that it was lost"):
        ledger.anchor(tmp_path / "b")
    ledger.anchor(tmp_path / "b", lost="the disk broke")
    assert [entry["reason"] for entry in ledger.state()["lost_anchors"]] == ["the disk broke"] and ledger.check()["ok"]


@pytest.mark.filterwarnings("error")
def test_no_warning_about_the_registry_ends_a_run_that_is_paid_for(tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("TACIT_REGISTRY", str(tmp_path))
    ledger = tacit.Ledger.create(tmp_path / "l", epsilon=2.0, delta=1e-4)
    X = np.random.default_rng(0).uniform(-1, 1, size=(2000, 2))
    model = tacit.PrivateLogisticRegression(epsilon=1.0, delta=1e-6, data_norm=2.0, classes=[0, 1], ledger=ledger)
    model.fit(X, (X[:, 0] > 0).astype(int))
    assert model.coef_.shape == (1, 2) and len(ledger.state()["runs"]) == 1
    assert "the registry of tables" in capsys.readouterr().err


FRAME = {
    "age": [20.0, 71.5, None, 35.25, 99.0],
    "work": ["state", "private", "?", "state", "own"],
    "id": ["a1", "b2", "c3", "d4", "e5"],
    "paid": ["no", "yes", "yes", "no", "yes"],
}
SCHEMA = {
    "columns": [
        {"name": "age", "type": "number", "lower": 10, "upper": 90, "missing": 50},
        {"name": "work", "type": "category", "values": ["private", "state"], "missing": "zero", "other": "private"},
        {"name": "id", "type": "ignore"},
    ],
    "missing_values": ["?"],
    "label": {"name": "paid", "positive": "yes", "values": ["no", "yes"]},
}


@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame])
@pytest.mark.parametrize("change", [{}, {"scale": "symmetric"}, {"drop": True}])
def test_the_public_scaler_encodes_as_the_library_reads(tmp_path, frame, change):
    schema = tacit.Schema({**SCHEMA, **{k: v for k, v in change.items() if k != "drop"}})
    if "drop" in change:
        schema.json["columns"] = [dict(c, drop_first=True) if c["type"] == "category" else c for c in schema.json["columns"]]
    pd.DataFrame(FRAME).to_csv(tmp_path / "t.csv", index=False)
    table = tacit.read(tmp_path / "t.csv", schema=schema)
    scaler = tacit.PublicScaler(schema).fit(frame(FRAME))
    mine = scaler.transform(frame(FRAME))
    assert list(scaler.get_feature_names_out()) == table.feature_names
    probe = np.eye(mine.shape[1])  # a model that reads one feature: the library's own view of the table
    weights = tacit.PrivateLogisticRegression(epsilon=1.0, delta=1e-3, random_state=1, data_norm=9.0).fit(table)
    for j in range(mine.shape[1]):
        text = weights.models_[0].json
        text["coefficients"], text["intercept"] = list(probe[j]), 0.0
        model = tacit.Model.parse(json.dumps(text))
        np.testing.assert_allclose(mine[:, j], model.decision_function(table), atol=1e-12)


def test_a_schema_draft_of_a_frame_is_that_of_its_file(tmp_path):
    pd.DataFrame(FRAME).to_csv(tmp_path / "t.csv", index=False)
    want = tacit.Schema.draft(tmp_path / "t.csv", label="paid").json
    for frame in (pd.DataFrame(FRAME), pl.DataFrame(FRAME)):
        got = tacit.Schema.draft(frame, label="paid").json
        assert got["not_private"] and got["columns"] == want["columns"] and got["label"] == want["label"]
        assert got.get("missing_values") == want.get("missing_values")


def test_a_draft_takes_the_missing_values_of_nullable_columns():
    plain = {"age": [20.0, None, 40.0, 31.0] * 5, "job": ["x", "y", None, "x"] * 5, "paid": [0, 1, 0, 1] * 5}
    nullable = pd.DataFrame(plain).convert_dtypes()
    assert nullable["age"].isna().any() and str(nullable["age"].dtype) == "Int64"
    want = tacit.Schema.draft(pd.DataFrame(plain), label="paid").json
    assert tacit.Schema.draft(nullable, label="paid").json == want
    nullable["on"] = pd.array([True, None, False, True] * 5, dtype="boolean")
    assert tacit.Schema.draft(nullable, label="paid").json["columns"][2]["values"] == ["True", "False"]
    nullable["on"] = pd.to_datetime(["2020-01-01", None, "2020-05-02", "2021-12-03"] * 5)  # no number of nanoseconds
    assert tacit.Schema.draft(nullable, label="paid").json["columns"][2]["type"] == "date"


def test_what_is_wrong_in_a_schema_is_said_to_be_its_fault_once():
    column = {"name": "age", "type": "number", "lower": 0, "upper": 90}
    for content, sentence in (
        ({"columns": [column], "kolumns": []}, 'schema: unknown key "kolumns"; the keys here are: '),
        ({"columns": [{**column, "upper": -1}]}, 'schema, column "age": '),
    ):
        with pytest.raises(ValueError, match=f"^{sentence}"):
            tacit.Schema(content).check()


def test_the_public_scaler_reads_nothing_from_the_records():
    scaler = tacit.PublicScaler(bounds=([0, -1], [10, 1]))
    one = scaler.fit(np.array([[1.0, 0.5], [3.0, 0.1]])).transform(np.array([[5.0, 1.0], [99.0, -3.0]]))
    two = scaler.fit(np.array([[1e9, -7.0]])).transform(np.array([[5.0, 1.0], [99.0, -3.0]]))
    np.testing.assert_array_equal(one, two)
    np.testing.assert_array_equal(one, [[0.0, 1.0], [1.0, -1.0]])
    assert scaler.data_norm_ == math.sqrt(2)
    with pytest.raises(ValueError, match="either a schema or bounds"):
        tacit.PublicScaler().fit(one)


def test_the_public_scaler_refuses_what_the_schema_does_not_know_and_names_no_value():
    schema = {"columns": [{"name": "work", "type": "category", "values": ["private"]}]}
    with pytest.raises(ValueError, match='column "work", record 1: the category is not in the schema') as why:
        tacit.PublicScaler(tacit.Schema(schema)).fit_transform(pd.DataFrame({"work": ["secret"]}))
    assert "secret" not in str(why.value)
