"""Frames under a schema: pandas, polars and Arrow tables give the model of their file, and predict themselves."""

import json
import os
import re
import subprocess

import numpy as np
import pandas as pd
import polars as pl
import pytest

import tacit
from tacit import _arrow, _pandas
from tacit._matrix import table_of

BUDGET = {"epsilon": 2.0, "delta": 1e-4, "n_jobs": 1, "random_state": 5}
ROWS = 600

SCHEMA = {
    "missing_values": ["?", "999"],
    "label": {"name": "died", "positive": "yes", "values": ["no", "yes"]},
    "columns": [
        {"name": "age", "type": "number", "lower": 0, "upper": 100, "missing": 50},
        {"name": "work", "type": "category", "values": ["state", "private"], "missing": "zero", "other": "private"},
        {"name": "stage", "type": "category", "values": ["1", "2", "3"], "missing": "1"},
        {"name": "smokes", "type": "category", "values": ["False", "True"], "missing": "zero"},
        {"name": "id", "type": "ignore"},
    ],
}


def people(rows=ROWS, seed=1):
    rng = np.random.default_rng(seed)
    age = np.round(rng.uniform(0, 110, rows), 1)
    work = rng.choice(["state", "private", "own", "?"], rows)
    stage = rng.integers(1, 4, rows).astype(float)
    smokes = rng.integers(0, 2, rows).astype(bool)
    died = np.where(age / 50 + stage / 2 + smokes + rng.normal(size=rows) > 3, "yes", "no")
    age[::17], stage[::19] = np.nan, np.nan
    ids = [f"p{k}" for k in range(rows)]
    return pd.DataFrame({"age": age, "work": work, "stage": stage, "smokes": smokes, "id": ids, "died": died})


class Stream:
    def __init__(self, table):
        self.table = table

    def __arrow_c_stream__(self, requested_schema=None):
        return self.table.__arrow_c_stream__(requested_schema)


def pyarrow_table(frame):
    return pytest.importorskip("pyarrow", reason="skipped: no pyarrow").Table.from_pandas(frame, preserve_index=False)


KINDS = {
    "pandas": lambda frame: frame,
    "pandas, categories": lambda frame: frame.astype({"work": "category", "died": "category", "smokes": "category"}),
    "pandas, its own kinds": lambda frame: frame.convert_dtypes(),
    "pandas, columns turned": lambda frame: frame[frame.columns[::-1]],
    "polars": pl.from_pandas,
    "polars, categories": lambda frame: pl.from_pandas(frame).with_columns(pl.col("work", "died").cast(pl.Categorical)),
    "polars, in pieces": lambda frame: pl.concat([pl.from_pandas(frame[:100]), pl.from_pandas(frame[100:])], rechunk=False),
    "a stream": lambda frame: Stream(pl.from_pandas(frame)),
    "pyarrow": pyarrow_table,
    "pyarrow, one batch": lambda frame: pyarrow_table(frame).combine_chunks().to_batches()[0],
}


@pytest.fixture
def file(tmp_path):
    people().to_csv(tmp_path / "people.csv", index=False)
    return tmp_path / "people.csv"


def same_records(a, b):
    a, b = (x.array() for x in (a, b))
    return np.array_equal(a.toarray() if hasattr(a, "toarray") else a, b.toarray() if hasattr(b, "toarray") else b)


@pytest.mark.parametrize("kind", KINDS)
def test_a_frame_is_the_table_of_its_file(kind, file):
    schema = tacit.Schema(SCHEMA)
    file.write_text(re.sub(r"(\d)\.0,(False|True)", r"\1,\2", file.read_text()))  # pandas writes a stage with gaps as 1.0
    table = tacit.read(file, schema=schema)
    frame = table_of(_arrow.frame(KINDS[kind](people())), schema, None, "binary")
    assert same_records(table, frame) and np.array_equal(table.y, frame.y)
    assert table.feature_names == frame.feature_names


@pytest.mark.parametrize("kind", KINDS)
def test_a_frame_is_fitted_and_predicted_and_scored_by_its_columns_names(kind, file, tmp_path):
    schema, frame = tacit.Schema(SCHEMA), KINDS[kind](people())
    model = tacit.PrivateLogisticRegression(**BUDGET).fit(frame, "died", schema=schema)
    assert list(model.classes_) == ["no", "yes"]
    assert list(model.feature_names_in_) == ["age", "work", "stage", "smokes"]
    assert model.coef_.shape == (1, 8) and model.privacy_["unaccounted"] == []
    predicted = model.predict(frame)
    truth = people()["died"].to_numpy()
    assert set(predicted) == {"no", "yes"} and np.mean(predicted == truth) > 0.6
    assert model.score(frame) == model.score(frame, "died") == model.score(frame, truth) == np.mean(predicted == truth)
    assert model.predict_proba(frame).shape == (ROWS, 2)
    bare = people().drop(columns=["died", "id"])
    assert np.array_equal(model.predict(bare), predicted)
    assert model.score(bare, truth) == np.mean(predicted == truth)
    model.save(tmp_path / "m.json")
    again = tacit.read_model(tmp_path / "m.json")
    assert np.array_equal(again.predict(frame), predicted) and np.array_equal(again.predict(bare), predicted)
    assert again.json["transforms"]["schema"]["columns"] == SCHEMA["columns"]
    assert tacit.verify(tmp_path / "m.json")["ok"]


def test_the_model_of_a_frame_is_the_model_of_the_arrays_that_it_encodes():
    frame, schema = people(), tacit.Schema(SCHEMA)
    model = tacit.PrivateLogisticRegression(**BUDGET).fit(frame, schema=schema)
    X = tacit.PublicScaler(schema).fit_transform(frame)
    plain = tacit.PrivateLogisticRegression(**BUDGET, data_norm=schema.data_norm, classes=["no", "yes"])
    np.testing.assert_allclose(model.coef_, plain.fit(X, frame["died"]).coef_, atol=1e-9)


def test_a_frame_is_a_regression_with_the_schemas_bounds():
    frame = people()
    frame["cost"] = frame["age"].fillna(50) * 10 + 30
    label = {"name": "cost", "lower": 0, "upper": 1500}
    columns = [*SCHEMA["columns"], {"name": "died", "type": "category", "values": ["no", "yes"]}]
    schema = tacit.Schema({"columns": columns, "label": label, "missing_values": ["?"]})
    model = tacit.PrivateRidge(**{**BUDGET, "epsilon": 20.0}, alpha=0.1).fit(frame, "cost", schema=schema)
    assert model.score(frame) == model.score(frame, frame["cost"]) > 0.5
    text = tacit.PrivateRidge(**BUDGET).fit(frame.drop(columns="cost"), frame["cost"], schema=schema)
    assert text.label_ is None and text.predict(frame).shape == (ROWS,)


@pytest.mark.parametrize(
    "labels, want",
    [
        ([0, 1], np.array([0, 1])),
        ([False, True], np.array([False, True])),
        ([1.5, 2.5], np.array([1.5, 2.5])),
        (["b", "a"], np.array(["a", "b"])),
        ([3, 1, 2], np.array([1, 2, 3])),
        (["low", "mid", "high"], np.array(["high", "low", "mid"])),
    ],
)
@pytest.mark.parametrize("kind", ["pandas", "polars"])
def test_labels_keep_their_names_and_their_kind(labels, want, kind):
    frame = people().assign(died=[labels[k % len(labels)] for k in range(ROWS)])
    schema = tacit.Schema({**SCHEMA, "label": {"name": "died"}})
    model = tacit.PrivateLogisticRegression(**BUDGET).fit(KINDS[kind](frame), "died", schema=schema)
    assert np.array_equal(model.classes_, want) and model.classes_.dtype == want.dtype
    assert model.predict(frame).dtype == want.dtype and set(model.predict(frame)) <= set(labels)
    assert any("classes were read from the labels" in line for line in model.privacy_["unaccounted"])
    listed = tacit.Schema({**SCHEMA, "label": {"name": "died", "values": [str(label) for label in want]}})
    public = tacit.PrivateLogisticRegression(**BUDGET).fit(KINDS[kind](frame), "died", schema=listed)
    assert np.array_equal(public.classes_, want) and public.classes_.dtype == want.dtype
    assert not any("classes were" in line for line in public.privacy_["unaccounted"])
    assert np.array_equal(public.coef_, model.coef_)


def test_the_positive_label_of_the_schema_is_the_second_class():
    label = {"name": "died", "positive": "no", "values": ["no", "yes"]}
    frame, turned = people(), tacit.Schema({**SCHEMA, "label": label})
    model = tacit.PrivateLogisticRegression(**BUDGET).fit(frame, schema=turned)
    other = tacit.PrivateLogisticRegression(**BUDGET).fit(frame, schema=tacit.Schema(SCHEMA))
    assert list(model.classes_) == ["yes", "no"] and list(other.classes_) == ["no", "yes"]
    assert np.mean(model.predict(frame) == other.predict(frame)) > 0.9
    assert model.score(frame) > 0.6


def test_persons_are_a_column_of_the_frame():
    frame = people().assign(patient=[f"n{k // 4}" for k in range(ROWS)])
    schema = tacit.Schema(SCHEMA)
    settings = {**BUDGET, "rows_per_person": 2}
    model = tacit.PrivateLogisticRegression(**settings).fit(frame, "died", groups="patient", schema=schema)
    assert model.privacy_["unit"].startswith("One person")
    assert np.array_equal(model.predict(frame), model.predict(frame.drop(columns="patient")))
    codes = np.arange(ROWS) // 4
    array = tacit.PrivateLogisticRegression(**settings).fit(people(), "died", groups=codes, schema=schema)
    assert np.array_equal(model.coef_, array.coef_)
    plain = frame[["age", "stage", "patient", "died"]].fillna(1)
    named = tacit.PrivateLogisticRegression(**settings, data_norm=3.0, classes=["no", "yes"])
    by_name = named.fit(plain, "died", groups="patient").coef_.copy()
    assert np.array_equal(by_name, named.fit(plain[["age", "stage"]], plain["died"], groups=codes).coef_)
    with pytest.raises(ValueError, match="column 'patient' names no person"):
        frame.loc[3, "patient"] = None
        model.fit(frame, "died", groups="patient", schema=schema)


def test_a_table_is_weighed_by_persons_and_is_itself_afterwards(file):
    columns = [{**each, "other": "zero"} if each["name"] == "stage" else each for each in SCHEMA["columns"]]
    table, codes = tacit.read(file, schema=tacit.Schema({**SCHEMA, "columns": columns})), np.arange(ROWS) // 4
    settings = {**BUDGET, "solver": "dpgd"}
    before = tacit.PrivateLogisticRegression(**settings).fit(table).coef_
    persons = tacit.PrivateLogisticRegression(**settings, rows_per_person=2).fit(table, groups=codes)
    assert persons.privacy_["unit"].startswith("One person")
    assert persons.models_[0].json["transforms"]["schema"] is not None
    assert not np.array_equal(before, persons.coef_)
    assert np.array_equal(before, tacit.PrivateLogisticRegression(**settings).fit(table).coef_)


def test_object_columns_of_mixed_kinds_stay_what_they_are():
    frame = pd.DataFrame({"m": [True, 1, "1", 1.5, None, "x", 2], "b": [True, None, False, True, None, False, True],
                          "n": [1, 2, None, 4, 5.5, 6, 7]}).astype(object)  # fmt: skip
    frame["c"] = pd.Categorical(["u", None, "v", "u", None, "v", "v"])
    frame["k"] = pd.Categorical([3, 1, None, 3, 1, 1, 3])
    got = _arrow.frame(frame)
    assert list(got["c"]) == ["u", None, "v", "u", None, "v", "v"] and list(got["k"]) == [3, 1, None, 3, 1, 1, 3]
    assert list(got["m"]) == ["True", "1", "1", "1.5", None, "x", "2"]
    assert list(got["b"]) == [True, None, False, True, None, False, True]
    np.testing.assert_array_equal(got.matrix(["n"])[:, 0], [1, 2, np.nan, 4, 5.5, 6, 7])


def test_a_draft_names_itself_in_the_model_of_a_frame():
    draft = tacit.Schema.draft(people().drop(columns="id"), label="died")
    model = tacit.PrivateLogisticRegression(**BUDGET).fit(people().drop(columns="id"), schema=draft)
    assert any("the schema is a draft" in line for line in model.privacy_["unaccounted"])


def test_the_schema_may_be_a_path_or_its_content(tmp_path):
    (tmp_path / "s.json").write_text(json.dumps(SCHEMA))
    fits = [tacit.PrivateLogisticRegression(**BUDGET).fit(people(), schema=s).coef_
            for s in (SCHEMA, tmp_path / "s.json", str(tmp_path / "s.json"), tacit.Schema(SCHEMA))]  # fmt: skip
    assert all(np.array_equal(fits[0], other) for other in fits[1:])


def test_persons_are_a_column_of_a_table(tmp_path):
    frame = people().assign(stage="1", patient=[f"n{k // 4}" for k in range(ROWS)])
    frame.to_csv(tmp_path / "visits.csv", index=False)
    table = tacit.read(tmp_path / "visits.csv", schema=tacit.Schema(SCHEMA), person="patient")
    settings = {**BUDGET, "rows_per_person": 2}
    model = tacit.PrivateLogisticRegression(**settings).fit(table, groups="patient")
    assert model.privacy_["unit"].startswith("One person") and model.privacy_["rows_per_person"] == 2
    again = tacit.PrivateLogisticRegression(**settings).fit(table, groups="patient")
    assert np.array_equal(model.coef_, again.coef_)  # the table is itself after a fit that weighed it
    record = tacit.PrivateLogisticRegression(**BUDGET).fit(table)
    assert record.privacy_["unit"].startswith("One record")
    with pytest.raises(ValueError, match="goes with persons in an array; give groups as an array too"):
        tacit.PrivateLogisticRegression(**settings, weight_cap=1.0).fit(table, groups="patient", sample_weight=np.ones(ROWS))


def test_a_label_is_a_class_only_as_a_whole():
    schema = tacit.Schema({**SCHEMA, "label": {"name": "died", "values": ["no", "yes", "lost"]}})
    frame = people()
    assert set(table_of(_arrow.frame(pl.from_pandas(frame)), schema, None, "classes").y) == {0, 1}
    frame.loc[5, "died"] = "no\0more"
    with pytest.raises(ValueError, match="record 6: the label is not among the classes"):
        table_of(_arrow.frame(pl.from_pandas(frame)), schema, None, "classes")


def test_texts_that_differ_in_a_single_byte_are_different_categories():
    """Long and short ones; each comes twice, so that what was found for the first time is used."""
    words = ["x" * length for length in range(1, 20)]
    words += ["x" * at + "y" + "x" * (length - at - 1) for length in range(1, 20) for at in range(length)]
    words += [f"the same{k:08d}" for k in range(600)]
    schema = tacit.Schema({"columns": [{"name": "word", "type": "category", "values": words}]})
    cells = np.random.default_rng(3).permutation(words * 3).tolist()
    frame = pd.DataFrame({"word": cells})
    want = np.eye(len(words))[[words.index(cell) for cell in cells]]
    for kind in (pl.from_pandas(frame), pl.from_pandas(frame).to_arrow(), frame, frame.astype("category")):
        found = table_of(_arrow.frame(kind), schema).array().toarray()
        np.testing.assert_array_equal(found, want)


def test_objects_are_told_apart_by_what_they_hold_and_not_by_where_they_lie():
    """Equal texts of two addresses are one value; None, NaN and pandas' NA are none."""
    texts = ["".join(["sta", "te"]), "".join(["sta", "te"]), "private", None, float("nan"), float("nan"), pd.NA, np.nan]
    assert texts[0] is not texts[1]
    order = np.random.default_rng(4).integers(0, len(texts), 500)
    values = np.array([texts[k] for k in order], dtype=object)
    for column in (values, np.array([values, values]).T[:, 0]):  # the second is no contiguous memory
        codes, distinct = _pandas._factorized(column)
        plain, listed = pd.factorize(column)
        np.testing.assert_array_equal(codes, plain)
        assert distinct.tolist() == listed.tolist() and len(distinct) == 2
    many = np.array([f"n{k % 3000}" for k in range(40000)], dtype=object)  # each an object of its own
    np.testing.assert_array_equal(_pandas._factorized(many)[0], pd.factorize(many)[0])


# ---- the same records by every door ----

LOWER, UPPER = [0.0, -5.0, 1.0], [10.0, 5.0, 4.0]
ESTIMATORS = {
    "PrivateLogisticRegression": ({"C": 0.5}, {"classes": [0, 1]}, {"values": ["0", "1"], "positive": "1"}),
    "PrivateLinearSVC": ({"loss": "smoothed_hinge:width=0.5"}, {"classes": [0, 1]}, {"values": ["0", "1"], "positive": "1"}),
    "PrivateRidge": ({}, {"label_bounds": (0, 12)}, {"lower": 0, "upper": 12}),
    "PrivateLasso": ({"alpha": 0.01}, {"label_bounds": (0, 12)}, {"lower": 0, "upper": 12}),
    "PrivateElasticNet": ({"alpha": 0.01}, {"label_bounds": (0, 12)}, {"lower": 0, "upper": 12}),
    "PrivatePoissonRegression": ({"alpha": 0.01}, {"label_bounds": (0, 12)}, {"lower": 0, "upper": 12}),
    "PrivateGammaRegression": ({"alpha": 0.01}, {"label_bounds": (0, 12)}, {"lower": 0, "upper": 12}),
}


@pytest.mark.parametrize("name", ESTIMATORS)
def test_arrays_frames_and_tables_with_bounds_or_a_schema_give_one_model_and_one_prediction(name, tmp_path):
    more, public, label = ESTIMATORS[name]
    rng = np.random.default_rng(3)
    X = rng.uniform(LOWER, UPPER, (800, 3))
    y = np.minimum(rng.poisson(np.exp(0.1 * X[:, 0] - 0.2 * X[:, 1])), 12)
    y = (y > 1).astype(int) if "classes" in public else y
    frame = pd.DataFrame(X, columns=["a", "b", "c"]).assign(y=y)
    frame.to_csv(tmp_path / "t.csv", index=False)
    columns = [
        {"name": each, "type": "number", "lower": low, "upper": high}
        for each, low, high in zip("abc", LOWER, UPPER)
    ]
    schema = tacit.Schema({"scale": "symmetric", "columns": columns, "label": {"name": "y", **label}})
    schema.save(tmp_path / "s.json")
    by_bounds, by_schema = {"bounds": (LOWER, UPPER), **public}, {}
    path, kind = str(tmp_path / "s.json"), "classes" if "classes" in public else "real"
    table, again = (tacit.read(tmp_path / "t.csv", schema=each, labels=kind) for each in (schema, path))
    doors = {  # parameters, what fit is given, what predict is given
        "array, bounds": (by_bounds, (X, y), X),
        "frame, bounds": (by_bounds, (frame, "y"), frame),
        "polars, bounds": (by_bounds, (pl.from_pandas(frame), "y"), pl.from_pandas(frame)),
        "frame, schema": (by_schema, (frame, "y", None, None, schema), frame),
        "frame, schema's path": (by_schema, (frame, None, None, None, path), frame),
        "frame, schema and the same bounds of the label": (public, (frame, "y", None, None, schema), frame),
        "table, schema": (by_schema, (table,), table),
        "table, schema's path": (by_schema, (again,), again),
    }
    losses, predictions = set(), {}
    for door, (settings, given, asked) in doors.items():
        fitted = getattr(tacit, name)(**{**BUDGET, **more, **settings}).fit(*given)
        fitted.save(tmp_path / "m.json")
        model = tacit.read_model(tmp_path / "m.json")
        losses.add(model.json["loss"])
        predictions[door] = fitted.predict(asked).astype(float)
        predictions["margins, " + door] = fitted.margins(asked)[:, 0]
        predictions["file, " + door] = model.predict(asked).astype(float)
        predictions["margins, file, " + door] = model.margins(asked)[:, 0]
    for output in ("label", "margin"):  # of the last model, which reads the file of the table
        command = [os.environ["TACIT"], "predict", "m.json", "t.csv", "--output", output]
        told = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=True).stdout
        predictions[f"{'margins, ' if output == 'margin' else ''}command"] = np.array(told.split(), dtype=float)
    told = subprocess.run(command[:4], cwd=tmp_path, capture_output=True, text=True, check=True).stdout
    unnamed = "margins, command" if "classes" in public else "command"  # of classes the command says more than the label
    np.testing.assert_array_equal(np.array(told.split(), dtype=float), predictions[unnamed])
    assert len(losses) == 1
    for door, found in predictions.items():
        same = predictions["margins, array, bounds" if door.startswith("margins") else "array, bounds"]
        np.testing.assert_allclose(found, same, rtol=1e-9, atol=1e-9, err_msg=door)
    assert np.std(predictions["array, bounds"]) > 0.05
