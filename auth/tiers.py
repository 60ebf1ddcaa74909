"""The three tiers and their order: open < public < members."""

from __future__ import annotations

from enum import StrEnum


class Tier(StrEnum):
    """How far a caller may go, and how far an item asks them to be.

    The three tiers are fixed (knowledge server specification, section 2.1). They compare by
    their place on the ladder, not by their spelling: ``Tier.OPEN < Tier.MEMBERS``.
    """

    OPEN = "open"
    PUBLIC = "public"
    MEMBERS = "members"

    @property
    def level(self) -> int:
        """The tier's place on the ladder: 0 for open, 1 for public, 2 for members."""
        return _LEVELS[self]

    def allows(self, required: Tier) -> bool:
        """Say whether a caller of this tier may use an item that asks for ``required``."""
        return _LEVELS[self] >= _LEVELS[required]

    def __lt__(self, other: str) -> bool:
        return self.level < Tier(other).level

    def __le__(self, other: str) -> bool:
        return self.level <= Tier(other).level

    def __gt__(self, other: str) -> bool:
        return self.level > Tier(other).level

    def __ge__(self, other: str) -> bool:
        return self.level >= Tier(other).level


_LEVELS = {tier: level for level, tier in enumerate(Tier)}
