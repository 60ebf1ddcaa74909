"""One entry of a batch: validated on its own, and carried out as a single operation would be."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from pydantic import ValidationError

from gateway.contract import Caller
from plugins.knowledge.memory.model.errors import ErrorCode, MemoryFailed
from plugins.knowledge.memory.model.requests import (
    CHOSEN_ID,
    RESERVED_IDS,
    CreateRequest,
    DeleteRequest,
    Sent,
    UpdateRequest,
)
from plugins.knowledge.memory.model.responses import CreateResponse, DeleteResponse
from plugins.knowledge.memory.rights.access import caller_keys
from plugins.knowledge.memory.store.batches import BatchItem
from plugins.knowledge.memory.write.drafts import new_record, updated_record
from plugins.knowledge.memory.write.embedding import is_generated
from plugins.knowledge.memory.write.governed import GovernedEntries

if TYPE_CHECKING:
    from plugins.knowledge.memory.model.outcomes import BatchOperation

_REQUEST_MODELS: Mapping[BatchOperation, type[Sent]] = {
    "create": CreateRequest,
    "update": UpdateRequest,
    "upsert": UpdateRequest,
    "delete": DeleteRequest,
}


@dataclass(frozen=True, slots=True)
class ParsedItem:
    """An entry of a batch, read.

    Attributes:
        item: the entry.
        request: what it asks for, or the error that says why it cannot be read.
    """

    item: BatchItem
    request: Any


def parse_item(operation: BatchOperation, item: BatchItem) -> ParsedItem:
    """Check an entry of a batch."""
    try:
        request = _REQUEST_MODELS[operation].model_validate(item.request)
    except ValidationError as error:
        return ParsedItem(item, _invalid_item(error))
    if isinstance(request, UpdateRequest) and request.id is None and operation == "update":
        return ParsedItem(item, _invalid("id: say which entry is to be changed."))
    return ParsedItem(item, request)


async def texts_to_embed(
    governed: GovernedEntries, asked: Sequence[ParsedItem], caller: Caller
) -> list[str]:
    """What of some entries will be embedded, as far as can be told before they are written."""
    requests = [each.request for each in asked if isinstance(each.request, CreateRequest)]
    named = {each.id for each in requests if isinstance(each, UpdateRequest) and each.id}
    there = await governed.entries.reads.read(named, caller_keys(caller)) if named else {}
    found = []
    for request in requests:
        generate = request.options.generate_embedding
        with suppress(MemoryFailed):  # it is refused when its turn comes
            current = there.get(getattr(request, "id", None) or "")
            if current is None:
                record = new_record(request, caller, caller.person or "", governed.entries.clock())
            else:
                record = updated_record(current, request, governed.entries.clock())
                generate = current.embedded if generate is None else generate
            if is_generated(record, request.entry.embedding, generate):
                found.append(record.text)
    return found


async def carry_out_item(
    governed: GovernedEntries, operation: BatchOperation, asked: ParsedItem, caller: Caller
) -> BatchItem:
    """Do what an entry asks for; what became of it.

    Raises:
        MemoryFailed: it cannot be done.
    """
    item, request = asked.item, asked.request
    if isinstance(request, MemoryFailed):
        raise request
    if operation == "delete":
        return _outcome(item, await governed.delete(request, caller))
    if operation == "update":
        return _outcome(item, await governed.update(request.id, request, caller))
    if operation == "upsert":
        if request.id is not None and await _exists(governed, request.id, caller):
            return _outcome(item, await governed.update(request.id, request, caller))
        request = _creation(request)
    return _outcome(item, await governed.create(request, caller, id=item.entry))


def failed_item(item: BatchItem, error: MemoryFailed) -> BatchItem:
    """What became of an entry that could not be written."""
    why: dict[str, Any] = {"code": int(error.number), "message": error.message}
    if error.details:
        why["details"] = error.details
    return replace(item, outcome="failed", error=why)


def entry_id(operation: BatchOperation, request: Any, new: str) -> str:
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
    if request.id is not None and not CHOSEN_ID.fullmatch(request.id):
        raise _invalid("id: an entry can be made under letters, digits and . _ ~ : -, 100 at most.")
    if request.id in RESERVED_IDS:
        raise _invalid(f"id: {request.id} is a path of this API. Choose another one.")
    given = {name: getattr(request, name) for name in CreateRequest.model_fields}
    return CreateRequest.model_construct(request.model_fields_set - {"id"}, **given)


async def _exists(governed: GovernedEntries, id: str, caller: Caller) -> bool:
    try:
        await governed.entries.found(id, caller)
    except MemoryFailed as error:
        if error.number is ErrorCode.NOT_FOUND:
            return False
        raise
    return True


def _outcome(item: BatchItem, answer: CreateResponse | DeleteResponse) -> BatchItem:
    waiting = answer.approval_required
    approval = None if waiting is None else waiting.request_id
    if isinstance(answer, CreateResponse):
        return replace(item, entry=answer.entry.id, outcome=answer.status, approval=approval)
    return replace(
        item, outcome="deleted" if answer.deleted else "pending_approval", approval=approval
    )


def _invalid_item(error: ValidationError) -> MemoryFailed:
    """Why an entry cannot be read; it names each field."""
    errors = [
        {"parameter": ".".join(map(str, each["loc"])) or "the entry", "reason": each["msg"]}
        for each in error.errors(include_url=False, include_input=False, include_context=False)
    ]
    lines = "; ".join(f"{each['parameter']}: {each['reason']}" for each in errors[:5])
    return MemoryFailed(ErrorCode.INVALID_REQUEST, lines, {"errors": errors[:20]})


def _invalid(message: str) -> MemoryFailed:
    return MemoryFailed(ErrorCode.INVALID_REQUEST, message)
