#!/usr/bin/env python3
"""count_constants.py - the decimal and scientific literals left in solvers, and the rows of rules.def that tuned ones are.

usage: count_constants.py [--list] [--most N]     --list: each literal with its place; --most N: exit 1 where there are more
       count_constants.py --rules                 what is wrong with the rows, a line each; exit 1 where anything is

Comments and strings do not count, nor does the range of an option: what a user may ask for is no rule of a plan.
"""
import argparse, os, re, sys

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..")
ROOMS = ("src/solve", "extra/baselines", "extra/nonprivate", "extra/parties")
# Of mathematics, not of tuning: halves and quarters; 1e-12 or less, the rounding of doubles; 1e9 or more, the open end
# of an option's range.
ALLOWED = {0.0, 1.0, 2.0, 0.5, 0.25}
OPAQUE = re.compile(r'/\*.*?\*/|//[^\n]*|"(?:\\.|[^"\\\n])*"', re.S)
RANGE = re.compile(r"TCT_OPT_[A-Z]+,[^,]*,[^,]*,[^,]*,")
LITERAL = re.compile(r"(?<![\w.])(?:\d+\.\d*|\.\d+|\d+(?=[eE]))(?:[eE][+-]?\d+)?[fFlL]?(?![\w.])")
NUMBER = r"-?[\d.]+(?:e-?\d+)?"
ROW = re.compile(rf'TCT_RULE(?:\((\w+), (\d+), (\w+), {NUMBER}, "([^"]+)"\)|S\((\w+), (\d+), (\w+), "([^"]+)"(?:, {NUMBER})+\))$', re.M)


def sources(rooms, ending):
    for folder, _, names in sorted(found for room in rooms for found in os.walk(os.path.join(ROOT, room))):
        for path in (os.path.join(folder, name) for name in sorted(names) if name.endswith(ending)):
            with open(path) as file:
                yield os.path.relpath(path, ROOT), file.read()


def blank(match):
    return re.sub(r"[^\n]", " ", match.group())


def read_rules():
    """[(file, line, component_name, version, page)], and what is no row though it begins as one."""
    rows, faults = [], []
    for path, text in sources(("src", "extra"), "rules.def"):
        for number, line in enumerate(text.split("\n"), 1):
            match = ROW.match(line)
            if match:
                component, version, name, page = match.groups()[:4] if match.group(1) else match.groups()[4:]
                rows.append((path, number, f"{component}_{name}", int(version), page))
            elif line.lstrip().startswith("TCT_RULE"):
                faults.append(f'{path} line {number}: no row; TCT_RULE(component, version, name, value, "page"), on one line')
    return rows, faults


def faults_of_rules():
    rows, faults = read_rules()
    used, seen = set(), {}
    for _, text in sources(("src", "extra"), (".c", ".h")):
        used.update(re.findall(r"\w+", OPAQUE.sub(blank, text)))
    for path, number, name, version, page in rows:
        place = f"{path} line {number}"
        if not os.path.isfile(os.path.join(ROOT, "docs", "decisions", page + ".md")):
            faults.append(f"{place}: there is no docs/decisions/{page}.md to say how {name} was found")
        if name not in used:
            faults.append(f"{place}: nobody uses {name}")
        if (name, version) in seen:
            faults.append(f"{place}: {name} has a row of version {version} already, {seen[name, version]}")
        seen.setdefault((name, version), place)
    return faults if rows else faults + ["no row of a rules.def was found"]


def main():
    arguments = argparse.ArgumentParser()
    arguments.add_argument("--list", action="store_true")
    arguments.add_argument("--most", type=int)
    arguments.add_argument("--rules", action="store_true")
    asked = arguments.parse_args()
    if asked.rules:
        faults = faults_of_rules()
        print("\n".join(faults), end="\n" if faults else "")
        sys.exit(bool(faults))
    found = {}
    for path, text in sources(ROOMS, (".c", ".h")):
        text = RANGE.sub(blank, OPAQUE.sub(blank, text))
        for match in LITERAL.finditer(text):
            value = float(match.group().rstrip("fFlL"))
            if value not in ALLOWED and not 0 < value <= 1e-12 and value < 1e9:
                found.setdefault(path, []).append((text.count("\n", 0, match.start()) + 1, match.group()))
    for path, all_of in found.items():
        print(f"{len(all_of):4d}  {path}")
        for line, literal in all_of if asked.list else []:
            print(f"      {path}:{line}: {literal}")
    solvers, beside = (sum(len(found[path]) for path in found if path.startswith("src/") == own) for own in (True, False))
    print(f"{solvers:4d}  decimal literals left in src/solve beside the allowed ones, and {beside} in extra/")
    print(f"{len(read_rules()[0]):4d}  rows of rules.def")
    sys.exit(asked.most is not None and solvers + beside > asked.most)


main()
