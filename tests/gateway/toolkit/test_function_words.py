"""What words without a meaning of their own tell: the language of a sentence."""

from __future__ import annotations

import pytest

from gateway.toolkit.function_words import FUNCTION_WORDS, told_language
from gateway.toolkit.languages import STEMMERS


@pytest.mark.parametrize(
    ("question", "language"),
    [
        ("Wie repariere ich ein Fahrrad?", "de"),
        ("¿Cómo se arregla una bicicleta?", "es"),
        ("Como se arregla una bicicleta", "es"),
        ("Comment réparer un vélo ?", "fr"),
        ("Come si ripara una bicicletta?", "it"),
        ("Hoe kan ik mijn fiets maken?", "nl"),
        ("Hogyan kell egy biciklit javítani?", "hu"),
        ("How do I repair a bicycle?", "en"),
        ("Pod nedir ve node?", "tr"),
        ("\u041a\u0430\u043a \u0438 \u0433\u0434\u0435 \u0447\u0438\u043d\u044f\u0442?", "ru"),
        ("\u042f\u043a \u0446\u0435 \u043f\u0440\u0430\u0446\u044e\u0454?", "ru"),
        ("\u0686\u06af\u0648\u0646\u0647 \u0633\u0627\u06cc\u062a \u0631\u0627?", "ar"),
        ("Who is in Die Zauberflöte?", "en"),
    ],
)
def test_a_question_tells_its_language(question: str, language: str) -> None:
    assert told_language(question) == language


@pytest.mark.parametrize("text", ["", "DAO", "Die Hard", "Casa Verde", "Quorum Budget Haus"])
def test_a_name_or_words_alone_tell_none(text: str) -> None:
    assert told_language(text) is None


def test_every_language_has_a_stemmer_and_its_words_in_small_letters() -> None:
    assert FUNCTION_WORDS.keys() <= STEMMERS.keys()
    assert all(word == word.lower() for own in FUNCTION_WORDS.values() for word in own)
