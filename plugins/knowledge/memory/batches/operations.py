"""One entry of a batch: checked on its own, and done as a single operation would be."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from pydantic import ValidationError

from gateway.contract import Caller
from plugins.knowledge.memory.access import keys
from plugins.knowledge.memory.drafting import drafted, rewritten
from plugins.knowledge.memory.embedding import is_made
from plugins.knowledge.memory.failures import ErrorCode, MemoryFailed
from plugins.knowledge.memory.governing import Governing
from plugins.knowledge.memory.requests import (
    OWN_ID,
    CreateRequest,
    DeleteRequest,
    Sent,
    UpdateRequest,
)
from plugins.knowledge.memory.responses import CreateResponse, DeleteResponse
from plugins.knowledge.memory.store.batches import BatchItem

if TYPE_CHECKING:
    from plugins.knowledge.memory.store.batches import Operation

_TAKES: Mapping[Operation, type[Sent]] = {
    "create": CreateRequest,
    "update": UpdateRequest,
    "upsert": UpdateRequest,
    "delete": DeleteRequest,
}


@dataclass(frozen=True, slots=True)
class Asked:
    """An entry of a batch, read.

    Attributes:
        item: the entry.
        request: what it asks for, or the error that says why it cannot be read.
    """

    item: BatchItem
    request: Any


def read(operation: Operation, item: BatchItem) -> Asked:
    """Check an entry of a batch."""
    try:
        request = _TAKES[operation].model_validate(item.request)
    except ValidationError as error:
        return Asked(item, _named(error))
    if isinstance(request, UpdateRequest) and request.id is None and operation == "update":
        return Asked(item, _wrong("id: say which entry is to be changed."))
    return Asked(item, request)


async def texts(govern: Governing, asked: Sequence[Asked], caller: Caller) -> list[str]:
    """What of some entries will be embedded, as far as can be told before they are written."""
    requests = [each.request for each in asked if isinstance(each.request, CreateRequest)]
    named = {each.id for each in requests if isinstance(each, UpdateRequest) and each.id}
    there = await govern.keep.reading.read(named, keys(caller)) if named else {}
    found = []
    for request in requests:
        generate = request.options.generate_embedding
        with suppress(MemoryFailed):  # it is refused when its turn comes
            current = there.get(getattr(request, "id", None) or "")
            if current is None:
                record = drafted(request, caller, caller.person or "", govern.clock())
            else:
                record = rewritten(current, request, govern.clock())
                generate = current.embedded if generate is None else generate
            if is_made(record, request.entry.embedding, generate):
                found.append(record.text)
    return found


async def done(govern: Governing, operation: Operation, asked: Asked, caller: Caller) -> BatchItem:
    """Do what an entry asks for; what became of it.

    Raises:
        MemoryFailed: it cannot be done.
    """
    item, request = asked.item, asked.request
    if isinstance(request, MemoryFailed):
        raise request
    if operation == "delete":
        return _told(item, await govern.delete(request, caller))
    if operation == "update":
        return _told(item, await govern.update(request.id, request, caller))
    if operation == "upsert":
        if request.id is not None and await _is_there(govern, request.id, caller):
            return _told(item, await govern.update(request.id, request, caller))
        request = _creation(request)
    return _told(item, await govern.create(request, caller, id=item.entry))


def failed(item: BatchItem, error: MemoryFailed) -> BatchItem:
    """What became of an entry that could not be written."""
    why: dict[str, Any] = {"code": int(error.number), "message": error.message}
    if error.details:
        why["details"] = error.details
    return replace(item, outcome="failed", error=why)


def entry_of(operation: Operation, request: Any, new: str) -> str:
    """The id of the entry that a raw entry of a batch is about, or the one that it gets.

    Args:
        operation: of the batch.
        request: the raw entry, which may be anything.
        new: an id for a new entry.
    """
    named = request.get("id") if isinstance(request, Mapping) else None
    if operation == "create" or (operation == "upsert" and named is None):
        return new
    return named[:200].replace("\0", "") if isinstance(named, str) else ""


def _creation(request: UpdateRequest) -> CreateRequest:
    """The same, to make an entry that is not there.

    Raises:
        MemoryFailed: none can be made under that id.
    """
    if request.id is not None and not OWN_ID.fullmatch(request.id):
        raise _wrong("id: an entry can be made under letters, digits and . _ ~ : -, 100 at most.")
    given = {name: getattr(request, name) for name in CreateRequest.model_fields}
    return CreateRequest.model_construct(request.model_fields_set - {"id"}, **given)


async def _is_there(govern: Governing, id: str, caller: Caller) -> bool:
    try:
        await govern.keep.found(id, caller)
    except MemoryFailed as error:
        if error.number is ErrorCode.NOT_FOUND:
            return False
        raise
    return True


def _told(item: BatchItem, answer: CreateResponse | DeleteResponse) -> BatchItem:
    waiting = answer.approval_required
    approval = None if waiting is None else waiting.request_id
    if isinstance(answer, CreateResponse):
        return replace(item, entry=answer.entry.id, outcome=answer.status, approval=approval)
    return replace(
        item, outcome="deleted" if answer.deleted else "pending_approval", approval=approval
    )


def _named(error: ValidationError) -> MemoryFailed:
    """Why an entry cannot be read; it names each field."""
    errors = [
        {"parameter": ".".join(map(str, each["loc"])) or "the entry", "reason": each["msg"]}
        for each in error.errors(include_url=False, include_input=False, include_context=False)
    ]
    lines = "; ".join(f"{each['parameter']}: {each['reason']}" for each in errors[:5])
    return MemoryFailed(ErrorCode.INVALID_REQUEST, lines, {"errors": errors[:20]})


def _wrong(message: str) -> MemoryFailed:
    return MemoryFailed(ErrorCode.INVALID_REQUEST, message)
