"""Numbers, times of day and dates in one form, so that "3 pm" and "15:00" are one value."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence


def _words(text: str) -> list[str]:
    return text.split()


_UNITS = _words(
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen "
    "sixteen seventeen eighteen nineteen"
)
_TENS = _words("twenty thirty forty fifty sixty seventy eighty ninety")
_TENS_AND_UNITS = {
    f"{tens}-{unit}" if at else tens: 10 * (number + 2) + at
    for number, tens in enumerate(_TENS)
    for at, unit in enumerate(_UNITS[:10])
}
_NUMBERS = {word: number for number, word in enumerate(_UNITS)} | _TENS_AND_UNITS
_TIMES = {"hundred": 100, "thousand": 1_000}
_HOURS = {"noon": "12:00", "midnight": "0:00"}
_MONTHS = _words(
    "January February March April May June July August September October November December"
)
_SIGNS = {"€": "euros", "%": "percent"}
_HALF = re.compile(r"\b([ap])\.m\b\.?", re.IGNORECASE)
_CLOCK = re.compile(r"(\d{1,2})(?:[:.](\d{2}))?(am|pm)?")
_GROUPED = re.compile(r"\d{1,3}(?:,\d{3})+(?:\.\d+)?")
_DATE = re.compile(r"(?P<year>\d{4})-(?P<month>\d\d)-(?P<day>\d\d)")
_DOTTED = re.compile(r"(?P<day>\d\d?)\.(?P<month>\d\d?)\.(?P<year>\d{4})")
_ORDINAL = re.compile(r"(\d+)(?:st|[nr]d|th)")
_WHOLE = re.compile(r"(\d{1,2}):(\d\d)")


def with_plain_halves(text: str) -> str:
    """A text with "am" and "pm" in place of "a.m." and "p.m.".

    Args:
        text: any prose.
    """
    return _HALF.sub(r"\1m", text)


def plain(tokens: Sequence[str]) -> list[str]:
    """Tokens of which those that are one value are written alike; a clock is ``15:00``.

    Args:
        tokens: of a sentence, in order.
    """
    made: list[str] = []
    at = 0
    while at < len(tokens):
        written, used = _plain_at(tokens, at)
        made += written
        at += used
    return made


def also_said(tokens: Iterable[str]) -> Iterator[str]:
    """What else people say for the times of day among tokens: "3" and "15" for ``15:00``.

    Args:
        tokens: as :func:`plain` gives them.
    """
    for token in tokens:
        if match := _WHOLE.fullmatch(token):
            hour, minutes = int(match[1]), match[2]
            for each in {hour, hour - 12 if hour > 12 else hour}:
                yield str(each) if minutes == "00" else f"{each}:{minutes}"


def _plain_at(tokens: Sequence[str], at: int) -> tuple[list[str], int]:
    """The plain form of what begins at a place, and how many tokens that is."""
    token, after = tokens[at].lower(), tokens[at + 1].lower() if at + 1 < len(tokens) else ""
    if not token[0].isdigit():
        return _word(tokens[at], after)
    if token[-1] in _SIGNS:
        return [*_plain_at([token[:-1]], 0)[0], _SIGNS[token[-1]]], 1
    if found := _clock(token, after):
        return found
    if date := _DATE.fullmatch(token) or _DOTTED.fullmatch(token):
        return _date(date), 1
    if ordinal := _ORDINAL.fullmatch(token):
        return [ordinal[1] if _beside_month(tokens, at) else token], 1
    return [token.replace(",", "") if _GROUPED.fullmatch(token) else tokens[at]], 1


def _word(token: str, after: str) -> tuple[list[str], int]:
    """A word, which may be a number or an hour."""
    lowered = token.lower()
    if lowered in _HOURS:
        return [_HOURS[lowered]], 1
    if (number := _NUMBERS.get(lowered)) is None:
        return [token], 1
    if after in _TIMES:
        return [str(number * _TIMES[after])], 2
    return _clock(str(number), after) or ([str(number)], 1)


def _clock(token: str, after: str) -> tuple[list[str], int] | None:
    """A time of day, and how many tokens it is; None where there is none."""
    match = _CLOCK.fullmatch(token)
    half = (match and match[3]) or (after if after in ("am", "pm") else "")
    if match is None or not (half or (match[2] and ":" in token)):
        return None
    hour = int(match[1])
    if hour <= 12 and half:
        hour = hour % 12 + (12 if half == "pm" else 0)
    return [f"{hour}:{match[2] or '00'}"], 1 if match[3] or not half else 2


def _date(match: re.Match[str]) -> list[str]:
    month = int(match["month"])
    if not 1 <= month <= len(_MONTHS):
        return [match[0]]
    return [str(int(match["day"])), _MONTHS[month - 1], match["year"]]


def _beside_month(tokens: Sequence[str], at: int) -> bool:
    """Whether a month stands before a day, or behind it: "May 3rd", "the 3rd of May"."""
    behind = [each for each in tokens[at + 1 : at + 3] if each != "of"]
    return any(each in _MONTHS for each in (*tokens[max(0, at - 1) : at], *behind[:1]))
