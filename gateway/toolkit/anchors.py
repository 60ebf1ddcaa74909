"""What headings are called in an address, so that a link leads to the part of a page it means."""

from __future__ import annotations

import re

SECTION = "section-"
"""What the anchors of others' headings begin with on our own pages, which have ids of their own."""
_NOT_IN_ANCHORS = re.compile(r"[^\w\- ]")


def anchor(heading: str) -> str:
    """What a heading is called in an address, as GitHub and most generators of sites have it."""
    return _NOT_IN_ANCHORS.sub("", heading.strip().lower()).replace(" ", "-")


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
