"""The sections of a document: from a heading to the next one that is not below it.

A heading that comes again in the same place is told apart by a number: ``Same``, ``Same (2)``.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

from gateway.toolkit.anchors import UniqueNames, anchor
from plugins.knowledge.notes.headings import Heading, headings
from plugins.knowledge.retrieval.markup import one_line


@dataclass(frozen=True, slots=True)
class Section:
    """A heading with all that stands under it, in markdown.

    Attributes:
        heading: its heading as it stands there, without a number.
        trail: the headings above it and its own, the outermost first; no other section has it.
        text: the heading's line and everything to the next heading of its level or above.
        anchor: what it is called in an address; of equal ones all but the first have a number.
    """

    heading: str
    trail: tuple[str, ...]
    text: str
    anchor: str


def sections(markdown: str) -> list[Section]:
    """The sections of a document's body, in reading order; those below others are parts of them.

    Args:
        markdown: the body, without frontmatter.
    """
    lines = markdown.split("\n")
    heads = [*headings(lines)]
    found = []
    names = _Names()
    for place, head in enumerate(heads):
        following = (each.line for each in heads[place + 1 :] if each.level <= head.level)
        text = "\n".join(lines[head.line : next(following, len(lines))]).strip()
        trail, address = names.of(head)
        found.append(Section(one_line(head.text), trail, text, address))
    return found


def called(found: Sequence[Section], name: str) -> Section | None:
    """The section with a heading, or with its anchor; the first of several.

    Args:
        found: the document's sections.
        name: the heading in any case, its anchor, or headings from the outermost on with `` > ``
            between them; with its number where the heading comes again.
    """
    sought = _sought(name)
    tests = (
        lambda one: " > ".join(one.trail) == sought,
        lambda one: one.trail[-1].lower() == sought.lower(),
        lambda one: anchor(sought) in (one.anchor, anchor(one.trail[-1])),
    )
    return next((one for holds in tests for one in found if holds(one)), None)


def also_called(found: Sequence[Section], one: Section, name: str) -> list[Section]:
    """The other sections that somebody may have meant by a heading; none where they say which.

    Args:
        found: the document's sections.
        one: the section that was found.
        name: what was asked for.
    """
    above, _, heading = _sought(name).rpartition(" > ")
    if anchor(heading) != anchor(one.heading):  # with its number
        return []
    alike = (each for each in found if each is not one and each.heading == one.heading)
    return [each for each in alike if not above or each.trail[:-1] == one.trail[:-1]]


def _sought(name: str) -> str:
    return name.strip().lstrip("#").strip()


class _Names:
    """Names the sections of a document one after the other, no two of them alike."""

    def __init__(self) -> None:
        self._trail: list[tuple[int, str]] = []
        self._names: defaultdict[tuple[str, ...], UniqueNames] = defaultdict(
            lambda: UniqueNames("{} ({})", 1)
        )
        self._anchors = UniqueNames()

    def of(self, head: Heading) -> tuple[tuple[str, ...], str]:
        """The trail and the anchor of the section that begins with a heading."""
        title = one_line(head.text)
        above = [each for each in self._trail if each[0] < head.level]
        outer = tuple(name for _, name in above)
        name = self._names[outer].of(title)
        self._trail = [*above, (head.level, name)]
        return (*outer, name), self._anchors.of(anchor(title))
