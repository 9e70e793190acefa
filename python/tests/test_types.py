"""The annotations, as a type checker of the caller's sees them."""

import pathlib
import re
import subprocess
import sys

import pytest
import tacit

ROOT = pathlib.Path(__file__).parents[2]


@pytest.fixture(scope="module")
def mypy(tmp_path_factory):
    """The strictest checker; what it once knew of NumPy and others it knows in the next test, too."""
    command = [sys.executable, "-m", "mypy", "--strict", "--cache-dir", str(tmp_path_factory.mktemp("mypy"))]
    return lambda *files: subprocess.run([*command, *map(str, files)], cwd=ROOT, capture_output=True, text=True)


def test_the_annotations_hold_under_the_strictest_checker(mypy):
    run = mypy()
    assert run.returncode == 0, run.stdout


def test_a_callers_parameter_of_the_wrong_type_is_found_without_running_it(tmp_path, mypy):
    caller = tmp_path / "caller.py"
    caller.write_text('import tacit\ntacit.PrivateRidge(epsilon=1.0, alpha=2.0)\ntacit.PrivateRidge(epsilon="one")\n')
    run = mypy(caller)
    assert 'caller.py:3: error: Argument "epsilon" to "PrivateRidge" has incompatible type "str"' in run.stdout
    assert "caller.py:2" not in run.stdout


def test_the_package_says_that_it_is_typed():
    assert (pathlib.Path(tacit.__file__).parent / "py.typed").exists()


def test_the_page_about_frames_is_typed_as_a_caller_of_the_strictest_checker_needs_it(tmp_path, mypy):
    page = (ROOT / "docs" / "guide" / "frames.md").read_text(encoding="utf-8")
    blocks = re.findall(r"^```python\n(.*?)^```$", page, re.M | re.S)
    caller = tmp_path / "frames.py"
    caller.write_text("\n".join(blocks) + "\nlabels = model.predict(visits)\nlabels.nonsense\n")
    run = mypy(caller)
    found = [line for line in run.stdout.splitlines() if "error:" in line]
    assert len(found) == 1 and 'has no attribute "nonsense"' in found[0], run.stdout  # it does look
