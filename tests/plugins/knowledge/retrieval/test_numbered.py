"""Documents go by numbers, in whatever way these are written."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from plugins.knowledge.retrieval.numbered import numbers

KINDS = st.sampled_from(("EIP", "rfc", "ADR", "Week", "решение", "決定"))
SIGNS = st.sampled_from(("", " ", "-", "_", "#", " #"))


@given(KINDS, SIGNS, st.integers(0, 999_999), st.integers(0, 3))
def test_a_number_is_the_same_however_it_is_written(
    kind: str, sign: str, number: int, zeros: int
) -> None:
    written = f"{kind.upper()}{sign}{'0' * zeros}{number}"
    assert numbers(f"What does {written} say?") == numbers(f"{kind.lower()}-{number}")
    assert numbers(written) == {f"{kind.lower()} {number}"}


@pytest.mark.parametrize(
    "text",
    ["notes-2024-05-01", "release 1.2", "v2", "sha256sum", "EIP", "1559", "in 10/12", "1 2", "a-1"],
)
def test_dates_versions_and_words_with_figures_are_none(text: str) -> None:
    assert not numbers(text)


def test_all_that_a_question_names_are_found() -> None:
    assert numbers("EIP-1559, eip 20 (and RFC7519)") == {"eip 1559", "eip 20", "rfc 7519"}
