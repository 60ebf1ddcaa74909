"""Makes one entry of several that say the same: the one that is kept, with what the others knew."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from plugins.knowledge.memory.algorithms.confidence import DEFAULT_CONFIDENCE
from plugins.knowledge.memory.algorithms.duplicates import Duplicate, resolve
from plugins.knowledge.memory.model.entry import KnowledgeMetadata
from plugins.knowledge.memory.model.record import Record
from plugins.knowledge.memory.model.validity import Validity

_INHERITED = ("title", "description", "language")


@dataclass(frozen=True, slots=True)
class Deduplicated:
    """What is written in place of several entries that say the same.

    Attributes:
        winner: the entry that is kept, with the knowledge of all: its next version, or the
            first of a new entry.
        gone: the entries that it replaces, by their ids, each with its version.
        more_uses: the uses of those.
    """

    winner: Record
    gone: Mapping[str, int]
    more_uses: int


def deduplicate(
    records: Collection[Record], now: datetime, new: str | None = None, *, chosen: bool = False
) -> Deduplicated:
    """Keep one of several entries that say the same (README, "Duplicates").

    What was kept before keeps its id and its history, whoever is surer: a new entry gives it its
    words and is not written itself, unless its id was chosen by who writes it.

    Args:
        records: at least one.
        now: the time.
        new: the id of the one that is not written yet, if there is one.
        chosen: whether that id is one that others will ask for.
    """
    every = {each.id: each for each in records}
    result = resolve([_duplicate(each) for each in every.values()])
    surest = winner = every[result.winner]
    if surest.id == new and not chosen and len(every) > 1:
        there = [_duplicate(each) for each in every.values() if each.id != new]
        winner = every[resolve(there).winner]
    known = _filled(surest.metadata, [every[id].metadata for id in sorted(result.replaced)])
    stated = any(each.metadata.confidence is not None for each in every.values())
    sure = round(result.confidence, 6) if stated or result.confidence > DEFAULT_CONFIDENCE else None
    known = known.model_copy(
        update={
            "tags": tuple(dict.fromkeys((*surest.metadata.tags, *sorted(result.tags)))),
            "confidence": sure,
            "importance": result.importance,
        }
    )
    later: dict[str, Any] = (
        {} if winner.id == new else {"version": winner.version + 1, "updated": now, "worded": None}
    )
    said: dict[str, Any] = {"content": surest.content, "source": surest.source, "metadata": known}
    if new is not None:
        said["validity"] = _ending(winner.validity, every[new].validity)
    used = max(each.used for each in every.values())
    return Deduplicated(
        winner=replace(winner, **said, uses=result.uses, used=used, **later),
        gone={id: each.version for id, each in every.items() if id != winner.id},
        more_uses=result.uses - winner.uses,
    )


def _ending(kept: Validity, said: Validity) -> Validity:
    """When an entry holds that is said again, with the end that this may give it."""
    return kept.model_copy(update={"valid_until": kept.valid_until or said.valid_until})


def _filled(said: KnowledgeMetadata, others: Sequence[KnowledgeMetadata]) -> KnowledgeMetadata:
    """What is said about an entry, with what only others say; who wrote it is its own."""
    custom = dict(said.custom)
    known = {name: getattr(said, name) for name in _INHERITED}
    for other in others:
        custom = {**other.custom, **custom}
        known = {name: each or getattr(other, name) for name, each in known.items()}
    return said.model_copy(update={**known, "custom": custom})


def _duplicate(record: Record) -> Duplicate:
    source, said = record.source, record.metadata
    return Duplicate(
        id=record.id,
        origin=f"{source.type}\n{source.identifier}\n{said.author or record.agent or record.owner}",
        confidence=said.confidence,
        importance=said.importance,
        version=record.version,
        changed=record.changed,
        tags=frozenset(said.tags),
        uses=record.uses,
    )
