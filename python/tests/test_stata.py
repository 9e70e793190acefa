"""Stata files that pandas writes are the tables of the frames that they were written from."""

import numpy as np
import pandas as pd
import pytest

import tacit

ROWS = 300
SCHEMA = {
    "label": {"name": "died", "values": ["no", "yes"], "positive": "yes"},
    "columns": [
        {"name": "age", "type": "number", "lower": 0, "upper": 110, "missing": 45},
        {"name": "visits", "type": "number", "lower": 0, "upper": 90},
        {"name": "work", "type": "category", "values": ["state", "private", "own"], "missing": "zero"},
        {"name": "town", "type": "category", "values": ["Köln", "Bonn", 'the "Ulm", south'], "missing": "zero"},
        {"name": "id", "type": "ignore"},
    ],
}


def people():
    rng = np.random.default_rng(3)
    age = np.round(rng.uniform(0, 110, ROWS), 1)
    age[::9] = np.nan
    work = pd.Categorical(rng.choice(["state", "private", "own"], ROWS), ["own", "private", "state"])
    frame = pd.DataFrame(
        {
            "age": age,
            "visits": rng.integers(0, 90, ROWS).astype("int16"),
            "work": work,
            "town": rng.choice(["Köln", "Bonn", 'the "Ulm", south', ""], ROWS),
            "id": np.arange(ROWS, dtype="int32"),
            "died": pd.Categorical(rng.choice(["no", "yes"], ROWS)),
        }
    )
    frame.loc[::11, "work"] = None
    return frame


@pytest.mark.parametrize("version", [114, 117, 118, 119])
@pytest.mark.parametrize("order", ["little", "big"])
def test_a_stata_file_is_the_table_and_the_draft_of_its_frame(version, order, tmp_path):
    frame = people()
    frame.to_stata(tmp_path / "people.dta", version=version, byteorder=order, write_index=False)
    frame.to_csv(tmp_path / "people.csv", index=False)
    dta, csv = (tacit.read(tmp_path / name, schema=tacit.Schema(SCHEMA)) for name in ("people.dta", "people.csv"))
    assert (dta.array() != csv.array()).nnz == 0 and np.array_equal(dta.y, csv.y)
    drafts = [tacit.Schema.draft(tmp_path / name, label="died") for name in ("people.dta", "people.csv")]
    assert drafts[0].json == drafts[1].json


def test_a_model_of_a_stata_file_is_that_of_the_frame_that_pandas_reads_from_it(tmp_path):
    people().to_stata(tmp_path / "people.dta", version=118, write_index=False)
    schema = tacit.Schema(SCHEMA)

    def model():
        return tacit.PrivateLogisticRegression(epsilon=1.0, delta=1e-6, random_state=4)

    table = model().fit(tacit.read(tmp_path / "people.dta", schema=schema))
    frame = model().fit(pd.read_stata(tmp_path / "people.dta"), "died", schema=schema)
    assert np.array_equal(table.coef_, frame.coef_)


def test_codes_of_which_few_have_labels_are_drafted_as_numbers(tmp_path):
    frame = pd.DataFrame({"income": np.arange(40, dtype="int16"), "y": np.arange(40, dtype="int8") % 2})
    labels = {"income": {0: "none"}, "y": {0: "no", 1: "yes"}}
    frame.to_stata(tmp_path / "few.dta", version=118, write_index=False, value_labels=labels)
    root = tacit.Schema.draft(tmp_path / "few.dta", label="y").json
    assert sorted(root["label"]["values"]) == ["no", "yes"]
    assert root["columns"][0]["type"] != "category"
