"""Where sentences end: at a full stop, and not at the one of a title, as in "Dr. Jones"."""

from __future__ import annotations

import re
from collections.abc import Iterator

from gateway.toolkit.words import STOP_WORDS

_BREAK = re.compile(r"(?<=[.!?;\n])\s+|(?<=[.!?][\"\u201d\u00bb])\s+(?=[A-Z\"\u201c\u00ab])|\n+")
_SHORT = re.compile(
    r"(?:^|[\s(\"'])(?:mr|mrs|ms|mx|dr|prof|rev|hon|capt|sgt|lt|gen|e\.g|i\.e|vs|approx|ca)\.$",
    re.IGNORECASE,
)
"""Words behind whose full stop the sentence goes on."""
_MAYBE_SHORT = re.compile(r"(?:^|[\s(.])(?:St|Mt|Ft|[A-HJ-Z])\.$")
"""The same where a name follows: "J. Smith" and "St. Mary's", but "Plan B. We begin"."""
_NUMBERED = re.compile(r"(?:^|[\s(])(?:no|nos|art|fig|vol|p|pp)\.$", re.IGNORECASE)
"""The same where a number follows: "No. 5"."""
_MAYBE_LAST = re.compile(r"(?:^|[\s(\d])(?:[ap]\.m|etc|jr|sr|inc|ltd|co)\.$", re.IGNORECASE)
"""The same where no capital follows: "at 8 a.m. on Mondays"."""
_NEXT = re.compile(r"[\w'\u2019]+")
_LONGEST = 12
"""Characters before a full stop that tell whether it is one of those."""


def spans(text: str) -> Iterator[tuple[int, int]]:
    """Where each sentence of a text begins and ends, without the space around it.

    Args:
        text: any prose.
    """
    begin = 0
    for gap in _BREAK.finditer(text):
        if gap.start() >= begin and not _goes_on(text, gap):
            yield from _stripped(text, begin, gap.start())
            begin = gap.end()
    yield from _stripped(text, begin, len(text))


def sentences(text: str) -> list[str]:
    """The sentences of a text, in order.

    Args:
        text: any prose.
    """
    return [text[begin:end] for begin, end in spans(text)]


def _stripped(text: str, begin: int, end: int) -> Iterator[tuple[int, int]]:
    part = text[begin:end]
    if said := part.strip():
        begin += len(part) - len(part.lstrip())
        yield begin, begin + len(said)


def _goes_on(text: str, gap: re.Match[str]) -> bool:
    """Whether a full stop belongs to a word, and the sentence goes on behind it."""
    if "\n" in gap[0]:
        return False
    before = text[max(0, gap.start() - _LONGEST) : gap.start()]
    if _SHORT.search(before):
        return True
    after = _NEXT.match(text, gap.end())
    if after is None:
        return False
    if _NUMBERED.search(before):
        return after[0][0].isdigit()
    if _MAYBE_LAST.search(before):
        return after[0][0].islower()
    is_name = after[0][0].isupper() and after[0].lower() not in STOP_WORDS
    return is_name and _MAYBE_SHORT.search(before) is not None
