"""Which talk is not English: its rules alone are read, and names of other languages are in it."""

import pytest

from plugins.knowledge.memory.algorithms.extraction import RuleExtractor, Turn
from plugins.knowledge.memory.algorithms.foreign import has_foreign, is_foreign

pytestmark = pytest.mark.anyio
FOREIGN = [
    "Vielleicht treffen wir uns am Freitag in Berlin.",
    "Ich glaube nicht, dass wir am Montag in K\u00f6ln sind.",
    "Wenn es regnet, sind wir am Dienstag in Bonn.",
    "Ana sagt, am Montag wird gestreikt.",
    "Kommt Tom am Sonntag",
    "Treffen am Freitag",
    "Was am Montag in Bonn war",
    "Misschien is de huur 400 euro.",
    "De vergadering is niet op Vrijdag, denk ik.",
    "Ana zegt: de huur is 400 euro.",
    "Quiz\u00e1s has visto a Ana el lunes.",
    "Peut-\u00eatre Paul use Redis.",
    "Tal\u00e1n B\u00e9la is megy Budapestre.",
]
ENGLISH = [
    "Ben lives in De Haag.",
    "La Paz is at 3,600 metres.",
    "Los Angeles is in California.",
    "Mr. Van der Berg is 63.",
    "Juan de la Cruz runs Casa del Mar in Sevilla.",
    "Caf\u00e9 am Park is on 5 Mill Road.",
    "El Ni\u00f1o is back in May.",
    "I am in K\u00f6ln on Friday.",
    "The shop opens at 9 am on Mondays.",
    "Rent is 650 euros.",
    "Ana M\u00fcller is 30 years old.",
    "Though I hate mornings, I prefer early meetings.",
]


@pytest.mark.parametrize("text", FOREIGN)
async def test_nothing_is_found_in_another_language_whose_verbs_look_english(text: str) -> None:
    assert is_foreign(text)
    assert await RuleExtractor()([Turn("Udo", text)]) == []


@pytest.mark.parametrize("text", ENGLISH)
async def test_english_with_names_of_other_languages_is_read(text: str) -> None:
    assert not has_foreign(text)
    assert [each.what for each in await RuleExtractor()([Turn("Udo", text)])] == [text]


@pytest.mark.parametrize("text", FOREIGN)
async def test_the_english_sentences_of_a_turn_are_read_beside_others(text: str) -> None:
    turn = Turn("Udo", f"{text}. The rent is 900 euros. See you on Friday!")
    assert has_foreign(turn.text)
    assert [each.what for each in await RuleExtractor()([turn])] == ["The rent is 900 euros."]


def test_what_somebody_quotes_from_another_language_is_not_their_own() -> None:
    assert not has_foreign('The sign says "Wir haben am Montag nicht offen" in red.')
