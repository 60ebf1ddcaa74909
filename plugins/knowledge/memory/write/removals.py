"""Removes entries: who may, what is removed already, and what follows from it."""

from __future__ import annotations

from collections.abc import Collection
from typing import TYPE_CHECKING, NamedTuple

from gateway.contract import Caller
from plugins.knowledge.memory.model.entry import Layer
from plugins.knowledge.memory.model.errors import ErrorCode, MemoryFailed
from plugins.knowledge.memory.model.record import Record
from plugins.knowledge.memory.model.requests import DeleteRequest
from plugins.knowledge.memory.model.responses import DeleteResponse
from plugins.knowledge.memory.rights.access import caller_keys
from plugins.knowledge.memory.rights.roles import may_remove, require_role
from plugins.knowledge.memory.store.audit import AuditRecord

if TYPE_CHECKING:
    from plugins.knowledge.memory.write.entries import Entries

_NOT_THEIRS = (
    "Only its owner can remove an entry, and an admin of the portal who can read it. An API token "
    "carries no admin's right: an admin removes it on the portal's pages, signed in with a browser."
)
_AGAIN = (
    "It had ended {ids}, which holds again now. Where that is not right, remove that one too, or "
    "say what ends it (settle_memory)."
)


class Removable(NamedTuple):
    """An entry that a caller may remove.

    Attributes:
        record: the entry.
        forgotten: whether it is out of sight already, and may be erased before it is purged.
    """

    record: Record
    forgotten: bool = False


async def removable(entries: Entries, request: DeleteRequest, caller: Caller) -> Removable:
    """The entry that a request would remove.

    Args:
        entries: the operations that write.
        request: which, and how.
        caller: who asks. What is forgotten is there for its owner alone, and only to be erased.

    Raises:
        MemoryFailed: there is no such entry to see, or the caller may not remove it.
    """
    try:
        record = await entries.found(request.id, caller)
    except MemoryFailed as missing:
        if missing.number is not ErrorCode.NOT_FOUND or not request.options.hard_delete:
            raise
        left = await entries.reads.forgotten(request.id)
        if left is None or left.owner != caller.person:
            raise
        return Removable(left, forgotten=True)
    if not may_remove(caller, record):
        raise MemoryFailed(ErrorCode.FORBIDDEN, _NOT_THEIRS)
    return Removable(record)


async def remove(entries: Entries, request: DeleteRequest, caller: Caller) -> DeleteResponse:
    """Remove an entry: out of sight, or with all that was kept of it.

    Args:
        entries: the operations that write.
        request: which, and how.
        caller: who asks.

    Raises:
        MemoryFailed: as :func:`removable`, or the caller may remove nothing at all.
    """
    person = require_role(caller, entries.roles.delete, "remove from memory")
    record, forgotten = await removable(entries, request, caller)
    if record.layer is Layer.WORKING:
        entries.working.take([record.id])
        return DeleteResponse(deleted=True, entry_id=record.id)
    ended = () if forgotten else await entries.relations.store.ended_by(record.id)
    hard = request.options.hard_delete
    writes = entries.audited(AuditRecord(person, "erase" if hard else "delete", record.id, "done"))
    entries.tell(await (writes.erase([record.id]) if hard else writes.forget([record.id])))
    if entries.vectors is not None:
        await entries.vectors.hide([record.id])
    again = await _holding_again(entries, ended, caller)
    note = _AGAIN.format(ids=", ".join(again)) if again else None
    return DeleteResponse(deleted=True, entry_id=record.id, note=note)


async def _holding_again(entries: Entries, ended: Collection[Record], caller: Caller) -> list[str]:
    """The ids of what an entry ended that is gone, and nothing else ends, as the caller sees it."""
    held, store = caller_keys(caller), entries.relations.store
    seen = {each.id: each for each in ended if not held.isdisjoint(each.readers)}
    over = await store.ended(seen, held)
    return sorted(id for id, each in seen.items() if id not in over and not store.is_over(each))
