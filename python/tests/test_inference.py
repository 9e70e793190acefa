"""Standard errors in Python: the same figures as the model file's, on the original scale."""

import numpy as np
import pytest
import tacit


def table(rows=20000, seed=1):
    rng = np.random.default_rng(seed)
    X = np.column_stack([rng.uniform(0, 10, rows), rng.uniform(-2, 2, rows)])
    return X, (0.3 * X[:, 0] - 0.8 * X[:, 1] - 1 + rng.logistic(size=rows) > 0).astype(int)


def fitted(errors="model", **more):
    X, y = table()
    model = tacit.PrivateLogisticRegression(
        epsilon=2.0, delta=1e-6, bounds=([0, -2], [10, 2]), C=np.inf, classes=[0, 1], errors=errors, random_state=3, **more
    )
    with pytest.warns(UserWarning):
        return model.fit(X, y), X


def test_intervals_hold_the_weights_that_drew_the_table():
    model, _ = fitted()
    truth = np.array([-1, 0.3, -0.8])
    ends = model.conf_int(0.9999)  # wrong for one seed in 3,000
    assert np.all(ends["lower"] < truth) and np.all(truth < ends["upper"])
    assert np.all(model.bse_ > 0) and np.all(model.noise_bse_ < model.bse_)
    assert np.all(model.bse_ < 0.1)  # an exact fit has .005, .015 and .03


def test_a_plan_has_the_errors_and_the_power_of_each_weight():
    columns = [{"name": name, "type": "number", "lower": low, "upper": high} for name, low, high in (("a", 0, 10), ("b", -2, 2))]
    plain = tacit.PrivateLogisticRegression(epsilon=2.0, delta=1e-6, C=np.inf, classes=[0, 1], errors="model")
    plan = plain.plan_errors(20000, {"columns": columns}, effect={"b": 0.05}, assume={"y": 0.53}, label="y", tries=3)
    model, _ = fitted()
    assert [each["name"] for each in plan["weights"]] == ["a", "b", "(intercept)"] and plan["tries"] == 3
    ratio = [each["standard_error"] for each in plan["weights"][:2]] / np.asarray(model.bse_)[1:]
    assert np.all(0.6 < ratio) and np.all(ratio < 1.2)  # without effects: labels that follow a column vary less
    assert plan["weights"][0]["power"] < 0.06 < plan["weights"][1]["power"] < 1
    with pytest.raises(ValueError, match="no weight.*there are a, b"):
        plain.plan_errors(20000, {"columns": columns}, effect={"c": 1})
    with pytest.raises(ValueError, match="the label one number"):
        plain.plan_errors(20000, {"columns": columns}, assume={"a": [1]})
    with pytest.raises(ValueError, match="assume must be numbers"):
        plain.plan_errors(20000, {"columns": columns}, assume={"a": "x"})


def test_intervals_of_counts_hold_the_weights_that_drew_them():
    rng = np.random.default_rng(2)
    X = rng.uniform(0, 2, size=(20000, 2))
    y = rng.poisson(np.exp(0.6 * X[:, 0] - 0.4 * X[:, 1]))
    model = tacit.PrivatePoissonRegression(
        epsilon=2.0, delta=1e-6, bounds=(0, 2), label_bounds=(0, 30), max_mean=6, errors="model", random_state=5
    )
    with pytest.warns(UserWarning):
        model.fit(X, y)
    ends = model.conf_int(0.9999)
    assert np.all(ends["lower"] < [0, 0.6, -0.4]) and np.all(ends["upper"] > [0, 0.6, -0.4])
    assert np.all(model.bse_ < 0.06)  # an exact fit has .010, .011 and .016


def test_estimates_of_the_summary_are_the_coefficients():
    model, _ = fitted()
    facts = model.summary().facts
    assert np.allclose([line["estimate"] for line in facts["weights"]], model.coef_[0])
    assert np.isclose(facts["intercept"]["estimate"], model.intercept_[0])


def test_the_covariance_has_the_squares_of_the_errors_on_its_diagonal():
    model, _ = fitted("robust")
    assert np.allclose(np.sqrt(np.diag(model.cov_params_)), model.bse_)
    assert np.all(np.linalg.eigvalsh(model.cov_params_) > 0)


def test_tables_have_the_names_and_the_order_of_the_summary():
    model, _ = fitted()
    facts = model.summary().facts
    lines = [facts["intercept"], *facts["weights"]]
    names = [line["name"] for line in lines]
    covariance = model.cov_params_
    for each in (model.params_, model.bse_, model.noise_bse_, model.pvalues_, model.conf_int(), covariance, covariance.T):
        assert list(each.index) == names
    assert list(model.params_) == [line["estimate"] for line in lines]
    assert list(model.conf_int()["upper"]) == [line["upper"] for line in lines]
    flat = tacit.PrivateLogisticRegression(epsilon=2.0, delta=1e-6, data_norm=3, fit_intercept=False, C=np.inf, classes=[0, 1], errors="model")
    flat.fit(*table())
    assert list(flat.cov_params_.index) == list(flat.params_.index) == [line["name"] for line in flat.summary().facts["weights"]]


def test_a_prediction_lies_within_its_interval():
    model, X = fitted()
    scaled = model.models_[0].predict_interval(X[:50], 0.9)
    margins = model.models_[0].decision_function(X[:50])
    assert np.all(scaled[:, 0] < margins) and np.all(margins < scaled[:, 1])


def test_the_summary_says_that_noise_was_added():
    model, _ = fitted()
    assert model.summary(exp=True).facts["ratio"] in str(model.summary(exp=True))
    assert "Noise was added" in str(model.summary()) and "<table>" in model.summary()._repr_html_()


def test_a_model_without_errors_says_what_to_do():
    X, y = table(2000)
    model = tacit.PrivateLogisticRegression(epsilon=1.0, delta=1e-6, data_norm=3, classes=[0, 1], random_state=1)
    with pytest.warns(UserWarning):
        model.fit(X, y)
    assert 'errors "model"' in model.summary().facts["advice"]
    with pytest.raises(AttributeError, match="errors='model'"):
        model.bse_


@pytest.mark.parametrize("level", [0, 1, -1, float("nan")])
def test_a_level_outside_its_range_is_refused(level):
    model, _ = fitted()
    with pytest.raises(ValueError, match="level must be a number between 0 and 1"):
        model.conf_int(level)
