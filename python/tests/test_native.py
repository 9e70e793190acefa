"""The structures of ctypes are those of the C compiler; errors are the right exceptions."""

import ast
import copy
import os
import pathlib
import pickle
import re
import shutil
import subprocess
import sys

import pandas as pd
import pytest

import tacit
from tacit import _native

HEADER = pathlib.Path(__file__).parents[2] / "include" / "tacit.h"


def test_structures_are_laid_out_as_the_c_compiler_lays_them_out(tmp_path):
    compiler = os.environ.get("CC") or shutil.which("cc") or shutil.which("gcc")
    if not compiler or not HEADER.exists():
        pytest.skip("skipped: no C compiler or no tacit.h")
    lines = ["#include <stdio.h>", '#include "tacit.h"', "int main(void) {"]
    want = []
    assert len(_native.Structure.__subclasses__()) >= 11
    for structure in _native.Structure.__subclasses__():
        name = "tct" + re.sub(r"[A-Z]", lambda found: "_" + found[0].lower(), structure.__name__)
        lines.append(f'printf("%zu\\n", sizeof({name}));')
        want.append((name, "", _native.ctypes.sizeof(structure)))
        for field, _ in structure._fields_:
            lines.append(f'printf("%zu %zu\\n", offsetof({name}, {field}), sizeof((({name} *)0)->{field}));')
            entry = getattr(structure, field)
            want.append((name, field, (entry.offset, entry.size)))
    source = tmp_path / "layout.c"
    source.write_text("\n".join([*lines, "return 0; }"]))
    subprocess.run([compiler, "-I", str(HEADER.parent), "-o", tmp_path / "layout", source], check=True)
    printed = subprocess.run([tmp_path / "layout"], capture_output=True, text=True, check=True).stdout.splitlines()
    assert len(printed) == len(want)
    for line, (name, field, mine) in zip(printed, want):
        theirs = tuple(int(word) for word in line.split())
        assert theirs == (mine if isinstance(mine, tuple) else (mine,)), f"{name}.{field}"


def test_the_import_loads_a_module_when_a_name_of_its_is_first_used():
    """What type checkers read and what is loaded are the same; neither NumPy nor scikit-learn is there before that."""
    tree = ast.parse(pathlib.Path(tacit.__file__).read_text())
    read = {(each.module, name.name) for each in ast.walk(tree) if isinstance(each, ast.ImportFrom) and each.level for name in each.names}
    homes = {(module, name) for module, names in tacit._HOMES.items() for name in names.split()}
    assert homes == read - {("_native", "version")}
    script = """import sys, tacit
assert not {"numpy", "scipy", "sklearn", "pandas"} & set(sys.modules) and set(tacit.__all__) <= set(dir(tacit))
assert not hasattr(tacit, "nonsense")
tacit.account("gaussian:noise=2", 1e-6)
assert "sklearn" not in sys.modules
from tacit import *
assert lm is tacit.lm and issubclass(PrivateRidge, sys.modules["sklearn.base"].BaseEstimator)"""
    subprocess.run([sys.executable, "-c", script], check=True)


def test_every_function_of_the_table_is_declared_in_the_header():
    text = HEADER.read_text()
    for name in _native._FUNCTIONS:
        assert f"{name}(" in text


@pytest.mark.parametrize(
    "field, value", [("solver", True), ("solver", 3), ("errors", 0), ("threads", 2**31), ("seed", -1), ("memory", 2**63)]
)
def test_a_structure_takes_no_number_that_it_cannot_hold_and_none_for_a_text(field, value):
    config = _native.Config()
    with pytest.raises(ValueError, match=f"^{field} takes .*; correct it"):
        setattr(config, field, value)


def test_an_argument_is_not_cut_to_fit_and_a_text_not_at_a_character():
    with pytest.raises(ValueError, match="tct_search_train_rows takes a whole number in range"):
        _native.call("tct_search_train_rows", 2**64 + 1, 0.5)
    for text in ("dpgd\0:steps=3", "\ud800"):
        with pytest.raises(ValueError, match="a character that no file can hold"):
            tacit.components("solver", text)


def test_what_lies_in_the_library_has_no_copy(tmp_path):
    (tmp_path / "t.csv").write_text("a,y\n1,0\n2,1\n")
    table = tacit.read(tmp_path / "t.csv", label="y")
    for act in (copy.copy, copy.deepcopy, pickle.dumps):
        with pytest.raises(TypeError, match="Table lies in the memory of this process and has no copy; make it again"):
            act(table)


def test_constants_are_those_of_the_header():
    text = HEADER.read_text()
    for name in ("DENSE_ROWS", "DENSE_COLS", "CSR", "CSC", "F64", "F32", "I32", "I64", "LABELS_NONE", "LABELS_BINARY",
                 "LABELS_REAL", "LABELS_CLASSES", "CLASS_TEXT", "CLASS_NUMBER", "CLASS_BOOLEAN", "E_RUN", "E_USAGE", "E_DATA", "E_BUDGET", "E_MEMORY", "E_CANCELLED"):  # fmt: skip
        assert f"TCT_{name} = {getattr(_native, name)}" in text, name


@pytest.mark.parametrize(
    "status, exception",
    [
        (_native.E_USAGE, ValueError),
        (_native.E_DATA, ValueError),
        (_native.E_BUDGET, tacit.BudgetError),
        (_native.E_MEMORY, MemoryError),
        (_native.E_CANCELLED, KeyboardInterrupt),
        (_native.E_RUN, RuntimeError),
    ],
)
def test_every_status_has_its_exception(status, exception):
    with pytest.raises(exception, match="^a.csv:3: why$"):
        _native.raise_error(_native.Error(status=status, line=3, file=b"a.csv", text=b"why"))


def test_a_missing_file_is_a_runtime_error_and_a_bad_spec_a_value_error():
    with pytest.raises(RuntimeError):
        tacit.read_model("no such file.json")
    with pytest.raises(ValueError):
        tacit.account("nonsense:noise=1", 1e-6)


@pytest.mark.parametrize("given, looks", [({}, "1000"), ({"GOMP_SPINCOUNT": "77"}, "77")])
def test_threads_that_wait_soon_sleep_unless_the_environment_says_otherwise(given, looks):
    environment = {key: value for key, value in os.environ.items() if key not in ("OMP_WAIT_POLICY", "GOMP_SPINCOUNT")}
    # What the import set is gone again.
    script = "import os, tacit; print(os.environ.get('OMP_WAIT_POLICY'), os.environ.get('GOMP_SPINCOUNT'))"
    done = subprocess.run(
        [sys.executable, "-c", script],
        env={**environment, **given, "OMP_DISPLAY_ENV": "verbose"},
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.strip() == f"None {given.get('GOMP_SPINCOUNT')}"
    if "GOMP_SPINCOUNT" not in done.stderr:
        pytest.skip("this OpenMP does not say how it waits")
    assert f"GOMP_SPINCOUNT = '{looks}'" in done.stderr


def test_no_file_of_python_goes_over_what_it_came_from(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rows, seed = _native.ctypes.c_int64(400), _native.ctypes.c_uint64(1)
    assert _native.lib.tct_generate(b"p.csv", b"s.json", _native.LABELS_BINARY, rows, seed, None) == _native.OK
    frame = pd.read_csv("p.csv")
    os.link("s.json", "hard.json")
    os.symlink("s.json", "soft.json")
    kept = {name: pathlib.Path(name).read_bytes() for name in ("p.csv", "s.json")}

    def refused(write, *paths):
        for path in paths:
            with pytest.raises(ValueError, match="name another output"):
                write(path)

    settings = {"epsilon": 1, "delta": 1e-6}
    schema = tacit.Schema.read("s.json")
    fitted = [
        tacit.PrivateLogisticRegression(**settings).fit(tacit.read("p.csv", schema="s.json")),
        tacit.PrivateLogisticRegression(**settings).fit(frame, schema="s.json"),
        tacit.PrivateLogisticRegression(**settings).fit(frame, schema=schema),
    ]
    os.mkdir("d")
    monkeypatch.chdir("d")
    for number, made in enumerate(fitted):
        for path in (("../p.csv",) if number == 0 else ()) + ("../s.json", "../hard.json", tmp_path / "soft.json"):
            refused(made.save, path)
            refused(made.report, path)
            refused(made.models_[0].save, path)
    monkeypatch.chdir("..")
    refused(tacit.Schema.draft("p.csv").save, "p.csv", "d/../p.csv")
    tacit.Ledger.create("l", epsilon=1, delta=1e-6)
    refused(schema.save, "l", "l-journal")
    refused(fitted[1].save, "l", "l-journal")
    assert kept == {name: pathlib.Path(name).read_bytes() for name in kept}
    fitted[0].save("m.json")
    refused(tacit.read_model("m.json").report, "m.json")
    tacit.read_model("m.json").save("m.json")
    schema.save("s.json")  # it may be corrected in its place
    assert tacit.Schema.read("hard.json").json == tacit.Schema.read("s.json").json
    assert pathlib.Path("hard.json").read_bytes() == kept["s.json"], "it was replaced as a whole"
    os.mkfifo("pipe")
    pathlib.Path("latin").write_bytes('{"columns": ["\xe9"]}'.encode("latin-1"))
    with open("holes", "wb") as file:
        file.truncate(1 << 36)
    for name, why in {"pipe": "regular file", ".": "regular file", "latin": "JSON", "holes": "JSON"}.items():
        with pytest.raises(ValueError, match=why):
            tacit.Schema.read(name)
    for write in (schema.save, fitted[0].save, fitted[0].report):
        with pytest.raises(RuntimeError, match="not a regular file"):
            write("pipe")
        with pytest.raises(ValueError, match="must be a file"):
            write("-")


FORKED = """
import multiprocessing, numpy, tacit
x = numpy.random.default_rng(1).uniform(-0.5, 0.5, (20000, 20))
def fit():
    model = tacit.PrivateLogisticRegression(epsilon=1, delta=1e-6, bounds=(-0.5, 0.5), n_jobs=2, random_state=3)
    return model.fit(x, x.sum(axis=1) > 0).coef_.tolist()
before = fit()
with multiprocessing.get_context("fork").Pool(1) as pool:
    try:
        assert pool.apply_async(fit).get(60) == before, "the child has another model"
    except multiprocessing.TimeoutError:
        raise SystemExit("the child does not end")
"""


@pytest.mark.skipif(sys.platform != "linux", reason="skipped: no fork")
def test_a_fit_in_a_forked_child_ends_with_the_same_model():
    done = subprocess.run([sys.executable, "-W", "ignore", "-c", FORKED], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
