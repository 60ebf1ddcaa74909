"""What becomes of entries that claim the same: which one stands, as it is to be."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from plugins.knowledge.memory.confidence import UNSAID
from plugins.knowledge.memory.conflicts import Claim, resolved
from plugins.knowledge.memory.entries import KnowledgeMetadata
from plugins.knowledge.memory.records import Record

_TOLD = ("title", "description", "language")


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


def settlement(
    claims: Collection[Record], now: datetime, new: str | None = None, *, chosen: bool = False
) -> Settlement:
    """Settle which of several entries stands (README, "Conflicts").

    What was kept before keeps its id and its history, whoever is surer: a new entry gives it its
    words and is not written itself, unless its id was chosen by who writes it.

    Args:
        claims: at least one.
        now: the time.
        new: the id of the one that is not written yet, if there is one.
        chosen: whether that id is one that others will ask for.
    """
    every = {each.id: each for each in claims}
    result = resolved([_claim(each) for each in every.values()])
    surest = stands = every[result.stands]
    if surest.id == new and not chosen and len(every) > 1:
        there = [_claim(each) for each in every.values() if each.id != new]
        stands = every[resolved(there).stands]
    known = _filled(surest.metadata, [every[id].metadata for id in sorted(result.replaced)])
    stated = any(each.metadata.confidence is not None for each in every.values())
    sure = round(result.confidence, 6) if stated or result.confidence > UNSAID else None
    known = known.model_copy(
        update={
            "tags": tuple(dict.fromkeys((*surest.metadata.tags, *sorted(result.tags)))),
            "confidence": sure,
            "importance": result.importance,
        }
    )
    later: dict[str, Any] = (
        {} if stands.id == new else {"version": stands.version + 1, "updated": now}
    )
    said: dict[str, Any] = {"content": surest.content, "source": surest.source, "metadata": known}
    used = max(each.used for each in every.values())
    return Settlement(
        stands=replace(stands, **said, uses=result.uses, used=used, **later),
        gone={id: each.version for id, each in every.items() if id != stands.id},
        more_uses=result.uses - stands.uses,
    )


def _filled(said: KnowledgeMetadata, others: Sequence[KnowledgeMetadata]) -> KnowledgeMetadata:
    """What is said about an entry, with what only others say; who wrote it is its own."""
    custom = dict(said.custom)
    known = {name: getattr(said, name) for name in _TOLD}
    for other in others:
        custom = {**other.custom, **custom}
        known = {name: each or getattr(other, name) for name, each in known.items()}
    return said.model_copy(update={**known, "custom": custom})


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
