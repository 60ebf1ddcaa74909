"""Documents go by numbers, in whatever way these are written."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from plugins.knowledge.retrieval.numbered import numbers, numbers_of
from tests.plugins.knowledge.retrieval.entries import at

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
    [
        "notes-2024-05-01",
        "v2",
        "sha256sum",
        "EIP",
        "1559",
        "in 10/12",
        "1 2",
        "a-1",
        "v1.2rc",
        "1.",
    ],
)
def test_dates_and_words_with_figures_are_none(text: str) -> None:
    assert not numbers(text)


@pytest.mark.parametrize(
    ("path", "asked"),
    [
        ("proposals/eip-1559.md", "EIPs 1559"),
        ("docs/decisions/0012-one-database.md", "ADR-12"),
        ("docs/decisions/0012-one-database.md", "decision 12"),
        ("docs/adr/0012-one-database.md", "decision 0012"),
        ("chapters/03_money.md", "chapter 3"),
        ("releases/3.12.md", "what is new in 3.12?"),
        ("releases/release-v1.30.2.md", "Version 1.30.2"),
    ],
)
def test_a_document_goes_by_the_number_of_its_file(path: str, asked: str) -> None:
    assert numbers(asked) <= {*numbers_of(at(path))}


@pytest.mark.parametrize("path", ["notes/2024-05-01-bread.md", "0012.md", "notes/the-bread-12.md"])
def test_a_file_that_has_a_date_or_no_kind_goes_by_none(path: str) -> None:
    assert not [*numbers_of(at(path))]


def test_all_that_a_question_names_are_found() -> None:
    assert numbers("EIP-1559, eip 20 (and RFC7519)") == {"eip 1559", "eip 20", "rfc 7519"}
    assert numbers("from v3.11 to 3.12.") == {"v 3.11", "v 3.12"}
