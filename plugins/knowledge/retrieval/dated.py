"""Days and months that documents go by, as minutes and posts do: ``meetings/2024-04-10.md``."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import UTC, date, datetime, timedelta
from pathlib import PurePosixPath

from plugins.knowledge.notes.documents import DocumentEntry
from plugins.knowledge.retrieval.asked_times import asked_time
from plugins.knowledge.retrieval.markup import one_line

_STAMP = re.compile(
    r"(?<!\d)(?P<year>(?:19|20)\d\d)(?P<sign>[-_.]?)(?P<month>\d\d)(?P=sign)(?P<day>\d\d)(?!\d)"
)
_MAX_DAYS = 8
"""Days that a question may name one by one: a past week with today."""
_MONTH_DAYS = range(28, 32)
_UNSAID = datetime(1, 1, 1, tzinfo=UTC)
"""Now, for what has no year: so a day without one is seen to have none."""


def days(question: str, now: datetime) -> set[str]:
    """The day that a question names, or each of a week, or the month, in the form for comparing.

    Args:
        question: as it was asked.
        now: the time, in UTC; a day without a year is one near to it.
    """
    time = asked_time(question, now)
    if time is None:
        return set()
    first, count = time.begins.date(), (time.ends - time.begins).days + 1
    if count in _MONTH_DAYS:
        return {_month(first.isoformat())}
    if count > _MAX_DAYS:
        return set()
    return {(first + timedelta(days=n)).isoformat() for n in range(count)}


def days_of(entry: DocumentEntry) -> set[str]:
    """The days in a document's title and in its file's name, and their months."""
    title = one_line(entry.title)
    found = {*_stamps(PurePosixPath(entry.path).stem), *_stamps(title), *_written(title)}
    return found.union(map(_month, found))


def _month(day: str) -> str:
    return day[: len("2024-04")]


def _stamps(name: str) -> Iterator[str]:
    for found in _STAMP.finditer(name):
        try:
            yield date(*map(int, found.group("year", "month", "day"))).isoformat()
        except ValueError:  # no day that the calendar has
            continue


def _written(title: str) -> Iterator[str]:
    """The day that a title names in words, with its year."""
    unsaid = _UNSAID.date().isoformat()[:4]
    yield from (each for each in days(title, _UNSAID) if not each.startswith(unsaid))
