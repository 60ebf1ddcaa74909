"""What speaks for it that an entry tells a new value of what an earlier one tells.

Rules name the plain cases (``contradictions.py``). Beyond them nothing proves a change, but several
things speak for one: both texts mean nearly the same, also without their values; the new one names
the value that held, or has a word of change; and what it brings is of the kind of what it leaves
out. Each is evidence of its own, and they are added up, in cosines.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping
from functools import lru_cache

from gateway.toolkit.words import STOP_WORDS, stem
from plugins.knowledge.memory.algorithms import vocabulary as known
from plugins.knowledge.memory.algorithms.claims import TOKEN

W_WITHOUT_VALUES = 0.65
"""What the cosine of the two texts without their values counts beside that of the texts."""
W_CUE = 0.13
"""What a word of change counts."""
W_NAMES_HELD = 0.15
"""What it counts that the new text names the values that held, and others of their kinds."""
W_OTHER_KIND = 0.18
"""What is taken off where values are left out, and none of their kinds is brought."""
W_OTHER_SUBJECT = 0.27
"""What more it takes to seem to replace a text that says the same of somebody else."""
SEEMS = 1.34
"""The sum from which on the new text seems to replace the earlier one."""

_NAME, _NUMBER, _DAY, _CLOCK, _LABEL = "name", "number", "day", "clock", "label"
_STANDS_FOR = {_NAME: "somebody", _DAY: "a day", _CLOCK: "a time"}
_TIME_OF_DAY = re.compile(r"\d{1,2}:\d\d(?:am|pm|h)?|\d{1,2}(?:am|pm|h)|noon|midnight")
_WHICH = frozenset({"first", "second", "third"})
_ORDINAL = re.compile(r"\d{1,2}(?:st|[nr]d|th)")


def evidence(new: str, old: str, cosine: float, without: float) -> float:
    """What speaks for it that a text tells a new value, in cosines.

    Args:
        new: the later text.
        old: the earlier one.
        cosine: of the two.
        without: the cosine of what :func:`without_values` makes of them.
    """
    held = set(filter(None, _terms(old).values()))
    come, gone = _values(new, old), _values(old, new)
    names_held = bool(held) and not gone and _alike(held, come)
    return (
        cosine
        + W_WITHOUT_VALUES * without
        + W_CUE * (known.CUE.search(new) is not None)
        + W_NAMES_HELD * names_held
        - W_OTHER_KIND * (bool(gone) and not _alike(gone, come))
    )


def is_of_another_kind(new: str, old: str) -> bool:
    """Whether each of two texts has values of its own, and none is of a kind of the other's.

    Args:
        new: the later text.
        old: the earlier one.
    """
    come, gone = _values(new, old), _values(old, new)
    return bool(come and gone) and not _alike(gone, come)


def _values(text: str, other: str) -> set[str]:
    """The kinds of the values that only the first of two texts has."""
    return {kind for term, kind in _terms(text).items() if kind and term not in _terms(other)}


@lru_cache(maxsize=2_000)
def without_values(text: str) -> str:
    """A text with a word for the kind of each value: "somebody lives in somebody since a day".

    Args:
        text: an entry.
    """
    said: list[str] = []
    for word, kind in _words(text):
        shown = _STANDS_FOR.get(kind, "a number" if _is_counted(kind) else word)
        if said[-1:] != [shown]:
            said.append(shown)
    return " ".join(said)


@lru_cache(maxsize=2_000)
def _terms(text: str) -> Mapping[str, str]:
    """The terms of a text, each with its kind; "" for what is no value."""
    return {
        stem(word.lower()): kind
        for word, kind in _words(text)
        if kind or word.lower() not in STOP_WORDS
    }


def _words(text: str) -> Iterator[tuple[str, str]]:
    words = [each.removesuffix("'s") for each in TOKEN.findall(text.replace("\u2019", "'"))]
    for before, word, after in zip(["", *words], words, [*words[1:], ""], strict=False):
        yield word, _kind(before, word, after)


def _kind(before: str, word: str, after: str) -> str:
    """The kind of value that a word is between two others; "" where it is none."""
    lowered = word.lower()
    kind = known.KINDS.get(stem(lowered), "")
    if _TIME_OF_DAY.fullmatch(lowered):
        return _CLOCK
    if kind == "number" or word[0].isdigit():
        return _kind_of_number(before, lowered, after)
    if kind and not (kind == "colour" and word[0].isupper() and before):
        return _DAY if kind == "month" else kind
    if before[:1].isdigit() and lowered in known.DIMENSIONS:
        return ""
    if _is_month(word):
        return _DAY if before else ""
    return _NAME if _is_name(before, word, after) else ""


def _kind_of_number(before: str, number: str, after: str) -> str:
    """What a number tells: a day, a time, a quantity, which one ("room 8"), or a mere number."""
    if _ORDINAL.fullmatch(number) or _is_month(before) or _is_month(after):
        return _DAY
    if after in ("am", "pm"):
        return _CLOCK
    if number in _WHICH or (number[0].isdigit() and _is_noun(before)):
        return known.DIMENSIONS.get(after.lower(), _LABEL)
    return known.DIMENSIONS.get(after.lower(), _NUMBER)


def _is_month(word: str) -> bool:
    return word == "May" or known.KINDS.get(stem(word.lower())) == "month"


def _is_name(before: str, word: str, after: str) -> bool:
    """Whether a word is a name; the first one of a text has a capital in any case."""
    lowered = word.lower()
    if not word[0].isupper() or lowered in STOP_WORDS or lowered in known.PREPOSITIONS:
        return False
    if before:
        return True
    if after[:1].isupper():
        return lowered not in known.VERBS
    told = after.endswith("s") or (not lowered.endswith("s") and _is_verb(after))
    return told and not _is_verb(lowered)


def _is_noun(word: str) -> bool:
    """Whether a word may be what a number tells which one it is."""
    lowered = word.lower()
    plain = lowered in STOP_WORDS or lowered in known.PREPOSITIONS or word[:1].isdigit()
    return bool(word) and not plain and not _is_verb(lowered) and not lowered.endswith("s")


def _is_verb(word: str) -> bool:
    return word in known.VERBS or word in known.AUXILIARIES


def _is_counted(kind: str) -> bool:
    return kind in (_NUMBER, _LABEL) or kind.startswith("@")


def _alike(some: Collection[str], others: Collection[str]) -> bool:
    """Whether there is a kind of one of them among the others: a number may tell any of these."""
    one, other = set(some), set(others)
    if one & other:
        return True
    return any(
        _NUMBER in a and any(_is_counted(kind) or kind in (_DAY, _CLOCK) for kind in b)
        for a, b in ((one, other), (other, one))
    )
