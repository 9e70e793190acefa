"""The library's sentences name options of the command line; in Python they name arguments."""

from __future__ import annotations

import re

# What is not an option with its name and value one to one; the longer forms first.
_PHRASES = (
    ("`tacit ledger FILE --init`", "tacit.Ledger.create(path, epsilon=..., delta=...)"),
    ("--init --unit person", 'tacit.Ledger.create(..., unit="person")'),
    ("--init --for-tests", "tacit.Ledger.create(..., for_tests=True)"),
    ("--errors model or robust", 'errors="model" or errors="robust"'),
    ("--errors model (or robust)", 'errors="model" (or "robust")'),
    ("--no-intercept", "fit_intercept=False"),
    ("--label-bound Y", "label_bounds=(low, high)"),
    ("--decimal ,", 'decimal=","'),
    ("`tacit components solver`", 'tacit.components("solver")'),
)
_NAMES = {"row-norm": "data_norm", "seed": "random_state", "label-bound": "label_bounds", "label-shift": "label_bounds"}
_WORDS = "squared|logistic|clip|unit|model|robust|add_remove|replace_one"
_OPTION = re.compile(
    rf"(?<![\w-])--([a-z][a-z0-9-]*)(?: (?:([0-9][0-9.e+-]*[0-9]|[0-9])|([a-z0-9_]+:[^\s;)]+|{_WORDS})(?!\w)|([A-Z]+)\b|('[^']*')))?"
)


def _argument(found: re.Match[str]) -> str:
    name = _NAMES.get(found[1], found[1].replace("-", "_"))
    number, word, sign, quoted = found.groups()[1:]
    if word is not None:
        tail = word[len(word.rstrip(",")) :]
        return f'{name}="{word.rstrip(",")}"{tail}'
    value = number or sign or quoted
    return name if value is None else f"{name}={value}"


def spoken(text: str) -> str:
    """The sentence with `epsilon=1` where it says `--epsilon 1`."""
    for phrase, words in _PHRASES:
        text = text.replace(phrase, words)
    return _OPTION.sub(_argument, text)
