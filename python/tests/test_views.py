"""What a notebook shows, and how the library's sentences read in Python."""

import html.parser
import io
import re
import sys

import numpy as np
import pytest
import tacit
from tacit import _callbacks, _native, _views

BUDGET = {"epsilon": 1.0, "delta": 1e-6}


class Balanced(html.parser.HTMLParser):
    def __init__(self):
        super().__init__(convert_charrefs=True)
        self.open, self.text = [], []

    def handle_starttag(self, tag, attrs):
        assert tag != "script" and not any(name.startswith("on") for name, _ in attrs)
        self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.text.append(data)


def read(view):
    """The words of a view; it must be balanced HTML without scripts."""
    parser = Balanced()
    parser.feed(view._repr_html_())
    parser.close()
    assert parser.open == []
    return " ".join(" ".join(parser.text).split())


@pytest.fixture(scope="module")
def fitted(tmp_path_factory):
    rng = np.random.default_rng(1)
    X = rng.uniform(-1, 1, size=(3000, 4))
    ledger = tacit.Ledger.create(
        tmp_path_factory.mktemp("views") / "a.ledger", filter="sum", epsilon=4.0, delta=1e-5, name="people <b>", people="ward & co"
    )
    model = tacit.PrivateLogisticRegression(**BUDGET, data_norm=2.5, classes=[0, 1], ledger=ledger)
    return model.fit(X, (X[:, 0] > 0).astype(int)), ledger, X


def test_a_ledger_shows_what_is_left_and_its_runs(fitted):
    shown = read(fitted[1])
    assert "people <b>" in shown and "ward & co" in shown
    assert "epsilon 3," in shown and "75.0 % of epsilon is left" in shown
    assert shown.count("dpmetric") == 1  # one run, with what it did


def test_a_schema_shows_each_column_and_says_when_it_is_a_draft():
    content = {
        "format": "tacit-schema",
        "version": 1,
        "columns": [
            {"name": "a<ge", "type": "number", "lower": 0, "upper": 120},
            {"name": "work", "type": "category", "values": [f"kind {k}" for k in range(9)]},
            {"name": "id", "type": "ignore"},
        ],
        "label": {"name": "income", "positive": ">50K"},
    }
    shown = read(tacit.Schema(content))
    assert "a<ge number 0 to 120" in shown and "kind 5, and 3 more" in shown
    assert "2 used, 1 ignored" in shown and "positive label >50K" in shown and "draft" not in shown
    assert "draft" in read(tacit.Schema({**content, "not_private": "x"}))


def test_a_long_schema_is_cut_and_counted():
    columns = [{"name": f"x{k}", "type": "number", "lower": 0, "upper": 1} for k in range(50)]
    shown = read(tacit.Schema({"columns": columns}))
    assert "x19" in shown and "x20 " not in shown and "and 30 more columns" in shown


def test_a_table_shows_no_cell(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("age,secret,y\n3,77123,1\n4,88123,0\n5,99123,1\n")
    table = tacit.read(path, label="y")
    shown = read(table)
    assert "records 3" in shown and "age, secret" in shown and "two classes" in shown
    assert not re.search("77123|88123|99123", shown)


def test_a_model_shows_its_claim_and_the_largest_weight_first(fitted, tmp_path):
    fitted[0].save(tmp_path / "m.json")
    model = tacit.read_model(tmp_path / "m.json")
    shown = read(model)
    assert "epsilon 1 " in shown and "proved by" in shown and "gaussian" in shown
    size = np.abs(model.coefficients)
    first = (model.features or [f"x{j + 1}" for j in range(4)])[int(np.argmax(size))]
    assert re.search(rf"weight of the scaled feature {first} ", shown)


def test_a_model_of_several_classes_shows_a_column_for_each(tmp_path):
    rng = np.random.default_rng(2)
    X = rng.uniform(-1, 1, size=(2000, 3))
    kinds = np.array(["low", "mid", "high"])[np.digitize(X[:, 0], [-0.3, 0.3])]
    model = tacit.PrivateLogisticRegression(**BUDGET, data_norm=2.0, classes=["high", "low", "mid"]).fit(X, kinds)
    model.save(tmp_path / "m.json")
    shown = read(tacit.read_model(tmp_path / "m.json"))
    assert "weight for high weight for low weight for mid" in shown


def test_a_certificate_is_a_dict_with_a_view_that_names_what_is_not_covered(fitted):
    privacy = fitted[0].privacy_
    assert isinstance(privacy, dict) and privacy["epsilon"] == 1.0
    assert "epsilon 1 " in read(privacy) and "Not covered" not in read(privacy)
    assert "Not covered: a scale" in read(_views.Certificate({**privacy, "unaccounted": ["a scale"]}))
    assert "no privacy at all" in read(_views.Certificate({"private": False}))


def test_a_verification_shows_a_failed_check_first(tmp_path, fitted):
    path = tmp_path / "m.json"
    fitted[0].save(path)
    assert "verdict verified" in read(tacit.verify(path))
    path.write_text(path.read_text().replace('"epsilon":1.0', '"epsilon":0.5').replace('"epsilon": 1.0', '"epsilon": 0.5'))
    shown = read(tacit.verify(path))
    assert "verdict failed" in shown and shown.index("FAILED") < shown.index(" ok ")


# ---- the progress bar ----


def drawn(monkeypatch, fit):
    stream = io.StringIO()
    monkeypatch.setattr(sys, "stderr", stream)
    monkeypatch.setitem(sys.modules, "tqdm", None)
    monkeypatch.setitem(sys.modules, "tqdm.auto", None)
    fit()
    return stream.getvalue()


def test_the_bar_reaches_100_percent_and_clears(monkeypatch, fitted):
    model, _, X = fitted
    again = tacit.PrivateLogisticRegression(**BUDGET, data_norm=2.5, classes=[0, 1], progress=True, solver="dpgd:steps=9")
    text = drawn(monkeypatch, lambda: again.fit(X[:500], (X[:500, 0] > 0).astype(int)))
    assert re.search(r"\[#{40}\] 100 %", text)
    last = text.rstrip("\r").split("\r")[-1]
    assert last.strip() == "" and len(last) >= len("tacit [] 100 %") + 40  # blanks over all of the bar
    assert "\n" not in text


def test_the_bar_clears_when_a_run_fails(monkeypatch):
    def fail():
        callbacks = _callbacks.Callbacks(True)
        with pytest.raises(RuntimeError), callbacks.watching():
            callbacks.bar(0.3)
            raise RuntimeError

    assert drawn(monkeypatch, fail).rstrip("\r").split("\r")[-1].strip() == ""


def test_the_bar_is_that_of_tqdm_where_it_is_installed(monkeypatch):
    made = []

    class Fake:
        def __init__(self, **options):
            self.options, self.n, self.closed = options, 0, False
            made.append(self)

        def refresh(self):
            pass

        def close(self):
            self.closed = True

    module = type(sys)("tqdm.auto")
    module.tqdm = Fake
    monkeypatch.setitem(sys.modules, "tqdm", type(sys)("tqdm"))
    monkeypatch.setitem(sys.modules, "tqdm.auto", module)
    bar = _views.Bar()
    bar(0.5)
    bar(1.0)
    bar.end()
    assert len(made) == 1 and made[0].n == 100 and made[0].closed and made[0].options["leave"] is False


def test_in_a_notebook_the_bar_is_one_output_that_empties_itself(monkeypatch):
    outputs = []

    class Handle:
        def update(self, shown):
            outputs.append(shown)

    class Shell:
        kernel = object()

    def display(shown, display_id):
        assert display_id is True
        outputs.append(shown)
        return Handle()

    ipython, shown = type(sys)("IPython"), type(sys)("IPython.display")
    ipython.get_ipython, shown.HTML, shown.display = Shell, str, display
    monkeypatch.setitem(sys.modules, "IPython", ipython)
    monkeypatch.setitem(sys.modules, "IPython.display", shown)
    stream = io.StringIO()
    monkeypatch.setattr(sys, "stderr", stream)
    bar = _views.Bar()
    for percent in range(101):
        bar(percent / 100)
    bar.end()
    assert "100 %" in outputs[-2] and outputs[-1] == ""
    assert len(outputs) < 40 and stream.getvalue() == ""  # a saved notebook keeps no line for each percent


def test_no_cell_of_a_notebook_is_wider_than_the_page():
    spec = "dponestep:" + ",".join(f"option{k}=0.123456" for k in range(20))
    assert "overflow-wrap:anywhere" in _views.rows(["what"], [[spec]], "runs")
    assert "overflow-wrap:anywhere" in _views.pairs("Model", [("solver", spec)])
    assert "nowrap" in _views.rows(["run at"], [["2026-11-22 13:28:41 UTC"]], "runs")


# ---- the library's sentences ----


def test_the_check_of_the_coefficients_counts_them_in_plain_words(fitted, tmp_path):
    model, _, X = fitted
    model.save(tmp_path / "m.json")
    said = {check["name"]: check["text"] for check in tacit.verify(tmp_path / "m.json")["checks"]}
    assert said["coefficients"] == f"{X.shape[1]}, all finite, one per feature"



def test_errors_of_the_library_name_no_option_of_the_command_line(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("a,b\n1,2\n")
    with pytest.raises(ValueError) as why:
        tacit.read(path)
    assert "label=NAME" in str(why.value) and "--" not in str(why.value)
    with pytest.raises(ValueError) as why:
        tacit.Ledger.create(tmp_path / "l", epsilon=-1.0, delta=1e-5)
    assert "--" not in str(why.value)
    with pytest.raises(RuntimeError) as why:
        tacit.Ledger(tmp_path / "none.ledger").state()
    assert "tacit.Ledger.create" in str(why.value) and "--" not in str(why.value)
    assert issubclass(_native.PrivacyWarning, UserWarning)
