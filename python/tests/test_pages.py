"""The pages under docs/: every sh and python block runs, in order, in an empty folder, as a reader would run them."""

import lzma
import os
import pathlib
import re
import shutil
import subprocess
import sys

import pytest

ROOT = pathlib.Path(__file__).parents[2]
DATA = pathlib.Path(os.environ.get("TACIT_DATA", ROOT.parent / "shared" / "data"))
PROGRAM = os.environ.get("TACIT")
BLOCK = re.compile(r"^```(python|sh)\n(.*?)^```$", re.M | re.S)
# What a page expects to find beside it.
FILES = {"adult.csv": "adult_train.csv.xz", "adult_test.csv": "adult_test.csv.xz"}
MADE = {"visits.csv": "diabetes130.csv.xz", "census.csv": "nist_acs_national2019.csv.xz"}  # by examples/make_tables.py


def blocks_of(page):
    return BLOCK.findall(page.read_text(encoding="utf-8"))


PAGES = {page.name: page for page in sorted((ROOT / "docs").rglob("*.md")) if blocks_of(page)}


def make_tables(folder):
    if not all((DATA / source).exists() for source in MADE.values()):
        pytest.skip("skipped: no data")
    made = [folder / name.removesuffix(".xz") for name in MADE.values()]
    for path in made:
        path.write_bytes(lzma.decompress((DATA / (path.name + ".xz")).read_bytes()))
    subprocess.run([sys.executable, ROOT / "examples" / "make_tables.py", *made], check=True, cwd=folder)
    for path in (ROOT / "examples").glob("*.schema.json"):
        shutil.copy(path, folder)


def test_the_pages_are_those_that_have_code():
    assert {"tutorial.md", "choosing-epsilon.md", "choosing-a-solver.md", "coming-from.md"} <= set(PAGES)


@pytest.mark.skipif(not PROGRAM, reason="skipped: no program, set TACIT")
@pytest.mark.parametrize("name", PAGES)
def test_every_code_block_runs(name, tmp_path, monkeypatch):
    text = PAGES[name].read_text(encoding="utf-8")
    for file, source in FILES.items():
        if not re.search(rf"\b{re.escape(file)}\b", text):
            continue
        if not (DATA / source).exists():
            pytest.skip("skipped: no data")
        (tmp_path / file).write_bytes(lzma.decompress((DATA / source).read_bytes()))
        shutil.copy(ROOT / "examples" / "adult.schema.json", tmp_path)
    if "make_tables.py" in text:
        make_tables(tmp_path)
        shutil.copy(ROOT / "examples" / "engineer.c", tmp_path)
        monkeypatch.setenv("C_INCLUDE_PATH", str(ROOT / "include"))
        for name_of_path in ("LIBRARY_PATH", "LD_LIBRARY_PATH"):
            monkeypatch.setenv(name_of_path, os.path.dirname(PROGRAM))
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PATH", os.path.dirname(PROGRAM), prepend=os.pathsep)
    space = {}
    for kind, block in blocks_of(PAGES[name]):
        if kind == "python":
            exec(compile(block, name, "exec"), space)
            continue
        done = subprocess.run(["sh", "-ec", block], capture_output=True, text=True)
        assert done.returncode == 0, f"{name}:\n{block}\n{done.stderr}"
        unknown = re.findall(r"^sh: .*$", done.stderr, re.M)
        assert not unknown, f"{name}: {unknown}"


@pytest.mark.parametrize("name", PAGES)
def test_a_page_never_uses_a_path_or_a_link_that_is_not_there(name):
    text = PAGES[name].read_text(encoding="utf-8")
    for target in re.findall(r"\]\(([^)#]+)\)", text):
        if not target.startswith("http"):
            assert (PAGES[name].parent / target).exists(), target
    for target in re.findall(r"`((?:src|extra|examples|tests|tools)/[^` ]+)`", text):
        assert (ROOT / target).exists(), target


def test_the_python_interface_page_is_what_the_docstrings_say():
    done = subprocess.run(
        [sys.executable, str(ROOT / "tools" / "api_python.py"), "--check"], capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
