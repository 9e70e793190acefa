"""The pages that people open, by axe-core in headless Chromium: no fault in light or dark, and all of it by keyboard.

TACIT_AXE: axe.min.js (make accessible takes it out of a package of PyPI).  Pages: the reports of test_report_page.py;
build/wasm/verify.html and build/site/index.html where they were made.  TACIT_SCREENS: a folder for pictures of them.
"""

import base64
import json
import os
import pathlib

import browser
import pandas
import pytest
from test_report_page import models, needs_program  # noqa: F401  (models is a fixture)

import tacit

ROOT = pathlib.Path(__file__).parents[2]
AXE = pathlib.Path(os.environ.get("TACIT_AXE", "none"))
SCREENS = os.environ.get("TACIT_SCREENS")
VERIFY, SITE = ROOT / "build" / "wasm" / "verify.html", ROOT / "build" / "site" / "index.html"
pytestmark = pytest.mark.skipif(
    not browser.PROGRAM or not AXE.exists(), reason="skipped: no chromium, or no axe.min.js (make accessible)"
)

# Every element that the Tab key reaches shows that it has been reached, and what it is called.
REACHED = """
(() => {
  const e = document.activeElement, own = getComputedStyle(e);
  const shows = own.outlineStyle !== 'none' || e.matches(':focus-within') && getComputedStyle(e.parentElement).borderStyle !== 'none';
  if (e === document.body || e.reached) return null;
  e.reached = true;
  return [e.tagName, e.className + (e.id && '#' + e.id), shows,
    [e.getAttribute('aria-label'), e.textContent, e.labels?.[0]?.textContent, e.title].some(name => name?.trim())];
})()
"""


def media(chromium, **features):
    chromium.page("Emulation.setEmulatedMedia", features=[{"name": k.replace("_", "-"), "value": v} for k, v in features.items()])


def faults(chromium):
    """What axe finds: rule, how bad, where."""
    chromium.page("Runtime.evaluate", expression=AXE.read_text(encoding="utf-8"))
    answer = chromium.page(
        "Runtime.evaluate",
        awaitPromise=True,
        returnByValue=True,
        expression="axe.run().then(r => [r.passes.length, r.violations.map(v => [v.id, v.impact, v.nodes.map(n => n.html.slice(0, 120))])])",
    )
    assert "exceptionDetails" not in answer, answer
    passes, violations = answer["result"]["value"]
    assert passes > 5  # it ran
    return violations


def tabbed(chromium, most=400):
    """What the Tab key reaches, in order."""
    found = []
    for _ in range(most):
        for kind in ("rawKeyDown", "keyUp"):
            chromium.page("Input.dispatchKeyEvent", type=kind, key="Tab", code="Tab", windowsVirtualKeyCode=9)
        if (at := chromium.value(REACHED)) is None:
            break
        found.append(at)
    return found


def picture(chromium, name, path, width=1000, height=1250, dark=False, printed=False):
    if not SCREENS:
        return
    media(chromium, prefers_color_scheme="dark" if dark else "light")
    if printed:
        chromium.page("Emulation.setEmulatedMedia", media="print", features=[])
    chromium.page("Emulation.setScrollbarsHidden", hidden=True)
    chromium.open(path, width, height, mobile=width < 500)
    clip = {"x": 0, "y": 0, "width": width, "height": height, "scale": 0.6 if width > 500 else 0.8}
    shot = chromium.page("Page.captureScreenshot", format="png", clip=clip)
    (pathlib.Path(SCREENS) / f"{name}.png").write_bytes(base64.b64decode(shot["data"]))
    chromium.page("Emulation.setEmulatedMedia", media="", features=[])


def sound(chromium, path, name, look=lambda: None):
    for scheme in ("light", "dark"):
        for width in (1280, 390):
            media(chromium, prefers_color_scheme=scheme)
            chromium.open(path, width, mobile=width < 500)
            look()
            assert faults(chromium) == [], (name, scheme, width)
    media(chromium)


@needs_program
def test_report_pages_have_no_fault_and_are_read_by_keyboard(models, tmp_path):
    scored, table = tacit.read_model(models["errors"]), pandas.read_csv(models["dpcd"].parent / "people.csv")
    scores = scored.evaluate(table, epsilon=1, delta=1e-6)
    policy = {"format": "tacit-policy", "name": "Output desk", "max_epsilon": 4, "min_records": 1000, "require_ledger": True}
    with browser.Browser() as chromium:
        for name, path in models.items():
            page = tmp_path / f"{name}.html"
            more = {"scores": scores, "policy": policy} if name == "errors" else {}
            page.write_text(tacit.read_model(path).report(title="Income and education", **more), encoding="utf-8")
            sound(chromium, page, name)
            chromium.open(page, 1280)
            chromium.value("document.querySelectorAll('details').forEach(each => each.open = true)")
            assert faults(chromium) == [], (name, "opened")
            chromium.open(page, 1280)
            folded = chromium.value("document.querySelectorAll('details').length")
            reached = tabbed(chromium)
            assert [tag for tag, _, _, _ in reached].count("SUMMARY") == folded and all(shows and says for _, _, shows, says in reached), (name, reached)
            if folded:  # the last one that was reached
                chromium.value("document.querySelector('summary').focus()")
                for kind in ("keyDown", "keyUp"):
                    chromium.page("Input.dispatchKeyEvent", type=kind, key="Enter", code="Enter", text="\r" if kind == "keyDown" else "", windowsVirtualKeyCode=13)
                assert chromium.value("document.querySelector('details').open"), name
        page = tmp_path / "errors.html"
        picture(chromium, "report", page)
        picture(chromium, "report-dark", page, dark=True)
        picture(chromium, "report-phone", page, 390, 900)
        picture(chromium, "report-print", page, 794, 1123, printed=True)


@pytest.mark.skipif(not VERIFY.exists(), reason="skipped: no build/wasm/verify.html (make wasm)")
def test_the_page_that_verifies_has_no_fault(tmp_path):
    files = [ROOT / "tests" / "files" / "auto.json", tmp_path / "broken.json"]
    files[1].write_text(json.dumps({**json.loads(files[0].read_text()), "rows": 9}))
    with browser.Browser() as chromium:
        sound(chromium, VERIFY, "verify")
        for file in files:

            def look():
                document = chromium.page("DOM.getDocument")["root"]["nodeId"]
                node = chromium.page("DOM.querySelector", nodeId=document, selector="#file")["nodeId"]
                chromium.page("DOM.setFileInputFiles", files=[str(file)], nodeId=node)
                chromium.page("Runtime.evaluate", awaitPromise=True, expression="(async () => { while (document.getElementById('answer').hidden) await new Promise(r => setTimeout(r, 20)); })()")

            sound(chromium, VERIFY, file.name, look)
            reached = tabbed(chromium)
            assert [where for _, where, _, _ in reached][:1] == ["#file"] and all(shows for _, _, shows, _ in reached), reached
        picture(chromium, "verify", VERIFY, height=700)


@pytest.mark.skipif(not SITE.exists(), reason="skipped: no build/site/index.html (make site)")
def test_the_start_of_the_site_has_no_fault():
    with browser.Browser() as chromium:
        sound(chromium, SITE, "site")
        reached = tabbed(chromium)
        assert reached and all(shows and says for _, _, shows, says in reached), [each for each in reached if not all(each[2:])]
        picture(chromium, "site", SITE, height=900)


def test_axe_would_tell_of_a_fault(tmp_path):
    bad = tmp_path / "bad.html"
    bad.write_text("<!DOCTYPE html><title>x</title><body style='background:#fff'><p style='color:#aaa'>pale</p><img src='data:,'><p>1</p><p>2</p>")
    with browser.Browser() as chromium:
        chromium.open(bad, 1280)
        assert {"html-has-lang", "image-alt", "color-contrast"} <= {rule for rule, _, _ in faults(chromium)}
