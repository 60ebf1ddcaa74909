"""Turns a request into the record that it asks to store."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import datetime

from gateway.contract import Caller
from gateway.toolkit.visible_text import is_seen
from plugins.knowledge.memory.model.entry import LAYER_LIFETIMES, Layer
from plugins.knowledge.memory.model.errors import ErrorCode, MemoryFailed
from plugins.knowledge.memory.model.policy import AccessPolicyConfig
from plugins.knowledge.memory.model.record import Record, new_id
from plugins.knowledge.memory.model.requests import (
    MAX_ENTRY_BYTES,
    MAX_METADATA_CHARACTERS,
    CreateRequest,
    EntryDraft,
)
from plugins.knowledge.memory.model.validity import check_past

DEFAULT_LAYER = Layer.SEMANTIC
"""Where an entry goes that names no layer."""


def new_record(request: CreateRequest, caller: Caller, person: str, now: datetime) -> Record:
    """A new record.

    Args:
        request: what is asked for.
        caller: who asks.
        person: the caller's id.
        now: the time.

    Raises:
        MemoryFailed: the entry is blank or too large, or for somebody else.
    """
    check_content(request.entry)
    check_past(request.entry.created_at, now, "created_at (in tools: written_at)")
    target = request.options.layer
    layer = DEFAULT_LAYER if target is None else target.type
    if target is not None and target.user_id not in (None, person) and not caller.admin:
        raise MemoryFailed(
            ErrorCode.FORBIDDEN,
            "You can keep entries for yourself only: leave layer.user_id out. To let others read "
            "an entry, set its access policy.",
        )
    owner = person if target is None or target.user_id is None else target.user_id
    life = LAYER_LIFETIMES.get(layer)
    return Record(
        id=new_id(),
        layer=layer,
        owner=owner,
        agent=None if target is None else target.agent_id,
        content=request.entry.content,
        metadata=request.entry.metadata,
        source=request.entry.source,
        access=requested_access(request),
        created=request.entry.created_at or now,
        placed=now,
        used=now,
        versioned=request.options.version,
        expires=None if life is None else now + life,
        validity=request.entry.validity,
    )


def requested_access(request: CreateRequest) -> AccessPolicyConfig:
    """The policy that is asked for, with whom it names."""
    config = request.options.access_policy
    return config or AccessPolicyConfig(policy=request.entry.access_policy)


def updated_record(current: Record, request: CreateRequest, now: datetime) -> Record:
    """An entry as an update wants it; what the update does not name stays as it was.

    Args:
        current: the entry.
        request: what is asked for.
        now: the time.
    """
    check_content(request.entry)
    entry = request.entry
    if entry.relations:
        raise MemoryFailed(
            ErrorCode.INVALID_REQUEST,
            "relations are said of a new entry; of one that is there, say each with "
            "POST /{id}/relations or settle_memory.",
        )
    given = request.model_fields_set
    named = "options" in given and request.options.access_policy is not None
    policy = named or "access_policy" in entry.model_fields_set
    life = LAYER_LIFETIMES.get(current.layer)
    return replace(
        current,
        content=entry.content,
        metadata=entry.metadata if "metadata" in entry.model_fields_set else current.metadata,
        source=entry.source if "source" in entry.model_fields_set else current.source,
        access=requested_access(request) if policy else current.access,
        version=current.version + 1,
        updated=now,
        worded=None if entry.content != current.content else current.said,
        used=now,
        expires=None if life is None else now + life,
        validity=entry.validity if "validity" in entry.model_fields_set else current.validity,
        verified=current.verified if entry.content == current.content else None,
    )


def check_content(entry: EntryDraft) -> None:
    """Refuse what says nothing, and what is too large.

    Raises:
        MemoryFailed: the content is blank or no valid Unicode, or it or the metadata is too large.
    """
    try:
        size = len(entry.content.encode())
    except UnicodeEncodeError:
        raise MemoryFailed(
            ErrorCode.INVALID_REQUEST, "The content is no valid Unicode text."
        ) from None
    if not any(is_seen(each) and not each.isspace() for each in entry.content):
        raise MemoryFailed(
            ErrorCode.INVALID_REQUEST, "The content is blank: say what is to be kept."
        )
    if size > MAX_ENTRY_BYTES:
        raise MemoryFailed(
            ErrorCode.INVALID_REQUEST,
            f"The content has {size:,} bytes; {MAX_ENTRY_BYTES:,} is the limit. Keep it in parts, "
            "or keep a summary and where the whole is.",
            {"limit": MAX_ENTRY_BYTES, "size": size},
        )
    said = len(json.dumps(entry.metadata.model_dump(mode="json")))
    if said > MAX_METADATA_CHARACTERS:
        raise MemoryFailed(
            ErrorCode.INVALID_REQUEST,
            f"The metadata takes {said:,} characters as JSON; {MAX_METADATA_CHARACTERS:,} is the "
            "limit. Keep in custom what entries are found by, and the rest in the content.",
            {"limit": MAX_METADATA_CHARACTERS, "size": said},
        )
