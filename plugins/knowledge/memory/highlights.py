"""The parts of an entry in which the question's words stand, with the words marked ``**so**``."""

from __future__ import annotations

import re
from functools import lru_cache

from plugins.knowledge.memory.responses import Highlight
from plugins.knowledge.retrieval.terms import terms

MOST = 3
LONGEST = 240
"""Characters of one part."""
_PART = re.compile(r"[^\n.!?]+[.!?]?")
_WORD = re.compile(r"[^\W_]+(?:['\u2019][^\W_]+)?")


def highlighted(question: str, content: str, title: str | None = None) -> Highlight | None:
    """The parts that hold the most different words of a question, in their order.

    Args:
        question: whose words are looked for; endings make no difference.
        content: what is cut into sentences and lines.
        title: the entry's title, if it has one.

    Returns:
        Them, or None where none of the words stands anywhere.
    """
    asked = frozenset(terms(question))
    parts = [(part, found) for part in _parts(content) if (found := _named(part, asked))]
    best = sorted(range(len(parts)), key=lambda at: (-len(parts[at][1]), at))[:MOST]
    shown = [_marked(parts[at][0], asked) for at in sorted(best)]
    titled = [_marked(title, asked)] if title and _named(title, asked) else []
    if not shown and not titled:
        return None
    return Highlight(content=shown, metadata={"title": titled} if titled else None)


def _parts(content: str) -> list[str]:
    return [part for found in _PART.finditer(content) if (part := found[0].strip()[:LONGEST])]


def _named(part: str, asked: frozenset[str]) -> set[str]:
    """Which of the words a part has."""
    return {term for word in _WORD.findall(part) for term in _terms(word) if term in asked}


def _marked(part: str, asked: frozenset[str]) -> str:
    return _WORD.sub(
        lambda word: word[0] if asked.isdisjoint(_terms(word[0])) else f"**{word[0]}**", part
    )


@lru_cache(maxsize=20_000)
def _terms(word: str) -> tuple[str, ...]:
    """The terms of a word; the words of entries are few, and each is asked for often."""
    return tuple(terms(word))
