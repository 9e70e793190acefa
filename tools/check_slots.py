#!/usr/bin/env python3
"""check_slots.py - the library's sentences speak in slots (src/core/slots.def), and every slot in four languages.

    tools/check_slots.py [FOLDER]

Of the string literals of src/ and extra/ none has a word of a door.  Each slot in them is in the table, stands in a text that is
filled, and has a word in C, on the command line, in Python and in R; none is unused.  FOLDER: of another tree.
"""

import pathlib
import re
import sys

ROOT = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else pathlib.Path(__file__).resolve().parents[1])
TABLE = ROOT / "src" / "core" / "slots.def"
TEXT = r'"(?:[^"\\\n]|\\.)*"'
GROUP = re.compile(rf"{TEXT}(?:(?:\s|\\\n)*(?:[a-zA-Z_]+64|{TEXT}))*")  # literals side by side are one text
ROW = re.compile(rf"^TCT_SLOT\((\w+),\s*({TEXT}),\s*({TEXT}),\s*({TEXT}),\s*({TEXT})\)", re.M)
SLOT = re.compile(r"\{([a-z_0-9]+)( [^{}]*)?\}")
# What a statement has that says its text by itself, without core/status.c.
UNFILLED = re.compile(r"printf\(|\bjson_|\btct_html_|_unaccounted\(|\bcheck\(|\btct_verify_|\btct_audit_|\.summary =|\.help =")
PAGES = re.compile(r"\btct_html_|\bquoted\(")  # a report shows commands, which are for the command line


def without_comments(text):
    """The source, its comments blank, its lines where they were."""
    blank = lambda found: found[0] if found[0][0] in "\"'" else re.sub(r"[^\n]", " ", found[0])
    return re.sub(rf"{TEXT}|'(?:[^'\\\n]|\\.)+'|/\*.*?\*/|//[^\n]*", blank, text, flags=re.S)


def unquoted(group):
    return "".join(each[1:-1] for each in re.findall(TEXT, group)).replace('\\"', '"')


def table(faults):
    """{slot: its four words}, with what is wrong with the rows."""
    text, rows = without_comments(TABLE.read_text(encoding="utf-8")), {}
    found = ROW.findall(text)
    if not found or len(found) != text.count("TCT_SLOT("):
        faults.append("core/slots.def: a row is not TCT_SLOT(name, in C, on the command line, in Python, in R)")
    for name, *words in found:
        words = [unquoted(word) for word in words]
        if name in rows:
            faults.append(f"core/slots.def: {name} has two rows")
        if not all(word.strip() for word in words):
            faults.append(f"core/slots.def: {name} lacks a word in C, on the command line, in Python or in R")
        if any(not re.fullmatch(r"[^\[\]%]*(\[[^\[\]%]*%[^\[\]%]*\])?", word.replace("[:...]", "")) for word in words):
            faults.append(f"core/slots.def: {name}: a value is one % in brackets at the end of a word")
        if any("%" in word for word in words) and "%" not in words[0]:
            faults.append(f"core/slots.def: {name} loses its value in C, where the other words take it from")
        rows[name] = words
    return rows


def words_of_doors(rows, sources):
    """Patterns of what only one door says.  An option of a component has one name everywhere, e.g. labels=one."""
    keywords = {"n_jobs", "groups", "sample_weight"}.union(*(re.findall(r"(\w+)=", words[2]) for words in rows.values()))
    for path in sources:
        keywords -= set(re.findall(r'\{"(\w+)",\s*TCT_OPT_', path.read_text(encoding="utf-8")))
    verbs = re.findall(r"CLI_VERB\((\w+)\)", (ROOT / "cli" / "list.def").read_text(encoding="utf-8"))
    return {
        "an option of the command line": r"(?<!var\()--(?![a-z]+:)[a-z][a-z-]*",
        "a command": rf"`tacit\b|(?:`|\btacit )({'|'.join(verbs)})\b",
        "a word of Python": rf"(?<![:,\w-])({'|'.join(sorted(keywords))})=(?!=)|\btacit\.(?!h\b)[A-Za-z]",
    }


def statement(source, at):
    """What stands before a literal, from the end of the statement before it."""
    before = re.sub(TEXT, lambda found: '"' + " " * (len(found[0]) - 2) + '"', source[max(0, at - 2000) : at])
    return re.split(r"[;{}]\s|\btct_fail(?:_at)?\(", before)[-1]


def main():
    faults, used = [], set()
    rows = table(faults)
    roots = (ROOT / "src", ROOT / "extra")
    sources = sorted(p for root in roots for p in root.rglob("*") if p.suffix in {".c", ".h", ".def"} and p != TABLE)
    doors = words_of_doors(rows, sources)
    for path in sources:
        source, place = without_comments(path.read_text(encoding="utf-8")), path.relative_to(ROOT)
        source = re.sub(r"^#include.*", "", source, flags=re.M)
        for group in GROUP.finditer(source):
            text, line = unquoted(group[0]), source.count("\n", 0, group.start()) + 1
            for what, pattern in doors.items():
                found = re.search(pattern, text)
                if found and not (what == "a command" and PAGES.search(statement(source, group.start()))):
                    faults.append(f"{place} line {line}: {what}, {found[0].strip()}; write a slot of core/slots.def")
            for name, value in SLOT.findall(text):
                used.add(name)
                if name not in rows:
                    faults.append(f"{place} line {line}: {{{name}}} is no slot of core/slots.def")
                elif value and "%" not in rows[name][0]:
                    faults.append(f"{place} line {line}: {{{name}}} takes no value")
                elif UNFILLED.search(statement(source, group.start())):
                    faults.append(f"{place} line {line}: {{{name}}} is not filled there; hand the text to tct_fail")
    faults += [f"core/slots.def: no sentence has {{{name}}}" for name in rows if name not in used]
    print("\n".join(faults) if faults else f"check_slots.py: {len(rows)} slots in {len(sources)} files")
    sys.exit(bool(faults))


main()
