"""Whether a text is in another language than English, which is the one that the rules read."""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache

from gateway.toolkit.languages import DEFAULT, language_of
from gateway.toolkit.words import STOP_WORDS
from plugins.knowledge.memory.algorithms.own_words import own_words
from plugins.knowledge.memory.algorithms.sentences import sentences
from plugins.knowledge.memory.algorithms.vocabulary import VERBS

MIN_WORDS = 4
"""Words of the shortest text whose language its words tell."""
MIN_WITHOUT_ENGLISH = 8
"""Words of a text without one that every English sentence has, from which on it is none."""
MAX_ENGLISH = 0.3
"""The share of English words that a text of another language may have: its own look like them."""
MIN_TOLD = 3
"""Words of the shortest text that a word which English has not tells of."""
_WORD = re.compile(r"[^\W\d_]+")
_TOKEN = re.compile(r"[^\W_]+(?:['\u2019-][^\W_]+)*")


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


_JOINS_NAMES = _words("de la del di da du van von der den")
"""What stands in names: "Juan de la Cruz"."""
_SHORTENED = re.compile(r"n['\u2019]t$|(?<=[a-z])['\u2019](?:re|ve|ll|m)$", re.IGNORECASE)
"""How shortened words of English end: "don't", "we'll"."""
_SHARED = _words(
    "a all am an as at be begin by call can charge charges dates do for get go had has have he her "
    "here hold i if in is lies live me meet most no of on once or over own same so start store "
    "stores to under use want was we will open attends pays"
)
"""Words of English that others write alike: "am Montag", "de huur is", "was Ana sagt"."""
_ENGLISH = frozenset((*STOP_WORDS, *VERBS)) - _SHARED | frozenset(
    f"{day}day{more}"
    for day in ("mon", "tues", "wednes", "thurs", "fri", "satur", "sun")
    for more in ("", "s")
)
_OTHERS = _words(
    """
    ich wir uns ihr mich mir dich nicht kein keine nie niemand vielleicht wenn dass da\u00df weil
    aber oder ist sind wird werden wurde haben kann soll sagt sagte glaube denke heute ein eine
    einen einem einer mein meine dein unser unsere schon noch nur wie wer wann warum hei\u00dft
    angeblich wahrscheinlich
    ik jij wij het een niet geen nooit misschien dat maar zijn heb heeft hebben wordt moet zegt zei
    denk voor ook wel waar wanneer mijn onze deze zou waarschijnlijk volgens
    je nous vous ils elle elles ne pas une est sont avec mais peut-\u00eatre pense dit jamais cette
    notre selon quand
    que por pero est\u00e1 est\u00e1n quiz\u00e1s quiz\u00e1 talvez nunca creo cuando seg\u00fan
    che \u00e8 sono forse dicono credo quando secondo uma n\u00e3o s\u00e3o mas acho diz segundo
    jeg det ikke ikkje har m\u00e5ske kanske kanskje aldrig aldri hvis \u00e4r inte jag \u00e5
    az \u00e9s hogy nem egy csak tal\u00e1n ez
    """
)
"""Words that ask, deny or doubt in other languages whose verbs look like English ones."""


def has_foreign(text: str) -> bool:
    """Whether a text, or a sentence of it, is not English; what is quoted in it does not count.

    Args:
        text: a turn of a conversation.
    """
    own = own_words(text)
    return is_foreign(own) or any(map(is_foreign, sentences(own)))


def has_english(text: str) -> bool:
    """Whether a text has a word that only English has.

    Args:
        text: any prose.
    """
    return any(map(_is_english, _TOKEN.findall(text)))


@lru_cache(maxsize=256)  # what somebody writes is compared with dozens of entries
def is_foreign(text: str) -> bool:
    """Whether a text is not English, as far as its letters and commonest words show.

    Args:
        text: what somebody said; of a few words in Latin letters nothing is known.
    """
    if _is_in_other_letters(text) or _told_by_others(text):
        return True
    words = _WORD.findall(_without_names(text).lower())
    if len(words) < MIN_WORDS or has_english(text):
        return False
    english = sum(each in STOP_WORDS for each in words) / len(words)
    if language_of(text) == DEFAULT:
        return not english and len(words) >= MIN_WITHOUT_ENGLISH
    return english < MAX_ENGLISH


def _is_in_other_letters(text: str) -> bool:
    """Whether most letters of a text are not Latin."""
    if text.isascii():
        return False
    letters = [each for each in text if each.isalpha()]
    latin = sum(unicodedata.name(each, "").startswith("LATIN") for each in letters)
    return latin * 2 < len(letters)


def _without_names(text: str) -> str:
    """A text without words that have capitals, but for the first, and without what joins these."""
    if text.isupper():
        return text
    kept: list[str] = []
    before_name = False
    for at, token in reversed(list(enumerate(_TOKEN.findall(text)))):
        is_name = token[0].isupper() and (before_name or at > 0)
        before_name = is_name or (before_name and token in _JOINS_NAMES)
        if not before_name:
            kept.append(token)
    return " ".join(reversed(kept))


def _told_by_others(text: str) -> bool:
    """Whether a text has more words that English has not than ones that only English has."""
    tokens = _TOKEN.findall(text)
    if len(tokens) < MIN_TOLD:
        return False
    others = sum(_is_other(tokens, at) for at in range(len(tokens)))
    return others > sum(map(_is_english, tokens))


def _is_other(tokens: list[str], at: int) -> bool:
    """Whether a word is none of English; of those with capitals, which may be names, the first."""
    token = tokens[at]
    if not (token.islower() or (at == 0 and token[1:].islower())):
        return False
    if token.lower() == "am":  # "I am", "9 am" and "the Hotel am See is" are English
        around = (*tokens[max(0, at - 1) : at], *tokens[at + 1 : at + 2])
        return "is" not in tokens and not any(
            each in ("I", "i") or each.isdigit() for each in around
        )
    return token.lower() in _OTHERS


def _is_english(word: str) -> bool:
    return word == "I" or word.lower() in _ENGLISH or _SHORTENED.search(word) is not None
