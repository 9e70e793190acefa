#!/usr/bin/env python3
"""count_constants.py - the decimal and scientific literals of src/solve, which are tuned constants unless listed here.

usage: count_constants.py [--list] [--most N]     --list: each with its place; --most N: exit 1 where there are more

Comments and strings do not count, nor do rows of a rules.def: a tuned constant belongs there, with its version and page.
"""
import argparse, os, re, sys

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..")
# Of mathematics, not of tuning: halves and quarters; 1e-12 or less, the rounding of doubles; 1e9 or more, the open end
# of an option's range.
ALLOWED = {0.0, 1.0, 2.0, 0.5, 0.25}
OPAQUE = re.compile(r'/\*.*?\*/|//[^\n]*|"(?:\\.|[^"\\\n])*"', re.S)
LITERAL = re.compile(r"(?<![\w.])(?:\d+\.\d*|\.\d+|\d+(?=[eE]))(?:[eE][+-]?\d+)?[fFlL]?(?![\w.])")


def main():
    arguments = argparse.ArgumentParser()
    arguments.add_argument("--list", action="store_true")
    arguments.add_argument("--most", type=int)
    asked = arguments.parse_args()
    found = {}
    for folder, _, names in sorted(found for room in ("src/solve", "extra/baselines", "extra/nonprivate", "extra/parties") for found in os.walk(os.path.join(ROOT, room))):
        for name in sorted(names):
            if not name.endswith((".c", ".h")):
                continue
            path = os.path.join(folder, name)
            with open(path) as file:
                text = OPAQUE.sub(lambda m: re.sub(r"[^\n]", " ", m.group()), file.read())
            for match in LITERAL.finditer(text):
                value = float(match.group().rstrip("fFlL"))
                if value not in ALLOWED and not 0 < value <= 1e-12 and value < 1e9:
                    found.setdefault(os.path.relpath(path, ROOT), []).append((text.count("\n", 0, match.start()) + 1, match.group()))
    for path, all_of in found.items():
        print(f"{len(all_of):4d}  {path}")
        for line, literal in all_of if asked.list else []:
            print(f"      {path}:{line}: {literal}")
    total = sum(map(len, found.values()))
    print(f"{total:4d}  decimal literals of src/solve beside the allowed ones")
    sys.exit(asked.most is not None and total > asked.most)


main()
