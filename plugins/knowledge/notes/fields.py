"""Field types that accept what people really write in frontmatter.

Each takes the value as YAML gives it and returns the value that the ontology asks for, or raises
a ValueError whose text goes behind ``file:line:`` in a report.
"""

from __future__ import annotations

import re
import unicodedata
from datetime import UTC, datetime, time, timedelta
from email.utils import parsedate_to_datetime
from typing import Annotated, Any, TypeVar
from urllib.parse import urlsplit

from pydantic import BeforeValidator, Field, WithJsonSchema

from plugins.knowledge.written_days import written_day

_EMAIL = re.compile(r"[^@\s]{1,64}@[^@\s]{1,190}\.[^@\s]{1,63}")
_ZONE = re.compile(r"(?<=[0-9]) ([-+][0-9]{2}:?[0-9]{2}|Z)\Z")
_UTC = re.compile(r"(?<=[0-9]) ?(?:UTC|GMT)\Z")
_DATE_FORMATS = (
    "%Y/%m/%d",
    "%Y.%m.%d",
    "%Y%m%d",
    "%Y-%m-%d",
    "%d.%m.%Y",
    "%d %B %Y",
    "%d %b %Y",
    "%B %d, %Y",
    "%b %d, %Y",
    "%B %d %Y",
    "%b %d %Y",
)

_DAY = timedelta(days=1)

T = TypeVar("T")
Maybe = Annotated[T | None, Field(exclude_if=lambda value: value is None)]
"""An optional value that is left out of the JSON, rather than written as null, when absent."""


def parse_date(value: Any) -> datetime:
    """Read a date in any of the forms that notes use, as an aware datetime in UTC.

    ISO 8601 (with or without a time and a zone, also behind a space), ``2024/10/16``,
    ``2024.10.16``, ``20241016``, ``16.10.2024``, ``16 October 2024``, ``October 16, 2024`` (also
    abbreviated), such as ``16 octobre 2024`` in other languages, and RFC 5322.
    Forms whose day and month cannot be told apart, such as ``03/04/2024``, are refused.

    Raises:
        ValueError: the value is none of these.
    """
    if isinstance(value, datetime):
        return _utc(value)
    text = " ".join(str(value).split()) if isinstance(value, str | int) else ""
    try:
        return _utc(datetime.fromisoformat(_ZONE.sub(r"\1", _UTC.sub("Z", text))))
    except ValueError:
        pass
    for form in _DATE_FORMATS:
        try:
            return datetime.strptime(text, form).replace(tzinfo=UTC)
        except ValueError:
            continue
    try:
        return _utc(parsedate_to_datetime(text))
    except (ValueError, OverflowError) as error:
        if (written := written_day(text)) is not None:
            return datetime.fromisoformat(written).replace(tzinfo=UTC)
        raise ValueError(f"{_shown(value)} is not a date; write it as 2024-10-16") from error


def end_of(moment: datetime) -> datetime:
    """The last moment that a date means: a day without a time counts whole."""
    is_day = moment.astimezone(UTC).time() == time.min
    return moment + (_DAY - timedelta(microseconds=1)) if is_day else moment


def parse_text(value: Any) -> str:
    """One line of text: a number or a truth value as written, a list of one as its only item.

    Raises:
        ValueError: there is no text, or more than one.
    """
    items = parse_texts(value)
    if len(items) != 1:
        raise ValueError(f"expected one text, found {_shown(value)}")
    return items[0]


def parse_texts(value: Any) -> list[str]:
    """A list of texts: a single one stands for a list of one; nothing is left of empty items.

    Letters with marks have one form (NFC): macOS writes another, and two would not be the same.

    Raises:
        ValueError: an item is a mapping.
    """
    if isinstance(value, list | tuple | set | frozenset):
        return [text for item in value for text in parse_texts(item)]
    if value is None:
        return []
    if isinstance(value, bool):
        return ["true" if value else "false"]
    if isinstance(value, str | int | float):
        text = unicodedata.normalize("NFC", str(value)).strip()
        return [text] if text else []
    raise ValueError(f"expected text, found {_shown(value)}")


def parse_tags(value: Any) -> list[str]:
    """A list of tags, also as ``a, b``, without the ``#`` of a hashtag, none twice.

    GitBook has objects in the list, with the tag under its name.
    """
    if isinstance(value, list):
        value = [each.get("tag", each) if isinstance(each, dict) else each for each in value]
    words = [word for text in parse_texts(value) for word in text.split(",")]
    return list(dict.fromkeys(tag for word in words if (tag := word.strip().lstrip("#"))))


def parse_url(value: Any) -> str:
    """An absolute http or https address.

    Raises:
        ValueError: it is anything else.
    """
    text = parse_text(value)
    parts = urlsplit(text)
    if parts.scheme not in ("http", "https") or not parts.hostname or " " in text:
        raise ValueError(f"{_shown(text)} is not a web address; it begins with https://")
    return text


def parse_email(value: Any) -> str:
    """An e-mail address.

    Raises:
        ValueError: it is anything else.
    """
    text = parse_text(value)
    if not _EMAIL.fullmatch(text):
        raise ValueError(f"{_shown(text)} is not an e-mail address")
    return text


def _utc(value: datetime) -> datetime:
    try:
        return value.replace(tzinfo=UTC) if value.tzinfo is None else value.astimezone(UTC)
    except OverflowError as error:  # in UTC it is outside of the years 1 to 9999
        raise ValueError(f"{_shown(value)} is not a date; write it as 2024-10-16") from error


def _shown(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 60 else text[:57] + "..."


def _word(value: Any) -> Any:
    return value.strip().lower() if isinstance(value, str) else value


_ADDRESS = WithJsonSchema({"type": "string", "format": "uri"})

NO_BEGINNING = datetime.min.replace(tzinfo=UTC)
"""From when on something holds of which only the end is known, and that was written after it."""

Text = Annotated[str, BeforeValidator(parse_text)]
Texts = Annotated[list[str], BeforeValidator(parse_texts)]
Tags = Annotated[list[str], BeforeValidator(parse_tags)]
When = Annotated[datetime, BeforeValidator(parse_date)]
Url = Annotated[str, BeforeValidator(parse_url), _ADDRESS]
Email = Annotated[str, BeforeValidator(parse_email)]
Word = BeforeValidator(_word)
"""Put beside a Literal: its words match in any case."""
