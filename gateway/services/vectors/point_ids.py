"""The ids that owners gave to points, by those that the engine has for them.

The engine reads, unpacks and decodes a point's whole payload for any field of it, which of some
hundred hits takes longer than to find them. An owner's id is a field; but as the engine's id is
made of it, it never changes, so that those which were read last are remembered.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from uuid import UUID

MAX_IDS = 100_000
"""Ids that are remembered: 25 MB, as much as 40,000 documents have."""

Read = Callable[[Sequence[UUID]], Mapping[UUID, str]]


class PointIds:
    """Remembers owners' ids.

    Args:
        read: reads those of points from the engine.
        most: how many are remembered; the oldest go.
    """

    def __init__(self, read: Read, most: int = MAX_IDS) -> None:
        self._read = read
        self._most = most
        self._known: dict[int, str] = {}

    def of(self, points: Sequence[UUID]) -> list[str | None]:
        """The owners' ids of points, in their order; None for one that is gone by now."""
        known = self._known
        missing = [point for point in points if point.int not in known]
        fresh = {point.int: id for point, id in self._read(missing).items()} if missing else {}
        found = [known.get(point.int) or fresh.get(point.int) for point in points]
        known |= fresh
        for oldest in [*known][: max(0, len(known) - self._most)]:
            del known[oldest]
        return found
