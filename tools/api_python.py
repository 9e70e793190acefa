#!/usr/bin/env python3
"""api_python.py - writes docs/reference/api-python.md from the docstrings of the Python package.

tools/api_python.py           writes the page
tools/api_python.py --check   says whether the page is current, and how to make it so

The package must be importable (pip install .), or TACIT_LIBRARY and PYTHONPATH set as python/run_tests.sh does.
"""

import collections
import inspect
import pathlib
import re
import sys
import textwrap

PAGE = pathlib.Path(__file__).parents[1] / "docs" / "reference" / "api-python.md"
HEAD = """\
# The Python interface

Everything that `import tacit` offers, with the first sentence of each docstring (`tools/api_python.py` writes this
page; a test keeps it current). `help(tacit.NAME)` has all of it: parameters, shapes, errors, examples. How the pieces
go together is in the [tutorial](../guide/tutorial.md) and in [python/README.md](../../python/README.md). The estimators
also have scikit-learn's own `get_params`, `set_params` and metadata methods. What several have is told once.
"""
GROUPS = (
    ("Estimators", lambda thing: inspect.isclass(thing) and hasattr(thing, "fit") and hasattr(thing, "predict")),
    ("Public knowledge about a table", lambda thing: thing.__name__ in ("Schema", "PublicScaler", "Table", "read")),
    ("Models", lambda thing: thing.__name__ in ("Model", "read_model", "verify")),
    ("What things cost", lambda thing: thing.__name__ in ("account", "account_curve", "calibrate", "Ledger")),
    ("The rest", lambda thing: True),
)


def default_of(parameter):
    value = parameter.default
    return value.__name__ if inspect.isclass(value) or inspect.isfunction(value) else repr(value)


def signature_of(thing, told=frozenset()):
    """Names and defaults as they are written, without types; dots for those that are told elsewhere."""
    try:
        parameters = list(inspect.signature(thing).parameters.values())
    except (TypeError, ValueError):
        return "()"
    words, star = [], False
    for parameter in parameters:
        if parameter.name == "self" or parameter.name in told:
            continue
        if parameter.kind is parameter.KEYWORD_ONLY and not star:
            words.append("*")
            star = True
        prefix = {parameter.VAR_POSITIONAL: "*", parameter.VAR_KEYWORD: "**"}.get(parameter.kind, "")
        star = star or prefix == "*"
        plain = prefix or parameter.default is parameter.empty
        words.append(f"{prefix}{parameter.name}" if plain else f"{parameter.name}={default_of(parameter)}")
    return f"({', '.join(words + ['...'] * bool(told))})"


def ours(thing):
    return getattr(thing, "__module__", "").split(".")[0] == "tacit"


def members_of(cls):
    """Public methods and properties with a docstring of their own, from this package's classes only."""
    found = {}
    for base in cls.__mro__:
        if not ours(base):
            continue
        for name, raw in vars(base).items():
            if name.startswith("_") or name in found:
                continue
            method = raw.__func__ if isinstance(raw, (classmethod, staticmethod)) else raw
            if inspect.isfunction(method) and ours(method):
                call = f"{cls.__name__}.{name}" if isinstance(raw, (classmethod, staticmethod)) else f".{name}"
                signature = signature_of(getattr(cls, name)) if call[0] != "." else signature_of(method)
                found[name] = (call + signature, method)
            elif isinstance(raw, property):
                found[name] = (f".{name}", raw.fget)
    return sorted(found.items())


def with_list(text):
    """numpydoc's list of parameters as the page's: one item each, with its type."""
    lines, inside = [], False
    for line in re.sub(r"^Parameters\n-+\n", "\x00\n", text, flags=re.M).splitlines():
        inside = line == "\x00" or (inside and line != "")
        named = re.match(r"(\w+(?:, \w+)*) : (.*)", line) if inside else None
        if line != "\x00":
            lines.append(f"* `{named[1]}` ({named[2]}):" if named else "  " + line.strip() if inside else line)
    return "\n".join(lines).replace("``", "`")


def text_of(thing):
    """The docstring; what is set off in it is set off here."""
    text = with_list(inspect.getdoc(thing) or "")
    lines, inside = [], False
    for line in text.splitlines():
        example = line.startswith(">>>") or (inside and line.strip() != "")
        if example != inside:
            lines.append("```pycon" if example else "```")
        names = None if example else re.match(r"((?:C|[a-z_0-9]+)(?:, [a-z_0-9]+)*): +(.*)", line)
        if not names and line[:1].isupper() and lines and lines[-1].startswith("* `"):
            lines.append("")  # a sentence after the list is not of its last item
        lines.append(f"* `{names[1]}`: {names[2]}" if names else line)
        inside = example
    return "\n".join([*lines, "```"] if inside else lines).strip()


def first_of(thing):
    """The docstring's first sentence, on one line."""
    text = " ".join(text_of(thing).split("\n\n")[0].split("\n* `")[0].split())
    return re.split(r"(?<=[a-z0-9)`\"]\.) (?=[A-Z])", text)[0]


def method_entry(call, method):
    text = first_of(method)
    return textwrap.wrap(f"* `{call}`: {text}" if text else f"* `{call}`", 118, subsequent_indent="  ", break_long_words=False)


def parts_of(thing):
    """[text or list item of the docstring], each with the lines that belong to it."""
    parts = [[]]
    for line in text_of(thing).splitlines():
        if line.startswith("* `") or (line == "" and parts[-1] and parts[-1][0].startswith("* `")):
            parts.append([])
        parts[-1].append(line)
    return ["\n".join(part) for part in parts]


def shared_of(things):
    """What stands word for word in several of these classes: list items, and members; of one name the most frequent."""
    seen = collections.Counter()
    for thing in things:
        seen.update(part for part in parts_of(thing) if part.startswith("* `"))
        seen.update("\n".join(method_entry(call, method)) for _, (call, method) in members_of(thing))
    shared = {}
    for part, times in seen.most_common():
        if times > 1:
            shared.setdefault(re.match(r"\* `([\w.]+)", part)[1], part)
    return set(shared.values()), [part for part in seen if part in shared.values()]


def shared_entry(order):
    items = [part for part in order if not part.startswith("* `.")]
    members = [part for part in order if part.startswith("* `.")]
    items = [re.sub(r"(?s)^(.*?\):\n)(.*?[^.]\.)(?:\s.*|$)", r"\1\2", item) for item in items]  # the first sentence
    return ["### What the estimators share", "", *items, "", *members, ""]


def entry(name, thing, shared=frozenset()):
    out = [f"### {name}", ""]
    if not (inspect.isclass(thing) and issubclass(thing, (Exception, Warning))):
        told = {word for part in shared for word in re.findall(r"^\* `(\w+)`", part)}
        call = textwrap.wrap(f"{name}{signature_of(thing, told)}", 110, subsequent_indent="    ", break_long_words=False)
        out += ["```text", *call, "```", ""]
    out += [*textwrap.wrap(first_of(thing), 118, break_long_words=False), ""]
    if inspect.isclass(thing) and not issubclass(thing, (Exception, Warning)):
        for _, (call, method) in members_of(thing):
            lines = method_entry(call, method)
            out += lines if "\n".join(lines) not in shared else []
        out.append("")
    return out


def page():
    import tacit

    left = {name: getattr(tacit, name) for name in tacit.__all__}
    out = [HEAD]
    for title, belongs in GROUPS:
        mine = {name: thing for name, thing in left.items() if belongs(thing)}
        out += [f"## {title}", ""]
        shared, order = shared_of(mine.values()) if title == "Estimators" else (frozenset(), [])
        out += shared_entry(order) if order else []
        for name, thing in mine.items():
            out += entry(name, thing, shared)
            del left[name]
    return re.sub(r"\n{3,}", "\n\n", "\n".join(out).rstrip() + "\n")


def main():
    new = page()
    if "--check" not in sys.argv[1:]:
        PAGE.write_text(new, encoding="utf-8")
        return 0
    if PAGE.exists() and PAGE.read_text(encoding="utf-8") == new:
        return 0
    print("docs/reference/api-python.md is not what the docstrings say; run tools/api_python.py", file=sys.stderr)
    return 1


if __name__ == "__main__":
    sys.exit(main())
