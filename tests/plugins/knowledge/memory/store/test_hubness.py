"""No entry is made to be first for everything."""

import string
from collections.abc import Sequence

from hypothesis import given
from hypothesis import strategies as st

from gateway.toolkit.bm25 import rarity
from plugins.knowledge.memory.store.words import MIN_ENTRIES, term_ids, weights

words = st.lists(st.text(string.ascii_lowercase, min_size=4, max_size=9), min_size=3, unique=True)


def bm25(question: str, text: str) -> float:
    told = weights(text)
    return sum(told.get(term, 0.0) * rarity(MIN_ENTRIES, 2) for term in term_ids(question))


@given(words.filter(lambda some: len(some) <= 12), words, st.integers(40, 400), st.integers(1, 9))
def test_an_entry_with_every_word_comes_behind_one_that_answers(
    asked: Sequence[str], others: Sequence[str], filler: int, times: int
) -> None:
    """However often it says them: it has to say the words of all other questions too."""
    answer = " ".join(asked)
    everything = [*asked, *others, *(f"word{number}x" for number in range(filler))]
    stuffed = " ".join(everything * times)
    assert bm25(answer, stuffed) < bm25(answer, answer)
