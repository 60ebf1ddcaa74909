"""The sentences of an answer in which the words of the question stand."""

from hypothesis import given
from hypothesis import strategies as st

from gateway.toolkit.words import terms
from plugins.knowledge.memory.query.highlights import MAX_PARTS, highlight


def marked(asked: str, content: str) -> list[str]:
    found = highlight(frozenset(terms(asked)), content)
    return [] if found is None else found.content


def test_the_words_are_marked_in_the_sentences_that_have_most_of_them() -> None:
    text = "The moss grows.\n  Roses need water! Nobody waters moss, but roses. Oaks stand."
    assert marked("water the roses", text) == [
        "**Roses** need **water**!",
        "Nobody **waters** moss, but **roses**.",
    ]
    assert marked("fern", text) == []


def test_a_word_that_is_two_terms_is_marked_once() -> None:
    assert marked("\u6c34\u66dc\u65e5", "\u6c34\u66dc\u65e5") == ["**\u6c34\u66dc\u65e5**"]


WORDS = ("rose", "roses", "moss", "the", "oak's", "fern.", "tulip!", "\n", "vine?")


@given(st.lists(st.sampled_from(WORDS), max_size=60), st.lists(st.sampled_from(WORDS), max_size=4))
def test_a_short_text_and_the_same_as_a_part_of_a_long_one_are_marked_alike(
    words: list[str], asked: list[str]
) -> None:
    short, question = " ".join(words), " ".join(asked)
    long = short + "\n" + "lichen " * 200
    shown = marked(question, short)
    assert len(shown) <= MAX_PARTS
    assert marked(question, long) == shown == marked(question, short)
