#!/usr/bin/env python3
"""site.py - the pages of docs/ and of the root, laid out for MkDocs, with a link from the first page's menu to each.

tools/site.py OUT     writes OUT/pages and OUT/mkdocs.yml.  Links to files that are no page become plain names.
"""

import html
import json
import pathlib
import re
import shutil
import sys
import textwrap

root = pathlib.Path(__file__).resolve().parents[1]
out = pathlib.Path(sys.argv[1]).resolve()
pages = out / "pages"
LINK = re.compile(r"\[([^\]\n]*(?:\n[^\]\n]*)?)\]\(([^)\s]+)\)")

sources = {path: pathlib.PurePosixPath(path.relative_to(root / "docs").as_posix()) for path in (root / "docs").rglob("*.md")}
sources[root / "docs" / "README.md"] = pathlib.PurePosixPath("index.md")
for folder in ("decisions", "measured", "guide", "gallery", "reference", "proofs"):
    if (own := root / "docs" / folder / "README.md") in sources:
        sources[own] = pathlib.PurePosixPath(folder) / "index.md"
for name in ("README", "CONTRIBUTING", "CHANGELOG", "SECURITY"):
    if (root / f"{name}.md").exists():
        sources[root / f"{name}.md"] = pathlib.PurePosixPath("project") / f"{name.lower()}.md"
sources[root / "python" / "README.md"] = pathlib.PurePosixPath("python.md")


# A folder without a page of its own gets a list of its pages, so that links to the folder lead somewhere.
lists = {}
for folder in sorted({path.parent for path in sources} - {root, root / "docs", root / "python"}):
    if folder / "README.md" not in sources:
        lists[folder] = folder / "README.md"
        place = pathlib.PurePosixPath(folder.relative_to(root / "docs").as_posix()) / "index.md"
        sources[lists[folder]] = place

INDEX = re.compile(r"(?<![A-Za-z0-9_\\])([A-Za-zΑ-Ωα-ωℓ∇]{1,3}[₀-₉]?'*)_(\{[^{}]*\}|[A-Za-z0-9Α-Ωα-ω]+)(?![A-Za-z0-9_])")
POWER = re.compile(r"\^(\{[^{}]*\}|\([^()]*\)|[−-]?[A-Za-z0-9ε]+)")


def formula(text):
    """x_i and e^{a} as people write them."""
    for rule, tag in ((INDEX, "sub"), (POWER, "sup")):
        text = rule.sub(lambda found: f"{found[1] if tag == 'sub' else ''}<{tag}>{found[rule.groups].strip('{}()')}</{tag}>", text)
    return text


def set_off(lines):
    """Indented lines: a formula, unless it is a command."""
    if re.search(r"build/|tacit |make |\.py|--", "".join(lines)):
        return "".join(lines)
    body = textwrap.dedent("".join(lines)).strip("\n")
    return f'<pre class="formula">{formula(html.escape(body, quote=False))}</pre>\n'


def rendered(text):
    """A page of mathematics: indices and powers are set, and what is set off is a formula."""
    out, kept, fence, before = [], [], False, ""
    for line in text.splitlines(keepends=True):
        if not fence and line.startswith("    ") and (kept or not before.strip()):
            kept.append(line)
            continue
        if kept and line.strip():
            out.append(set_off(kept) + "\n")
            kept = []
        elif kept:
            kept.append(line)
            continue
        fence ^= line.startswith("```")
        plain = fence or line.startswith("```")
        out.append(line if plain else "".join(p if p.startswith("`") else formula(p) for p in re.split(r"(`[^`]*`)", line)))
        before = line
    return "".join(out) + (set_off(kept) if kept else "")


def relative(target, page):
    up = len(page.parts) - 1
    return "../" * up + str(target)


def page_of(path, place):
    def link(found):
        text, address = found[1], found[2]
        if re.match(r"[a-z]+:|#", address):
            return found[0]
        file, _, anchor = address.partition("#")
        target = (path.parent / file).resolve()
        if target.is_dir():
            target = target / "README.md"
            if target not in sources:
                target = lists.get(target.parent, target)
        if target in sources:
            return f"[{text}]({relative(sources[target], place)}{'#' + anchor if anchor else ''})"
        if target.suffix in (".svg", ".png", ".csv", ".json") and (root / "docs") in target.parents and target.exists():
            copy = pages / target.relative_to(root / "docs")
            copy.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(target, copy)
            return f"[{text}]({relative(target.relative_to(root / 'docs').as_posix(), place)})"
        return text

    text = LINK.sub(link, path.read_text(encoding="utf-8"))
    if place.name == "verify-page.md" and (root / "build" / "wasm" / "verify.html").exists():  # site.sh copies it
        text = text.replace("`verify.html`", '<a href="../verify.html">verify.html</a>', 1)
    return rendered(text) if place.parts[0] == "proofs" or place.name in ("mathematics.md", "accounting.md") else text


def title(path):
    if path in lists.values():
        return "All of them"
    found = re.search(r"^# (.+)$", path.read_text(encoding="utf-8"), re.M)
    return found[1].replace("`", "") if found else path.stem


menu = {}
for path, place in sorted(sources.items(), key=lambda item: (str(item[1]) != "index.md", str(item[1]))):
    target = pages / place
    target.parent.mkdir(parents=True, exist_ok=True)
    if path in lists.values():
        inside = [page for page in sources if page.parent == path.parent and page != path]
        lines = [f"* [{title(page)}]({relative(sources[page], place)})" for page in sorted(inside, key=title)]
        heading = str(place.parent).replace("/", ": ").capitalize()
        target.write_text(f"# {heading}\n\n" + "\n".join(lines) + "\n", encoding="utf-8")
    else:
        target.write_text(page_of(path, place), encoding="utf-8")
    group = place.parts[0] if len(place.parts) > 1 else ""
    menu.setdefault(group, []).append({title(path): str(place)})
own = {str(place): entry for entry in menu.pop("") for place in entry.values()}
code = [own.pop(name) for name in ("tour.md",) if name in own]
nav = [{"Start": own.pop("index.md")[title(root / "docs" / "README.md")]}, {"Python": "python.md"}]
own.pop("python.md")
# One line of menus: what readers want comes first, what is about the code stands together.
nav += list(own.values()) + [{group.capitalize(): menu.pop(group)} for group in ("guide", "gallery")]
nav += [{"Reference": [*menu.pop("reference"), {"Proofs": menu.pop("proofs")}]}, {"Measured": menu.pop("measured")}]
nav += [{"Code": [*code, {"Decisions": menu.pop("decisions")}]}]
nav += [{group.capitalize(): entries} for group, entries in menu.items()]
# The look of the report pages, in both colours.
style = "".join(re.findall(r'"(.*)"', (root / "extra/report/report_style.c").read_text(encoding="utf-8")))
look, dark = (dict(re.findall(r"--(\w+):(#\w+)", part)) for part in re.findall(r":root\{(.*?)\}", style))
(pages / "own.css").write_text(
    "".join(
        f"{where} {{ --bs-body-bg: {c['paper']}; --bs-body-color: {c['ink']}; --bs-link-color: {c['main']}; --bs-link-hover-color: {c['main']}; }}\n"
        f"{where} :is(.col-md-9 a, footer a, .bs-sidebar .nav-link, .bs-sidebar .nav-link.active) {{ color: {c['main']} !important; }}\n"
        f"{where} :is(pre, code, thead th) {{ background: {c['tint']} !important; color: {c['ink']} !important; }}\n"
        for where, c in ((":root, [data-bs-theme=light]", look), ("[data-bs-theme=dark]", {**look, **dark}))
    )
    + ":focus-visible { outline: 2px solid currentColor !important; outline-offset: 2px; }\n"
    f".navbar {{ background: {look['main']} !important; }}\n.navbar :is(.nav-link, .navbar-brand, .btn) {{ color: #fff !important; }}\n"
    "pre.formula { font: inherit; line-height: 1.9; white-space: pre-wrap; padding: .3em .8em; border-left: 3px solid #8aa; }\n"
    "h1 { font-size: 1.9rem; font-weight: 600; }\nh2 { font-size: 1.35rem; font-weight: 600; }\n"
    "table { margin-bottom: 1em; }\ntd, th { padding: .2em .6em; vertical-align: top; }\nsub, sup { line-height: 1; }\nimg { max-width: 100%; background: #fff; }\n"
    "@media (max-width: 36rem) { td, th { padding: .2em .3em; overflow-wrap: anywhere; } }\n",
    encoding="utf-8",
)
settings = {
    "site_name": "tacit",
    "docs_dir": str(pages),
    "use_directory_urls": False,
    "theme": {"name": "mkdocs", "color_mode": "auto", "user_color_mode_toggle": True, "highlightjs": False},
    "plugins": ["search"],
    "extra_css": ["own.css"],
    "markdown_extensions": ["tables", "fenced_code", "attr_list", {"toc": {"permalink": False}}],
    "validation": {"links": {"not_found": "warn", "anchors": "info"}},
    "nav": nav,
}
(out / "mkdocs.yml").write_text(json.dumps(settings, indent=1), encoding="utf-8")  # JSON is YAML
