"""What a request asks to keep, as a record."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime, timedelta

from gateway.contract import Caller
from plugins.knowledge.memory.entries import AccessPolicyConfig, Layer
from plugins.knowledge.memory.failures import ErrorCode, MemoryFailed
from plugins.knowledge.memory.records import Record, new_id
from plugins.knowledge.memory.requests import (
    LARGEST_ENTRY,
    LARGEST_METADATA,
    CreateRequest,
    EntryDraft,
)

LIVES: Mapping[Layer, timedelta] = {Layer.SESSION: timedelta(days=1)}
"""How long layers keep entries that nobody writes again."""
HOME = Layer.SEMANTIC
"""Where an entry goes that names no layer."""


def drafted(request: CreateRequest, caller: Caller, person: str, now: datetime) -> Record:
    """A new record.

    Args:
        request: what is asked for.
        caller: who asks.
        person: the caller's id.
        now: the time.

    Raises:
        MemoryFailed: the entry is too large, or for somebody else.
    """
    checked_size(request.entry)
    target = request.options.layer
    layer = HOME if target is None else target.type
    if target is not None and target.user_id not in (None, person) and not caller.admin:
        raise MemoryFailed(
            ErrorCode.FORBIDDEN,
            "You can keep entries for yourself only: leave layer.user_id out. To let others read "
            "an entry, set its access policy.",
        )
    owner = person if target is None or target.user_id is None else target.user_id
    life = LIVES.get(layer)
    return Record(
        id=new_id(),
        layer=layer,
        owner=owner,
        agent=None if target is None else target.agent_id,
        content=request.entry.content,
        metadata=request.entry.metadata,
        source=request.entry.source,
        access=access_of(request),
        created=now,
        placed=now,
        used=now,
        versioned=request.options.version,
        expires=None if life is None else now + life,
    )


def access_of(request: CreateRequest) -> AccessPolicyConfig:
    """The policy that is asked for, with whom it names."""
    config = request.options.access_policy
    return config or AccessPolicyConfig(policy=request.entry.access_policy)


def rewritten(current: Record, request: CreateRequest, now: datetime) -> Record:
    """An entry as an update wants it; what the update does not name stays as it was.

    Args:
        current: the entry.
        request: what is asked for.
        now: the time.
    """
    checked_size(request.entry)
    entry = request.entry
    given = request.model_fields_set
    named = "options" in given and request.options.access_policy is not None
    policy = named or "access_policy" in entry.model_fields_set
    life = LIVES.get(current.layer)
    return replace(
        current,
        content=entry.content,
        metadata=entry.metadata if "metadata" in entry.model_fields_set else current.metadata,
        source=entry.source if "source" in entry.model_fields_set else current.source,
        access=access_of(request) if policy else current.access,
        version=current.version + 1,
        updated=now,
        used=now,
        expires=None if life is None else now + life,
    )


def checked_size(entry: EntryDraft) -> None:
    """Refuse what is too large.

    Raises:
        MemoryFailed: the content or the metadata is too large, or no valid Unicode.
    """
    try:
        size = len(entry.content.encode())
    except UnicodeEncodeError:
        raise MemoryFailed(
            ErrorCode.INVALID_REQUEST, "The content is no valid Unicode text."
        ) from None
    if size > LARGEST_ENTRY:
        raise MemoryFailed(
            ErrorCode.INVALID_REQUEST,
            f"The content has {size:,} bytes; {LARGEST_ENTRY:,} is the limit. Keep it in parts, "
            "or keep a summary and where the whole is.",
            {"limit": LARGEST_ENTRY, "size": size},
        )
    said = len(json.dumps(entry.metadata.model_dump(mode="json")))
    if said > LARGEST_METADATA:
        raise MemoryFailed(
            ErrorCode.INVALID_REQUEST,
            f"The metadata takes {said:,} characters as JSON; {LARGEST_METADATA:,} is the limit. "
            "Keep in custom what entries are found by, and the rest in the content.",
            {"limit": LARGEST_METADATA, "size": said},
        )
