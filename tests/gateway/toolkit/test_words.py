"""What is said the same way is the same term."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway.toolkit.words import MAX_TERM_CHARACTERS, STOP_WORDS, stem, terms, words


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("The Gardens' tools, and the garden's tool", ["garden", "tool", "garden", "tool"]),
        ("don\u2019t re-use snake_case", ["don't", "re", "use", "snake", "case"]),
        ("\ufb01nding \uff21\uff22", ["find", "ab"]),
        ("of the and", []),
        (
            "x" * MAX_TERM_CHARACTERS + " " + "y" * (MAX_TERM_CHARACTERS + 1),
            ["x" * MAX_TERM_CHARACTERS],
        ),
        ("2024 E-4711", ["2024", "e", "4711"]),
        ("", []),
    ],
)
def test_terms_are_stems_without_stop_words(text: str, found: list[str]) -> None:
    assert terms(text) == found


def test_stop_words_and_case_are_the_callers() -> None:
    assert terms("Tell me the STRASSE", frozenset({"tell"})) == ["me", "the", "strass"]
    assert words("Stra\u00dfe") == ["stra\u00dfe"]
    assert words("Stra\u00dfe", fold=str.casefold) == ["strasse"]


@given(st.text(max_size=200))
def test_words_do_not_depend_on_case_or_on_what_is_between(text: str) -> None:
    found = [word for word in words(text) if word.isascii()]
    assert words(" \n".join(found).upper()) == found


@given(st.lists(st.sampled_from(["plant", "planting", "the", "rows", "of"]), max_size=20))
def test_a_term_is_there_as_often_as_its_word(chosen: list[str]) -> None:
    found = terms(" ".join(chosen))
    assert found == [stem(word) for word in chosen if word not in STOP_WORDS]
