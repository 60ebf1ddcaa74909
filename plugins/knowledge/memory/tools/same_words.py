"""Says which entries hold the words of one that is forgotten."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pydantic import BaseModel, Field

from gateway.contract import Caller
from plugins.knowledge.memory.model.entry import Layer
from plugins.knowledge.memory.model.excerpts import beginning
from plugins.knowledge.memory.rights.access import caller_keys
from plugins.knowledge.memory.store.same_words import same_words

if TYPE_CHECKING:
    from plugins.knowledge.memory.memory import Memory

MAX_EXCERPT = 240
"""Characters of each."""


class SameWords(BaseModel):
    """An entry that holds words of another one."""

    id: str
    layer: Layer = Field(description="episodic: the turn of the conversation.")
    content: str = Field(description="What it says, or its beginning.")


async def words_left(memory: Memory, id: str, caller: Caller) -> list[SameWords]:
    """The entries that go on to hold the words of one, once that is forgotten.

    Args:
        memory: the memory.
        id: of the entry, while it is there.
        caller: who forgets it; nothing is named that they may not read.

    Raises:
        MemoryFailed: there is no such entry to see.
    """
    entries = memory.entries
    record = await entries.found(id, caller)
    found = await same_words(entries.reads.database, entries.clock, record, caller_keys(caller))
    return [
        SameWords(id=each.id, layer=each.layer, content=beginning(each.content, MAX_EXCERPT))
        for each in found
    ]
