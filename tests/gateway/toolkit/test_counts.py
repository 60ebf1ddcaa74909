"""One caller, two callers."""

from __future__ import annotations

import pytest

from gateway.toolkit.counts import counted


@pytest.mark.parametrize(
    ("count", "words", "said"),
    [
        (0, ("caller",), "0 callers"),
        (1, ("caller",), "1 caller"),
        (2_000, ("caller",), "2,000 callers"),
        (1, ("entity", "entities"), "1 entity"),
        (2, ("entity", "entities"), "2 entities"),
        (None, ("caller",), ""),
    ],
)
def test_a_number_stands_before_the_word_that_it_takes(
    count: object, words: tuple[str, ...], said: str
) -> None:
    assert counted(count, *words) == said
