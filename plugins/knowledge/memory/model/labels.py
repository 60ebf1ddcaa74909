"""The labels of entries: short texts by which every store filters, compared for equality.

A label is a kind and a value. The database keeps them in a table, the vector store in the payload,
so that a filter means the same in both.
"""

from __future__ import annotations

import hashlib
import json
import re
import unicodedata
from typing import Any

from plugins.knowledge.memory.model.record import Record

DATED = r"^\s*(?:[\[(][^\])\n]{1,60}[\])]\s*)?"
"""How a line of a conversation begins, as a pattern: with a date in brackets, where it has one."""
NAME = r"[A-Z][\w.'-]{0,30}(?: [A-Z][\w.'-]{0,30})?"
"""A name of one word or two, as a pattern."""
_HANDLE = r"@[a-z][\w.-]{0,30}|[a-z][a-z0-9.-]{0,20}_[\w.-]{0,20}"
SPEAKER = re.compile(rf"{DATED}({NAME}|{_HANDLE}):\s")
"""Who speaks in a line: a name before a colon, or a handle of a chat (``@kim``, ``kim_w``)."""

CUE_LABEL = re.compile(
    r"^(?:update|correction|erratum|note|reminder|news|fyi|edit|change|attention|important"
    r"|announcement|decision|decided|agreed|ps|heads-up)\b",
    re.IGNORECASE,
)
"""What stands before a colon and is no thing of which something is said."""


def labels(record: Record) -> frozenset[str]:
    """All that an entry can be found by, or held back by."""
    said = record.metadata
    found = {
        *map(reader, record.readers),
        *map(tag, said.tags),
        source(record.source.type),
        policy(record.access.policy),
    }
    if said.author is not None:
        found.add(author(said.author))
    if (speaker := voice_of(record.content, said.author)) is not None:
        found |= voices(speaker)
    if record.agent is not None:
        found.add(agent(record.agent))
    for key, value in said.custom.items():
        found.add(custom(key, value))
        if isinstance(value, list):
            found |= {custom(key, each) for each in value}
    return frozenset(found)


READER = "reader:"


def reader(key: str) -> str:
    """Held by entries that a key may read."""
    return READER + key


def tag(name: str) -> str:
    """Held by entries with a tag; case makes no difference, nor how marks are encoded."""
    return f"tag:{unicodedata.normalize('NFC', name).casefold()}"


def source(kind: str) -> str:
    """Held by entries from a kind of source."""
    return f"source:{kind}"


def policy(name: str) -> str:
    """Held by entries under an access policy."""
    return f"policy:{name}"


def author(name: str) -> str:
    """Held by entries of an author."""
    return f"author:{name}"


VOICE = "voice:"


def voices(name: str) -> frozenset[str]:
    """Held by entries that somebody says: one for each of their names, whatever its case."""
    return frozenset(f"{VOICE}{each.casefold().removeprefix('@')}" for each in name.split())


def voice_of(content: str, author: str | None) -> str | None:
    """Who says an entry: whom it begins with, as turns of conversations do, or its author.

    Args:
        content: what it says.
        author: who is named as its author, or None.
    """
    match = SPEAKER.match(content)
    return match[1] if match and not CUE_LABEL.match(match[1]) else author


def agent(name: str) -> str:
    """Held by entries that an agent wrote."""
    return f"agent:{name}"


def custom(key: str, value: Any) -> str:
    """Held by entries with a custom field of this value, or of a list with this value."""
    written = json.dumps([key, value], sort_keys=True, ensure_ascii=True)
    return f"custom:{hashlib.blake2b(written.encode(), digest_size=16).hexdigest()}"
