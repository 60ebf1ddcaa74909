"""Text to terms: the words that keyword search compares, without endings and filler words.

A term is a lower-case word or number, stemmed by the Snowball stemmer for English (Porter2).
"""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache
from typing import Protocol

_WORD = re.compile(r"[^\W_]+(?:['\u2019][^\W_]+)?")
_LONGEST = 40

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
"""Words too common in English to tell documents apart."""


def terms(text: str) -> list[str]:
    """The terms of a text, in order and with repetitions.

    Args:
        text: any prose.

    Returns:
        Stems; stop words and words over 40 characters are left out.
    """
    return [_stem(word) for word in words(text) if word not in STOP_WORDS and len(word) <= _LONGEST]


def words(text: str) -> list[str]:
    """The lower-case words of a text, in order: what a name is compared by."""
    if not text.isascii():
        text = unicodedata.normalize("NFKC", text)
    return [word.replace("\u2019", "'").removesuffix("'s") for word in _WORD.findall(text.lower())]


class _Stemmer(Protocol):
    def stem_word(self, word: str) -> str: ...


@lru_cache(maxsize=50_000)
def _stem(word: str) -> str:
    return _stemmer().stem_word(word)


@lru_cache(maxsize=1)
def _stemmer() -> _Stemmer:
    from py_rust_stemmers import SnowballStemmer  # type: ignore[import-untyped]

    stemmer: _Stemmer = SnowballStemmer("english")
    return stemmer
