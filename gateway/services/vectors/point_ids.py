"""The ids that owners gave to points, by those that the engine has for them.

The engine reads, unpacks and decodes a point's whole payload for any field of it, which of some
hundred hits takes longer than to find them. An owner's id is a field; but as the engine's id is
made of it, it never changes, so that those which were read last are remembered.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import islice
from uuid import UUID

MAX_IDS = 250_000
"""Ids that are remembered: 60 MB where all were found once, as many as 100,000 documents have."""
_SHARE_FORGOTTEN = 10
"""One part in so many goes at once, so that few searches pay for it."""

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

    def __len__(self) -> int:
        return len(self._known)

    def of(self, points: Sequence[UUID]) -> list[str | None]:
        """The owners' ids of points, in their order; None for one that is gone by now."""
        known = self._known
        numbers = [point.int for point in points]
        found = [known.get(number) for number in numbers]
        if None not in found:
            return found
        missing = [point for point, id in zip(points, found, strict=True) if id is None]
        fresh = {point.int: id for point, id in self._read(missing).items()}
        known |= fresh
        if len(known) > self._most:
            least = len(known) - self._most
            for oldest in list(islice(known, max(least, self._most // _SHARE_FORGOTTEN))):
                del known[oldest]
        return [id or fresh.get(number) for number, id in zip(numbers, found, strict=True)]
