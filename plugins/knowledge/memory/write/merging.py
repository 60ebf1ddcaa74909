"""An update on top of what others wrote since it began."""

from __future__ import annotations

from dataclasses import replace

from gateway.contract import Caller
from plugins.knowledge.memory.algorithms.merge import merge
from plugins.knowledge.memory.model.errors import ErrorCode, MemoryFailed
from plugins.knowledge.memory.model.record import Record, attributes_of
from plugins.knowledge.memory.rights.access import caller_keys
from plugins.knowledge.memory.store.reads import Reads


async def merged(
    reads: Reads, current: Record, wanted: Record, began: int, caller: Caller
) -> Record:
    """What an update wants, with what was written since the version it began with.

    A version that the caller may not read is no base: what is merged would tell of it.

    Args:
        reads: where the versions are kept.
        current: the entry as it is.
        wanted: the entry as the update makes it.
        began: the version that the update began with.
        caller: who updates.

    Raises:
        MemoryFailed: that version is not kept, or both changed the same (``CONFLICT``).
    """
    base = await reads.version(current.id, began, caller_keys(caller))
    if base is None or base.fields is None:
        message = f"Version {began} of the entry is not kept. Begin with {current.version}."
        raise MemoryFailed(ErrorCode.CONFLICT, message, {"version": current.version})
    found = merge(base.fields, wanted.fields(), current.fields())
    if found.conflicts:
        fields = sorted(found.conflicts)
        raise MemoryFailed(
            ErrorCode.CONFLICT,
            f"Version {current.version} changed the same otherwise: {', '.join(fields)}. Read "
            "it, and send the update again with its version.",
            {"version": current.version, "fields": fields},
            "Nothing was changed: it was changed meanwhile, from elsewhere. The page shows what it "
            "says now, and the form what you wrote. Save it again if that is to stand.",
        )
    return replace(wanted, **attributes_of(found.fields))
