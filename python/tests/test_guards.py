"""What comes in: refusals without a value of the data, large records that are no errors, weights and persons that are."""

import ctypes
import traceback
import warnings

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy import sparse

import tacit
from tacit import _arrow, _guards

BUDGET = {"epsilon": 1.0, "delta": 1e-6, "n_jobs": 1, "solver": "dpgd"}
SECRET = "Alice Q. Public"
NUMBER = 8675309.0625


def data(rows=300, cols=3, seed=5):
    rng = np.random.default_rng(seed)
    X = rng.uniform(-1, 1, size=(rows, cols))
    return X, (X[:, 0] > 0).astype(int)


def classifier(**settings):
    return tacit.PrivateLogisticRegression(**{**BUDGET, "data_norm": 2.0, "classes": [0, 1], **settings})


def regressor(**settings):
    return tacit.PrivateRidge(**{**BUDGET, "data_norm": 2.0, "label_bounds": (-1, 1), **settings})


def search(model=None):
    model = model or classifier()
    return tacit.PrivateSearchCV(model, {"fit_intercept": [True, False]}, epsilon=1.0, delta=1e-6)


def fitted(model=None):
    return (model or classifier()).fit(*data(seed=6))


def texts(rows=300):
    """Records with a text among the numbers of one column."""
    X = data(rows)[0].astype(object)
    X[7, 1] = SECRET
    return X


def frame(rows=300):
    return pd.DataFrame(texts(rows), columns=["age", "name", "pay"])


def secret_labels(rows=300):
    y = np.arange(rows).astype(object)
    y[3] = SECRET
    return y


X, Y = data()
FLAT = np.full(300, NUMBER)
CALLS = {
    "fit, a text in an array": lambda: classifier().fit(texts(), Y),
    "fit, a text in a list": lambda: classifier().fit(texts().tolist(), Y.tolist()),
    "fit, a text in a frame": lambda: classifier().fit(frame(), Y),
    "fit, a text in a polars frame": lambda: classifier().fit(pl.DataFrame({"a": X[:, 0], "name": [SECRET] * 300}), Y),
    "fit, a flat array": lambda: classifier().fit(FLAT, Y),
    "fit, one number": lambda: classifier().fit(np.array(NUMBER), Y),
    "fit, rows of different lengths": lambda: classifier().fit([[NUMBER], [NUMBER, 1.0]], [0, 1]),
    "fit, a text with bounds": lambda: classifier(data_norm=None, bounds=(-1, 1)).fit(texts(), Y),
    "fit, text targets": lambda: regressor().fit(X, secret_labels()),
    "fit, text targets in a frame": lambda: regressor().fit(pd.DataFrame({"a": X[:, 0], "y": secret_labels()}), "y"),
    "fit, labels of two kinds": lambda: classifier(classes=None).fit(X, secret_labels()),
    "fit, a label that is not listed": lambda: classifier().fit(X, np.where(np.arange(300) == 5, 8675309, Y)),
    "fit, labels that are numbers of a line": lambda: classifier(classes=None).fit(X, X[:, 0] + NUMBER),
    "fit, flat labels in rows": lambda: classifier().fit(X, np.full((300, 2), NUMBER)),
    "fit, text weights": lambda: classifier(weight_cap=1.0).fit(X, Y, sample_weight=secret_labels()),
    "fit, unhashable persons": lambda: classifier(rows_per_person=1).fit(X, Y, groups=[[SECRET]] * 300),
    "predict, a text": lambda: fitted().predict(texts()),
    "predict, a text in a frame": lambda: fitted().predict(frame()),
    "fit, complex numbers": lambda: classifier().fit(X + NUMBER * 1j, Y),
    "a model read again, a text": lambda: tacit.Model.parse(fitted().models_[0].text).predict(texts()),
    "a model read again, complex numbers": lambda: tacit.Model.parse(fitted().models_[0].text).margins(X + NUMBER * 1j),
    "predict, a flat array": lambda: fitted().predict(FLAT),
    "predict_proba, a text": lambda: fitted().predict_proba(texts()),
    "score, labels of another kind": lambda: fitted().score(X, secret_labels()),
    "score, text targets": lambda: fitted(regressor()).score(X, secret_labels()),
    "search, a text": lambda: search().fit(texts(), Y),
    "search, a text in a frame": lambda: search().fit(frame(), Y),
    "search, text targets": lambda: search(regressor()).fit(X, secret_labels()),
    "scaler, a text": lambda: tacit.PublicScaler(bounds=(-1, 1)).fit(texts()),
    "scaler, a text at transform": lambda: tacit.PublicScaler(bounds=(-1, 1)).fit(X).transform(texts()),
    "scaler, a flat array": lambda: tacit.PublicScaler(bounds=(-1, 1)).fit(FLAT),
    "read, a frame": lambda: tacit.read(frame()),
    "read, an array": lambda: tacit.read(FLAT),
    "read, a frame for a schema": lambda: tacit.read("t.csv", schema=frame()),
    "read, a column for a label's name": lambda: tacit.read("t.csv", label=frame()["name"]),
    "read_model, a frame": lambda: tacit.read_model(frame()),
    "verify, a frame": lambda: tacit.verify(frame()),
    "draft, a column for a label's name": lambda: tacit.Schema.draft(frame(), label=frame()["name"]),
}


@pytest.mark.parametrize("name", CALLS)
def test_no_error_shows_a_value_of_the_data(name):
    with pytest.raises((ValueError, TypeError)) as caught, warnings.catch_warnings():
        warnings.simplefilter("error", RuntimeWarning)
        CALLS[name]()
    why = caught.value
    shown = "".join(traceback.format_exception_only(type(why), why)) + repr(why.__cause__)
    if not why.__suppress_context__:
        shown += repr(why.__context__)
    for secret in (SECRET, "Alice", "8675309", "8.67"):
        assert secret not in shown
    assert len(str(why)) < 400


@pytest.mark.parametrize("table, column", [(texts(), "column 1 of X"), (frame(), "column 'name' of X")])
def test_the_error_names_the_column_that_is_no_numbers(table, column):
    for call in (lambda: classifier().fit(table, Y), lambda: search().fit(table, Y)):
        with pytest.raises(ValueError, match=f"{column} cannot be read as numbers; encode it"):
            call()


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_what_scikit_learn_says_without_values_stays(bad):
    broken = X.copy()
    broken[3, 1] = bad
    for model in (classifier(), classifier(data_norm=None, bounds=(-1, 1))):
        with pytest.raises(ValueError, match="NaN|infin"):
            model.fit(broken, Y)
    with pytest.raises(ValueError, match="X has 2 features, but PrivateLogisticRegression is expecting 3"):
        fitted().predict(X[:, :2])


DAYS = pd.date_range("2031-05-01", periods=300, freq="h")
DATES = {
    "a frame of dates alone": lambda: classifier().fit(pd.DataFrame({"d": DAYS}), Y),
    "a frame with a column of dates": lambda: classifier().fit(pd.DataFrame({"a": X[:, 0], "d": DAYS}), Y),
    "with a zone": lambda: classifier().fit(pd.DataFrame({"d": DAYS.tz_localize("UTC")}), Y),
    "a polars frame": lambda: classifier().fit(pl.DataFrame({"a": X[:, 0], "d": pl.Series(DAYS.to_numpy())}), Y),
    "durations in an array": lambda: classifier().fit((DAYS - DAYS[0]).to_numpy()[:, None], Y),
    "objects": lambda: classifier().fit(np.array(list(DAYS.to_numpy()), dtype=object)[:, None], Y),
    "under bounds": lambda: classifier(data_norm=None, bounds=(0, 1)).fit(pd.DataFrame({"d": DAYS}), Y),
    "a target": lambda: regressor().fit(X, pd.Series(DAYS)),
    "labels": lambda: classifier(classes=None).fit(X, DAYS.to_numpy()),
    "weights": lambda: regressor(weight_cap=1.0).fit(X, X[:, 0], sample_weight=(DAYS - DAYS[0]).to_numpy()),
    "a search": lambda: search().fit(pd.DataFrame({"d": DAYS}), Y),
    "a scaler": lambda: tacit.PublicScaler(bounds=(0, 1)).fit(pd.DataFrame({"d": DAYS})),
    "a prediction": lambda: classifier().fit(X[:, :1], Y).predict(pd.DataFrame({"d": DAYS})),
    "a prediction by the file": lambda: tacit.Model.parse(fitted().models_[0].text).predict(np.tile(DAYS.to_numpy()[:, None], 3)),
}


@pytest.mark.parametrize("name", DATES)
def test_dates_are_no_numbers_of_nanoseconds(name):
    with pytest.raises(ValueError, match="holds dates or times, which are no numbers; give the days since") as why:
        DATES[name]()
    assert "2031" not in str(why.value) and (not name.startswith("a frame") or "column 'd' of X" in str(why.value))


def test_a_text_that_is_not_utf_8_is_refused_without_its_bytes():
    schema = _arrow.ArrowSchema(format=b"+s", n_children=1, release=_arrow._release_schema)
    array = _arrow.ArrowArray(length=1, n_children=1, release=_arrow._release_array)
    child = _arrow.ArrowSchema(format=b"u", name=b"t")
    ends, text = (ctypes.c_int32 * 2)(0, 2), ctypes.create_string_buffer(b"\xffZ")
    buffers = (ctypes.c_void_p * 3)(None, ctypes.addressof(ends), ctypes.addressof(text))
    column = _arrow.ArrowArray(length=1, null_count=0, n_buffers=3, buffers=buffers)
    schema.children = ctypes.pointer(ctypes.pointer(child))
    array.children = ctypes.pointer(ctypes.pointer(column))
    capsule = ctypes.pythonapi.PyCapsule_New
    capsule.restype, capsule.argtypes = ctypes.py_object, [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]

    class Table:
        def __arrow_c_array__(self, requested_schema=None):
            at = ctypes.addressof(schema), ctypes.addressof(array)
            return capsule(at[0], b"arrow_schema", None), capsule(at[1], b"arrow_array", None)

    with pytest.raises(ValueError, match="column \"t\", record 1: .* not UTF-8") as why:
        _arrow.frame(Table())["t"]
    assert why.value.__context__ is None and not isinstance(why.value, UnicodeError)


# ---- large records ----


@pytest.mark.parametrize("wrap", [np.asarray, sparse.csr_matrix, sparse.csc_matrix])
@pytest.mark.parametrize("huge", [1e308, -1.7e308, 1e9])
def test_a_value_beyond_the_bounds_counts_as_the_bound_and_is_no_error(wrap, huge, tmp_path):
    settings = {"data_norm": None, "bounds": (-0.1, 0.1), "random_state": 2}
    far, near = X.copy(), X.copy()
    far[:3, 1], near[:3, 1] = huge, np.sign(huge) * 0.1
    one = classifier(**settings).fit(wrap(far), Y)
    two = classifier(**settings).fit(wrap(near), Y)
    np.testing.assert_array_equal(one.coef_, two.coef_)
    np.testing.assert_array_equal(one.decision_function(wrap(far)), one.decision_function(wrap(near)))
    one.save(tmp_path / "m.json")
    np.testing.assert_array_equal(tacit.read_model(tmp_path / "m.json").decision_function(wrap(far)), one.decision_function(wrap(near)))
    assert np.abs(one.decision_function(wrap(far))).max() <= np.abs(one.models_[0].coefficients).sum() + abs(one.models_[0].intercept)


def test_bounds_that_do_not_hold_0_and_entries_that_are_there_twice():
    narrow = classifier(data_norm=None, bounds=([1, -1, -1], [5, 1, 1]), random_state=1)
    twice = sparse.coo_matrix((np.r_[X.ravel(), X.ravel()], (np.r_[np.repeat(np.arange(300), 3)].repeat(1).tolist() * 2,
                               np.tile(np.arange(3), 600))), shape=(300, 3))  # fmt: skip
    doubled = sparse.csr_matrix((np.repeat(X.ravel(), 2), np.repeat(np.tile(np.arange(3), 300), 2), np.arange(0, 1801, 6)))
    np.testing.assert_allclose(doubled.toarray(), twice.toarray())
    np.testing.assert_allclose(narrow.fit(doubled, Y).coef_, narrow.fit(sparse.csr_matrix(2 * X), Y).coef_, rtol=1e-9)


# ---- weights and persons ----


@pytest.mark.parametrize(
    "weights, sentence",
    [
        (np.zeros(300), "every sample_weight is zero"),
        (np.where(np.arange(300) == 9, -1e-9, 1.0), "a sample_weight is negative"),
        (np.where(np.arange(300) == 9, -np.inf, 1.0), "a sample_weight is negative"),
        (np.where(np.arange(300) == 9, np.nan, 1.0), "a weight is not a number"),
        (np.ones(299), "one number for each row"),
        ([None] * 300, "not a number"),
    ],
)
def test_weights_without_a_meaning_are_refused(weights, sentence, tmp_path):
    ledger = tacit.Ledger.create(tmp_path / "l", epsilon=3.0, delta=1e-4)
    for model in (classifier(weight_cap=1.0, ledger=ledger), regressor(weight_cap=1.0, ledger=ledger)):
        with pytest.raises(ValueError, match=sentence):
            model.fit(X, Y, sample_weight=weights)
    assert not ledger.state()["runs"]


PERSONS = np.arange(300) // 2


@pytest.mark.parametrize(
    "groups",
    [
        [None, *PERSONS[1:].tolist()],
        [None, *[f"p{k}" for k in PERSONS[1:]]],
        [np.nan, *[f"p{k}" for k in PERSONS[1:]]],  # NumPy makes the text 'nan' of it
        np.array([np.nan, *[f"p{k}" for k in PERSONS[1:]]]),
        np.where(PERSONS == 0, np.nan, PERSONS),
        pd.Series(PERSONS, dtype="Int64").where(PERSONS > 0),
        pd.Series([f"p{k}" for k in PERSONS], dtype="string").where(PERSONS > 0),
        pd.Series(pd.to_datetime(PERSONS, unit="D")).where(PERSONS > 0),
        pd.Series([f"p{k}" for k in PERSONS]).where(PERSONS > 0).astype("category"),
        pl.Series([None, *[f"p{k}" for k in PERSONS[1:]]]),
        np.ma.array(PERSONS, mask=PERSONS == 0),
        ["", *[f"p{k}" for k in PERSONS[1:]]],
    ],
    ids=lambda groups: f"{type(groups).__module__.partition('.')[0]} {getattr(groups, 'dtype', 'list')}",
)
def test_a_row_without_a_person_is_refused(groups, tmp_path):
    ledger = tacit.Ledger.create(tmp_path / "l", epsilon=3.0, delta=1e-4)
    with pytest.raises(ValueError, match="a row of groups names no person"):
        classifier(rows_per_person=2, ledger=ledger).fit(X, Y, groups=groups)
    assert not ledger.state()["runs"]


@pytest.mark.parametrize(
    "groups",
    [
        PERSONS,
        PERSONS.tolist(),
        [f"p{k}" for k in PERSONS],
        pd.Series(PERSONS, dtype="Int64"),
        pd.Series([f"p{k}" for k in PERSONS]).astype("category"),
        pl.Series([f"p{k}" for k in PERSONS]),
        [(k, "x") if k % 2 else str(k) for k in PERSONS],
        PERSONS > 70,
    ],
    ids=lambda groups: f"{type(groups).__module__.partition('.')[0]} {getattr(groups, 'dtype', 'list')}",
)
def test_ids_of_any_kind_are_numbered_alike(groups):
    codes = _guards.persons(groups, 300)
    want = np.asarray(PERSONS > 70) if getattr(groups, "dtype", None) == bool else PERSONS
    assert codes.dtype == np.int64 and codes.min() == 0
    assert len(set(zip(codes.tolist(), want.tolist()))) == len(set(want.tolist())) == len(set(codes.tolist()))
