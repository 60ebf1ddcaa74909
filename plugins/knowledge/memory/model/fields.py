"""The strict types of the fields that clients send, and the base of the protocol's models."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from typing import Annotated, Any

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Strict

_DAY = re.compile(r"\d{4}-\d{2}-\d{2}")


def _written(value: Any) -> Any:
    if isinstance(value, datetime) or (isinstance(value, str) and _DAY.match(value)):
        return value
    raise ValueError("write a day, such as 2026-03-01, or a moment, such as 2026-03-01T12:00:00Z")


def _at_its_end(value: Any) -> Any:
    is_day = isinstance(value, str) and _DAY.fullmatch(value)
    return f"{value}T23:59:59.999999Z" if is_day else value


def in_utc(moment: datetime) -> datetime:
    """A moment in UTC, of which one without a zone is.

    Raises:
        ValueError: there it lies outside of the years 1 to 9999.
    """
    try:
        return moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment.astimezone(UTC)
    except OverflowError:
        raise ValueError("in UTC that is outside of the years 1 to 9999") from None


def check_span(begins: datetime | None, ends: datetime | None, names: tuple[str, str]) -> None:
    """Refuse a time that ends before it begins: nothing is of it.

    Args:
        begins: its beginning, if any.
        ends: its end, if any.
        names: what the two are called.

    Raises:
        ValueError: it does.
    """
    if begins is not None and ends is not None and ends < begins:
        raise ValueError(f"{names[1]} lies before {names[0]}: nothing was written then")


# What clients send is taken at its word: a number is no yes, and no time either.
Flag = Annotated[bool, Strict()]
Whole = Annotated[int, Strict()]
Number = Annotated[float, Strict()]
Moment = Annotated[datetime, BeforeValidator(_written)]
UtcMoment = Annotated[Moment, AfterValidator(in_utc)]
"""A day or a moment; without a zone it is one of UTC."""
LastMoment = Annotated[UtcMoment, BeforeValidator(_at_its_end)]
"""The same as an end that counts: of a day, its last moment."""


class Part(BaseModel):
    """The base of what the protocol names: unknown keys are errors."""

    model_config = ConfigDict(extra="forbid", frozen=True)
