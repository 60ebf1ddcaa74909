"""Whether a text is in another language than English, which is the one that the rules read."""

from __future__ import annotations

import re
import unicodedata

from gateway.toolkit.languages import DEFAULT, language_of
from gateway.toolkit.words import STOP_WORDS

MIN_WORDS = 4
"""Words of the shortest text whose language its words tell."""
MIN_WITHOUT_ENGLISH = 8
"""Words of a text without one that every English sentence has, from which on it is none."""
MAX_ENGLISH = 0.3
"""The share of English words that a text of another language may have: its own look like them."""
_WORD = re.compile(r"[^\W\d_]+")


def is_foreign(text: str) -> bool:
    """Whether a text is not English, as far as its letters and commonest words show.

    Args:
        text: what somebody said; of a few words in Latin letters nothing is known.
    """
    letters = [each for each in text if each.isalpha()]
    latin = sum(unicodedata.name(each, "").startswith("LATIN") for each in letters)
    if latin * 2 < len(letters):
        return True
    words = _WORD.findall(text.lower())
    if len(words) < MIN_WORDS:
        return False
    english = sum(each in STOP_WORDS for each in words) / len(words)
    if language_of(text) == DEFAULT:
        return not english and len(words) >= MIN_WITHOUT_ENGLISH
    return english < MAX_ENGLISH
