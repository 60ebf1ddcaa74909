"""Nothing is kept from one module of tests to the next."""

from __future__ import annotations

import pytest

from gateway.scrubbing import contents
from gateway.scrubbing.rules import all_rules


@pytest.fixture(autouse=True, scope="module")
def read_anew() -> None:
    """The rules are read and made ready by the code as it is now, not as it was when imported."""
    all_rules.cache_clear()
    contents._scrubber.cache_clear()
