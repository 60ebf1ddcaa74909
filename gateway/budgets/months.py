"""Months as budgets count them: of UTC, written as ``2026-11``."""

from __future__ import annotations

import re
from datetime import UTC, datetime

_MONTH = re.compile(r"(2[0-9]{3})-(0[1-9]|1[0-2])", re.ASCII)


def month_of(at: datetime) -> str:
    """The month that a time is in."""
    return f"{at.astimezone(UTC):%Y-%m}"


def begin_of(month: str) -> datetime:
    """When a month begins.

    Raises:
        ValueError: it is no month.
    """
    if not _MONTH.fullmatch(month):
        raise ValueError("must be a month such as 2026-11")
    return datetime(int(month[:4]), int(month[5:]), 1, tzinfo=UTC)


def end_of(month: str) -> datetime:
    """When a month ends, which is when the next one begins and budgets are new.

    Raises:
        ValueError: it is no month.
    """
    begin = begin_of(month)
    year, later = divmod(begin.month, 12)
    return begin.replace(year=begin.year + year, month=later + 1)


def day_in_words(at: datetime) -> str:
    """A day as people read it, such as ``1 December 2026 (UTC)``."""
    return f"{at.astimezone(UTC).day} {at.astimezone(UTC):%B %Y} (UTC)"
