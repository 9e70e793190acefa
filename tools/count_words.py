#!/usr/bin/env python3
"""count_words.py - words of the pages by folder, beside their ceilings; and words that docs/reference/words.md does not take.

tools/count_words.py             prints the counts
tools/count_words.py --check     says what is beyond a ceiling, and where a word stands that is not to be used

A word is what stands between spaces and holds a letter or a digit.  A page of docs/measured has at most 60 lines, one of
docs/decisions at most 80.
"""

import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).parents[1]
CEILINGS = {
    "README.md": 950,
    "CHANGELOG.md": 1350,
    "docs": 1350,
    "docs/decisions": 8480,
    "docs/gallery": 850,
    "docs/guide": 17600,
    "docs/measured": 7200,  # coverage.md awaits its rows
    "docs/proofs": 9550,
    "docs/reference": 5850,
    "docs/reference/format": 6350,
    "r": 200,
    "r/vignettes": 300,
}
LINES = {"docs/measured": 60, "docs/decisions": 80}
# Pages that are beyond the lines of their folder; an entry goes when the page is shortened.
LONGER = {"docs/measured/coverage.md": 260}
LIST = ROOT / "docs" / "reference" / "words.md"
HELP = ("cli/*.c", "cli/*.def", "include/tacit.h", "python/tacit/*.py", "r/R/*.R", "r/man/*.Rd")
PAGES = ("*.md", "docs/**/*.md", "python/README.md", "r/**/*.md", "r/vignettes/*.Rmd")


def files(patterns):
    return sorted({path for pattern in patterns for path in ROOT.glob(pattern) if path.is_file()})


def folder_of(path):
    place = path.relative_to(ROOT).as_posix()
    own = next((name for name in CEILINGS if place == name), None)
    return own or place.rsplit("/", 1)[0]


def count():
    words = dict.fromkeys(CEILINGS, 0)
    for path in files(PAGES):
        folder = folder_of(path)
        if folder in words:
            words[folder] += sum(bool(re.search(r"\w", word)) for word in path.read_text(encoding="utf-8").split())
    return words


def refused():
    """[(pattern, word that is to stand there)] of the list."""
    found = []
    for line in LIST.read_text(encoding="utf-8").splitlines():
        cells = [cell.strip() for cell in line.strip("|").split(" | ")]
        if not line.startswith("| ") or len(cells) != 3 or cells[0] in ("word", "---"):
            continue
        for word in (part.strip() for part in cells[2].rstrip(" |").split(",")):
            plain = word.startswith("`")
            pattern = re.escape(word.strip("`")) if plain else r"\b" + r"\s+".join(map(re.escape, word.split())) + r"\b"
            found.append((re.compile(pattern, 0 if plain else re.I), cells[0]))
    return found


def complaints():
    for folder, words in count().items():
        if words > CEILINGS[folder]:
            yield f"{folder}: {words} words, at most {CEILINGS[folder]}; say it shorter, or cut what repeats another page"
    for path in files(PAGES):
        place = path.relative_to(ROOT).as_posix()
        most = LONGER.get(place, LINES.get(place.rsplit("/", 1)[0]))
        lines = path.read_text(encoding="utf-8").count("\n")
        if most and lines > most:
            yield f"{place}: {lines} lines, at most {most}"
    rules = refused()
    if len(rules) < 20:
        yield f"{LIST.relative_to(ROOT)}: its table was not read"
    some = re.compile("|".join(pattern.pattern for pattern, _ in rules), re.I)
    for path in files(PAGES + HELP):
        text = path.read_text(encoding="utf-8")
        for pattern, word in rules if path != LIST and some.search(text) else ():
            for match in pattern.finditer(text):
                yield f"{path.relative_to(ROOT)}:{text.count(chr(10), 0, match.start()) + 1}: {match[0]!r}; the word is {word}"


def main():
    if "--check" not in sys.argv[1:]:
        words = count()
        for folder, most in CEILINGS.items():
            print(f"{words[folder]:7} of {most:6}  {folder}")
        print(f"{sum(words.values()):7} of {sum(CEILINGS.values()):6}  in all")
        return 0
    wrong = list(complaints())
    print("\n".join(wrong) if wrong else f"{sum(count().values())} words")
    return bool(wrong)


if __name__ == "__main__":
    sys.exit(main())
