#!/usr/bin/env python3
"""site.py - the pages of docs/ and of the root, laid out for MkDocs, with a link from the first page's menu to each.

tools/site.py OUT     writes OUT/pages and OUT/mkdocs.yml.  Links to files that are no page become plain names.
"""

import json
import pathlib
import re
import shutil
import sys

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
        if target in sources:
            return f"[{text}]({relative(sources[target], place)}{'#' + anchor if anchor else ''})"
        if target.suffix in (".svg", ".png", ".csv", ".json") and (root / "docs") in target.parents and target.exists():
            copy = pages / target.relative_to(root / "docs")
            copy.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(target, copy)
            return f"[{text}]({relative(target.relative_to(root / 'docs').as_posix(), place)})"
        return text

    return LINK.sub(link, path.read_text(encoding="utf-8"))


def title(path):
    found = re.search(r"^# (.+)$", path.read_text(encoding="utf-8"), re.M)
    return found[1].replace("`", "") if found else path.stem


menu = {}
for path, place in sorted(sources.items(), key=lambda item: (str(item[1]) != "index.md", str(item[1]))):
    target = pages / place
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_text(page_of(path, place), encoding="utf-8")
    group = place.parts[0] if len(place.parts) > 1 else ""
    menu.setdefault(group, []).append({title(path): str(place)})
own = {str(place): entry for entry in menu.pop("") for place in entry.values()}
menu["code"] = [own.pop(name) for name in ("tour.md", "one-release.md") if name in own]
nav = [{"Start": own.pop("index.md")[title(root / "docs" / "README.md")]}, {"Python": "python.md"}]
own.pop("python.md")
nav += list(own.values()) + [{group.capitalize(): entries} for group, entries in menu.items()]
settings = {
    "site_name": "tacit",
    "docs_dir": str(pages),
    "use_directory_urls": False,
    "theme": {"name": "mkdocs", "color_mode": "auto", "user_color_mode_toggle": True, "highlightjs": False},
    "plugins": ["search"],
    "markdown_extensions": ["tables", "fenced_code", "attr_list", {"toc": {"permalink": False}}],
    "validation": {"links": {"not_found": "warn", "anchors": "info"}},
    "nav": nav,
}
(out / "mkdocs.yml").write_text(json.dumps(settings, indent=1), encoding="utf-8")  # JSON is YAML
