"""Words and their stems, and the form in which names are compared.

A term is a lower-case word or number, stemmed by the Snowball stemmer for English (Porter2);
words of other languages pass through it nearly as they are, on both sides of a search alike.
"""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache
from typing import Protocol

_WORD = re.compile(r"[^\W_]+(?:['\u2019][^\W_]+)?")
_LONGEST = 40
_STOP_WORDS = """
a about after all also am an and any are as at be because been before being but by can could did
do does doing don during each for from further had has have having he her here hers him his how i
if in into is it its itself just let may me might more most must my myself need no nor not now of
off on once only or other our ours out over own please same shall she should so some such t than
that the their them then there these they this those through to too under until up us very want
was we were what when where which while who whom why will with would you your yours
"""
STOP_WORDS = frozenset(_STOP_WORDS.split())
"""Words that tell nothing of a task."""


def terms(text: str) -> list[str]:
    """The stems of a text, in order and with repetitions, without stop words.

    Words over 40 characters are left out: they are addresses and numbers of things.
    """
    found = (word for word in words(text) if word not in STOP_WORDS)
    return [_stem(word) for word in found if len(word) <= _LONGEST]


def words(text: str) -> list[str]:
    """The words of a text, in order, without case."""
    if not text.isascii():
        text = unicodedata.normalize("NFKC", text)
    return [
        word.replace("\u2019", "'").removesuffix("'s") for word in _WORD.findall(text.casefold())
    ]


def normal(name: str) -> str:
    """The form in which names are compared: its words, or where it has none, its characters."""
    return " ".join(words(name)) or " ".join(name.split())


class _Stemmer(Protocol):
    def stem_word(self, word: str) -> str: ...


@lru_cache(maxsize=20_000)
def _stem(word: str) -> str:
    return _stemmer().stem_word(word)


@lru_cache(maxsize=1)
def _stemmer() -> _Stemmer:
    from py_rust_stemmers import SnowballStemmer  # type: ignore[import-untyped]

    stemmer: _Stemmer = SnowballStemmer("english")
    return stemmer
