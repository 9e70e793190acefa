"""The page of a model: every figure on it is the model file's or follows from it, it is legible, and it runs nothing."""

import hashlib
import html.parser
import json
import math
import os
import re
import subprocess

import pandas
import pytest
from scipy.stats import t as student

import tacit

PROGRAM = os.environ.get("TACIT")
needs_program = pytest.mark.skipif(not PROGRAM, reason="skipped: no program, set TACIT")

HOSTILE = [
    "<script>alert(1)</script>",
    '" onmouseover="alert(2)',
    "</title></style><img src=x onerror=alert(3)>",
    "\u202eegap siht nrut\u202c <b>&amp;",
    "ein_sehr_langer_Spaltenname_der_auf_keinem_Telefon_Platz_hat=aber_auch_gar_keinem",
]


def tacit_program(*words, cwd):
    subprocess.run([PROGRAM, *map(str, words)], cwd=cwd, check=True, capture_output=True)


@pytest.fixture(scope="module")
def models(tmp_path_factory):
    """name -> path of a model file; one for every kind of page."""
    here = tmp_path_factory.mktemp("models")
    tacit_program("generate", "--rows", 3000, "--seed", 1, "-o", "people.csv", cwd=here)
    tacit_program("generate", "--rows", 2000, "--kind", "regression", "-o", "income.csv", cwd=here)
    for name in ("people", "income"):  # errors need a reference level
        schema = json.loads((here / f"{name}.schema.json").read_text())
        schema["columns"] = [dict(c, drop_first=True) if c["type"] == "category" else c for c in schema["columns"]]
        (here / f"{name}.levels.json").write_text(json.dumps(schema))
    tacit_program("ledger", "people.ledger", "--init", "--epsilon", 9, "--delta", 1e-5, cwd=here)
    lines = (here / "people.csv").read_text().splitlines()
    persons = [lines[0] + ",who", *(f"{line},{row // 2}" for row, line in enumerate(lines[1:]))]
    (here / "persons.csv").write_text("\n".join(persons) + "\n")
    people = ["people.csv", "--schema", "people.schema.json", "--loss", "logistic", "--delta", "1e-6"]
    ridge = ["--penalty", "l2:lambda=0.01"]
    runs = {
        "dpscd": [*people, *ridge, "--solver", "dpscd", "--epsilon", 1, "--ledger", "people.ledger", "--intercept"],
        "objpert": [*people, *ridge, "--solver", "objpert", "--epsilon", 0.7, "--neighbours", "add_remove"],
        "outpert": [*people, *ridge, "--solver", "outpert", "--epsilon", 2.5, "--neighbours", "replace_one"],
        "dpcd": [*people, "--solver", "dpcd:order=greedy", "--epsilon", 0.25, "--intercept"],
        "warned": [*people, *ridge, "--solver", "dpscd", "--epsilon", 1, "--seed", 7, "--scale", "max-abs", "--row-norm", 2],
        "none": ["people.csv", "--schema", "people.schema.json", "--loss", "hinge", *ridge, "--solver", "scd"],
        "adassp": ["income.csv", "--schema", "income.schema.json", "--loss", "squared", "--solver", "adassp", "--epsilon", 1,
                   "--delta", "2.5e-7", "--intercept"],
        "errors": [*people[:2], "people.levels.json", *people[3:], "--errors", "robust", "--epsilon", 4, "--intercept"],
        "counts": ["income.csv", "--schema", "income.levels.json", "--loss", "poisson", "--errors", "model", "--epsilon", 4,
                   "--delta", "2.5e-7", "--intercept"],
        "persons": ["persons.csv", *people[1:], "--person", "who", "--rows-per-person", 2, "--solver", "dpgd", "--epsilon", 1],
        "large": [*people[:-1], "1e-3", *ridge, "--solver", "dpscd", "--epsilon", 50],
    }  # fmt: skip
    paths = {}
    for name, words in runs.items():
        paths[name] = here / f"{name}.json"
        tacit_program("train", *words, "-o", paths[name], "--report", f"{name}.html", cwd=here)
    columns = 1000
    sparse = {**json.loads(paths["none"].read_text()), "columns": columns, "label": None}
    sparse["features"] = [f"word{j}" for j in range(columns)]
    sparse["coefficients"] = [math.sin(j * j) if j % 77 == 5 else 0 for j in range(columns)]
    sparse["transforms"]["schema"] = None
    paths["sparse"] = here / "sparse.json"
    paths["sparse"].write_text(json.dumps(sparse))
    full = {**sparse, "coefficients": [math.sin(j * j) for j in range(columns)]}
    paths["wide"] = here / "wide.json"
    paths["wide"].write_text(json.dumps(full))
    forged = json.loads(paths["dpscd"].read_text())
    forged["privacy"]["epsilon"] = 0.5
    paths["forged"] = here / "forged.json"
    paths["forged"].write_text(json.dumps(forged))
    hostile = json.loads(paths["warned"].read_text())
    hostile["features"][: len(HOSTILE)] = HOSTILE
    hostile["label"] = HOSTILE[0]
    hostile["privacy"]["unaccounted"] = HOSTILE
    columns = hostile["transforms"]["schema"]["columns"]
    for column, name in zip(columns, HOSTILE):
        column["name"] = name
    categories = next(column for column in columns if column["type"] == "category")
    categories["values"][: len(HOSTILE)] = HOSTILE
    paths["hostile"] = here / "hostile.json"
    paths["hostile"].write_text(json.dumps(hostile))
    return paths


NAMES = "dpscd objpert outpert dpcd warned none adassp errors counts hostile sparse wide persons forged large".split()


class Page(html.parser.HTMLParser):
    """What is on a page: marked texts, headings, what is drawn, and the words that carry no mark."""

    VOID = {"meta", "br", "wbr", "path", "circle", "rect", "line"}

    def __init__(self, text):
        super().__init__()
        self.marked = []  # (field, exact value or None, shown text)
        self.headings = []
        self.tags = []
        self.rest = ""
        self.open = []
        self.drawn = []  # (tag, attributes)
        self.feed(text)
        assert not self.open, "tags that are never closed"

    def handle_starttag(self, tag, attributes):
        attributes = dict(attributes)
        self.tags.append((tag, attributes))
        if tag in ("svg", "path", "circle", "rect"):
            self.drawn.append((tag, attributes))
        if tag in self.VOID:
            return
        mark = len(self.marked) if "data-field" in attributes else None
        if mark is not None:
            self.marked.append([attributes["data-field"], attributes.get("value"), ""])
        self.open.append((tag, mark))
        if re.fullmatch("h[1-6]", tag):
            self.headings.append(int(tag[1]))

    def handle_startendtag(self, tag, attributes):
        self.handle_starttag(tag, attributes)
        if tag not in self.VOID:
            self.handle_endtag(tag)

    def handle_endtag(self, tag):
        assert self.open and self.open[-1][0] == tag, f"</{tag}> closes {self.open[-1:]}"
        self.open.pop()

    def handle_data(self, text):
        kinds = [tag for tag, _ in self.open]
        marks = [mark for _, mark in self.open if mark is not None]
        if marks:
            self.marked[marks[-1]][2] += ("^" if "sup" in kinds else "") + text
        elif not {"style", "svg", "title", "pre"} & set(kinds):
            self.rest += ("^" if "sup" in kinds else "") + text


def number(shown):
    """The number that a reader reads."""
    text = shown.replace("\u2212", "-").replace("\u00a0", "").replace(",", "")
    match = re.fullmatch(r"(?:(-?[0-9.]+)×)?(-?)10\^(-?[0-9]+)", text)
    if match:
        sign = -1.0 if match[2] else 1.0
        return sign * float(match[1] or 1) * 10.0 ** int(match[3])
    return float(text)


def digits(shown):
    mantissa = shown.replace("\u2212", "").split("\u00a0")[0].replace(",", "")
    if mantissa.startswith("10^"):  # 1.0 times it, its zero left out
        return 1
    return len(mantissa.replace(".", "").lstrip("0")) or 1


def at(tree, path):
    for key in path.split("."):
        tree = tree[int(key)] if isinstance(tree, list) else tree[key]
    return tree


def everything(tree):
    if isinstance(tree, dict):
        for value in tree.values():
            yield from everything(value)
    elif isinstance(tree, list):
        for value in tree:
            yield from everything(value)
    else:
        yield tree


def numbers_of(events):
    return [float(value) for event in events for value in re.findall(r"=([^,]+)", event)]


def guess(model):
    p = model["privacy"]
    return (math.exp(p["epsilon"]) + p["delta"]) / (1 + math.exp(p["epsilon"]))


def spec(text):
    name, _, rest = text.partition(":")
    return name, dict(item.split("=") for item in rest.split(",") if item)


def noise_of(model):
    """(least, most) by the formulas of docs/guide/report.md; most to within the lattice's few percent."""
    solver, options = spec(model["solver"])
    if not model["privacy"]["private"]:
        return None
    n, r = model["rows"], model["transforms"]["row_norm"]
    dimensions = model["columns"] + model["transforms"]["intercept"]
    ridge = float(spec(model["penalty"])[1].get("lambda", 0))
    _, event = spec(model["privacy"]["events"][0])
    if solver == "outpert":
        size = float(event["noise"]) * r / (n * ridge)
        return size, size
    if solver == "dpscd":
        steps = int(event["count"])
        k = max(1, math.floor(float(options["average"]) * steps))
        shares = steps - k + sum((j / k) ** 2 for j in range(1, k + 1))
        size = float(event["noise"]) * float(options["clip"]) * r * math.sqrt(shares) / n
        return size / (0.25 * r * r / dimensions + ridge), size / ridge
    if solver == "objpert":
        floor = 0.25 * r * r / math.expm1(float(options["budget_fraction"]) * model["privacy"]["epsilon"])
        strength, sigma = max(n * ridge, floor), float(event["noise"]) * r * float(options["clip"])
        return sigma / (n * 0.25 * r * r / dimensions + strength), sigma / strength
    if solver == "adassp":
        split, zeta, y = float(options["split"]), float(options["ridge"]), model["transforms"]["label_bound"]
        r *= float(options["norm"])
        weight = r / y * math.sqrt((1 - split) / split)
        sigma = float(event["noise"]) * r * r / math.sqrt(split)
        norm2 = sum(w * w for w in [*model["coefficients"], model["intercept"]])
        least_eigenvalue = zeta * sigma * math.sqrt(dimensions)
        extra = max(0, least_eigenvalue - n * ridge + 1.5 * sigma * (math.sqrt(dimensions) + 4))
        least = sigma * math.sqrt(1 / weight**2 + norm2 / 2) / (n * r * r / dimensions + n * ridge + extra)
        series = sum((extra / least_eigenvalue) ** k for k in range(int(options["iterates"])))
        return least, series * math.sqrt(1 / weight**2 + norm2) / (zeta * math.sqrt(dimensions))
    return None


def interval_of(model, name):
    """Ends and p of a weight of the model's own columns, from the covariances in its file."""
    known = model["inference"]
    j = model["columns"] if name == "intercept" else int(name)
    estimate = model["intercept"] if name == "intercept" else model["coefficients"][j]
    error, degrees = math.sqrt(known["sampling"][j][j] + known["noise"][j][j]), known["degrees"][j]
    half = student.ppf(0.975, degrees) * error
    p_value = 2 * student.sf(abs(estimate) / error, degrees)
    return {"lower": estimate - half, "upper": estimate + half, "p_value": p_value}


def refused(path):
    return not tacit.verify(path)["ok"]


def check_derived(kind, value, shown, model, path, seen):
    p = model["privacy"]
    if kind == "guess":
        assert 100 * guess(model) <= value <= 100 * guess(model) + 0.1001
    elif kind == "factor":
        assert math.exp(p["epsilon"]) <= value <= math.exp(p["epsilon"]) + 0.01001
    elif kind == "chance":
        assert value == pytest.approx(1 / p["delta"], rel=0.051)
    elif kind == "warnings":
        assert value == len(p["unaccounted"]) + (p["noise"] == "reproducible") + refused(path)
    elif kind == "times":  # lines of a part of the releases each: test_every_release_is_in_one_line
        assert value <= sum(release["count"] * fit["count"] for fit in p["fits"] for release in fit["releases"])
    elif kind == "noise":
        assert value in [r["deviation"] / r["sensitivity"] for fit in p["fits"] for r in fit["releases"] if r["deviation"]]
    elif kind == "curve":
        answer = tacit.account(p["events"], 10.0 ** (3 * seen - 12), neighbours=p["neighbours"])
        assert value == pytest.approx(answer["accountants"][p["accountant"]], rel=3e-3)
    elif kind in ("noise_least", "noise_most"):
        assert value == pytest.approx(noise_of(model)[kind == "noise_most"], rel=0.05)
    elif kind == "shown":
        assert value == min(100, sum(w != 0 for w in model["coefficients"])) < model["columns"]
    elif kind == "level":
        assert value == 0.95
    elif kind.partition(".")[0] in ("lower", "upper", "p_value"):
        what, _, at_ = kind.partition(".")
        known = interval_of(model, at_)
        near = 0 if what == "p_value" else 1e-8 * (known["upper"] - known["lower"])  # an end may be next to 0
        assert value == pytest.approx(known[what], rel=1e-6, abs=max(near, 1e-300))
    else:
        raise AssertionError(f"nobody checks the figure derived.{kind}")


@needs_program
@pytest.mark.parametrize("name", NAMES)
def test_every_figure_and_every_text_of_a_page_is_the_model_files(models, name):
    path = models[name]
    model = tacit.read_model(path).json
    page = Page(tacit.read_model(path).report())
    seen = {}
    assert len(page.marked) > min(model["columns"], sum(w != 0 for w in model["coefficients"]), 100)
    for field, exact, shown in page.marked:
        family, _, kind = field.partition(".")
        if exact is None:
            if field == "sha256":
                assert shown == hashlib.sha256(tacit.read_model(path).text.encode()).hexdigest()
            elif field == "schema.column":
                schema = model["transforms"]["schema"]
                assert shown in [column["name"] for column in schema["columns"]] + [schema["label"]["name"]]
            elif field.startswith("derived.caution."):
                texts = {w["name"]: w["text"] for w in tacit.verify(path)["warnings"]}
                assert shown.rstrip(".") == texts[field.removeprefix("derived.caution.")]
            elif field == "derived.verdict":
                assert shown == ("not verified" if refused(path) else "not private")
            elif field == "derived.why":
                assert shown.rstrip(".") in [check["text"] for check in tacit.verify(path)["checks"] if not check["ok"]]
            elif field == "privacy.noise":
                assert model["privacy"]["noise"] == "reproducible"
            else:
                assert shown.replace("\ufffd", "\x01") == at(model, field) or shown == at(model, field)
            continue
        value = float(exact)
        assert number(shown) == pytest.approx(value, rel=0.51 * 10.0 ** (1 - digits(shown)), abs=0), (field, shown)
        if family == "derived":
            if kind == "curve":
                seen[kind] = seen.get(kind, -1) + 1
            check_derived(kind, value, shown, model, path, seen.get(kind))
        elif family == "event":
            assert value in numbers_of(model["privacy"]["events"])
        elif family == "schema":
            assert value in [v for v in everything(model["transforms"]["schema"]) if not isinstance(v, str)]
        else:
            assert value == at(model, field), field
    fields = {field for field, _, _ in page.marked}
    drawn = [f"coefficients.{j}" for j in range(model["columns"])] if model["columns"] <= 100 else []
    wanted = [*drawn, "rows", "sha256", "library"]
    if model["privacy"]["private"]:
        wanted += ["privacy.epsilon", "privacy.delta"]
        # No words and no curve for a claim that is refused.
        wanted += [] if refused(path) else ["privacy.accountant", "privacy.unit", "privacy.trust"]
        events = model["privacy"]["events"]
        wanted += [f"privacy.events.{i}" for i in range(len(events))]
    if name == "large":
        wanted += ["derived.caution.delta", "derived.caution.epsilon"]
    if "ledger" in model["privacy"]:
        wanted += ["privacy.ledger.run", "privacy.ledger.head"]
    wanted += [f"privacy.unaccounted.{i}" for i in range(len(model["privacy"]["unaccounted"]))]
    wanted += ["derived.verdict", "derived.why"] if model["privacy"]["private"] and refused(path) else []
    assert not set(wanted) - fields
    assert refused(path) == (name in ("sparse", "wide", "forged", "hostile"))
    if noise_of(model):
        assert "derived.noise_most" in fields


@needs_program
@pytest.mark.parametrize("name", NAMES)
def test_no_figure_stands_on_a_page_without_its_source(models, name):
    page = Page(tacit.read_model(models[name]).report())
    schema = tacit.read_model(models[name]).json["transforms"]["schema"] or {}
    rest = page.rest
    for text in sorted((v for v in everything(schema) if isinstance(v, str)), key=len, reverse=True):
        rest = rest.replace(text, "")
    rest = re.sub("10\\^\u2212(12|9|6|3)", "", rest.replace("SHA-256", ""))
    assert not re.findall(r".{0,30}[0-9].{0,30}", rest)


@needs_program
@pytest.mark.parametrize("name", ["dpscd", "objpert", "outpert", "dpcd", "adassp"])
def test_the_curve_is_the_accountants(models, name):
    model = tacit.read_model(models[name]).json
    p = model["privacy"]
    page = Page(tacit.read_model(models[name]).report())
    svg = next(a for tag, a in page.drawn if tag == "svg" and a.get("class") == "curve")
    left, top, right, bottom = map(float, svg["data-box"].split())
    most = float(svg["data-top"])

    def epsilon_at(y):
        return most * (bottom - y) / (bottom - top)

    def delta_at(x):
        return 1e-12 * 10 ** (11 * (x - left) / (right - left))

    line = next(a for tag, a in page.drawn if tag == "path" and a.get("class") == "line")
    points = [tuple(map(float, pair.split())) for pair in re.findall(r"[ML]([^ML]+)", line["d"])]
    assert len(points) == 23
    for x, y in points[::4]:
        answer = tacit.account(p["events"], delta_at(x), neighbours=p["neighbours"])
        assert epsilon_at(y) == pytest.approx(answer["accountants"][p["accountant"]], rel=5e-3, abs=2e-3 * most)
    claim = next(a for tag, a in page.drawn if tag == "circle")
    assert epsilon_at(float(claim["cy"])) == pytest.approx(p["epsilon"], abs=1e-3 * most)
    assert delta_at(float(claim["cx"])) == pytest.approx(p["delta"], rel=0.01)


@needs_program
@pytest.mark.parametrize("name", ["dpscd", "outpert", "none"])
def test_the_bars_are_as_long_as_the_weights(models, name):
    model = tacit.read_model(models[name]).json
    text = tacit.read_model(models[name]).report()
    reach = float(re.search(r'data-reach="([^"]+)"', text)[1])
    rows = re.findall(r'data-weight="([^"]+)">(.*?)</svg>', text)
    assert len(rows) == model["columns"] + model["transforms"]["intercept"]
    for field, drawing in rows:
        weight = at(model, field)
        kind, x, width = re.search(r'class="(plus|minus)" x="([0-9.]+)%"[^>]*? width="([0-9.]+)%"', drawing).groups()
        if 50 * abs(weight) / reach > 0.2:
            assert float(width) == pytest.approx(50 * abs(weight) / reach, abs=2e-3)
        assert kind == ("minus" if weight < 0 else "plus")
        assert float(x) == pytest.approx(50 + 50 * min(weight, 0) / reach, abs=2e-3)
        if name == "outpert":
            noise = re.search(r'class="least" x="[0-9.]+%"[^>]*? width="([0-9.]+)%"', drawing)
            assert float(noise[1]) == pytest.approx(100 * noise_of(model)[1] / reach, rel=0.05, abs=2e-3)


@needs_program
@pytest.mark.parametrize("name", ["dpscd", "objpert", "outpert", "adassp"])
def test_the_line_for_recomputing_gives_the_claim(models, name):
    model = tacit.read_model(models[name]).json
    line = re.search(r'<code data-run="account">tacit (.*?)</code>', tacit.read_model(models[name]).report())[1]
    line = re.sub("<[^>]*>", "", line)
    answer = subprocess.run([PROGRAM, *line.split(), "--json"], capture_output=True, text=True, check=True)
    assert json.loads(answer.stdout)["epsilon"] <= model["privacy"]["epsilon"] * 1.001


@needs_program
def test_headings_come_in_order_and_nothing_is_fetched_or_run(models):
    for path in models.values():
        page = Page(tacit.read_model(path).report())
        assert page.headings[0] == 1 and page.headings.count(1) == 1
        assert all(b <= a + 1 for a, b in zip(page.headings, page.headings[1:]))
        for tag, attributes in page.tags:
            assert tag not in ("script", "img", "link", "iframe", "a", "form", "b", "object")
            assert not any(key.startswith("on") or key in ("src", "href", "style") for key in attributes)
        assert ("meta", {"http-equiv": "Content-Security-Policy"}.items()) and "default-src 'none'" in next(
            attributes["content"] for tag, attributes in page.tags if tag == "meta" and "http-equiv" in attributes
        )


@needs_program
def test_every_release_is_in_one_line_and_nothing_stands_on_a_page_twice(models):
    for name, path in models.items():
        model, text = tacit.read_model(path).json, tacit.read_model(path).report()
        if model["privacy"]["private"]:
            times = sum(int(each) for each in re.findall('derived.times" value="([0-9]+)"', text))
            assert times == sum(r["count"] * fit["count"] for fit in model["privacy"]["fits"] for r in fit["releases"])
            asked = text.partition("What was asked</th>")[2].partition("</table>")[0]
            assert asked.count("<tr><td>") <= 6  # none of our own releases stands for itself
            names = [r["what"] for fit in model["privacy"]["fits"] for r in fit["releases"]]
            assert not [name for name in names if f"<td><bdi>{name}" in asked]
        parts = re.findall(r"<(p|li|h[1-6]|dt|th|summary)(?: [^>]*)?>(.*?)</\1>", text.partition("<body>")[2], re.S)
        words = [re.sub("<[^>]*>", "", part) for _, part in parts]
        twice = {part for part in words if len(part) > 25 and words.count(part) > 1}
        assert name == "hostile" or not twice  # whose columns, label and warnings are one text


@needs_program
def test_a_score_stands_beside_the_promise_and_another_models_is_refused(models, tmp_path):
    model, other = (tacit.read_model(models[name]) for name in ("dpcd", "objpert"))
    table = pandas.read_csv(models["dpcd"].parent / "people.csv")
    scores = model.evaluate(table, epsilon=2, delta=1e-6)
    page = Page(model.report(scores=scores))
    shown = {field: float(value) for field, value, _ in page.marked if field.startswith(("scores.", "derived.percent."))}
    assert shown["derived.percent.accuracy.value"] == pytest.approx(100 * scores["accuracy"]["value"])
    assert shown["scores.rows"] == 3000 and shown["scores.epsilon"] == 2
    for field, value in shown.items():
        if field.startswith("scores."):
            assert value == at(scores, field.removeprefix("scores."))
    (tmp_path / "scores.json").write_text(json.dumps(scores))
    tacit_program("report", models["dpcd"], "--scores", "scores.json", "-o", "page.html", cwd=tmp_path)
    assert (tmp_path / "page.html").read_text() == model.report(scores=scores)
    for wrong, given, said in ((other, scores, "another model"), (model, model.evaluate(table), "not private")):
        with pytest.raises(ValueError, match=said):
            wrong.report(scores=given)


@needs_program
def test_a_page_tells_the_score_of_its_own_study(models, tmp_path):
    plan = {"epsilon": 2, "delta": 1e-6, "held": 0.2, "schema": str(models["dpcd"].parent / "people.schema.json"), "stages": [
        {"name": "one", "kind": "fit", "label": "high_income", "positive": "yes", "loss": "logistic", "part": "train"},
        {"name": "two", "kind": "fit", "label": "urban", "positive": "yes", "loss": "logistic", "part": "train"},
        {"name": "how well", "kind": "score", "of": "two", "part": "held"}]}  # fmt: skip
    (tmp_path / "plan.json").write_text(json.dumps(plan))
    tacit_program("study", models["dpcd"].parent / "people.csv", "--plan", "plan.json", "-o", "study.json", cwd=tmp_path)
    study = json.loads((tmp_path / "study.json").read_text())
    pages = {}
    for name in ("one", "two"):
        tacit_program("report", "study.json", "--stage", name, "-o", f"{name}.html", cwd=tmp_path)
        pages[name] = (tmp_path / f"{name}.html").read_text()
    assert "How good the model is" not in pages["one"] and "covers these figures too" in pages["two"]
    shown = {field: value for field, value, _ in Page(pages["two"]).marked if field.startswith("scores.")}
    figures = study["stages"][2]["scores"]["figures"]
    for field, value in shown.items():
        assert float(value) == at(figures, field.removeprefix("scores."))
    times = [int(each) for each in re.findall('derived.times" value="([0-9]+)"', pages["one"])]
    releases = [r for s in study["stages"] for f in s.get("model", {}).get("privacy", {}).get("fits", []) for r in f["releases"]]
    assert sum(times) == sum(r["count"] for r in releases) + 1 and "all stages of the study" in pages["one"]


@needs_program
def test_the_three_ways_to_a_page_give_the_same_page(models, tmp_path):
    model = tacit.read_model(models["dpscd"])
    model.report(tmp_path / "page.html")
    tacit_program("report", models["dpscd"], "-o", tmp_path / "other.html", cwd=tmp_path)
    trained = models["dpscd"].with_suffix(".html").read_text()
    assert (tmp_path / "page.html").read_text() == (tmp_path / "other.html").read_text() == model.report() == trained
    with pytest.raises((ValueError, RuntimeError), match="nowhere"):
        model.report(tmp_path / "nowhere" / "page.html")


def test_an_estimator_has_its_page(tmp_path):
    X = [[x / 50 - 1, 0.3] for x in range(100)]
    model = tacit.PrivateLogisticRegression(epsilon=5, delta=1e-4, data_norm=1.5, classes=["<no>", "yes"])
    model.fit(X, ["<no>" if x < 50 else "yes" for x in range(100)])
    model.report(tmp_path / "page.html")
    text = (tmp_path / "page.html").read_text()
    assert text == model.report() and "<no>" not in text
    model.set_params(classes=[0, 1, 2]).fit(X, [x % 3 for x in range(100)])
    model.save(tmp_path / "three.json")
    assert model.report() == tacit.read_model(tmp_path / "three.json").report()


@needs_program
def test_a_page_says_whether_a_record_or_a_person_is_protected(models):
    record, person = (tacit.read_model(models[name]).report() for name in ("dpcd", "persons"))
    assert "Every single record" in record and "A person with several records is protected less" in record
    assert "Every single person" in person and "is protected less" not in person


@needs_program
def test_a_claim_that_verify_refuses_is_not_repeated_as_one(models):
    for name, path in models.items():
        refuted = "The promise is not proved." in tacit.read_model(path).report()
        assert refuted == (name in ("forged", "hostile"))
        assert refuted == (refused(path) and tacit.read_model(path).json["privacy"]["private"])
    for change in ({"epsilon": 0}, {"epsilon": "infinity"}, {"delta": 2}, {"events": []}, {"delta": 0}):
        broken = json.loads(models["dpscd"].read_text())
        broken["privacy"].update(change)
        model = tacit._model.Model.parse(json.dumps(broken))
        if change == {"delta": 0}:  # a claim, and a wrong one
            assert "The promise is not proved." in model.report()
            continue
        with pytest.raises(ValueError, match="in range"):
            model.report()


# ---- legibility ----


def luminance(colour):
    channels = [c / 255 for c in colour]
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(a, b):
    """WCAG 2's contrast ratio."""
    high, low = sorted((luminance(a), luminance(b)), reverse=True)
    return (high + 0.05) / (low + 0.05)


def test_the_contrast_formula_knows_black_and_white():
    assert contrast((0, 0, 0), (255, 255, 255)) == pytest.approx(21)
    assert contrast((0x76, 0x76, 0x76), (255, 255, 255)) == pytest.approx(4.54, abs=0.01)


@needs_program
def test_the_colours_of_the_style_have_contrast(models):
    style = re.search("<style>(.*?)</style>", tacit.read_model(models["none"]).report(), re.S)[1]
    light, dark = re.findall(r":root\{(.*?)\}", style)
    assert "prefers-color-scheme:dark" in style.partition(dark)[0]
    for palette in (light, light + ";" + dark):
        colours = {
            name: tuple(int((value if len(value) == 6 else 2 * value)[i : i + 2], 16) for i in (0, 2, 4))
            for name, value in re.findall(r"--(\w+):#([0-9a-f]+)", palette)
        }
        pairs = [(each, "paper") for each in ("ink", "soft", "main", "bad", "good")]
        pairs += [(each, "tint") for each in ("ink", "soft", "bad", "good")]
        pairs += [("bad", "badtint"), ("good", "goodtint")]
        for text, ground in pairs:
            assert contrast(colours[text], colours[ground]) >= 4.5, (text, ground)
