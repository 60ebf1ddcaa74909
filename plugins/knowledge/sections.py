"""The sections of a document: from a heading to the next one that is not below it."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from plugins.knowledge.permalinks import anchor
from plugins.knowledge.retrieval.markup import one_line

_HEADING = re.compile(r" {0,3}(#{1,6})[ \t]+(.+)")
_FENCE = re.compile(r" {0,3}(```|~~~)")


@dataclass(frozen=True, slots=True)
class Section:
    """A heading with all that stands under it, in markdown.

    Attributes:
        trail: the headings above it and its own, the outermost first.
        text: the heading's line and everything to the next heading of its level or above.
    """

    trail: tuple[str, ...]
    text: str


def sections(markdown: str) -> list[Section]:
    """The sections of a document's body, in reading order; those below others are parts of them.

    Args:
        markdown: the body, without frontmatter.
    """
    lines = markdown.split("\n")
    heads = _headings(lines)
    found = []
    trail: list[tuple[int, str]] = []
    for place, (line, level, title) in enumerate(heads):
        trail = [*(above for above in trail if above[0] < level), (level, title)]
        following = (start for start, other, _ in heads[place + 1 :] if other <= level)
        text = "\n".join(lines[line : next(following, len(lines))]).strip()
        found.append(Section(tuple(title for _, title in trail), text))
    return found


def called(found: Sequence[Section], name: str) -> Section | None:
    """The section with a heading, or with its anchor; the first of several.

    Args:
        found: the document's sections.
        name: the heading in any case, its anchor, or headings from the outermost on with `` > ``
            between them.
    """
    sought = name.strip().lstrip("#").strip()
    tests = (
        lambda one: " > ".join(one.trail) == sought,
        lambda one: one.trail[-1].lower() == sought.lower(),
        lambda one: anchor(one.trail[-1]) == anchor(sought),
    )
    return next((one for holds in tests for one in found if holds(one)), None)


def _headings(lines: Sequence[str]) -> list[tuple[int, int, str]]:
    """The line, the level and the text of each heading outside of fenced code."""
    found = []
    fence = ""
    for number, line in enumerate(lines):
        if mark := _FENCE.match(line):
            fence = "" if fence == mark[1] else fence or mark[1]
        elif not fence and (match := _HEADING.fullmatch(line.rstrip())):
            found.append((number, len(match[1]), one_line(match[2].rstrip("#").rstrip())))
    return found
