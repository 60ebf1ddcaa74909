"""Which entries this process has lately made findable by their vectors, and in which order."""

from __future__ import annotations

KEPT = 1_000
"""Versions of entries that are remembered, the last ones."""


class Findable:
    """The versions of entries that became findable of late.

    Attributes:
        place: how many became so yet.
    """

    def __init__(self) -> None:
        self.place = 0
        self._places: dict[tuple[str, int], int] = {}

    def add(self, id: str, version: int) -> None:
        """A version of an entry is found from now on.

        Args:
            id: the entry's.
            version: which one.
        """
        self.place += 1
        self._places.pop((id, version), None)
        self._places[id, version] = self.place
        if len(self._places) > KEPT:
            del self._places[next(iter(self._places))]

    def was(self, id: str, version: int, place: int) -> bool:
        """Whether a version of an entry is known to have been found at a place.

        Args:
            id: the entry's.
            version: which one.
            place: of before.
        """
        known = self._places.get((id, version))
        return known is not None and known <= place
