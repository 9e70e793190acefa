"""The library's sentences name options of the command line; here they name Python's."""

from __future__ import annotations

import re

_VALUE = r"([\w.:=+\[\]-]*[\w.\]])"
_OPTIONS = (
    (r"make one with `tacit ledger FILE --init`", "make one with tacit.Ledger.create"),
    (r"ledger made with --init --unit person", 'ledger of tacit.Ledger.create(..., unit="person")'),
    (r"ledger with --init --for-tests", "ledger of tacit.Ledger.create(..., for_tests=True)"),
    (r"--input-changed 'reason'", 'tacit.Ledger(path, input_changed="reason")'),
    (r"--row-norm R\b", "data_norm=R"),
    (r"--row-norm", "data_norm="),
    (r"--label-bound( Y\b)?", "label_bounds=(lower, upper)"),
    (r"--label NAME", "label=NAME"),
    (r"--penalty l2:lambda=\.\.\.( above 0)?", "a C or alpha above 0"),
    (r"--penalty \S+", "another solver"),
    (r"--loss \S+", "another estimator"),
    (r"--no-intercept", "fit_intercept=False"),
    (r"--intercept", "fit_intercept=True"),
    (r"--decimal ,", 'decimal=","'),
    (r"--errors (model|robust)", r'errors="\1"'),
    (r"--solver " + _VALUE, r'solver="\1"'),
    (r"--rows (clip|unit)", r'rows="\1"'),
    (r"--(epsilon|delta) " + _VALUE, r"\1=\2"),
    (r"--seed", "random_state="),
    (r"--threads", "n_jobs="),
    (r"--person( COLUMN)?\b", "groups="),
)


def in_python(text: str) -> str:
    """The sentence with Python's names of its options."""
    for pattern, words in _OPTIONS:
        text = re.sub(pattern, words, text)
    return re.sub(r"--([a-z]+(?:-[a-z]+)*)", lambda found: found[1].replace("-", "_") + "=", text)
