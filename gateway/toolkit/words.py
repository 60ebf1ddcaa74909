"""Text to words, and words to the terms that keyword search compares.

Words are what Unicode's segmentation (UAX #29) makes of letters, marks and digits. Scripts that
write no spaces, or hang particles on words (Chinese, Japanese, Korean, Thai, Lao, Khmer, Burmese),
are compared by pairs of characters, which needs no dictionary and finds a word inside a clause.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Collection, Iterator, Mapping
from functools import lru_cache
from itertools import pairwise
from typing import Protocol

from gateway.toolkit.languages import DEFAULT, STEMMERS

MAX_TERM_CHARACTERS = 40
"""Characters of the longest word that is a term; longer ones are addresses and the like."""

_ASCII_WORD = re.compile(r"[^\W_]+(?:'[^\W_]+)?")
_UNSPACED = (
    "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff"  # Thai and Lao, Burmese, Khmer
    "\u1100-\u11ff\u3005-\u3007\u3040-\u30ff\u3130-\u318f\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff"
    "\uac00-\ud7a3\uf900-\ufaff\U00020000-\U000323af"  # Hangul, Kana, Han
)
_HAN = "\u3005-\u3007\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U000323af"
_LONE_HAN = re.compile(f"(?<![{_HAN}])[{_HAN}](?![{_HAN}])")
_RUNS = re.compile(f"[{_UNSPACED}]+|[^{_UNSPACED}]+")
_STARTS_UNSPACED = re.compile(f"[{_UNSPACED}]")
_DROPPED = re.compile("[\u0591-\u05bd\u05bf-\u05c7\u0640\u064b-\u0652\u0670]")
"""Points of Hebrew, and vowel signs and stretchers of Arabic: written or not, the word is one."""
_ACCENTS = re.compile("[\u0300-\u036f]")
_MARKS = re.compile(
    f"[{_ACCENTS.pattern[1:-1]}{_DROPPED.pattern[1:-1]}\u00ad\u0600-\u0605\u061c\u06dd\u070f\u0890\u0891"
    "\u08e2\u180e\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb\U000e0001-\U000e007f]+"
)
"""What a word may be written with or without: accents, points, and what is not seen."""
_OTHER_DIGIT = re.compile(r"[^\D0-9]")
_LATIN = re.compile("[a-z]")
_LOOKALIKES: Mapping[int, int] = str.maketrans(
    "\u0430\u0441\u0435\u043e\u0440\u0445\u0443\u0456\u0458\u0455\u0501\u04bb\u043a\u043c\u0442"
    "\u03bf\u03b1\u03bd\u03c1\u03b9\u03ba\u03c4\u03c5",
    "aceopxyijsdhkmtoavpiktu",
)
"""Letters of Cyrillic and Greek that stand in Latin words to look like theirs."""
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

    Of scripts without spaces every character is one, so that a phrase is found in a clause.

    Args:
        text: any prose.
        fold: takes the case away; ``str.casefold`` does it for more languages.
    """
    return [
        piece
        for run in _runs(text, fold)
        for piece in (_characters(run) if _is_unspaced(run) else (_without_accents(run),))
    ]


def terms(
    text: str,
    stop_words: Collection[str] = STOP_WORDS,
    *,
    fold: Callable[[str], str] = str.lower,
    language: str = DEFAULT,
) -> list[str]:
    """The terms of a text, in order and with repetitions: its words, as stems.

    Args:
        text: any prose.
        stop_words: words that are left out; those over :data:`MAX_TERM_CHARACTERS` are too.
        fold: as in :func:`words`.
        language: whose stemmer is used, as ISO 639-1 has it (:mod:`gateway.toolkit.languages`).
    """
    if text.isascii():  # most texts are, and are asked for often
        return [
            stem(word, language)
            for word in _runs(text, fold)
            if word not in stop_words and len(word) <= MAX_TERM_CHARACTERS
        ]
    found = []
    for run in _runs(text, fold):
        if _is_unspaced(run):
            found += _pairs(run)
        elif run not in stop_words and len(run) <= MAX_TERM_CHARACTERS:
            found.append(_without_accents(stem(run, language)))
    return found


@lru_cache(maxsize=256)
def unmarked(text: str) -> str:
    """A text without case and marks: of each of its words it holds the unmarked form.

    A quick look at a text that need not be cut into words, as it does not hold what is sought.

    Args:
        text: any prose, or a word of :func:`words`.
    """
    if text.isascii():
        return text.lower()
    text = _MARKS.sub("", unicodedata.normalize("NFKD", text)).replace("\u2019", "'")
    text = _OTHER_DIGIT.sub(lambda match: str(unicodedata.digit(match[0])), text)
    text = text.lower()
    for one, other in _LOOKALIKES.items():  # several times as quick as str.translate
        text = text.replace(chr(one), chr(other))
    return text


class _Stemmer(Protocol):
    def stem_word(self, word: str) -> str: ...


@lru_cache(maxsize=50_000)
def stem(word: str, language: str = DEFAULT) -> str:
    """A word without its ending, by the Snowball stemmer of a language (Porter2 for English).

    Words of other languages pass through it nearly as they are.
    """
    return _stemmer(language).stem_word(word)


def _runs(text: str, fold: Callable[[str], str]) -> Iterator[str]:
    """The words, each of spaced scripts alone, or of unspaced ones alone."""
    if text.isascii():
        for word in _ASCII_WORD.findall(fold(text)):
            yield word.removesuffix("'s")
        return
    for word in _words_of_all_scripts().findall(fold(_plain(text))):
        for run in _RUNS.findall(word):
            yield run if _is_unspaced(run) else _latin(run.removesuffix("'s"))


def _plain(text: str) -> str:
    """The text in the form NFKC, without what is not seen and what need not be written."""
    text = unicodedata.normalize("NFKC", text).replace("\u2019", "'")
    text = "".join(one for one in text if unicodedata.category(one) != "Cf")
    return _DROPPED.sub("", text)


def _latin(word: str) -> str:
    """A word with the digits 0 to 9, and no letters that only look Latin."""
    if word.isascii():
        return word
    word = "".join(str(unicodedata.digit(one)) if one.isdecimal() else one for one in word)
    return word.translate(_LOOKALIKES) if _LATIN.search(word) else word


def _without_accents(word: str) -> str:
    if word.isascii():
        return word
    return unicodedata.normalize("NFC", _ACCENTS.sub("", unicodedata.normalize("NFD", word)))


def _is_unspaced(run: str) -> bool:
    return not run.isascii() and _STARTS_UNSPACED.match(run) is not None


def _characters(run: str) -> list[str]:
    """Each character with the marks on it."""
    found: list[str] = []
    for one in run:
        if found and unicodedata.category(one).startswith("M"):
            found[-1] += one
        else:
            found.append(one)
    return found


def _pairs(run: str) -> list[str]:
    """Every two neighbours; of a single character itself.

    Between Kana a single Han character is a word of Japanese, and one by itself, too.
    """
    characters = _characters(run)
    if len(characters) == 1:
        return characters
    return [one + other for one, other in pairwise(characters)] + _LONE_HAN.findall(run)


@lru_cache(maxsize=1)
def _words_of_all_scripts() -> re.Pattern[str]:
    import regex  # type: ignore[import-untyped]

    part = r"[\p{L}\p{N}][\p{L}\p{N}\p{M}]*"
    pattern: re.Pattern[str] = regex.compile(rf"{part}(?:'{part})?")
    return pattern


@lru_cache(maxsize=len(STEMMERS))
def _stemmer(language: str) -> _Stemmer:
    from py_rust_stemmers import SnowballStemmer  # type: ignore[import-untyped]

    stemmer: _Stemmer = SnowballStemmer(STEMMERS.get(language, STEMMERS[DEFAULT]))
    return stemmer
