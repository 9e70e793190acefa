"""Attacks on a plan, from Python."""

import json
import pathlib
import sys
import types

import pytest

import tacit

PLAN = dict(epsilon=4, delta=1e-6, solver="dpgd:steps=2,clip=0.1", shape=(8, 2), intercept=False)


@pytest.fixture(scope="module")
def facts():
    return tacit.audit("logistic", seconds=3, **PLAN)


def test_an_audit_of_a_sound_plan_finds_nothing(facts):
    assert facts["broken"] is False and facts["breaks"] == []
    assert facts["plan"]["solver"].startswith("dpgd:")
    assert facts["behaviour"]["pairs"] >= 8
    assert facts["black_box"]["mu_proven"] <= facts["black_box"]["mu_claimed"]


def test_the_installed_library_says_what_it_did_not_check(facts):
    assert facts["sensitivity"] is None and facts["white_box"] is None
    assert "not built for audit" in facts["not_checked"][0]


def test_real_labels_get_a_bound():
    assert tacit.audit("squared", seconds=0.5, **PLAN)["plan"]["fits"][0]["asked"]["label_bound"] == 1


@pytest.mark.parametrize("change", [dict(shape=(1, 2)), dict(seconds=0), dict(epsilon=float("inf")), dict(neighbours="friends")])
def test_what_makes_no_sense_is_refused(change):
    with pytest.raises(ValueError):
        tacit.audit("logistic", **{"seconds": 0.5, **PLAN, **change})


def test_the_curve_has_rates_beside_what_is_allowed(facts):
    roc = facts["black_box"]["roc"]
    assert len(roc["false_positives"]) == len(roc["true_positives"]) == len(roc["claimed"]) > 20
    assert all(0 <= x <= 1 for values in roc.values() for x in values)


class Axes:
    def __init__(self):
        self.lines = []

    def plot(self, x, y, *style, label=None, **options):
        self.lines.append((label, list(x), list(y)))
        return [types.SimpleNamespace(get_color=lambda: "blue")]

    def set_xlabel(self, text):
        pass

    set_ylabel = set_xlabel

    def legend(self):
        pass


def test_the_drawing_has_what_was_seen_and_what_is_allowed(facts):
    axes = Axes()
    assert tacit.plot_audit(facts, axes) is axes
    assert [line[0] for line in axes.lines] == ["final models: seen", "final models: allowed", "guessing"]
    assert axes.lines[0][1] == sorted(facts["black_box"]["roc"]["false_positives"])


def test_without_matplotlib_a_drawing_says_what_is_missing(facts, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(ImportError, match="matplotlib"):
        tacit.plot_audit(facts)


def test_a_page_says_what_an_audit_of_its_plan_found_and_refuses_that_of_another(tmp_path):
    import numpy as np

    model = tacit.PrivateLogisticRegression(epsilon=4, delta=1e-6, solver=PLAN["solver"], data_norm=1.0, fit_intercept=False)

    rng = np.random.default_rng(1)
    x = rng.uniform(-1, 1, (8, 2))
    model.fit(x, (x[:, 0] > 0).astype(int))
    own = model.models_[0]
    asked = json.loads(json.dumps(own.json))["privacy"]["fits"][0]["asked"]
    facts = tacit.audit(asked["loss"], seconds=0.5, penalty=asked["penalty"], row_norm=asked["row_norm"],
                        label_bound=asked["label_bound"], **PLAN)
    page = own.report(audit=facts)
    assert "<h2>Attacks</h2>" in page and "No break was found" in page
    assert "<h2>Attacks</h2>" not in own.report()
    path = pathlib.Path(tmp_path) / "page.html"
    own.report(path, audit=facts)
    assert path.read_text() == page
    other = tacit.audit("logistic", seconds=0.5, **{**PLAN, "epsilon": 3})
    with pytest.raises(ValueError, match="another plan"):
        own.report(audit=other)
    broken = {**facts, "breaks": ["noise: <b>half</b>"], "broken": True}
    page = own.report(audit=broken)
    assert "Do not publish this model" in page and "&lt;b&gt;half" in page
    with pytest.raises(ValueError, match="no answer of tacit.audit; make it with tacit.audit$"):
        own.report(audit={"plan": 1})
