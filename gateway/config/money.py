"""Amounts of money: US dollars as whole billionths, never as floats.

A model's token costs as little as some billionths of a dollar; whole numbers of them add up
exactly, in Python and in both databases.
"""

from __future__ import annotations

import re
from decimal import Decimal
from typing import Annotated, Any

from pydantic import BeforeValidator, WithJsonSchema

NANOS_PER_DOLLAR = 1_000_000_000
"""Billionths of a dollar, the unit of every amount inside the portal."""
_MOST_DIGITS = 9
_DOLLARS = re.compile(rf"[0-9]{{1,{_MOST_DIGITS}}}(\.[0-9]{{1,9}})?")


def nanos_of(written: str) -> int:
    """The billionths of a dollar that an amount in dollars means.

    Args:
        written: such as ``5``, ``0.50`` or ``0.000000001``.

    Raises:
        ValueError: it is no such amount.
    """
    if not _DOLLARS.fullmatch(written):
        raise ValueError("must be an amount in US dollars, such as 5 or 0.50")
    return int(Decimal(written) * NANOS_PER_DOLLAR)


def dollars(nanos: int) -> str:
    """An amount for people: ``$4.20``; what is less than a cent keeps its first two digits."""
    if nanos < 0:
        return f"-{dollars(-nanos)}"
    cents = (nanos * 100 + NANOS_PER_DOLLAR // 2) // NANOS_PER_DOLLAR
    if nanos == 0 or cents:
        return f"${cents // 100:,}.{cents % 100:02d}"
    written = f"{nanos:09d}"
    first = len(written) - len(written.lstrip("0"))
    return f"$0.{written[: first + 2]}".rstrip("0")


def exact(nanos: int) -> str:
    """An amount for programs: dollars as a decimal, exactly, such as ``4.2`` or ``0.00000015``."""
    sign, nanos = ("-", -nanos) if nanos < 0 else ("", nanos)
    whole, rest = divmod(nanos, NANOS_PER_DOLLAR)
    return f"{sign}{whole}.{rest:09d}".rstrip("0").rstrip(".")


def _dollars(value: Any) -> Any:
    if isinstance(value, bool) or not isinstance(value, str | int):
        # A float has lost what the file said; the reader of the file hands on the text.
        raise ValueError("must be an amount in US dollars, such as 5 or 0.50")
    return nanos_of(str(value))


def _schema(*others: dict[str, Any]) -> WithJsonSchema:
    number = {"type": "number", "minimum": 0, "exclusiveMaximum": 10**_MOST_DIGITS}
    text = {"type": "string", "pattern": f"^{_DOLLARS.pattern}$"}
    return WithJsonSchema({"anyOf": [number, text, *others]})


def _or_none(value: Any) -> Any:
    return None if value == "none" else _dollars(value)


Dollars = Annotated[int, BeforeValidator(_dollars), _schema()]
"""An amount in US dollars as it is written in a file, ``0.50``, and in billionths inside."""

DollarsOrNone = Annotated[int | None, BeforeValidator(_or_none), _schema({"const": "none"})]
"""The same, or ``none``, which is no limit."""
