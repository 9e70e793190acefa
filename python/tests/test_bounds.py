"""Bounds go by name where they have names; what is lacking or too much is an error."""

import numpy as np
import pandas as pd
import polars as pl
import pytest

import tacit

LOWER, UPPER = {"a": 0.0, "b": -10.0, "c": 5.0}, {"a": 1.0, "b": 10.0, "c": 500.0}
FORMS = {
    "two lists": ([0, -10, 5], [1, 10, 500]),
    "two mappings": (dict(reversed(LOWER.items())), UPPER),
    "two series": (pd.Series(LOWER), pd.Series(UPPER)),
    "two series, turned": (pd.Series(LOWER)[::-1], pd.Series(UPPER)[["b", "c", "a"]]),
    "a series and a list": (pd.Series(LOWER)[::-1], [1, 10, 500]),
    "a mapping of pairs": {"c": (5, 500), "a": (0, 1), "b": (-10, 10)},
    "a mapping of sides": {"lower": pd.Series(LOWER)[::-1], "upper": UPPER},
    "a frame": pd.DataFrame({"upper": UPPER, "lower": LOWER}).iloc[::-1],
    "a frame without names": pd.DataFrame({"lower": [0, -10, 5], "upper": [1, 10, 500]}),
    "a polars frame": pl.DataFrame({"lower": [0, -10, 5], "upper": [1, 10, 500]}),
    "a series that nobody named": (pd.Series([0, -10, 5]), pd.Series([1, 10, 500])),
}


def frame(rows=300):
    rng = np.random.default_rng(4)
    return pd.DataFrame(rng.uniform(list(LOWER.values()), list(UPPER.values()), (rows, 3)), columns=list(LOWER))


def fitted(X, bounds):
    y = np.arange(len(X)) % 2
    model = tacit.PrivateLogisticRegression(epsilon=1.0, delta=1e-4, bounds=bounds, classes=[0, 1], random_state=1, n_jobs=1)
    return model.fit(X, y).coef_


@pytest.mark.parametrize("form", FORMS)
def test_every_form_of_the_same_bounds_gives_the_same_model(form):
    assert np.array_equal(fitted(frame(), FORMS[form]), fitted(frame(), FORMS["two lists"]))
    scaled = tacit.PublicScaler(bounds=FORMS[form]).fit_transform(frame())
    assert np.array_equal(scaled, tacit.PublicScaler(bounds=FORMS["two lists"]).fit_transform(frame()))


def test_columns_of_an_array_are_named_by_their_numbers():
    X, turned = frame().to_numpy(), (pd.Series([5, 0, -10], index=[2, 0, 1]), [1, 10, 500])
    assert np.array_equal(fitted(X, turned), fitted(X, FORMS["two lists"]))


@pytest.mark.parametrize(
    "bounds, sentence",
    [
        ((pd.Series(LOWER).drop("b"), 500), "bounds has nothing for feature 'b'; give"),
        ((pd.Series({**LOWER, "d": 1}), 501), "bounds names 'd', which is no feature of X; correct"),
        ({"a": (0, 1), "b": (0, 1)}, "bounds has nothing for feature 'c'; give"),
        ({"a": (0, 1), "b": (0, 1), "c": (0, 1), "z": (0, 1)}, "bounds names 'z', which is no feature"),
        ((pd.Series([0, 0, 0], index=["a", "a", "b"]), 1), "bounds names a feature twice; name each once"),
        (pd.DataFrame({"low": LOWER, "high": UPPER}), "bounds as a frame needs the columns lower and upper"),
        ({"a": 1, "b": 2, "c": 3}, "bounds must be"),
        ([1, 2, 3], "bounds must be"),
        (3, "bounds must be"),
        ((0, [1, 2]), "each of the 3 features, in order or by name"),
        ((UPPER, LOWER), "every lower bound in bounds must be finite and below its upper bound; correct them"),
    ],
)
def test_bounds_that_lack_a_name_or_have_one_too_many_are_refused(bounds, sentence):
    with pytest.raises(ValueError, match=sentence):
        fitted(frame(), bounds)
    with pytest.raises(ValueError, match=sentence):
        tacit.PublicScaler(bounds=bounds).fit(frame())


def test_columns_that_are_called_by_numbers_out_of_order_go_by_name():
    turned = frame().rename(columns={"a": 2, "b": 1, "c": 0})
    bounds = (pd.Series([5, -10, 0]), pd.Series([500, 10, 1]))
    assert np.array_equal(fitted(turned, bounds), fitted(frame(), FORMS["two lists"]))
