#!/usr/bin/env python3
"""sentences.py [-n LINES] [-w WORDS] FILE... - names every sentence of more than WORDS (30) words.

Reads the first LINES lines (all by default) of pages, or the head comment of sources.  Code blocks, tables and headings
are no sentences; a list item, a numbered step and a heading word such as SENSITIVITY begin a new one.
"""

import argparse
import pathlib
import re


def blocks(path, lines):
    text = pathlib.Path(path).read_text(encoding="utf-8")
    source = path.endswith((".c", ".h"))
    if source:
        text = re.sub(r"^(/\*| \*/?) ?", "", text[: text.index("*/")], flags=re.M)
    block, start, fence = [], 1, False
    for number, line in enumerate(text.split("\n")[:lines], 1):
        if line.startswith("```"):
            fence = not fence
        skip = fence or line.startswith(("|", "#", "```", "<", "![")) or (not source and line.startswith("    ") and not block)
        new = re.match(r"\s*([*+-]|\d+(-\d+)?\.) |[A-Z]{4,} |\s*$", line)
        if (skip or new) and block:
            yield start, " ".join(block)
            block = []
        if skip or not line.strip():
            continue
        if not block:
            start = number
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
            for sentence in re.split(r"(?<=[.?!])[)*]*\s+(?=[^a-z])", block):
                words = [w for w in sentence.split() if re.search(r"\w", w)]
                total += 1
                if len(words) > args.w:
                    long += 1
                    print(f"{path}:{line}: {len(words)} words: {sentence}")
    print(f"{total} sentences, {long} of more than {args.w} words")
    return long > 0


if __name__ == "__main__":
    raise SystemExit(main())
