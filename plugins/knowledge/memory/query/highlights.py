"""The sentences of an entry that contain the query's words, with the words marked ``**so**``."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections import Counter, deque
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import groupby
from operator import attrgetter
from typing import NamedTuple

from gateway.toolkit.words import terms
from plugins.knowledge.memory.algorithms.passages import passages
from plugins.knowledge.memory.model.responses import Highlight

MAX_PARTS = 3
"""Parts of an entry that are shown: those with most words of the query."""
MAX_PART_CHARACTERS = 240
"""Characters of one part."""
MORE_WORDS = 2
"""By how many more words of a question another part is shown than that which is near to it."""
RARER = 10
"""How much more often another word of the question stands in a text than one that is rare in it."""
LEAD = 5
"""What part of what is shown may stand before the words, to say what they are about: a fifth."""
_REMEMBERED_CHARACTERS = 1_000
"""Characters of the longest text whose words are remembered, in about twenty times as many
bytes."""
_PART = re.compile(r"[^\n.!?]+[.!?]?")
_WORD = re.compile(r"[^\W_]+(?:['\u2019][^\W_]+)?")


class _Hit(NamedTuple):
    """A word that was asked for: where it stands, in which part, and which terms it is."""

    start: int
    end: int
    part: int
    terms: frozenset[str]


class _Span(NamedTuple):
    """Words that stand together: how much they count, and the first and the last of them."""

    worth: int
    first: _Hit
    last: _Hit

    @property
    def fitness(self) -> tuple[int, int, int]:
        """How good it is: more words first, then fewer sentences, then the tighter.

        One word alone is as tight however long it is.
        """
        first, last = self.first, self.last
        return self.worth, first.part - last.part, first.start - last.start


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
            stand together elsewhere, or one that is rare.

    Returns:
        Where it begins and ends: all of a short text, the beginning where no word stands.
    """
    if len(text) <= longest:
        return 0, len(text)
    hits = _hits(text, asked)
    worth = _worth(hits)
    best, least = _fullest(hits, worth, longest), 0
    for begin, last in passages(text)[passage : passage + 1] if passage else ():
        inside = _fullest([hit for hit in hits if begin <= hit.start < last], worth, longest, begin)
        if inside.worth > best.worth - MORE_WORDS:
            best, least = inside, begin
    # Most of the room is behind: what somebody asks for follows the words that they ask with.
    first = best.first.start
    before = min(longest // LEAD, (longest - (best.last.end - first)) // 3)
    start = min(max(least, first - before), len(text) - longest)
    return start, start + longest


def _worth(hits: Sequence[_Hit]) -> Mapping[str, int]:
    """How much each term counts: more words for one that is rare beside others of the question.

    Of a list of alike sentences that one says which is meant, and no model tells 90 from 91.
    """
    often = Counter(term for hit in hits for term in hit.terms)
    most = max(often.values(), default=0)
    return {term: MORE_WORDS if count * RARER <= most else 1 for term, count in often.items()}


def _fullest(hits: Sequence[_Hit], worth: Mapping[str, int], longest: int, at: int = 0) -> _Span:
    """Where the most different words stand together: of several such places the tightest.

    Args:
        hits: the words.
        worth: how much each of their terms counts.
        longest: characters of what is shown.
        at: where the text of these words begins.
    """
    inside: deque[_Hit] = deque()
    counted: Counter[str] = Counter()
    none = _Hit(at, at, 0, frozenset())
    best = _Span(0, none, none)
    for hit in hits:
        inside.append(hit)
        counted.update(hit.terms)
        while inside and (
            hit.end - inside[0].start > longest - longest // LEAD
            or all(counted[term] > 1 for term in inside[0].terms)  # it comes again
        ):
            counted.subtract(inside.popleft().terms)
        if inside:
            named = sum(worth[term] for term, count in counted.items() if count)
            best = max(best, _Span(named, inside[0], hit), key=lambda span: span.fitness)
    return best


def _hits(text: str, asked: frozenset[str]) -> list[_Hit]:
    known = _words(text)
    ends = [last for last, _, _ in known.parts]
    return [
        _Hit(start, end, bisect_right(ends, start), asked & named)
        for start, end, named in known.words
        if not asked.isdisjoint(named)
    ]


def _parts(content: str, hits: Sequence[_Hit]) -> Iterator[_Part]:
    """The parts in which a word was hit."""
    places = _words(content).parts
    for part, inside in groupby(hits, attrgetter("part")):
        _, start, end = places[part]
        if shown := [hit for hit in inside if hit.end <= end]:
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
