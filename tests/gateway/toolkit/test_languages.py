"""A text's language, by what its author says, its script or its common words."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway.toolkit.languages import STEMMERS, language_of


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("How do I request leave from the office?", "en"),
        ("Wie beantrage ich die Elternzeit, und was ist mit dem Gehalt?", "de"),
        ("C\u00f3mo se pide un permiso para los padres de la empresa", "es"),
        ("Comment demander un cong\u00e9 pour les parents qui sont dans le pays", "fr"),
        ("Come si chiede il congedo per i genitori che sono in Italia", "it"),
        ("Hoe vraag ik het verlof aan voor de ouders van een kind", "nl"),
        ("\u041f\u0440\u0438\u0432\u0435\u0442 \u043a\u0430\u043a", "ru"),
        ("\u03ba\u03b1\u03bb\u03b7\u03bc\u03ad\u03c1\u03b1", "el"),
        ("\u0625\u062c\u0627\u0632\u0629", "ar"),
        ("budget 2024", "en"),
        ("", "en"),
        ("\u80b2\u5150\u4f11\u6687", "en"),
    ],
)
def test_a_text_shows_its_language(text: str, language: str) -> None:
    assert language_of(text) == language


@pytest.mark.parametrize(
    ("stated", "language"),
    [("es", "es"), ("pt-BR", "pt"), ("French", "fr"), ("nb", "no"), ("klingon", "en"), (7, "en")],
)
def test_what_the_author_says_goes_first(stated: object, language: str) -> None:
    assert language_of("the house of the people", stated) == language


@given(st.text(max_size=300), st.none() | st.text(max_size=10))
def test_every_text_has_a_language_with_a_stemmer(text: str, stated: str | None) -> None:
    assert language_of(text, stated) in STEMMERS
