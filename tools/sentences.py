#!/usr/bin/env python3
"""sentences.py [-n LINES] [-w WORDS] FILE... - names every sentence of more than WORDS (30) words.

Reads the first LINES lines (all by default) of pages, or the comments of sources.  Code blocks and tables are no
sentences; a list item, a numbered step and a heading word such as SENSITIVITY begin a new one.
"""

import argparse
import pathlib
import re

STARTS = re.compile(r"\s*([*+-]|\(?\d+([.-]\d+)*[.)]|\([a-z]\)) |\s*[A-Z]{4,}\b|\s*$")
ENDS = re.compile(r"(?<!e\.g)(?<!i\.e)(?<!cf)(?<!vs)[.?!][)*`_]*\s+")


def page_lines(text):
    """Pairs (line number, text) of a page; code and tables are empty lines, so that they end a block."""
    fence = code = False
    before = ""
    for number, line in enumerate(text.split("\n"), 1):
        if re.match(r" *```", line):
            fence = not fence
            line = ""
        code = not fence and line.startswith("    ") and (code or not before.strip())
        if fence or code or line.lstrip().startswith(("|", "![", "<", "#")):
            yield number, ""
            if line.startswith("#"):
                yield number, line.lstrip("# ")
                yield number, ""
        else:
            yield number, line
        before = line


def comment_lines(text):
    """Pairs (line number, text) of the comments of a C source; an empty line parts two comments."""
    for comment in re.finditer(r"/\*.*?\*/", text, re.S):
        start = text.count("\n", 0, comment.start()) + 1
        for number, line in enumerate(comment.group()[2:-2].split("\n"), start):
            yield number, re.sub(r"^\s*\*? ?", "", line) if not line.startswith(("     ", " *     ")) else line[2:]
        yield number, ""


def blocks(path, last):
    text = pathlib.Path(path).read_text(encoding="utf-8")
    lines = comment_lines(text) if path.endswith((".c", ".h", ".def")) else page_lines(text)
    block, start = [], 1
    for number, line in lines:
        if number > last:
            break
        if block and STARTS.match(line):
            yield start, " ".join(block)
            block = []
        if line.strip():
            start = start if block else number
            block.append(line.strip())
    if block:
        yield start, " ".join(block)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("-n", type=int, default=10**9)
    parser.add_argument("-w", type=int, default=30)
    parser.add_argument("files", nargs="+")
    args = parser.parse_args()
    long = total = 0
    for path in args.files:
        for line, block in blocks(path, args.n):
            for sentence in ENDS.split(block):
                words = [w for w in sentence.split() if re.search(r"\w", w)]
                total += bool(words)
                if len(words) > args.w:
                    long += 1
                    print(f"{path}:{line}: a sentence of {len(words)} words: {sentence}")
    print(f"{total} sentences, {long} of more than {args.w} words")
    return long > 0


if __name__ == "__main__":
    raise SystemExit(main())
