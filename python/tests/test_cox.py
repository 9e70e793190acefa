"""Cox regression from Python: every form of a follow-up is one model; what is no follow-up is refused."""

import numpy as np
import pandas as pd
import pytest
import tacit

COLUMNS = [{"name": name, "type": "number", "lower": -1, "upper": 1} for name in "abc"]
PLAIN, FOLLOWED = {"columns": COLUMNS}, {"columns": COLUMNS, "label": {"time": "days", "event": "died", "horizon": 30}}
BUDGET = {"epsilon": 2.0, "delta": 1e-6, "random_state": 1}
TRUTH = np.array([0.8, -0.5, 0.0])


def people(n=5000):
    rng = np.random.default_rng(1)
    X = rng.uniform(-1, 1, (n, 3))
    death, end = rng.exponential(20 / np.exp(X @ TRUTH)), rng.uniform(0, 40, n)
    y = np.zeros(n, dtype=[("event", "?"), ("time", "f8")])
    y["event"], y["time"] = death < end, np.minimum(death, end)
    y["time"][:3] = 0
    frame = pd.DataFrame(X, columns=list("abc")).assign(days=y["time"], died=y["event"].astype(int))
    return X, y, frame


def test_all_forms_of_a_follow_up_are_one_model():
    X, y, frame = people()
    cox = tacit.PrivateCox(horizon=30, **BUDGET)
    by_schema = [
        tacit.PrivateCox(**BUDGET).fit(frame, schema=FOLLOWED),
        cox.fit(frame, schema=PLAIN, duration_col="days", event_col="died"),
        tacit.PrivateCox(horizon=30, **BUDGET).fit(frame[list("abc")], y, schema=PLAIN),
    ]
    columns = {"duration_col": "days", "event_col": "died"}
    by_bounds = [tacit.PrivateCox(horizon=30, bounds=(-1, 1), **BUDGET).fit(*each, **more) for each, more in (
        ((X, y), {}), ((frame,), columns), ((frame[list("abc")], y), {}))]
    for models in (by_schema, by_bounds):
        for model in models[1:]:
            assert np.array_equal(model.coef_, models[0].coef_) and np.array_equal(model.bse_, models[0].bse_)
    low, high = by_bounds[0].conf_int().iloc[1:].to_numpy().T
    assert np.all((low < TRUTH) & (TRUTH < high)) and np.all(by_bounds[0].bse_ < 0.1)
    assert np.allclose(by_schema[0].predict(frame), by_bounds[0].predict(X), atol=0.01)


def test_survival_falls_with_time_and_with_the_hazard():
    X, y, _ = people()
    cox = tacit.PrivateCox(horizon=30, bounds=(-1, 1), **BUDGET).fit(X, y)
    left = cox.predict_survival([[1.0, -1.0, 0.0], [-1.0, 1.0, 0.0]], [5, 10, 20])
    assert left.shape == (2, 3) and np.all(np.diff(left) < 0) and np.all(left[0] < left[1])
    assert np.allclose(left, np.exp(-np.outer(np.exp([1.3, -1.3]), [5, 10, 20]) / 20), atol=0.06)
    with pytest.raises(ValueError, match="horizon"):
        cox.predict_survival(X[:2], 31)


@pytest.mark.parametrize(
    "settings, given, says",
    [
        ({}, lambda X, y, f: ((X, y), {}), "horizon is not given"),
        ({"horizon": -1}, lambda X, y, f: ((X, y), {}), "horizon must be a finite number above 0"),
        ({"horizon": 30}, lambda X, y, f: ((X, y["time"]), {}), "a structured array of an event"),
        ({"horizon": 30}, lambda X, y, f: ((X, y[["time", "event"]]), {}), "a structured array of an event"),
        ({"horizon": 30}, lambda X, y, f: ((X,), {}), "requires y to be passed"),
        ({"horizon": 30}, lambda X, y, f: ((f,), {"duration_col": "days"}), "name both duration_col and event_col"),
        ({"horizon": 30}, lambda X, y, f: ((f, y), {"duration_col": "days", "event_col": "died"}), "or give y"),
        ({"horizon": 30}, lambda X, y, f: ((f,), {"duration_col": "days", "event_col": "x"}), "no column 'x'"),
        ({"horizon": 30}, lambda X, y, f: ((f,), {"duration_col": "died", "event_col": "days"}), "must be 0 or 1"),
        ({"horizon": 30}, lambda X, y, f: ((X, y), {"groups": np.arange(len(X))}), "one row for one person"),
        ({"horizon": 30}, lambda X, y, f: ((X, y), {"sample_weight": np.ones(len(X))}), "one row for one person"),
        ({"horizon": 30, "fit_intercept": False}, lambda X, y, f: ((X, y), {}), "intercept"),
    ],
)
def test_what_is_no_follow_up_is_refused_in_a_sentence(settings, given, says):
    X, y, frame = people(500)
    args, more = given(X, y, frame)
    with pytest.raises(ValueError, match=says):
        tacit.PrivateCox(bounds=(-1, 1), **BUDGET, **settings).fit(*args, **more)


@pytest.mark.parametrize("time", [-1.0, np.nan])
def test_a_time_that_is_none_is_refused_without_its_value(time):
    X, y, _ = people(500)
    y["time"][7] = time
    with pytest.raises(ValueError, match="^a follow-up time is below 0 or missing; correct it$"):
        tacit.PrivateCox(horizon=30, bounds=(-1, 1), **BUDGET).fit(X, y)
