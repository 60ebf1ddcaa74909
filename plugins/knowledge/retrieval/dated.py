"""Days that documents go by, as minutes and posts do: ``meetings/2024-04-10.md``."""

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
_UNSAID = datetime(1, 1, 1, tzinfo=UTC)
"""Now, for what has no year: so a day without one is seen to have none."""


def day(question: str, now: datetime) -> str | None:
    """The day that a question names, in the form for comparing.

    Args:
        question: as it was asked.
        now: the time, in UTC; a day without a year is one near to it.
    """
    time = asked_time(question, now)
    if time is None or time.ends - time.begins > timedelta(days=1):
        return None
    return time.begins.date().isoformat()


def days_of(entry: DocumentEntry) -> set[str]:
    """The days in a document's title and in its file's name."""
    title = one_line(entry.title)
    return {*_stamps(PurePosixPath(entry.path).stem), *_stamps(title), *_written(title)}


def _stamps(name: str) -> Iterator[str]:
    for found in _STAMP.finditer(name):
        try:
            yield date(*map(int, found.group("year", "month", "day"))).isoformat()
        except ValueError:  # no day that the calendar has
            continue


def _written(title: str) -> Iterator[str]:
    """The day that a title names in words, with its year."""
    found = day(title, _UNSAID)
    if found is not None and found[:4] != _UNSAID.date().isoformat()[:4]:
        yield found
