"""The parts of an entry that is longer than what an embedding model reads at once.

The default model reads 256 tokens, which is about 1,100 characters of English prose. A part is
shorter than that, so that one fact in it is not lost beside the rest.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from plugins.knowledge.memory.model.record import Record

ONE_PASSAGE = 1_300
"""Characters of the longest entry that is not cut."""
LONGEST = 400
"""Characters at which a passage is cut, at the latest."""
SHORTEST = 150
"""What is left of an entry and is no longer than this goes with the passage before it."""
MAX_PASSAGES = 80
"""Passages of an entry, the first ones; what follows is found by its words alone."""
_BREAKS = tuple(
    re.compile(each)
    for each in (r"\n\s*\n", r"\n", r"[.!?;\u061f\u06d4\u0964]\s|[\u3002\uff01\uff1f\uff1b]", r"\s")
)
"""Where a text may be cut, the best first: between paragraphs, lines, sentences, words."""


def passages(content: str) -> list[tuple[int, int]]:
    """Where the passages of a content begin and end.

    Args:
        content: what an entry says.

    Returns:
        Them, in their order; one alone where that is not long.
    """
    cuts = [0, *_cuts(content)]
    return list(zip(cuts, [*cuts[1:], len(content)], strict=True))[:MAX_PASSAGES]


def later_passages(record: Record) -> list[str]:
    """What is embedded beside an entry's text, of which a model reads the beginning alone.

    Args:
        record: the entry.

    Returns:
        Each passage of its content but the first, with its title in front; of most entries nothing.
    """
    title = f"{record.metadata.title}\n" if record.metadata.title else ""
    later = passages(record.content)[1:]
    return [f"{title}{record.content[start:end].strip()}" for start, end in later]


def _cuts(content: str) -> Iterator[int]:
    start = 0
    if len(content) <= ONE_PASSAGE:
        return
    while len(content) - start > LONGEST + SHORTEST:
        start = _cut(content, start)
        yield start


def _cut(content: str, start: int) -> int:
    """Where the passage that begins at a place ends: at the last good break of its second half."""
    half, end = start + LONGEST // 2, start + LONGEST
    for each in _BREAKS:
        if breaks := [found.end() for found in each.finditer(content, half, end)]:
            return breaks[-1]
    return end
