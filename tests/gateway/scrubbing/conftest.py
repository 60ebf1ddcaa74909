"""What the tests of scrubbing share."""

from __future__ import annotations

import pytest

from gateway.scrubbing import contents
from gateway.scrubbing.rule_files import all_rules


@pytest.fixture
def read_anew() -> None:
    """The rules are read and made ready in this very test, and not taken from an earlier one."""
    all_rules.cache_clear()
    contents._scrubber.cache_clear()
