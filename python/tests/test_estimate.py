"""Bounds that nobody knows, from Python: the model is the command line's, the claim is of the whole, nothing is free."""

import json
import os
import subprocess

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy import sparse

import tacit

ROWS = 3000
BUDGET = {"epsilon": 2.0, "delta": 1e-5, "n_jobs": 1, "random_state": 5, "estimate": "bounds:share=0.2"}
OPEN = [{"name": name, "type": "number", "estimate": True} for name in ("year", "size")]
LABEL = {"name": "y", "values": ["0", "1"], "positive": "1"}
KIND = {"name": "kind", "type": "category", "values": list("uvwxyzabcdefgh")}


def people(seed=1):
    rng = np.random.default_rng(seed)
    year, size = rng.integers(1990, 2021, ROWS), np.round(rng.uniform(-3, 40, ROWS), 2)
    score = size / 20 + (year - 2005) / 15 + rng.normal(size=ROWS)
    return pd.DataFrame({"year": year, "size": size, "kind": rng.choice(list("uvw"), ROWS), "y": (score > 0.9).astype(int)})


@pytest.fixture
def cli(tmp_path):
    """Runs `tacit train` on a frame; the model file's content."""
    program = os.environ.get("TACIT")
    if not program:
        pytest.skip("skipped: TACIT names no program")

    def train(frame, schema, *options):
        frame.to_csv(tmp_path / "t.csv", index=False)
        told = [program, "train", tmp_path / "t.csv", *options, "-o", tmp_path / "cli.json", "--seed", "5", "--threads", "1"]
        told += ["--epsilon", "2", "--delta", "1e-5"] + ([] if "--estimate" in options else ["--estimate", "bounds:share=0.2"])
        if schema is not None:
            (tmp_path / "s.json").write_text(json.dumps(schema))
            told += ["--schema", tmp_path / "s.json"]
        subprocess.run(told, check=True, capture_output=True)
        return (tmp_path / "cli.json").read_text()

    return train


def text_of(model, path):
    model.save(path)
    return path.read_text()


def penalty(rows=ROWS):
    return f"l2:lambda={1 / rows!r}"


@pytest.mark.parametrize("kind", [lambda frame: frame, pl.from_pandas], ids=["pandas", "polars"])
def test_a_frame_under_an_open_schema_gives_the_command_lines_model_file(kind, cli, tmp_path):
    frame, schema = people(), {"columns": [*OPEN, KIND], "label": LABEL}
    model = tacit.PrivateLogisticRegression(**BUDGET).fit(kind(frame), schema=tacit.Schema(schema))
    file = cli(frame, schema, "--loss", "logistic", "--penalty", penalty())
    assert text_of(model, tmp_path / "m.json") == file
    assert tacit.verify(tmp_path / "m.json")["ok"]
    again = tacit.read_model(tmp_path / "m.json")
    assert np.array_equal(model.predict(kind(frame)), again.predict(kind(frame)))
    assert model.score(kind(frame)) > 0.6


def test_three_classes_give_the_command_lines_model_file(cli, tmp_path):
    frame = people()
    frame["y"] = np.digitize(frame["size"], [8, 25])
    schema = {"columns": [*OPEN, KIND], "label": {"name": "y", "values": ["0", "1", "2"]}}
    model = tacit.PrivateLogisticRegression(**BUDGET).fit(frame, schema=tacit.Schema(schema))
    assert text_of(model, tmp_path / "m.json") == cli(frame, schema, "--loss", "auto", "--penalty", penalty())
    assert tacit.verify(tmp_path / "m.json")["ok"] and model.privacy_["epsilon"] == 2.0
    assert model.predict_proba(frame).shape == (ROWS, 3) and model.score(frame) > 0.5


@pytest.mark.parametrize("kind", [lambda frame: frame, pl.from_pandas], ids=["pandas", "polars"])
def test_lists_and_missing_values_of_a_frame_give_the_command_lines_model_file(kind, cli, tmp_path):
    frame = people()
    frame["kind"] = np.where(np.arange(ROWS) % 50 == 0, [f"own{k}" for k in range(ROWS)], frame["kind"])
    frame["stage"] = np.arange(ROWS) % 3
    frame["flag"] = np.where(frame["size"] > 20, "yes", "no")
    frame.loc[::9, "size"], frame.loc[::7, "kind"] = np.nan, None
    lists = [{"name": name, "type": "category", "estimate": True} for name in ("stage", "flag")]
    columns = [OPEN[0], {**OPEN[1], "missing": "estimate"}, {**lists[0], "name": "kind", "missing": "estimate"}, *lists]
    schema = {"columns": columns, "label": LABEL}
    settings = {**BUDGET, "estimate": "bounds,missing,categories:share=0.3"}
    model = tacit.PrivateLogisticRegression(**settings).fit(kind(frame), schema=tacit.Schema(schema))
    told = ("--loss", "logistic", "--penalty", penalty(), "--estimate", settings["estimate"])
    assert text_of(model, tmp_path / "m.json") == cli(frame, schema, *told)
    found = {column["name"]: column.get("values") for column in model.models_[0].json["transforms"]["schema"]["columns"]}
    assert found["kind"] == ["(missing)", "u", "v", "w"] and found["stage"] == ["0", "1", "2"]
    assert found["flag"] == ["no", "yes"]
    assert tacit.verify(tmp_path / "m.json")["ok"] and len(model.predict(kind(frame))) == ROWS


def test_a_list_of_truth_values_is_found_and_predicts_them():
    frame = people().drop(columns="kind")
    frame["flag"] = frame["size"] > 20
    columns = [*OPEN, {"name": "flag", "type": "category", "estimate": True}]
    settings = {**BUDGET, "estimate": "bounds,categories:share=0.3"}
    model = tacit.PrivateLogisticRegression(**settings).fit(frame, schema=tacit.Schema({"columns": columns, "label": LABEL}))
    assert model.models_[0].json["transforms"]["schema"]["columns"][2]["values"] == ["false", "true"]
    other = frame.assign(flag=~frame["flag"])
    assert not np.array_equal(model.decision_function(frame), model.decision_function(other))


def test_a_frame_and_an_array_without_a_schema_give_the_command_lines_weights(cli, tmp_path):
    frame = people().drop(columns="kind")
    frame["y"] = 50.0 + frame["size"] + frame["year"] % 7
    told = json.loads(cli(frame, None, "--label", "y", "--loss", "squared", "--penalty", penalty()))
    model = tacit.PrivateRidge(**BUDGET, alpha=1.0).fit(frame, "y")
    assert json.loads(text_of(model, tmp_path / "m.json")) == told
    X, y = frame[["year", "size"]].to_numpy(), frame["y"].to_numpy()
    array = tacit.PrivateRidge(**BUDGET, alpha=1.0).fit(X, y)
    assert array.models_[0].json["coefficients"] == told["coefficients"]
    assert np.array_equal(array.predict(X), model.predict(frame)) and model.score(frame) > 0.5
    array.save(tmp_path / "a.json")
    assert tacit.verify(tmp_path / "a.json")["ok"] and tacit.verify(tmp_path / "m.json")["ok"]


def test_what_is_stored_by_columns_is_estimated_alike_and_stays_as_it_was():
    frame = people().drop(columns="kind")
    X, y = np.asfortranarray(frame[["year", "size"]].to_numpy(dtype=float)), frame["y"].to_numpy()
    kept = X.copy()
    by_columns = tacit.PrivateLogisticRegression(**BUDGET, classes=[0, 1]).fit(X, y)
    by_rows = tacit.PrivateLogisticRegression(**BUDGET, classes=[0, 1]).fit(np.ascontiguousarray(X), y)
    assert np.array_equal(X, kept) and np.array_equal(by_columns.coef_, by_rows.coef_)
    assert by_columns.score(X, y) > 0.6


def test_the_certificate_is_of_the_estimate_and_the_fit(tmp_path):
    frame = people().drop(columns="kind")
    model = tacit.PrivateLogisticRegression(**BUDGET, classes=[0, 1]).fit(frame, "y")
    privacy = model.privacy_
    assert (privacy["epsilon"], privacy["delta"]) == (2.0, 1e-5) and len(privacy["events"]) == 2
    assert privacy["estimate"]["asked"]["columns"] == 2 and len(privacy["estimate"]["releases"]) == 2
    assert privacy["estimate"]["rest"]["epsilon"] <= 1.6
    columns = model.models_[0].json["transforms"]["schema"]["columns"]
    assert all(column["estimated"] and column["lower"] < column["upper"] for column in columns)


def test_one_table_is_fitted_again_and_again_from_its_own_values(tmp_path):
    people().drop(columns="kind").to_csv(tmp_path / "t.csv", index=False)
    table = tacit.read(tmp_path / "t.csv", label="y")
    before = table.array().copy()
    fits = [tacit.PrivateLogisticRegression(**BUDGET).fit(table) for _ in range(2)]
    assert np.array_equal(fits[0].coef_, fits[1].coef_) and np.array_equal(before, table.array())
    with pytest.raises(ValueError, match="read them under the model's schema"):
        fits[0].predict(table)
    assert fits[0].predict(people().drop(columns="kind")).shape == (ROWS,)


def test_persons_are_weighed_before_the_estimate(tmp_path):
    frame = people().drop(columns="kind")
    frame["who"] = np.arange(ROWS) // 2
    model = tacit.PrivateLogisticRegression(**BUDGET, classes=[0, 1], rows_per_person=2).fit(frame, "y", groups="who")
    model.save(tmp_path / "m.json")
    assert tacit.verify(tmp_path / "m.json")["ok"] and model.privacy_["unit"].startswith("One person")


def test_the_ledger_is_charged_once_with_the_whole(tmp_path):
    ledger = tacit.Ledger.create(tmp_path / "L", epsilon=3.0, filter="sum", delta=1e-4, for_tests=True)
    frame = people().drop(columns="kind")
    model = tacit.PrivateLogisticRegression(**BUDGET, classes=[0, 1], ledger=ledger).fit(frame, "y")
    assert len(ledger.state()["runs"]) == 1 and abs(ledger.spent["epsilon"] - 2.0) < 1e-9
    model.save(tmp_path / "m.json")
    assert tacit.verify(tmp_path / "m.json", ledger=tmp_path / "L")["ok"]
    with pytest.raises(tacit.BudgetError):
        tacit.PrivateLogisticRegression(**BUDGET, classes=[0, 1], ledger=ledger).fit(frame, "y")
    assert len(ledger.state()["runs"]) == 1


def test_the_plan_is_of_both_parts_and_needs_no_data():
    plan = tacit.PrivateRidge(**BUDGET).plan(4000, 3)
    assert plan["estimate"]["asked"]["columns"] == 4 and plan["epsilon"] <= 1.6
    plan = tacit.PrivateRidge(**BUDGET, label_bounds=(0, 9)).plan(4000, 3)
    assert plan["estimate"]["asked"]["columns"] == 3


MISTAKES = {
    "bounds too": ({"bounds": (0, 1)}, "bounds and estimate are two answers"),
    "a norm too": ({"data_norm": 1.0}, "data_norm and estimate are two answers"),
    "no text": ({"estimate": 0.1}, "must be a text"),
    "another estimate": ({"estimate": "scales"}, "and of nothing else"),
    "no privacy": ({"epsilon": np.inf}, "private run"),
    "delta 0": ({"delta": 0.0}, "delta above 0"),
}


@pytest.mark.parametrize("name", MISTAKES)
def test_what_does_not_go_together_is_refused(name):
    settings, sentence = MISTAKES[name]
    with pytest.raises(ValueError, match=sentence):
        tacit.PrivateLogisticRegression(**{**BUDGET, **settings}, classes=[0, 1]).fit(people().drop(columns="kind"), "y")


def test_records_that_cannot_be_counted_are_refused_without_a_value():
    frame = people().drop(columns="kind")
    model = tacit.PrivateLogisticRegression(**BUDGET, classes=[0, 1])
    with pytest.raises(ValueError, match="zeros of a sparse matrix"):
        model.fit(sparse.csr_matrix(frame[["year", "size"]].to_numpy(dtype=float)), frame["y"])
    with pytest.raises(ValueError, match='column "size", record 8: a value is missing'):
        gap = frame.astype({"size": float})
        gap.loc[7, "size"] = np.nan
        model.fit(gap, "y")
    with pytest.raises(ValueError, match="column .kind"):
        model.fit(people(), "y")
