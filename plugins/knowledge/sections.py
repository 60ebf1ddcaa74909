"""The sections of a document: from a heading to the next one that is not below it."""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from gateway.toolkit.anchors import anchor
from plugins.knowledge.notes.headings import Heading
from plugins.knowledge.outline import Place, outline
from plugins.knowledge.retrieval.markup import one_newline


@dataclass(frozen=True, slots=True)
class Section:
    """A heading with all that stands under it, in markdown.

    Attributes:
        heading: what its heading says, without a number.
        place: where it stands; its trail has a number where the heading comes again.
        text: the heading's line and everything to the next heading of its level or above.
    """

    heading: str
    place: Place
    text: str

    @property
    def trail(self) -> tuple[str, ...]:
        """The headings above it and its own, the outermost first; no other section has it."""
        return self.place.trail


def sections(markdown: str) -> list[Section]:
    """The sections of a document's body, in reading order; those below others are parts of them.

    Args:
        markdown: the body, without frontmatter.
    """
    text = one_newline(markdown)
    lines, (_, outlined) = text.split("\n"), outline(text)
    heads = [one.head for one in outlined]
    found = []
    for one, end in zip(outlined, _ends(heads, len(lines)), strict=True):
        its = "\n".join(lines[one.head.line : end]).strip()
        found.append(Section(one.title, one.place, its))
    return found


def called(found: Sequence[Section], name: str) -> Section | None:
    """The section with a heading, or with its anchor; the first of several.

    Args:
        found: the document's sections.
        name: the heading in any case, its anchor, or headings with `` > `` between them, from the
            outermost on or the innermost ones; with its number where the heading comes again.
    """
    sought = _sought(name)
    lower = sought.lower()
    tests: tuple[Callable[[Section], bool], ...] = (
        lambda one: _composed(" > ".join(one.trail)) == sought,
        lambda one: _composed(one.trail[-1]).lower() == lower,
        lambda one: _composed(" > ".join(one.trail)).lower().endswith(f" > {lower}"),
        lambda one: lower in (one.place.anchor.lower(), one.place.on_github),
        lambda one: anchor(sought) in (one.place.anchor, anchor(_composed(one.trail[-1]))),
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
    if anchor(heading) != anchor(_composed(one.heading)):  # with its number
        return []
    alike = (each for each in found if each is not one and each.heading == one.heading)
    return [each for each in alike if not above or each.trail[:-1] == one.trail[:-1]]


def _ends(heads: Sequence[Heading], last: int) -> list[int]:
    """The line after each section, found from the last one on."""
    ends: list[int] = []
    following: list[Heading] = []  # those that end a section above, the nearest last
    for head in reversed(heads):
        while following and following[-1].level > head.level:
            following.pop()
        ends.append(following[-1].line if following else last)
        following.append(head)
    return ends[::-1]


def _sought(name: str) -> str:
    return _composed(name).strip().lstrip("#").strip()


def _composed(text: str) -> str:
    """A text whose letters have their marks in them: macOS writes these apart."""
    return unicodedata.normalize("NFC", text)
