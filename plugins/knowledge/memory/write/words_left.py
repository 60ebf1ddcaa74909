"""Says which entries hold the words of one that is removed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gateway.contract import Caller
from plugins.knowledge.memory.model.excerpts import beginning
from plugins.knowledge.memory.model.requests import DeleteRequest
from plugins.knowledge.memory.model.responses import SameWords
from plugins.knowledge.memory.rights.access import caller_keys
from plugins.knowledge.memory.store.same_words import same_words
from plugins.knowledge.memory.write.removals import removable

if TYPE_CHECKING:
    from plugins.knowledge.memory.write.entries import Entries

MAX_EXCERPT = 240
"""Characters of each."""


async def words_left(entries: Entries, request: DeleteRequest, caller: Caller) -> list[SameWords]:
    """The entries that go on to hold the words of one, once that is removed.

    Args:
        entries: the operations that write.
        request: the removal, while the entry is there; or forgotten, and to be erased.
        caller: who removes it; nothing is named that they may not read.

    Raises:
        MemoryFailed: there is no such entry to see, or the caller may not remove it.
    """
    record, _ = await removable(entries, request, caller)
    found = await same_words(entries.reads.database, entries.clock, record, caller_keys(caller))
    return [
        SameWords(id=each.id, layer=each.layer, content=beginning(each.content, MAX_EXCERPT))
        for each in found
    ]
