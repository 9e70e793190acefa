"""The code blocks of python/README.md run, in order, as a reader would run them; docstrings too."""

import doctest
import lzma
import os
import pathlib
import re
import shutil
import subprocess

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
