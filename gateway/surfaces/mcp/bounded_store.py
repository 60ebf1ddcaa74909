"""Room for what is kept a while for many owners, within a bound for each and one for all.

What was touched longest ago goes first: an owner's where the owner has too much, else anyone's.
"""

from __future__ import annotations

import time
from collections import OrderedDict
from collections.abc import Callable, Iterator
from typing import NamedTuple

__all__ = ["Bound", "Kept", "Room"]


class Bound(NamedTuple):
    """How much there may be.

    Attributes:
        parts: pieces.
        bytes: what they have together.
    """

    parts: int
    bytes: int


class Kept(NamedTuple):
    """One thing that is kept, in parts.

    Attributes:
        owner: whose it is.
        name: its own.
        size: how much of it there is.
        touched: when something was last done with it, in seconds of the room's clock.
    """

    owner: str
    name: str
    size: Bound
    touched: float


class Room:
    """Counts what is kept, and says what has to go.

    Args:
        each: how much an owner may have.
        total: how much all may have together.
        lifetime: seconds after which what was not touched is gone by itself.
        clock: seconds that only grow; replaced in tests.

    Attributes:
        used: how much there is.
    """

    def __init__(
        self,
        each: Bound,
        total: Bound,
        lifetime: float,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._each, self._total, self._lifetime, self._clock = each, total, lifetime, clock
        self._kept: OrderedDict[str, Kept] = OrderedDict()
        self._owners: dict[str, OrderedDict[str, None]] = {}
        self._owned: dict[str, Bound] = {}
        self.used = Bound(0, 0)

    def __contains__(self, name: str) -> bool:
        return name in self._kept

    def __len__(self) -> int:
        return len(self._kept)

    def of(self, owner: str) -> list[str]:
        """The names of what an owner has."""
        return list(self._owners.get(owner, ()))

    def begin(self, owner: str, name: str) -> None:
        """Keep something new, which has no parts yet."""
        self._put(Kept(owner, name, Bound(0, 0), self._clock()))

    def touch(self, name: str) -> None:
        """Say that something is still needed."""
        if kept := self.forget(name):
            self._put(kept._replace(touched=self._clock()))

    def add(self, name: str, size: int) -> list[Kept]:
        """Count a part of something that is kept.

        Args:
            name: what it is part of.
            size: its bytes.

        Returns:
            What has to go, and is counted no more; that may be the thing itself.
        """
        kept = self.forget(name)
        if kept is None:
            return []
        grown = Bound(kept.size.parts + 1, kept.size.bytes + size)
        self._put(kept._replace(size=grown, touched=self._clock()))
        self._expire()
        return list(self._too_much(kept.owner))

    def forget(self, name: str) -> Kept | None:
        """Count something no more.

        Returns:
            What it was, or None where it is not kept.
        """
        kept = self._kept.pop(name, None)
        if kept is not None:
            self._count(kept, -1)
            del self._owners[kept.owner][name]
            if not self._owners[kept.owner]:
                del self._owners[kept.owner], self._owned[kept.owner]
        return kept

    def _put(self, kept: Kept) -> None:
        self._kept[kept.name] = kept
        self._owners.setdefault(kept.owner, OrderedDict())[kept.name] = None
        self._count(kept, 1)

    def _count(self, kept: Kept, sign: int) -> None:
        owned = self._owned.get(kept.owner, Bound(0, 0))
        self._owned[kept.owner] = _plus(owned, kept.size, sign)
        self.used = _plus(self.used, kept.size, sign)

    def _expire(self) -> None:
        before = self._clock() - self._lifetime
        while (oldest := next(iter(self._kept.values()), None)) and oldest.touched < before:
            self.forget(oldest.name)

    def _too_much(self, owner: str) -> Iterator[Kept]:
        while owner in self._owned and _exceeds(self._owned[owner], self._each):
            yield from self._gone(next(iter(self._owners[owner])))
        while self._kept and _exceeds(self.used, self._total):
            yield from self._gone(next(iter(self._kept)))

    def _gone(self, name: str) -> Iterator[Kept]:
        if kept := self.forget(name):
            yield kept


def _plus(one: Bound, other: Bound, sign: int) -> Bound:
    return Bound(one.parts + sign * other.parts, one.bytes + sign * other.bytes)


def _exceeds(size: Bound, bound: Bound) -> bool:
    return size.parts > bound.parts or size.bytes > bound.bytes
