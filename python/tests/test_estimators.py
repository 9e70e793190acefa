"""What the estimators promise: settings without defaults, budgets composed, certificates that verify."""

import json
import os
import pickle
import re
import subprocess
import sys
import textwrap
import threading
import time
import warnings

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.linear_model import ElasticNet, Lasso, PoissonRegressor, Ridge
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline

import tacit

BUDGET = {"epsilon": 1.0, "delta": 1e-5, "n_jobs": 1}
FREE = {"epsilon": float("inf"), "delta": 1e-5, "n_jobs": 1}
ALL = [
    tacit.PrivateLogisticRegression,
    tacit.PrivateLinearSVC,
    tacit.PrivateRidge,
    tacit.PrivateLasso,
    tacit.PrivateElasticNet,
    tacit.PrivatePoissonRegression,
]


def data(rows=400, cols=4, classes=2, seed=5):
    rng = np.random.default_rng(seed)
    X = rng.uniform(-1, 1, size=(rows, cols))
    scores = X @ rng.normal(size=(cols, classes)) + 0.3 * rng.normal(size=(rows, classes))
    return X, scores.argmax(axis=1)


def regression(rows=2000, cols=4):
    rng = np.random.default_rng(6)
    X = rng.uniform(-1, 1, size=(rows, cols))
    return X, X @ np.array([2.0, -1.0, 0.0, 0.5]) + 1 + 0.1 * rng.normal(size=rows)


@pytest.mark.parametrize("value", ["inf", "1", True, np.array([1.0])])
@pytest.mark.parametrize("name", ["epsilon", "delta"])
def test_a_promise_that_is_no_number_is_refused(name, value):
    X, y = data()
    model = tacit.PrivateLogisticRegression(**{**BUDGET, name: value}, data_norm=2.0, classes=[0, 1])
    with pytest.raises(ValueError, match=f"{name} must be a number"):
        model.fit(X, y)


def bounds_of(estimator):
    if estimator is tacit.PrivatePoissonRegression:
        return {"label_bounds": (0, 5)}
    return {"label_bounds": (-5, 5)} if hasattr(estimator, "alpha") or "alpha" in estimator().get_params() else {}


@pytest.mark.parametrize("estimator", ALL)
@pytest.mark.parametrize(
    "missing, sentence",
    [("epsilon", "epsilon is not given"), ("delta", "delta is not given"), ("data_norm", "neither data_norm nor bounds")],
)
def test_settings_without_a_default_are_refused_with_a_sentence(estimator, missing, sentence):
    settings = {**BUDGET, "data_norm": 2.0, **bounds_of(estimator)}
    del settings[missing]
    X, y = data()
    with pytest.raises(ValueError, match=sentence):
        estimator(**settings).fit(X, y)
    with pytest.raises(ValueError, match=sentence):
        estimator(**settings).plan(100, 4)


@pytest.mark.parametrize("estimator", [tacit.PrivateRidge, tacit.PrivateLasso, tacit.PrivateElasticNet, tacit.PrivatePoissonRegression])
def test_label_bounds_have_no_default(estimator):
    X, y = regression()
    with pytest.raises(ValueError, match="label_bounds is not given"):
        estimator(**BUDGET, data_norm=2.0).fit(X, y)


def test_a_label_outside_the_public_classes_is_refused_without_its_value():
    X, y = data(classes=3)
    with pytest.raises(ValueError, match="not among the classes") as why:
        tacit.PrivateLogisticRegression(**BUDGET, data_norm=2.0, classes=[0, 77]).fit(X, y)
    assert "2" not in str(why.value)


def test_classes_read_from_the_data_are_named_unaccounted():
    X, y = data()
    model = tacit.PrivateLogisticRegression(**BUDGET, data_norm=2.0)
    with pytest.warns(tacit.PrivacyWarning, match="classes were read"):
        model.fit(X, y)
    assert any("classes" in line for line in model.privacy_["unaccounted"])
    given = tacit.PrivateLogisticRegression(**BUDGET, data_norm=2.0, classes=[0, 1]).fit(*data(seed=6))
    assert given.privacy_["unaccounted"] == []


def cautions(model, X, y):
    with warnings.catch_warnings(record=True) as seen, tacit.config(repeated_fits="ok"):
        warnings.simplefilter("always")
        model.fit(X, y)
    return [(w.category, str(w.message)) for w in seen if w.category is not UserWarning]


@pytest.mark.parametrize("count", [2, 3])
def test_a_promise_that_says_little_warns_in_fit_and_in_the_plan(count):
    X, y = data(classes=count)
    public = {"data_norm": 2.0, "classes": list(range(count))}
    assert cautions(tacit.PrivateLogisticRegression(epsilon=8, delta=1e-5, **public), X, y) == []
    large = tacit.PrivateLogisticRegression(epsilon=9, delta=1 / len(y), **public)
    seen = cautions(large, X, y)
    assert [category for category, _ in seen] == [tacit.PrivacyWarning] * 2
    assert "delta" in seen[0][1] and "epsilon 9 is above 8" in seen[1][1]
    assert [w["text"] for w in large.plan(*X.shape)["warnings"]] == [text for _, text in seen]
    faint = cautions(tacit.PrivateLogisticRegression(epsilon=1e-3, delta=1e-9, **public), X, y)
    assert [category for category, _ in faint] == [tacit.UtilityWarning]
    assert "constant" in faint[0][1]


def test_the_plan_is_what_fit_does():
    X, y = data()
    model = tacit.PrivateLogisticRegression(**BUDGET, data_norm=2.0, classes=[0, 1], solver="dpscd")
    plan = model.plan(*X.shape)
    model.fit(X, y)
    assert plan["events"] == model.privacy_["events"]
    assert plan["solver"] == model.models_[0].json["solver"]
    assert tacit.account(plan["events"], 1e-5)["epsilon"] <= 1.0 * (1 + 1e-3)


@pytest.mark.parametrize("solver", ["objpert", "dpscd"])
@pytest.mark.parametrize("neighbours", ["add_remove", "replace_one"])
def test_one_against_the_rest_costs_epsilon_in_all(solver, neighbours):
    X, y = data(classes=4)
    model = tacit.PrivateLogisticRegression(
        **BUDGET, data_norm=2.0, classes=range(4), solver=solver, neighbours=neighbours, random_state=1
    )
    plan = model.plan(*X.shape)
    model.fit(X, y)
    assert model.coef_.shape == (4, 4) and len(model.models_) == 4
    privacy = model.privacy_
    assert privacy["events"] == plan["events"] and privacy["models"] == 4
    assert tacit.account(privacy["events"], 1e-5, neighbours=neighbours)["epsilon"] <= 1.0 * (1 + 1e-6)
    if "approx" not in privacy["events"][0]:
        assert privacy["each"]["events"] * 4 == privacy["events"]  # what was accounted for is what was spent
        assert privacy["each"]["epsilon"] > 1.0 / 4
    else:
        assert privacy["each"]["epsilon"] <= 0.25 and privacy["each"]["delta"] <= 1e-5 / 4
    assert len({tuple(m.coefficients) for m in model.models_}) == 4
    np.testing.assert_allclose(model.predict_proba(X).sum(axis=1), 1)


def shortened(text, change):
    file = json.loads(text)
    change(file["privacy"])
    return json.dumps(file)


def own_share(privacy):
    """What one of the fits spent, as a file would say it that knows of no other."""
    fit = {**privacy["fits"][0], "count": 1}
    privacy.update(fits=[fit], **{key: fit[key] for key in ("epsilon", "delta", "events", "accountant")})


@pytest.mark.parametrize("solver", ["objpert", "dpscd"])
def test_the_file_of_one_class_claims_what_all_classes_spent(solver, tmp_path):
    X, y = data(classes=4)
    ledger = tacit.Ledger.create(tmp_path / "l", epsilon=5.0, delta=1e-3)
    model = tacit.PrivateLogisticRegression(**BUDGET, data_norm=2.0, classes=range(4), solver=solver, ledger=ledger)
    model.fit(X, y)
    for k, each in enumerate(model.models_):
        assert each.privacy["epsilon"] == 1.0 and each.privacy["delta"] == 1e-5
        assert sum(fit["count"] for fit in each.privacy["fits"]) == 4
        each.save(tmp_path / f"{k}.json")
        answer = tacit.verify(tmp_path / f"{k}.json", tmp_path / "l")
        assert answer["ok"] and answer["replanned"] and answer["epsilon"] == 1.0, answer
        asked = sum(4 * release["count"] for release in each.privacy["fits"][0]["releases"])
        told = re.findall('derived.times" value="([0-9]+)"', each.report())
        assert sum(int(times) for times in told) == asked
    text = (tmp_path / "0.json").read_text()
    for change in (
        lambda privacy: privacy["fits"][0].update(count=3),
        lambda privacy: privacy.update(events=privacy["events"][:-1] or ["approx:epsilon=0.1,delta=1e-9"]),
        lambda privacy: privacy.update(epsilon=0.9),
        lambda privacy: privacy.update(delta=privacy["delta"] / 2),
    ):
        (tmp_path / "less.json").write_text(shortened(text, change))
        assert tacit.verify(tmp_path / "less.json").verdict is tacit.Verdict.REFUSED
    (tmp_path / "less.json").write_text(shortened(text, own_share))
    assert tacit.verify(tmp_path / "less.json", tmp_path / "l").verdict is tacit.Verdict.REFUSED  # the ledger knows


def test_the_classes_of_one_fit_have_different_noise():
    X, y = data()  # classes 2 and 3 have no record: the same problem twice
    model = tacit.PrivateLogisticRegression(**BUDGET, data_norm=2.0, classes=range(4), random_state=1).fit(X, y)
    assert not np.allclose(model.coef_[2], model.coef_[3], rtol=1e-3)


@pytest.mark.parametrize("intercept, norm", [(True, np.sqrt(2.5**2 + 1)), (False, 2.5)])
def test_the_norm_of_a_record_is_that_of_its_features_and_the_intercepts_1(intercept, norm):
    X, y = data()
    settings = dict(**BUDGET, classes=[0, 1], fit_intercept=intercept)
    model = tacit.PrivateLogisticRegression(data_norm=2.5, **settings).fit(X, y)
    assert model.models_[0].json["transforms"]["row_norm"] == pytest.approx(norm)
    model = tacit.PrivateLogisticRegression(bounds=(-1, 1), **settings).fit(X, y)
    assert model.models_[0].json["transforms"]["row_norm"] == pytest.approx(np.sqrt(4 + intercept))


def test_bounds_scale_and_coef_is_for_the_features_as_they_come():
    X, y = regression()
    wide = X * np.array([100, 10, 1, 0.1]) + np.array([1000, 0, -3, 0])
    lower, upper = wide.min(axis=0) - 0.1, wide.max(axis=0) + 0.1  # in a test the bounds may come from the data
    model = tacit.PrivateRidge(epsilon=100.0, delta=1e-5, bounds=(lower, upper), label_bounds=(-4, 6), alpha=1e-3)
    model.fit(wide, y)
    np.testing.assert_allclose(model.predict(wide), wide @ model.coef_ + model.intercept_, rtol=1e-9, atol=1e-9)
    assert model.score(wide, y) > 0.9
    narrow = tacit.PrivateLogisticRegression(**BUDGET, bounds=(-2, 2), classes=[0, 1], fit_intercept=False)
    narrow.fit(sparse.csr_matrix(X), y > 1)
    margins = narrow.decision_function(sparse.csr_matrix(X))
    np.testing.assert_allclose(margins, X @ narrow.coef_[0], rtol=1e-9)


def test_a_row_beyond_the_norm_moves_no_more_than_one_on_it():
    X, y = data()
    X[0] *= 1e6
    near = X.copy()
    near[0] *= 1e-3  # the same direction, still far outside; the intercept's 1 shrinks to nothing in both
    settings = dict(**BUDGET, data_norm=1.0, classes=[0, 1], random_state=4)
    far = tacit.PrivateLogisticRegression(**settings).fit(X, y)
    close = tacit.PrivateLogisticRegression(**settings).fit(near, y)
    np.testing.assert_allclose(far.coef_, close.coef_, atol=1e-3)


@pytest.mark.parametrize(
    "mine, theirs",
    [
        (tacit.PrivateRidge, Ridge(alpha=2.0, fit_intercept=False)),
        (tacit.PrivateLasso, Lasso(alpha=0.05, fit_intercept=False)),
        (tacit.PrivateElasticNet, ElasticNet(alpha=0.05, l1_ratio=0.3, fit_intercept=False)),
    ],
)
def test_without_privacy_the_model_is_scikit_learns(mine, theirs):
    X, y = regression()
    y = y - 1
    settings = {key: getattr(theirs, key) for key in ("alpha", "l1_ratio", "fit_intercept") if hasattr(theirs, key)}
    if mine is not tacit.PrivateElasticNet:
        settings.pop("l1_ratio", None)
    model = mine(**FREE, data_norm=2.0, label_bounds=(-5, 5), **settings)
    with pytest.warns(tacit.PrivacyWarning, match="no privacy"):
        model.fit(X, y)
    np.testing.assert_allclose(model.coef_, theirs.fit(X, y).coef_, atol=2e-3)
    assert not model.privacy_["private"]


def counts(rows=4000):
    rng = np.random.default_rng(7)
    X = rng.uniform(-1, 1, size=(rows, 3))
    return X, np.minimum(rng.poisson(np.exp(X @ np.array([0.8, -0.4, 0.0]) + 0.5)), 20)


def test_without_privacy_a_model_of_counts_is_scikit_learns():
    X, y = counts()
    theirs = PoissonRegressor(alpha=0.02, fit_intercept=False, tol=1e-9).fit(X, y)
    model = tacit.PrivatePoissonRegression(
        **FREE, data_norm=2.0, label_bounds=(0, 20), alpha=0.02, fit_intercept=False
    )
    with pytest.warns(tacit.PrivacyWarning, match="no privacy"):
        model.fit(X, y)
    np.testing.assert_allclose(model.coef_, theirs.coef_, atol=2e-3)
    np.testing.assert_allclose(model.predict(X), theirs.predict(X), rtol=5e-3)
    assert model.score(X, y) == pytest.approx(theirs.score(X, y), abs=1e-4)


def test_a_private_model_of_counts_predicts_means():
    X, y = counts()
    model = tacit.PrivatePoissonRegression(**BUDGET, bounds=(-1, 1), label_bounds=(0, 20), random_state=3).fit(X, y)
    mean = model.predict(X)
    assert np.all(mean > 0) and abs(mean.mean() - y.mean()) < 0.2
    np.testing.assert_allclose(np.exp(model.margins(X)[:, 0]), mean)


@pytest.mark.parametrize(
    "given, sentence",
    [
        ({"label_bounds": (-1, 5)}, "the targets lie between 0 and a largest one"),
        ({"label_bounds": (0, 0)}, "every lower bound in label_bounds"),
        ({"label_bounds": (0, 5), "max_mean": -1}, "max_mean must be a number above 0"),
        ({"label_bounds": (0, 1e6)}, "give max_mean, at most 22026"),
        ({"label_bounds": None}, "label_bounds is not given"),
        ({"label_bounds": None, "max_mean": 5}, "label_bounds is not given"),
    ],
)
def test_bounds_that_are_none_of_counts_are_refused(given, sentence):
    X, y = counts()
    model = tacit.PrivatePoissonRegression(**BUDGET, bounds=(-1, 1), **given)
    for call in (lambda: model.fit(X, y), lambda: model.plan(*X.shape)):
        with pytest.raises(ValueError, match=sentence):
            call()


def test_a_saved_model_is_the_command_lines_and_survives_pickling(tmp_path):
    X, y = data()
    model = tacit.PrivateLogisticRegression(**BUDGET, bounds=(-1, 1), classes=[0, 1]).fit(X, y)
    copy = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(copy.decision_function(X), model.decision_function(X))
    copy.save(tmp_path / "m.json")
    answer = tacit.verify(tmp_path / "m.json")
    assert answer["ok"], answer
    again = tacit.read_model(tmp_path / "m.json")
    np.testing.assert_array_equal(again.decision_function(X), model.decision_function(X))
    np.testing.assert_array_equal(again.predict(X), model.predict(X))
    np.testing.assert_array_equal(again.coefficients, model.models_[0].coefficients)
    text = (tmp_path / "m.json").read_text().replace('"epsilon":1.0', '"epsilon":0.5').replace('"epsilon": 1.0', '"epsilon": 0.5')
    (tmp_path / "m.json").write_text(text)
    answer = tacit.verify(tmp_path / "m.json")
    assert not answer["ok"] and answer.verdict is tacit.Verdict.REFUSED and answer.why


def test_a_verdict_is_one_of_six():
    six = {"failed", "verified", "in_part", "none", "reproducible", "for_tests"}
    assert {kind.value for kind in tacit.Verdict} == six


def test_a_file_whose_fits_were_taken_out_is_refused(tmp_path):
    X, y = data()
    model = tacit.PrivateLogisticRegression(**BUDGET, data_norm=2.0, classes=[0, 1], solver="dpgd").fit(X, y)
    model.save(tmp_path / "m.json")
    file = json.loads((tmp_path / "m.json").read_text())
    assert tacit.verify(tmp_path / "m.json").verdict is tacit.Verdict.VERIFIED
    file["version"] = 1
    file["coefficients"] = [1e300] * len(file["coefficients"])  # no plan, no bound on weights
    del file["privacy"]["fits"], file["privacy"]["weights"], file["classes"]
    (tmp_path / "m.json").write_text(json.dumps(file))
    assert tacit.verify(tmp_path / "m.json").verdict is tacit.Verdict.REFUSED
    with pytest.raises(ValueError, match="another version"):
        tacit.read_model(tmp_path / "m.json")


def test_a_seed_repeats_the_model_and_marks_it():
    X, y = data()
    one, two = (tacit.PrivateLogisticRegression(**BUDGET, data_norm=2.0, classes=[0, 1], random_state=9).fit(X, y) for _ in "ab")
    np.testing.assert_array_equal(one.coef_, two.coef_)
    assert one.privacy_["noise"] == "reproducible"
    free = [clone(one).set_params(random_state=None).fit(X, y) for _ in "ab"]
    assert free[0].privacy_["noise"] == "system"
    assert not np.array_equal(free[0].coef_, free[1].coef_)


def test_a_search_without_a_ledger_is_refused_and_with_one_is_charged(tmp_path):
    X, y = data()
    model = tacit.PrivateLogisticRegression(**BUDGET, data_norm=2.0, classes=[0, 1])
    with pytest.raises(ValueError, match="spend epsilon each time"):
        cross_val_score(make_pipeline(model), X, y, cv=2, error_score="raise")
    with pytest.raises(ValueError, match="spend epsilon each time"):
        GridSearchCV(model, {"C": [0.1, 1.0]}, cv=2, error_score="raise").fit(X, y)
    ledger = tacit.Ledger.create(tmp_path / "l", filter="sum", epsilon=5.0, delta=1e-3)
    GridSearchCV(model.set_params(ledger=ledger), {"C": [0.1, 1.0]}, cv=2, error_score="raise").fit(X, y)
    assert len(ledger.state()["runs"]) == 5  # two by two, and the best once more
    with pytest.raises(tacit.BudgetError):
        model.fit(X, y)
    assert len(ledger.state()["runs"]) == 5


def test_several_classes_are_one_charge(tmp_path):
    X, y = data(classes=3)
    ledger = tacit.Ledger.create(tmp_path / "l", filter="sum", epsilon=1.5, delta=1e-4)
    model = tacit.PrivateLogisticRegression(**BUDGET, data_norm=2.0, classes=range(3), ledger=str(tmp_path / "l"))
    model.fit(X, y)
    runs = ledger.state()["runs"]
    assert len(runs) == 1 and runs[0]["epsilon"] == pytest.approx(1.0)
    assert model.privacy_["ledger"]["head"] == ledger.state()["head"] and runs[0]["plan"].startswith("asked:")
    model.save(tmp_path / "m.json")
    assert ledger.check([tmp_path / "m.json"])["ok"]
    with pytest.raises(tacit.BudgetError):
        clone(model).fit(X, y)


SLOW = {**BUDGET, "data_norm": 2.0, "classes": [0, 1], "solver": "dpsgd:epochs=100000,batch=2000"}


def test_ctrl_c_cancels_and_the_budget_stays_charged(tmp_path):
    ledger = tacit.Ledger.create(tmp_path / "l", epsilon=2.0, delta=1e-4)
    program = textwrap.dedent(
        """
        import signal, sys, numpy as np, tacit
        X = np.random.default_rng(0).uniform(-1, 1, size=(2000, 4))
        seen = []
        def progress(fraction):
            if not seen:
                signal.raise_signal(signal.SIGINT)
            seen.append(fraction)
        model = tacit.PrivateLogisticRegression(epsilon=1.0, delta=1e-5, n_jobs=1, data_norm=2.0, classes=[0, 1],
            solver="dpsgd:epochs=100000,batch=2000", ledger=sys.argv[1], progress=progress)
        try:
            model.fit(X, (X[:, 0] > 0).astype(int))
        except KeyboardInterrupt:
            assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
            assert not hasattr(model, "coef_")
            print("interrupted", seen[-1] < 0.5)
        """
    )
    done = subprocess.run([sys.executable, "-c", program, ledger.path], capture_output=True, text=True, timeout=600)
    assert done.stdout == "interrupted True\n", done.stderr
    assert len(ledger.state()["runs"]) == 1


def test_ctrl_c_ends_the_read_of_a_pipe_that_stalls(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    program = textwrap.dedent(
        """
        import os, signal, sys, threading, tacit
        def stall():
            pipe = os.open(sys.argv[1], os.O_WRONLY)
            os.write(pipe, b"a,y\\n1,1\\n")
            signal.pthread_kill(threading.main_thread().ident, signal.SIGINT)
        threading.Thread(target=stall, daemon=True).start()
        try:
            tacit.read(sys.argv[1], label="y")
        except KeyboardInterrupt:
            print("interrupted", signal.getsignal(signal.SIGINT) is signal.default_int_handler)
        """
    )
    done = subprocess.run([sys.executable, "-c", program, tmp_path / "pipe"], capture_output=True, text=True, timeout=600)
    assert done.stdout == "interrupted True\n", done.stderr


def test_killing_the_interpreter_leaves_the_ledger_charged(tmp_path):
    ledger = tacit.Ledger.create(tmp_path / "l", epsilon=2.0, delta=1e-4)
    program = textwrap.dedent(
        """
        import os, signal, sys, numpy as np, tacit
        X = np.random.default_rng(0).uniform(-1, 1, size=(2000, 4))
        tacit.PrivateLogisticRegression(epsilon=1.0, delta=1e-5, n_jobs=1, data_norm=2.0, classes=[0, 1],
            solver="dpsgd:epochs=100000,batch=2000", ledger=sys.argv[1],
            progress=lambda fraction: os.kill(os.getpid(), signal.SIGKILL)).fit(X, (X[:, 0] > 0).astype(int))
        """
    )
    done = subprocess.run([sys.executable, "-c", program, ledger.path], capture_output=True, text=True, timeout=600)
    assert done.returncode == -9, done.stderr
    assert len(ledger.state()["runs"]) == 1 and ledger.check()["ok"]


def test_processes_that_share_a_ledger_never_overspend_together(tmp_path):
    ledger = tacit.Ledger.create(tmp_path / "l", epsilon=2.0, delta=1e-3)
    program = textwrap.dedent(
        """
        import sys, numpy as np, tacit
        X = np.random.default_rng(0).uniform(-1, 1, size=(200, 2))
        model = tacit.PrivateLogisticRegression(epsilon=0.3, delta=1e-5, n_jobs=1, data_norm=2.0, classes=[0, 1],
            solver="objpert", ledger=sys.argv[1])
        trained = 0
        for _ in range(4):
            try:
                model.fit(X, (X[:, 0] > 0).astype(int))
                trained += 1
            except tacit.BudgetError:
                pass
        print(trained)
        """
    )
    line = [sys.executable, "-c", program, ledger.path]
    running = [subprocess.Popen(line, stdout=subprocess.PIPE, text=True) for _ in range(3)]
    trained = [int(process.communicate(timeout=600)[0]) for process in running]
    state = ledger.state()
    assert sum(trained) == len(state["runs"]) == 6  # twelve were tried, six of 0.3 fit into 2
    assert state["spent"]["epsilon"] <= 2.0 and ledger.check()["ok"]


def test_an_exception_in_the_progress_function_stops_the_fit_and_comes_out():
    X, y = data(rows=2000)

    class Enough(Exception):
        pass

    def progress(fraction):
        raise Enough

    with pytest.raises(Enough):
        tacit.PrivateLogisticRegression(**SLOW, progress=progress).fit(X, y)


def test_progress_runs_from_0_to_1_over_all_classes():
    X, y = data(rows=3000, classes=3)
    seen = []
    tacit.PrivateLogisticRegression(
        **BUDGET, data_norm=2.0, classes=range(3), solver="dpsgd:epochs=300,batch=60", progress=seen.append
    ).fit(X, y)
    assert seen == sorted(seen) and seen[0] >= 0 and 2 / 3 < seen[-1] <= 1


def test_other_threads_run_during_a_fit():
    X, y = data(rows=2000)
    ticks, halves = [], []

    def worker():
        while not halves:
            ticks.append(time.monotonic())
            time.sleep(0.001)

    thread = threading.Thread(target=worker)

    def progress(fraction):
        if not thread.is_alive() and not halves:
            thread.start()
        if len(ticks) > 30:
            halves.append(fraction)
            raise InterruptedError  # the thread ran while the library did: enough

    with pytest.raises(InterruptedError):
        tacit.PrivateLogisticRegression(**SLOW, progress=progress).fit(X, y)
    thread.join()
    assert len(ticks) > 30
