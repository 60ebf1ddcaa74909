"""What headings are called in an address, so that a link leads to the part of a page it means."""

from __future__ import annotations

import re
from unicodedata import category

SECTION = "section-"
"""What the anchors of others' headings begin with on our own pages, which have ids of their own."""
_ATTRIBUTE = r"(?:[#.][\w:.-]++|[\w:-]++=(?:\"[^\"{}]*+\"|[^\s\"{}]++))"
_ATTRIBUTES = re.compile(
    rf"[ \t]\{{:?[ \t]*+(?=[#.])({_ATTRIBUTE}(?:[ \t]++{_ATTRIBUTE})*+)[ \t]*+\}}$"
)
_ID = re.compile(r"(?:^|\s)#(\S+)")


def anchor(heading: str) -> str:
    """What a heading is called in an address, as GitHub and most generators of sites have it."""
    kept = (one for one in heading.strip().lower() if _is_in_anchors(one))
    return "".join(kept).replace(" ", "-")


def _is_in_anchors(character: str) -> bool:
    """Marks count as letters do: the vowels of Hindi and Thai are such."""
    return character in "-_ " or character.isalnum() or category(character)[0] == "M"


def stated(heading: str) -> tuple[str, str, str]:
    """What a heading says, what stands in braces at its end, and the id that it gives itself.

    Generators of sites read ``Set up {#set-up .wide}`` and ``Set up { #set-up }`` like this.
    """
    heading = heading.rstrip()
    begins = heading.rfind("{")
    found = _ATTRIBUTES.search(heading, max(begins - 1, 0)) if begins >= 0 else None
    if found is None:
        return heading, "", ""
    id = _ID.search(found[1])
    return heading[: found.start()].rstrip(), found[0].strip(), id[1] if id else ""


class UniqueNames:
    """Gives each name once: one that was given before has the next number that is free.

    Args:
        form: how a name and its number are written; by default as in anchors (``same-1``).
        first: the number that the first one would have.
    """

    def __init__(self, form: str = "{}-{}", first: int = 0) -> None:
        self._form = form
        self._first = first
        self._numbers: dict[str, int] = {}

    def of(self, name: str) -> str:
        """The name, or the name with a number."""
        given = name
        while given in self._numbers:
            self._numbers[name] += 1
            given = self._form.format(name, self._numbers[name])
        self._numbers[given] = self._first
        return given
