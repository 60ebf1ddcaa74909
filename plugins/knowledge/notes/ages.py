"""Which documents have grown older than documents of their type should without a look."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Literal

from plugins.knowledge.notes.content_types import ContentType, matching
from plugins.knowledge.notes.documents import DocumentEntry
from plugins.knowledge.notes.statuses import has_ended

Cause = Literal["age", "end", "circle", "unclear", "lost", "contested", "source"]
"""Why a document should be looked at."""


@dataclass(frozen=True, slots=True)
class Overdue:
    """A document that its author should look at.

    Attributes:
        entry: the document.
        age: since somebody wrote or verified it.
        reason: why it should be looked at, in words.
        cause: the same, in one of few words.
    """

    entry: DocumentEntry
    age: timedelta
    reason: str
    cause: Cause


def overdue(
    entries: Iterable[DocumentEntry], days: Mapping[ContentType, int], now: datetime
) -> list[Overdue]:
    """Documents that are past their type's age, or said to hold no more, the oldest first.

    Args:
        entries: documents.
        days: after how many a document of a type wants a look; of a parent type, its children too.
        now: the time.
    """
    ages = age_limits(days)
    found = (_overdue(each, ages.get(each.content_type), now) for each in entries)
    return sorted(filter(None, found), key=lambda one: (-one.age, one.entry.key))


def age_limits(days: Mapping[ContentType, int]) -> dict[ContentType, int]:
    """After how many days a document of each type wants a look; a parent's count for its children.

    Args:
        days: what the settings say; a child's own come before its parent's.
    """
    return {kind: days[wanted] for wanted in days for kind in matching(wanted)} | dict(days)


def last_look(entry: DocumentEntry) -> datetime:
    """When somebody last wrote or verified a document, as far as it says so."""
    looked = entry.metadata.verified_at
    return entry.written if looked is None else max(entry.written, looked)


def _overdue(entry: DocumentEntry, limit: int | None, now: datetime) -> Overdue | None:
    age, said = now - last_look(entry), entry.metadata
    if said.superseded_by is not None or has_ended(entry.status):
        return None  # its author has looked
    if entry.ends is not None and entry.ends < now:
        return Overdue(entry, age, f"it held until {entry.ends:%Y-%m-%d}", "end")
    if limit is not None and age > timedelta(days=limit):
        reason = f"nobody has looked at it for {age.days} days ({limit} at most)"
        return Overdue(entry, age, reason, "age")
    return None
