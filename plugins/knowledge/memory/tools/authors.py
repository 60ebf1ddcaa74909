"""Says of an author's name whom it may be meant for, where it is nobody's."""

from __future__ import annotations

from difflib import get_close_matches
from typing import TYPE_CHECKING

from gateway.contract import Caller
from plugins.knowledge.memory.model.errors import ErrorCode, MemoryFailed
from plugins.knowledge.memory.query.lists import ListFilters
from plugins.knowledge.memory.rights.access import caller_keys
from plugins.knowledge.memory.store.authors import readable_authors

if TYPE_CHECKING:
    from plugins.knowledge.memory.memory import Memory

MAX_SUGGESTIONS = 3
"""Names that are suggested."""


async def check_author(memory: Memory, name: str, caller: Caller) -> None:
    """Refuse a name of which the caller can read nothing, with those that are like it.

    Args:
        memory: the memory.
        name: as they gave it.
        caller: who asks.

    Raises:
        MemoryFailed: nothing that they may read is by anybody of that name.
    """
    if unknown := await unknown_author(memory, name, caller):
        raise MemoryFailed(ErrorCode.INVALID_REQUEST, unknown)


async def unknown_author(memory: Memory, name: str, caller: Caller) -> str:
    """What to say of a name of which the caller can read nothing; empty where there is something.

    Who wrote only what they may not read is not told from who wrote nothing.

    Args:
        memory: the memory.
        name: as they gave it.
        caller: who asks.
    """
    if (await memory.lists(ListFilters(author=name), caller)).total:
        return ""
    reads = memory.entries.reads
    people, named = await readable_authors(reads.database, reads.clock, caller_keys(caller))
    known = {*(await memory.authors.names(people)).values(), *named} if people else set(named)
    by_case = {each.casefold(): each for each in known}
    asked = name.strip().casefold()
    of_that_name = [each for each in by_case if asked in each.split()]
    near = of_that_name or get_close_matches(asked, by_case)
    hint = (
        f" Did you mean {', '.join(by_case[each] for each in near[:MAX_SUGGESTIONS])}?"
        if near
        else ""
    )
    return (
        f"Nothing that you may read is by {name!r}.{hint} Give a name as answers show it under by, "
        "or leave author out."
    )
