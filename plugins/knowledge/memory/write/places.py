"""Where in a conversation an entry stands."""

from __future__ import annotations

from dataclasses import replace

from plugins.knowledge.memory.algorithms.turns import follows, speaker
from plugins.knowledge.memory.model.record import Record
from plugins.knowledge.memory.store.reads import Reads


async def in_its_place(
    reads: Reads, record: Record, before: Record | None, turn: Record | None
) -> Record:
    """An entry that knows the turn before it, or the one that it was found in.

    Args:
        reads: the entries.
        record: the entry.
        before: the turn before it, where its writer says which.
        turn: the one that it was found in, if it was.
    """
    if turn is not None:
        return replace(record, taken_from=turn.number)
    if speaker(record) is None:
        return record
    if before is None:
        last = await reads.last_of(record)
        before = last if last is not None and follows(record, last) else None
    return record if before is None else replace(record, follows=before.number)
