"""build/wasm/verify.html (make wasm) in headless Chromium: says what `tacit verify` says, of models and of forgeries.

TACIT_FORGERIES (60): how many edited files, made from those of tests/files; make wasm-check asks for 1,000.
"""

import base64
import copy
import json
import math
import os
import pathlib
import random
import re
import subprocess

import browser
import pytest
from test_report_page import contrast
from test_browser import COLOURS, WIDEST

ROOT = pathlib.Path(__file__).parents[2]
PAGE = ROOT / "build" / "wasm" / "verify.html"
KEPT = ROOT / "build" / "wasm"
FILES = sorted((ROOT / "tests" / "files").glob("*.json"))
PROGRAM = os.environ.get("TACIT", "tacit")
NUMBER = re.compile(r"(?<![\w.])-?\d+(?:\.\d+)?(?:[eE][-+]?\d+)?(?![\w.])")
pytestmark = pytest.mark.skipif(
    not browser.PROGRAM or not PAGE.exists(), reason="skipped: no chromium, or no build/wasm/verify.html (make wasm)"
)


def native(path, *options):
    ran = subprocess.run([PROGRAM, "verify", path.name, *options], cwd=path.parent, capture_output=True, text=True)
    return ran.returncode, ran.stdout, ran.stderr


def same(a, b):
    """Two texts, but for the last digits of numbers: the browser has another mathematical library."""
    if NUMBER.sub("#", a) != NUMBER.sub("#", b):
        return False
    pairs = zip(map(float, NUMBER.findall(a)), map(float, NUMBER.findall(b)))
    return all(math.isclose(x, y, rel_tol=1e-6, abs_tol=1e-300) for x, y in pairs)


def leaves(node, path=()):
    items = node.items() if isinstance(node, dict) else enumerate(node) if isinstance(node, list) else ()
    for key, value in items:
        yield path + (key,)
        yield from leaves(value, path + (key,))


def forgeries(count, seed):
    """Model files with one member changed, taken out or doubled, and texts that are cut."""
    draw = random.Random(seed)
    texts = [path.read_text() for path in FILES]
    for _ in range(count):
        text = draw.choice(texts)
        model = copy.deepcopy(json.loads(text))
        path = draw.choice(list(leaves(model)))
        at = model
        for key in path[:-1]:
            at = at[key]
        old, kind = at[path[-1]], draw.randrange(6)
        if kind == 0:
            del at[path[-1]]
        elif isinstance(old, bool):
            at[path[-1]] = not old
        elif isinstance(old, (int, float)):
            at[path[-1]] = draw.choice([old / 2, old * 2, -old, 0, 1e308, old + 1])
        elif isinstance(old, str):
            at[path[-1]] = draw.choice(["", old + "x", "gdp", "sgd_ma", 7])
        else:
            at[path[-1]] = draw.choice([None, [], {}, "x"])
        made = json.dumps(model)
        yield made[: draw.randrange(len(made))] if kind == 5 and draw.random() < 0.3 else made


def ask(chromium, text, options):
    packed = base64.b64encode(text.encode()).decode()
    chromium.page("Runtime.evaluate", expression=f"packed = '{packed}'")
    answer = chromium.page(
        "Runtime.evaluate",
        expression=f"""(async () => verifyFile(await module_, Uint8Array.from(atob(packed), (x) => x.charCodeAt(0)),
          {json.dumps("--json" in options)}, 'model.json'))()""",
        awaitPromise=True,
        returnByValue=True,
    )
    assert "exceptionDetails" not in answer, answer["exceptionDetails"]
    return answer["result"]["value"]


def test_the_page_says_what_the_command_says(tmp_path):
    path = tmp_path / "model.json"
    texts = [file.read_text() for file in FILES] + list(forgeries(int(os.environ.get("TACIT_FORGERIES", 60)), 1))
    refused = 0
    with browser.Browser() as chromium:
        chromium.open(PAGE, 1280)
        for text in texts:
            path.write_text(text)
            for options in (["--json"],) if refused % 4 else (["--json"], []):
                code, out, error = native(path, *options)
                said = ask(chromium, text, options)
                assert said["code"] == code and same(said["out"], out), (text[:200], said, out)
                assert same(said["error"], error), (said["error"], error)
            refused += code != 0
        assert chromium.complaints() == []
    assert refused > len(texts) / 5


def test_a_file_that_is_chosen_is_shown_as_text(tmp_path):
    model = json.loads(FILES[0].read_text())
    model["label"] = "<img src=x onerror=alert(1)>"
    path = tmp_path / "<b>name.json"
    path.write_text(json.dumps(model))
    with browser.Browser() as chromium:
        for kind, width in (("desktop", 1280), ("phone", 390)):
            chromium.open(PAGE, width, mobile=width < 500)
            document = chromium.page("DOM.getDocument")["root"]["nodeId"]
            node = chromium.page("DOM.querySelector", nodeId=document, selector="#file")["nodeId"]
            chromium.page("DOM.setFileInputFiles", files=[str(path)], nodeId=node)
            chromium.page(
                "Runtime.evaluate",
                awaitPromise=True,
                expression="(async () => { while (document.getElementById('answer').hidden) await new Promise(r => setTimeout(r, 20)); })()",
            )
            assert chromium.value("document.querySelectorAll('#answer img, #answer b').length") == 0
            assert chromium.value("document.getElementById('verdict').className") == "alarm"  # its noise came from a seed
            assert "NOT PRIVATE" in chromium.value("document.getElementById('verdict').textContent")
            assert chromium.value("document.getElementById('name').textContent") == path.name
            beyond, wide = chromium.value(WIDEST)
            assert beyond <= 0, wide
            for colour, ground, tag, size, opacity in chromium.value(COLOURS):
                pair = [tuple(map(float, re.findall(r"[\d.]+", c)[:3])) for c in (colour, ground)]
                assert contrast(*pair) >= 4.5, (tag, colour, ground)
            assert chromium.complaints() == []
            chromium.screenshot(KEPT / f"verify_{kind}.png")
