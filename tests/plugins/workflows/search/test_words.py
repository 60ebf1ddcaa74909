"""Words, stems and the form in which names are compared."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from plugins.workflows.search.words import STOP_WORDS, normal, terms


def test_terms_are_stems_without_stop_words() -> None:
    assert terms("The gardener's reviews are reviewed!") == ["garden", "review", "review"]
    assert terms("what to do with it") == []
    assert terms("x" * 41) == []


def test_names_are_compared_without_case_and_punctuation() -> None:
    assert normal("Quick-Fix  Workflow") == normal("quick fix workflow") == "quick fix workflow"
    assert normal("The Do") == "the do"
    assert normal("!! ?") == "!! ?"
    assert normal("Stra\u00dfe") == normal("STRASSE")


@given(st.text())
def test_any_text_has_terms_none_of_them_a_stop_word_as_it_was_written(text: str) -> None:
    assert all(term and term == term.strip() for term in terms(text))
    assert not any(terms(word) for word in STOP_WORDS)
    assert normal(normal(text)) == normal(text)
