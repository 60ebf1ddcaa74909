"""The values that conditions take, each read from the text that an admin wrote.

YAML would turn an unquoted ``30.10`` or ``0x…`` into a number; the reader of ``tiers.yaml`` passes
the text instead, so that a hat, an address or an amount is exactly what the file says.
"""

from __future__ import annotations

import re
from datetime import timedelta
from decimal import Decimal
from typing import Annotated, Any

from pydantic import AfterValidator, BeforeValidator, Field, WithJsonSchema

from auth import hat_ids as hats

_ADDRESS = re.compile(r"0x[0-9a-fA-F]{40}")
_WHOLE = re.compile(r"[0-9]{1,78}|0x[0-9a-fA-F]{1,64}")
_AMOUNT = re.compile(r"[0-9]{1,78}(\.[0-9]{1,78})?")
_DURATION = re.compile(r"([0-9]{1,6})\s*(d|h)")
_HOURS = {"d": 24, "h": 1}
_EMAIL = re.compile(r"(\*|[^@\s*]+)@[^@\s*]+\.[^@\s*]+")


def _text(value: Any) -> Any:
    """A program's value as the text that a file would have.

    A float is left as it is and refused later: 30.10 and 30.1 cannot be told apart any more.
    """
    return str(value).lower() if isinstance(value, int) else value


def _hat(value: str) -> str:
    return hats.path(hats.parse(value))


def checksummed(address: str) -> str:
    """The EIP-55 form of an address.

    Args:
        address: 0x and 40 digits; where they are of both cases, the case is checked.

    Raises:
        ValueError: it is no address, or its checksum is wrong.
    """
    from eth_utils.address import to_checksum_address

    if not _ADDRESS.fullmatch(address):
        raise ValueError("must be an address: 0x and 40 hexadecimal digits")
    right: str = to_checksum_address(address)
    digits = address[2:]
    if address != right and digits not in {digits.lower(), digits.upper()}:
        raise ValueError(
            "is no address that exists: its checksum (the case of its letters, EIP-55) is wrong; "
            "copy it again"
        )
    return right


_CAIP_10 = re.compile(r"eip155:([1-9][0-9]{0,19}):(.+)")


def _wallet_address(value: str) -> str:
    caip = _CAIP_10.fullmatch(value)
    return f"eip155:{caip[1]}:{checksummed(caip[2])}" if caip else checksummed(value)


def _whole(value: Any) -> Any:
    if isinstance(value, str):
        if not _WHOLE.fullmatch(value):
            raise ValueError("must be a whole number")
        return int(value, 16 if value.startswith("0x") else 10)
    return value


def _amount(value: Any) -> Any:
    value = _text(value)
    if isinstance(value, str):
        if not _AMOUNT.fullmatch(value):
            raise ValueError("must be a number, such as 100 or 0.5")
        return Decimal(value)
    return value


def _duration(value: Any) -> Any:
    if isinstance(value, str):
        match = _DURATION.fullmatch(value.strip())
        if match is None:
            raise ValueError("must be days or hours with their unit, such as 90d or 36h")
        return timedelta(hours=int(match[1]) * _HOURS[match[2]])
    return value


def _email(value: str) -> str:
    if not _EMAIL.fullmatch(value):
        raise ValueError('must be an address, or "*@example.org" for all of a domain')
    return value.lower()


HatPath = Annotated[
    str,
    BeforeValidator(_text),
    AfterValidator(_hat),
    WithJsonSchema({"type": ["string", "number"]}),
]
"""A hat by its path or id; kept as its path."""

Address = Annotated[
    str, AfterValidator(checksummed), WithJsonSchema({"type": ["string", "integer"]})
]
"""An Ethereum address, kept in its EIP-55 form."""

WalletAddress = Annotated[
    str, AfterValidator(_wallet_address), WithJsonSchema({"type": ["string", "integer"]})
]
"""An :data:`Address`, or one on a chain, as CAIP-10 writes it: ``eip155:10:0x…``."""

Whole = Annotated[
    int, BeforeValidator(_whole), Field(ge=0), WithJsonSchema({"type": ["integer", "string"]})
]
"""A whole number, 0 or more; decimal or 0x and hexadecimal."""

Amount = Annotated[
    Decimal, BeforeValidator(_amount), Field(gt=0), WithJsonSchema({"type": ["number", "string"]})
]
"""A number above 0 in plain decimal notation; exact."""

Age = Annotated[
    timedelta,
    BeforeValidator(_duration),
    WithJsonSchema({"type": "string", "pattern": r"^\d{1,6}\s*(d|h)$"}),
]
"""A span of time in days or hours, such as ``90d``."""

Email = Annotated[str, AfterValidator(_email)]
"""An e-mail address, or ``*@`` and a domain; kept in lower case."""

Word = Annotated[
    str,
    BeforeValidator(_text),
    Field(min_length=1, max_length=500),
    WithJsonSchema({"type": ["string", "number", "boolean"]}),
]
"""Any text, also one that YAML takes for a number or a truth value."""
