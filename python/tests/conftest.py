"""Every test is a process of its own as far as earlier fits are concerned."""

import pytest

from tacit import _repeats


@pytest.fixture(autouse=True)
def no_earlier_fits():
    _repeats.forget()
