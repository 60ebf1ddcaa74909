"""The time that a question in English names, and what is left of the question without it.

"What did we decide in October?" is answered by a decision of October, which does not say so in its
words.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from gateway.toolkit.words import terms

_MONTHS = (
    *("january", "february", "march", "april", "may", "june", "july", "august", "september"),
    *("october", "november", "december"),
)
_MONTH = "|".join(_MONTHS)
_YEAR = r"(?P<year>(?:19|20)\d\d)"
_OF_YEAR = rf"(?:,? (?:of )?{_YEAR})?(?!\d)"
_DAY = re.compile(
    rf"(?:\b(?:on|of) )?(?:\bthe )?\b(?:(?P<day>\d\d?)(?:st|[nr]d|th)?(?: of)? (?P<month>{_MONTH})"
    rf"|(?P<month2>{_MONTH}) (?P<day2>\d\d?)(?:st|[nr]d|th)?(?!\d)){_OF_YEAR}",
    re.IGNORECASE,
)
_ISO = re.compile(r"(?:\bon )?\b(?P<year>(?:19|20)\d\d)-(?P<month>\d\d)-(?P<day>\d\d)\b")
_OF_MONTH = re.compile(
    rf"\b(?:(?:back |early |late )?(?:in|during|of|from) (?P<last>last )?|(?P<last2>last ))"
    rf"(?P<month>{_MONTH})\b{_OF_YEAR}|\b(?P<month2>{_MONTH}) (?P<year2>(?:19|20)\d\d)\b",
    re.IGNORECASE,
)
_IN_YEAR = re.compile(rf"\b(?:in|during) {_YEAR}\b")
_NEAR = re.compile(
    r"\b(?P<which>yesterday|today|(?:last|previous|this|past) (?:week|month|year))\b", re.IGNORECASE
)
_PAST = re.compile(r"\b(?:did|was|were|had|have|has|went|got|\w{2,}ed)\b", re.IGNORECASE)
_TORN = re.compile(r"^[\s,;:]+|(?<=\s)['\u2019]s\b\s?|\s(?=[\s?!.,;])")
"""What is left of a time that is taken out of a question."""
_SAYS_LITTLE = frozenset(terms("happen happens happened did done do go going went say said new"))


@dataclass(frozen=True, slots=True)
class AskedTime:
    """A time that a question names.

    Attributes:
        begins: its first moment.
        ends: its last moment.
        rest: the question without it; "" where that asks for nothing.
    """

    begins: datetime
    ends: datetime
    rest: str


def asked_time(question: str, now: datetime) -> AskedTime | None:
    """The time that a question names; None where it names none, or none that the calendar has.

    Of a month or a day without a year it is the last one where something is asked that has been,
    and else the one of this year.

    Args:
        question: as it was asked.
        now: the time, in UTC.
    """
    found = ((pattern.search(question), read) for pattern, read in _READ)
    match, read = next((each for each in found if each[0]), (None, _near))
    if match is None:
        return None
    try:
        begins, after = read(match, now)
    except (ValueError, OverflowError):
        return None
    rest = _TORN.sub("", f"{question[: match.start()]} {question[match.end() :]}").strip()
    asks = frozenset(terms(rest)) - _SAYS_LITTLE
    return AskedTime(begins, after - timedelta(microseconds=1), rest if asks else "")


Span = tuple[datetime, datetime]
"""The first moment of a time, and the first one after it."""


def _day(match: re.Match[str], now: datetime) -> Span:
    said = match.groupdict()
    day, month = int(said["day"] or said["day2"]), said["month"] or said["month2"]
    number = int(month) if month.isdigit() else _MONTHS.index(month.lower()) + 1
    begins = datetime(int(said["year"] or now.year), number, day, tzinfo=UTC)
    if not said["year"] and begins > now and _PAST.search(match.string):
        begins = begins.replace(year=now.year - 1)
    return begins, begins + timedelta(days=1)


def _month(match: re.Match[str], now: datetime) -> Span:
    said = match.groupdict()
    number = _MONTHS.index((said["month"] or said["month2"]).lower()) + 1
    year = said["year"] or said["year2"]
    begins = datetime(int(year or now.year), number, 1, tzinfo=UTC)
    is_last = said["last"] or said["last2"]
    is_over = is_last or _PAST.search(match.string)
    if not year and is_over and (begins > now or (is_last and number == now.month)):
        begins = begins.replace(year=now.year - 1)
    return begins, _months_on(begins, 1)


def _year(match: re.Match[str], now: datetime) -> Span:
    year = int(match["year"])
    return datetime(year, 1, 1, tzinfo=UTC), datetime(year + 1, 1, 1, tzinfo=UTC)


def _near(match: re.Match[str], now: datetime) -> Span:
    today = now.replace(hour=0, minute=0, second=0, microsecond=0)
    which, _, unit = match["which"].lower().partition(" ")
    if not unit:
        begins = today if which == "today" else today - timedelta(days=1)
        return begins, begins + timedelta(days=1)
    if unit == "week":
        begins = today - timedelta(days=today.weekday())
        before, after = begins - timedelta(days=7), begins + timedelta(days=7)
    else:
        begins = today.replace(day=1, month=today.month if unit == "month" else 1)
        step = -1 if unit == "month" else -12
        before, after = _months_on(begins, step), _months_on(begins, -step)
    if which == "past":
        return today - (begins - before), today + timedelta(days=1)
    return (begins, after) if which == "this" else (before, begins)


def _months_on(begins: datetime, months: int) -> datetime:
    """The first day of a month that is some months away."""
    year, month = divmod(begins.year * 12 + begins.month - 1 + months, 12)
    return begins.replace(year=year, month=month + 1, day=1)


_READ = ((_ISO, _day), (_DAY, _day), (_OF_MONTH, _month), (_IN_YEAR, _year), (_NEAR, _near))
