#!/usr/bin/env python3
"""sentences.py [-n LINES] [-w WORDS] FILE... - names every sentence of more than WORDS (30) words.

Reads the first LINES lines (all by default) of pages, or the comments of sources.  Code blocks and tables are no
sentences; a list item, a numbered step and a heading word such as SENSITIVITY begin a new one.  In a source a formula
counts as one word.
"""

import argparse
import pathlib
import re

STARTS = re.compile(r"\s*([*+-]|\(?\d+([.-]\d+)*[.)]|\([a-z]\)) |\s*[A-Z]{4,}\b|\s*$")
TERM = re.compile(r"\s*[^.?!\s][^.?!]{0,30}[^.?!\s]  +\S")  # a term and what it means, apart by spaces
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
            yield number, re.sub(r"^ {0,3}\*? ?", "", line)
        yield number, ""


def blocks(text, source, last):
    block, start, indent = [], 1, 0
    for number, line in comment_lines(text) if source else page_lines(text):
        if number > last:
            break
        own = len(line) - len(line.lstrip())
        item = block and re.match(r"\(?\d+[.)-]", block[0])
        if block and (STARTS.match(line) or (source and (TERM.match(line) or (item and own <= indent)))):
            yield start, " ".join(block)
            block = []
        if line.strip():
            start, indent = (start, indent) if block else (number, own)
            block.append(line.strip())
    if block:
        yield start, " ".join(block)


def count_words(sentence, source):
    """Tokens with a letter or digit; in a source all between two plain words are one."""
    tokens = [w for w in sentence.split() if re.search(r"\w", w) or source]
    plain = [bool(re.fullmatch(r"\W*([A-Za-z][a-z'-]+|[aAI])\W*", w)) for w in tokens]
    return sum(p or not source or not k or plain[k - 1] for k, p in enumerate(plain))


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("-n", type=int, default=10**9)
    parser.add_argument("-w", type=int, default=30)
    parser.add_argument("files", nargs="+")
    args = parser.parse_args()
    long = total = 0
    for path in args.files:
        source = path.endswith((".c", ".h", ".def"))
        for line, block in blocks(pathlib.Path(path).read_text(encoding="utf-8"), source, args.n):
            for sentence in ENDS.split(block):
                words = count_words(sentence, source)
                total += words > 0
                if words > args.w:
                    long += 1
                    print(f"{path}:{line}: a sentence of {words} words: {sentence}")
    print(f"{total} sentences, {long} of more than {args.w} words")
    return long > 0


if __name__ == "__main__":
    raise SystemExit(main())
