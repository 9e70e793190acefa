"""The scripts of the gallery run on their tables; their pages have the picture and the table that they make."""

import importlib
import pathlib
import re
import sys
import xml.etree.ElementTree

import pytest

ROOT = pathlib.Path(__file__).parents[2]
SCRIPTS = ROOT / "examples" / "gallery"
PAGES = ROOT / "docs" / "gallery"
NAMES = sorted(path.stem for path in SCRIPTS.glob("*.py") if path.stem != "chart")
SVG = "{http://www.w3.org/2000/svg}"


@pytest.fixture
def gallery(monkeypatch):
    monkeypatch.setattr(sys, "path", [str(SCRIPTS), *sys.path])
    chart = importlib.import_module("chart")
    if not chart.DATA.exists():
        pytest.skip("skipped: no data")
    return chart


def table_of(text):
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in re.findall(r"(?m)^\|.*\|$", text)]


def numbers(text, row):
    """The figures of the table's first row that begins so."""
    return next([float(re.match(r"-?[0-9.]+", cell)[0]) for cell in line[1:]] for line in table_of(text) if line[0] == row)


def says(name, text):
    """What the page says of its figures."""
    if name == "census":
        (small,), (exact,) = numbers(text, "ε = 0.1"), numbers(text, "without privacy")
        assert exact - small < 0.012
    if name == "two_parties":
        alone, sums, curator = numbers(text, "ε = 4")
        assert alone + 0.03 < sums < curator + 0.01
        alone, sums, _ = numbers(text, "ε = 0.25")
        assert sums < alone
    if name == "credit":
        assert text.count("refused") == 1
    if name == "words":
        assert numbers(text, "ε = 2")[0] < numbers(text, "ε = 0.25")[0]


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", NAMES)
def test_a_script_makes_a_chart_and_a_table_like_those_of_its_page(name, gallery):
    chart, text = importlib.import_module(name).study(True)
    picture = xml.etree.ElementTree.fromstring(chart.svg())
    points = len([each for each in picture.iter(f"{SVG}circle") if each.get("r") == "4"])
    assert points == sum(len(xs) for _, xs, *_ in chart.lines) >= 8
    for circle in picture.iter(f"{SVG}circle"):
        assert 0 <= float(circle.get("cx")) <= gallery.WIDE and 0 <= float(circle.get("cy")) <= gallery.HIGH
    page = (PAGES / f"{name}.md").read_text(encoding="utf-8")
    made, shown = table_of(text), table_of(page)
    assert made[0] == shown[0] and [row[0] for row in made] == [row[0] for row in shown]
    assert f"({name}.svg)" in page and f"examples/gallery/{name}.py" in page
    kept = PAGES / f"{name}.svg"
    assert kept.stat().st_size < 60000
    assert xml.etree.ElementTree.parse(kept).getroot().find(f"{SVG}title").text == chart.title
    says(name, text)


def test_every_page_is_in_the_index():
    index = (PAGES / "README.md").read_text(encoding="utf-8")
    assert NAMES == sorted(re.findall(r"\((\w+)\.md\)", index)) and len(NAMES) == 5
