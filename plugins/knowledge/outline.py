"""Where the sections of a document stand: what each is called, with no two alike.

Search cites sections by these names, ``get_section`` finds them, and addresses lead to them. A
heading that comes again in the same place is told apart by a number: ``Same``, ``Same (2)``.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Set
from dataclasses import dataclass
from itertools import islice
from typing import NamedTuple

from gateway.toolkit.anchors import UniqueNames, anchor
from plugins.knowledge.notes.comments import blanked
from plugins.knowledge.notes.headings import MAX_SECTIONS, Heading, headings
from plugins.knowledge.retrieval.markup import heading_text, labels


class Place(NamedTuple):
    """Where a section stands.

    Attributes:
        trail: the headings above it and its own, the outermost first; no other section has it.
        anchor: what it is called in an address, as its author says or its heading does.
        on_github: the same on GitHub, where what its author says counts as text.
    """

    trail: tuple[str, ...]
    anchor: str
    on_github: str


@dataclass(frozen=True, slots=True)
class Outlined:
    """A section of a document.

    Attributes:
        head: its heading, as it stands there.
        title: what the heading says, without marks.
        place: where it stands.
        text: what stands between it and the next heading, without comments.
    """

    head: Heading
    title: str
    place: Place
    text: str


def outline(markdown: str) -> tuple[str, list[Outlined]]:
    """What stands above the first heading, and the sections, in reading order.

    There are :data:`MAX_SECTIONS` at most; what else has a heading belongs to the last of them.

    Args:
        markdown: a document's body, with one sign at the end of each line.
    """
    lines = blanked(markdown).split("\n")
    heads = [*islice(headings(lines, html=True), MAX_SECTIONS)]
    ends = [*(head.line for head in heads), len(lines)]
    names, defined = _Names(labels(markdown)), []
    for head, end in zip(heads, ends[1:], strict=True):
        title, place = names.of(head)
        text = "\n".join((head.rest, *lines[head.end : end]))
        defined.append(Outlined(head, title, place, text))
    return "\n".join(lines[: ends[0]]), defined


class _Names:
    """Names the sections of a document one after the other."""

    def __init__(self, defined: Set[str]) -> None:
        self._defined = defined
        self._trail: list[tuple[int, str]] = []
        self._names: defaultdict[tuple[str, ...], UniqueNames] = defaultdict(
            lambda: UniqueNames("{} ({})", 1)
        )
        self._anchors, self._on_github = UniqueNames(), UniqueNames()

    def of(self, head: Heading) -> tuple[str, Place]:
        """What a heading says, and the place of the section that begins with it."""
        title = heading_text(head.text, self._defined)
        above = [each for each in self._trail if each[0] < head.level]
        outer = tuple(name for _, name in above)
        name = self._names[outer].of(title)
        self._trail = [*above, (head.level, name)]
        own = self._anchors.of(head.id or anchor(title))
        return title, Place(
            (*outer, name), own, self._on_github.of(anchor(f"{title} {head.attributes}"))
        )
