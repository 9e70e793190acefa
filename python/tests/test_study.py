"""A study from Python: the library's file, its models and its figures."""

import json
import os
import pathlib
import re

import numpy as np
import pytest

import tacit

GUIDES = [pathlib.Path(__file__).parents[2] / "docs" / "guide" / name for name in ("study.md", "moments.md", "describe.md")]
SCHEMA = {
    "columns": [
        {"name": "a", "type": "number", "lower": 0, "upper": 1},
        {"name": "b", "type": "number", "estimate": True},
        {"name": "y", "type": "category", "values": ["0", "1"]},
    ]
}
FIT = {"name": "fit", "kind": "fit", "label": "y", "positive": "1", "loss": "logistic"}
PLAN = {
    "epsilon": 1,
    "delta": 1e-6,
    "schema": SCHEMA,
    "stages": [{"name": "bounds", "kind": "estimate"}, FIT, {"name": "score", "kind": "score", "of": "fit"}],
}


def table(rows=500):
    draw = np.random.default_rng(3)
    a, b = draw.random(rows), 100 * draw.random(rows)
    return np.column_stack([a, b, draw.random(rows) < a])


def write(path):
    np.savetxt(path, table(), delimiter=",", header="a,b,y", comments="", fmt=["%.6f", "%.4f", "%d"])


@pytest.mark.parametrize("guide", GUIDES, ids=lambda path: path.stem)
def test_the_example_of_the_guide_runs(guide, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    blocks = re.findall(r"^```python\n(.*?)^```$", guide.read_text(), re.M | re.S)
    assert blocks
    names = {}
    for block in blocks:
        exec(compile(block, guide.name, "exec"), names)


def test_the_notebook_runs(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    cells = json.loads((GUIDES[0].parents[2] / "examples" / "moments.ipynb").read_text(encoding="utf-8"))["cells"]
    names = {}
    for cell in cells:
        if cell["cell_type"] == "code":
            exec(compile("".join(cell["source"]), "moments.ipynb", "exec"), names)
    picture = names["correlations"](names["table"])._repr_svg_()
    assert picture.count("<rect") == 15 and "education" in picture
    assert names["difference"]["standard_error"] < names["wide"]["weights"][0]["standard_error"]


def test_moments_answer_linear_models(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write("t.csv")
    study = tacit.Study({**PLAN, "epsilon": 1e5, "stages": [PLAN["stages"][0], {"name": "m", "kind": "moments"}]})
    with pytest.raises(ValueError, match="has not run"):
        tacit.lm(study, "a")
    study.run("t.csv", output="m.json", random_state=1)
    assert tacit.verify("m.json")["ok"]
    model = tacit.lm(study, "y=1", ["a"])
    x = np.column_stack([table()[:, 0], np.ones(500)])
    exact = np.linalg.lstsq(x, table()[:, 2], rcond=None)[0]
    assert model["weights"][0]["estimate"] == pytest.approx(exact[0], abs=0.05)
    assert model == tacit.lm("m.json", "y=1 ~ a") == tacit.lm("m.json", "y=1", ["a"], stage="m")
    assert len(tacit.lm("m.json", "a ~ .", ridge="auto", best=2)["best"]) == 2
    assert [each["name"] for each in tacit.lm("m.json")["columns"]] == ["a", "b", "y=0", "y=1"]
    with pytest.raises(ValueError, match="no column"):
        tacit.lm("m.json", "c")
    several = tacit.lm("m.json", "y=1 ~ a + b", beside=["y=1 ~ a", {"label": "b", "features": ["a"]}])
    assert several["beside"][0]["weights"] == model["weights"] and several["beside"][1]["label"] == "b"
    assert [(each["name"], each["beside"]) for each in several["differences"]] == [("a", 1), ("a", 2)]
    off = several["weights"][0]["estimate"] - model["weights"][0]["estimate"]
    assert several["differences"][0]["estimate"] == pytest.approx(off, rel=1e-9)
    joint = np.array(several["joint"]["population"])
    contrast = np.array([1, 0, 0, -1, 0, 0, 0])
    assert several["joint"]["models"] == [0, 0, 0, 1, 1, 2, 2] and several["joint"]["names"][3] == "a"
    assert several["differences"][0]["standard_error"] == pytest.approx(np.sqrt(contrast @ joint @ contrast), rel=1e-6)
    assert np.linalg.eigvalsh(joint).min() > -1e-9 * np.trace(joint)


@pytest.mark.parametrize("frame", (False, True))
def test_a_table_is_described(frame, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write("t.csv")
    data = "t.csv"
    if frame:
        data = pytest.importorskip("pandas").read_csv("t.csv", dtype={"y": str})
        data.loc[:9, "a"] = np.nan
    schema = {"columns": [{**SCHEMA["columns"][0], "missing": 0.5}, *SCHEMA["columns"][1:]]}
    asked = {"estimate": "bounds", "output": "d.json", "sampling": False, "random_state": 1}  # intervals of 95 %: a seed
    told = tacit.describe(data, schema, epsilon=1e5, delta=1e-6, **asked)
    assert tacit.verify("d.json")["ok"]
    assert told["a"]["mean"]["value"] == pytest.approx(table()[10 * frame :, 0].mean(), abs=1e-3)
    assert told["a"]["missing"]["value"] == pytest.approx(10 * frame / 500, abs=1e-3)
    rows = {row[:3]: row[3:] for row in told.rows}
    assert len(rows) == len(told.rows)
    assert rows["y", "1", "count"][0] == pytest.approx(table()[:, 2].sum(), abs=0.5)
    assert rows["y", "(other)", "count"][-1]
    assert "<td>quantile 0.5</td>" in told._repr_html_() and "y" in repr(told)
    with pytest.raises(KeyError):
        told["c"]
    with pytest.raises(ValueError, match="name one of the kind describe"):
        told.study.description("bounds")


def test_a_study_is_planned_run_and_verified(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write("t.csv")
    study = tacit.Study(PLAN)
    planned = {each["name"]: each for each in study.plan(500)["stages"]}
    assert planned["fit"]["counts"] == "mu"
    with pytest.raises(ValueError, match="has not run"):
        study.model()
    study.run("t.csv", output="s.json", random_state=1)
    assert study.file == json.load(open("s.json"))
    assert [each["share"] for each in study.file["stages"]] == [planned[each["name"]]["share"] for each in study.file["stages"]]
    model = study.model("fit")
    assert model.privacy["epsilon"] == 1 and model.coef_.shape == (1, 2)
    assert 0 <= study.scores("score")["accuracy"]["value"] <= 1
    with pytest.raises(ValueError, match="name one of the kind score"):
        study.scores("fit")
    assert tacit.verify("s.json")["verdict"] == "reproducible"


def test_a_frame_gives_what_its_file_gives(tmp_path, monkeypatch):
    pandas = pytest.importorskip("pandas")
    monkeypatch.chdir(tmp_path)
    write("t.csv")
    from_file = tacit.Study(PLAN).run("t.csv", random_state=1).file
    from_frame = tacit.Study(PLAN).run(pandas.read_csv("t.csv"), random_state=1).file
    assert from_file["stages"] == from_frame["stages"]


def test_a_refused_study_charges_nothing(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write("t.csv")
    ledger = tacit.Ledger.create("L", epsilon=3, delta=1e-5)
    with pytest.raises(ValueError, match="did you mean logistic"):
        tacit.Study({**PLAN, "stages": [PLAN["stages"][0], {**FIT, "loss": "logistik"}]}).run("t.csv", ledger=ledger)
    assert not ledger.state()["runs"] and not os.path.exists("s.json")
    tacit.Study(PLAN).run("t.csv", ledger=ledger).write("s.json")
    assert len(ledger.state()["runs"]) == 1
    assert tacit.verify("s.json", ledger)["verdict"] == "verified"
