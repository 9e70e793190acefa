"""Every parameter of every estimator: what it may be is said once, and whatever else it is given is one sentence.

A wrong parameter has killed the interpreter before, so each is tried in a process of its own, many in one process.  The
process says what it tries before it does, so that a crash has a name.
"""

import faulthandler
import inspect
import json
import os
import re
import subprocess
import sys
import warnings

import numpy as np
import pytest

import tacit
import tacit.ranks
from tacit._parameters import rule_of

# Values of other types, by a name that the processes share; each stands for a whole kind.
VALUES = {
    "True": True,
    "1": 1,
    "-3": -3,
    "2**80": 2**80,
    "0.5": 0.5,
    "nan": float("nan"),
    "1j": 1j,
    "'no'": "no",
    "''": "",
    "b'no'": b"no",
    "[7]": [7],
    "{'a': 7}": {"a": 7},
    "{1, 2}": {1, 2},
    "('0', '1')": ("0", "1"),
    "None": None,
    "object": object(),
    "class": int,
    "function": repr,
    "array": np.ones((2, 2, 2)),
    "date": np.datetime64("2026-01-01"),
}
_NUMBER, _COUNT = {"1", "2**80", "0.5"}, {"1"}
# Which of them are no mistakes.  That of another right type, such as a solver called "no", is one all the same.
RIGHT = {
    "epsilon": _NUMBER,
    "delta": {"0.5"},
    "data_norm": _NUMBER | {"None"},
    "bounds": {"None"},
    "estimate": {"None"},
    "fit_intercept": {"True"},
    "solver": set(),
    "errors": set(),
    "neighbours": set(),
    "rows": set(),
    "ledger": {"'no'", "None"},  # the path of none
    "random_state": {"1", "None"},
    "n_jobs": {"1", "-3", "None"},
    "progress": {"True", "class", "function"},
    "weight_cap": _NUMBER | {"None"},
    "rows_per_person": {"1", "None"},
    "classes": {"('0', '1')", "None"},
    "C": _NUMBER,
    "loss": set(),
    "label_bounds": set(),
    "alpha": _NUMBER,
    "l1_ratio": {"1", "0.5"},
    "exposure": {"'no'", "None"},
    "horizon": _NUMBER,
    "max_mean": {"1", "0.5", "None"},
    "max_ratio": set(),
    "estimator": set(),
    "param_grid": set(),
    "selection": set(),
    "tries": {"1"},
    "share": {"0.5", "None"},
    "test_size": {"0.5"},
    "schema": {"'no'", "None"},
}
BUDGET = {"epsilon": 1.0, "delta": 1e-4}
NORM, LABEL = {"data_norm": 2.0}, {"label_bounds": (0, 1)}
SETTINGS = {
    "PrivateLogisticRegression": {**BUDGET, **NORM, "classes": [0, 1]},
    "PrivateLinearSVC": {**BUDGET, **NORM, "classes": [0, 1]},
    "PrivateRidge": {**BUDGET, **NORM, **LABEL},
    "PrivateLasso": {**BUDGET, **NORM, **LABEL},
    "PrivateElasticNet": {**BUDGET, **NORM, **LABEL},
    "PrivatePoissonRegression": {**BUDGET, **NORM, **LABEL},
    "PrivateGammaRegression": {**BUDGET, **NORM, **LABEL},
    "PrivateCox": {**BUDGET, **NORM, "horizon": 1},
    "PrivateSearchCV": {
        **BUDGET, "estimator": tacit.PrivateRidge(**NORM, **LABEL), "param_grid": {"alpha": [1.0, 2.0]}, "selection": "random",
    },
    "PublicScaler": {"bounds": (0, 1)},
}  # fmt: skip


def parameters(name):
    return [each for each in inspect.signature(getattr(tacit, name)).parameters]


CASES = [(name, each, value) for name in SETTINGS for each in parameters(name) for value in VALUES]


def settings_with(name, parameter, value):
    settings = {**SETTINGS[name], parameter: value}
    rival = {"bounds": "data_norm", "estimate": "data_norm", "schema": "bounds"}.get(parameter)
    return {each: own for each, own in settings.items() if each != rival or value is None}


def tried(name, parameter, value):
    """What comes of it: "accepted", or the kind of the exception and its text; by `fit` and by `plan`."""
    X = np.random.default_rng(1).uniform(0, 1, (40, 2))
    y = (X[:, 0] > 0.5).astype(int)
    if name == "PrivateCox":
        y = np.array(list(zip(y, X[:, 1])), dtype=[("event", "?"), ("time", "f8")])
    calls = [lambda model: model.fit(X, y)]
    if name != "PublicScaler":
        calls.append(lambda model: model.plan(40, 2))
    answers = []
    for call in calls:
        try:
            call(getattr(tacit, name)(**settings_with(name, parameter, VALUES[value])))
            answers.append(["accepted", ""])
        except Exception as why:
            answers.append([type(why).__name__, str(why)])
    return answers


def child(first):
    faulthandler.enable()
    warnings.simplefilter("ignore")
    for place in range(first, len(CASES)):
        print(json.dumps([place]), flush=True)
        print(json.dumps([place, tried(*CASES[place])]), flush=True)


def run_all():
    """{case: its answers, or "crashed"}."""
    found, first = {}, 0
    while first < len(CASES):
        command = [sys.executable, "-c", f"import test_parameters; test_parameters.child({first})"]
        here = os.path.dirname(__file__)
        run = subprocess.run(command, cwd=here, capture_output=True, text=True)
        lines = [json.loads(line) for line in run.stdout.splitlines() if line.startswith("[")]
        for place, *answers in lines:
            found[CASES[place]] = answers[0] if answers else "crashed: " + run.stderr[:200]
        first = lines[-1][0] + 1
    return found


@pytest.fixture(scope="module")
def answers():
    return run_all()


def is_one_sentence(text):
    return "\n" not in text and len(text) < 400 and re.search("[;:] ", text) and ". " not in text.replace("e.g. ", "")


@pytest.mark.parametrize("name", SETTINGS)
def test_a_parameter_of_another_type_is_refused_in_one_sentence_that_names_it(name, answers):
    wrong = []
    for (_, parameter, value), found in [(case, found) for case, found in answers.items() if case[0] == name]:
        right = value in RIGHT.get(parameter, ())
        if isinstance(found, str):
            wrong.append(f"{parameter}={value} {found}")
            continue
        for door, (kind, text) in zip(("fit", "plan"), found):
            refused = kind in ("ValueError", "TypeError") and re.search(rf"\b{parameter}\b", text) and is_one_sentence(text)
            if not refused and not (right and (kind == "accepted" or is_one_sentence(text))):
                wrong.append(f"{door}, {parameter}={value}: {kind} {text}")
    assert wrong == []


def checked_functions():
    """(the name, the function) of all whose arguments the table checks."""
    for module in [each for name, each in sys.modules.items() if name.partition(".")[0] == "tacit"]:
        for holder in [module, *(each for each in vars(module).values() if isinstance(each, type))]:
            for name, call in vars(holder).items():
                call = getattr(call, "__func__", call)
                if hasattr(call, "rules") and call.__module__ == module.__name__:
                    yield call.__qualname__, call


FUNCTIONS = dict(checked_functions())


@pytest.mark.parametrize("name", FUNCTIONS)
def test_an_argument_of_a_function_that_is_of_no_right_type_is_refused_by_its_name(name):
    call = FUNCTIONS[name]
    assert call.rules
    for parameter in call.rules:
        for value in ("object", "1j", "array", "class", "{1, 2}", "date"):
            with pytest.raises(ValueError, match=rf"^{parameter} must be .*; give e.g. {parameter}=") as why:
                call(**{parameter: VALUES[value]})
            assert is_one_sentence(str(why.value))


def test_no_flag_of_a_function_is_yes_by_accident_and_no_path_is_a_number(tmp_path):
    assert len(FUNCTIONS) > 25
    ledger = tacit.Ledger.create(tmp_path / "l.db", epsilon=1.0, delta=1e-3)
    for call in (
        lambda: tacit.Ledger.create(tmp_path / "m.db", epsilon=1.0, delta=1e-3, for_tests="no"),
        lambda: ledger.charge("gaussian:noise=10", delta=1e-6, seeded="no"),
        lambda: ledger.charge("gaussian:noise=10", delta=1e-6, unaccounted="a note"),
        lambda: tacit.Ledger.create(None, epsilon=1.0, delta=1e-3),
        lambda: ledger.anchor(None),
        lambda: tacit.Model.parse(None),
        lambda: tacit.Schema.read(1),
    ):
        with pytest.raises(ValueError, match="must be"):
            call()
    assert not ledger.state()["runs"] and not (tmp_path / "m.db").exists()


def test_no_parameter_is_left_out_and_the_settings_around_the_wrong_one_are_right(answers):
    assert set(SETTINGS) == {name for name in tacit.__all__ if hasattr(getattr(tacit, name), "get_params")}
    for name in SETTINGS:
        assert len({value for case, each, value in CASES if case == name and value not in RIGHT[each]}) >= 12
        good = [found for (case, *_, value), found in answers.items() if case == name and value in ("1", "None")]
        assert any(each[0][0] == "accepted" for each in good)
        assert all(rule_of(getattr(tacit, name), each) for each in parameters(name))
