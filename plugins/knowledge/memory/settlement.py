"""What becomes of entries that claim the same: which one stands, as it is to be."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from plugins.knowledge.memory.conflicts import Claim, resolved
from plugins.knowledge.memory.records import Record


@dataclass(frozen=True, slots=True)
class Settlement:
    """What is to be written.

    Attributes:
        stands: the entry that stays, with what all of them know; its next version, or a new
            entry's first.
        gone: the entries that it replaces, by their ids, each with its version.
        more_uses: the uses of those.
    """

    stands: Record
    gone: Mapping[str, int]
    more_uses: int


def settlement(claims: Collection[Record], now: datetime, new: str | None = None) -> Settlement:
    """Settle which of several entries stands (README, "Conflicts").

    Args:
        claims: at least one.
        now: the time.
        new: the id of the one that is not written yet, if there is one.
    """
    every = {each.id: each for each in claims}
    result = resolved([_claim(each) for each in every.values()])
    stands = every[result.stands]
    known = stands.metadata.model_copy(
        update={
            "tags": tuple(dict.fromkeys((*stands.metadata.tags, *sorted(result.tags)))),
            "confidence": round(result.confidence, 6),
            "importance": result.importance,
        }
    )
    later: dict[str, Any] = (
        {} if stands.id == new else {"version": stands.version + 1, "updated": now}
    )
    used = max(each.used for each in every.values())
    return Settlement(
        stands=replace(stands, metadata=known, uses=result.uses, used=used, **later),
        gone={id: every[id].version for id in result.replaced},
        more_uses=result.uses - stands.uses,
    )


def _claim(record: Record) -> Claim:
    source, said = record.source, record.metadata
    return Claim(
        id=record.id,
        origin=f"{source.type}\n{source.identifier}\n{said.author or record.agent or record.owner}",
        confidence=said.confidence,
        importance=said.importance,
        version=record.version,
        changed=record.changed,
        tags=frozenset(said.tags),
        uses=record.uses,
    )
