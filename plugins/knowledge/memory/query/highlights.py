"""The sentences of an entry that contain the query's words, with the words marked ``**so**``."""

from __future__ import annotations

import re
from collections import Counter, deque
from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import NamedTuple

from gateway.toolkit.words import terms
from plugins.knowledge.memory.algorithms.passages import passages
from plugins.knowledge.memory.model.responses import Highlight

MAX_PARTS = 3
MAX_PART_CHARACTERS = 240
"""Characters of one part."""
MORE_WORDS = 2
"""By how many more words of a question another part is shown than that which is near to it."""
_REMEMBERED_CHARACTERS = 1_000
"""Characters of the longest text whose words are remembered, in about twenty times as many
bytes."""
_PART = re.compile(r"[^\n.!?]+[.!?]?")
_WORD = re.compile(r"[^\W_]+(?:['\u2019][^\W_]+)?")


class _Hit(NamedTuple):
    """A word that was asked for: where it stands, and which terms it is."""

    start: int
    end: int
    terms: frozenset[str]


class _Words(NamedTuple):
    """A text's words, as places and terms, and its parts: where each ends, and what is shown."""

    words: Sequence[tuple[int, int, frozenset[str]]]
    parts: Sequence[tuple[int, int, int]]


class _Part(NamedTuple):
    """A part in which words were hit: how many different terms they are, and what is shown."""

    terms: int
    start: int
    end: int
    hits: Sequence[_Hit]


def highlight(asked: frozenset[str], content: str, title: str | None = None) -> Highlight | None:
    """The parts that hold the most different words of a question, in their order.

    Args:
        asked: the terms of a question, which many entries are looked through for.
        content: what is cut into sentences and lines.
        title: the entry's title, if it has one.

    Returns:
        Them, or None where none of the words stands anywhere.
    """
    parts = list(_parts(content, _hits(content, asked)))
    best = sorted(range(len(parts)), key=lambda at: (-parts[at].terms, at))[:MAX_PARTS]
    shown = [_mark(content, *parts[at][1:]) for at in sorted(best)]
    found = _hits(title, asked) if title else []
    titled = [_mark(title, 0, len(title), found)] if title and found else []
    if not shown and not titled:
        return None
    return Highlight(content=shown, metadata={"title": titled} if titled else None)


def best_window(
    text: str, asked: frozenset[str], longest: int, passage: int = 0
) -> tuple[int, int]:
    """The part of a text in which the most different words of a question stand.

    Args:
        text: all of it.
        asked: the terms of the question.
        longest: characters of the part, at most.
        passage: the one that is near to the question: the part is of that, unless two words more
            stand together elsewhere.

    Returns:
        Where it begins and ends: all of a short text, the beginning where no word stands.
    """
    if len(text) <= longest:
        return 0, len(text)
    hits = _hits(text, asked)
    said, start = _fullest(hits, longest)
    for first, last in passages(text)[passage : passage + 1] if passage else ():
        inside, at = _fullest([hit for hit in hits if first <= hit.start < last], longest)
        if inside > said - MORE_WORDS:
            start = max(first, at)
    start = min(start, len(text) - longest)
    return start, start + longest


def _fullest(hits: Sequence[_Hit], longest: int) -> tuple[int, int]:
    """The most different words that stand together, and where what is shown of them begins."""
    lead = longest // 5  # what stands before a word says what it is about
    inside: deque[_Hit] = deque()
    counted: Counter[str] = Counter()
    best, start = 0, 0
    for hit in hits:
        inside.append(hit)
        counted.update(hit.terms)
        while inside and hit.end - inside[0].start > longest - lead:
            counted.subtract(inside.popleft().terms)
        if inside and (named := sum(1 for count in counted.values() if count)) > best:
            best, start = named, max(0, inside[0].start - lead)
    return best, start


def _hits(text: str, asked: frozenset[str]) -> list[_Hit]:
    return [
        _Hit(start, end, asked & named)
        for start, end, named in _words(text).words
        if not asked.isdisjoint(named)
    ]


def _parts(content: str, hits: Sequence[_Hit]) -> Iterator[_Part]:
    """The parts in which a word was hit."""
    at = 0
    for last, start, end in _words(content).parts:
        first = at
        while at < len(hits) and hits[at].start < last:
            at += 1
        if shown := [hit for hit in hits[first:at] if hit.end <= end]:
            named = shown[0].terms.union(*[hit.terms for hit in shown[1:]])
            yield _Part(len(named), start, end, shown)


def _mark(text: str, start: int, end: int, hits: Sequence[_Hit]) -> str:
    """What stands between two places of a text, its hits marked."""
    pieces = []
    for hit in hits:
        pieces += [text[start : hit.start], "**", text[hit.start : hit.end], "**"]
        start = hit.end
    return "".join([*pieces, text[start:end]])


def _words(text: str) -> _Words:
    """A text's words; those of short texts, which are answers again and again, are remembered."""
    return (_looked_at if len(text) <= _REMEMBERED_CHARACTERS else _looked_at.__wrapped__)(text)


@lru_cache(maxsize=500)
def _looked_at(text: str) -> _Words:
    words = [(*one.span(), named) for one in _WORD.finditer(text) if (named := _terms(one[0]))]
    parts = []
    for part in _PART.finditer(text):
        start = part.end() - len(part[0].lstrip())
        end = min(part.start() + len(part[0].rstrip()), start + MAX_PART_CHARACTERS)
        parts.append((part.end(), start, end))
    return _Words(words, parts)


@lru_cache(maxsize=20_000)
def _terms(word: str) -> frozenset[str]:
    """The terms of a word; the words of entries are few, and each is looked at often."""
    return frozenset(terms(word))
