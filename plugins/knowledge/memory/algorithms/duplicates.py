"""Which of several entries that say the same is kept (README, "Duplicates")."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime

from plugins.knowledge.memory.algorithms.confidence import DEFAULT_CONFIDENCE, Statement, aggregate


@dataclass(frozen=True, slots=True)
class Duplicate:
    """What of an entry decides whether it is the one that is kept.

    Attributes:
        id: the entry's.
        origin: what it goes back to: its source and author.
        confidence: 0 to 1, or None where nobody stated it.
        importance: likewise.
        version: how often it was written.
        changed: when it was last written.
        tags: its tags.
        uses: how often it was used.
    """

    id: str
    origin: str
    confidence: float | None
    importance: float | None
    version: int
    changed: datetime
    tags: frozenset[str] = frozenset()
    uses: int = 0


@dataclass(frozen=True, slots=True)
class Resolution:
    """What becomes of entries that say the same.

    Attributes:
        winner: the id of the entry that is kept.
        replaced: the ids of those that it replaces.
        confidence: how sure they make each other.
        importance: the greatest that any states, or None.
        tags: all of theirs.
        uses: all of theirs together.
    """

    winner: str
    replaced: frozenset[str]
    confidence: float
    importance: float | None
    tags: frozenset[str]
    uses: int


def resolve(duplicates: Collection[Duplicate]) -> Resolution:
    """Resolve; the result does not depend on their order.

    The surest is kept; of equals the newest, then the one written most often, then by id.

    Args:
        duplicates: at least one, each of an entry of its own.

    Raises:
        ValueError: there is none.
    """
    if not duplicates:
        raise ValueError("there is nothing to resolve")
    winner = min(duplicates, key=_precedence)
    stated = [each.importance for each in duplicates if each.importance is not None]
    return Resolution(
        winner=winner.id,
        replaced=frozenset(each.id for each in duplicates) - {winner.id},
        confidence=aggregate(Statement(each.origin, each.confidence) for each in duplicates),
        importance=max(stated, default=None),
        tags=frozenset().union(*(each.tags for each in duplicates)),
        uses=sum(each.uses for each in duplicates),
    )


def _precedence(one: Duplicate) -> tuple[float, float, int, str]:
    sure = DEFAULT_CONFIDENCE if one.confidence is None else one.confidence
    return (-sure, -one.changed.timestamp(), -one.version, one.id)
