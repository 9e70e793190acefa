"""The code blocks of python/README.md run, in order, as a reader would run them; docstrings too."""

import doctest
import enum
import inspect
import lzma
import os
import pathlib
import re
import shutil
import subprocess
import sys

import pytest

import tacit
from tacit import _accounting

ROOT = pathlib.Path(__file__).parents[2]
DATA = pathlib.Path(os.environ.get("TACIT_DATA", ROOT.parent / "shared" / "data"))


def test_the_code_blocks_of_the_readme_run(tmp_path, monkeypatch, capsys):
    if not (DATA / "adult_train.csv.xz").exists():
        pytest.skip("skipped: no data")
    for name, source in (("adult.csv", "adult_train.csv.xz"), ("adult_test.csv", "adult_test.csv.xz")):
        (tmp_path / name).write_bytes(lzma.decompress((DATA / source).read_bytes()))
    shutil.copy(ROOT / "examples" / "adult.schema.json", tmp_path)
    monkeypatch.chdir(tmp_path)
    program = os.environ.get("TACIT")
    if program:
        monkeypatch.setenv("PATH", os.path.dirname(program), prepend=os.pathsep)
    blocks = re.findall(r"^```(python|sh)\n(.*?)^```$", (ROOT / "python" / "README.md").read_text(), re.M | re.S)
    assert len(blocks) >= 8
    space = {}
    for kind, block in blocks:
        if kind == "python":
            exec(compile(block, "README.md", "exec"), space)
        elif program:
            subprocess.run(["sh", "-ec", block], check=True, stdout=subprocess.DEVNULL)
    assert space["model"].score(space["others"]) > 0.8


def test_the_examples_of_the_docstrings_hold():
    results = doctest.testmod(_accounting)
    assert results.attempted >= 2 and results.failed == 0


def test_everything_public_has_a_docstring():
    for name in tacit.__all__:
        assert getattr(tacit, name).__doc__, name


def described(thing, text):
    """The docstring, and those that it sends the reader to: "Its parameters are those of `read`."."""
    other = re.search(r"parameters are those of `(\w+)`", text or "")
    return (text or "") + (getattr(tacit, other[1]).__doc__ if other else "")


def unnamed(label, call, text):
    """Parameters that the docstring does not list with their type."""
    listed = {
        name.strip()
        for line in re.findall(r"^ *(\w+(?:, \w+)*) : \S", described(call, text), re.M)
        for name in line.split(",")
    }
    names = [name for name in inspect.signature(call).parameters if name not in ("self", "cls")]
    return [f"{label}: {name}" for name in names if name not in listed]


def calls_of(name, thing):
    """(label, function, its docstring) of a public function, or of a class and its public methods."""
    if not inspect.isclass(thing):
        yield name, thing, thing.__doc__
        return
    if issubclass(thing, (Exception, Warning, enum.Enum, dict)):
        return
    yield name, thing, thing.__doc__
    for own in dir(thing):
        method = inspect.getattr_static(thing, own)
        method = method.__func__ if isinstance(method, (classmethod, staticmethod)) else method
        if not own.startswith("_") and inspect.isfunction(method) and method.__module__.startswith("tacit"):
            yield f"{name}.{own}", method, inspect.getdoc(getattr(thing, own))


def test_every_public_parameter_is_listed_in_its_docstring():
    missing = [
        each
        for name in tacit.__all__
        if callable(getattr(tacit, name))
        for call in calls_of(name, getattr(tacit, name))
        for each in unnamed(*call)
    ]
    assert not missing


def test_every_public_property_has_a_docstring():
    for name in tacit.__all__:
        thing = getattr(tacit, name)
        for own in dir(thing) if inspect.isclass(thing) else ():
            raw = inspect.getattr_static(thing, own)
            if isinstance(raw, property) and not own.startswith("_") and raw.fget.__module__.startswith("tacit"):
                assert raw.__doc__, f"{name}.{own}"


def test_the_site_sets_indices_and_powers_and_leaves_code_alone(tmp_path):
    subprocess.run([sys.executable, ROOT / "tools" / "site.py", tmp_path], check=True)
    proof = (tmp_path / "pages" / "proofs" / "objpert.md").read_text(encoding="utf-8")
    assert "x<sub>i</sub>" in proof and "e<sup>ε−a−G</sup>" in proof and '<pre class="formula">J<sub>D</sub>(w; b)' in proof
    assert "`add_remove`" in proof and "`src/account/onestep.c`" in proof and "w\\* determines b" in proof
    for page in (tmp_path / "pages").rglob("*.md"):
        for target in re.findall(r"\]\(([^)#\s:]+)[)#]", page.read_text(encoding="utf-8")):
            assert (page.parent / target).exists(), (page.name, target)
