"""PrivateSearchCV: every model and the choice are paid for, and the winner's certificate says so."""

import json
import math
import os
import pickle
import subprocess
import warnings

import numpy as np
import pandas as pd
import polars
import pyarrow
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.pipeline import make_pipeline

import tacit

BASE = {"data_norm": 2.0, "classes": [0, 1], "n_jobs": 1}
GRID = {"C": [1e-4, 0.1, 10.0]}


def data(rows=3000, cols=4, seed=5):
    rng = np.random.default_rng(seed)
    X = rng.uniform(-1, 1, size=(rows, cols))
    return X, (X @ rng.normal(size=cols) + 0.3 * rng.normal(size=rows) > 0).astype(int)


def search(grid=GRID, base=None, **settings):
    base = tacit.PrivateLogisticRegression(**BASE, solver="dpgd") if base is None else base
    return tacit.PrivateSearchCV(base, grid, **{"epsilon": 1.0, "delta": 1e-5, **settings})


def test_the_plan_shows_the_price_of_all_models_and_the_choice():
    plan = search().plan(3000, 4)
    assert plan["models"] == 3 and plan["train_rows"] == 2400 and plan["validation_rows"] == 600
    assert plan["events"].count(plan["choice"]) == 1 and plan["choice"] == "exponential:epsilon=0.1"
    assert 0.3 < plan["each"] < 1.0  # composed: more than a third of what is left
    assert 0.95 < tacit.account(plan["events"], 1e-5)["epsilon"] <= 1.0
    alone = tacit.PrivateLogisticRegression(**BASE, solver="dpgd", C=0.1, epsilon=plan["each"], delta=1e-5)
    assert len(plan["events"]) == 3 * len(alone.plan(2400, 4)["events"]) + 1


def test_a_longer_grid_leaves_less_for_each_model():
    assert search({"C": [0.1] * 8}).plan(3000, 4)["each"] < 0.7 * search({"C": [0.1] * 2}).plan(3000, 4)["each"]


def test_the_winner_carries_the_price_of_the_search_and_verifies(tmp_path):
    X, y = data()
    fitted = search().fit(X, y)
    assert fitted.privacy_["epsilon"] == 1.0 and len(fitted.privacy_["events"]) == len(search().plan(3000, 4)["events"])
    fitted.save(tmp_path / "m.json")
    model = tacit.read_model(tmp_path / "m.json")
    price = tacit.account(fitted.privacy_["events"], 1e-5)["epsilon"]
    assert model.privacy["epsilon"] == 1.0
    assert tacit.account(model.privacy["events"], 1e-5)["epsilon"] == pytest.approx(price, rel=1e-9)  # equal ones merge
    answer = tacit.verify(tmp_path / "m.json")
    assert answer.verdict is tacit.Verdict.VERIFIED and answer["replanned"], answer
    fits = model.json["privacy"]["fits"]
    assert len(fits) > 1 and model.json["privacy"]["choice"]
    assert len([c for c in answer["checks"] if c["name"] == "asked"]) == len(fits)  # every one is planned again
    assert pickle.loads(pickle.dumps(fitted)).predict(X).shape == (3000,)


def test_events_that_no_accountant_composes_are_divided_and_still_add_up(tmp_path):
    X, y = data()
    fitted = search(base=tacit.PrivateLogisticRegression(**BASE, solver="objpert")).fit(X, y)
    assert tacit.account(fitted.privacy_["events"], 1e-5)["epsilon"] <= 1.0
    fitted.save(tmp_path / "m.json")
    assert tacit.verify(tmp_path / "m.json")["ok"]


def test_the_choice_prefers_what_predicts_better():
    X, y = data(rows=6000)
    # C of 1e-6 leaves next to nothing but noise.
    picks = [search({"C": [1e-6, 1.0]}, epsilon=2.0, random_state=k).fit(X, y).best_index_ for k in range(8)]
    assert sum(picks) == 8


def test_a_regression_is_chosen_by_clipped_squared_errors():
    rng = np.random.default_rng(6)
    X = rng.uniform(-1, 1, size=(4000, 3))
    target = X @ np.array([2.0, -1.0, 0.5]) + 0.1 * rng.normal(size=4000)
    base = tacit.PrivateRidge(data_norm=2.0, label_bounds=(-4, 4), n_jobs=1, solver="dpgd")
    fitted = search({"alpha": [0.01, 1e5]}, base, epsilon=3.0, random_state=1).fit(X, target)
    assert fitted.best_params_ == {"alpha": 0.01} and fitted.score(X, target) > 0.5


def test_the_ledger_is_charged_once_for_everything(tmp_path):
    X, y = data()
    ledger = tacit.Ledger.create(tmp_path / "l.db", epsilon=1.5, filter="sum", delta=1e-4)
    fitted = search(ledger=ledger).fit(X, y)
    assert len(ledger.state()["runs"]) == 1 and ledger.spent["epsilon"] == pytest.approx(1.0)
    fitted.save(tmp_path / "m.json")
    assert tacit.verify(tmp_path / "m.json", ledger.path)["ok"]
    edited = json.loads((tmp_path / "m.json").read_text())
    edited["privacy"]["fits"][-1]["asked"]["row_norm"] *= 2
    (tmp_path / "e.json").write_text(json.dumps(edited))
    said = [check for check in ledger.check([tmp_path / "e.json"])["checks"] if not check["ok"]]
    assert len(said) == 1 and "was asked for" in said[0]["text"]
    with pytest.raises(tacit.BudgetError):
        search(ledger=ledger).fit(X, y)


@pytest.mark.parametrize(
    "settings, sentence",
    [
        ({"epsilon": None}, "epsilon is not given"),
        ({"delta": None}, "delta is not given"),
        ({"share": 0}, "share must be"),
        ({"test_size": 1.0}, "test_size must be"),
        ({"grid": {"epsilon": [1, 2]}}, "belongs to the whole search"),
        ({"base": tacit.PrivateLogisticRegression(data_norm=2.0)}, "needs the estimator's classes"),
        ({"base": tacit.PrivateLogisticRegression(**BASE, rows_per_person=2)}, "not whose rows they are"),
    ],
)
def test_wrong_settings_are_refused_with_a_sentence(settings, sentence):
    X, y = data(rows=100)
    with pytest.raises(ValueError, match=sentence):
        search(**settings).fit(X, y)


def test_it_behaves_like_an_estimator():
    X, y = data()
    fitted = search(random_state=3)
    assert clone(fitted).get_params()["estimator__C"] == 1.0
    fitted.fit(X, y)
    assert fitted.predict_proba(X).shape == (3000, 2) and list(fitted.classes_) == [0, 1]
    assert np.array_equal(fitted.predict(X), search(random_state=3).fit(X, y).predict(X))
    make_pipeline(tacit.PublicScaler(bounds=(-1, 1)), search()).fit(sparse.csr_matrix(X).toarray(), y)
    search().fit(sparse.csr_matrix(X), y)
    page = fitted.report()
    assert "exponential:epsilon=" in page and "is not known for this model" in page and "is not proved" not in page
    free = search(epsilon=math.inf).fit(X, y)
    assert free.plan(3000, 4)["private"] is False and free.score(X, y) > 0.85


def test_several_classes_are_searched_too():
    X, y = data()
    y = y + (X[:, 0] > 0.5)
    base = tacit.PrivateLogisticRegression(**{**BASE, "classes": [0, 1, 2]}, solver="dpgd")
    fitted = search(base=base, epsilon=4.0).fit(X, y)
    assert fitted.predict(X).max() <= 2 and fitted.privacy_["epsilon"] == 4.0


def test_the_estimators_ledger_is_the_searches(tmp_path):
    X, y = data()
    ledger = tacit.Ledger.create(tmp_path / "l.db", epsilon=1.5, filter="sum", delta=1e-4)
    base = tacit.PrivateLogisticRegression(**BASE, solver="dpgd", ledger=ledger.path)
    fitted = search(base=base).fit(X, y)
    assert len(ledger.state()["runs"]) == 1 and ledger.spent["epsilon"] == pytest.approx(1.0)
    assert fitted.privacy_["ledger"]["head"] == ledger.state()["head"]
    fitted.save(tmp_path / "m.json")
    assert tacit.verify(tmp_path / "m.json", ledger.path)["ok"]
    with pytest.raises(tacit.BudgetError):
        search(base=base).fit(X, y)
    other = tacit.Ledger.create(tmp_path / "other.db", epsilon=9.0, delta=1e-4)
    with pytest.raises(ValueError, match="different ledgers"):
        search(base=base, ledger=other).fit(X, y)
    assert not other.state()["runs"]
    with pytest.raises(tacit.BudgetError):
        search(base=base, ledger=ledger).fit(X, y)  # the same one by two names


@pytest.mark.parametrize(
    "name, values",
    [
        ("neighbours", ["add_remove", "replace_one"]),
        ("rows_per_person", [None, 2]),
        ("bounds", [(-1, 1), (-2, 2)]),
        ("classes", [[0, 1], None]),
        ("weight_cap", [1.0, 2.0]),
    ],
)
def test_the_relation_the_unit_and_the_table_are_one_for_all_candidates(name, values):
    X, y = data(rows=100)
    for grid in ({name: values}, [{"C": [1.0]}, {name: values[1:]}]):
        with pytest.raises(ValueError, match=f"{name} belongs to the whole search"):
            search(grid).fit(X, y)
        with pytest.raises(ValueError, match=f"{name} belongs to the whole search"):
            search(grid).plan(100, 4)


def test_a_promise_of_the_whole_that_says_little_is_warned_of_once():
    X, y = data()
    with pytest.warns(tacit.PrivacyWarning) as seen:
        fitted = search({"C": [0.1, 1.0]}, epsilon=9.0, delta=1 / 3000).fit(X, y)
    assert sorted(str(w.message)[:5] for w in seen) == ["delta", "epsil"]
    assert fitted.privacy_["trust"] == fitted.best_estimator_.models_[0].privacy["trust"]


def test_a_seed_of_the_estimator_is_the_seed_of_the_search():
    X, y = data()
    base = tacit.PrivateLogisticRegression(**BASE, solver="dpgd", random_state=7)
    one, two = (search({"C": [1.0, 1.0]}, base=base).fit(X, y) for _ in "ab")
    assert one.privacy_["noise"] == "reproducible" and np.array_equal(one.predict(X), two.predict(X))
    assert one.best_estimator_.random_state != 7  # else the candidates would share their noise
    assert search().fit(X, y).privacy_["noise"] == "system"


def test_what_is_no_estimator_of_this_package_is_refused_with_a_sentence():
    X, y = data(rows=100)
    with pytest.raises(ValueError, match="an estimator of this package"):
        search(base=make_pipeline(tacit.PublicScaler(bounds=(-1, 1)), tacit.PrivateLogisticRegression(**BASE))).fit(X, y)


def test_labels_that_a_candidate_would_refuse_are_refused_before_the_charge(tmp_path):
    X, y = data()
    ledger = tacit.Ledger.create(tmp_path / "l.db", epsilon=1.5, delta=1e-4)
    with pytest.raises(ValueError, match="not among the classes"):
        search(ledger=ledger).fit(X, y + 1)
    assert not ledger.state()["runs"]


# ---- a random number of tries ----


def tries(grid=GRID, base=None, **settings):
    return search(grid, base, **{"selection": "random", "tries": 6, **settings})


def test_the_price_of_random_tries_does_not_grow_with_the_grid():
    short, long = (tries({"C": [0.1] * count}, tries=50).plan(3000, 4) for count in (2, 30))
    assert short["each"] == pytest.approx(long["each"], rel=1e-6) and long["models"] == 30
    assert 0.98 < long["epsilon"] <= 1.0 and long["events"][0].startswith("approx:epsilon=")
    assert long["each"] > 3 * search({"C": [0.1] * 30}).plan(3000, 4)["each"]


def test_the_best_of_random_tries_states_the_search_and_verifies(tmp_path):
    X, y = data()
    ledger = tacit.Ledger.create(tmp_path / "l.db", epsilon=2.0, filter="sum", delta=1e-4)
    fitted = tries(ledger=ledger).fit(X, y)
    fitted.save(tmp_path / "m.json")
    answer = tacit.verify(tmp_path / "m.json", ledger=ledger.path)
    assert answer.verdict is tacit.Verdict.VERIFIED and answer["replanned"], answer
    assert [c for c in answer["checks"] if c["name"] == "selection" and "random number of tries" in c["text"]]
    assert ledger.spent["epsilon"] == pytest.approx(fitted.privacy_["epsilon"]) and fitted.privacy_["epsilon"] <= 1.0
    assert len(ledger.state()["runs"]) == 1 and len(fitted.privacy_["fits"]) == 3
    assert "random number of tries" in fitted.best_estimator_.report()


@pytest.mark.parametrize(
    "change",
    [
        lambda t: t.replace("selection:mean=6,", "selection:mean=5,"),
        lambda t: t.replace("selection:mean=6,", "selection:mean=7,"),
        lambda t: t.replace("selection:mean=6,fit=0.", "selection:mean=6,fit=0.1"),
        lambda t: t.replace(",score=", ",score=1"),
        lambda t: t.replace(",held=0.2", ",held=0.3"),
        lambda t: t.replace(",rows=3000", ",rows=4000"),
        lambda t: t.replace(",rows=3000,epsilon=1", ",rows=3000,epsilon=2"),
        lambda t: t.replace(",rows=3000,epsilon=1", ",rows=3000,share=0.3"),
        lambda t: t.replace('"approx:epsilon=0.9', '"approx:epsilon=0.8'),
        lambda t: t.replace("selection:mean=6,", "selection:tries=6,"),
    ],
)
def test_an_edited_search_is_refused(change, tmp_path):
    X, y = data()
    fitted = tries().fit(X, y)
    fitted.save(tmp_path / "m.json")
    text = (tmp_path / "m.json").read_text()
    assert change(text) != text and tacit.verify(tmp_path / "m.json")["ok"]
    (tmp_path / "m.json").write_text(change(text))
    assert not tacit.verify(tmp_path / "m.json")["ok"]


def told(seed, tmp_path, capfd):
    """All that a search leaves behind, but for the weights, the winner's score and names of runs."""
    X, y = data()
    ledger = tacit.Ledger.create(tmp_path / f"{seed}.db", epsilon=2.0, delta=1e-4, for_tests=True)
    seen = []
    base = tacit.PrivateLogisticRegression(**BASE, solver="dpgd", progress=lambda part: seen.append(part))
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        fitted = tries({"C": [1.0]}, base, ledger=ledger, tries=20, random_state=seed).fit(X, y)
    fitted.save(tmp_path / "m.json")
    model = json.loads((tmp_path / "m.json").read_text())
    for each in (model["privacy"], fitted.privacy_):
        each.pop("ledger", None)
    del model["coefficients"], model["intercept"]
    out, err = capfd.readouterr()
    names = sorted(name for name in vars(fitted)) + sorted(vars(fitted.best_estimator_))
    charges = [(run["epsilon"], run["delta"]) for run in ledger.state()["runs"]] + [(tmp_path / f"{seed}.db").stat().st_size]
    return [len(caught), seen, out, err, names, charges, model, json.dumps(dict(fitted.privacy_), sort_keys=True)]


def test_nothing_tells_how_many_tries_there_were(tmp_path, capfd):
    """Each seed makes another number of tries, as tests/unit/test_fit_search.c looks up."""
    first = told(1, tmp_path, capfd)
    assert first == told(2, tmp_path, capfd) == told(3, tmp_path, capfd)


def test_random_tries_prefer_what_predicts_better():
    X, y = data(rows=12000)
    picks = [tries({"C": [1e-6, 1.0]}, epsilon=4.0, tries=20, random_state=k).fit(X, y) for k in range(6)]
    assert sum(each.best_index_ for each in picks) >= 5
    assert np.mean([each.score(X, y) for each in picks]) > 0.85


def test_a_regression_is_tried_by_its_noisy_squared_error(tmp_path):
    rng = np.random.default_rng(6)
    X = rng.uniform(-1, 1, size=(4000, 3))
    target = X @ np.array([2.0, -1.0, 0.5]) + 0.1 * rng.normal(size=4000)
    base = tacit.PrivateRidge(bounds=(-1, 1), label_bounds=(-4, 4), n_jobs=1, solver="dpgd")
    fitted = tries({"alpha": [1e-3, 1e6]}, base, epsilon=3.0, tries=12, random_state=1).fit(X, target)
    fitted.save(tmp_path / "m.json")
    assert tacit.verify(tmp_path / "m.json")["ok"] and fitted.best_params_ == {"alpha": 1e-3}
    assert fitted.best_score_ <= 0


def test_what_random_tries_cannot_do_is_refused_before_anything_is_charged(tmp_path):
    X, y = data()
    ledger = tacit.Ledger.create(tmp_path / "l.db", epsilon=2.0, delta=1e-4)
    counts = tacit.PrivatePoissonRegression(data_norm=2.0, label_bounds=(0, 9))
    for wrong, words in (
        (tries({"classes": [[0, 1], [0, 1, 2]]}, ledger=ledger), "classes belongs to the whole"),
        (tries({"alpha": [1.0]}, counts, ledger=ledger), "no such score of counts"),
        (tries(ledger=ledger, tries=0), "tries"),
        (tries(ledger=ledger, delta=0.0), "delta"),
        (tries(ledger=ledger, selection="some"), "selection"),
    ):
        with pytest.raises(ValueError, match=words):
            wrong.fit(X, y)
    assert ledger.spent["epsilon"] == 0


def test_the_command_line_finds_the_same_model_with_the_same_seed(tmp_path):
    program = os.environ.get("TACIT")
    if not program:
        pytest.skip("no program")
    X, y = data(rows=1500)
    base = tacit.PrivateLogisticRegression(**BASE, C=0.1)
    grid = {"solver": ["dpgd:steps=10", "dpgd:steps=10,clip=0.2", "dpmetric"]}
    fitted = tries(grid, base, epsilon=3.0, random_state=11).fit(X, y)
    fitted.save(tmp_path / "python.json")
    mine = json.loads((tmp_path / "python.json").read_text())
    np.savetxt(tmp_path / "t.csv", np.c_[X, y], delimiter=",", fmt="%.17g", header="a,b,c,d,y", comments="")
    (tmp_path / "grid.json").write_text(json.dumps(grid))
    command = [program, "search", "t.csv", "--label", "y", "--candidates", "grid.json", "--loss", mine["loss"]]
    command += ["--penalty", mine["penalty"], "--row-norm", repr(mine["transforms"]["row_norm"]), "--epsilon", "3"]
    command += ["--delta", "1e-5", "--tries", "6", "--seed", "11", "--json", "-o", "shell.json"]
    answer = json.loads(subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=True).stdout)
    other = json.loads((tmp_path / "shell.json").read_text())
    assert other["coefficients"] == mine["coefficients"] and other["intercept"] == mine["intercept"]
    assert other["privacy"]["events"] == mine["privacy"]["events"] and other["privacy"]["choice"] == mine["privacy"]["choice"]
    assert answer["best_score"] == fitted.best_score_ and answer["winner"]["number"] == fitted.best_index_ + 1


# ---- frames ----


def people(rows=3000):
    rng = np.random.default_rng(7)
    age, size, kind = rng.integers(18, 90, rows), rng.uniform(0, 40, rows), rng.choice(["u", "v", "w"], rows)
    level = age / 30 + size / 20 + (kind == "w") + 0.3 * rng.normal(size=rows)
    frame = pd.DataFrame({"size": size, "kind": kind, "out": np.where(level > 3, "yes", "no"), "level": level, "age": age})
    columns = [{"name": "age", "type": "number", "lower": 18, "upper": 90}, {"name": "size", "type": "number", "lower": 0, "upper": 40},
               {"name": "kind", "type": "category", "values": ["u", "v", "w"]}]
    return frame, columns


@pytest.mark.parametrize("selection", ["all", "random"])
@pytest.mark.parametrize("library", ["pandas", "polars", "pyarrow"])
def test_a_frame_under_a_schema_is_searched_as_it_is_fitted(library, selection, tmp_path):
    frame, columns = people()
    schema = tacit.Schema({"columns": columns, "label": {"name": "out", "values": ["no", "yes"], "positive": "yes"}})
    frame = frame.drop(columns="level")
    given = {"pandas": frame, "polars": polars.from_pandas(frame), "pyarrow": pyarrow.Table.from_pandas(frame, preserve_index=False)}[library]
    ledger = tacit.Ledger.create(tmp_path / "l.db", epsilon=4.0, delta=1e-3)
    base = tacit.PrivateLogisticRegression(n_jobs=1, solver="dpgd")
    grid = {"C": [0.1, 1.0, 10.0]}  # any of them may be the only one that is tried
    fitted = search(grid, base=base, epsilon=3.0, selection=selection, tries=6, ledger=ledger)
    fitted.fit(given, "out", schema=schema).save(tmp_path / "m.json")
    assert len(ledger.state()["runs"]) == 1 and tacit.verify(tmp_path / "m.json", ledger=ledger.path)["ok"]
    assert list(fitted.classes_) == ["no", "yes"] and fitted.score(given, "out") > 0.75
    model = tacit.read_model(tmp_path / "m.json")
    assert np.array_equal(model.predict(given), fitted.predict(given))  # the schema is in the file


def test_a_seeded_search_over_a_frame_is_that_over_its_encoded_records():
    frame, columns = people()
    schema = tacit.Schema({"columns": columns, "label": {"name": "level", "lower": 0, "upper": 6}})
    encoded = np.c_[(frame["age"] - 18) / 72, frame["size"] / 40, *(frame["kind"] == kind for kind in "uvw")]
    grid, more = {"alpha": [1e-3, 1e5]}, {"epsilon": 3.0, "random_state": 3}
    for selection in ("all", "random"):
        named = tacit.PrivateRidge(n_jobs=1, solver="dpgd")
        plain = tacit.PrivateRidge(n_jobs=1, solver="dpgd", data_norm=math.sqrt(3), label_bounds=(0, 6))
        one = search(grid, named, selection=selection, tries=4, **more).fit(frame.drop(columns="out"), "level", schema=schema)
        two = search(grid, plain, selection=selection, tries=4, **more).fit(encoded, frame["level"])
        assert one.best_index_ == two.best_index_ and one.privacy_["events"] == two.privacy_["events"]
        np.testing.assert_allclose(one.predict(frame.drop(columns="out")), two.predict(encoded), rtol=1e-9)


def test_what_a_frame_lacks_is_said_before_anything_is_charged(tmp_path):
    frame, columns = people()
    ledger = tacit.Ledger.create(tmp_path / "l.db", epsilon=4.0, delta=1e-3)
    base = tacit.PrivateLogisticRegression(n_jobs=1, classes=["no", "yes"])
    both = tacit.Schema({"columns": columns, "label": {"name": "out", "values": ["no", "yes"]}})
    for call, words in (
        (lambda s: s.fit(frame, "out"), "kind"),
        (lambda s: s.fit(frame, "out", schema=both), 'does not describe column "level"'),
        (lambda s: s.fit(frame.drop(columns=["level", "age"]), "out", schema=both), "age"),
        (lambda s: s.fit(frame.drop(columns="level").assign(out="maybe"), "out", schema=both), "not among the classes"),
    ):
        with pytest.raises(ValueError, match=words):
            call(search(base=base, ledger=ledger, selection="random"))
    assert ledger.spent["epsilon"] == 0


# ---- persons, and several classes ----


def visits(rows=3000, seed=3):
    X, y = data(rows=rows)
    return X, y, np.random.default_rng(seed).integers(0, rows // 3, rows)


@pytest.mark.parametrize("selection", ["all", "random"])
def test_persons_are_the_unit_of_the_file_and_of_the_ledger(tmp_path, selection):
    X, y, persons = visits()
    base = tacit.PrivateLogisticRegression(**BASE, solver="dpgd", rows_per_person=2)
    ledger = tacit.Ledger.create(tmp_path / "l.db", epsilon=9.0, delta=1e-4, unit="person")
    records = tacit.Ledger.create(tmp_path / "r.db", epsilon=9.0, delta=1e-4)
    grid = {"C": [1.0, 10.0]}
    with pytest.raises(tacit.BudgetError, match="counts records"):
        search(grid, base, selection=selection, epsilon=4.0, ledger=records).fit(X, y, groups=persons)
    fitted = search(grid, base, selection=selection, epsilon=4.0, ledger=ledger).fit(X, y, groups=persons)
    fitted.save(tmp_path / "m.json")
    assert json.loads((tmp_path / "m.json").read_text())["privacy"]["weights"]["of"] == "person"
    assert tacit.verify(tmp_path / "m.json", ledger.path)["ok"] and fitted.score(X, y) > 0.7
    with pytest.raises(ValueError, match="rows_per_person"):
        search(grid, selection=selection).fit(X, y, groups=persons)
    with pytest.raises(ValueError, match="names a column"):
        search(grid, base, selection=selection).fit(X, y, groups="who")


def test_persons_of_a_frame_go_by_their_column(tmp_path):
    X, y, persons = visits()
    frame = pd.DataFrame({"who": persons.astype(str), "a": X[:, 0], "b": X[:, 1], "y": np.where(y == 1, "yes", "no")})
    columns = [{"name": "who", "type": "ignore"}] + [{"name": n, "type": "number", "lower": -1, "upper": 1} for n in "ab"]
    schema = tacit.Schema({"label": {"name": "y", "values": ["no", "yes"], "positive": "yes"}, "columns": columns})
    base = tacit.PrivateLogisticRegression(solver="dpgd", rows_per_person=2)
    for selection in ("all", "random"):
        fitted = search({"C": [1.0, 10.0]}, base, selection=selection, epsilon=4.0)
        fitted.fit(frame, "y", schema=schema, groups="who").save(tmp_path / "m.json")
        assert json.loads((tmp_path / "m.json").read_text())["privacy"]["weights"]["of"] == "person"
        assert tacit.verify(tmp_path / "m.json")["ok"] and list(fitted.predict(frame)[:1]) in (["yes"], ["no"])


@pytest.mark.parametrize("selection", ["all", "random"])
@pytest.mark.parametrize("loss", ["logistic", "softmax", "auto"])
def test_what_is_composed_for_several_classes_is_what_is_fitted(tmp_path, selection, loss):
    X, y = data()
    y = np.array(["fig", "lime", "plum"])[y + (X[:, 0] > 0.5)]
    frame = pd.DataFrame({"a": X[:, 0], "b": X[:, 1], "fruit": y})
    columns = [{"name": n, "type": "number", "lower": -1, "upper": 1} for n in "ab"]
    schema = tacit.Schema({"label": {"name": "fruit", "values": ["fig", "lime", "plum"]}, "columns": columns})
    base = tacit.PrivateLogisticRegression(solver="dpgd", loss=loss)
    fitted = search({"C": [1.0, 10.0]}, base, selection=selection, epsilon=4.0, tries=4)
    fitted.fit(frame, "fruit", schema=schema).save(tmp_path / "m.json")
    mine = json.loads((tmp_path / "m.json").read_text())
    assert [fit["count"] for fit in mine["privacy"]["fits"]] == [1 if loss == "softmax" else 3] * 2
    assert tacit.verify(tmp_path / "m.json")["ok"] and set(fitted.predict(frame)) <= {"fig", "lime", "plum"}


def test_auto_means_the_same_loss_for_the_whole_and_for_its_parts():
    """The rule's loss of a part of the budget is that of the whole."""
    base = tacit.PrivateLogisticRegression(data_norm=2.0, classes=range(6), solver="auto")
    for epsilon in (0.05, 0.4, 0.8, 1.6, 8.0):
        one = search({"C": [1.0, 10.0]}, base, epsilon=epsilon)
        made = one._composed(3000, 4, False)
        free = [base.set_params(epsilon=e, delta=1e-5).plan(2400, 4)["loss"].partition(":")[0] for e in (epsilon, epsilon / 8)]
        assert set(free) == {made.facts["fits"][0]["asked"]["loss"].partition(":")[0]} == {"softmax"}
