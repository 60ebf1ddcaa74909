"""How much waits for a look in memory, for the overview of admins."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from gateway.contract import Backlog, Backlogs, Caller

if TYPE_CHECKING:
    from plugins.knowledge.memory.memory import Memory

_SHOWN_BY = "review_memory"


def backlog(memory: Memory) -> Backlogs:
    """What waits that a caller may decide, or look at, as ``review_memory`` shows it."""

    async def of(caller: Caller) -> Sequence[Backlog]:
        found = await memory.review(caller)
        own = len(found.unverified) + len(found.source_changed)
        at_odds = ("pair of memory's entries is at odds", "pairs of memory's entries are at odds")
        stale = ("entry of yours in memory wants a look", "entries of yours in memory want a look")
        documents = ("document wants a look", "documents want a look")
        return [
            Backlog(len(found.pairs), *at_odds, _SHOWN_BY),
            Backlog(own, *stale, _SHOWN_BY),
            Backlog(len(found.documents), *documents, _SHOWN_BY),
        ]

    return of
