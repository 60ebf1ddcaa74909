"""The sentences of an answer in which the words of the question stand."""

from hypothesis import given
from hypothesis import strategies as st

from gateway.toolkit.words import terms
from plugins.knowledge.memory.algorithms.passages import passages
from plugins.knowledge.memory.query.highlights import MAX_PARTS, best_window, highlight


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


LISTS = (
    (
        "Locker {} in the east hall was given to member {} with key {}.",
        "which member was given locker {} in the east hall",
    ),
    (
        "Irrigation valve number {} is painted in colour {} and stands in row {}.",
        "What colour is irrigation valve number {}?",
    ),
    ("Room {} has {} chairs, and they were counted by person {}.", "how many chairs has room {}"),
)


@given(st.sampled_from(LISTS), st.integers(30, 200), st.data())
def test_of_alike_sentences_the_whole_one_that_answers_is_shown(
    of: tuple[str, str], size: int, data: st.DataObject
) -> None:
    sentence, question = of
    said = [sentence.format(n, 300 + n * 7 % 200, 1000 + n) for n in range(size)]
    text = " ".join(said)
    meant = data.draw(st.integers(0, size - 1))
    passage = data.draw(st.integers(0, len(passages(text)) - 1))
    longest = data.draw(st.sampled_from([240, 800]))
    asked = frozenset(terms(question.format(meant)))
    start, end = best_window(text, asked, longest, passage)
    assert said[meant] in text[start:end]


def test_what_follows_the_words_is_shown_and_some_of_what_is_before() -> None:
    text = f"{'Oaks stand. ' * 100}The moss and the roses grow{' and grow' * 100}."
    start, end = best_window(text, frozenset(terms("moss and roses")), 300)
    place = text.index("The moss")
    assert start < place - 40
    assert end > place + 200
