"""What a request for approval would write, who can decide it, and how it is carried out."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from gateway.contract import Caller
from plugins.knowledge.memory.model.errors import ErrorCode, MemoryFailed
from plugins.knowledge.memory.model.policy import PRIVATE, person_key
from plugins.knowledge.memory.model.record import Record
from plugins.knowledge.memory.model.requests import (
    CreateRequest,
    DeleteRequest,
    RelationDraft,
    UpdateRequest,
)
from plugins.knowledge.memory.rights.approval_rules import Agreement
from plugins.knowledge.memory.rights.roles import require_role
from plugins.knowledge.memory.store.approvals import Approval, ApprovalPayload
from plugins.knowledge.memory.write.entries import Entries

_NEED_CURRENT_READERS = frozenset({"update", "delete", "erase", "relate"})


async def carry_out(
    entries: Entries, found: Approval, payload: ApprovalPayload, asker: Caller
) -> str:
    """Do what was asked for, with the rights of the person who asked.

    Args:
        entries: the operations that write.
        found: the request.
        payload: its payload.
        asker: the person who asked, with the rights that count now.

    Returns:
        The id of the entry that stands: another one's where it was kept already.

    Raises:
        MemoryFailed: it cannot be done any more.
    """
    agreement = Agreement(frozenset(payload.readers), payload.version)
    match found.operation:
        case "create":
            request = CreateRequest.model_validate(payload.request)
            return (await entries.create(request, asker, found.entry, agreement)).entry.id
        case "update":
            changed = UpdateRequest.model_validate(payload.request)
            await entries.update(found.entry, changed, asker, agreement)
        case "verify":
            require_role(asker, entries.roles.write, "write to memory")
            record = await entries.found(found.entry, asker)
            access = payload.access or PRIVATE
            if record.version != payload.version or not await entries.open_up(
                record, access, asker.person or "", agreement
            ):
                raise MemoryFailed(
                    ErrorCode.CONFLICT, "The entry was changed since; ask for it once more."
                )
        case "relate":
            record = await entries.found(found.entry, asker)
            if record.version != payload.version:
                raise MemoryFailed(
                    ErrorCode.CONFLICT, "The entry was changed since; ask for it once more."
                )
            draft = RelationDraft.model_validate(payload.request["relation"])
            await entries.relate(record, draft, asker, agreement)
        case "delete" | "erase":
            options = {"hard_delete": found.operation == "erase"}
            removal = {"id": found.entry, "options": options}
            await entries.delete(DeleteRequest.model_validate(removal), asker)
    return found.entry


def read_to_decide(found: Approval) -> set[str]:
    """The ids of the entries that only those can decide a request about who may read them now.

    Where an update opens the entry to more people, these are shown what they would read, and no
    more.
    """
    payload = found.payload
    if payload is None or payload.opens or found.operation not in _NEED_CURRENT_READERS:
        return set()
    return {found.entry} if payload.target is None else {found.entry, payload.target}


def complete_update(request: UpdateRequest, current: Record, wanted: Record) -> dict[str, Any]:
    """An update that names all that it would make readable, for those who decide and for later.

    Args:
        request: the update as it was sent.
        current: the entry as it is.
        wanted: the entry as it would be.
    """
    asked: dict[str, Any] = request.model_dump(mode="json", exclude_unset=True)
    asked["entry"] |= {
        "content": wanted.content,
        "metadata": wanted.metadata.model_dump(mode="json", exclude_none=True),
        "version": current.version,
    }
    return asked


def check_decidable(caller: Caller, *readable: Collection[str]) -> None:
    """Refuse a request that nobody could decide.

    Args:
        caller: the person who asks; only an admin decides what they asked for themselves.
        readable: sets of keys, of each of which one is needed to decide.

    Raises:
        MemoryFailed: nobody else holds such keys.
    """
    own = {person_key(caller.person or "")}
    if not caller.admin and any(own.issuperset(each) for each in readable):
        raise MemoryFailed(
            ErrorCode.INVALID_REQUEST,
            "Nobody else may read this entry, so nobody could approve it. Leave governance out, "
            "let others read it, or use a client that can ask you yourself.",
        )
