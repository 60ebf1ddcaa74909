"""Text to words, and words to the terms that keyword search compares."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Collection
from functools import lru_cache
from typing import Protocol

MAX_TERM_CHARACTERS = 40
"""Characters of the longest word that is a term; longer ones are addresses and the like."""

_WORD = re.compile(r"[^\W_]+(?:['\u2019][^\W_]+)?")
_STOP_WORDS = """
a about after again all also am an and any are as at be because been before being but by
can could did do does doing don down during each few for from further had has have having he
her here hers him his how i if in into is it its itself just may me might more most must my
myself no nor not now of off on once only or other our ours out over own s same shall she
should so some such t than that the their theirs them then there these they this those
through to too under until up upon us very was we were what when where which while who whom
why will with would you your yours
"""
STOP_WORDS = frozenset(_STOP_WORDS.split())
"""Words too common in English to tell texts apart."""


def words(text: str, *, fold: Callable[[str], str] = str.lower) -> list[str]:
    """The words of a text without their case, in order: what a name is compared by.

    Args:
        text: any prose.
        fold: takes the case away; ``str.casefold`` does it for more languages.
    """
    if not text.isascii():
        text = unicodedata.normalize("NFKC", text)
    return [word.replace("\u2019", "'").removesuffix("'s") for word in _WORD.findall(fold(text))]


def terms(
    text: str,
    stop_words: Collection[str] = STOP_WORDS,
    *,
    fold: Callable[[str], str] = str.lower,
) -> list[str]:
    """The terms of a text, in order and with repetitions: its words, as stems.

    Args:
        text: any prose.
        stop_words: words that are left out; those over :data:`MAX_TERM_CHARACTERS` are too.
        fold: as in :func:`words`.
    """
    found = words(text, fold=fold)
    return [
        stem(word) for word in found if word not in stop_words and len(word) <= MAX_TERM_CHARACTERS
    ]


class _Stemmer(Protocol):
    def stem_word(self, word: str) -> str: ...


@lru_cache(maxsize=50_000)
def stem(word: str) -> str:
    """A word without its ending, by the Snowball stemmer for English (Porter2).

    Words of other languages pass through it nearly as they are.
    """
    return _stemmer().stem_word(word)


@lru_cache(maxsize=1)
def _stemmer() -> _Stemmer:
    from py_rust_stemmers import SnowballStemmer  # type: ignore[import-untyped]

    stemmer: _Stemmer = SnowballStemmer("english")
    return stemmer
