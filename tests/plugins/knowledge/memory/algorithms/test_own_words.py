import pytest
from hypothesis import given
from hypothesis import strategies as st

from plugins.knowledge.memory.algorithms.own_words import own_words


@pytest.mark.parametrize(
    ("text", "own"),
    [
        ('Ben said: "I go."', 'Ben said: "____."'),
        ("“We go,” he said.", "“______” he said."),
        ("It is called “Blue Door”.", "It is called “Blue Door”."),
        ('The 27" screen is here, and a 30" one.', 'The 27" screen is here, and a 30" one.'),
        ("The dogs' food is Ben's.", "The dogs' food is Ben's."),
        ('"I go. I stay.\n\nI love tea.', '"' + "_" * 12 + ".\n\nI love tea."),
        ("> I go\nI stay", "      \nI stay"),
        ("a\n```\nI go\n```\nb", "a\n   \n    \n   \nb"),
        ("a\n````\n```\nI go\n````\nb", "a\n    \n   \n    \n    \nb"),
        ("I don\u2019t", "I don't"),
    ],
)
def test_what_others_say_is_hidden(text: str, own: str) -> None:
    assert own_words(text) == own


@given(st.text(alphabet="aI .\"'“”«»`~>\n\r\u2028", max_size=80))
def test_every_word_keeps_its_place(text: str) -> None:
    assert len(own_words(text)) == len(text)
