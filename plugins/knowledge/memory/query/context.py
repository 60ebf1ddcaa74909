"""What was said around answers from conversations: "37" says nothing without its question."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from plugins.knowledge.memory.model.entry import FROM
from plugins.knowledge.memory.model.excerpts import beginning
from plugins.knowledge.memory.model.query_context import Scored
from plugins.knowledge.memory.model.record import Record, is_generated_id
from plugins.knowledge.memory.store.reads import Reads

MAX_SHOWN = 240
"""Characters of it."""


async def context_of(
    reads: Reads, page: Sequence[Scored], records: Mapping[str, Record], keys: frozenset[str]
) -> dict[str, str]:
    """What the turn before each answer asks, or the turn that its words are from, by its id.

    Args:
        reads: the entries.
        page: the answers.
        records: their entries.
        keys: the caller's.

    Returns:
        It by the answers' ids; of most there is nothing.
    """
    wanted = {one.id: one.asked or _turn_of(records.get(one.id)) for one in page}
    ids = {id for id in wanted.values() if id is not None}
    turns = await reads.read(ids, keys) if ids else {}
    return {
        id: beginning(turns[turn].content, MAX_SHOWN)
        for id, turn in wanted.items()
        if turn in turns and not _is_all(records.get(id), turns[turn])
    }


def _turn_of(record: Record | None) -> str | None:
    turn = None if record is None else record.metadata.custom.get(FROM)
    return turn if isinstance(turn, str) and is_generated_id(turn) else None


def _is_all(record: Record | None, turn: Record) -> bool:
    """Whether an entry says all that a turn does."""
    return record is None or turn.content in record.content
