"""What waits for a person: what it would write, who may decide it, and how it is done then."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from gateway.contract import Caller
from plugins.knowledge.memory.access import person_key
from plugins.knowledge.memory.agreement import Agreement
from plugins.knowledge.memory.entries import AccessPolicy, AccessPolicyConfig
from plugins.knowledge.memory.failures import ErrorCode, MemoryFailed
from plugins.knowledge.memory.keeping import Keeping
from plugins.knowledge.memory.records import Record
from plugins.knowledge.memory.requests import CreateRequest, DeleteRequest, UpdateRequest
from plugins.knowledge.memory.roles import demand
from plugins.knowledge.memory.store.approvals import Approval

WHO = {
    AccessPolicy.PRIVATE: "you alone",
    AccessPolicy.RESTRICTED: "the people it names",
    AccessPolicy.SHARED: "the groups it names",
    AccessPolicy.ORGANIZATION: "all members",
    AccessPolicy.PUBLIC: "everyone who is signed in",
}
"""Who reads an entry, in a question to a person."""
_OF_READABLE = frozenset({"update", "delete", "erase"})


async def carry_out(keep: Keeping, found: Approval, asker: Caller) -> None:
    """Do what was asked for, as who asked for it."""
    payload: Any = found.payload or {}
    agreement = Agreement(frozenset(payload["readers"]), payload.get("version", 0))
    match found.operation:
        case "create":
            request = CreateRequest.model_validate(payload["request"])
            await keep.create(request, asker, found.entry, agreement)
        case "update":
            changed = UpdateRequest.model_validate(payload["request"])
            await keep.update(found.entry, changed, asker, agreement)
        case "verify":
            demand(asker, keep.roles.write, "write to memory")
            record = await keep.found(found.entry, asker)
            access = AccessPolicyConfig.model_validate(payload["access"])
            if record.version != payload["version"] or not await keep.open_up(
                record, access, asker.person or "", agreement
            ):
                raise MemoryFailed(
                    ErrorCode.CONFLICT, "The entry was changed since; ask for it once more."
                )
        case "delete" | "erase":
            options = {"hard_delete": found.operation == "erase"}
            removal = {"id": found.entry, "options": options}
            await keep.delete(DeleteRequest.model_validate(removal), asker)


def of_readable(one: Approval) -> bool:
    """Whether who decides a request has to be able to read the entry as it is.

    Where it is opened to more people they see what those would read, and no more.
    """
    return one.operation in _OF_READABLE and not (one.payload or {}).get("opens")


def whole(request: UpdateRequest, current: Record, wanted: Record) -> dict[str, Any]:
    """An update that says all that it would make public, for who decides it and for later."""
    asked: dict[str, Any] = request.model_dump(mode="json", exclude_unset=True)
    asked["entry"] |= {
        "content": wanted.content,
        "metadata": wanted.metadata.model_dump(mode="json", exclude_none=True),
        "version": current.version,
    }
    return asked


def check_decidable(caller: Caller, *readable: Collection[str]) -> None:
    """Refuse to wait for somebody who cannot be.

    Args:
        caller: who asks; nobody but an admin decides what they asked for themselves.
        readable: sets of keys; who decides needs one of each.
    """
    own = {person_key(caller.person or "")}
    if not caller.admin and any(own.issuperset(each) for each in readable):
        raise MemoryFailed(
            ErrorCode.INVALID_REQUEST,
            "Nobody else may read this entry, so nobody could approve it. Leave governance out, "
            "let others read it, or use a client that can ask you yourself.",
        )
