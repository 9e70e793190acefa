"""The page of a model in headless Chromium: nothing is said, fetched or too wide, and the colours that are really shown
have contrast.  Pictures at the width of a desk and of a phone, and the printed form, are kept in build/report.

python/run_browser_tests.sh runs this file and is skipped without a browser (tools/setup.sh browser installs Debian's).
"""

import pathlib
import re

import browser
import pytest
from test_report_page import contrast, models, needs_program  # noqa: F401  (models is a fixture)

import tacit

KEPT = pathlib.Path(__file__).parents[2] / "build" / "report"
pytestmark = pytest.mark.skipif(not browser.PROGRAM, reason="skipped: no chromium; tools/setup.sh browser installs it")

# Every element with words of its own: its colour, and the ground behind it.
COLOURS = """
(() => {
  const found = [];
  for (const element of document.querySelectorAll('body *')) {
    const words = [...element.childNodes].some(n => n.nodeType === 3 && n.textContent.trim());
    if (!words) continue;
    const style = getComputedStyle(element), inside = element instanceof SVGElement;
    let ground = 'rgb(255, 255, 255)';
    for (let at = element; at; at = at.parentElement) {
      const own = getComputedStyle(at).backgroundColor;
      if (own !== 'rgba(0, 0, 0, 0)') { ground = own; break; }
    }
    if (element.tagName === 'title') continue;
    found.push([inside ? style.fill : style.color, ground, element.tagName, parseFloat(style.fontSize),
                parseFloat(style.opacity)]);
  }
  return found;
})()
"""
WIDEST = """
(() => {
  const wide = document.documentElement.clientWidth, out = [];
  for (const e of document.querySelectorAll('body *')) {
    const box = e.getBoundingClientRect();
    if (box.right > wide + 0.5 || box.left < -0.5) out.push([e.tagName, e.className.baseVal ?? e.className, box.right]);
  }
  return [document.documentElement.scrollWidth - wide, out];
})()
"""


@needs_program
def test_every_page_is_sound_in_a_browser(models):
    KEPT.mkdir(parents=True, exist_ok=True)
    with browser.Browser() as chromium:
        for name, path in models.items():
            page = KEPT / f"{name}.html"
            tacit.read_model(path).report(page)
            for kind, width in (("desktop", 1280), ("phone", 390), ("narrow", 320)):
                chromium.open(page, width, mobile=width < 500)
                assert chromium.complaints() == [], (name, kind)
                assert chromium.value(WIDEST) == [0, []], (name, kind)
                for text, ground, tag, size, opacity in chromium.value(COLOURS):
                    pair = [tuple(map(int, re.findall(r"\d+", colour)[:3])) for colour in (text, ground)]
                    assert opacity == 1 and contrast(*pair) >= 4.5, (name, tag, text, ground)
                    assert size >= 9, (name, tag, size)
                if kind != "narrow":
                    chromium.screenshot(KEPT / f"{name}-{kind}.png")
            chromium.page("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": "dark"}])
            chromium.open(page, 1280)
            grounds = set()
            for text, ground, tag, _, _ in chromium.value(COLOURS):
                pair = [tuple(map(int, re.findall(r"\d+", colour)[:3])) for colour in (text, ground)]
                assert contrast(*pair) >= 4.5, (name, "dark", tag, text, ground)
                grounds.add(max(pair[1]) < 100)
            assert grounds == {True}, (name, "the page is dark where the reader wants it")
            chromium.screenshot(KEPT / f"{name}-dark.png")
            chromium.page("Emulation.setEmulatedMedia", features=[])
            chromium.pdf(KEPT / f"{name}-print.pdf")
            paper = (KEPT / f"{name}-print.pdf").read_bytes()
            assert paper.startswith(b"%PDF")
            assert 1 <= len(re.findall(rb"/Type\s*/Page[^s]", paper)) <= 2, (name, "more than two printed pages")
            assert chromium.value("document.scripts.length + document.images.length") == 0
            assert chromium.value("document.title") == "Privacy report"


def test_the_browser_would_tell_of_a_fault(tmp_path):
    """Scripts, requests, overflow and pale text are seen where they are."""
    bad = tmp_path / "bad.html"
    bad.write_text(
        "<!DOCTYPE html><meta name=viewport content='width=device-width'><body style='background:#fff'><p style='color:#999'>"
        "pale</p><div style='width:900px'>wide</div><img src='nothing.png'><script>console.error('x')</script>"
    )
    with browser.Browser() as chromium:
        chromium.open(bad, 390, mobile=True)
        methods = [event["method"] for event in chromium.complaints()]
        assert "Runtime.consoleAPICalled" in methods and "Network.requestWillBeSent" in methods
        excess, wide = chromium.value(WIDEST)
        assert excess > 0 or wide
        pale = next(entry for entry in chromium.value(COLOURS) if entry[2] == "P")
        assert contrast((0x99,) * 3, (255,) * 3) < 4.5 and "153" in pale[0]
