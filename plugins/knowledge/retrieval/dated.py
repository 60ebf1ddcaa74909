"""Days and months that documents go by, as minutes and posts do: ``meetings/2024-04-10.md``."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime, timedelta

from plugins.knowledge.notes.documents import DocumentEntry
from plugins.knowledge.retrieval.asked_times import asked_time
from plugins.knowledge.retrieval.markup import one_line
from plugins.knowledge.retrieval.numbered import file_name
from plugins.knowledge.written_days import month_of, written_days

_MAX_DAYS = 8
"""Days that a question may name one by one: a past week with today."""
_MONTH_DAYS = range(28, 32)


def days(question: str, now: datetime) -> set[str]:
    """The days and months that a question names, in the form for comparing.

    Those that it writes with their year, in any of ten languages; in English also a day without
    one, each day of a week, and what is said from today, such as "last month".

    Args:
        question: as it was asked.
        now: the time, in UTC.
    """
    if found := set(written_days(question)):
        return found
    if (time := asked_time(question, now)) is None:
        return set()
    first, count = time.begins.date(), (time.ends - time.begins).days + 1
    if count in _MONTH_DAYS:
        return {month_of(first.isoformat())}
    if count > _MAX_DAYS:
        return set()
    return {(first + timedelta(days=n)).isoformat() for n in range(count)}


def days_of(entry: DocumentEntry) -> Iterator[str]:
    """The days in the name of a document's file and in its title, each with its month."""
    for name in (file_name(entry.path), one_line(entry.title)):
        for found in written_days(name):
            yield from (found, month_of(found))
