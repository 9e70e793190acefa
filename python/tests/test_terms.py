"""A schema with terms on Python's doors: frames and files give one table, one model and the same bits of predictions."""

import json
import os
import subprocess

import numpy as np
import pandas as pd
import polars as pl
import pytest

import tacit

ROWS = 600
SCHEMA = {
    "version": 2,
    "columns": [
        {"name": "age", "type": "number", "lower": 18, "upper": 90},
        {"name": "alb", "type": "number", "lower": 0, "upper": 7, "missing": "indicator"},
        {"name": "work", "type": "category", "values": ["farm", "shop", "desk"], "missing": "indicator"},
    ],
    "terms": [{"of": "age", "as": "power", "degree": 2}, {"of": "alb", "share": 0.5}, "work", {"product": ["age", "work"]}, {"product": ["alb", "work"]},
              {"of": {"of": "alb", "as": "log1p"}, "as": "spline", "kind": "natural", "knots": [1, 1.5]},
              {"of": "age", "as": "cut", "breaks": [30, 65]}],
    "label": {"name": "y", "values": ["no", "yes"], "positive": "yes"},
}


def people():
    rng = np.random.default_rng(5)
    frame = pd.DataFrame({"age": rng.uniform(10, 95, ROWS), "alb": rng.uniform(-1, 8, ROWS)})
    frame.loc[::4, "alb"] = np.nan
    frame["work"] = rng.choice(["farm", "shop", "desk"], ROWS).astype(object)
    frame.loc[::7, "work"] = None
    frame["y"] = np.where(rng.uniform(size=ROWS) < 0.3 + 0.4 * frame["alb"].isna(), "yes", "no")
    return frame


def doors(folder):
    """The same table by every door."""
    frame = people()
    frame.to_csv(folder / "t.csv", index=False)
    frame.to_json(folder / "t.jsonl", orient="records", lines=True, double_precision=15)
    frame.to_stata(folder / "t.dta", version=118, write_index=False)
    rounded = pd.read_json(folder / "t.jsonl", lines=True, precise_float=True)  # as many digits as the file has
    return frame, rounded


def test_every_door_makes_the_same_features(tmp_path):
    frame, rounded = doors(tmp_path)
    schema = tacit.Schema(SCHEMA)
    wanted = tacit.read(tmp_path / "t.csv", schema=schema)
    dense = wanted.array().toarray()
    assert np.array_equal(tacit.read(tmp_path / "t.dta", schema=schema).array().toarray(), dense)
    assert np.array_equal(tacit.PublicScaler(schema).fit(frame).transform(frame), dense)
    scaler = tacit.PublicScaler(schema).fit(frame)
    assert list(scaler.get_feature_names_out()) == list(wanted.feature_names) == schema.features
    assert np.array_equal(scaler.transform(pl.from_pandas(frame)), scaler.transform(frame))
    lines = tacit.read(tmp_path / "t.jsonl", schema=schema).array().toarray()
    assert np.array_equal(lines, scaler.transform(rounded))
    assert (np.linalg.norm(dense, axis=1) <= schema.data_norm * (1 + 1e-12)).all()
    assert schema.data_norm == pytest.approx(np.sqrt(6.25))


def test_a_model_of_terms_predicts_the_raw_table_to_the_bit(tmp_path):
    frame, _ = doors(tmp_path)

    def model():
        return tacit.PrivateLogisticRegression(epsilon=2.0, delta=1e-6, random_state=3)

    fitted = model().fit(frame, schema=tacit.Schema(SCHEMA))
    table = model().fit(tacit.read(tmp_path / "t.csv", schema=tacit.Schema(SCHEMA)))
    assert np.array_equal(fitted.coef_, table.coef_) and fitted.intercept_ == table.intercept_
    fitted.save(tmp_path / "m.json")
    raw = frame.drop(columns="y")
    margins = fitted.margins(raw)[:, 0]
    command = [os.environ["TACIT"], "predict", "m.json", "t.csv", "--output", "margin"]
    told = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=True).stdout
    assert np.array_equal(np.array(told.split(), dtype=float), margins)
    assert np.array_equal(tacit.read_model(tmp_path / "m.json").margins(pl.from_pandas(raw))[:, 0], margins)
    assert tacit.verify(tmp_path / "m.json")["ok"]
    with pytest.raises(ValueError, match="no column .age."):
        fitted.predict(raw.drop(columns="age"))
    with pytest.raises(ValueError, match="not in the schema's list"):
        fitted.predict(raw.assign(work="mine"))


DATES = {
    "version": 2,
    "columns": [
        {"name": "seen", "type": "date", "lower": "2015-01-01", "upper": "2024-12-31"},
        {"name": "born", "type": "date", "lower": "1920-01-01", "upper": "2006-12-31", "missing": "indicator"},
    ],
    "terms": [
        {"of": ["seen", "born"], "as": "years_between", "lower": 18, "upper": 100, "name": "age"},
        {"of": "seen", "as": "weekday"},
        {"product": ["age", {"of": "born", "as": "month"}]},
    ],
}


def test_dates_of_frames_are_those_of_files(tmp_path):
    rng = np.random.default_rng(2)
    seen = pd.to_datetime("1965-03-01") + pd.to_timedelta(rng.integers(0, 23000, ROWS), "D") + pd.Timedelta("1h")
    born = pd.Series(pd.to_datetime("1915-01-01") + pd.to_timedelta(rng.integers(0, 34000, ROWS), "D"))
    born[::6] = pd.NaT
    frame = pd.DataFrame({"seen": seen, "born": born})
    frame.to_csv(tmp_path / "t.csv", index=False)
    schema = tacit.Schema(DATES)
    wanted = tacit.read(tmp_path / "t.csv", schema=schema, labels="none").array()
    wanted = wanted if isinstance(wanted, np.ndarray) else wanted.toarray()
    scaler = tacit.PublicScaler(schema).fit(frame)
    days = frame.assign(born=frame["born"].dt.date)  # objects
    texts = frame.assign(born=frame["born"].dt.strftime("%Y-%m-%d"))
    polars = pl.DataFrame({"seen": seen.to_numpy(), "born": born.to_numpy()}).with_columns(pl.col("born").cast(pl.Date))
    coarse = polars.with_columns(pl.col("seen").cast(pl.Datetime("ms")))
    for same in (frame, days, texts, polars, coarse):
        assert np.array_equal(scaler.transform(same), wanted)
    with pytest.raises(ValueError, match="a number stands where a date is wanted"):
        scaler.transform(frame.assign(born=3))
    with pytest.raises(ValueError, match="neither numbers, booleans nor texts"):
        scaler.transform(frame.assign(seen=frame["seen"].dt.tz_localize("Europe/Berlin", ambiguous=True, nonexistent="shift_forward")))
    with pytest.raises(ValueError, match="neither numbers, booleans nor texts"):
        tacit.PublicScaler(tacit.Schema(SCHEMA)).fit(people()).transform(people().assign(age=seen))


def test_a_drafted_key_of_an_older_form_is_refused_in_one_sentence():
    with pytest.raises(ValueError, match='write "version": 2'):
        tacit.Schema({**SCHEMA, "version": 1}).check()
    found = tacit.Schema({**SCHEMA, "terms": ["age"]}).check()
    assert {each["column"] for each in found if "no term uses" in each["text"]} == {"alb", "work"}
    assert json.loads(tacit.Schema(SCHEMA).text)["terms"] == SCHEMA["terms"]


FORMULAS = {
    "~ age*work": ["age", "work", {"product": ["age", "work"]}],
    "~ ns(age, 3) + C(work, contr.treatment('shop'))": [
        {"of": "age", "as": "spline", "kind": "natural", "knots": [42, 66]}, "work"],
    "~ bs(age, knots=[30, 50], degree=2) + missing(alb)": [
        {"of": "age", "as": "spline", "kind": "bspline", "degree": 2, "knots": [30, 50]}, {"of": "alb", "as": "missing"}],
    "~ poly(age, 3, raw=True) + log1p(alb) + cut(alb, [0, 2, 7])": [
        {"of": "age", "as": "power", "degree": 3}, {"of": "alb", "as": "log1p"}, {"of": "alb", "as": "cut", "breaks": [2]}],
    "~ age + I(age**2) + work": [{"of": "age", "as": "power", "degree": 2}, "work"],
    "~ age*work + I(age**2)": ["age", "work", {"product": ["age", "work"]}, {"of": "age", "as": "square"}],
    "~ {age**2} + I(alb/age) + I(1/age) + age:work:alb": [
        {"of": "age", "as": "square"}, {"of": ["alb", "age"], "as": "ratio"}, {"of": "age", "as": "reciprocal"},
        {"product": ["age", "work", "alb"]}],
}
REFUSED = {
    "~ .": "stands for what the table holds", "~ scale(age)": "reads the records", "~ factor(work)": "reads the records",
    "~ poly(age, 2)": "raw=True", "~ age - 1": "leave 0 and -1 away", "~ (age": "not well formed",
    "log(y) ~ age": "no column", "~ C(work, levels=['a'])": "list them under", "~ C(work, Sum)": "compared with one",
    "~ ns(log(age), 3)": "knots are public", "~ ns(age, 1)": "knots are public", "~ ns(age, knots=quantile(age))": "list of numbers",
    "~ exp(age)": "no function that can be public", "~ {age**3}": "no function", "~ age.mean()": "no function",
    "~ nobody": "does not describe", "~ 1": "list of 1 to 4096 terms",
}  # fmt: skip


def test_a_formula_is_the_terms_that_it_says(tmp_path):
    schema = tacit.Schema(SCHEMA)
    for text, terms in FORMULAS.items():
        made = schema.with_terms(text)
        said = [{k: v for k, v in each.items() if k != "comment"} if isinstance(each, dict) else each for each in made.json["terms"]]
        assert said == terms and made.features and made.label == "y"
    assert [c.get("reference") for c in schema.with_terms(list(FORMULAS)[1]).json["columns"]] == [None, None, "shop"]
    assert "work=farm" in schema.with_terms(list(FORMULAS)[1]).features and "reference" not in str(schema.json)
    for text, why in REFUSED.items():
        with pytest.raises(ValueError, match=why):
            schema.with_terms(text).check()
    odd = tacit.Schema({"columns": [{"name": "a b", "type": "number", "lower": 1, "upper": 2}, {"name": "z", "type": "number", "lower": 0, "upper": 3}],
                        "scale": "unit", "label": {"name": "y", "lower": 0, "upper": 1}})  # fmt: skip
    other = odd.with_terms("z ~ log(`a b`)")
    assert other.features == ["log(a b)"] and other.json["label"] == {"name": "z", "lower": 0, "upper": 3}
    assert other.ignored == ["y"]


def test_a_model_of_a_formula_is_that_of_its_terms():
    frame = people()

    def fit(**more):
        return tacit.PrivateLogisticRegression(epsilon=2.0, delta=1e-6, random_state=3).fit(frame, **more)

    text, terms = "y ~ ns(age, 3) + alb*work", [{"of": "age", "as": "spline", "kind": "natural", "knots": [42, 66]},
                                                "alb", "work", {"product": ["alb", "work"]}]  # fmt: skip
    one, other = fit(schema=tacit.Schema(SCHEMA), formula=text), fit(schema=SCHEMA, formula=terms)
    assert np.array_equal(one.coef_, other.coef_)
    assert np.array_equal(one.predict(frame), other.predict(frame))
    assert "evenly" in json.dumps(one.model_.json["transforms"]["schema"])
    with pytest.raises(ValueError, match="give their schema"):
        fit(formula=text)


def test_wages_by_experience_and_its_square_have_all_their_intervals():
    rng, n = np.random.default_rng(3), 21000
    school, years = np.clip(np.round(rng.normal(12, 3, n)), 0, 20), rng.uniform(0, 45, n)
    wage = 0.5 + 0.09 * school + 0.04 * years - 0.0006 * years**2 + 0.5 * (rng.exponential(size=n) - 1)  # skewed
    columns = [{"name": name, "type": "number", "lower": 0, "upper": top} for name, top in (("school", 20), ("years", 50))]
    schema = {"columns": columns, "label": {"name": "wage", "lower": -1, "upper": 6}}
    model = tacit.PrivateRidge(alpha=0, errors="robust", epsilon=1.0, delta=1e-6, random_state=1)
    model.fit(pd.DataFrame({"school": school, "years": years, "wage": wage}), schema=schema, formula="~ school + years + I(years**2)")
    X = np.column_stack([school, years, years**2, np.ones(n)])  # raw, and the intercept last
    bread = np.linalg.inv(X.T @ X)
    residuals = wage - X @ (bread @ (X.T @ wage))
    exact = np.sqrt(np.diag(bread @ (X.T * residuals**2) @ X @ bread))
    ends = np.roll(model.conf_int(), -1, axis=0)
    assert list(model.summary().facts["weights"][k]["name"] for k in range(3)) == ["school", "years", "years^2"]
    assert np.all(np.abs(ends.mean(axis=1) - bread @ (X.T @ wage)) < 4 * exact)
    assert np.all(ends[:, 1] - ends[:, 0] <= 1.4 * 2 * 1.96 * exact)
