"""Which documents have grown older than documents of their type should without a look."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta

from plugins.knowledge.notes.content import ContentType, matching
from plugins.knowledge.notes.documents import Entry


@dataclass(frozen=True, slots=True)
class Overdue:
    """A document that its author should look at.

    Attributes:
        entry: the document.
        age: since somebody wrote or verified it.
        reason: why it should be looked at, in words.
    """

    entry: Entry
    age: timedelta
    reason: str


def overdue(
    entries: Iterable[Entry], days: Mapping[ContentType, int], now: datetime
) -> list[Overdue]:
    """Documents that are past their type's age, or said to hold no more, the oldest first.

    Args:
        entries: documents.
        days: after how many a document of a type wants a look; of a parent type, its children too.
        now: the time.
    """
    ages = {kind: days[wanted] for wanted in days for kind in matching(wanted)} | dict(days)
    found = (_overdue(each, ages.get(each.content_type), now) for each in entries)
    return sorted(filter(None, found), key=lambda one: (-one.age, one.entry.key))


def last_look(entry: Entry) -> datetime:
    """When somebody last wrote or verified a document, as far as it says so."""
    said = entry.metadata
    return said.date if said.verified_at is None else max(said.date, said.verified_at)


def _overdue(entry: Entry, limit: int | None, now: datetime) -> Overdue | None:
    age, said = now - last_look(entry), entry.metadata
    if said.superseded_by is not None:
        return None  # its author has looked
    if said.valid_until is not None and said.valid_until <= now:
        return Overdue(entry, age, f"it held until {said.valid_until:%Y-%m-%d}")
    if limit is not None and age > timedelta(days=limit):
        return Overdue(entry, age, f"nobody has looked at it for {age.days} days ({limit} at most)")
    return None
